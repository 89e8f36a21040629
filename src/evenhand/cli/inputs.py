"""What a command is given: files or standard input, numbers, and the limits that decide its exit code."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from fractions import Fraction
from pathlib import Path

from evenhand.errors import Fault, InputError, suggest_known_word
from evenhand.files.fields import parse_number_text
from evenhand.files.parsing import decode_text_file, read_text_file
from evenhand.model.rubric import Rubric
from evenhand.model.scorecard import Scorecard, Scores
from evenhand.wording import format_fraction

LARGEST_INPUT = 5_000_000


def read_named_outputs(names: Sequence[str]) -> dict[str, str]:
    """The texts by name, each named once."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise InputError(Fault(f"{twice!r} is named twice", "each output once"))
    return {name: read_named_output(name) for name in names}


def read_named_output(name: str) -> str:
    """The text of a file, or of standard input."""
    if name == "-":
        content = sys.stdin.buffer.read(LARGEST_INPUT + 1) if sys.stdin else b""
        if len(content) > LARGEST_INPUT:
            raise InputError(Fault(f"larger than the {LARGEST_INPUT:,} bytes allowed", where="standard input"))
        return decode_text_file(content, "standard input", InputError)
    return read_text_file(Path(name), LARGEST_INPUT, InputError)


class ScoreLimits:
    """What must be reached for exit code 0, beyond gates and verdicts."""

    def __init__(self, rubric: Rubric, min_score: str | None, min_grade: str | None, strict: bool) -> None:
        self.strict = strict
        self.least: Fraction | None = None
        self.grades = [grade.grade for grade in rubric.method.grades]
        self.grade = min_grade
        if min_score is not None:
            self.least = parse_option_number(min_score, "--min-score")
        if min_grade is not None and min_grade not in self.grades:
            hint = (
                suggest_known_word(min_grade, self.grades) or f"{rubric.method.name} gives no grades; use --min-score"
            )
            raise InputError(Fault(f"{min_grade!r} is not a grade", hint, where="--min-grade"))

    def shortfalls(self, scores: Scores) -> list[str]:
        """A sentence for each scorecard below a limit that was asked for."""
        return [why for card in scores.scorecards if (why := self._shortfall(card))]

    def exit_code(self, scores: Scores) -> int:
        """1 where anything failed or is incomplete."""
        bad = {"fail", "incomplete"} | ({"borderline"} if self.strict else set())
        failed = any(card.verdict in bad or card.gates_failed for card in scores.scorecards)
        return 1 if failed or not scores.scorecards or self.shortfalls(scores) else 0

    def _shortfall(self, card: Scorecard) -> str | None:
        if card.exact is None:
            return None
        if self.least is not None and card.exact < self.least:
            shown = format_fraction(card.exact, card.decimals)
            shown = f"{shown} ({format_fraction(card.exact)})" if Fraction(shown) >= self.least else shown
            return f"{card.id}: {shown} is below --min-score {format_fraction(self.least)}"
        if self.grade is not None and (
            card.grade is None or self.grades.index(card.grade) > self.grades.index(self.grade)
        ):
            return f"{card.id}: {card.grade or 'no grade'} is below --min-grade {self.grade}"
        return None


def parse_option_number(text: str, option: str) -> Fraction:
    """The number given to an option."""
    value = parse_number_text(text)
    if isinstance(value, str):
        raise InputError(Fault(value, "as in 7.5 or 2/3", where=option))
    return value
