"""A run with a cascade on the strong judge's scale: means, pass rates and differences, corrected by the random part;
what the cheap judge alone would have missed; and what was saved.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import inf, isnan
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.decision import RowScores, VariantColumn
from evenhand.compare.facts import JUDGE_LAYER, ReachedLayer
from evenhand.errors import InputError
from evenhand.runs.run_record import RunEvalRecord
from evenhand.runs.tally import PASSED_ON_NUMBERS, VERDICT_NUMBERS, JudgeCallTally, RunVariantTally
from evenhand.stats.cascades import CascadeMean, CascadeRows, cascade_difference, cascade_mean
from evenhand.stats.differences import Difference

Floats = NDArray[np.float64]
CascadeKind = Literal["score", "pass rate", "composite", "judge layer", "difference"]
FIGURES: tuple[CascadeKind, ...] = ("score", "pass rate", "composite", "judge layer")  # Of each variant.
COMPOSITE_SCALE = (1.0, 5.0)


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedCascadeSide:
    """A variant's numbers by row, NaN where there is none: the cheap judge's and the strong one's."""

    cheap: Floats
    strong: Floats
    near: NDArray[np.bool_]

    def minus(self, other: ComparedCascadeSide) -> ComparedCascadeSide:
        """The differences; a sample is passed on with all of its outputs."""
        near = self.near | other.near
        return ComparedCascadeSide(cheap=self.cheap - other.cheap, strong=self.strong - other.strong, near=near)

    @property
    def usable(self) -> NDArray[np.bool_]:
        """Rows with the number that they need: the strong judge's near a threshold, else the cheap one's."""
        return np.where(self.near, np.isfinite(self.strong), np.isfinite(self.cheap)).astype(np.bool_)

    def select_rows(self) -> CascadeRows:
        """The usable rows; what the cheap judge lacks near a threshold is not needed."""
        kept = self.usable
        cheap = np.where(np.isfinite(self.cheap), self.cheap, self.strong)
        return CascadeRows(cheap=cheap[kept], strong=self.strong[kept], near=self.near[kept])


def read_compared_cascade_side(
    values: RowScores, cheap: Floats, cascade: Mapping[str, RowScores]
) -> ComparedCascadeSide:
    """Values as they are kept, which are the strong judge's where it decided, beside the cheap judge's."""
    kept, passed, by = (np.array(one, np.float64) for one in (values, cascade["passed_on"], cascade["by_strong"]))
    near = passed == PASSED_ON_NUMBERS["near"]
    return ComparedCascadeSide(cheap=cheap, strong=np.where(by == 1, kept, np.nan), near=near)


def read_compared_cascade_composite(column: VariantColumn, share: float, layer: str = "") -> ComparedCascadeSide:
    """The composite of a variant, of which the judge layer makes up a share, or that layer alone."""
    values = column.layers[layer] if layer else column.composite
    judged, cheap = (np.array(one, np.float64) for one in (column.layers[JUDGE_LAYER], column.cascade["cheap_layer"]))
    return read_compared_cascade_side(
        values, np.array(values, np.float64) + (1.0 if layer else share) * (cheap - judged), column.cascade
    )


def find_judge_layer_share(layers: Sequence[str], weights: Mapping[str, float]) -> float:
    """What the judge layer makes up of the composite."""
    own = {name: float(weights.get(name, 1.0)) for name in layers}
    return own.get(JUDGE_LAYER, 0.0) / (sum(own.values()) or 1.0)


def measure_cascade_layer(column: VariantColumn, clusters: Sequence[int]) -> ReachedLayer:
    """The judge layer by the strong judge; without a mean where too few samples were passed on to say."""
    side = read_compared_cascade_composite(column, 1.0, JUDGE_LAYER)
    found, missing = _estimate_compared_cascade_side(side, clusters, COMPOSITE_SCALE), int((~side.usable).sum())
    if not isinstance(found, CascadeMean):
        return ReachedLayer(mean=None, lowest=None, missing=missing)
    share = missing / len(side.usable)
    return ReachedLayer(
        mean=found.estimate, lowest=(1 - share) * found.estimate + share * COMPOSITE_SCALE[0], missing=missing
    )


def compare_variants_through_cascade(
    ours: VariantColumn,
    theirs: VariantColumn,
    clusters: Sequence[int],
    *,
    share: float,
    span: float,
    seed: int,
    layer: str,
) -> Difference | None:
    """Treatment minus control by the strong judge; without ends where too few samples were passed on.

    In the composite, of which the judge layer makes up a `share`, or in a layer.
    """
    side, other = (read_compared_cascade_composite(one, share, layer) for one in (ours, theirs))
    side = side.minus(other)
    rows, groups = side.select_rows(), [one for one, own in zip(clusters, side.usable, strict=True) if own]
    if len(rows.cheap) < 2:
        return None
    try:
        return cascade_difference(rows, span=span, rng=np.random.default_rng(seed), clusters=groups)
    except InputError as error:
        known = rows.strong[rows.asked] if rows.asked.any() else rows.cheap
        return Difference(
            estimate=float(known.mean()),
            low=-inf,
            high=inf,
            level=0.95,
            p=1.0,
            sd=float(known.std(ddof=1)) if len(known) > 1 else 0.0,
            method=f"none: {error.faults[0].what}",
            n=len(rows.cheap),
        )


