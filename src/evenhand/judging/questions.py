"""Rounds of questions to a judge, and what of its reply is its own answer: an unreadable one is asked for once more."""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Generic, TypeVar

from evenhand.judging.fence import MaterialPiece
from evenhand.judging.prompts import JudgePrompts
from evenhand.judging.reading.answer_alone import (
    find_object_asked_for,
    find_strict_json_object,
    is_reply_answer_alone,
    may_repeat_planted_answers,
)
from evenhand.judging.reading.copied_passages import blank_copied_words
from evenhand.judging.reading.reply_reader import find_refusal_beside_reasons, read_reply_score
from evenhand.judging.reading.reply_text import find_judge_refusal
from evenhand.judging.reading.score_mentions import list_answer_values
from evenhand.judging.reading.tolerant_json import escape_texts_in_reply_objects
from evenhand.model.quick_init import set_slots_directly
from evenhand.model.scale import Missing
from evenhand.models.requests import NoReply, Reply, Request

T = TypeVar("T")
R = TypeVar("R")
RequestRound = tuple[Request, ...]
RoundReplies = Sequence[Reply | NoReply]
# Yields a round of requests, all of which may be sent at once, is sent their replies in the same order, and returns.
Dialogue = Generator[RequestRound, RoundReplies, R]

MOST_FAULTS, LONGEST_FAULT = 20, 300
MAY_BE_PLANTED = Missing.unreadable(
    "its answer also stands in the text it judges, and it says more: the answer alone would count"
)

# A reason before the line, as it was asked for first, could quote the planted answer again.
LINE_ALONE = (
    "An answer to this was not accepted: the text that is judged holds one, too. Answer again with a line of this form "
    "alone, without a reason, and nothing before or after it:"
)


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeReplyReading(Generic[T]):
    """What was read: items by id, faults by id, or one reason why there is nothing at all."""

    items: Mapping[str, T] = field(default_factory=dict)
    faults: Mapping[str, Missing] = field(default_factory=dict)
    unread: Missing | None = None
    data: object = None

    def explain_missing(self, id: str) -> Missing:
        """Why an item is missing."""
        return self.unread or self.faults.get(id) or Missing("unreadable", "no answer was given")


@set_slots_directly
@dataclass(frozen=True, slots=True)
class JudgeQuestion(Generic[T]):
    """A request and how to read the reply to it."""

    request: Request
    read: Callable[[str], JudgeReplyReading[T]]
    pieces: Sequence[MaterialPiece] = ()  # What of it a reply may quote, which is then not the judge's answer.
    line: str = ""  # The form of the line that the answer is, where a reason stands before it.


def ask_judge_questions(
    questions: Sequence[JudgeQuestion[T]], prompts: JudgePrompts
) -> Dialogue[list[JudgeReplyReading[T]]]:
    """Ask all questions at once; those whose reply has a fault are asked once more, the fault named."""
    replies = yield tuple(question.request for question in questions)
    readings = [_read_judge_reply(question, reply, prompts) for question, reply in zip(questions, replies, strict=True)]
    wrong = [place for place, reading in enumerate(readings) if reading.faults]
    if wrong:
        again = yield tuple(_build_reply_repair_prompt(questions[at], readings[at], prompts) for at in wrong)
        for at, reply in zip(wrong, again, strict=True):
            second = _read_judge_reply(questions[at], reply, prompts)
            stands_alone = _replaces_first_reply(questions[at], replies[at], reply)
            readings[at] = second if stands_alone else _merge_repaired_reply_reading(readings[at], second)
    return readings


def _read_judge_reply(
    question: JudgeQuestion[T], reply: Reply | NoReply, prompts: JudgePrompts
) -> JudgeReplyReading[T]:
    if isinstance(reply, NoReply):
        return JudgeReplyReading(unread=explain_silent_judge(reply))
    text = find_own_reply_text(question, reply.text)
    reading = question.read(reply.text if text is None else text)
    if not reading.items and (text is not None or reply.stop == "refusal"):
        refused = reply.text.strip() if reply.stop == "refusal" else find_refusal_beside_reasons(reply.text)
        if refused:
            return JudgeReplyReading(unread=Missing("abstained", _shorten_judge_reply_fault(refused)))
    if text is None and (reading.items or not reading.faults):
        ids = (*reading.items, *reading.faults) or question.request.ids
        reading = JudgeReplyReading(faults=dict.fromkeys(ids, MAY_BE_PLANTED))
    if reply.stop == "length" and (reading.faults or reading.data is None):
        # Prose that was cut off may have lost the second half of a number: none of it counts.
        items = reading.items if reading.data is not None else {}
        return replace(reading, items=items, faults={"": Missing.unreadable(prompts.say("cut_off")), **reading.faults})
    return reading


