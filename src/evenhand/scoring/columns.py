"""The same steps over columns: a million scorecards at once, equal to the exact path to the last digit."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import InputError
from evenhand.model.method import (
    Add,
    Cap,
    Ceiling,
    Clamp,
    Deduct,
    LayerMean,
    Panel,
    PointsShare,
    Round,
    Shortfall,
    Step,
    WeightedMean,
    WeightedSum,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import SHARE, Criterion, CriterionScore, Scale
from evenhand.model.scorecard import Answers, Scorecard
from evenhand.scoring.engine import compute_answers_scorecard
from evenhand.scoring.exact_column import (
    BooleanArray,
    DoesNotFitError,
    ExactColumn,
    read_exact_score_column,
    sum_weighted_columns,
)

__all__ = ["ScoreColumns", "score_columns"]

# Small enough that a chunk of every criterion stays in the processor's cache.
CHUNK_ROWS = 16_384
VERDICT_CODES = ("pass", "borderline", "fail", "incomplete")


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreColumns:
    """Scores, grades, verdicts and failed gates, row by row; an incomplete row's score is masked."""

    score: np.ma.MaskedArray[Any, np.dtype[np.float64]]
    grade: NDArray[np.str_] | None
    verdict: NDArray[np.str_] | None
    gates_failed: Mapping[str, BooleanArray]
    rechecked: int


def score_columns(
    rubric: Rubric,
    scores: Mapping[str, ArrayLike],
    *,
    red_flags: Mapping[str, ArrayLike] | None = None,
    bonuses: Mapping[str, ArrayLike] | None = None,
    unsafe: ArrayLike | None = None,
) -> ScoreColumns:
    """Score one row per output: a column of numbers per criterion, of booleans per statement.

    A missing score is masked (`numpy.ma`); a layer that was not configured is a column left out.
    """
    table = ScorecardColumnTable(rubric, scores, red_flags or {}, bonuses or {}, unsafe)
    sheet = _ScorecardColumnSheet(rubric, table.rows)
    for start in range(0, table.rows, CHUNK_ROWS):
        sheet.score_column_chunk(table, slice(start, min(start + CHUNK_ROWS, table.rows)))
    return sheet.columns()


class _ScorecardColumnSheet:
    """The result, filled chunk by chunk."""

    def __init__(self, rubric: Rubric, rows: int) -> None:
        self.rubric = rubric
        self.score = np.zeros(rows)
        self.masked = np.zeros(rows, dtype=bool)
        self.grade = np.zeros(rows, dtype=np.int8)
        self.verdict = np.zeros(rows, dtype=np.int8)
        self.gates = {gate.criterion: np.zeros(rows, dtype=bool) for gate in rubric.all_gates}
        self.rechecked = 0

    def score_column_chunk(self, table: ScorecardColumnTable, rows: slice) -> None:
        """Score one chunk; what cannot be done in columns is done exactly."""
        try:
            case = ScorecardColumnChunk(table, rows)
            value = run_column_steps(case)
            self._write_scored_chunk(case, value, rows)
            again = np.flatnonzero(case.odd) + rows.start
        except DoesNotFitError:
            again = np.arange(rows.start, rows.stop)
        for row in again:
            self._write_exact_scorecard(
                compute_answers_scorecard(self.rubric, table.build_exact_scorecard_answers(int(row))), int(row)
            )
        self.rechecked += len(again)

    def columns(self) -> ScoreColumns:
        """The finished columns."""
        grades = np.array([grade.grade for grade in self.rubric.method.grades] + [""])
        decides = self.rubric.method.verdicts or self.gates
        return ScoreColumns(
            score=np.ma.MaskedArray(self.score, self.masked),
            grade=grades[self.grade] if self.rubric.method.grades else None,
            verdict=np.array(VERDICT_CODES)[self.verdict] if decides else None,
            gates_failed=self.gates,
            rechecked=self.rechecked,
        )

    def _write_scored_chunk(self, case: ScorecardColumnChunk, value: ExactColumn, rows: slice) -> None:
        method = self.rubric.method
        self.score[rows] = value.to_floats(method.scale.decimals)
        self.masked[rows] = case.incomplete
        levels = [grade.from_ for grade in method.grades]
        self.grade[rows] = np.where(case.incomplete, len(levels), value.first_reached(levels))
        failed = np.zeros(len(case.incomplete), dtype=bool)
        for gate in self.rubric.all_gates:
            below = case.values[gate.criterion].below(gate.min) & ~case.unanswered(gate.criterion)
            self.gates[gate.criterion][rows] |= below
            failed |= below
        passed = value.first_reached([threshold.from_ for threshold in method.verdicts])
        verdicts = [*(threshold.verdict for threshold in method.verdicts), "fail" if method.verdicts else "pass"]
        codes = np.array([VERDICT_CODES.index(verdict) for verdict in verdicts])
        self.verdict[rows] = np.where(failed, VERDICT_CODES.index("fail"), np.where(case.incomplete, 3, codes[passed]))

    def _write_exact_scorecard(self, card: Scorecard, row: int) -> None:
        grades = [grade.grade for grade in self.rubric.method.grades]
        self.score[row] = 0.0 if card.score is None else float(card.score)
        self.masked[row] = card.exact is None
        self.grade[row] = len(grades) if card.grade is None else grades.index(card.grade)
        self.verdict[row] = 0 if card.verdict is None else VERDICT_CODES.index(card.verdict)
        for criterion, column in self.gates.items():
            column[row] = criterion in card.gates_failed


