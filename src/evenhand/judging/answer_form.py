"""The form of a judge's answer: criteria as prompt text, answers as JSON Schema, and prompts prepared once per
rubric.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from evenhand.judging.fence import MaterialPiece, SharedPiece
from evenhand.judging.prompts import JudgePrompts, PromptOutline, label_prompt_material, load_example_phrases
from evenhand.judging.reading.score_labels import WantedReplyAnswer
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.sample import Sample
from evenhand.model.scale import YES_NO, Criterion, Scale
from evenhand.wording import format_fraction

AnswerSchema = dict[str, Any]
# What may stand in an answer beside evidence, reason and score.
TEXT_SCHEMA: AnswerSchema = {"type": "string"}
QUOTES_SCHEMA: AnswerSchema = {"type": "array", "items": TEXT_SCHEMA, "maxItems": 3}
CANNOT_ASSESS = "cannot assess"  # As it is said in English; readers know the words of all prompts.
# What comes before an id to name an answer among all answers: statements may share an id with a criterion.
ITEM_PREFIXES = {"criteria": "", "red_flags": "red_flags.", "bonuses": "bonuses."}


@dataclass(frozen=True, slots=True)
class AnswerGroup:
    """Questions answered under one key of the reply."""

    key: str
    wanted: tuple[WantedReplyAnswer, ...]
    more: tuple[str, ...] = ()  # Further texts in each answer, such as feedback.


def build_wanted_reply_answer(criterion: Criterion) -> WantedReplyAnswer:
    """What a reply has to say on a criterion."""
    shown, absent = criterion.shown_as, ASKS_FOR_ABSENCE.match(criterion.asks) is not None
    return WantedReplyAnswer(criterion.id, criterion.scale, (shown,) if shown else (), absent, shown)


# "Does not mention …", "contains no …", "avoids …": before any "that", after which something else may be denied.
ASKS_FOR_ABSENCE = re.compile(
    r"(?i)(?:(?!\bthat\b).){0,60}?(?:n['’]t\b|"
    r"\b(?:no|not(?! to\b)|never|without|avoid\w*|refrain\w* from|omit\w*|leaves? out|free (?:of|from))\b)"
)


def list_judged_criteria(rubric: Rubric) -> tuple[Criterion, ...]:
    """The criteria a judge answers: the leaves that are not measured by rules."""
    return tuple([leaf for leaf in rubric.leaves.values() if leaf.judged])


def format_criteria_prompt(
    criteria: Iterable[Criterion], prompts: JudgePrompts, shares: Mapping[str, Fraction] | None = None
) -> str:
    """Criteria with their questions, scales and anchors; with `shares` also how much of the score each one is."""
    parts = []
    for criterion in criteria:
        about = format_scale_prompt(criterion.scale, prompts)
        if shares:
            percent = 100 * shares[criterion.id]
            told = format_fraction(percent, None if percent.denominator == 1 else 1)
            about = f"{prompts.say('weight', percent=told)}; {about}"
        lines = [f"- {criterion.shown_as or criterion.id}: {word_judge_question(criterion)} ({about})"]
        for anchor in criterion.anchors:
            ends = dict.fromkeys(map(format_fraction, (anchor.min, anchor.max)))
            lines.append(f"  - {'–'.join(ends)}: {anchor.text}")
        parts.append("\n".join(lines))
    return "\n\n".join(parts)


def word_judge_question(criterion: Criterion) -> str:
    """What a criterion asks; where a judge wrote it, the tag in the fence that holds it."""
    return f"<{criterion.shown_as}-…>" if criterion.shown_as else criterion.asks


def tag_criteria_for_judge(criteria: Iterable[Criterion]) -> list[MaterialPiece]:
    """The criteria that a judge wrote, as material: they came from a reply."""
    return [(one.shown_as, one.shown_as, f"{one.id}: {one.asks}") for one in criteria if one.shown_as]


def tag_sample_for_judge(rubric: Rubric, sample: Sample, prompts: JudgePrompts) -> list[MaterialPiece]:
    """What a judge is shown beside outputs."""
    given = label_prompt_material(prompts, sample.input, sample.context, sample.reference)
    more = [leaf for leaf in rubric.leaves.values() if leaf.examples or leaf.shown_as]
    return [*tag_criteria_for_judge(more), *_tag_examples_for_judge(rubric, prompts), *given] if more else given


def _tag_examples_for_judge(rubric: Rubric, prompts: JudgePrompts) -> Iterator[SharedPiece]:
    """The examples of all judged criteria, passages that people scored, with the reason where there is one.

    They are inside the fence, like every text that came from outside.
    """
    shown = [(leaf, one) for leaf in rubric.leaves.values() if leaf.judged for one in leaf.examples]
    phrases = load_example_phrases(prompts.language)
    for number, (leaf, example) in enumerate(shown, start=1):
        word = prompts.say("yes" if example.score else "no") if leaf.scale.yes_no else format_fraction(example.score)
        label = phrases["example"].format(criterion=leaf.shown_as or leaf.id, score=word)
        yield SharedPiece(label, f"example-{number}", example.passage)
        if example.why.strip():
            yield SharedPiece(phrases["example_why"], f"example-{number}-why", example.why)


def list_example_prompt_texts(language: str) -> dict[str, str]:
    """What examples add to the texts that a fingerprint covers; rubrics without any are asked in the words of old."""
    return {"examples": "\n".join(f"{name}: {text}" for name, text in load_example_phrases(language).items())}


def _list_criterion_shares_for_prompt(rubric: Rubric) -> dict[str, Fraction]:
    """How much of the score each criterion is; nothing where criteria stand in a tree."""
    if any(criterion.children for criterion in rubric.criteria):
        return {}
    total = sum((criterion.weight for criterion in rubric.criteria), Fraction(0))
    return {criterion.id: criterion.weight / total for criterion in rubric.criteria}


def format_bands_prompt(scale: Scale, rubric: Rubric, prompts: JudgePrompts) -> str:
    """The bands of a scale, with what the method says they mean."""
    meaning = {grade.grade: grade.label for grade in rubric.method.grades}
    lines = []
    for band in scale.bands:
        span = prompts.say("band", id=band.id, min=format_fraction(band.min), max=format_fraction(band.max))
        told = prompts.translate(meaning.get(band.id) or "")
        lines.append("- " + (prompts.say("band_meaning", band=span, meaning=told) if told else span))
    return "\n".join(lines)


def format_scale_prompt(scale: Scale, prompts: JudgePrompts) -> str:
    """A scale in words."""
    ends = {"min": format_fraction(scale.min), "max": format_fraction(scale.max)}
    if scale.bands:
        return prompts.say("bands")
    return prompts.say("yes_no" if scale.yes_no else "integers" if scale.integers else "numbers", **ends)


def build_judge_answer_form(groups: Iterable[AnswerGroup], prompts: JudgePrompts) -> tuple[str, AnswerSchema]:
    """The form of an answer about one output, for a judge without structured output, and its JSON Schema.

    An answer is evidence, then the reason, and only then the score.
    """
    forms, schemas = [], {}
    for group in groups:
        blanks, answers = [], {}
        more = "".join(f', "{name}": "…"' for name in group.more)
        texts = {"evidence": QUOTES_SCHEMA, "reason": TEXT_SCHEMA, **dict.fromkeys(group.more, TEXT_SCHEMA)}
        for wanted in group.wanted:
            score, schema = _build_judge_score_form(wanted.scale, prompts)
            name = wanted.shown_as or wanted.id
            id = json.dumps(name, ensure_ascii=False)
            blanks.append(f'    {id}: {{"evidence": ["…"], "reason": "…"{more}, {score}}}')
            answers[name] = build_reply_schema({**texts, **schema})
        listed = ",\n".join(blanks)
        forms.append(f'  "{group.key}": {{\n{listed}\n  }}')
        schemas[group.key] = build_reply_schema(answers)
    return "{\n" + ",\n".join(forms) + "\n}", build_reply_schema(schemas)


def _build_judge_score_form(scale: Scale, prompts: JudgePrompts) -> tuple[str, AnswerSchema]:
    """The part of an answer that holds its score."""
    declined = prompts.say("cannot")
    cannot = f'"{declined}"'
    low, high = (int(end) if end.denominator == 1 else float(end) for end in (scale.min, scale.max))
    number = {"type": "integer" if scale.integers else "number", "minimum": low, "maximum": high}
    if scale.bands:
        ids = [band.id for band in scale.bands]
        blank = f'"band": <{"|".join(ids)}|{cannot}>, '
        blank += f'"score": <{format_fraction(scale.min)}–{format_fraction(scale.max)}>'
        return blank, {"band": {"type": "string", "enum": [*ids, declined]}, "score": number}
    blank = f"<{format_scale_prompt(scale, prompts)} | {cannot}>"
    if scale.yes_no:
        words = [prompts.say("yes"), prompts.say("no"), declined]
        return f'"answer": {blank}', {"answer": {"type": "string", "enum": words}}
    return f'"score": {blank}', {"score": {"anyOf": [number, {"type": "string", "enum": [declined]}]}}


def build_reply_schema(properties: Mapping[str, AnswerSchema]) -> AnswerSchema:
    """An object with exactly these properties, in this order."""
    return {
        "type": "object",
        "properties": dict(properties),
        "required": list(properties),
        "additionalProperties": False,
    }


@dataclass(frozen=True, slots=True)
class PreparedPrompt:
    """The outline of a prompt and the groups of questions it asks."""

    outline: PromptOutline
    groups: tuple[AnswerGroup, ...]


_PREPARED_PROMPTS: RubricIdentityCache[tuple[PreparedPrompt, ...]] = RubricIdentityCache()


def prepare_rubric_prompt(
    rubric: Rubric, prompts: JudgePrompts, name: str, labels: tuple[str, ...] = ()
) -> tuple[PreparedPrompt, ...]:
    """All questions of a rubric in one prompt, about one output or about each of several labels."""
    key = (rubric, prompts, name, "whole", *labels)
    return _PREPARED_PROMPTS.get(key, lambda: (_build_rubric_prompt(rubric, prompts, name, labels),))


def prepare_criterion_prompts(rubric: Rubric, prompts: JudgePrompts, name: str) -> tuple[PreparedPrompt, ...]:
    """A prompt for each question of a rubric."""
    key = (rubric, prompts, name, "each")
    return _PREPARED_PROMPTS.get(key, lambda: tuple(_build_criterion_prompts(rubric, prompts, name)))


def _build_rubric_prompt(rubric: Rubric, prompts: JudgePrompts, name: str, labels: tuple[str, ...]) -> PreparedPrompt:
    advises = name == "individual"
    criteria = list_judged_criteria(rubric)
    asked = [("criteria", criterion) for criterion in criteria]
    wanted = tuple(map(build_wanted_reply_answer, criteria))
    groups = [AnswerGroup("criteria", wanted, ("feedback",) if advises else ())]
    listed = ""
    for key, statements in (("red_flags", rubric.red_flags), ("bonuses", rubric.bonuses)):
        if statements:
            asked += [(key, Criterion(id=one.id, asks=one.asks, scale=YES_NO)) for one in statements]
            groups.append(AnswerGroup(key, tuple(WantedReplyAnswer(one.id, YES_NO) for one in statements)))
            listed += f"\n{prompts.say(key)}\n\n" + "\n".join(f"- {one.id}: {one.asks}" for one in statements) + "\n"
    form, schema = build_judge_answer_form(groups, prompts)
    if advises:
        asked_for, advice = _build_judge_suggestions_form(prompts)
        form = form.removesuffix("\n}") + ",\n" + asked_for + "\n}"
        schema = build_reply_schema({**schema["properties"], ADVICE_KEY: advice})
    if name == "listwise" or rubric.whole_scale is not None:
        form, schema, told = _add_whole_output_prompt(rubric, prompts, form, schema, notes=name == "listwise")
        listed += told
    if labels:
        one = form.replace("\n", "\n    ")
        form = '{\n  "responses": {\n' + ",\n".join(f'    "{label}": {one}' for label in labels) + "\n  }\n}"
        schema = build_reply_schema({"responses": build_reply_schema(dict.fromkeys(labels, schema))})
    banded = [criterion for criterion in criteria if criterion.scale.bands]
    halves = prompts.fill(
        name,
        criteria=format_criteria_prompt(
            criteria, prompts, _list_criterion_shares_for_prompt(rubric) if name == "listwise" else None
        ),
        statements=listed,
        bands=format_bands_prompt(banded[0].scale, rubric, prompts) if banded else "",
        form=form,
    )
    ids = tuple(criterion.id for _, criterion in asked)
    outline = PromptOutline(halves=halves, ids=ids, schema=schema, labels=labels, asked=tuple(asked))
    return PreparedPrompt(outline, tuple(groups))


NOTES_KEY = "notes"
WHOLE_KEY = "holistic"


def _add_whole_output_prompt(
    rubric: Rubric, prompts: JudgePrompts, form: str, schema: AnswerSchema, *, notes: bool
) -> tuple[str, AnswerSchema, str]:
    """Form and schema with what is asked about the output as a whole, after all criteria; and how that is asked."""
    blanks: dict[str, str] = {NOTES_KEY: '"…"'} if notes else {}
    answers: dict[str, AnswerSchema] = {NOTES_KEY: TEXT_SCHEMA} if notes else {}
    told = ""
    if rubric.whole_scale is not None:
        span = format_scale_prompt(rubric.whole_scale, prompts)
        ends = {"min": rubric.whole_scale.min, "max": rubric.whole_scale.max}
        blanks[WHOLE_KEY] = f"<{span}>"
        answers[WHOLE_KEY] = {"type": "number", **{f"{end}imum": float(value) for end, value in ends.items()}}
        told = f"\n{prompts.say('whole', scale=span)}\n"
    form = form.removesuffix("\n}") + "".join(f',\n  "{key}": {blank}' for key, blank in blanks.items()) + "\n}"
    return form, build_reply_schema({**schema["properties"], **answers}), told


def _build_criterion_prompts(rubric: Rubric, prompts: JudgePrompts, name: str) -> Iterator[PreparedPrompt]:
    whole = _build_rubric_prompt(rubric, prompts, name, ()).outline
    for key, criterion in whole.asked:
        groups = (AnswerGroup(key, (build_wanted_reply_answer(criterion),)),)
        form, schema = build_judge_answer_form(groups, prompts)
        halves = prompts.fill(
            name,
            criteria=format_criteria_prompt([criterion], prompts),
            statements="",
            bands=format_bands_prompt(criterion.scale, rubric, prompts),
            form=form,
        )
        outline = PromptOutline(halves=halves, ids=(criterion.id,), schema=schema, asked=((key, criterion),))
        yield PreparedPrompt(outline, groups)


def list_questions_for_judge(rubric: Rubric) -> tuple[Criterion, ...]:
    """The criteria a judge answers, then the red flags and bonuses as the yes/no questions they are."""
    statements = (*rubric.red_flags, *rubric.bonuses)
    questions = (Criterion(id=one.id, asks=one.asks, scale=YES_NO) for one in statements)
    return (*list_judged_criteria(rubric), *questions)


ADVICE_KEY = "revision_suggestions"


def _build_judge_suggestions_form(prompts: JudgePrompts) -> tuple[str, AnswerSchema]:
    """The form of two suggestions, and its schema."""
    words = [prompts.say(severity) for severity in ("high", "medium", "low")]
    one = f'    {{"problem": "…", "suggestion": "…", "severity": <{"|".join(words)}>}}'
    severity: AnswerSchema = {"type": "string", "enum": words}
    items = build_reply_schema({"problem": TEXT_SCHEMA, "suggestion": TEXT_SCHEMA, "severity": severity})
    schema: AnswerSchema = {"type": "array", "minItems": 2, "maxItems": 2, "items": items}
    return f'  "{ADVICE_KEY}": [\n{one},\n{one}\n  ]', schema