def _estimate_compared_cascade_side(
    side: ComparedCascadeSide, clusters: Sequence[int], scale: tuple[float, float]
) -> CascadeMean | str:
    rows, groups = side.select_rows(), [one for one, own in zip(clusters, side.usable, strict=True) if own]
    if not len(rows.cheap):
        return "no sample has a score"
    try:
        return cascade_mean(rows, scale=scale, clusters=groups)
    except InputError as error:
        return error.faults[0].what


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeEstimate:
    """One number on the strong judge's scale over the samples of the run; without it, `why` says what is wanting."""

    kind: CascadeKind
    variant: str
    control: str | None = None
    strong: CascadeMean | None = None
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeMissed:
    """Outputs on which the cheap judge had another verdict: near a threshold, of those drawn, by them of the rest.

    `unseen` is how many of the outputs that were not passed on would have another verdict.
    """

    near: int
    near_of: int
    drawn: int
    drawn_of: int
    unseen: float | None
    unseen_of: int


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeSaved:
    """Calls of the strong judge that were made, those that were not, and what these would have cost (None: unknown)."""

    calls: int
    calls_saved: int
    cost: float | None
    cost_saved: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeReport:
    """What a run with a cascade comes to; samples are `near`, `drawn` or `left` with the cheap judge."""

    cheap: str
    strong: str
    near: int
    drawn: int
    left: int
    unanswered: int  # Outputs that were passed on and have no score of the strong judge.
    estimates: tuple[CascadeEstimate, ...]
    missed: CascadeMissed | None
    saved: CascadeSaved


def measure_variants_through_cascade(
    frame: RunEvalRecord, tallies: Mapping[str, RunVariantTally], calls: Mapping[str, JudgeCallTally]
) -> CascadeReport | None:
    """The cascade of a run; None where it has none."""
    found = {name: tally for name, tally in tallies.items() if tally.cascade}
    if not found:
        return None
    cheap, strong = frame.judges
    passed = np.stack([_spread_over_compared_samples(tally, "passed_on", tallies) for tally in found.values()])
    by_sample = np.nanmax(np.where(np.isnan(passed), -1.0, passed), axis=0)
    near, drawn, left = (int((by_sample == PASSED_ON_NUMBERS[one]).sum()) for one in ("near", "drawn", ""))
    every = [np.array([tally.cascade[name].values for name in ("passed_on", "by_strong")]) for tally in found.values()]
    return CascadeReport(
        cheap=cheap,
        strong=strong,
        near=near,
        drawn=drawn,
        left=left,
        unanswered=sum(int(((one[0] > 0) & (one[1] == 0)).sum()) for one in every),
        estimates=tuple(_list_variant_cascade_estimates(frame, found)),
        missed=_count_missed_verdicts(list(found.values())),
        saved=_count_calls_saved_by_compared_cascade(calls.get(strong, JudgeCallTally()), near + drawn, left),
    )


def _spread_over_compared_samples(tally: RunVariantTally, name: str, tallies: Mapping[str, RunVariantTally]) -> Floats:
    """A column by sample of the run, NaN where the variant has none."""
    places = sorted({place for one in tallies.values() for place in one.places})
    own = dict(zip(tally.places, tally.cascade[name].values, strict=True))
    return np.array([own.get(place, np.nan) for place in places])


def _list_variant_cascade_estimates(
    frame: RunEvalRecord, found: Mapping[str, RunVariantTally]
) -> list[CascadeEstimate]:
    estimates, sides = [], {name: read_compared_tally_side(frame, tally, "composite") for name, tally in found.items()}
    for name, tally in found.items():
        for kind in FIGURES:
            one = estimate_variant_through_cascade(frame, tally, kind)
            layered = max(map(len, tally.composites_by_layers), default=0) > 1
            if one is not None and (layered or kind != "judge layer"):
                estimates.append(_make_variant_cascade_estimate(kind, name, None, one))
    base = sides.get(frame.control)
    for name, side in sides.items():
        if name == frame.control or base is None or side is None:
            continue
        ours, theirs = found[name], found[frame.control]
        if ours.places != theirs.places:  # A stopped run: the verdict pairs what both have.
            continue
        span = COMPOSITE_SCALE[1] - COMPOSITE_SCALE[0]
        one = _estimate_compared_cascade_side(side.minus(base), list(ours.clusters), (-span, span))
        estimates.append(_make_variant_cascade_estimate("difference", name, frame.control, one))
    return estimates


