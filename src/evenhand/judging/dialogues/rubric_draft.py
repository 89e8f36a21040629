"""The dialogue that drafts a rubric: a model reads a task and examples inside the fence and proposes what to ask."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from decimal import Decimal
from typing import Any

from evenhand.errors import InputError
from evenhand.files.methods import LIBRARY
from evenhand.files.parsing import read_text_file
from evenhand.files.rubrics import load_rubric
from evenhand.judging.answer_form import TEXT_SCHEMA, AnswerSchema, build_reply_schema
from evenhand.judging.fence import MaterialPiece, neutralize_untrusted_prompt_text
from evenhand.judging.prompts import JudgeSetup, PromptOutline, compose_judge_request
from evenhand.judging.questions import Dialogue, JudgeQuestion, JudgeReplyReading, ask_judge_questions
from evenhand.judging.reading.reply_text import find_json_values_in_reply
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Missing
from evenhand.scoring.rubric_advice import find_doubtful_score_parts

LEAST_CRITERIA, MOST_CRITERIA, MOST_FLAGS = 2, 7, 5
LEVELS = ("9-10", "7-8", "5-6", "3-4", "1-2")
LONGEST_TEXT = 400
DRAFT_KEY = "rubric"
_ID = re.compile(r"[a-z0-9]+(?:-[a-z0-9]+){0,4}")
_LARGEST_PROMPT = 200_000
_DRAFT_PROMPT = LIBRARY / "draft-rubric.md"
DRAFT_SCHEMA: AnswerSchema = build_reply_schema(
    {
        "about": TEXT_SCHEMA,
        "criteria": {
            "type": "array",
            "minItems": LEAST_CRITERIA,
            "maxItems": MOST_CRITERIA,
            "items": build_reply_schema(
                {
                    "id": TEXT_SCHEMA,
                    "asks": TEXT_SCHEMA,
                    "importance": {"type": "integer", "minimum": 1, "maximum": 5},
                    "least": {"type": "integer", "minimum": 0, "maximum": 8},
                    "anchors": build_reply_schema(dict.fromkeys(LEVELS, TEXT_SCHEMA)),
                }
            ),
        },
        "red_flags": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_FLAGS,
            "items": build_reply_schema({"id": TEXT_SCHEMA, "asks": TEXT_SCHEMA}),
        },
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftExample:
    """An output that is known to be good or bad."""

    id: str
    output: str
    good: bool = True
    input: str = ""
    why: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class RubricDraft:
    """The fields of a rubric file, and the rubric that they are; None where none came, with why."""

    fields: Mapping[str, Any] | None = None
    rubric: Rubric | None = None
    why_not: str = ""


def ask_model_for_rubric(
    name: str, method: str, task: str, examples: Sequence[DraftExample], manner: JudgeSetup
) -> Dialogue[RubricDraft]:
    """Draft a rubric that passes every check; a reply that does not is asked for once more, and then refused.

    `method` is one of criteria on 1 to 10 whose weights sum to 1, with red flags.
    """
    # A draft is asked for in English, by a text that is no part of a set of one's own.
    draft = read_text_file(_DRAFT_PROMPT, _LARGEST_PROMPT, InputError)
    prompts = replace(manner.prompts, texts={**manner.prompts.texts, "draft": draft})
    bounds = {"least": str(LEAST_CRITERIA), "most": str(MOST_CRITERIA), "flags": str(MOST_FLAGS)}
    halves = prompts.fill("draft", **bounds, form=_build_draft_reply_form())
    outline = PromptOutline(halves=halves, ids=(DRAFT_KEY,), schema=DRAFT_SCHEMA)
    request = compose_judge_request("draft", outline, list_draft_material(task, examples), manner)

    def read(text: str) -> JudgeReplyReading[RubricDraft]:
        data = _find_draft_in_reply(text)
        found = (
            Missing.unreadable("there is no JSON object with criteria")
            if data is None
            else _read_draft_reply({"name": name, "method": method}, data)
        )
        if isinstance(found, Missing):
            return JudgeReplyReading(faults={DRAFT_KEY: found})
        return JudgeReplyReading(items={DRAFT_KEY: found}, data=data)

    (reading,) = yield from ask_judge_questions([JudgeQuestion(request, read)], prompts)
    return reading.items.get(DRAFT_KEY) or RubricDraft(why_not=reading.explain_missing(DRAFT_KEY).text)


def list_draft_material(task: str, examples: Sequence[DraftExample]) -> list[MaterialPiece]:
    """The task and the examples, each a piece of its own inside the fence."""
    pieces: list[MaterialPiece] = [("Task", "task", task)]
    for number, one in enumerate(examples, start=1):
        kind = "good" if one.good else "bad"
        if one.input:
            pieces.append((f"Input of example {number}", f"input-{number}", one.input))
        pieces.append((f"Example {number}, a {kind} output", f"example-{number}", one.output))
        if one.why:
            pieces.append((f"Why example {number} is {kind}", f"why-{number}", one.why))
    return pieces


def _build_draft_reply_form() -> str:
    anchors = ", ".join(f'"{level}": "…"' for level in LEVELS)
    criterion = f'{{"id": "…", "asks": "…?", "importance": 3, "least": 0, "anchors": {{{anchors}}}}}'
    return (
        '{\n  "about": "…",\n'
        f'  "criteria": [\n    {criterion}\n  ],\n  "red_flags": [\n    {{"id": "…", "asks": "…"}}\n  ]\n}}'
    )


def _find_draft_in_reply(text: str) -> Mapping[str, Any] | None:
    """The last complete object with criteria in a reply."""
    for value in reversed(find_json_values_in_reply(text)):
        data = value.data.get(DRAFT_KEY, value.data) if isinstance(value.data, dict) else None
        if value.complete and isinstance(data, dict) and isinstance(data.get("criteria"), list):
            return data
    return None


def _read_draft_reply(head: Mapping[str, str], data: Mapping[str, Any]) -> RubricDraft | Missing:
    """The rubric in a reply, or what is wrong with it in words that a model may be told."""
    fault = _find_draft_reply_fault(data)
    if fault is not None:
        return Missing.unreadable(fault)
    fields = {**head, **_build_fields_from_draft_reply(data)}
    try:
        rubric = load_rubric(fields)
    except InputError as error:
        return Missing("unreadable", str(error), "the criteria make no rubric: ids differ, and no weight is 0")
    if find_doubtful_score_parts(rubric):
        return Missing.unreadable("a criterion asks for something that cannot be seen, or a gate has no effect")
    return RubricDraft(fields=fields, rubric=rubric)


def _find_draft_reply_fault(data: Mapping[str, Any]) -> str | None:
    criteria, flags = data["criteria"], data.get("red_flags")
    if not LEAST_CRITERIA <= len(criteria) <= MOST_CRITERIA:
        return f"expected {LEAST_CRITERIA} to {MOST_CRITERIA} criteria"
    if not isinstance(flags, list) or not 1 <= len(flags) <= MOST_FLAGS:
        return f"expected 1 to {MOST_FLAGS} red flags"
    for one in (*criteria, *flags):
        if not isinstance(one, dict) or not _is_text_in_draft_reply(one.get("asks")):
            return "a criterion or a red flag asks nothing"
        if not isinstance(one.get("id"), str) or not _ID.fullmatch(one["id"]) or len(one["id"]) > 40:
            return "an id is not one to three lower-case words joined by hyphens"
    for one in criteria:
        anchors = one.get("anchors")
        if not isinstance(anchors, dict) or not all(_is_text_in_draft_reply(anchors.get(level)) for level in LEVELS):
            return f"a criterion lacks an anchor: each has {', '.join(LEVELS)}"
        if not _is_whole_in_draft_reply(one.get("importance"), 1, 5) or not _is_whole_in_draft_reply(
            one.get("least", 0), 0, 8
        ):
            return "importance is a whole number from 1 to 5, least one from 0 to 8"
    return None if any(one.get("least", 0) >= 2 for one in criteria) else "no criterion has a least score of 3 to 8"


def _is_text_in_draft_reply(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _is_whole_in_draft_reply(value: object, low: int, high: int) -> bool:
    return (
        isinstance(value, (int, Decimal))
        and not isinstance(value, bool)
        and value == int(value)
        and low <= value <= high
    )


def _build_fields_from_draft_reply(data: Mapping[str, Any]) -> dict[str, Any]:
    """As a rubric file has them. A model wrote the texts after it read a stranger's task: they are made powerless."""
    criteria = data["criteria"]
    weights = share_hundredths_of_draft_reply([int(one["importance"]) for one in criteria])
    gated = [(one["id"], int(one.get("least", 0))) for one in criteria]
    return {
        "about": _clean_draft_reply_line(str(data.get("about") or "")),
        "criteria": [
            {
                "id": one["id"],
                "asks": _clean_draft_reply_line(one["asks"]),
                "weight": weight,
                "anchors": {level: _clean_draft_reply_line(one["anchors"][level]) for level in LEVELS},
            }
            for one, weight in zip(criteria, weights, strict=True)
        ],
        "red_flags": [{"id": one["id"], "asks": _clean_draft_reply_line(one["asks"])} for one in data["red_flags"]],
        "gates": [{"criterion": id, "min": least} for id, least in gated if least >= 2],
    }


def share_hundredths_of_draft_reply(parts: Sequence[int]) -> list[float]:
    """Weights in the proportion of whole numbers, in hundredths that sum to exactly 1."""
    total = sum(parts)
    floors = [100 * one // total for one in parts]
    left = sorted(range(len(parts)), key=lambda at: (-(100 * parts[at] % total), at))
    for at in left[: 100 - sum(floors)]:
        floors[at] += 1
    return [one / 100 for one in floors]


def _clean_draft_reply_line(text: str) -> str:
    line = neutralize_untrusted_prompt_text(" ".join(text.split()))
    return line if len(line) <= LONGEST_TEXT else line[: LONGEST_TEXT - 1] + "…"
