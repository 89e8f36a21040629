"""What a reply quotes of the material it judges, and which of its answers may therefore be the author's.

An object that also stands in the material is the judge's own only where the reply is nothing else. A line, such as
"Score: 4", is too short to tell: words or marks around it, or another answer beside it, say whose it is.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import pairwise

from evenhand.judging.reading.json_answers import GONE, cut_values_under_foreign_keys, squeeze_quotation
from evenhand.judging.reading.quotation_signs import (
    LONGEST_SENTENCES,
    QUOTATION_SIGNS,
    find_introduced_quotations,
    find_marked_quotation,
    find_quoting_cells,
    is_answer_only_framed,
    is_quotation_attributed,
    is_quotation_disowned,
    is_quotation_left_open,
    is_quotation_mine,
)
from evenhand.judging.reading.reply_text import (
    find_broken_json,
    find_json_values_in_reply,
    has_too_much_json,
    holds_json_object,
    remove_thinking_marks,
    spell_answer_shapes,
    spell_json_objects,
    strip_thinking_from_reply,
)
from evenhand.judging.reading.score_mentions import (
    NUMBER_WORDS,
    YES_NO_WORDS,
    Answer,
    find_answer_value,
    spell_reply_answer,
)
from evenhand.judging.reading.tolerant_json import ReplyValue
from evenhand.model.scale import CriterionScore, Missing

WHICH_IS_QUOTED = "its answer also stands in the text it judges, and it says more: the answer alone would count"
ReadAnswers = Callable[[str], Mapping[str, Answer]]  # The answers in a text, by name; ABSTAINED is one.
MOST_STRETCHES = 500  # The last ones: an answer stands near the end.
MOST_BOXES = 50
MOST_GAPS = 8
MOST_REGIONS = 200
FIRST_MEASURED = 32
MOST_BROKEN = 20
LONGEST_QUOTATION = 2000
MOST_PLACES = 32  # Of one pair of words in the material: more tell nothing new.
_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[\u4e00-\u9fff]|[^\W\d_]+")
_SPEAKS = re.compile(r"[^\W_]|<")
_BOX = re.compile(r"[★⭐🌟]{1,20}☆{0,20}|\[\[[^\[\]\n]{1,60}\]\]|\\boxed\{[^{}\n]{1,60}\}")
_NUMBER_LINE = re.compile(r"^[^\w\n]{0,12}([0-9]{1,3}(?:[./][0-9]{1,3})?)[^\w\n]{0,12}$", re.MULTILINE)
_CONTENT = re.compile(r"[\w{\[★]")
_DIGIT_OR_STAR = re.compile(r"[0-9★⭐🌟]")
_QUOTES_ALONE = frozenset("“„«‹「『")  # In others a judge also puts an answer of its own.
_UNQUOTED = re.compile(r"[^\"“”「」`]+")
_FENCE = re.compile(r"(?:```|~~~)\w*")
_WordPairs = tuple[list[str], dict[tuple[str, str], list[int]]]


@dataclass(frozen=True, slots=True)
class _RepeatedStretch:
    """A stretch of a reply that also stands in the material: some words, or a JSON value."""

    start: int
    end: int
    words: tuple[str, ...]
    is_value: bool = False
    is_cut: bool = False  # A value that breaks off.
    has_text: bool = False  # A value with a sentence in it, or a name: two are not alike by chance.


class JudgedMaterial:
    """The texts that a judge was shown, and what of a reply also stands in them."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces

    @cached_property
    def squeezed(self) -> str:
        """All of the material without layout and quotation marks."""
        return "\0".join(map(squeeze_quotation, self.pieces))

    @cached_property
    def number_lines(self) -> set[str]:
        """The numbers that are all there is on a line of the material."""
        return {line[1] for piece in self.pieces for line in _NUMBER_LINE.finditer(piece)}

    @cached_property
    def objects(self) -> set[str]:
        """The JSON objects of the material, whatever the order of their keys and however they are written."""
        values = (value.data for piece in self.pieces for value in find_json_values_in_reply(piece))
        return {spelt for data in values for spelt in spell_json_objects(data)}

    @cached_property
    def shapes(self) -> set[str]:
        """The objects of the material without their texts, each with one of these."""
        values = (value.data for piece in self.pieces for value in find_json_values_in_reply(piece))
        return {shape for data in values for shape in spell_answer_shapes(data)}

    @cached_property
    def pairs(self) -> _WordPairs:
        """All words of the material, and where each pair of them stands."""
        return _index_judged_word_pairs(self.pieces)

    def cut_quoted(self, reply: str, names: Collection[str] = ()) -> str:
        """The reply without what it says to be the material's, in words, by marks or by a key that is no name asked."""
        if has_too_much_json(reply):
            return reply
        reply = remove_thinking_marks(reply, self._stands_in_material)
        reply = cut_values_under_foreign_keys(reply, self.squeezed, names, partial(self._is_copy_with_text, reply))
        reply = _cut_reply_stretches(reply, self._find_marked(reply))
        reply = _cut_reply_stretches(reply, self._find_introduced(reply))
        repeated = self._find_repeated(reply)
        reworded = self._find_reworded(reply, repeated)
        both = sorted([*repeated, *reworded], key=lambda one: (one.start, -one.end))
        disowned = set(_list_disowned_reply_values(reply, both))
        quoted = [
            one
            for one in both
            if one in disowned
            or is_quotation_attributed(reply, one.start, one.end, one.is_value)
            or (one.is_cut and is_quotation_left_open(reply, one.start))
        ]
        return _cut_reply_stretches(reply, quoted)

    def find_doubtful(
        self, own: str, given: Mapping[str, Answer], read: ReadAnswers, *, is_asked_again: bool = False
    ) -> set[str]:
        """The names whose answer in a reply may be the author's, because it also stands in the material.

        An object that does is left out, and the answer has to be there still, if anything at all is beside it. One
        without a text may be alike by chance: it is left out only where the judge is asked again. Beside a line
        nothing may say otherwise: neither what is left of the reply, nor what stands before, between and after it.
        """
        repeated = self._find_repeated(own)
        doubtful: set[str] = set()
        copies = [one for one in repeated if (one.is_value and (is_asked_again or one.has_text)) or one.is_cut]
        rest = _cut_reply_stretches(own, copies)
        if copies and not is_answer_only_framed(strip_thinking_from_reply(rest.replace(GONE, " "))):
            said = read(rest)
            doubtful |= {name for name, value in given.items() if said.get(name) != value}
        repeated += self._find_reworded(own, repeated)
        for part in _list_rest_of_reply(own, repeated, given.values()):
            said = read(part)
            doubtful |= {name for name, value in given.items() if said.get(name, value) != value}
        return doubtful

    def _find_marked(self, reply: str) -> list[_RepeatedStretch]:
        """What is marked as a quotation, with an answer in it; alone, only by marks that mean nothing else."""
        found: list[_RepeatedStretch] = []
        at = 0
        for _ in range(MOST_REGIONS):
            region = find_marked_quotation(reply, at)
            if region is None:
                break
            start, end, is_block = region
            length = self._measure_marked(reply, start, end, is_block)
            found += [_RepeatedStretch(start, start + length, ())] if length else []
            at = start + length + bool(length and not is_block)  # An opening mark may have been a closing one.
        for start, end in deque(find_quoting_cells(reply), maxlen=MOST_STRETCHES):
            if self._is_quotation(reply[start:end]):
                found.append(_RepeatedStretch(start, end, ()))
        found = _drop_inside_values(sorted(found, key=lambda one: one.start), reply)
        if _CONTENT.search(_cut_reply_stretches(reply, found).replace(GONE, "")):
            return found
        return [one for one in found if reply[one.start - 1 : one.start] in _QUOTES_ALONE]

    def _measure_marked(self, reply: str, start: int, end: int, is_block: bool) -> int:
        """How much of a marked region is quoted: all or nothing, but a judge may go on in the last line of a block."""
        if is_quotation_mine(reply, start):
            return 0
        if self._is_quotation(reply[start:end]):
            return end - start
        mark = reply[start - 1]
        if not is_block and mark not in "\"'":
            return 0
        length = self._measure_quotation(reply[start : end if is_block else len(reply)][:LONGEST_QUOTATION])
        if not is_block:  # JSON has such marks inside: the first one after its words closes it.
            body = reply[start : start + length].rstrip(f"{mark} \t\r\n")
            length = max(0, reply.find(mark, start + len(body), start + length) - start)
        return length if _holds_answer(reply[start : start + length]) else 0

    def _is_quotation(self, text: str) -> bool:
        if len(text) > LONGEST_QUOTATION or not _holds_answer(text):
            return False
        return self._stands_in_material(text.strip(QUOTATION_SIGNS + ".,;"))

    def _find_introduced(self, reply: str) -> list[_RepeatedStretch]:
        """What follows words such as "the output says:", as far as it stands in the material, in one paragraph."""
        found = []
        for start in deque(find_introduced_quotations(reply), maxlen=MOST_STRETCHES):
            end = reply.find("\n\n", start)
            length = self._measure_quotation(reply[start : end if end >= 0 else len(reply)][:LONGEST_QUOTATION])
            if _holds_answer(reply[start : start + length]):
                found.append(_RepeatedStretch(start, start + length, ()))
        return _drop_inside_values(found, reply)

    def _measure_quotation(self, text: str) -> int:
        """How many characters from the beginning of a text stand in the material."""
        low, high = 0, min(len(text), FIRST_MEASURED)
        while high < len(text) and self._stands_in_material(text[:high]):
            low, high = high, min(len(text), 4 * high)
        while low < high:
            middle = (low + high + 1) // 2
            low, high = (middle, high) if self._stands_in_material(text[:middle]) else (low, middle - 1)
        return low

    def _stands_in_material(self, text: str) -> bool:
        return squeeze_quotation(text) in self.squeezed

    def _holds_value(self, reply: str, value: ReplyValue) -> bool:
        return self._stands_in_material(reply[value.start : value.end]) or self._is_made_of_copies(value.data)

    def _is_copy_with_text(self, reply: str, value: ReplyValue) -> bool:
        return value.complete and any(spell_answer_shapes(value.data)) and self._holds_value(reply, value)

    def _is_made_of_copies(self, data: object, depth: int = 4) -> bool:
        """Whether a value stands in the material, or all that it holds does: some of a longer answer, say."""
        below = list(data.values()) if isinstance(data, dict) else data if isinstance(data, list) else []
        return next(spell_json_objects(data), None) in self.objects or (
            depth > 0 and bool(below) and all(self._is_made_of_copies(one, depth - 1) for one in below)
        )

    def _find_reworded(self, reply: str, repeated: Sequence[_RepeatedStretch]) -> list[_RepeatedStretch]:
        """Objects that give the answers of one in the material, with one of its texts: others may be changed."""
        known = {one.start for one in repeated if one.is_value}
        return [
            _mark_reply_value(reply, value)
            for value in find_json_values_in_reply(reply)[-MOST_STRETCHES:]
            if value.complete
            and value.start not in known
            and not self.shapes.isdisjoint(spell_answer_shapes(value.data))
        ]

    def _find_repeated(self, reply: str) -> list[_RepeatedStretch]:
        """JSON values that stand in the material, and the longest runs of words with an answer in them that do."""
        values = [value for value in find_json_values_in_reply(reply) if holds_json_object(value.data)]
        gaps = list(zip([0, *(one.end for one in values)], [*(one.start for one in values), len(reply)], strict=True))
        only_value = len(values) == 1 and values[0].complete
        if not any(_SPEAKS.search(reply, start, end) for start, end in gaps) and only_value:
            return []  # Nothing but one answer: whose should it be?
        found = [
            _mark_reply_value(reply, value)
            for value in values[-MOST_STRETCHES:]
            if value.complete and self._holds_value(reply, value)
        ]
        cut = [value for value in values if not value.complete]
        for value in [*cut[-MOST_BROKEN:], *find_broken_json(reply)[-MOST_BROKEN:]]:
            length = self._measure_quotation(reply[value.start : value.end][:LONGEST_QUOTATION])
            if _holds_answer(reply[value.start : value.start + length]):
                words = _split_words(reply[value.start : value.start + length])
                found.append(_RepeatedStretch(value.start, value.start + length, words, is_cut=True))
        found += [
            _RepeatedStretch(*box.span(), _split_words(box.group()) or (str(box.group().count(box.group()[0])),))
            for box in deque(_BOX.finditer(reply), maxlen=MOST_BOXES)
            if any(box.group() in piece for piece in self.pieces)
        ]
        found += [
            _RepeatedStretch(*line.span(1), _split_words(line[1]))
            for line in deque(_NUMBER_LINE.finditer(reply), maxlen=MOST_BOXES)
            if line[1] in self.number_lines
        ]
        # No run goes on over a quotation mark: what is quoted ends there.
        for start, end in gaps:
            for part in _UNQUOTED.finditer(reply, start, end):
                found += _find_words_repeated_in_reply(reply, *part.span(), self.pairs)
        return sorted(found, key=lambda stretch: (stretch.start, -stretch.end))[-MOST_STRETCHES:]


