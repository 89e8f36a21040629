"""The same steps over columns: a million scorecards at once, equal to the exact path to the last digit.

A column holds whole numerators over one denominator, so nothing is ever rounded on the way. What does not
fit (too many decimals, too large a product) goes through the exact path, row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.errors import InputError
from evenhand.model import (
    Add,
    Answers,
    Cap,
    Ceiling,
    Clamp,
    Criterion,
    CriterionScore,
    Deduct,
    LayerMean,
    Panel,
    PointsShare,
    Round,
    Rubric,
    Scale,
    Scorecard,
    Shortfall,
    Step,
    WeightedMean,
    WeightedSum,
)
from evenhand.scoring._column import Column, DoesNotFitError, leaf_column, linear, scaled_integers
from evenhand.scoring._engine import scorecard

Bools = NDArray[np.bool_]

# Small enough that a chunk of every criterion stays in the processor's cache.
CHUNK = 16_384
VERDICTS = ("pass", "borderline", "fail", "incomplete")


@dataclass(frozen=True, slots=True, kw_only=True)
class Columns:
    """Scores, grades, verdicts and failed gates, row by row; an incomplete row's score is masked."""

    score: np.ma.MaskedArray[Any, np.dtype[np.float64]]
    grade: NDArray[np.str_] | None
    verdict: NDArray[np.str_] | None
    gates_failed: Mapping[str, Bools]
    rechecked: int


def score_columns(
    rubric: Rubric,
    scores: Mapping[str, ArrayLike],
    *,
    red_flags: Mapping[str, ArrayLike] | None = None,
    bonuses: Mapping[str, ArrayLike] | None = None,
    unsafe: ArrayLike | None = None,
) -> Columns:
    """Score one row per output: a column of numbers per criterion, of booleans per statement.

    A missing score is masked (`numpy.ma`); a layer that was not configured is a column left out.
    """
    table = _Table(rubric, scores, red_flags or {}, bonuses or {}, unsafe)
    sheet = _Sheet(rubric, table.rows)
    for start in range(0, table.rows, CHUNK):
        sheet.fill(table, slice(start, min(start + CHUNK, table.rows)))
    return sheet.columns()


class _Table:
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
        self.scores = {id: np.asarray(np.ma.getdata(column)) for id, column in scores.items()}
        masked = {id: column for id, column in scores.items() if isinstance(column, np.ma.MaskedArray)}
        self.missing = {id: np.ma.getmaskarray(column) for id, column in masked.items()}
        self.found = {
            "red_flags": _statements(red_flags, [flag.id for flag in rubric.red_flags]),
            "bonuses": _statements(bonuses, [bonus.id for bonus in rubric.bonuses]),
        }
        self.rows = len(next(iter(self.scores.values())))
        self.unsafe = None if unsafe is None else np.asarray(unsafe, dtype=bool)
        given = [*self.scores.values(), *self.found["red_flags"].values(), *self.found["bonuses"].values()]
        given += [] if self.unsafe is None else [self.unsafe]
        if any(column.ndim != 1 or len(column) != self.rows for column in given):
            raise InputError(f"every column needs one dimension and {self.rows:,} rows, like the first")

    def answers(self, row: int) -> Answers:
        """One row in the form that the exact path takes."""
        scores: dict[str, CriterionScore] = {}
        for id, column in self.scores.items():
            gone = id in self.missing and self.missing[id][row]
            scores[id] = _read(self.rubric.leaves[id].scale, None if gone else column[row].item())
        return Answers(
            id=str(row),
            scores=scores,
            red_flags={id: "" for id, column in self.found["red_flags"].items() if column[row]},
            bonuses={id: "" for id, column in self.found["bonuses"].items() if column[row]},
            unsafe="unsafe" if self.unsafe is not None and self.unsafe[row] else None,
        )


