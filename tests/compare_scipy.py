#!/usr/bin/python3
# SPDX-License-Identifier: MIT
"""Hold the statistics of a comparison against scipy and numpy: 1000 random inputs, to 1e-9.

What scipy approximates (ties, zeros) is enumerated with numpy instead. Needs python3-scipy: without
it the test is skipped, unless TLAT_REQUIRE_SCIPY is set, as ./check does.
Exit: 0 all agree, 1 a difference, 77 no scipy here.
"""
import itertools
import os
import subprocess
import sys

try:
    import numpy as np
    from scipy import special, stats
except ImportError:
    print("compare_scipy.py: python3-scipy is not installed", file=sys.stderr)
    sys.exit(1 if os.environ.get("TLAT_REQUIRE_SCIPY") else 77)

TOLERANCE = 1e-9
INPUTS = 1000
RNG = np.random.default_rng(20260731)
questions, answers = [], []


def ask(word, alpha, n, m, values, expected):
    questions.append(" ".join([word, repr(float(alpha)), str(n), str(m)] +
                              [repr(float(v)) for v in values]))
    answers.append(np.atleast_1d(np.asarray(expected, float)))


def sample(n, kind):
    """Normal, heavy-tailed, or of few values, so that there are ties and zeros."""
    if kind == "normal":
        return RNG.normal(0.003, 0.01, n)
    if kind == "heavy":
        return RNG.standard_t(3, n) * 0.01
    return RNG.integers(-3, 4, n) * 0.25


def two_sided(statistics, seen):
    low = np.mean(statistics <= seen + 1e-9)
    high = np.mean(statistics >= seen - 1e-9)
    return min(1.0, 2 * min(low, high))


def signed_rank_p(d):
    d = d[d != 0]
    n = len(d)
    if n == 0:
        return 1.0
    ranks = stats.rankdata(abs(d))
    if n <= 12:
        signs = np.array(list(itertools.product((0, 1), repeat=n)))
        return two_sided(signs @ ranks, ranks[d > 0].sum())
    if n > 63:
        return stats.wilcoxon(d, correction=True, mode="approx").pvalue
    assert len(set(abs(d))) == n
    return stats.wilcoxon(d, mode="exact").pvalue


def rank_sum_p(a, b):
    both = np.concatenate([a, b])
    n, m = len(a), len(b)
    if max(n, m) > 25:
        if len(set(both)) == 1:
            return 1.0
        return stats.mannwhitneyu(a, b, method="asymptotic", use_continuity=True).pvalue
    if len(set(both)) == n + m:
        return stats.mannwhitneyu(a, b, method="exact").pvalue
    ranks = stats.rankdata(both)
    sums = np.array([ranks[list(c)].sum() for c in itertools.combinations(range(n + m), n)])
    return two_sided(sums, ranks[:n].sum())