def read_own_score_in_reply(
    reply: str, material: Sequence[str], name: str, read: Callable[[str], CriterionScore]
) -> CriterionScore:
    """The one score of that name that the judge itself gives beside what it quotes."""
    shown = JudgedMaterial(material)
    own = shown.cut_quoted(reply, (name,))
    score = read(own)
    if isinstance(score, Missing):
        return score

    def read_answer(text: str) -> dict[str, Answer]:
        value = find_answer_value(read(text))
        return {} if value is None else {name: value}

    return Missing.unreadable(WHICH_IS_QUOTED) if shown.find_doubtful(own, {name: score.value}, read_answer) else score


def _list_rest_of_reply(reply: str, repeated: Sequence[_RepeatedStretch], values: Collection[Answer]) -> list[str]:
    """What is left of a reply without the answers that were read in it and that also stand in the material.

    First all of it, then what stands before, between and after them: another answer is in one of these only where
    the reply gave two.
    """
    words = {word for value in values for word in spell_reply_answer(value)}
    answers = sorted((one for one in repeated if words & set(one.words)), key=lambda one: (one.start, -one.end))
    if not answers:
        return []
    gaps = zip([0, *(one.end for one in answers)], [*(one.start for one in answers), None], strict=True)
    rest = [reply[start : end if end is None else reply.rfind("\n", 0, end) + 1] for start, end in gaps]
    return [_cut_reply_stretches(reply, answers), *[part for part in rest if _WORD.search(part)][-MOST_GAPS:]]


