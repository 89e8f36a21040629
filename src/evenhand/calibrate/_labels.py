"""Labels: what people said of outputs, one JSON object per line; what cannot be right is refused with its line."""

from __future__ import annotations

import json
from bisect import bisect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from typing import Any

from evenhand.calibrate._questions import Question, questions_of, several_scales
from evenhand.errors import Fault, InputError, close_to, nearest
from evenhand.loading import Twice, decoded_json
from evenhand.model import exact
from evenhand.runs import Table

FIELDS = ("sample", "variant", "criterion", "rater", "score")
EXAMPLE = '{"sample": "s1", "variant": "new", "criterion": "accuracy", "rater": "r1", "score": 4}'

_Key = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One person's answer about one output."""

    sample: str
    variant: str
    criterion: str
    rater: str
    score: Fraction

    @property
    def key(self) -> _Key:
        """What there is one label of."""
        return self.sample, self.variant, self.criterion, self.rater

    def row(self) -> dict[str, str]:
        """As the store keeps it."""
        return {**{name: getattr(self, name) for name in FIELDS}, "score": str(self.score)}


def label_from(row: Mapping[str, Any]) -> Label:
    """A label that the store has kept."""
    return Label(**{name: row[name] for name in FIELDS[:-1]}, score=Fraction(row["score"]))


def read_labels(text: str, where: str, table: Table) -> tuple[Label, ...]:
    """The labels in the text of a file, as they fit a run; an error with all that is wrong, each with its line."""
    reader = _Reader(table)
    found: dict[_Key, tuple[int, Label]] = {}
    faults: list[Fault] = []
    for number, line in _lines(text):
        try:
            label = reader.label(line)
        except InputError as error:
            faults += [replace(fault, where=f"{where}:{number}") for fault in error.faults]
            continue
        first, _ = found.setdefault(label.key, (number, label))
        if first != number:
            what = f"{label.rater} labelled this in line {first} already"
            faults.append(Fault(what, "keep one of them", where=f"{where}:{number}"))
    if not found and not faults:
        faults.append(Fault("no labels in it", f"one object per line: {EXAMPLE}", where=where))
    if faults:
        raise InputError(*faults)
    return tuple(label for _, label in found.values())


def _lines(text: str) -> Iterator[tuple[int, str]]:
    return ((number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip())


class _Reader:
    """Reads one line at a time against what the run has."""

    def __init__(self, table: Table) -> None:
        self.samples = frozenset(table.samples)
        self.ordered = sorted(self.samples)
        self.variants = table.variants
        self.questions = questions_of(table)
        self.unclear = several_scales(table)
        if not self.questions:
            raise InputError(Fault("no judge was asked in this run", "labels are held against judges: run a rubric"))

    def label(self, line: str) -> Label:
        """The label in a line, or an error with all that is wrong in it."""
        faults: list[Fault] = []
        fields = _fields(line, faults)
        sample = self._sample(_name(fields, "sample", faults), faults)
        variant = self._variant(_name(fields, "variant", faults, needed=False), faults)
        question = self._question(_name(fields, "criterion", faults), faults)
        rater = _name(fields, "rater", faults)
        score = _score(fields, question, faults)
        if faults:
            raise InputError(*faults)
        assert question is not None and score is not None
        return Label(sample=sample, variant=variant, criterion=question.id, rater=rater, score=score)

    def _sample(self, name: str, faults: list[Fault]) -> str:
        if name and name not in self.samples:
            at = bisect(self.ordered, name)  # Of a hundred thousand ids, those that begin alike.
            hint = close_to(name, self.ordered[max(0, at - 100) : at + 100]) or "evenhand report RUN --json lists them"
            faults.append(Fault(f"the run has no sample {name!r}", hint))
        return name

    def _variant(self, name: str, faults: list[Fault]) -> str:
        if name and name not in self.variants:
            faults.append(Fault(f"the run has no variant {name!r}", nearest(name, self.variants)))
        if not name and len(self.variants) > 1:
            hint = f"one of {', '.join(self.variants)}"
            faults.append(Fault("which variant? the run has several", hint))
        return name or self.variants[0]

    def _question(self, name: str, faults: list[Fault]) -> Question | None:
        if name in self.unclear:
            faults.append(Fault(f"two rubrics of the run ask {name!r} on different scales", "give one another id"))
        elif name and name not in self.questions:
            faults.append(Fault(f"the run has no criterion {name!r}", nearest(name, self.questions)))
        return self.questions.get(name)


def _fields(line: str, faults: list[Fault]) -> Mapping[str, object]:
    try:
        value = decoded_json(line)
    except json.JSONDecodeError as error:
        raise InputError(Fault(f"not valid JSON: {error.msg}", f"one object per line: {EXAMPLE}")) from None
    if not isinstance(value, dict):
        raise InputError(Fault("expected an object", f"as in {EXAMPLE}"))
    faults += [Fault(f"unknown field {name!r}", nearest(name[:40], FIELDS)) for name in value if name not in FIELDS]
    if isinstance(value, Twice):
        faults += [Fault(f"{name!r} is there twice", "keep one of them") for name in value.twice]
    return value


def _name(fields: Mapping[str, object], field: str, faults: list[Fault], *, needed: bool = True) -> str:
    value = fields.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # Samples and people go by numbers too.
    if value is None and not needed:
        return ""
    if isinstance(value, str) and value.strip():
        return value
    faults.append(Fault(f"{field} must be text" if field in fields else f"no {field}", f"as in {EXAMPLE}"))
    return ""


def _score(fields: Mapping[str, object], question: Question | None, faults: list[Fault]) -> Fraction | None:
    value = fields.get("score")
    if isinstance(value, bool) and question is not None and (question.low, question.high) == (0, 1):
        value = int(value)
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        faults.append(Fault("score must be a number" if "score" in fields else "no score", f"as in {EXAMPLE}"))
        return None
    try:
        score = exact(value)
    except ValueError as error:
        faults.append(Fault(f"the score cannot be used: {error}"))
        return None
    if question is not None and (why := question.fault_of(score)):
        faults.append(Fault(why, question.scale))
    return score
