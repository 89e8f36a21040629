"""A run under another rubric, at once: scores, grades, verdicts and ranks beside those that are stored.

The steps run over each judge's answers, as columns, and the panel joins them as in a rescore. A stored score moves by
what the two rubrics make of the same answers, so that nothing changed is what is stored, to the last digit.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.compare.cascade import find_judge_layer_share
from evenhand.compare.facts import JUDGE_LAYER
from evenhand.compare.judged_columns import JudgedColumns, collect_judged_columns
from evenhand.compare.paired_rows import LAYER_SPAN
from evenhand.compare.weighted_scores import find_common_compared_rows
from evenhand.errors import Fault, InputError
from evenhand.model.rubric import Rubric
from evenhand.runs.columns import RunTable
from evenhand.runs.stored_judgments import RunRubric
from evenhand.scoring.panel_columns import DECIDED_VERDICTS, decide_panel_columns, score_panel_columns
from evenhand.scoring.panel_pooling import Booleans, Floats
from evenhand.stats.arrays import compute_cluster_means
from evenhand.stats.differences import difference_of, unit_differences

_SAME = 1e-9
MOST_FLIPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredColumns:
    """Scores of all outputs under one rubric, NaN where there is none; grades and verdicts by their numbers."""

    score: Floats
    grade: NDArray[np.int64]
    verdict: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class CommonRows:
    """The rows that variants are compared on, where `known` rows have a number."""

    known: Booleans
    variants: tuple[int, ...]  # Those that have any.
    lines: NDArray[np.int64]  # Samples, with their repeats, that all of these have a number for × variants.
    samples: int
    left_out: int


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfColumns:
    """A run made ready: the answers of each judge, and what the rubric that it was scored by makes of them."""

    table: RunTable
    rubric: Rubric
    judged: JudgedColumns
    stored: ScoredColumns
    ranked: RankedMeans
    common: tuple[CommonRows, ...]  # Of the stored scores and composites; other numbers hardly ever stand elsewhere.
    raw: Floats  # The score that the stored rubric gives these answers.
    beyond: int  # Outputs whose stored score is another one: their answers do not tell all of it.


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantChange:
    """A variant before and after, without a rank where there is none; shares by grade and by verdict."""

    name: str
    before: float | None
    after: float | None
    rank_before: int | None
    rank_after: int | None
    grades: Mapping[str, tuple[float | None, float]]  # None before, where nothing is stored.
    verdicts: Mapping[str, tuple[float | None, float]]


@dataclass(frozen=True, slots=True, kw_only=True)
class FlippedOutput:
    """An output whose verdict is another one, or, without verdicts, whose score moved."""

    place: int
    variant: str
    before: float
    after: float
    verdict_before: str
    verdict_after: str


@dataclass(frozen=True, slots=True, kw_only=True)
class RankedMeans:
    """Variants by their means over the samples that all of them have a number for; those without any are not ranked.

    Where they share no sample, each has its own mean, and there is no order.
    """

    means: tuple[float | None, ...]
    order: tuple[int, ...]  # Places of the variants, best first.
    lead: tuple[float, float, float] | None  # Of the first over the second, with its 95% interval, which may be open.
    samples: int
    left_out: int  # Samples that not all of them have a number for.

    def find_rank(self, variant: int) -> int | None:
        """The place of a variant, 1 for the best."""
        return self.order.index(variant) + 1 if variant in self.order else None


@dataclass(frozen=True, slots=True, kw_only=True)
class CompositeRanking:
    """Who is first by the composite, which the verdict goes by where the run has more layers than the rubric's."""

    layers: tuple[str, ...]
    first: str
    second: str
    lead: tuple[float, float, float] | None
    changed: bool  # Whether the changed rubric is in it; where layers are adjusted over the run, it cannot be.


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIf:
    """What another rubric makes of a run; without a winner where no ranking can be made."""

    variants: tuple[VariantChange, ...]
    winner_before: str
    winner_after: str
    lead: tuple[float, float, float] | None  # Of the winner over the second, with its 95% interval.
    second: str
    samples: int  # Those that means and ranks are over.
    left_out: int
    composite: CompositeRanking | None
    flips: tuple[FlippedOutput, ...]
    flipped: int  # Outputs that have another verdict.
    decided: int  # Outputs that have one for the first time.
    moved: int
    outputs: int