def _mark_reply_value(reply: str, value: ReplyValue) -> _RepeatedStretch:
    words, has_text = _split_words(reply[value.start : value.end]), any(spell_answer_shapes(value.data))
    return _RepeatedStretch(value.start, value.end, words, is_value=True, has_text=has_text)


def _cut_reply_stretches(text: str, stretches: Sequence[_RepeatedStretch]) -> str:
    parts, at = [], 0
    for one in stretches:
        if one.start >= at:
            parts += [text[at : one.start], GONE]
            at = one.end
    return "".join([*parts, text[at:]])


def _drop_inside_values(found: Sequence[_RepeatedStretch], reply: str) -> list[_RepeatedStretch]:
    """Without what stands in a text of a complete JSON value: evidence quotes too, and is no answer."""
    inside = [(value.start, value.end) for value in find_json_values_in_reply(reply) if value.complete]
    kept, at = [], 0
    for one in found:
        while at < len(inside) and inside[at][1] <= one.start:
            at += 1
        if at == len(inside) or not inside[at][0] < one.start:
            kept.append(one)
    return kept


def _list_disowned_reply_values(reply: str, repeated: Sequence[_RepeatedStretch]) -> Iterator[_RepeatedStretch]:
    """The values of which the sentences around them say that they are quoted; values side by side share these."""
    starts = [value.start for value in find_json_values_in_reply(reply) if holds_json_object(value.data)]
    rows: list[list[_RepeatedStretch]] = []
    for one in (one for one in repeated if one.is_value or one.is_cut):
        is_beside = bool(rows) and not _WORD.search(_FENCE.sub("", reply[rows[-1][-1].end : one.start]))
        rows[-1:] = [[*rows[-1], one]] if is_beside else [*rows[-1:], [one]]
    for row in rows:
        before = reply[max(0, row[0].start - LONGEST_SENTENCES) : row[0].start]
        end = min((start for start in starts if start >= row[-1].end), default=None)
        if is_quotation_disowned(before, reply[row[-1].end : end], is_last=end is None):
            yield from row


