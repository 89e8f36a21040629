"""Questions to a judge: rounds of requests out, replies in; an unreadable reply is asked for once more and then
left unread.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Generic, TypeVar

from evenhand.judging.prompts import MaterialPiece, Prompts
from evenhand.judging.reading.reply_text import cut_quoted_material_from_reply, find_judge_refusal
from evenhand.model.scale import Missing
from evenhand.models.requests import NoReply, Reply, Request

T = TypeVar("T")
R = TypeVar("R")
RequestRound = tuple[Request, ...]
RoundReplies = Sequence[Reply | NoReply]
# Yields a round of requests, all of which may be sent at once, is sent their replies in the same order, and returns.
Dialogue = Generator[RequestRound, RoundReplies, R]

MOST_FAULTS = 20
# Words of the reply in a fault: they are for people, not for the judge.
_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|[“‘][^”’]*[”’]""")
LONGEST_FAULT = 300


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplyReading(Generic[T]):
    """What was read: items by id, faults by id, or one reason why there is nothing at all."""

    items: Mapping[str, T] = field(default_factory=dict)
    faults: Mapping[str, str] = field(default_factory=dict)
    unread: Missing | None = None
    data: object = None

    def explain_missing(self, id: str) -> Missing:
        """Why an item is missing."""
        return self.unread or Missing("unreadable", self.faults.get(id, "no answer was given"))


@dataclass(frozen=True, slots=True)
class JudgeQuestion(Generic[T]):
    """A request and how to read the reply to it."""

    request: Request
    read: Callable[[str], ReplyReading[T]]
    pieces: Sequence[MaterialPiece] = ()  # What of it a reply may quote, which is then not the judge's answer.


def ask_questions(questions: Sequence[JudgeQuestion[T]], prompts: Prompts) -> Dialogue[list[ReplyReading[T]]]:
    """Ask all questions at once; those whose reply has a fault are asked once more, the fault named."""
    replies = yield tuple(question.request for question in questions)
    readings = [_read_judge_reply(question, reply, prompts) for question, reply in zip(questions, replies, strict=True)]
    wrong = [place for place, reading in enumerate(readings) if reading.faults]
    if wrong:
        again = yield tuple(_build_repair_request(questions[at].request, readings[at], prompts) for at in wrong)
        for at, reply in zip(wrong, again, strict=True):
            readings[at] = _merge_repaired_reading(readings[at], _read_judge_reply(questions[at], reply, prompts))
    return readings


def _read_judge_reply(question: JudgeQuestion[T], reply: Reply | NoReply, prompts: Prompts) -> ReplyReading[T]:
    if isinstance(reply, NoReply):
        return ReplyReading(unread=explain_silent_judge(reply))
    quotable = [text for _, _, text in question.pieces if "{" in text or "[" in text]
    reading = question.read(cut_quoted_material_from_reply(reply.text, quotable) if quotable else reply.text)
    if not reading.items:
        refused = reply.text.strip() if reply.stop == "refusal" else find_judge_refusal(reply.text)
        if refused:
            return ReplyReading(unread=Missing("abstained", _shorten_judge_reply_fault(refused)))
    if reply.stop == "length" and (reading.faults or reading.data is None):
        # Prose that was cut off may have lost the second half of a number: none of it counts.
        items = reading.items if reading.data is not None else {}
        return replace(reading, items=items, faults={"": prompts.say("cut_off"), **reading.faults})
    return reading


def explain_silent_judge(reply: NoReply) -> Missing:
    """What stands for the answer of a judge that did not reply."""
    return Missing("failed", f"judge failed: {reply.why}")


def _build_repair_request(request: Request, reading: ReplyReading[T], prompts: Prompts) -> Request:
    """The same request with the faults named at its end; the reply itself is not shown again.

    It may quote the output, and what stands in an output reaches a judge inside the fence or not at all.
    """
    listed = []
    for id, fault in list(reading.faults.items())[:MOST_FAULTS]:
        # The item as the judge knows it: "A/red_flags.rude" is "A: rude".
        label, slash, name = id.rpartition("/")
        name = name.removeprefix("red_flags.").removeprefix("bonuses.")
        named = f"{label}: {name}: " if slash else f"{name}: " if name else ""
        listed.append(f"- {named}{_shorten_judge_reply_fault(prompts.word_fault(_QUOTED.sub('…', fault)))}")
    note, _ = prompts.fill("repair", faults="\n".join(listed))
    last = request.messages[-1]
    messages = (*request.messages[:-1], replace(last, text=f"{last.text}\n\n{note}"))
    settings = request.settings
    if "" in reading.faults:
        settings = replace(settings, max_tokens=2 * settings.max_tokens)
    return replace(request, messages=messages, settings=settings)


def _merge_repaired_reading(first: ReplyReading[T], second: ReplyReading[T]) -> ReplyReading[T]:
    """What was read at first stands; the second reply answers only for what was wrong with the first."""
    items = {**{id: item for id, item in second.items.items() if id not in first.items}, **first.items}
    if second.unread:
        return replace(first, faults={id: fault for id, fault in first.faults.items() if id})
    faults = {id: fault for id, fault in second.faults.items() if id and id not in items}
    return ReplyReading(items=items, faults=faults, data=second.data if first.data is None else first.data)


def _shorten_judge_reply_fault(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= LONGEST_FAULT else line[: LONGEST_FAULT - 1] + "…"
