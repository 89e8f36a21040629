"""What is asked, for the judge to read and for the server to enforce: criteria as text, answers as JSON Schema."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.judging._prompts import Prompts
from evenhand.judging.reading import Wanted
from evenhand.model import YES_NO, Criterion, Rubric, Scale, Statement, written

Schema = dict[str, Any]
# What may stand in an answer beside evidence, reason and score.
TEXT: Schema = {"type": "string"}
QUOTES: Schema = {"type": "array", "items": TEXT, "maxItems": 3}


@dataclass(frozen=True, slots=True)
class Group:
    """Questions answered under one key of the reply."""

    key: str
    wanted: tuple[Wanted, ...]
    more: tuple[str, ...] = ()  # Further texts in each answer, such as feedback.

    def item(self, id: str) -> str:
        """The name of an answer among all answers: statements may share an id with a criterion."""
        return id if self.key == "criteria" else f"{self.key}.{id}"


def judged(rubric: Rubric) -> tuple[Criterion, ...]:
    """The criteria a judge answers: the leaves that are not measured by rules."""
    return tuple(leaf for leaf in rubric.leaves.values() if leaf.judged)


def groups_of(rubric: Rubric, more: tuple[str, ...] = ()) -> tuple[Group, ...]:
    """All that a judge answers about one output: criteria, red flags, bonuses."""
    criteria = tuple(Wanted(leaf.id, leaf.scale) for leaf in judged(rubric))
    statements = {"red_flags": rubric.red_flags, "bonuses": rubric.bonuses}
    groups = [Group("criteria", criteria, more)]
    groups += [Group(key, tuple(Wanted(one.id, YES_NO) for one in each)) for key, each in statements.items() if each]
    return tuple(groups)


def criteria_text(criteria: Iterable[Criterion], prompts: Prompts) -> str:
    """Criteria with their questions, scales and anchors."""
    return "\n\n".join(_criterion(criterion, prompts) for criterion in criteria)


def statements_text(rubric: Rubric, prompts: Prompts) -> str:
    """Red flags and bonuses; empty where there are none."""
    parts = []
    for key, statements in (("red_flags", rubric.red_flags), ("bonuses", rubric.bonuses)):
        if statements:
            parts.append("\n" + prompts.say(key) + "\n\n" + "\n".join(map(_statement, statements)) + "\n")
    return "".join(parts)


def bands_text(scale: Scale, rubric: Rubric, prompts: Prompts) -> str:
    """The bands of a scale, with what the method says they mean."""
    meaning = {grade.grade: grade.label for grade in rubric.method.grades}
    lines = []
    for band in scale.bands:
        span = prompts.say("band", id=band.id, min=written(band.min), max=written(band.max))
        lines.append(f"- {span}" + (f". {meaning[band.id]}." if meaning.get(band.id) else ""))
    return "\n".join(lines)


def form_text(groups: Iterable[Group], prompts: Prompts) -> str:
    """The form of the answer, as a judge without structured output needs it."""
    parts = [f'  "{group.key}": {{\n{answers_text(group, prompts, "    ")}\n  }}' for group in groups]
    return "{\n" + ",\n".join(parts) + "\n}"


def schema_of(groups: Iterable[Group]) -> Schema:
    """The JSON Schema of an answer about one output."""
    return closed({group.key: answers_schema(group) for group in groups})


def answers_schema(group: Group) -> Schema:
    """The schema of the answers of one group, each id required."""
    return closed({wanted.id: answer_schema(wanted.scale, group.more) for wanted in group.wanted})


def answer_schema(scale: Scale, more: tuple[str, ...] = ()) -> Schema:
    """The schema of one answer: evidence, then the reason, and only then the score."""
    parts: Schema = {"evidence": QUOTES, "reason": TEXT, **dict.fromkeys(more, TEXT)}
    if scale.bands:
        ids = [band.id for band in scale.bands]
        parts |= {"band": {"type": "string", "enum": [*ids, CANNOT]}, "score": _number(scale)}
    elif scale.yes_no:
        parts["answer"] = {"type": "string", "enum": ["yes", "no", CANNOT]}
    else:
        parts["score"] = {"anyOf": [_number(scale), {"type": "string", "enum": [CANNOT]}]}
    return closed(parts)


def closed(properties: Mapping[str, Schema]) -> Schema:
    """An object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


CANNOT = "cannot assess"  # The word of the schema; readers know the others.


def _number(scale: Scale) -> Schema:
    kind = "integer" if scale.integers else "number"
    ends = (int(end) if end.denominator == 1 else float(end) for end in (scale.min, scale.max))
    return {"type": kind, **dict(zip(("minimum", "maximum"), ends, strict=True))}


def _criterion(criterion: Criterion, prompts: Prompts) -> str:
    lines = [f"- {criterion.id}: {criterion.asks} ({scale_text(criterion.scale, prompts)})"]
    for anchor in criterion.anchors:
        ends = dict.fromkeys(map(written, (anchor.min, anchor.max)))
        lines.append(f"  - {'–'.join(ends)}: {anchor.text}")
    return "\n".join(lines)


def scale_text(scale: Scale, prompts: Prompts) -> str:
    """A scale in words."""
    ends = {"min": written(scale.min), "max": written(scale.max)}
    if scale.bands:
        return prompts.say("bands")
    return prompts.say("yes_no" if scale.yes_no else "integers" if scale.integers else "numbers", **ends)


def _statement(statement: Statement) -> str:
    return f"- {statement.id}: {statement.asks}"


def answers_text(group: Group, prompts: Prompts, indent: str) -> str:
    """The blank answers of one group, one per line."""
    more = "".join(f', "{name}": "…"' for name in group.more)
    return ",\n".join(
        f'{indent}{quoted(wanted.id)}: {{"evidence": ["…"], "reason": "…"{more}, {_blank(wanted.scale, prompts)}}}'
        for wanted in group.wanted
    )


def quoted(id: str) -> str:
    """An id as a JSON string, in letters a judge can read."""
    return json.dumps(id, ensure_ascii=False)


def _blank(scale: Scale, prompts: Prompts) -> str:
    cannot = f'"{CANNOT}"'
    if scale.bands:
        bands = "|".join(band.id for band in scale.bands)
        return f'"band": <{bands}|{cannot}>, "score": <{written(scale.min)}–{written(scale.max)}>'
    key = "answer" if scale.yes_no else "score"
    return f'"{key}": <{scale_text(scale, prompts)} | {cannot}>'