def run_column_steps(case: ScorecardColumnChunk) -> ExactColumn:
    """The steps of the method, in order."""
    value: ExactColumn | None = None
    for step in case.rubric.method.steps:
        value = COLUMN_STEP_FUNCTIONS[type(step)](step, value, case)
    assert value is not None
    return value


def _apply_weighted_mean_columns(
    step: WeightedMean | LayerMean, _value: None, case: ScorecardColumnChunk
) -> ExactColumn:
    scored = case.table.scores
    present = [
        criterion
        for criterion in case.rubric.criteria
        if criterion.id in case.values and any(leaf.id in scored for leaf in criterion.leaves())
    ]
    total = sum((criterion.weight for criterion in present), Fraction(0))
    if step.onto is None:
        return sum_weighted_columns([(criterion.weight / total, case.values[criterion.id]) for criterion in present])
    return rescale_score_columns(step.onto, [(c.weight / total, c.scale, case.values[c.id]) for c in present])


def _apply_points_share_columns(_step: PointsShare, _value: None, case: ScorecardColumnChunk) -> ExactColumn:
    points = [(c.points or Fraction(0), c) for c in case.rubric.criteria]
    possible = sum((worth for worth, _ in points if worth > 0), Fraction(0))
    return rescale_score_columns(SHARE, [(worth / possible, c.scale, case.values[c.id]) for worth, c in points])


def _apply_shortfall_columns(step: Shortfall, value: ExactColumn, case: ScorecardColumnChunk) -> ExactColumn:
    for criterion in case.rubric.criteria:
        if criterion.fixed:
            own = case.values[criterion.id]
            short = own.below(step.below)
            if short.any():
                value = value.times_where(short, own, 1 / step.below)
    return value


def _apply_cap_columns(step: Cap, value: ExactColumn, case: ScorecardColumnChunk) -> ExactColumn:
    return value if case.table.unsafe is None else value.at_most(step.at, case.table.unsafe[case.rows])


def _sum_statement_step_columns(step: Deduct | Add, case: ScorecardColumnChunk) -> ExactColumn:
    own = {statement.id: statement.amount for statement in getattr(case.rubric, step.for_)}
    terms = [
        (step.each if own[id] is None else own[id], ExactColumn(found[case.rows].astype(np.int64), 1, 1))
        for id, found in case.table.found[step.for_].items()
    ]
    if not terms:
        return ExactColumn.constant(len(case.incomplete), Fraction(0))
    return sum_weighted_columns(terms).clamped(None, step.most)


