"""Labels that people gave, read from JSONL against the questions of a run, and held against the texts they were
given for.
"""

from __future__ import annotations

import json
import re
from bisect import bisect
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from evenhand.errors import (
    Fault,
    InputError,
    RepeatedErrorFaults,
    suggest_close_word_in_error,
    suggest_known_word_in_error,
)
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonShape
from evenhand.files.parsing import DuplicateKeyJsonObject, decode_json, explain_json_error
from evenhand.model.scale import to_exact_fraction
from evenhand.runs.columns import RunTable
from evenhand.runs.kept_texts import format_run_output_digest
from evenhand.wording import join_names, pluralize_count

LABEL_SCHEMA = 2  # The first had no `output`, `chance` and `batch`, and does not say its number.
LABEL_FIELDS = (
    *("sample", "variant", "criterion", "rater", "score", "at", "output", "chance", "batch", "schema"),
    *("input", "text", "note"),  # For whoever reads the file; nothing is read from them.
)
LABEL_EXAMPLE = '{"sample": "s1", "variant": "new", "criterion": "accuracy", "rater": "r1", "score": 4}'

_LabelKey = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Label:
    """One person's answer about one output.

    `output` is the digest of the text that the person saw. `batch` counts the draws that chose outputs to label, from
    1; `chance` is that with which the sample came into its batch. Without a batch it was chosen in no known way.
    """

    sample: str
    variant: str
    criterion: str
    rater: str
    score: Fraction
    at: str | None = None
    output: str | None = None
    chance: Fraction | None = None
    batch: int | None = None
    schema: int | None = None

    @property
    def key(self) -> _LabelKey:
        """What there is one label of."""
        return self.sample, self.variant, self.criterion, self.rater

    def to_stored_row(self, now: str) -> dict[str, Any]:
        """As the store keeps it; `now` is when it came, where it does not say when it was given."""
        return {**LABEL_ROW.to_json(self), "at": self.at or now}


def read_human_label_row(row: Mapping[str, Any]) -> Label:
    """A label that the store has kept."""
    return LABEL_ROW.from_json(Label, row)


LABEL_ROW = Codec(lenient=True)  # A row has more columns.


def read_human_labels(text: str, where: str, table: RunTable) -> tuple[Label, ...]:
    """The labels in the text of a file, as they fit a run; an error with all that is wrong, each with its line.

    A line whose score is null is not a label yet, and is passed over.
    """
    reader = _LabelReader(table)
    waiting = 0
    found: dict[_LabelKey, tuple[int, Label]] = {}
    faults: list[Fault] = []
    shared, lines = RepeatedErrorFaults(faults), 0
    for number, line in enumerate(text.split("\n"), start=1):
        if not line.strip():
            continue
        lines += 1
        try:
            label = reader.label(line)
        except InputError as error:
            told = len(faults)
            faults += error.faults
            shared.locate_since(told, partial(replace, where=f"{where}:{number}"))
            continue
        if label is None:
            waiting += 1
            continue
        first, _ = found.setdefault(label.key, (number, label))
        if first != number:
            what = f"{label.rater} labelled this in line {first} already"
            faults.append(Fault(what, "keep one of them", where=f"{where}:{number}"))
    shared.join_repeats(lines, "lines")
    if waiting and not found and not faults:
        count = pluralize_count(waiting, "line waits", "lines wait")
        faults.append(Fault(f"no labels in it yet: {count} for a score", "put a number in place of null", where=where))
    if not found and not faults:
        faults.append(Fault("no labels in it", f"one object per line: {LABEL_EXAMPLE}", where=where))
    if faults:
        raise InputError(*faults)
    return tuple(label for _, label in found.values())


class _LabelReader:
    """Reads one line at a time against what the run has."""

    def __init__(self, table: RunTable) -> None:
        self.samples = frozenset(table.samples)
        self.ordered = sorted(self.samples)
        self.variants = table.variants
        self.questions = list_human_label_questions(table)
        self.unclear = find_ambiguous_label_scales(table.frame.rubrics)
        if not self.questions:
            raise InputError(Fault("no judge was asked in this run", "labels are held against judges: run a rubric"))

    def label(self, line: str) -> Label | None:
        """The label in a line, None where it waits for its score, or an error with all that is wrong in it."""
        faults: list[Fault] = []
        fields = _decode_label_fields(line, faults)
        if "score" in fields and fields["score"] is None and not faults:
            return None
        sample = _read_human_label_name(fields, "sample", faults)
        if sample and sample not in self.samples:
            at = bisect(self.ordered, sample)  # Of a hundred thousand ids, those that begin alike.
            close = suggest_close_word_in_error(sample, self.ordered[max(0, at - 100) : at + 100])
            faults.append(Fault(f"the run has no sample {sample!r}", close or "evenhand report RUN --json lists them"))
        variant = _read_human_label_name(fields, "variant", faults, needed=False)
        if variant and variant not in self.variants:
            known = suggest_known_word_in_error(variant, self.variants)
            faults.append(Fault(f"the run has no variant {variant!r}", known))
        if not variant and len(self.variants) > 1:
            faults.append(Fault("which variant? the run has several", f"one of {', '.join(self.variants)}"))
        name = _read_human_label_name(fields, "criterion", faults)
        if name in self.unclear:
            faults.append(Fault(f"two rubrics of the run ask {name!r} on different scales", "give one another id"))
        elif name and name not in self.questions:
            known = suggest_known_word_in_error(name, self.questions)
            faults.append(Fault(f"the run has no criterion {name!r}", known))
        question = self.questions.get(name)
        rater = _read_human_label_name(fields, "rater", faults)
        score = _read_human_label_score(fields, question, faults)
        provenance = _read_label_provenance(fields, faults)
        if faults:
            raise InputError(*faults)
        assert question is not None and score is not None
        variant = variant or self.variants[0]
        return Label(sample=sample, variant=variant, criterion=question.id, rater=rater, score=score, **provenance)


