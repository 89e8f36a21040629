"""Samples drawn with unequal chances, and what a strong judge says of all samples where it saw some and a cheap one
all.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    ClusterLabels,
    Floats,
    Numbers,
    UnitNumbers,
    compute_cluster_means,
    require_finite_array,
)
from evenhand.stats.differences import Difference, difference_of
from evenhand.stats.distributions import student_quantile
from evenhand.stats.means import LineMargins, Powered, powered_mean

LEAST_DRAWN = 30  # Of the rest: below, there is no interval unless the strong judge saw all of it.
MARGINS = LineMargins(pile=3, leverage=0.5)  # Enough from so many on, and narrower than those for 20 labels.
_HALVINGS = 60

Booleans = NDArray[np.bool_]


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeRows:
    """One row per sample: the cheap judge's number, the strong one's (NaN where it was not asked), and `near`.

    `near` rows were passed on for what the cheap judge said of them. Of the others a random part was.
    """

    cheap: Floats
    strong: Floats
    near: Booleans

    def __post_init__(self) -> None:
        require_finite_array(self.cheap, "cheap")
        if not len(self.cheap) == len(self.strong) == len(self.near):
            raise InputError(Fault("cheap, strong and near have different rows", "one of each per sample"))
        if np.isnan(self.strong[self.near]).any():
            raise InputError(Fault("a sample near a threshold has no score of the strong judge", "leave it out"))

    @property
    def asked(self) -> Booleans:
        """Where the strong judge answered."""
        return ~np.isnan(self.strong)

    @property
    def drawn(self) -> int:
        """How many of the rest it answered."""
        return int((self.asked & ~self.near).sum())


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeMean:
    """The strong judge's mean over `n` samples: `near` of them it saw for their score, `drawn` at random.

    `tuning` is how far the estimate follows the cheap judge, 0 where it does not, and `cheap` is that judge's own mean.
    """

    estimate: float
    low: float
    high: float
    level: float
    method: str
    n: int
    near: int
    drawn: int
    cheap: float
    tuning: float


def cascade_mean(
    rows: CascadeRows, *, scale: tuple[float, float], level: float = 0.95, clusters: ClusterLabels | None = None
) -> CascadeMean:
    """The strong judge's mean over these samples; `scale` is the lowest and the highest that it can give."""
    rest = ~rows.near
    share = float(rest.mean()) if len(rest) else 0.0
    known = float(rows.strong[rows.near].sum()) / max(1, len(rest))
    plain = CascadeMean(
        estimate=known,
        low=known,
        high=known,
        level=level,
        method="every sample was passed on",
        n=len(rest),
        near=int(rows.near.sum()),
        drawn=rows.drawn,
        cheap=float(rows.cheap.mean()) if len(rest) else 0.0,
        tuning=0.0,
    )
    if not rest.any():
        return plain
    found = _correct_cascade_mean(rows, scale, level, clusters)
    estimate, low, high = (known + share * one for one in (found.estimate, found.low, found.high))
    method = plain.method if rows.asked.all() else found.method
    return replace(plain, estimate=estimate, low=low, high=high, method=method, tuning=found.tuning)


def _correct_cascade_mean(
    rows: CascadeRows, scale: tuple[float, float], level: float, clusters: ClusterLabels | None
) -> Powered:
    """The strong judge's mean over the rest, by the random part of it."""
    rest = ~rows.near
    if rows.drawn < min(LEAST_DRAWN, int(rest.sum())):
        what = f"the strong judge answered {rows.drawn} of the {int(rest.sum())} samples that are near no threshold"
        raise InputError(Fault(f"{what}: an interval takes {LEAST_DRAWN}", "pass on a larger share"))
    strong = [None if math.isnan(one) else float(one) for one in rows.strong[rest]]
    groups = None if clusters is None else [one for one, own in zip(clusters, rest, strict=True) if own]
    found = powered_mean(rows.cheap[rest], strong, scale=scale, level=level, clusters=groups, margins=MARGINS)
    words = {"labels only: ": "strong judge only: ", "the judge": "the cheap judge", "labelled samples": "passed on"}
    method = found.method
    for word, own in {**words, "labels": "the strong judge's scores"}.items():
        method = method.replace(word, own)
    return replace(found, method=method)


def cascade_difference(
    rows: CascadeRows,
    *,
    span: float,
    rng: np.random.Generator,
    level: float = 0.95,
    clusters: ClusterLabels | None = None,
) -> Difference:
    """Treatment minus control by the strong judge, where rows are differences and other samples could have been drawn.

    Two errors add up: that of the samples, tested as always with what the line through the random part gives where the
    strong judge was not asked; and that of the line. Where every sample was passed on, only the first is there.
    """
    filled = _fill_along_regression_line(rows, span, level, clusters)
    units = compute_cluster_means(filled, clusters, None, "sample")
    plain = difference_of(units.means, sizes=units.sizes, rng=rng, level=level, span=span)
    if rows.asked.all():
        return plain
    found = cascade_mean(rows, scale=(-span, span), level=level, clusters=clusters)
    # Residuals of what was not asked are missing from `filled`; of n of N asked they are n/N of the line's error.
    more = 1 + rows.drawn / max(1, int((~rows.near).sum()))
    reaches = [
        (found.estimate - found.low, plain.estimate - plain.low),
        (found.high - found.estimate, plain.high - plain.estimate),
    ]
    low, high = (math.sqrt(more * line**2 + other**2) for line, other in reaches)
    nearer = reaches[0] if found.estimate > 0 else reaches[1]
    p = _find_p_of_two_errors(abs(found.estimate), math.sqrt(more) * nearer[0], nearer[1], rows.drawn, plain.n, level)
    quantile = student_quantile((1 - level) / 2, plain.n - 1)
    return Difference(
        estimate=found.estimate,
        low=max(-span, found.estimate - low) if math.isfinite(low) else -math.inf,
        high=min(span, found.estimate + high) if math.isfinite(high) else math.inf,
        level=level,
        p=p,
        sd=(low + high) / 2 / quantile * math.sqrt(plain.n) if math.isfinite(low + high) else plain.sd,
        method=f"cascade: {found.method}; {plain.method}",
        n=plain.n,
    )