class ScorecardColumnTable:
    """The given columns, checked once."""

    def __init__(
        self,
        rubric: Rubric,
        scores: Mapping[str, ArrayLike],
        red_flags: Mapping[str, ArrayLike],
        bonuses: Mapping[str, ArrayLike],
        unsafe: ArrayLike | None,
    ) -> None:
        self.rubric = rubric
        unknown = [id for id in scores if id not in rubric.leaves]
        if unknown or not scores:
            raise InputError(f"columns are named after criteria: {', '.join(rubric.leaves)}; got {', '.join(unknown)}")
        self.scores = {id: _require_numeric_column_to_score(id, column) for id, column in scores.items()}
        masked = {id: column for id, column in scores.items() if isinstance(column, np.ma.MaskedArray)}
        self.missing = {id: np.ma.getmaskarray(column) for id, column in masked.items()}
        self.found = {
            "red_flags": _statement_score_columns(red_flags, [flag.id for flag in rubric.red_flags]),
            "bonuses": _statement_score_columns(bonuses, [bonus.id for bonus in rubric.bonuses]),
        }
        first = next(iter(self.scores.values()))
        self.rows = first.shape[0] if first.ndim else 0
        self.unsafe = None if unsafe is None else _require_boolean_column_to_score("unsafe", unsafe)
        given = [*self.scores.values(), *self.found["red_flags"].values(), *self.found["bonuses"].values()]
        given += [] if self.unsafe is None else [self.unsafe]
        if any(column.ndim != 1 or len(column) != self.rows for column in given):
            raise InputError(f"every column needs one dimension and {self.rows:,} rows, like the first")

    def build_exact_scorecard_answers(self, row: int) -> Answers:
        """One row in the form that the exact path takes."""
        scores: dict[str, CriterionScore] = {}
        for id, column in self.scores.items():
            gone = id in self.missing and self.missing[id][row]
            scale = self.rubric.leaves[id].scale
            numbers = Scale(min=scale.min, max=scale.max, integers=True) if scale.bands else scale
            scores[id] = numbers.read(None if gone else column[row].item())
        return Answers(
            id=str(row),
            scores=scores,
            red_flags={id: "" for id, column in self.found["red_flags"].items() if column[row]},
            bonuses={id: "" for id, column in self.found["bonuses"].items() if column[row]},
            unsafe="unsafe" if self.unsafe is not None and self.unsafe[row] else None,
        )


class ScorecardColumnChunk:
    """One chunk: the value of each criterion, and which rows are incomplete or need the exact path."""

    def __init__(self, table: ScorecardColumnTable, rows: slice) -> None:
        self.table, self.rows, self.rubric = table, rows, table.rubric
        self.values: dict[str, ExactColumn] = {}
        self.missing: dict[str, BooleanArray] = {}
        self.incomplete, self.odd = np.zeros((2, rows.stop - rows.start), dtype=bool)
        method = self.rubric.method
        for id, leaf in self.rubric.leaves.items():
            if id in table.scores:
                self._read_leaf(leaf)
            elif not isinstance(method.steps[0], LayerMean):
                self._leave_unanswered(id, leaf.scale.min)
        for criterion in self.rubric.criteria:
            self._fold_child_columns(criterion)
        limiting = [gate.criterion for gate in self.rubric.all_gates]
        limiting += [step.criterion for step in method.steps if isinstance(step, Ceiling)]
        for id in limiting:
            if id not in self.values:  # An absent layer: a gate on it is not known to have passed.
                self._leave_unanswered(id, Fraction(0))

    def unanswered(self, id: str) -> BooleanArray | np.bool_:
        """The rows in which a criterion, or one below it, has no answer."""
        criterion = self.rubric.criterion(id)
        below = [self.missing[leaf.id] for leaf in criterion.leaves() if leaf.id in self.missing] if criterion else []
        return np.logical_or.reduce(below) if below else np.bool_(False)

    def _leave_unanswered(self, id: str, value: Fraction) -> None:
        """A criterion without an answer in any row; the value only keeps the arithmetic going."""
        self.values[id] = ExactColumn.constant(len(self.incomplete), value)
        self.missing[id] = np.ones(len(self.incomplete), dtype=bool)
        self.incomplete[:] = True

    def _read_leaf(self, leaf: Criterion) -> None:
        numbers = self.table.scores[leaf.id][self.rows]
        column, unreadable, odd = read_exact_score_column(numbers, leaf.scale)
        gone = self.table.missing.get(leaf.id)
        if gone is not None:
            unreadable = gone[self.rows] if unreadable is None else unreadable | gone[self.rows]
        self.values[leaf.id] = column
        if odd is not None:
            self.odd |= odd
        if unreadable is not None:
            self.missing[leaf.id] = unreadable
            self.incomplete |= unreadable

    def _fold_child_columns(self, criterion: Criterion) -> None:
        for child in criterion.children:
            self._fold_child_columns(child)
        if criterion.children and all(child.id in self.values for child in criterion.children):
            total = sum((child.weight for child in criterion.children), Fraction(0))
            terms = [(child.weight / total, child.scale, self.values[child.id]) for child in criterion.children]
            self.values[criterion.id] = rescale_score_columns(criterion.scale, terms)


