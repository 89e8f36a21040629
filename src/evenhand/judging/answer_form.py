"""The form of a judge's answer: criteria as prompt text, answers as JSON Schema, and prompts prepared once per
rubric.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from evenhand.judging.prompts import MARKER, MATERIAL, PromptOutline, Prompts
from evenhand.judging.reading.score_labels import WantedAnswer
from evenhand.model.criterion import Criterion, Statement
from evenhand.model.rubric import IdentityCache, Rubric
from evenhand.model.scale import YES_NO, Scale
from evenhand.wording import format_fraction

AnswerSchema = dict[str, Any]
# What may stand in an answer beside evidence, reason and score.
TEXT_SCHEMA: AnswerSchema = {"type": "string"}
QUOTES_SCHEMA: AnswerSchema = {"type": "array", "items": TEXT_SCHEMA, "maxItems": 3}


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """Questions answered under one key of the reply."""

    key: str
    wanted: tuple[WantedAnswer, ...]
    more: tuple[str, ...] = ()  # Further texts in each answer, such as feedback.

    def item(self, id: str) -> str:
        """The name of an answer among all answers: statements may share an id with a criterion."""
        return id if self.key == "criteria" else f"{self.key}.{id}"


def list_judged_criteria(rubric: Rubric) -> tuple[Criterion, ...]:
    """The criteria a judge answers: the leaves that are not measured by rules."""
    return tuple(leaf for leaf in rubric.leaves.values() if leaf.judged)


def build_answer_groups(rubric: Rubric, more: tuple[str, ...] = ()) -> tuple[AnswerGroup, ...]:
    """All that a judge answers about one output: criteria, red flags, bonuses."""
    criteria = tuple(WantedAnswer(leaf.id, leaf.scale) for leaf in list_judged_criteria(rubric))
    statements = {"red_flags": rubric.red_flags, "bonuses": rubric.bonuses}
    groups = [AnswerGroup("criteria", criteria, more)]
    groups += [
        AnswerGroup(key, tuple(WantedAnswer(one.id, YES_NO) for one in each))
        for key, each in statements.items()
        if each
    ]
    return tuple(groups)


def format_criteria_prompt(criteria: Iterable[Criterion], prompts: Prompts) -> str:
    """Criteria with their questions, scales and anchors."""
    parts = []
    for criterion in criteria:
        lines = [f"- {criterion.id}: {criterion.asks} ({format_scale_prompt(criterion.scale, prompts)})"]
        for anchor in criterion.anchors:
            ends = dict.fromkeys(map(format_fraction, (anchor.min, anchor.max)))
            lines.append(f"  - {'–'.join(ends)}: {anchor.text}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def format_statements_prompt(rubric: Rubric, prompts: Prompts) -> str:
    """Red flags and bonuses; empty where there are none."""
    parts = []
    for key, statements in (("red_flags", rubric.red_flags), ("bonuses", rubric.bonuses)):
        if statements:
            listed = "\n".join(f"- {one.id}: {one.asks}" for one in statements)
            parts.append(f"\n{prompts.say(key)}\n\n{listed}\n")
    return "".join(parts)


def format_bands_prompt(scale: Scale, rubric: Rubric, prompts: Prompts) -> str:
    """The bands of a scale, with what the method says they mean."""
    meaning = {grade.grade: grade.label for grade in rubric.method.grades}
    lines = []
    for band in scale.bands:
        span = prompts.say("band", id=band.id, min=format_fraction(band.min), max=format_fraction(band.max))
        lines.append(f"- {span}" + (f". {meaning[band.id]}." if meaning.get(band.id) else ""))
    return "\n".join(lines)


def format_answer_form(groups: Iterable[AnswerGroup], prompts: Prompts) -> str:
    """The form of the answer, as a judge without structured output needs it."""
    parts = [f'  "{group.key}": {{\n{format_blank_reply_answers(group, prompts, "    ")}\n  }}' for group in groups]
    return "{\n" + ",\n".join(parts) + "\n}"


def build_form_schema(groups: Iterable[AnswerGroup]) -> AnswerSchema:
    """The JSON Schema of an answer about one output."""
    return build_reply_schema(
        {
            group.key: build_reply_schema(
                {wanted.id: build_answer_schema(wanted.scale, group.more) for wanted in group.wanted}
            )
            for group in groups
        }
    )


def build_answer_schema(scale: Scale, more: tuple[str, ...] = ()) -> AnswerSchema:
    """The schema of one answer: evidence, then the reason, and only then the score."""
    parts: AnswerSchema = {"evidence": QUOTES_SCHEMA, "reason": TEXT_SCHEMA, **dict.fromkeys(more, TEXT_SCHEMA)}
    if scale.bands:
        ids = [band.id for band in scale.bands]
        parts |= {"band": {"type": "string", "enum": [*ids, CANNOT_ASSESS]}, "score": _build_reply_number_schema(scale)}
    elif scale.yes_no:
        parts["answer"] = {"type": "string", "enum": ["yes", "no", CANNOT_ASSESS]}
    else:
        parts["score"] = {"anyOf": [_build_reply_number_schema(scale), {"type": "string", "enum": [CANNOT_ASSESS]}]}
    return build_reply_schema(parts)


def build_reply_schema(properties: Mapping[str, AnswerSchema]) -> AnswerSchema:
    """An object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