def prepare_what_if_comparison(table: RunTable, rubric: Rubric, asked: RunRubric) -> WhatIfColumns:
    """Make a run ready; refused where its scores are no matter of columns."""
    if rubric.method.panel.normalise != "none" or rubric.method.panel.aggregate == "borda":
        what = "scores of this run are normalised over all outputs, or ranks"
        raise InputError(Fault(what, "change the rubric, and evenhand runs rescore"))
    if not any(id in table.criteria for id in rubric.leaves):
        raise InputError(Fault("no criterion of this run has a column", "its samples bring rubrics of their own"))
    judged = collect_judged_columns(table, rubric, asked)
    found = score_panel_columns(rubric, judged.reviews, judged.unsafe)
    own = np.where(np.isnan(found.score), np.nan, table.score)
    grade, verdict = decide_panel_columns(rubric, own, found.values)
    common = tuple(_find_common_rows(table, np.isfinite(column)) for column in (own, table.composite + 0 * own))
    return WhatIfColumns(
        table=table,
        rubric=rubric,
        judged=judged,
        stored=ScoredColumns(score=own, grade=grade, verdict=verdict),
        ranked=rank_variants_by_mean(table, own, common),
        common=common,
        raw=found.score,
        beyond=int((np.abs(own - found.score) > _SAME * 1e3).sum()),
    )


def score_what_if(run: WhatIfColumns, rubric: Rubric) -> ScoredColumns:
    """All outputs by a rubric that asks the same."""
    found = score_panel_columns(rubric, run.judged.reviews, run.judged.unsafe)
    low, high = float(rubric.method.scale.min), float(rubric.method.scale.max)
    score = np.clip(run.stored.score + (found.score - run.raw), low, high)
    grade, verdict = decide_panel_columns(rubric, score, found.values)
    return ScoredColumns(score=score, grade=grade, verdict=verdict)


def compare_what_if(run: WhatIfColumns, rubric: Rubric) -> WhatIf:
    """Score a run by a rubric that asks the same, and hold it against what is stored."""
    after, before, table = score_what_if(run, rubric), run.stored, run.table
    moved_by = after.score - before.score
    there = np.isfinite(before.score)
    was, now = run.ranked, rank_variants_by_mean(table, after.score, run.common)
    grades, words = [one.grade for one in rubric.method.grades], list(DECIDED_VERDICTS)
    variants = tuple(
        VariantChange(
            name=name,
            before=was.means[at],
            after=now.means[at],
            rank_before=was.find_rank(at),
            rank_after=now.find_rank(at),
            grades=_count_what_if_winner_shares(grades, before.grade, after.grade, there & (table.variant == at)),
            verdicts=_count_what_if_winner_shares(words, before.verdict, after.verdict, there & (table.variant == at)),
        )
        for at, name in enumerate(table.variants)
    )
    flipped = np.flatnonzero(there & (before.verdict != after.verdict))
    moved = np.abs(moved_by) > _SAME
    listed = flipped if len(flipped) or (before.verdict >= 0).any() else np.flatnonzero(there & moved)
    first = _pick_samples_moved_by_what_if(np.abs(moved_by), listed, 4 * before.verdict + after.verdict)
    return WhatIf(
        variants=variants,
        winner_before=table.variants[was.order[0]] if was.order else "",
        winner_after=table.variants[now.order[0]] if now.order else "",
        lead=now.lead,
        second=table.variants[now.order[1]] if len(now.order) > 1 else "",
        samples=now.samples,
        left_out=now.left_out,
        composite=_rank_by_composite(run, moved_by),
        flips=tuple(_describe_what_if_flip(run, after, int(row)) for row in first),
        flipped=int((before.verdict[flipped] >= 0).sum()),
        decided=int((before.verdict[flipped] < 0).sum()),
        moved=int((moved & there).sum()),
        outputs=int(there.sum()),
    )


def rank_variants_by_mean(table: RunTable, values: Floats, common: Sequence[CommonRows] = ()) -> RankedMeans:
    """One set of samples for means, ranks and the lead, so that they cannot contradict each other.

    Of `common` those are used, if any, that stand for the rows that have a value.
    """
    known = np.isfinite(values)
    over = next((one for one in common if np.array_equal(one.known, known)), None) or _find_common_rows(table, known)
    lines = over.lines
    means: list[float | None] = [None] * len(table.variants)
    for at in over.variants:
        rows = lines[:, at] if len(lines) else np.flatnonzero((table.variant == at) & known)
        units = compute_cluster_means(values[rows], table.cluster[rows], table.sample[rows], table.frame.composite.per)
        means[at] = float(np.average(units.means, weights=units.sizes))
    if not len(lines):
        return RankedMeans(means=tuple(means), order=(), lead=None, samples=0, left_out=over.left_out)
    order = sorted(over.variants, key=lambda at: (-round(means[at] or 0.0, 9), at))  # As on the map: a hair is no lead.
    lead = _measure_lead(table, values, lines[:, order[:2]]) if len(order) > 1 else None
    return RankedMeans(means=tuple(means), order=tuple(order), lead=lead, samples=over.samples, left_out=over.left_out)