class _Sheet:
    """The result, filled chunk by chunk."""

    def __init__(self, rubric: Rubric, rows: int) -> None:
        self.rubric = rubric
        self.score = np.zeros(rows)
        self.masked = np.zeros(rows, dtype=bool)
        self.grade = np.zeros(rows, dtype=np.int8)
        self.verdict = np.zeros(rows, dtype=np.int8)
        self.gates = {gate.criterion: np.zeros(rows, dtype=bool) for gate in rubric.all_gates()}
        self.rechecked = 0

    def fill(self, table: _Table, rows: slice) -> None:
        """Score one chunk; what cannot be done in columns is done exactly."""
        try:
            case = _Case(table, rows)
            value = case.run()
            self._write(case, value, rows)
            again = np.flatnonzero(case.odd) + rows.start
        except DoesNotFitError:
            again = np.arange(rows.start, rows.stop)
        for row in again:
            self._write_exactly(scorecard(self.rubric, table.answers(int(row))), int(row))
        self.rechecked += len(again)

    def columns(self) -> Columns:
        """The finished columns."""
        grades = np.array([grade.grade for grade in self.rubric.method.grades] + [""])
        decides = self.rubric.method.verdicts or self.gates
        return Columns(
            score=np.ma.MaskedArray(self.score, self.masked),
            grade=grades[self.grade] if self.rubric.method.grades else None,
            verdict=np.array(VERDICTS)[self.verdict] if decides else None,
            gates_failed=self.gates,
            rechecked=self.rechecked,
        )

    def _write(self, case: _Case, value: Column, rows: slice) -> None:
        method = self.rubric.method
        self.score[rows] = value.floats(method.scale.decimals)
        self.masked[rows] = case.incomplete
        levels = [grade.from_ for grade in method.grades]
        self.grade[rows] = np.where(case.incomplete, len(levels), value.first_reached(levels))
        failed = np.zeros(len(case.incomplete), dtype=bool)
        for gate in self.rubric.all_gates():
            below = case.values[gate.criterion].below(gate.min) & ~case.unanswered(gate.criterion)
            self.gates[gate.criterion][rows] |= below
            failed |= below
        passed = value.first_reached([threshold.from_ for threshold in method.verdicts])
        codes = np.array([VERDICTS.index(threshold.verdict) for threshold in method.verdicts] + [_last(self.rubric)])
        self.verdict[rows] = np.where(failed, VERDICTS.index("fail"), np.where(case.incomplete, 3, codes[passed]))

    def _write_exactly(self, card: Scorecard, row: int) -> None:
        grades = [grade.grade for grade in self.rubric.method.grades]
        self.score[row] = 0.0 if card.score is None else float(card.score)
        self.masked[row] = card.exact is None
        self.grade[row] = len(grades) if card.grade is None else grades.index(card.grade)
        self.verdict[row] = 0 if card.verdict is None else VERDICTS.index(card.verdict)
        for criterion, column in self.gates.items():
            column[row] = criterion in card.gates_failed


@dataclass(slots=True)
class _Case:
    """One chunk: the value of each criterion, and which rows are incomplete or need the exact path."""

    table: _Table
    rows: slice
    values: dict[str, Column] = field(default_factory=dict)
    missing: dict[str, Bools] = field(default_factory=dict)
    incomplete: Bools = field(init=False)
    odd: Bools = field(init=False)

    def __post_init__(self) -> None:
        count = self.rows.stop - self.rows.start
        self.incomplete = np.zeros(count, dtype=bool)
        self.odd = np.zeros(count, dtype=bool)
        layers = isinstance(self.rubric.method.steps[0], LayerMean)
        for id, leaf in self.rubric.leaves.items():
            if id in self.table.scores:
                self._read_leaf(leaf)
            elif not layers:
                self.values[id] = Column.constant(count, leaf.scale.min)
                self.missing[id] = np.ones(count, dtype=bool)
                self.incomplete[:] = True
        for criterion in self.rubric.criteria:
            self._fold(criterion)

    @property
    def rubric(self) -> Rubric:
        """The rubric the table is scored under."""
        return self.table.rubric

    def run(self) -> Column:
        """The steps, in order."""
        value: Column | None = None
        for step in self.rubric.method.steps:
            value = COLUMN_FUNCTIONS[type(step)](step, value, self)
        assert value is not None
        return value

    def unanswered(self, id: str) -> Bools | np.bool_:
        """The rows in which a criterion, or one below it, has no answer."""
        criterion = self.rubric.criterion(id)
        below = [self.missing[leaf.id] for leaf in criterion.leaves() if leaf.id in self.missing] if criterion else []
        return np.logical_or.reduce(below) if below else np.bool_(False)

    def present(self) -> list[Criterion]:
        """The criteria that have values."""
        return [criterion for criterion in self.rubric.criteria if criterion.id in self.values]

    def statements(self, name: str) -> list[tuple[Fraction | None, Bools]]:
        """Each statement's own amount, and the rows in which it was found."""
        known = {statement.id: statement.amount for statement in getattr(self.rubric, name)}
        return [(known[id], column[self.rows]) for id, column in self.table.found[name].items()]

    def _read_leaf(self, leaf: Criterion) -> None:
        numbers = self.table.scores[leaf.id][self.rows]
        column, unreadable, odd = leaf_column(numbers, leaf.scale)
        gone = self.table.missing.get(leaf.id)
        if gone is not None:
            unreadable = gone[self.rows] if unreadable is None else unreadable | gone[self.rows]
        self.values[leaf.id] = column
        if odd is not None:
            self.odd |= odd
        if unreadable is not None:
            self.missing[leaf.id] = unreadable
            self.incomplete |= unreadable

    def _fold(self, criterion: Criterion) -> None:
        for child in criterion.children:
            self._fold(child)
        if criterion.children and all(child.id in self.values for child in criterion.children):
            total = sum((child.weight for child in criterion.children), Fraction(0))
            terms = [(child.weight / total, child.scale, self.values[child.id]) for child in criterion.children]
            self.values[criterion.id] = _onto(criterion.scale, terms)


