"""Stretches of a reply that also stand in the material: where they are, and the reply without them."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate

from evenhand.judging.reading.json_answers import QUOTED
from evenhand.judging.reading.quotation_signs import LONGEST_SENTENCES, is_quotation_disowned
from evenhand.judging.reading.repeated_words import split_reply_words
from evenhand.judging.reading.reply_text import (
    find_broken_json_in_reply,
    find_json_values_in_reply,
    holds_reply_json_object,
    spell_answer_shapes,
)
from evenhand.judging.reading.tolerant_json import ReplyValue

_FENCE = re.compile(r"(?:```|~~~)\w*")
# No character at all, by Unicode: it is taken out of a reply before anything is marked, and no entity spells it.
_SIGN = "\ufdd0"
GONE = f"({_SIGN}{QUOTED[1:]}"  # Around it nothing changes.


def drop_marks_of_ours(reply: str) -> str:
    """A reply that cannot be taken for one in which something was marked."""
    return reply.replace(_SIGN, "")


def show_marks(text: str) -> str:
    """A text as it is read and shown: where something is gone it says so."""
    return text.replace(GONE, QUOTED)


@dataclass(frozen=True, slots=True)
class RepeatedStretch:
    """A stretch of a reply that also stands in the material: some words, or a JSON value."""

    start: int
    end: int
    words: tuple[str, ...]
    is_value: bool = False
    is_cut: bool = False  # A value that breaks off.
    has_text: bool = False  # A value with a sentence in it, or a name: two are not alike by chance.


def mark_reply_value(reply: str, value: ReplyValue) -> RepeatedStretch:
    """A JSON value of a reply as a stretch of it."""
    words, has_text = split_reply_words(reply[value.start : value.end]), any(spell_answer_shapes(value.data))
    return RepeatedStretch(value.start, value.end, words, is_value=True, has_text=has_text)


def cut_reply_stretches(text: str, stretches: Sequence[RepeatedStretch]) -> str:
    """The text with a mark in place of each stretch."""
    parts, at = [], 0
    for one in stretches:
        if one.start >= at:
            parts += [text[at : one.start], GONE]
            at = one.end
    return "".join([*parts, text[at:]])


def drop_reply_stretches_inside_values(found: Sequence[RepeatedStretch], reply: str) -> list[RepeatedStretch]:
    """Without what stands inside a JSON value: evidence quotes too, and is no answer.

    Where a value breaks off, this holds for the marks that JSON itself has: what is left of a value that was cut into
    stands nowhere in the material, and would pass for the judge's own. Other marks may be the judge's, around more.
    """
    values = find_json_values_in_reply(reply)
    cut = [one for one in values if not one.complete and holds_reply_json_object(one.data)]
    whole = [one for one in values if one.complete]
    plain, every = _ValuePlaces.sort(whole), _ValuePlaces.sort([*whole, *cut, *find_broken_json_in_reply(reply)])

    def is_inside(one: RepeatedStretch) -> bool:
        mark = reply[one.start - 1 : one.start]
        return (every if mark in ('"', "'") else plain).surround(one.start)

    return [one for one in found if not is_inside(one)]


@dataclass(frozen=True, slots=True)
class _ValuePlaces:
    """Where values begin, in their order, and how far those up to each of them reach."""

    starts: list[int]
    ends: list[int]

    @classmethod
    def sort(cls, values: Sequence[ReplyValue]) -> _ValuePlaces:
        spans = sorted((one.start, one.end) for one in values)
        return cls([start for start, _ in spans], list(accumulate((end for _, end in spans), max)))

    def surround(self, place: int) -> bool:
        """Whether a place is inside one of them."""
        at = bisect_left(self.starts, place)
        return at > 0 and self.ends[at - 1] > place


def list_disowned_reply_values(reply: str, repeated: Sequence[RepeatedStretch]) -> Iterator[RepeatedStretch]:
    """The values of which the sentences around them say that they are quoted; values side by side share these."""
    starts = [value.start for value in find_json_values_in_reply(reply) if holds_reply_json_object(value.data)]
    rows: list[list[RepeatedStretch]] = []
    for one in (one for one in repeated if one.is_value or one.is_cut):
        is_beside = bool(rows) and not split_reply_words(_FENCE.sub("", reply[rows[-1][-1].end : one.start]))
        rows[-1:] = [[*rows[-1], one]] if is_beside else [*rows[-1:], [one]]
    for row in rows:
        before = reply[max(0, row[0].start - LONGEST_SENTENCES) : row[0].start]
        end = min((start for start in starts if start >= row[-1].end), default=None)
        if is_quotation_disowned(before, reply[row[-1].end : end], is_last=end is None):
            yield from row
