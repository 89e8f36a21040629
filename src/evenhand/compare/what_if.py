"""A run under another rubric, at once: scores, grades, verdicts and ranks as a difference from those that are stored.

The steps run over each judge's answers, as columns. What is no matter of weights, ceilings or gates, such as red flags,
stays as it was: a score moves by what the two rubrics make of the same answers.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError
from evenhand.model.rubric import Rubric
from evenhand.runs.columns import RunTable
from evenhand.scoring.columns import score_columns
from evenhand.stats.differences import unit_differences
from evenhand.stats.distributions import student_quantile
from evenhand.stats.means import clustered_mean_and_error

Floats = NDArray[np.float64]
VERDICT_WORDS = ("fail", "borderline", "pass")
_SAME = 1e-9
MOST_FLIPS = 12


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoredColumns:
    """Scores of all outputs under one rubric, NaN where there is none; grades and verdicts by their numbers."""

    score: Floats
    grade: NDArray[np.int64]
    verdict: NDArray[np.int64]


@dataclass(frozen=True, slots=True, kw_only=True)
class WhatIfColumns:
    """A run made ready: the answers of each judge, and what the rubric that it was scored by makes of them."""

    table: RunTable
    rubric: Rubric
    answers: tuple[tuple[float, Mapping[str, Any]], ...]  # The weight of a judge, and its columns by criterion.
    pooled: Mapping[str, Floats]
    stored: ScoredColumns
    raw: Floats  # The score by these columns, before what stays as it was.
    beyond: int  # Outputs whose stored score has more in it than these steps.


@dataclass(frozen=True, slots=True, kw_only=True)
class VariantChange:
    """A variant before and after; shares by grade and by verdict."""

    name: str
    before: float
    after: float
    rank_before: int
    rank_after: int
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
class WhatIf:
    """What another rubric makes of a run."""

    variants: tuple[VariantChange, ...]
    winner_before: str
    winner_after: str
    lead: tuple[float, float, float] | None  # Of the winner over the second, with its 95% interval.
    second: str
    flips: tuple[FlippedOutput, ...]
    flipped: int  # Outputs that have another verdict.
    decided: int  # Outputs that have one for the first time.
    moved: int
    outputs: int


def prepare_what_if(table: RunTable, rubric: Rubric, judges: Mapping[str, float]) -> WhatIfColumns:
    """Make a run ready; refused where its scores are no matter of columns."""
    if rubric.method.panel.normalise != "none" or rubric.method.panel.aggregate == "borda":
        what = "scores of this run are normalised over all outputs, or ranks"
        raise InputError(Fault(what, "change the rubric, and evenhand runs rescore"))
    asked = [id for id in rubric.leaves if id in table.criteria]
    if not asked:
        raise InputError(Fault("no criterion of this run has a column", "its samples bring rubrics of their own"))
    answers = []
    for judge, weight in judges.items():
        given = {id: table.judgments[judge, id] for id in asked if (judge, id) in table.judgments}
        if len(given) == len(asked):
            answers.append((weight, {id: _mask_missing(column) for id, column in given.items()}))
    if not answers:
        answers = [(1.0, {id: _mask_missing(table.criteria[id]) for id in asked})]
    pooled = {id: table.criteria[id] for id in asked}
    raw = _pool_scores(rubric, answers)
    own = np.where(np.isnan(table.score) | np.isnan(raw), np.nan, table.score)
    beyond = int((np.abs(own - raw) > _SAME * 1e3).sum())
    stored = _decide_columns(rubric, own, pooled)
    return WhatIfColumns(
        table=table, rubric=rubric, answers=tuple(answers), pooled=pooled, stored=stored, raw=raw, beyond=beyond
    )


def measure_what_if(run: WhatIfColumns, rubric: Rubric) -> WhatIf:
    """Score a run by a rubric that asks the same, and hold it against what is stored."""
    scale = rubric.method.scale
    moved_by = _pool_scores(rubric, run.answers) - run.raw
    score = np.clip(run.stored.score + moved_by, float(scale.min), float(scale.max))
    after = _decide_columns(rubric, score, run.pooled)
    before, table = run.stored, run.table
    there = np.isfinite(before.score)
    means = [(_mean(before.score, table, at), _mean(score, table, at)) for at in range(len(table.variants))]
    ranks = [_rank([one[side] for one in means]) for side in (0, 1)]
    grades, words = [one.grade for one in rubric.method.grades], list(VERDICT_WORDS)
    variants = tuple(
        VariantChange(
            name=name,
            before=means[at][0],
            after=means[at][1],
            rank_before=ranks[0][at],
            rank_after=ranks[1][at],
            grades=_count_shares(grades, before.grade, after.grade, there & (table.variant == at)),
            verdicts=_count_shares(words, before.verdict, after.verdict, there & (table.variant == at)),
        )
        for at, name in enumerate(table.variants)
    )
    flipped = np.flatnonzero(there & (before.verdict != after.verdict))
    moved = np.abs(moved_by) > _SAME
    listed = flipped if len(flipped) or (before.verdict >= 0).any() else np.flatnonzero(there & moved)
    first = _pick_most_moved(np.abs(moved_by), listed)
    order = sorted(range(len(variants)), key=lambda at: ranks[1][at])
    return WhatIf(
        variants=variants,
        winner_before=table.variants[ranks[0].index(1)],
        winner_after=table.variants[order[0]],
        lead=_measure_lead(table, score, order) if len(order) > 1 else None,
        second=table.variants[order[1]] if len(order) > 1 else "",
        flips=tuple(_describe_flip(run, after, int(row)) for row in first),
        flipped=int((before.verdict[flipped] >= 0).sum()),
        decided=int((before.verdict[flipped] < 0).sum()),
        moved=int((moved & there).sum()),
        outputs=int(there.sum()),
    )


def _mask_missing(column: Floats) -> Any:
    gone = np.isnan(column)
    return np.ma.MaskedArray(np.where(gone, 0.0, column), gone) if gone.any() else column


def _pool_scores(rubric: Rubric, answers: Sequence[tuple[float, Mapping[str, Any]]]) -> Floats:
    """What the judges' answers come to, joined as the panel joins them; NaN where nobody's are whole."""
    each = [score_columns(rubric, columns).score.filled(np.nan) for _, columns in answers]
    if len(each) == 1:
        return each[0]
    if rubric.method.panel.aggregate == "median":
        return np.asarray(np.nanmedian(np.stack(each), axis=0))
    total, weights = np.zeros(len(each[0])), np.zeros(len(each[0]))
    for (weight, _), scores in zip(answers, each, strict=True):
        known = np.isfinite(scores)
        total += np.where(known, weight * scores, 0.0)
        weights += weight * known
    return np.where(weights > 0, total / np.where(weights > 0, weights, 1.0), np.nan)


def _decide_columns(rubric: Rubric, score: Floats, pooled: Mapping[str, Floats]) -> ScoredColumns:
    """Grades and verdicts by the score; a gate that is failed decides over it. −1 is none."""
    known = np.isfinite(score)
    near = score + _SAME
    grade = np.full(len(score), -1)
    for place, one in reversed(list(enumerate(rubric.method.grades))):
        grade = np.where(known & (near >= float(one.from_)), place, grade)
    decides = bool(rubric.method.verdicts or rubric.all_gates)
    verdict = np.where(known & decides, 0 if rubric.method.verdicts else 2, -1)
    for threshold in sorted(rubric.method.verdicts, key=lambda one: one.from_):
        verdict = np.where(known & (near >= float(threshold.from_)), VERDICT_WORDS.index(threshold.verdict), verdict)
    for gate in rubric.all_gates:
        if gate.criterion in pooled:
            verdict = np.where(known & (pooled[gate.criterion] + _SAME < float(gate.min)), 0, verdict)
    return ScoredColumns(score=score, grade=grade, verdict=verdict)


def _mean(score: Floats, table: RunTable, variant: int) -> float:
    own = score[(table.variant == variant) & np.isfinite(score)]
    return float(own.mean()) if len(own) else float("nan")


def _rank(means: Sequence[float]) -> list[int]:
    """1 is best; who is level shares the better place by order of the file."""
    order = sorted(range(len(means)), key=lambda at: (-np.nan_to_num(means[at], nan=-np.inf), at))
    return [order.index(at) + 1 for at in range(len(means))]


def _count_shares(names: Sequence[str], before: Any, after: Any, own: Any) -> dict[str, tuple[float | None, float]]:
    total = max(1, int(own.sum()))
    sides = [np.bincount(side[own] + 1, minlength=len(names) + 1)[1:] / total for side in (before, after)]
    if not (sides[0].any() or sides[1].any()):
        return {}
    known = sides[0].any()
    return {name: (float(sides[0][at]) if known else None, float(sides[1][at])) for at, name in enumerate(names)}


def _pick_most_moved(by: Floats, rows: NDArray[np.int64]) -> NDArray[np.int64]:
    some = rows if len(rows) <= MOST_FLIPS else rows[np.argpartition(-by[rows], MOST_FLIPS)[:MOST_FLIPS]]
    return some[np.lexsort((some, -by[some]))]


def _describe_flip(run: WhatIfColumns, after: ScoredColumns, row: int) -> FlippedOutput:
    words = (*VERDICT_WORDS, "")
    return FlippedOutput(
        place=int(run.table.sample[row]),
        variant=run.table.variants[run.table.variant[row]],
        before=float(run.stored.score[row]),
        after=float(after.score[row]),
        verdict_before=words[run.stored.verdict[row]],
        verdict_after=words[after.verdict[row]],
    )


def _measure_lead(table: RunTable, score: Floats, order: Sequence[int]) -> tuple[float, float, float] | None:
    """The first over the second, on the samples that both have."""
    many = int(table.repeat.max(initial=0)) + 1
    sides = []
    for variant in order[:2]:
        column = np.full(len(table.samples) * many, np.nan)
        own = table.variant == variant
        column[table.sample[own] * many + table.repeat[own]] = score[own]
        sides.append(column)
    both = np.flatnonzero(np.isfinite(sides[0]) & np.isfinite(sides[1]))
    units = unit_differences(sides[0][both], sides[1][both], samples=(both // many).tolist())
    if len(units.means) < 2:
        return None
    mean, error = clustered_mean_and_error(units)
    reach = student_quantile(0.025, len(units.means) - 1) * error
    return mean, mean - reach, mean + reach