CANNOT_ASSESS = "cannot assess"  # The word of the schema; readers know the others.


def _build_reply_number_schema(scale: Scale) -> AnswerSchema:
    kind = "integer" if scale.integers else "number"
    ends = (int(end) if end.denominator == 1 else float(end) for end in (scale.min, scale.max))
    return {"type": kind, **dict(zip(("minimum", "maximum"), ends, strict=True))}


def format_scale_prompt(scale: Scale, prompts: Prompts) -> str:
    """A scale in words."""
    ends = {"min": format_fraction(scale.min), "max": format_fraction(scale.max)}
    if scale.bands:
        return prompts.say("bands")
    return prompts.say("yes_no" if scale.yes_no else "integers" if scale.integers else "numbers", **ends)


def format_blank_reply_answers(group: AnswerGroup, prompts: Prompts, indent: str) -> str:
    """The blank answers of one group, one per line."""
    more = "".join(f', "{name}": "…"' for name in group.more)
    return ",\n".join(
        (
            f"{indent}{json.dumps(wanted.id, ensure_ascii=False)}: "
            f'{{"evidence": ["…"], "reason": "…"{more}, {_format_blank_reply_score(wanted.scale, prompts)}}}'
        )
        for wanted in group.wanted
    )


def _format_blank_reply_score(scale: Scale, prompts: Prompts) -> str:
    cannot = f'"{CANNOT_ASSESS}"'
    if scale.bands:
        bands = "|".join(band.id for band in scale.bands)
        return f'"band": <{bands}|{cannot}>, "score": <{format_fraction(scale.min)}–{format_fraction(scale.max)}>'
    key = "answer" if scale.yes_no else "score"
    return f'"{key}": <{format_scale_prompt(scale, prompts)} | {cannot}>'


@dataclass(frozen=True, slots=True)
class PreparedPrompt:
    """The outline of a prompt and the groups of questions it asks."""

    outline: PromptOutline
    groups: tuple[AnswerGroup, ...]


_PREPARED_PROMPTS: IdentityCache[PreparedPrompt] = IdentityCache()
_PREPARED_CRITERION_PROMPTS: IdentityCache[tuple[PreparedPrompt, ...]] = IdentityCache()


def prepare_rubric_prompt(rubric: Rubric, prompts: Prompts, name: str) -> PreparedPrompt:
    """All questions of a rubric in one prompt."""
    return _PREPARED_PROMPTS.get((rubric, prompts, name), lambda: _build_rubric_prompt(rubric, prompts, name))


def prepare_listwise_prompt(rubric: Rubric, prompts: Prompts, labels: tuple[str, ...]) -> PreparedPrompt:
    """All questions of a rubric about each of several outputs, in one prompt."""
    return _PREPARED_PROMPTS.get(
        (rubric, prompts, "listwise", *labels), lambda: _build_listwise_prompt(rubric, prompts, labels)
    )


def prepare_criterion_prompts(rubric: Rubric, prompts: Prompts, name: str) -> tuple[PreparedPrompt, ...]:
    """A prompt for each question of a rubric."""
    return _PREPARED_CRITERION_PROMPTS.get(
        (rubric, prompts, name), lambda: tuple(_build_criterion_prompts(rubric, prompts, name))
    )


