# SPDX-License-Identifier: MIT
# shellcheck shell=ash disable=SC2154
# isolation[:partition|:cpuset-v1]: which CPUs are found isolated and chosen, and where threads
# really run.
# A cgroup v2 partition of CPUs 2 and 3, made while the system runs.
partition()
{
	cd /sys/fs/cgroup || return
	echo +cpuset >cgroup.subtree_control
	mkdir lab
	echo 2-3 >lab/cpuset.cpus
	echo isolated >lab/cpuset.cpus.partition
	cat lab/cpuset.cpus.partition
	record outside tlat check
	echo 0 >lab/cgroup.procs # this shell, and with it what it starts
}

# The same with version 1, which has no partitions: nothing balances over CPUs 2 and 3.
cpuset_v1()
{
	umount /sys/fs/cgroup
	mount -t tmpfs cgroup /sys/fs/cgroup
	mkdir /sys/fs/cgroup/cpuset
	mount -t cgroup -o cpuset cpuset /sys/fs/cgroup/cpuset || return
	cd /sys/fs/cgroup/cpuset || return
	echo 0 >cpuset.sched_load_balance
	mkdir lab
	echo 0-1 >lab/cpuset.cpus
	echo 0 >lab/cpuset.mems
	echo 1 >lab/cpuset.sched_load_balance
	cat cpuset.sched_load_balance
}

# Three times: number, policy, CPU where it last ran and CPUs where it may run of each thread of tlat.
look()
{
	local sample number rest pid name value

	pid=$(pidof tlat)
	for sample in 1 2 3; do
		threads | while read -r number rest; do
			while read -r name value; do
				[ "$name" != Cpus_allowed_list: ] ||
					echo "$sample $number $rest $value"
			done <"/proc/$pid/task/$((pid + number))/status"
		done
		sleep 0.3
	done >"$out"/threads.out 2>/dev/null
}

case $argument in
partition) partition >"$out"/prepared.out ;;
cpuset-v1) cpuset_v1 >"$out"/prepared.out ;;
esac
cp /proc/cmdline "$out"/cmdline.out
cat $cpus/isolated >"$out"/isolated.out
cat $cpus/online >"$out"/online.out
record check tlat check
during look measure default wake-futex -d 5s
for word in isolated nohz-full housekeeping node:0; do
	measure "word-$word" timer-nanosleep -c "$word" -n 20
done
record table tlat run wake-futex -n 50
