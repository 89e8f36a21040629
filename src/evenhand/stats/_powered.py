"""Prediction-powered intervals: people label some samples, a judge scores all, and the mean is the people's.

The judge need not be right: what it says moves the estimate only as far as it went with people's labels.

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
from evenhand.stats._arrays import Floats, Numbers, checked_level, finite, sequence, size_of
from evenhand.stats._groups import Marks, numbered
from evenhand.stats._mean import MeanInterval, mean_interval
from evenhand.stats._student import student_quantile

LEAST_LABELS = 20  # Below, 95 % intervals of 1–5 scores cover less than 94 %.

Labels = Sequence[float | None]
_PAIR = "give (treatment, control)"


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


def powered_mean(judged: Numbers, human: Labels, *, level: float = 0.95, clusters: Marks | None = None) -> Powered:
    """What people's mean over all samples would be; `human` has None where nobody labelled, the labelled at random."""
    scores = finite(judged, "judged")
    labels = _labels(human, len(scores), "human")
    if clusters is not None:
        scores, labels = _per_unit(scores, labels, clusters)
    return _powered(scores, labels, level)


def powered_difference(
    judged: tuple[Numbers, Numbers],
    human: tuple[Labels, Labels],
    *,
    level: float = 0.95,
    clusters: Marks | None = None,
) -> Powered:
    """How much higher people would score the treatment than the control: each argument is (treatment, control).

    Rows are the same samples throughout. A sample counts as labelled where people labelled both outputs.
    """
    for pair, name in ((judged, "judged"), (human, "human")):
        if len(sequence(pair, name, _PAIR)) != 2:
            raise InputError(Fault(f"{name} has {len(pair)} sides", _PAIR))
    ours, theirs = finite(judged[0], "judged treatment"), finite(judged[1], "judged control")
    if len(ours) != len(theirs):
        what = f"{len(ours)} scores of the treatment for {len(theirs)} of the control"
        raise InputError(Fault(what, "give the samples that both have, in the same order"))
    labels = _labels(human[0], len(ours), "human treatment") - _labels(human[1], len(ours), "human control")
    scores = ours - theirs
    if clusters is not None:
        scores, labels = _per_unit(scores, labels, clusters)
    return _powered(scores, labels, level)


def _labels(human: Labels, rows: int, what: str) -> Floats:
    """NaN where nobody labelled; it does not leave this module."""
    if len(sequence(human, what, "None where nobody labelled")) != rows:
        raise InputError(Fault(f"{what} has {len(human)} rows for {rows} judged", "None where nobody labelled"))
    given = [row for row, label in enumerate(human) if label is not None]
    labels = np.full(rows, np.nan)
    labels[given] = finite([label for label in human if label is not None], what)
    return labels


def _per_unit(scores: Floats, labels: Floats, clusters: Marks) -> tuple[Floats, Floats]:
    unit = numbered(clusters, len(scores), "clusters")
    known = ~np.isnan(labels)
    times, labelled = np.bincount(unit), np.bincount(unit, weights=known)
    total = np.bincount(unit, weights=np.where(known, labels, 0.0))
    means = np.where(labelled > 0, total / np.maximum(labelled, 1), np.nan)
    return np.bincount(unit, weights=scores) / times, means


def _powered(scores: Floats, labels: Floats, level: float) -> Powered:
    alpha = checked_level(level)
    known = ~np.isnan(labels)
    n, judged = int(known.sum()), len(scores)
    if n < LEAST_LABELS:
        hint = f"label more samples, or take mean_interval of the {n} labels alone"
        few = "1 labelled sample is" if n == 1 else f"{n} labelled samples are"
        raise InputError(Fault(f"{few} too few: it takes {LEAST_LABELS}", hint))
    order = np.lexsort((labels, scores))  # One order of adding up, whatever order the samples come in.
    scores, labels, known = scores[order], labels[order], known[order]
    x, y = scores[known], labels[known]
    if np.ptp(y) <= 1e-12 * np.abs(y).max():
        what = f"all {n} labels are {y[0]:g}: they do not tell how far labels spread"
        raise InputError(Fault(what, "label more samples"))
    alone = mean_interval(y, level=level)
    why = _useless(x, y, judged)
    if why:
        estimate, low, high, tuning, method = alone.estimate, alone.low, alone.high, 0.0, f"labels only: {why}"
    else:
        size, own = size_of(y), size_of(scores)
        estimate, error, tuning = _regressed(scores / own, x / own, y / size)
        reach = student_quantile(alpha / 2, n - 2) * error
        estimate, low, high = (size * one for one in (estimate, estimate - reach, estimate + reach))
        tuning, method = tuning * (size / own), "prediction-powered, tuned; t"
    return Powered(
        estimate=estimate, low=low, high=high, level=level, tuning=tuning, labels_only=alone, method=method, n=n,
        judged=judged,
    )  # fmt: skip


def _useless(x: Floats, y: Floats, judged: int) -> str:
    """Why the judge has nothing to add, or nothing."""
    if len(x) == judged:
        return "every sample has one"
    same = np.ptp(x) <= max(1e-12 * np.abs(x).max(), 1e-150 * np.ptp(y))  # Beyond, λ would be no number.
    return "the judge scored all labelled samples the same" if same else ""


def _regressed(scores: Floats, x: Floats, y: Floats) -> tuple[float, float, float]:
    """The estimate, its standard error, and λ."""
    n, judged = len(x), len(scores)
    centred, squares = x - x.mean(), float(((x - x.mean()) ** 2).sum())
    slope = float(centred @ (y - y.mean())) / squares
    away = float(scores.mean() - x.mean())
    residuals = y - y.mean() - slope * centred
    even = float(residuals @ residuals) / (n - 2) * (1 / n + away**2 / squares)
    # The same without the assumption that labels spread equally at every score (HC3); of the two the larger, because
    # each alone covers too seldom with 20 to 30 labels on 1–5 scores that crowd at the top.
    leverage = 1 / n + centred**2 / squares
    pulled = (1 / n + away * centred / squares) * residuals / np.maximum(1 - leverage, 1e-9)
    spread = max(even, float(pulled @ pulled)) + slope**2 * float(scores.var(ddof=1)) / judged
    return float(y.mean()) + slope * away, math.sqrt(spread), slope * (judged - n) / judged