def _build_rubric_prompt(rubric: Rubric, prompts: Prompts, name: str) -> PreparedPrompt:
    advises = name == "individual"
    groups = build_answer_groups(rubric, more=("feedback",) if advises else ())
    form, schema = format_answer_form(groups, prompts), build_form_schema(groups)
    if advises:
        form = form.removesuffix("\n}") + ",\n" + SUGGESTIONS_FORM + "\n}"
        schema = build_reply_schema({**schema["properties"], ADVICE_KEY: SUGGESTIONS_SCHEMA})
    halves = _fill_rubric_prompt(
        rubric, prompts, name, list_judged_criteria(rubric), form, format_statements_prompt(rubric, prompts)
    )
    asked = _list_asked_criteria(rubric)
    ids = tuple(one.id for _, one in asked)
    return PreparedPrompt(PromptOutline(halves=halves, ids=ids, schema=schema, asked=asked), groups)


def _build_listwise_prompt(rubric: Rubric, prompts: Prompts, labels: tuple[str, ...]) -> PreparedPrompt:
    groups = build_answer_groups(rubric)
    one = format_answer_form(groups, prompts).replace("\n", "\n    ")
    form = '{\n  "responses": {\n' + ",\n".join(f'    "{label}": {one}' for label in labels) + "\n  }\n}"
    schema = build_reply_schema({"responses": build_reply_schema(dict.fromkeys(labels, build_form_schema(groups)))})
    halves = _fill_rubric_prompt(
        rubric, prompts, "listwise", list_judged_criteria(rubric), form, format_statements_prompt(rubric, prompts)
    )
    asked = _list_asked_criteria(rubric)
    ids = tuple(one.id for _, one in asked)
    outline = PromptOutline(halves=halves, ids=ids, schema=schema, labels=labels, asked=asked)
    return PreparedPrompt(outline, groups)


def _build_criterion_prompts(rubric: Rubric, prompts: Prompts, name: str) -> list[PreparedPrompt]:
    prepared = []
    for key, criterion in _list_asked_criteria(rubric):
        groups = (AnswerGroup(key, (WantedAnswer(criterion.id, criterion.scale),)),)
        halves = _fill_rubric_prompt(rubric, prompts, name, (criterion,), format_answer_form(groups, prompts), "")
        one = ((key, criterion),)
        outline = PromptOutline(halves=halves, ids=(criterion.id,), schema=build_form_schema(groups), asked=one)
        prepared.append(PreparedPrompt(outline, groups))
    return prepared


def _list_asked_criteria(rubric: Rubric) -> tuple[tuple[str, Criterion], ...]:
    return (
        *(("criteria", leaf) for leaf in list_judged_criteria(rubric)),
        *(("red_flags", phrase_statement_for_judge(one)) for one in rubric.red_flags),
        *(("bonuses", phrase_statement_for_judge(one)) for one in rubric.bonuses),
    )


def _fill_rubric_prompt(
    rubric: Rubric, prompts: Prompts, name: str, criteria: tuple[Criterion, ...], form: str, statements: str
) -> tuple[str, str]:
    scale = next((criterion.scale for criterion in criteria if criterion.scale.bands), None)
    return prompts.fill(
        name,
        criteria=format_criteria_prompt(criteria, prompts),
        statements=statements,
        bands=format_bands_prompt(scale, rubric, prompts) if scale else "",
        form=form,
        marker=MARKER,
        material=MATERIAL,
    )


def phrase_statement_for_judge(statement: Statement) -> Criterion:
    """A statement as the yes/no question it is."""
    return Criterion(id=statement.id, asks=statement.asks, scale=YES_NO)


ADVICE_KEY = "revision_suggestions"
SUGGESTIONS_SCHEMA: AnswerSchema = {
    "type": "array",
    "minItems": 2,
    "maxItems": 2,
    "items": build_reply_schema(
        {
            "problem": {"type": "string"},
            "suggestion": {"type": "string"},
            "severity": {"type": "string", "enum": ["high", "medium", "low"]},
        }
    ),
}
SUGGESTIONS_FORM = (
    '  "revision_suggestions": [\n'
    '    {"problem": "…", "suggestion": "…", "severity": <high|medium|low>},\n'
    '    {"problem": "…", "suggestion": "…", "severity": <high|medium|low>}\n'
    "  ]"
)