def correct_variant_means(variants: Sequence[dict[str, Any]], found: CascadeReport) -> None:
    """Put the strong judge's means and intervals into the head of a run, where the scorecards are of two judges."""
    for one in variants:
        for estimate in found.estimates:
            if estimate.variant != one["name"] or estimate.control is not None or estimate.strong is None:
                continue
            strong, layers = estimate.strong, [one["layers"].get(JUDGE_LAYER)]
            told = {"mean": round(strong.estimate, 4), "low": strong.low, "high": strong.high, "level": strong.level}
            alone = estimate.kind == "composite" and len(one["layers"]) == 1
            targets = {"score": [one["score"]], "composite": [one["composite"], *(layers if alone else ())]}
            for target in {**targets, "judge layer": layers}.get(estimate.kind, ()):
                if target is not None:
                    target.update(told)


def _make_variant_cascade_estimate(
    kind: CascadeKind, variant: str, control: str | None, found: CascadeMean | str
) -> CascadeEstimate:
    if isinstance(found, str):
        return CascadeEstimate(kind=kind, variant=variant, control=control, why=found)
    return CascadeEstimate(kind=kind, variant=variant, control=control, strong=found)


def estimate_variant_through_cascade(
    frame: RunEvalRecord, tally: RunVariantTally, kind: CascadeKind
) -> CascadeMean | str | None:
    """The mean of one figure of a variant by the strong judge, or why there is none; None where nothing measures it."""
    side = read_compared_tally_side(frame, tally, kind)
    scale = {"score": frame.scale, "pass rate": (0.0, 1.0)}.get(kind, COMPOSITE_SCALE)
    return None if side is None or scale is None else _estimate_compared_cascade_side(side, list(tally.clusters), scale)


def read_compared_tally_side(
    frame: RunEvalRecord, tally: RunVariantTally, kind: CascadeKind
) -> ComparedCascadeSide | None:
    """A figure of a variant by both judges; None where its results do not have it."""
    cascade = {name: tuple(mean.values) for name, mean in tally.cascade.items()}
    if kind == "pass rate":
        least = VERDICT_NUMBERS["borderline" if frame.count_borderline else "pass"]
        given = (np.array(cascade[name]) for name in ("verdict", "cheap_verdict"))
        strong, cheap = (np.where(np.isnan(one), np.nan, (one >= least).astype(np.float64)) for one in given)
        return read_compared_cascade_side(tuple(strong), cheap, cascade) if np.isfinite(strong).any() else None
    if kind == "score":
        return read_compared_cascade_side(tuple(tally.score.values), np.array(cascade["cheap_score"]), cascade)
    if JUDGE_LAYER not in tally.layers or len(tally.composites_by_layers) > 1:
        return None
    layers = next(iter(tally.composites_by_layers), ())
    weights = {name: float(one) for name, one in frame.find_layer_weights().items()}
    column = VariantColumn(
        composite=_none_for_nan_in_comparison(tally.composite.values),
        layers={JUDGE_LAYER: _none_for_nan_in_comparison(tally.layers[JUDGE_LAYER].values)},
        cascade=cascade,
    )
    if kind == "judge layer":
        return read_compared_cascade_composite(column, 1.0, JUDGE_LAYER)
    return read_compared_cascade_composite(column, find_judge_layer_share(layers, weights))


def _none_for_nan_in_comparison(values: Sequence[float]) -> RowScores:
    return tuple(None if isnan(one) else one for one in values)


def _count_missed_verdicts(tallies: Sequence[RunVariantTally]) -> CascadeMissed | None:
    """How often the cheap judge's verdict was another one; None where outputs get none."""
    names = ("passed_on", "by_strong", "cheap_verdict", "verdict")
    passed, by, cheap, strong = np.concatenate(
        [np.array([tally.cascade[name].values for name in names]) for tally in tallies], axis=1
    )
    known = np.isfinite(cheap) & np.isfinite(strong)
    checked = known & (by == 1)
    if not known.any():
        return None
    near, drawn = (checked & (passed == PASSED_ON_NUMBERS[one]) for one in ("near", "drawn"))
    unseen, differ = int((known & (passed == 0)).sum()), cheap != strong
    rate = float((differ & drawn).sum()) / float(drawn.sum()) if drawn.any() else None
    return CascadeMissed(
        near=int((differ & near).sum()),
        near_of=int(near.sum()),
        drawn=int((differ & drawn).sum()),
        drawn_of=int(drawn.sum()),
        unseen=None if rate is None else rate * unseen,
        unseen_of=unseen,
    )


def _count_calls_saved_by_compared_cascade(calls: JudgeCallTally, passed: int, left: int) -> CascadeSaved:
    """By what the strong judge took for each sample that it saw; a kept reply had its price in an earlier run."""
    fresh = calls.calls - calls.cached
    priced = fresh > 0 and not calls.unpriced
    each = float(calls.cost) / fresh if priced else None
    saved = round(calls.calls / passed * left) if passed else 0
    return CascadeSaved(
        calls=calls.calls,
        calls_saved=saved,
        cost=float(calls.cost) if priced else None,
        cost_saved=None if each is None else each * saved,
    )
