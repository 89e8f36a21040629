"""Means with an interval: of scores, and of people's labels where people labelled some samples and a judge scored all.

The judge need not be right: its scores move the powered estimate only as far as they went with people's labels.

1. Angelopoulos, Bates, Fannjiang, Jordan, Zrnic. Prediction-powered inference. Science 382, 2023.
2. Angelopoulos, Duchi, Zrnic. PPI++: efficient prediction-powered inference. 2023. For a mean its tuned estimate is the
   regression estimator (Cochran, Sampling Techniques, 7.3 and 2.6), whose small-sample variance is used, with the
   finite-population correction.
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
    UnitNumbers,
    compute_cluster_means,
    compute_interval_alpha,
    convert_to_float_array,
    find_array_magnitude,
    number_clusters_of_array,
    require_array_sequence,
    require_finite_array,
    require_statistic_number,
)
from evenhand.stats.distributions import student_quantile

LEAST_LABELS = 20  # Below, 95% intervals of 1–5 scores cover less than 93%.
_NEAR = 0.1  # Of a standard deviation: residuals this close to each other pile up.
_ROUNDING = 1e-9  # Of the scale.
_NEARLY_ALL = 0.95  # Where so many values are the same, their scatter says nothing about what is rare.

HumanLabels = Sequence[float | None]


@dataclass(frozen=True, slots=True, kw_only=True)
class LineMargins:
    """How carefully the error about a line is measured.

    `pile` is the power of the share of equal residuals by which one far away is counted; `leverage` that by which
    residuals of samples that pull at the line are raised: 1 is HC3, 1/2 is HC2.
    """

    pile: int
    leverage: float


FOR_FEW_LABELS = LineMargins(pile=2, leverage=1.0)


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
    """People's mean over the samples that were judged; `n` counts what was labelled and is independent, `judged` all.

    `tuning` is λ: how far the estimate follows the judge, 0 where it does not. `labels_only` is what people's labels
    say without the judge; the interval is never wider than that.
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
    scale: tuple[float, float] | None = None,
) -> MeanInterval:
    """The mean over samples with Student's interval; `n` counts clusters, which are independent.

    Rows that name one of `samples` are its repeats. A cluster counts by the number of its samples or, `per` cluster,
    once. `scale` is the lowest and the highest value that there can be: the interval stays on it, and where (nearly)
    all values are the same, it is a bound that holds for every distribution on the scale.
    """
    alpha = compute_interval_alpha(level)
    units = compute_cluster_means(require_finite_array(values, "values"), clusters, samples, per)
    n = len(units.means)
    if n < 2:
        raise InputError(Fault(f"the interval of a mean needs at least 2 samples, got {n}", "score more samples"))
    estimate, error = clustered_mean_and_error(units)
    reach = student_quantile(alpha / 2, n - 1) * error
    low, high, method = estimate - reach, estimate + reach, "t"
    if scale is not None:
        scale = _require_mean_scale(scale)
        values, counts = np.unique(units.means, return_counts=True)
        if counts.max() >= _NEARLY_ALL * n:
            ends = _bound_mean_on_scale(units, float(values[counts.argmax()]), scale, alpha)
            low, high, method = min(low, ends[0]), max(high, ends[1]), "t, and a bound on the scale"
        low, high = max(low, min(scale[0], estimate)), min(high, max(scale[1], estimate))
    return MeanInterval(estimate=estimate, low=low, high=high, level=level, method=method, n=n)


def _bound_mean_on_scale(
    units: ClusterMeans, usual: float, scale: tuple[float, float], alpha: float
) -> tuple[float, float]:
    """Each end as if all that differs from the usual value lay at the end of the scale, as often as may be.

    As for differences: how often that is follows from how many differ (Clopper and Pearson), and clusters that count
    more than others are fewer observations.
    """
    from evenhand.stats.rates import bound_share_from_above  # rates have means

    n = max(2, math.floor(float(units.sizes.sum() ** 2 / (units.sizes @ units.sizes))))
    ends = []
    for side, end in zip((-1, 1), scale, strict=True):
        odd = min(n, int(((units.means - usual) * side > 0).sum()))
        ends.append(usual + (end - usual) * bound_share_from_above(odd, n, 1 - alpha / 2))
    return ends[0], ends[1]


