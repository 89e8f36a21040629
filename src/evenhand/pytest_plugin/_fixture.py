"""The fixture: scores an output for one test, and fails the test where the output falls short."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from evenhand.errors import EvenhandError
from evenhand.pytest_plugin._demand import Demand

if TYPE_CHECKING:
    from evenhand.asking import JudgesLike, RubricLike
    from evenhand.model import Made, Number
    from evenhand.pytest_plugin._verdict import ScoredOutput


class Evenhand:
    """Scores the outputs of one test; `scored` gathers what is to be told to the session."""

    def __init__(self, demand: Demand, test: str, folder: Path, scored: list[str], *, with_rows: bool) -> None:
        self._demand = demand
        self._test = test
        self._folder = folder
        self._scored = scored
        self._with_rows = with_rows

    def __call__(  # noqa: PLR0913 - what a sample has, and what is asked of it.
        self,
        output: str | Made,
        *,
        rubric: RubricLike | None = None,
        input: str | None = None,
        reference: str | None = None,
        context: str | None = None,
        assertions: Sequence[Mapping[str, object]] | None = None,
        judges: JudgesLike | None = None,
        min_score: Number | None = None,
        min_grade: str | None = None,
        variant: str | None = None,
    ) -> ScoredOutput:
        """Score an output by a rubric, by assertions or by both; what is not said here is as the marks say.

        The test fails where there is no score, a gate or an assertion fails, the verdict is fail, or the score or the
        grade is below what is asked for.
        """
        __tracebackhide__ = True
        said = Demand(
            rubric=rubric,
            input=input,
            reference=reference,
            context=context,
            assertions=assertions,
            judges=judges,
            min_score=min_score,
            min_grade=min_grade,
            variant=variant,
        )
        caller = sys._getframe(1)  # Without a traceback, the message has to say which of several calls it was.
        place = f"{Path(caller.f_code.co_filename).name}:{caller.f_lineno}"
        scored, message = self._judged(output, said.or_else(self._demand), place)
        if message:
            pytest.fail(message, pytrace=False)
        return scored

    def _judged(self, output: str | Made, demand: Demand, place: str) -> tuple[ScoredOutput, str]:
        """What came out, and what to fail the test with, if anything."""
        __tracebackhide__ = True
        from evenhand.pytest_plugin._entry import entry_of  # noqa: PLC0415 - all that scoring needs.
        from evenhand.pytest_plugin._message import message_of  # noqa: PLC0415
        from evenhand.pytest_plugin._scoring import score_output  # noqa: PLC0415

        try:
            scored, rows = score_output(output, demand, self._test, self._folder)
        except EvenhandError as error:
            raise error.with_traceback(None) from None  # The line of the test is what helps.
        self._scored.append(entry_of(scored, rows if self._with_rows else None))
        return scored, message_of(scored, place)