def _decode_label_fields(line: str, faults: list[Fault]) -> Mapping[str, object]:
    try:
        value = decode_json(line)
    except json.JSONDecodeError as error:
        fault = explain_json_error(line.rstrip(), error)
        raise InputError(replace(fault, hint=f"{fault.hint}; one object per line: {LABEL_EXAMPLE}")) from None
    if not isinstance(value, dict):
        raise InputError(Fault("expected an object", f"as in {LABEL_EXAMPLE}"))
    faults += [
        Fault(f"unknown field {name!r}", suggest_known_word_in_error(name[:40], LABEL_FIELDS))
        for name in value
        if name not in LABEL_FIELDS
    ]
    if isinstance(value, DuplicateKeyJsonObject):
        faults += [Fault(f"{name!r} is given twice", "keep one of them") for name in value.twice]
    return value


def _read_human_label_name(
    fields: Mapping[str, object], field: str, faults: list[Fault], *, needed: bool = True
) -> str:
    value = fields.get(field)
    if isinstance(value, int) and not isinstance(value, bool):
        value = str(value)  # Samples and people go by numbers too.
    if value is None and not needed:
        return ""
    if isinstance(value, str) and value.strip():
        return value
    faults.append(Fault(f"{field} must be text" if field in fields else f"no {field}", f"as in {LABEL_EXAMPLE}"))
    return ""


def _read_human_label_score(
    fields: Mapping[str, object], question: HumanLabelQuestion | None, faults: list[Fault]
) -> Fraction | None:
    value = fields.get("score")
    if isinstance(value, bool) and question is not None and (question.low, question.high) == (0, 1):
        value = int(value)
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        faults.append(Fault("score must be a number" if "score" in fields else "no score", f"as in {LABEL_EXAMPLE}"))
        return None
    try:
        score = to_exact_fraction(value)
    except ValueError as error:
        faults.append(Fault(f"the score cannot be used: {error}"))
        return None
    if question is not None and (why := question.find_score_fault(score)):
        faults.append(Fault(why, question.scale))
    return score


def _read_label_provenance(fields: Mapping[str, object], faults: list[Fault]) -> dict[str, Any]:
    """When it was given, what it is about and how that was chosen, as far as the line says."""
    at, output, chance = (fields.get(name) for name in ("at", "output", "chance"))
    batch, schema = (fields.get(name) for name in ("batch", "schema"))
    if at is not None and not (isinstance(at, str) and _is_label_time_with_zone(at)):
        faults.append(Fault(f"at is not a time with its zone: {at!r}", "as in 2026-11-16T09:00:00+00:00"))
    if output is not None and not (isinstance(output, str) and _OUTPUT_DIGEST.fullmatch(output)):
        faults.append(Fault("output is not the digest of a text", "the first 16 hexadecimal digits of its SHA-256"))
    if batch is not None and (not isinstance(batch, int) or isinstance(batch, bool) or batch < 1):
        faults.append(Fault("batch must be a whole number from 1", "leave batch and chance as labels next wrote them"))
    exact = _read_label_chance(chance)
    if chance is not None and exact is None:
        faults.append(Fault("chance must be a number above 0, up to 1", "leave it as labels next wrote it"))
    if (chance is None) != (batch is None):
        faults.append(Fault("chance and batch come together", "leave them as labels next wrote them"))
    if schema is not None and (not isinstance(schema, int) or isinstance(schema, bool) or schema < 1):
        faults.append(Fault("schema must be a whole number", f"this Evenhand writes {LABEL_SCHEMA}"))
    elif schema is not None and schema > LABEL_SCHEMA:
        what = f"written by a newer Evenhand (schema {schema}, this one knows {LABEL_SCHEMA})"
        faults.append(Fault(what, "upgrade Evenhand"))
    return {"at": at, "output": output, "chance": exact, "batch": batch, "schema": schema}


def _read_label_chance(value: object) -> Fraction | None:
    if not isinstance(value, int | Decimal) or isinstance(value, bool):
        return None
    try:
        chance = to_exact_fraction(value)
    except ValueError:
        return None
    return chance if 0 < chance <= 1 else None