def clustered_mean_and_error(units: ClusterMeans) -> tuple[float, float]:
    """The mean of two units or more, each counted by its size, and its standard error, whatever order they come in."""
    order = np.lexsort((units.sizes, units.means))
    given, sizes, n = units.means[order], units.sizes[order], len(order)
    scale, total = find_array_magnitude(given), math.fsum(sizes)
    mean = math.fsum(given / scale * sizes) / total
    error = math.sqrt(math.fsum((sizes * (given / scale - mean)) ** 2) * n / (n - 1)) / total
    return scale * mean, scale * error


def powered_mean(
    judged: Numbers,
    human: HumanLabels,
    *,
    level: float = 0.95,
    clusters: ClusterLabels | None = None,
    scale: tuple[float, float] | None = None,
    weights: Numbers | None = None,
    margins: LineMargins = FOR_FEW_LABELS,
) -> Powered:
    """People's mean over all samples; `human` has None where nobody labelled, and the labelled ones are random.

    `scale` is the lowest and the highest label that people can give. With it the interval also covers where nearly all
    labels are the same. If the labelled ones were drawn with unequal chances, `weights` say how many samples each of
    them stands for (`weigh_drawn_samples`); those of the others are not read. `margins` hold where the judge is used.
    """
    scores = require_finite_array(judged, "judged")
    labels = _convert_labels_to_array(human, len(scores))
    alpha = compute_interval_alpha(level)
    ends = None if scale is None else _require_powered_mean_scale(scale, labels)
    unit = np.arange(len(scores)) if clusters is None else number_clusters_of_array(clusters, len(scores), "clusters")
    size, judge_size = find_array_magnitude(labels[~np.isnan(labels)]), find_array_magnitude(scores)
    stands = None if weights is None or np.isnan(labels).all() else _require_powered_mean_weights(weights, labels)
    found = _average_powered_mean_clusters(scores / judge_size, labels / size, unit, stands)
    _require_powered_mean_labels(found, bounded=ends is not None, size=size)
    bounds = None if ends is None else (ends[0] / size, ends[1] / size)
    slope, useless = _fit_powered_mean_slope(found)
    alone = chosen = _bound_mean_along_line(found, 0.0, alpha, bounds)
    if slope:
        chosen = _bound_mean_along_line(found, slope, alpha, bounds, margins)
        # Without the scale too: on it, scores at random also narrow the interval, as they spread what was a pile.
        plain, plain_alone = (_bound_mean_along_line(found, one, alpha, None, margins) for one in (slope, 0.0))
        if not (0 < chosen.width < alone.width and plain.width < plain_alone.width):
            chosen, slope, useless = alone, 0.0, "the judge does not narrow the interval"
    kind, n = "t" if ends is None else "t on the scale", len(found.y)
    estimate, low, high = (size * one for one in (alone.estimate, alone.low, alone.high))
    return Powered(
        estimate=size * chosen.estimate,
        low=size * chosen.low,
        high=size * chosen.high,
        level=level,
        tuning=slope * (1 - found.share) * (size / judge_size),
        labels_only=MeanInterval(estimate=estimate, low=low, high=high, level=level, method=kind, n=n),
        method=f"labels only: {useless}" if useless else f"prediction-powered, tuned; {kind}",
        n=n,
        judged=len(scores),
    )


def _convert_labels_to_array(human: HumanLabels, rows: int) -> Floats:
    """Return the labels, NaN where nobody labelled; the NaN does not leave this module."""
    if len(require_array_sequence(human, "human", "None where nobody labelled")) != rows:
        raise InputError(Fault(f"human has {len(human)} rows for {rows} judged", "None where nobody labelled"))
    given = [row for row, label in enumerate(human) if label is not None]
    labels = np.full(rows, np.nan)
    labels[given] = require_finite_array([label for label in human if label is not None], "human")
    return labels


