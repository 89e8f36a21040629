"""Pairwise: which of two outputs is better, asked in both orders, so that a place wins nothing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from evenhand.judging._ask import Dialogue, Question, Reading, ask
from evenhand.judging._form import CANNOT, TEXT, Schema, closed, criteria_text, judged
from evenhand.judging._material import MARKER, MATERIAL, Outline, compose, pieces_of, texts_of
from evenhand.judging._told import Manner, Preference
from evenhand.judging.reading import read_choice, values_in
from evenhand.model import Rubric, Sample, Unscored

WINNER = "winner"
TIE = "tie"
LABELS = ("A", "B")
SCHEMA: Schema = closed({"reason": TEXT, WINNER: {"type": "string", "enum": [*LABELS, TIE, CANNOT]}})
FORM = f'{{"reason": "…", "{WINNER}": <"A" | "B" | "{TIE}" | "{CANNOT}">}}'
CHOICES = {
    **{label: (label, f"Response {label}", f"Output {label}", f"回答 {label}") for label in LABELS},
    TIE: (TIE, "equal", "neither", "both", "平局", "一样好"),
    CANNOT: (CANNOT, "cannot_assess", "unable to assess", "无法评估"),
}


@dataclass(frozen=True, slots=True)
class Choice:
    """What a judge chose, and why."""

    label: str
    reason: str


def pairwise(rubric: Rubric, sample: Sample, first: str, second: str, manner: Manner) -> Dialogue[Preference]:
    """Ask which of two outputs is better, once with each of them first.

    A judge that names the same place both times follows the place: a tie, counted as position bias.
    """
    orders = ((first, second), (second, first))
    questions = [_question(rubric, sample, order, manner) for order in orders]
    readings = yield from ask(questions, manner.prompts)
    votes = [_vote(reading, order) for reading, order in zip(readings, orders, strict=True)]
    missing = [vote.why for vote in votes if isinstance(vote, Unscored)]
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


def _question(rubric: Rubric, sample: Sample, order: tuple[str, str], manner: Manner) -> Question[Choice]:
    prompts = manner.prompts
    halves = prompts.fill(
        "pairwise", criteria=criteria_text(judged(rubric), prompts), form=FORM, marker=MARKER, material=MATERIAL
    )
    texts = [sample.outputs[name] for name in order]
    pieces = pieces_of(prompts, sample.input, sample.context, sample.reference)
    pieces += [
        (prompts.say("response", letter=label), f"response-{label}", text)
        for label, text in zip(LABELS, texts, strict=True)
    ]
    outline = Outline(halves=halves, ids=(WINNER,), schema=SCHEMA, labels=LABELS)
    return Question(compose("pairwise", outline, pieces, manner), _read, texts_of(pieces))


def _read(text: str) -> Reading[Choice]:
    choice = read_choice(text, CHOICES)
    if isinstance(choice, Unscored):
        return Reading(faults={WINNER: choice.why.removeprefix("unreadable: ")})
    data = next((data for value in reversed(values_in(text)) if (data := _with_winner(value.data))), {})
    return Reading(items={WINNER: Choice(choice, str(data.get("reason", "")))}, data=data or None)


def _with_winner(data: object) -> Mapping[str, object]:
    return data if isinstance(data, dict) and WINNER in data else {}


def _vote(reading: Reading[Choice], order: tuple[str, str]) -> str | Unscored:
    """The name of the output that was chosen, a tie, or why there is no choice."""
    choice = reading.items.get(WINNER)
    if choice is None:
        return Unscored(reading.why_not(WINNER))
    if choice.label == CANNOT:
        return Unscored(f"abstained: {choice.reason or CANNOT}")
    return dict(zip(LABELS, order, strict=True)).get(choice.label, TIE)
