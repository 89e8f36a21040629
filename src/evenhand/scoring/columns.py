"""The same steps over columns: a million scorecards at once, equal to the exact path to the last digit."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand.model.rubric import Rubric
from evenhand.model.scorecard import Scorecard
from evenhand.scoring.column_steps import ColumnChunk, CriterionTable, run_column_steps
from evenhand.scoring.engine import score_answers
from evenhand.scoring.exact_column import BooleanArray, DoesNotFitError, ExactColumn

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
    table = CriterionTable(rubric, scores, red_flags or {}, bonuses or {}, unsafe)
    sheet = _ScoreSheet(rubric, table.rows)
    for start in range(0, table.rows, CHUNK_ROWS):
        sheet.score_chunk(table, slice(start, min(start + CHUNK_ROWS, table.rows)))
    return sheet.columns()


class _ScoreSheet:
    """The result, filled chunk by chunk."""

    def __init__(self, rubric: Rubric, rows: int) -> None:
        self.rubric = rubric
        self.score = np.zeros(rows)
        self.masked = np.zeros(rows, dtype=bool)
        self.grade = np.zeros(rows, dtype=np.int8)
        self.verdict = np.zeros(rows, dtype=np.int8)
        self.gates = {gate.criterion: np.zeros(rows, dtype=bool) for gate in rubric.all_gates()}
        self.rechecked = 0

    def score_chunk(self, table: CriterionTable, rows: slice) -> None:
        """Score one chunk; what cannot be done in columns is done exactly."""
        try:
            case = ColumnChunk(table, rows)
            value = run_column_steps(case)
            self._write_chunk(case, value, rows)
            again = np.flatnonzero(case.odd) + rows.start
        except DoesNotFitError:
            again = np.arange(rows.start, rows.stop)
        for row in again:
            self._write_exact_row(score_answers(self.rubric, table.read_row_answers(int(row))), int(row))
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

    def _write_chunk(self, case: ColumnChunk, value: ExactColumn, rows: slice) -> None:
        method = self.rubric.method
        self.score[rows] = value.to_floats(method.scale.decimals)
        self.masked[rows] = case.incomplete
        levels = [grade.from_ for grade in method.grades]
        self.grade[rows] = np.where(case.incomplete, len(levels), value.first_reached(levels))
        failed = np.zeros(len(case.incomplete), dtype=bool)
        for gate in self.rubric.all_gates():
            below = case.values[gate.criterion].below(gate.min) & ~case.unanswered(gate.criterion)
            self.gates[gate.criterion][rows] |= below
            failed |= below
        passed = value.first_reached([threshold.from_ for threshold in method.verdicts])
        verdicts = [*(threshold.verdict for threshold in method.verdicts), "fail" if method.verdicts else "pass"]
        codes = np.array([VERDICT_CODES.index(verdict) for verdict in verdicts])
        self.verdict[rows] = np.where(failed, VERDICT_CODES.index("fail"), np.where(case.incomplete, 3, codes[passed]))

    def _write_exact_row(self, card: Scorecard, row: int) -> None:
        grades = [grade.grade for grade in self.rubric.method.grades]
        self.score[row] = 0.0 if card.score is None else float(card.score)
        self.masked[row] = card.exact is None
        self.grade[row] = len(grades) if card.grade is None else grades.index(card.grade)
        self.verdict[row] = 0 if card.verdict is None else VERDICT_CODES.index(card.verdict)
        for criterion, column in self.gates.items():
            column[row] = criterion in card.gates_failed