def find_own_reply_text(question: JudgeQuestion[T], reply: str) -> str | None:
    """What of a reply is the judge's own answer; None where its author may have planted an answer that it repeats."""
    text, request = escape_texts_in_reply_objects(reply), question.request
    asked_for = find_object_asked_for(text, request.schema, _list_shown_names(request))
    if asked_for is not None or not question.pieces:
        return asked_for or text
    if is_reply_answer_alone(text, request.schema, request.ids, request.labels):
        return text
    pieces = [piece for _, _, piece in question.pieces]
    if may_repeat_planted_answers(text, request.schema, pieces, request.labels, partial(_read_all_answers, question)):
        return None
    return None if _rests_on_copies(question, text, pieces) else text


def _read_all_answers(question: JudgeQuestion[T], part: str) -> tuple[object, ...]:
    """All that a passage answers, to whichever criterion: a heading of the judge's own may stand above it."""
    reading, about = question.read(part), question.request.about
    asked = dict.fromkeys((one.id, one.scale) for _, one in about.asked) if about else {}
    scores = tuple(read_reply_score(part, scale, id) for id, scale in asked) if len(asked) > 1 else ()
    refused = find_judge_refusal(part) is not None
    return set(list_answer_values(reading.items)), reading.faults, reading.unread, scores, refused


def _rests_on_copies(question: JudgeQuestion[T], reply: str, texts: Sequence[str]) -> bool:
    """Whether a reply answers otherwise, or no more, without what it repeats of the judged texts.

    Where an answer stands in JSON, one may only be gone because its evidence is.
    """
    own = blank_copied_words(reply, texts)
    if own.split() == reply.split():
        return False
    whole, rest = question.read(reply), question.read(own)
    given, left = list_answer_values(whole.items), list_answer_values(rest.items)
    if not given:
        return find_judge_refusal(reply) is not None and find_judge_refusal(own) is None
    return any(left.get(id, value if whole.data is not None else None) != value for id, value in given.items())


def explain_silent_judge(reply: NoReply) -> Missing:
    """What stands for the answer of a judge that did not reply."""
    return Missing("failed", f"judge failed: {reply.why}")


def _build_reply_repair_prompt(
    question: JudgeQuestion[T], reading: JudgeReplyReading[T], prompts: JudgePrompts
) -> Request:
    """The same request with the faults named at its end, in our own words: the reply itself is not shown again.

    It may quote the output, and what stands in an output reaches a judge inside the fence or not at all.
    """
    request, listed = question.request, []
    written = _list_shown_names(request)
    for id, fault in list(reading.faults.items())[:MOST_FAULTS]:
        # The item as the judge knows it: "A/red_flags.rude" is "A: rude".
        label, slash, name = id.rpartition("/")
        name = written.get(name) or name.removeprefix("red_flags.").removeprefix("bonuses.")
        named = f"{label}: {name}: " if slash else f"{name}: " if name else ""
        listed.append(f"- {named}{prompts.word_fault(fault)}")
    note, _ = prompts.fill("repair", faults="\n".join(listed))
    if question.line and MAY_BE_PLANTED in reading.faults.values():
        note = f"{prompts.translate(LINE_ALONE)}\n\n{question.line}"
    last = request.messages[-1]
    messages = (*request.messages[:-1], replace(last, text=f"{last.text}\n\n{note}"))
    settings = request.settings
    if "" in reading.faults:
        settings = replace(settings, max_tokens=2 * settings.max_tokens)
    return replace(request, messages=messages, settings=settings)


def _list_shown_names(request: Request) -> dict[str, str]:
    """What the form calls a criterion, by its id, where these differ."""
    return {one.id: one.shown_as for _, one in request.about.asked if one.shown_as} if request.about else {}


def _replaces_first_reply(question: JudgeQuestion[T], first: Reply | NoReply, second: Reply | NoReply) -> bool:
    """Whether a second reply is the object asked for, and the first no JSON: prose may have been misread in part."""
    if isinstance(first, NoReply) or isinstance(second, NoReply):
        return False
    request, texts = question.request, [escape_texts_in_reply_objects(one.text) for one in (first, second)]
    asked_for = find_object_asked_for(texts[1], request.schema, _list_shown_names(request))
    return asked_for is not None and find_strict_json_object(texts[0]) is None


def _merge_repaired_reply_reading(first: JudgeReplyReading[T], second: JudgeReplyReading[T]) -> JudgeReplyReading[T]:
    """What was read at first stands; the second reply answers only for what was wrong with the first."""
    items = {**{id: item for id, item in second.items.items() if id not in first.items}, **first.items}
    if second.unread:
        return replace(first, faults={id: fault for id, fault in first.faults.items() if id})
    faults = {id: fault for id, fault in second.faults.items() if id and id not in items}
    return JudgeReplyReading(items=items, faults=faults, data=second.data if first.data is None else first.data)


def _shorten_judge_reply_fault(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_FAULT else line[: LONGEST_FAULT - 1] + "…"