def _statement_score_columns(given: Mapping[str, ArrayLike], known: list[str]) -> dict[str, BooleanArray]:
    unknown = [id for id in given if id not in known]
    if unknown:
        raise InputError(f"the rubric has no statement {', '.join(unknown)}")
    return {id: _require_boolean_column_to_score(id, column) for id, column in given.items()}


def _require_numeric_column_to_score(id: str, column: ArrayLike) -> NDArray[np.generic]:
    numbers = np.asarray(np.ma.getdata(column))
    if numbers.dtype.kind not in "biuf":
        raise InputError(f"the column {id!r} must hold numbers, got {numbers.dtype} (mask what is missing)")
    return numbers


def _require_boolean_column_to_score(id: str, column: ArrayLike) -> BooleanArray:
    found = np.asarray(np.ma.getdata(column))
    if found.dtype.kind != "b" or np.ma.is_masked(column):
        raise InputError(f"the column {id!r} must hold true and false without gaps, got {found.dtype}")
    return found


def rescale_score_columns(scale: Scale, terms: list[tuple[Fraction, Scale, ExactColumn]]) -> ExactColumn:
    """A sum of criteria by share, each put from its own scale onto a common one."""
    span = scale.max - scale.min
    stretched = [(share * span / (own.max - own.min), column) for share, own, column in terms]
    shift = sum((share * (scale.min - own.min * span / (own.max - own.min)) for share, own, _ in terms), Fraction(0))
    return sum_weighted_columns(stretched, shift)


COLUMN_STEP_FUNCTIONS: dict[type[Step], Callable[[Any, Any, ScorecardColumnChunk], ExactColumn]] = {
    WeightedSum: lambda _, _value, case: sum_weighted_columns(
        [(criterion.weight, case.values[criterion.id]) for criterion in case.rubric.criteria]
    ),
    WeightedMean: _apply_weighted_mean_columns,
    LayerMean: _apply_weighted_mean_columns,
    PointsShare: _apply_points_share_columns,
    Ceiling: lambda step, value, case: value.at_most(step.at, case.values[step.criterion].below(step.below)),
    Shortfall: _apply_shortfall_columns,
    Deduct: lambda step, value, case: value.plus(_sum_statement_step_columns(step, case), -1),
    Add: lambda step, value, case: value.plus(_sum_statement_step_columns(step, case), 1),
    Cap: _apply_cap_columns,
    Clamp: lambda step, value, _: value.clamped(step.min, step.max),
    Round: lambda step, value, _: value.rounded(step.decimals),
    Panel: lambda _, value, _case: value,  # One set of answers per row: there is nobody to join.
}
