"""Means with an interval: of scores, and of people's labels where people labelled some samples and a judge scored all.

The judge need not be right: its scores move the powered estimate only as far as they went with people's labels.

1. Angelopoulos, Bates, Fannjiang, Jordan, Zrnic. Prediction-powered inference. Science 382, 2023.
2. Angelopoulos, Duchi, Zrnic. PPI++: efficient prediction-powered inference. 2023. For a mean its tuned estimate is the
   regression estimator of double sampling (Cochran, Sampling Techniques, 12.6), whose small-sample variance is used.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    ClusterLabels,
    ClusterMeans,
    CountedPer,
    Floats,
    Numbers,
    average_clusters,
    compute_interval_alpha,
    find_power_of_two_magnitude,
    number_clusters,
    require_array_sequence,
    require_finite,
)
from evenhand.stats.distributions import student_quantile

LEAST_LABELS = 20  # Below, 95% intervals of 1–5 scores cover less than 94%.

HumanLabels = Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class MeanInterval:
    """A mean and where it may lie."""

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Powered:
    """A mean on people's scale; `n` counts labelled samples, `judged` all.

    `tuning` is λ: how far the estimate follows the judge, 0 where it does not. `labels_only` is what people's labels
    say without the judge.
    """

    estimate: float
    low: float
    high: float
    level: float
    tuning: float
    labels_only: MeanInterval
    method: str
    n: int
    judged: int


def mean_interval(
    values: Numbers,
    *,
    level: float = 0.95,
    clusters: ClusterLabels | None = None,
    samples: ClusterLabels | None = None,
    per: CountedPer = "sample",
) -> MeanInterval:
    """The mean over samples with Student's interval; `n` counts clusters, which are independent.

    Rows that name one of `samples` are its repeats. A cluster counts by the number of its samples or, `per` cluster,
    once.
    """
    alpha = compute_interval_alpha(level)
    units = average_clusters(require_finite(values, "values"), clusters, samples, per)
    n = len(units.means)
    if n < 2:
        raise InputError(Fault(f"the interval of a mean needs at least 2 samples, got {n}", "score more samples"))
    estimate, error = clustered_mean_and_error(units)
    reach = student_quantile(alpha / 2, n - 1) * error
    return MeanInterval(estimate=estimate, low=estimate - reach, high=estimate + reach, level=level, method="t", n=n)


def clustered_mean_and_error(units: ClusterMeans) -> tuple[float, float]:
    """The mean of two units or more, each counted by its size, and its standard error, whatever order they come in."""
    order = np.lexsort((units.sizes, units.means))
    given, sizes, n = units.means[order], units.sizes[order], len(order)
    scale, total = find_power_of_two_magnitude(given), math.fsum(sizes)
    mean = math.fsum(given / scale * sizes) / total
    error = math.sqrt(math.fsum((sizes * (given / scale - mean)) ** 2) * n / (n - 1)) / total
    return scale * mean, scale * error


def powered_mean(
    judged: Numbers, human: HumanLabels, *, level: float = 0.95, clusters: ClusterLabels | None = None
) -> Powered:
    """People's mean over all samples; `human` has None where nobody labelled, and the labelled ones are random."""
    scores = require_finite(judged, "judged")
    labels = _convert_labels_to_floats(human, len(scores))
    if clusters is not None:
        scores, labels = _regression_means_by_cluster(scores, labels, clusters)
    alpha = compute_interval_alpha(level)
    known = ~np.isnan(labels)
    n, rows = int(known.sum()), len(scores)
    if n < LEAST_LABELS:
        hint = f"label more samples, or take mean_interval of the {n} labels alone"
        few = "1 labelled sample is" if n == 1 else f"{n} labelled samples are"
        raise InputError(Fault(f"{few} too few: it takes {LEAST_LABELS}", hint))
    order = np.lexsort((labels, scores))  # One order of addition, whatever order the samples come in.
    scores, labels, known = scores[order], labels[order], known[order]
    x, y = scores[known], labels[known]
    if np.ptp(y) <= 1e-12 * np.abs(y).max():
        what = f"all {n} labels are {y[0]:g}: they do not tell how far labels spread"
        raise InputError(Fault(what, "label more samples"))
    alone = mean_interval(y, level=level)
    useless = "every sample has one" if len(x) == rows else ""  # Why the judge's scores have nothing to add.
    if not useless and np.ptp(x) <= max(1e-12 * np.abs(x).max(), 1e-150 * np.ptp(y)):  # Beyond, λ would be no number.
        useless = "the judge scored all labelled samples the same"
    if useless:
        estimate, low, high, tuning, method = alone.estimate, alone.low, alone.high, 0.0, f"labels only: {useless}"
    else:
        scale, judge_scale = find_power_of_two_magnitude(y), find_power_of_two_magnitude(scores)
        estimate, error, tuning = _regression_mean_and_error(scores / judge_scale, x / judge_scale, y / scale)
        reach = student_quantile(alpha / 2, n - 2) * error
        estimate, low, high = (scale * one for one in (estimate, estimate - reach, estimate + reach))
        tuning, method = tuning * (scale / judge_scale), "prediction-powered, tuned; t"
    return Powered(
        estimate=estimate,
        low=low,
        high=high,
        level=level,
        tuning=tuning,
        labels_only=alone,
        method=method,
        n=n,
        judged=rows,
    )


def _convert_labels_to_floats(human: HumanLabels, rows: int) -> Floats:
    """Return the labels, NaN where nobody labelled; the NaN does not leave this module."""
    if len(require_array_sequence(human, "human", "None where nobody labelled")) != rows:
        raise InputError(Fault(f"human has {len(human)} rows for {rows} judged", "None where nobody labelled"))
    given = [row for row, label in enumerate(human) if label is not None]
    labels = np.full(rows, np.nan)
    labels[given] = require_finite([label for label in human if label is not None], "human")
    return labels


def _regression_means_by_cluster(scores: Floats, labels: Floats, clusters: ClusterLabels) -> tuple[Floats, Floats]:
    unit = number_clusters(clusters, len(scores), "clusters")
    known = ~np.isnan(labels)
    times, labelled = np.bincount(unit), np.bincount(unit, weights=known)
    total = np.bincount(unit, weights=np.where(known, labels, 0.0))
    means = np.where(labelled > 0, total / np.maximum(labelled, 1), np.nan)
    return np.bincount(unit, weights=scores) / times, means


def _regression_mean_and_error(scores: Floats, x: Floats, y: Floats) -> tuple[float, float, float]:
    """Return the estimate, its standard error, and λ."""
    n, judged = len(x), len(scores)
    centred, squares = x - x.mean(), float(((x - x.mean()) ** 2).sum())
    slope = float(centred @ (y - y.mean())) / squares
    away = float(scores.mean() - x.mean())
    residuals = y - y.mean() - slope * centred
    even = float(residuals @ residuals) / (n - 2) * (1 / n + away**2 / squares)
    # The same without the assumption that labels spread equally at every score (HC3). The larger of the two is taken,
    # because each alone covers too seldom with 20 to 30 labels on 1–5 scores that crowd at the top.
    leverage = 1 / n + centred**2 / squares
    pulled = (1 / n + away * centred / squares) * residuals / np.maximum(1 - leverage, 1e-9)
    spread = max(even, float(pulled @ pulled)) + slope**2 * float(scores.var(ddof=1)) / judged
    return float(y.mean()) + slope * away, math.sqrt(spread), slope * (judged - n) / judged