def _holds_answer(text: str) -> bool:
    return bool(_DIGIT_OR_STAR.search(text)) or not _ANSWERS.isdisjoint(_split_words(text))


def _index_judged_word_pairs(material: Sequence[str]) -> _WordPairs:
    words = [word for piece in material for word in (*_WORD.findall(piece.casefold()), "")]
    places: dict[tuple[str, str], list[int]] = {}
    for at, pair in enumerate(pairwise(words)):
        held = places.setdefault(pair, [])
        if len(held) < MOST_PLACES:
            held.append(at)
    return words, places


def _find_words_repeated_in_reply(text: str, begin: int, end: int, index: _WordPairs) -> Iterator[_RepeatedStretch]:
    known, places = index
    tokens = [(found.group().casefold(), *found.span()) for found in _WORD.finditer(text, begin, end)]
    words = [word for word, _, _ in tokens]
    at = 0
    while at + 1 < len(words):
        longest = max(
            (
                _count_words_common_with_reply(words, at, known, start)
                for start in places.get((words[at], words[at + 1]), ())
            ),
            default=0,
        )
        run = words[at : at + longest]
        while run and not (run[-1][0].isdigit() or run[-1] in _ANSWERS | _UNITS or len(run[-1]) == 1):
            run.pop()  # It ends with an answer: what follows may be the judge's words again.
        if run:
            yield _RepeatedStretch(tokens[at][1], tokens[at + len(run) - 1][2], tuple(run))
        at += max(1, longest)


def _split_words(text: str) -> tuple[str, ...]:
    return tuple(_WORD.findall(text.casefold()))


def _count_words_common_with_reply(words: list[str], at: int, known: list[str], start: int) -> int:
    length = 0
    while at + length < len(words) and start + length < len(known) and words[at + length] == known[start + length]:
        length += 1
    return length


_UNITS = frozenset(["star", "stars", "point", "points"])
_ANSWERS = frozenset([*NUMBER_WORDS, *YES_NO_WORDS, "tie", "draw", "equal"])
