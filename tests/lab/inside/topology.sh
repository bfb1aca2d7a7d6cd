# SPDX-License-Identifier: MIT
# shellcheck shell=ash disable=SC2154
# topology:"<pair>...": how the two CPUs of each pair are said to be related, and what the machine
# says itself.
for pair in $argument; do
	measure "pair-$pair" wake-futex -c "$pair" -n 50
done
for word in node:0 node:1; do
	measure "word-$word" timer-nanosleep -c "$word" -n 20
done
cp $cpus/online "$out"/online.out
grep -H . $cpus/cpu*/topology/thread_siblings_list >"$out"/siblings.out
measure default wake-futex -n 50
