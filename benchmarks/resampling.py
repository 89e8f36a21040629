"""Paired BCa intervals of 1–5 scores beside SciPy's, on the same pairs in the same run."""

from collections.abc import Callable, Iterator
from functools import partial
from time import perf_counter

import numpy as np
from scipy import stats as scipy_stats

from benchmarks.figure import Figure
from evenhand.stats._agreement import Undefined
from evenhand.stats._arrays import Floats
from evenhand.stats._bootstrap import Bootstrap, bootstrap_difference

PAIRS = 1_000
RESAMPLES = 10_000
TAKES = 7


def measure_resampling() -> Iterator[Figure]:
    """The best of several takes by turns, since noise only ever slows; SciPy asked for pairs, and for differences."""
    rng = np.random.default_rng(20_261_116)
    control, treatment = rng.integers(1, 6, size=(2, PAIRS)).astype(np.float64)
    ours = partial(bootstrap_difference, treatment, control, rng=rng, resamples=RESAMPLES)
    theirs = partial(_scipy, (treatment, control), _mean_difference, rng)
    own, paired, single = _best((ours, theirs, partial(_scipy, (treatment - control,), np.mean, rng)))

    name = f"BCa, {PAIRS:,} pairs, {RESAMPLES:,} resamples"
    yield Figure(f"{name}, beside SciPy", f"{paired / own:.1f} ×", "≥ 5 ×", paired >= 5 * own)
    yield Figure("the same, SciPy given the differences", f"{single / own:.1f} ×", "≥ 5 ×", single >= 5 * own)

    apart = _apart(ours(), theirs(), treatment - control)
    yield Figure("the same, ends apart in standard errors", f"{apart:.3f}", "≤ 0.15", apart <= 0.15)


def _scipy(data: tuple[Floats, ...], statistic: Callable[..., Floats], rng: np.random.Generator) -> tuple[float, float]:
    found = scipy_stats.bootstrap(
        data,
        statistic,
        paired=len(data) > 1,
        vectorized=True,
        method="BCa",
        n_resamples=RESAMPLES,
        rng=rng,
    )
    return found.confidence_interval.low, found.confidence_interval.high


def _mean_difference(one: Floats, other: Floats, axis: int) -> Floats:
    mean: Floats = (one - other).mean(axis=axis)
    return mean


def _apart(found: Bootstrap | Undefined, expected: tuple[float, float], differences: Floats) -> float:
    if isinstance(found, Undefined):
        return float("inf")
    error = differences.std(ddof=1) / len(differences) ** 0.5
    return float(max(abs(found.low - expected[0]), abs(found.high - expected[1])) / error)


def _best(runs: tuple[Callable[[], object], ...]) -> list[float]:
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(TAKES):
        for run, taken in zip(runs, times, strict=True):
            start = perf_counter()
            run()
            taken.append(perf_counter() - start)
    return [min(taken) for taken in times]
