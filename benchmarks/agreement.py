"""Krippendorff's α with its interval beside the `krippendorff` package over resampled units, in the same run."""

from collections.abc import Callable, Iterator
from functools import partial
from time import process_time
from typing import get_args

import krippendorff as package
import numpy as np

from benchmarks.figure import Figure
from evenhand.stats.agreement import Metric, krippendorff
from evenhand.stats.arrays import Floats
from evenhand.stats.ratings import Agreement

UNITS = 350
RATERS = 123
RESAMPLES = 1_000
TAKES = 5


def measure_agreement() -> Iterator[Figure]:
    """The whole call, reading the ratings included, beside one call of the package for each resample."""
    rng = np.random.default_rng(20_261_116)
    table = _ratings(rng)
    raters: list[list[float | None]] = [[None if np.isnan(one) else float(one) for one in row] for row in table]
    apart = 0.0
    for metric in get_args(Metric):
        ours = partial(krippendorff, raters, metric, rng=rng, resamples=RESAMPLES)
        own, once = _best((ours, partial(_package, table, metric, rng)))
        name = f"α {metric}, {UNITS} × {RATERS}, interval, beside package"
        faster = RESAMPLES * once / own  # A few calls of the package, the best of them taken a thousand times.
        yield Figure(name, f"{faster:.0f} ×", "≥ 20 ×", faster >= 20)
        found = ours()
        assert isinstance(found, Agreement)
        apart = max(apart, abs(found.value - package.alpha(table, level_of_measurement=metric)))
    yield Figure("α, furthest from the package's value", f"{apart:.1e}", "≤ 1e-9", apart <= 1e-9)


def _ratings(rng: np.random.Generator) -> Floats:
    """Raters by units: one of three labels, half of the time the right one, one in ten missing."""
    right = rng.integers(1, 4, size=UNITS)
    said = np.where(rng.random((RATERS, UNITS)) < 0.5, right, rng.integers(1, 4, size=(RATERS, UNITS)))
    return np.where(rng.random((RATERS, UNITS)) < 0.1, np.nan, said)


def _package(table: Floats, metric: Metric, rng: np.random.Generator) -> float:
    return float(package.alpha(table[:, rng.integers(0, UNITS, UNITS)], level_of_measurement=metric))


def _best(runs: tuple[Callable[[], object], ...]) -> list[float]:
    """By turns, the best of several takes, in processor time: by the clock a busy machine slows long calls only."""
    times: list[list[float]] = [[] for _ in runs]
    for _ in range(TAKES):
        for run, taken in zip(runs, times, strict=True):
            start = process_time()
            run()
            taken.append(process_time() - start)
    return [min(taken) for taken in times]