def _weighted_sum(_step: WeightedSum, _value: None, case: _Case) -> Column:
    return linear([(criterion.weight, case.values[criterion.id]) for criterion in case.rubric.criteria])


def _weighted_mean(step: WeightedMean | LayerMean, _value: None, case: _Case) -> Column:
    present = case.present()
    total = sum((criterion.weight for criterion in present), Fraction(0))
    if step.onto is None:
        return linear([(criterion.weight / total, case.values[criterion.id]) for criterion in present])
    return _onto(step.onto, [(c.weight / total, c.scale, case.values[c.id]) for c in present])


def _points_share(_step: PointsShare, _value: None, case: _Case) -> Column:
    points = [(c.points or Fraction(0), c) for c in case.rubric.criteria]
    possible = sum((worth for worth, _ in points if worth > 0), Fraction(0))
    share = Scale(min=Fraction(0), max=Fraction(1))
    return _onto(share, [(worth / possible, c.scale, case.values[c.id]) for worth, c in points])


def _ceiling(step: Ceiling, value: Column, case: _Case) -> Column:
    return value.at_most(step.at, case.values[step.criterion].below(step.below))


def _shortfall(step: Shortfall, value: Column, case: _Case) -> Column:
    for criterion in case.rubric.criteria:
        if criterion.fixed:
            own = case.values[criterion.id]
            short = own.below(step.below)
            if short.any():
                value = value.times_where(short, own, 1 / step.below)
    return value


def _deduct(step: Deduct, value: Column, case: _Case) -> Column:
    return value.plus(_total(step, case), -1)


def _add(step: Add, value: Column, case: _Case) -> Column:
    return value.plus(_total(step, case), 1)


def _cap(step: Cap, value: Column, case: _Case) -> Column:
    return value if case.table.unsafe is None else value.at_most(step.at, case.table.unsafe[case.rows])


def _clamp(step: Clamp, value: Column, _case: _Case) -> Column:
    return value.clamped(step.min, step.max)


def _round(step: Round, value: Column, _case: _Case) -> Column:
    return value.rounded(step.decimals)


def _panel(_step: Panel, value: Column, _case: _Case) -> Column:
    """One set of answers per row: there is nobody to join."""
    return value


COLUMN_FUNCTIONS: dict[type[Step], Callable[[Any, Any, _Case], Column]] = {
    WeightedSum: _weighted_sum,
    WeightedMean: _weighted_mean,
    LayerMean: _weighted_mean,
    PointsShare: _points_share,
    Ceiling: _ceiling,
    Shortfall: _shortfall,
    Deduct: _deduct,
    Add: _add,
    Cap: _cap,
    Clamp: _clamp,
    Round: _round,
    Panel: _panel,
}


def _onto(scale: Scale, terms: list[tuple[Fraction, Scale, Column]]) -> Column:
    """A sum of criteria by share, each put from its own scale onto a common one."""
    span = scale.max - scale.min
    stretched = [(share * span / (own.max - own.min), column) for share, own, column in terms]
    shift = sum((share * (scale.min - own.min * span / (own.max - own.min)) for share, own, _ in terms), Fraction(0))
    return linear(stretched, shift)


def _total(step: Deduct | Add, case: _Case) -> Column:
    amounts = [(step.each if own is None else own, found) for own, found in case.statements(step.for_)]
    count = len(case.incomplete)
    if not amounts:
        return Column.constant(count, Fraction(0))
    return linear([(amount, Column(found.astype(np.int64), 1, 1)) for amount, found in amounts]).clamped(
        None, step.most
    )


def _statements(given: Mapping[str, ArrayLike], known: list[str]) -> dict[str, Bools]:
    unknown = [id for id in given if id not in known]
    if unknown:
        raise InputError(f"the rubric has no statement {', '.join(unknown)}")
    return {id: np.asarray(column, dtype=bool) for id, column in given.items()}


def _read(scale: Scale, answer: object) -> CriterionScore:
    if not scale.bands or answer is None:
        return scale.read(answer)
    numbers = Scale(min=scale.min, max=scale.max, integers=True)
    return numbers.read(answer)


def _last(rubric: Rubric) -> int:
    """What a row without a failed gate is when it reaches no threshold."""
    return VERDICTS.index("fail" if rubric.method.verdicts else "pass")


__all__ = ["COLUMN_FUNCTIONS", "Columns", "scaled_integers", "score_columns"]