def _fill_along_regression_line(rows: CascadeRows, span: float, level: float, clusters: ClusterLabels | None) -> Floats:
    """The strong judge's numbers, and where it was not asked, those of the line that corrects the cheap one."""
    if rows.asked.all():
        return rows.strong
    found = _correct_cascade_mean(rows, (-span, span), level, clusters)
    drawn = rows.asked & ~rows.near
    slope = found.tuning / (1 - float(drawn.sum()) / float((~rows.near).sum()))
    line = float(rows.strong[drawn].mean()) + slope * (rows.cheap - float(rows.cheap[drawn].mean()))
    filled: Floats = np.where(rows.asked, rows.strong, np.clip(line, -span, span))
    return filled


def _find_p_of_two_errors(distance: float, line: float, other: float, drawn: int, units: int, level: float) -> float:
    """Twice the tail at which the interval would end at 0, each error growing as its own Student's t does."""
    if not math.isfinite(other) or distance == 0:
        return 1.0
    tail = (1 - level) / 2
    frees = (max(1, drawn - 2), units - 1)
    parts = [reach / student_quantile(tail, free) for reach, free in zip((line, other), frees, strict=True)]
    low, high = 0.0, 0.5
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        ends = [part * student_quantile(middle, free) for part, free in zip(parts, frees, strict=True)]
        low, high = (low, middle) if math.hypot(*ends) < distance else (middle, high)
    return min(1.0, 2 * high)


def count_needed_draws(pilot: CascadeRows, samples: int, width: float, *, scale: tuple[float, float]) -> int:
    """How many of the rest it takes for an interval as narrow as `width` over all `samples`.

    Rows are the rest, none of them near; the strong judge has answered the first part of the draw. Its interval tells
    how far that judge scatters about the corrected cheap one.
    """
    rest, have = len(pilot.cheap), pilot.drawn
    if have >= rest:
        return rest
    found = _correct_cascade_mean(pilot, scale, 0.95, None)
    free, wanted = (2 if found.tuning else 1), width * samples / rest

    def expect_unit_width(count: int) -> float:
        return 2 * student_quantile(0.025, count - free) * math.sqrt(1 / count - 1 / rest)

    spread = (found.high - found.low) / expect_unit_width(have)

    low, high = have, rest
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if spread * expect_unit_width(middle) <= wanted else (middle + 1, high)
    return low


def spread_chances(priorities: Numbers, count: int) -> Floats:
    """Chances in proportion to priorities, 1 at most, that add up to `count`."""
    wanted = require_finite_array(priorities, "priorities")
    if not 0 <= count <= len(wanted) or (wanted <= 0).any():
        what = f"{count} cannot be drawn from {len(wanted)} with these priorities"
        raise InputError(Fault(what, "priorities above 0, and no more than there are"))
    chances, certain = np.ones(len(wanted)), np.zeros(len(wanted), dtype=np.bool_)
    while not certain.all():
        left = ~certain
        chances[left] = (count - certain.sum()) * wanted[left] / wanted[left].sum()
        if not (beyond := left & (chances >= 1)).any():
            break
        chances[beyond] = 1.0
        certain |= beyond
    return chances


def draw_by_chance(chances: Floats, rng: np.random.Generator) -> UnitNumbers:
    """The places that are drawn, each with its chance, as many as the chances add up to: in random order, each step."""
    order = rng.permutation(len(chances))
    ends = np.cumsum(chances[order])
    count = round(float(ends[-1])) if len(ends) else 0
    points = rng.random() + np.arange(count)
    # Rounding must not lose the last one.
    places = np.minimum(np.searchsorted(ends, points, side="right"), len(ends) - 1)
    return np.sort(order[places])


def weigh_drawn_samples(batches: UnitNumbers, chances: Floats, population: int) -> Floats:
    """How many of a population each labelled sample stands for; together they stand for all.

    Batches were drawn one after the other, by their numbers, each from what was left, every sample with its chance.
    Within a batch a sample counts by the inverse of its chance; chances need only be right in proportion, so that
    labels which nobody gave take nothing away. Where all chances are equal, so are the weights.
    """
    numbers, sizes = np.unique(batches, return_counts=True)
    labelled = int(sizes.sum())
    if labelled > population or (chances <= 0).any():
        raise InputError(Fault(f"{labelled} drawn from {population}", "chances above 0, and no more than there are"))
    weights = np.empty(labelled)
    left, later = population - labelled, 0.0
    for number, size in zip(numbers[::-1], sizes[::-1], strict=True):
        own = batches == number
        left += int(size)  # Those among which it was drawn.
        whole = (population / labelled - later) * size
        weights[own] = whole / chances[own] / (1 / chances[own]).sum() + later
        later += whole / left
    return weights
