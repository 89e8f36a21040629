"""The answers in a reply: from its last fitting JSON value, else from its tables, else from its prose."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.judging.reading._bands import band_in
from evenhand.judging.reading._blocks import answering, values_in
from evenhand.judging.reading._graded import Weight
from evenhand.judging.reading._named import read_named
from evenhand.judging.reading._names import names_of
from evenhand.judging.reading._plain import plain
from evenhand.judging.reading._prose import read_prose, without_scale
from evenhand.judging.reading._refusal import refusal_in
from evenhand.judging.reading._shapes import TWICE, answers_from
from evenhand.judging.reading._tables import read_tables
from evenhand.judging.reading._values import Answer, Found, Value, Wanted
from evenhand.model import CriterionScore, Scale, Scored, Unscored

MOST_PROSE = 60_000  # More is no reply; what counts in it stands at its end.
MOST_VALUES = 500
_Reading = tuple[Value, dict[str, Answer]]


def read_answers(text: str, wanted: Sequence[Wanted]) -> Found:
    """The answers to what was asked, as far as the reply gives them.

    The last complete JSON value that answers everything binds. Where a later one answers only some of it and
    contradicts, or prose after it does, nobody can tell which is meant: unreadable. Where none answers
    everything, each answer comes from the last value that has it. A value that breaks off counts only where
    no complete one answers anything, then tables, then prose.
    """
    values = values_in(text)
    readings = [(value, answers) for value in values[-MOST_VALUES:] if (answers := answers_from(value.data, wanted))]
    complete = [(value, answers) for value, answers in readings if value.complete]
    if complete:
        return _bound(text, complete, wanted) if not _goes_on(text, values, complete) else _broken_off(complete, wanted)
    if readings:
        value, answers = readings[-1]
        return Found(answers, value.data)
    return Found(_from_prose(_prose(text, values), wanted))


def read_score(text: str, scale: Scale, name: str = "") -> CriterionScore:
    """The one score that was asked for; unscored, with the reason, where the reply gives none."""
    answer = read_answers(text, (Wanted(name, scale),)).answers.get(name)
    if answer:
        return answer.score
    refusal = refusal_in(text)
    return Unscored(f"abstained: {refusal}" if refusal else "unreadable: no answer in the reply")


def _bound(text: str, complete: list[_Reading], wanted: Sequence[Wanted]) -> Found:
    full = [at for at, (_, answers) in enumerate(complete) if len(answers) == len(wanted)]
    bound = full[-1] if full else len(complete) - 1
    value, answers = complete[bound]
    if not full:
        answers = {id: answer for _, given in complete for id, answer in given.items()}
    later = [given for _, given in complete[bound + 1 :]]
    if any(_differ(answers[id], answer) for given in later for id, answer in given.items()):
        return Found({id: Answer(TWICE) for id in answers}, value.data)
    rest = text[complete[-1][0].end :]
    if not rest.strip():
        return Found(answers, value.data)
    said = _from_prose(_prose(rest, ()), wanted, Weight.LABEL)
    contradicted = {id for id, answer in said.items() if id in answers and _differ(answers[id], answer)}
    return Found({id: Answer(TWICE) if id in contradicted else answer for id, answer in answers.items()}, value.data)


def _goes_on(text: str, values: Sequence[Value], complete: list[_Reading]) -> bool:
    """Whether the reply breaks off in an object after its last answer: perhaps it was about to say otherwise."""
    last = values[-1]
    cut = not last.complete and last.end == len(text) and isinstance(last.data, dict)
    return cut and last.start >= complete[-1][0].end


def _broken_off(complete: list[_Reading], wanted: Sequence[Wanted]) -> Found:
    value, answers = complete[-1]
    why = Unscored("unreadable: the reply breaks off in a second answer")
    return Found({one.id: Answer(why) for one in wanted if one.id in answers}, value.data)


def _differ(one: Answer, other: Answer) -> bool:
    both = isinstance(one.score, Scored) and isinstance(other.score, Scored)
    return both and one.score.value != other.score.value  # type: ignore[union-attr]


def _prose(text: str, values: Sequence[Value]) -> str:
    """The reply without thinking and without its objects: a number that was cut off inside one is no prose."""
    objects = [value for value in values if isinstance(value.data, dict) or _holds_objects(value.data)]
    parts = []
    for begins, ends in answering(text):
        at = begins
        for value in objects:
            if begins <= value.start < ends:
                parts.append(text[at : value.start])
                at = value.end
        parts.append(text[at:ends])
    return plain("\n".join(parts)[-MOST_PROSE:])


def _holds_objects(data: object) -> bool:
    return isinstance(data, list) and any(isinstance(item, dict) or _holds_objects(item) for item in data)


def _from_prose(text: str, wanted: Sequence[Wanted], least: Weight = Weight.BARE) -> dict[str, Answer]:
    tables = read_tables(text, wanted) if "|" in text else {}
    text = "\n".join(line for line in text.split("\n") if line.count("|") < 2)
    rest = [one for one in wanted if one.id not in tables]
    if len(wanted) != 1:
        return {**tables, **read_named(text, rest, max(least, Weight.SHARE))}
    for one in rest:
        score = read_prose(without_scale(text, one.scale), one.scale, names_of(wanted), least)
        if score is not None:
            return {one.id: Answer(band_in(text, one.scale, score), text.strip())}
    return tables