def _require_mean_scale(scale: tuple[float, float]) -> tuple[float, float]:
    given = [
        require_statistic_number(end, "scale", "(1, 5)") for end in require_array_sequence(scale, "scale", "(1, 5)")
    ]
    if len(given) != 2 or not given[0] < given[1]:
        raise InputError(Fault("scale must be the lowest and the highest value that there can be", "(1, 5)"))
    return given[0], given[1]


def _require_powered_mean_scale(scale: tuple[float, float], labels: Floats) -> tuple[float, float]:
    low, high = _require_mean_scale(scale)
    beyond = _ROUNDING * (high - low)
    if (labels < low - beyond).any() or (labels > high + beyond).any():
        raise InputError(Fault(f"a label is outside the scale from {low:g} to {high:g}", "give the labels' own scale"))
    return low, high


def _require_powered_mean_weights(weights: Numbers, labels: Floats) -> Floats:
    given = convert_to_float_array(weights, "weights")
    if len(given) != len(labels):
        raise InputError(Fault(f"weights has {len(given)} rows for {len(labels)} judged", "one for each sample"))
    found = require_finite_array(np.where(np.isnan(labels), 1.0, given), "weights")
    if (found <= 0).any():
        raise InputError(Fault("a labelled sample stands for none", "weights above 0 where there is a label"))
    return found


@dataclass(frozen=True, slots=True)
class _LabelledClusters:
    """Judge (x) and people (y) where people labelled, one of each per cluster; `weights` count samples, 1 on average.

    `judged` is the judge's mean over all samples, `share` how many of them have a label, `labelled` the mean of the
    labels as they are. `fixed` is the share of the variance that is not there because what is labelled cannot stray:
    with equal chances the same as `share`. `freedom` counts clusters, fewer where their weights differ.
    """

    x: Floats
    y: Floats
    weights: Floats
    judged: float
    share: float
    labelled: float
    fixed: float
    freedom: int


@dataclass(frozen=True, slots=True)
class _BoundedMean:
    estimate: float
    low: float
    high: float

    @property
    def width(self) -> float:
        return self.high - self.low


def _average_powered_mean_clusters(
    scores: Floats, labels: Floats, unit: UnitNumbers, stands: Floats | None
) -> _LabelledClusters:
    known = ~np.isnan(labels)
    own = np.ones(int(known.sum())) if stands is None else stands[known]
    many = np.bincount(unit[known], weights=own)
    kept = many > 0
    sums = (np.bincount(unit[known], weights=own * column[known])[kept] for column in (scores, labels))
    sizes = many[kept]
    x, y = (one / sizes for one in sums)
    order = np.lexsort((sizes, y, x))  # One order of addition, whatever order the samples come in.
    weights, share = sizes[order] * (len(sizes) / max(1, sizes.sum())), float(known.mean()) if len(known) else 0.0
    mean = float(weights @ y[order]) / max(1, len(y))
    return _LabelledClusters(
        x=x[order],
        y=y[order],
        weights=weights,
        judged=float(np.sort(scores).mean()) if len(scores) else 0.0,
        share=share,
        labelled=mean if stands is None else float(np.sort(labels[known]).mean()),
        fixed=share if stands is None else min(1.0, float(own.sum() / (own @ own))),
        freedom=len(y) if stands is None else max(3, int(len(y) ** 2 / (weights @ weights) + 1e-9)),
    )


def _require_powered_mean_labels(found: _LabelledClusters, *, bounded: bool, size: float) -> None:
    n = len(found.y)
    if found.share == 1:
        return  # Nothing is left to estimate.
    if n < LEAST_LABELS:
        hint = f"label more samples, or take mean_interval of the {n} labels alone"
        few = "1 labelled sample is" if n == 1 else f"{n} labelled samples are"
        raise InputError(Fault(f"{few} too few: it takes {LEAST_LABELS}", hint))
    if not bounded and np.ptp(found.y) <= 1e-12 * np.abs(found.y).max():
        what = f"all {n} labels are {size * found.y[0]:g}: they do not tell how far labels spread"
        raise InputError(Fault(what, "say between which labels people choose: scale=(1, 5)"))