def _is_label_time_with_zone(text: str) -> bool:
    try:
        return datetime.fromisoformat(text).tzinfo is not None
    except ValueError:
        return False


_OUTPUT_DIGEST = re.compile(r"[0-9a-f]{16}")


SCORE_QUESTION = "score"
OVERALL_QUESTION = "overall"
_WHOLE_NUMBER_SCALES = ("whole numbers", "yes/no", "bands")  # How the scales that take no decimals are written.


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanLabelQuestion:
    """A criterion with its scale, or the score with that of the method."""

    id: str
    low: float
    high: float
    whole: bool
    weight: float = 1.0

    @property
    def scale(self) -> str:
        """The scale as people write it."""
        ends = f"{self.low:g} to {self.high:g}"
        return f"whole numbers from {ends}" if self.whole else f"numbers from {ends}"

    def find_score_fault(self, score: Fraction) -> str:
        """Why a score is not on the scale; empty where it is."""
        if not self.low <= score <= self.high:
            return f"{float(score):g} is outside the scale of {self.id!r}"
        return f"{float(score):g} is between the levels of {self.id!r}" if self.whole and score.denominator > 1 else ""

    @property
    def span(self) -> float:
        """From one end of the scale to the other."""
        return self.high - self.low


def list_human_label_questions(table: RunTable) -> dict[str, HumanLabelQuestion]:
    """The questions of a run by id; the score too, where its rubrics share one scale."""
    asked = {
        one["id"]: HumanLabelQuestion(
            id=one["id"],
            low=one["ends"][0],
            high=one["ends"][1],
            whole=one["scale"].startswith(_WHOLE_NUMBER_SCALES),
            weight=float(one["weight"]),
        )
        for rubric in table.frame.rubrics
        for one in rubric["criteria"]
        if one["id"] in table.criteria
    }
    ends = table.frame.scale
    if ends is not None and SCORE_QUESTION not in asked:
        asked[SCORE_QUESTION] = HumanLabelQuestion(id=SCORE_QUESTION, low=ends[0], high=ends[1], whole=False)
    return asked


def find_ambiguous_label_scales(rubrics: Iterable[Mapping[str, Any]]) -> set[str]:
    """The criteria that two rubrics of the run ask on different scales."""
    seen: dict[str, set[str]] = {}
    for rubric in rubrics:
        for one in rubric["criteria"]:
            seen.setdefault(one["id"], set()).add(one["scale"])
    return {id for id, scales in seen.items() if len(scales) > 1}


MOST_VOID_NAMED = 5
UNEQUAL_CHANCES = "Outputs were drawn with unequal chances, and are weighed back: shares are not the counts alone."
VOID_LABEL_SHAPE = JsonShape(only=("sample", "variant", "criterion", "rater"))
VOID_LABEL_JSON = Codec(shapes={Label: VOID_LABEL_SHAPE})


@dataclass(frozen=True, slots=True, kw_only=True)
class BoundLabels:
    """The labels that count, those that are void, and how many of the first are bound to no text."""

    labels: tuple[Label, ...]
    void: tuple[Label, ...]
    unbound: int


def bind_labels_to_outputs(table: RunTable, labels: Sequence[Label]) -> BoundLabels:
    """Sort labels by whether the output that they are about is the run's; any of its repeats will do."""
    texts = _list_labelled_output_digests(table) if any(one.output for one in labels) else {}
    void, kept, unbound = [], [], 0
    for label in labels:
        known = texts.get((label.sample, label.variant), set())
        if label.output is not None and known and label.output not in known:
            void.append(label)
            continue
        kept.append(label)
        unbound += label.output is None or not known
    return BoundLabels(labels=tuple(kept), void=tuple(void), unbound=unbound)


def _list_labelled_output_digests(table: RunTable) -> dict[tuple[str, str], set[str]]:
    """The digests of each output that has a text, by sample and variant."""
    found: dict[tuple[str, str], set[str]] = {}
    for sample, variant, number in zip(
        table.sample.tolist(), table.variant.tolist(), table.output.tolist(), strict=False
    ):
        if number:
            key = table.samples[sample], table.variants[variant]
            found.setdefault(key, set()).add(format_run_output_digest(number))
    return found


def describe_label_binding(void: Sequence[Label], unbound: int) -> Iterator[str]:
    """What has to be said of labels: which are void, and how many nothing binds to a text."""
    if void:
        outputs = list(dict.fromkeys(f"{one.sample}/{one.variant}" for one in void))
        more = len(outputs) - MOST_VOID_NAMED
        names = join_names([*outputs[:MOST_VOID_NAMED], *([f"{more:,} more"] if more > 0 else [])])
        count = pluralize_count(len(void), "label is", "labels are")
        yield f"{count} void, not counted: the output has changed since it was labelled ({names})."
    if unbound:
        count = pluralize_count(unbound, "label is", "labels are")
        yield f"{count} bound to no text: a changed output would not be noticed."
