"""The same steps over columns: a million scorecards at once, equal to the exact path to the last digit.

A column holds whole numerators over one denominator, so nothing is ever rounded on the way. What does not
fit (too many decimals, too large a product) goes through the exact path, row by row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.model import Rubric, Scorecard
from evenhand.scoring._column import Bools, Column, DoesNotFitError
from evenhand.scoring._column_case import Case, Table
from evenhand.scoring._column_steps import run_columns
from evenhand.scoring._engine import scorecard

__all__ = ["Columns", "score_columns"]

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
    table = Table(rubric, scores, red_flags or {}, bonuses or {}, unsafe)
    sheet = _Sheet(rubric, table.rows)
    for start in range(0, table.rows, CHUNK):
        sheet.fill(table, slice(start, min(start + CHUNK, table.rows)))
    return sheet.columns()


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

    def fill(self, table: Table, rows: slice) -> None:
        """Score one chunk; what cannot be done in columns is done exactly."""
        try:
            case = Case(table, rows)
            value = run_columns(case)
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

    def _write(self, case: Case, value: Column, rows: slice) -> None:
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


def _last(rubric: Rubric) -> int:
    """What a row without a failed gate is when it reaches no threshold."""
    return VERDICTS.index("fail" if rubric.method.verdicts else "pass")