def _find_common_rows(table: RunTable, known: Booleans) -> CommonRows:
    variants = tuple(at for at in range(len(table.variants)) if known[table.variant == at].any())
    every = _count_distinct(table.sample)
    lines = np.zeros((0, len(table.variants)), dtype=np.int64)
    if variants:
        lines, _ = find_common_compared_rows(table, [np.where(known, 0.0, np.nan)], among=variants)
    samples = _count_distinct(table.sample[lines[:, variants[0]]]) if len(lines) else 0
    return CommonRows(known=known, variants=variants, lines=lines, samples=samples, left_out=every - samples)


def _count_distinct(places: NDArray[np.int64]) -> int:
    return int(np.count_nonzero(np.bincount(places)))


def _rank_by_composite(run: WhatIfColumns, moved: Floats) -> CompositeRanking | None:
    """By the composite, with what the changed rubric adds to it; None where the rubric's score is all there is."""
    table, frame = run.table, run.table.frame
    layers = tuple(name for name, column in table.layers.items() if not np.isnan(column).all())
    if len(layers) < 2 or JUDGE_LAYER not in layers or len(table.variants) < 2:
        return None
    scale, composite = run.rubric.method.scale, table.composite
    weights = {name: float(weight) for name, weight in frame.find_layer_weights().items()}
    changed = not frame.composite.needs_all_outputs
    if changed:
        share = find_judge_layer_share(layers, weights)
        composite = composite + share * moved * LAYER_SPAN / float(scale.max - scale.min)
    found = rank_variants_by_mean(table, composite, run.common)
    if len(found.order) < 2:
        return None
    first, second = (table.variants[at] for at in found.order[:2])
    return CompositeRanking(layers=layers, first=first, second=second, lead=found.lead, changed=changed)


def _count_what_if_winner_shares(
    names: Sequence[str], before: Any, after: Any, own: Any
) -> dict[str, tuple[float | None, float]]:
    total = max(1, int(own.sum()))
    sides = [np.bincount(side[own] + 1, minlength=len(names) + 1)[1:] / total for side in (before, after)]
    if not (sides[0].any() or sides[1].any()):
        return {}
    known = sides[0].any()
    return {name: (float(sides[0][at]) if known else None, float(sides[1][at])) for at, name in enumerate(names)}


def _pick_samples_moved_by_what_if(by: Floats, rows: NDArray[np.int64], kinds: NDArray[np.int64]) -> NDArray[np.int64]:
    """Those that moved most, with the first of each kind of flip among them."""
    order = rows[np.lexsort((rows, -by[rows]))]
    leading = np.sort(np.unique(kinds[order], return_index=True)[1])
    rest = np.setdiff1d(np.arange(len(order)), leading)
    listed: NDArray[np.int64] = order[np.sort(np.concatenate([leading, rest])[:MOST_FLIPS])]
    return listed


def _describe_what_if_flip(run: WhatIfColumns, after: ScoredColumns, row: int) -> FlippedOutput:
    words = (*DECIDED_VERDICTS, "")
    return FlippedOutput(
        place=int(run.table.sample[row]),
        variant=run.table.variants[run.table.variant[row]],
        before=float(run.stored.score[row]),
        after=float(after.score[row]),
        verdict_before=words[run.stored.verdict[row]],
        verdict_after=words[after.verdict[row]],
    )


def _measure_lead(table: RunTable, values: Floats, pairs: NDArray[np.int64]) -> tuple[float, float, float] | None:
    """The first over the second, on the rows that both have, by the test that other reports of the run use."""
    clusters, samples = table.cluster[pairs[:, 0]], table.sample[pairs[:, 0]]
    units = unit_differences(values[pairs[:, 0]], values[pairs[:, 1]], clusters, samples, table.frame.composite.per)
    if len(units.means) < 2:
        return None
    found = difference_of(units.means, sizes=units.sizes, rng=np.random.default_rng(table.frame.seed))
    return found.estimate, found.low, found.high