def signed_rank_table(n):
    f = np.zeros(n * (n + 1) // 2 + 1)
    f[0] = 1
    for r in range(1, n + 1):
        g = f.copy()
        g[r:] += f[:-r]
        f = g / 2
    return f


def rank_sum_table(n, m):
    """Of U, by the recursion of Mann and Whitney."""
    f = {(i, 0): np.array([1.0]) for i in range(n + 1)}
    f.update({(0, k): np.array([1.0]) for k in range(m + 1)})
    for i in range(1, n + 1):
        for k in range(1, m + 1):
            g = np.zeros(i * k + 1)
            g[k:] += f[i - 1, k] * i / (i + k)
            g[:len(f[i, k - 1])] += f[i, k - 1] * k / (i + k)
            f[i, k] = g
    return f[n, m]


def bound(table, tail):
    return int(np.searchsorted(np.cumsum(table) / table.sum(), tail * (1 + 1e-12), side="right")) - 1


def normal_bound(mean, sd, tail):
    return max(-1, int(np.floor(mean - 0.5 + stats.norm.ppf(tail) * sd)))


def interval(values, c):
    values = np.sort(values)
    if c < 0 or 2 * c >= len(values):
        return [-np.inf, np.inf]
    return [values[c], values[len(values) - 1 - c]]


def paired_bound(n, tail):
    if n > 63:
        return normal_bound(n * (n + 1) / 4, np.sqrt(n * (n + 1) * (2 * n + 1) / 24), tail)
    return bound(signed_rank_table(n), tail)


def unpaired_bound(n, m, tail):
    if max(n, m) > 25:
        return normal_bound(n * m / 2, np.sqrt(n * m * (n + m + 1) / 12), tail)
    return bound(rank_sum_table(n, m), tail)


def paired(d, alpha):
    n = len(d)
    i, k = np.triu_indices(n)
    walsh = (d[i] + d[k]) / 2
    c = bound(stats.binom.pmf(np.arange(n + 1), n, 0.5), alpha / 2)
    return [signed_rank_p(d), np.median(walsh)] + interval(walsh, paired_bound(n, alpha / 2)) + \
        interval(walsh, paired_bound(n, 0.05)) + interval(d, c) + \
        [np.std(d, ddof=1) if n > 1 else np.nan]


def unpaired(a, b, alpha):
    n, m = len(a), len(b)
    d = (b[None, :] - a[:, None]).ravel()
    squares = np.sum((a - a.mean()) ** 2) + np.sum((b - b.mean()) ** 2)
    return [rank_sum_p(a, b), np.median(d)] + interval(d, unpaired_bound(n, m, alpha / 2)) + \
        interval(d, unpaired_bound(n, m, 0.05)) + \
        [np.nan, np.nan, np.sqrt(squares / (n + m - 2)) if n + m > 2 else np.nan]


def max_t(scaled, selections):
    sums = abs(selections @ scaled)
    seen = sums[0]
    return [np.mean(sums.max(axis=1) >= s * (1 - 1e-9) - 1e-9) for s in seen]


def unit_columns(v):
    norm = np.sqrt((v ** 2).sum(axis=0))
    return np.where(norm > 0, v / np.where(norm > 0, norm, 1), 0)


def family(v):
    signs = np.array(list(itertools.product((1, -1), repeat=len(v))))
    return max_t(unit_columns(v), signs)


def labels(v):
    n = len(v)
    chosen = np.array([[i in c for i in range(n)]
                       for c in itertools.combinations(range(n), n // 2)], float)
    return max_t(unit_columns(v - v.mean(axis=0)), chosen)


def holm(p):
    order = np.argsort(p, kind="stable")
    adjusted = np.minimum(1, p[order] * (len(p) - np.arange(len(p))))
    out = np.empty(len(p))
    out[order] = np.maximum.accumulate(adjusted)
    return out


def trend(v):
    n = len(v)
    i, k = np.triu_indices(n, 1)
    s = np.sign(v[k] - v[i]).sum()
    t = np.unique(v, return_counts=True)[1].astype(float)
    variance = (n * (n - 1) * (2 * n + 5) - (t * (t - 1) * (2 * t + 5)).sum()) / 18
    p = 1.0 if s == 0 or variance == 0 else min(1, 2 * stats.norm.sf((abs(s) - 1) / np.sqrt(variance)))
    rest = v - v.mean()
    lag = (rest[1:] * rest[:-1]).sum() / (rest ** 2).sum() if (rest ** 2).sum() > 0 else 0
    return [p, stats.theilslopes(v, np.arange(n))[0] * (n - 1), lag]


def student(tail, freedom):
    """stats.t.isf() stops some 1e-8 before it is there."""
    x = special.betaincinv(freedom / 2, 0.5, 2 * tail)
    return np.sqrt(freedom * (1 / x - 1))


def ask_all():
    for i in range(INPUTS):
        alpha = RNG.choice([0.002, 0.005, 0.01, 0.05])
        kind = ("normal", "heavy", "ties")[i % 3]
        n = int(RNG.integers(1, 13)) if kind == "ties" else int(RNG.choice([1, 2, 7, 20, 40, 63, 64, 90]))
        d = sample(n, kind)
        ask("paired", alpha, n, 0, d, paired(d, alpha))
        ask("sign", alpha, n, 0, d, min(1, 2 * stats.binom.cdf(
            min((d > 0).sum(), (d < 0).sum()), (d != 0).sum(), 0.5)) if (d != 0).any() else 1)
        n, m = (int(RNG.integers(1, 7)), int(RNG.integers(1, 7))) if kind == "ties" else \
            (int(RNG.choice([1, 2, 5, 13, 25, 30])), int(RNG.choice([1, 3, 20, 25, 40])))
        a, b = sample(n, kind), sample(m, kind)
        ask("unpaired", alpha, n, m, np.concatenate([a, b]), unpaired(a, b, alpha))
        n = int(RNG.integers(4, 65))
        v = sample(n, kind)
        ask("trend", alpha, n, 0, v, trend(v))
        p = RNG.uniform(0, 1, int(RNG.integers(1, 9))) ** 3
        ask("holm", alpha, len(p), 0, p, holm(p))
        tail, freedom = RNG.uniform(1e-4, 0.5), float(RNG.integers(1, 200))
        ask("student", alpha, 2, 0, [tail, freedom], student(tail, freedom))
        if i % 5 == 0:
            n, k = int(RNG.integers(1, 11)), int(RNG.integers(1, 13))
            v = np.array([sample(k, kind) for _ in range(n)])
            ask("family", alpha, n, k, v.ravel(), family(v))
            n = int(RNG.integers(2, 13))
            v = np.array([sample(k, kind) for _ in range(n)])
            ask("labels", alpha, n, k, v.ravel(), labels(v))


def main():
    ask_all()
    program = os.path.join(os.environ["TLAT_BUILD"], "tests", "compare_oracle")
    run = subprocess.run([program], input="\n".join(questions), text=True, capture_output=True,
                         check=True, timeout=50)
    lines = run.stdout.splitlines()
    wrong = 0 if len(lines) == len(questions) else 1
    worst = 0.0
    for question, line, expected in zip(questions, lines, answers):
        got = np.array([float(word) for word in line.split()])
        if len(got) != len(expected) or not np.allclose(got, expected, TOLERANCE, TOLERANCE,
                                                        equal_nan=True):
            wrong += 1
            if wrong < 6:
                print(f"{question[:300]}\n  got {got}\n  not {expected}")
        else:
            both = np.isfinite(expected)
            worst = max([worst, *abs(got[both] - expected[both])])
    print(f"{len(lines)} answers to {len(questions)} questions, {wrong} wrong, "
          f"the others within {worst:.1e}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