def _fit_powered_mean_slope(found: _LabelledClusters) -> tuple[float, str]:
    """How much labels rise where the judge's score rises by 1, or why the judge has nothing to add."""
    if found.share == 1:
        return 0.0, "every sample has one"
    x, y, n = found.x, found.y, len(found.y)
    if np.ptp(x) <= max(1e-12 * np.abs(x).max(), 1e-150 * np.ptp(y)):  # Beyond, λ would be no number.
        return 0.0, "the judge scored all labelled samples the same"
    centred = x - float(found.weights @ x) / n
    slope = float((found.weights * centred) @ (y - float(found.weights @ y) / n)) / float(found.weights @ centred**2)
    return slope, "" if slope else "labels do not go with the judge's scores"


def _bound_mean_along_line(
    found: _LabelledClusters,
    slope: float,
    alpha: float,
    scale: tuple[float, float] | None,
    margins: LineMargins = FOR_FEW_LABELS,
) -> _BoundedMean:
    """The mean where labels lie along a line over the judge's scores, level (`slope` 0) for labels alone.

    Where many labels lie at the same distance from the line, labels far from it may exist and not have been drawn. So
    each end counts one more label, as far from the line as the scale allows, by a power of the share of the largest
    such pile (`margins`; the square for labels alone).
    """
    y, n, used = found.y, len(found.y), 2 if slope else 1
    mean, middle = float(found.weights @ y) / n, float(found.weights @ found.x) / n
    if found.share == 1:
        return _BoundedMean(mean, mean, mean)
    centred = found.x - middle
    fitted = mean + slope * centred
    residuals = found.weights * (y - fitted)
    away = (found.judged - middle) if slope else 0.0
    squares = float(found.weights @ centred**2) if slope else 1.0
    estimate = mean + slope * away
    pile = 0.0
    if scale is not None:
        power = margins.pile if slope else FOR_FEW_LABELS.pile
        pile = _share_of_tied_mean_residuals(y - fitted, scale[1] - scale[0]) ** power
    top, bottom = float(fitted.max()), float(fitted.min())
    lowest, highest = scale or (top, bottom)
    reaches = []
    for gap in (top - lowest, highest - bottom):
        shift = pile * gap / (n + pile)
        total = float(residuals @ residuals) + pile * gap**2 - (n + pile) * shift**2
        spread = total / (n + pile - used) * (1 / (n + pile) + away**2 / squares)
        if slope:
            # The same without the assumption that labels spread equally at every score (HC3, or as
            # `margins` say). The larger is taken,
            # because each alone covers too seldom with 20 to 30 labels on 1–5 scores.
            leverage = found.weights * (1 / n + centred**2 / squares)
            pulled = (1 / n + away * centred / squares) * residuals / np.maximum(1 - leverage, 1e-9) ** margins.leverage
            spread = max(spread, float(pulled @ pulled) + pile * (gap / (n + pile)) ** 2)
        left = 1 - found.fixed * (n - pile) / n  # What was not labelled can stray, and nothing else.
        reach = student_quantile(alpha / 2, found.freedom - used) * math.sqrt(spread)
        reaches.append(math.sqrt(left) * (shift + reach))
    low, high = estimate - reaches[0], estimate + reaches[1]
    if scale is not None:  # If all the others had the lowest label, or the highest.
        least, most = (found.share * found.labelled + (1 - found.share) * end for end in scale)
        estimate, low, high = (min(most, max(least, one)) for one in (estimate, low, high))
    return _BoundedMean(estimate, low, high)


def _share_of_tied_mean_residuals(residuals: Floats, span: float) -> float:
    """The largest share of residuals that are, give or take a tenth of their standard deviation, the same."""
    ordered = np.sort(residuals)
    near = _NEAR * float(ordered.std(ddof=1)) + _ROUNDING * span
    first, last = np.searchsorted(ordered, ordered - near, "left"), np.searchsorted(ordered, ordered + near, "right")
    return float((last - first).max()) / len(ordered)
