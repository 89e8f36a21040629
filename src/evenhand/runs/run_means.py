"""The mean of a run's results with its interval, as a report keeps it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from evenhand.runs.tally import RunTallyMean, RunVariantTally
from evenhand.stats.means import mean_interval
from evenhand.wording import format_fraction

Json = dict[str, Any]


def summarise_run_mean(
    mean: RunTallyMean, tally: RunVariantTally, scale: Sequence[float], *, known: bool = False
) -> Json | None:
    """A mean with its interval; repeats of a sample count as one, and samples of a cluster are not independent.

    A mean that is `known` by definition has none.
    """
    if mean.exact is None:
        return None
    # Packed: a run may have a hundred thousand.
    columns = np.array(mean.values), np.array(tally.clusters), np.array(tally.samples)
    there = ~np.isnan(columns[0])
    values, clusters, samples = (one[there] for one in columns)
    several = not known and (clusters != clusters[0]).any()
    ends = (float(scale[0]), float(scale[1]))
    interval = mean_interval(values, clusters=clusters, samples=samples, per=tally.per, scale=ends) if several else None
    return {
        "mean": float(format_fraction(mean.exact, 4)),
        "exact": str(mean.exact),
        "low": interval.low if interval else None,
        "high": interval.high if interval else None,
        "level": interval.level if interval else None,
        "n": mean.n,
        "min": float(values.min()),
        "max": float(values.max()),
        "scale": list(scale),
    }
