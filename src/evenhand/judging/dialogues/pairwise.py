"""Pairwise: which of two outputs is better, asked in both orders, so that a position wins nothing."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.judging.answer_form import (
    CANNOT_ASSESS,
    TEXT_SCHEMA,
    AnswerSchema,
    build_reply_schema,
    format_criteria_prompt,
    list_judged_criteria,
)
from evenhand.judging.prompts import JudgeSetup, PromptOutline, compose_judge_request, label_prompt_material
from evenhand.judging.questions import Dialogue, JudgeQuestion, ReplyReading, ask_questions
from evenhand.judging.reading.choice import read_reply_choice
from evenhand.judging.reading.reply_text import find_json_values
from evenhand.judging.results import Preference
from evenhand.judging.traces import label_trace_for_prompt
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Missing

WINNER = "winner"
TIE = "tie"
LABELS = ("A", "B")
CHOICES = {
    **{label: (label, f"Response {label}", f"Output {label}", f"回答 {label}") for label in LABELS},
    TIE: (TIE, "equal", "neither", "both", "平局", "一样好"),
    CANNOT_ASSESS: (CANNOT_ASSESS, "cannot_assess", "unable to assess", "无法评估", "无法判断"),
}


@dataclass(frozen=True, slots=True)
class PairwiseChoice:
    """What a judge chose, and why."""

    label: str
    reason: str


def ask_pairwise(rubric: Rubric, sample: Sample, first: str, second: str, manner: JudgeSetup) -> Dialogue[Preference]:
    """Ask which of two outputs is better, once with each of them first.

    A judge that names the same place both times follows the place: a tie, counted as position bias.
    """
    orders = ((first, second), (second, first))
    questions = [_build_pairwise_question(rubric, sample, order, manner) for order in orders]
    readings = yield from ask_questions(questions, manner.prompts)
    votes = [_read_pairwise_judge_vote(reading, order) for reading, order in zip(readings, orders, strict=True)]
    missing = [vote.text for vote in votes if isinstance(vote, Missing)]
    names = tuple(vote if isinstance(vote, str) else None for vote in votes)
    decided = not missing and names[0] == names[1]
    return Preference(
        judge=manner.judge,
        first=first,
        second=second,
        winner=names[0] if decided and names[0] != TIE else None,
        votes=(names[0], names[1]),
        position_bias=not missing and set(names) == {first, second},
        reasons=tuple(reading.items[WINNER].reason for reading in readings if WINNER in reading.items),
        why_not="; ".join(dict.fromkeys(missing)),
    )


def _build_pairwise_question(
    rubric: Rubric, sample: Sample, order: tuple[str, str], manner: JudgeSetup
) -> JudgeQuestion[PairwiseChoice]:
    prompts = manner.prompts
    criteria = format_criteria_prompt(list_judged_criteria(rubric), prompts)
    words = [*LABELS, prompts.say("tie"), prompts.say("cannot")]
    blank = " | ".join(f'"{word}"' for word in words)
    form = f'{{"reason": "…", "{WINNER}": <{blank}>}}'
    schema: AnswerSchema = build_reply_schema({"reason": TEXT_SCHEMA, WINNER: {"type": "string", "enum": words}})
    halves = prompts.fill("pairwise", criteria=criteria, form=form)
    pieces = label_prompt_material(prompts, sample.input, sample.context, sample.reference)
    for label, name in zip(LABELS, order, strict=True):
        pieces += label_trace_for_prompt(rubric, sample.traces.get(name), prompts, label)
        pieces.append((prompts.say("response", letter=label), f"response-{label}", sample.outputs[name]))
    outline = PromptOutline(halves=halves, ids=(WINNER,), schema=schema, labels=LABELS)
    return JudgeQuestion(compose_judge_request("pairwise", outline, pieces, manner), _read_pairwise_choice, pieces)


def _read_pairwise_choice(text: str) -> ReplyReading[PairwiseChoice]:
    choice = read_reply_choice(text, CHOICES)
    if isinstance(choice, Missing):
        return ReplyReading(faults={WINNER: choice.why})
    objects = [value.data for value in find_json_values(text) if isinstance(value.data, dict) and WINNER in value.data]
    data = objects[-1] if objects else {}
    return ReplyReading(items={WINNER: PairwiseChoice(choice, str(data.get("reason", "")))}, data=data or None)


def _read_pairwise_judge_vote(reading: ReplyReading[PairwiseChoice], order: tuple[str, str]) -> str | Missing:
    """The name of the output that was chosen, a tie, or why there is no choice."""
    choice = reading.items.get(WINNER)
    if choice is None:
        return reading.explain_missing(WINNER)
    if choice.label == CANNOT_ASSESS:
        return Missing("abstained", choice.reason or CANNOT_ASSESS)
    return dict(zip(LABELS, order, strict=True)).get(choice.label, TIE)
