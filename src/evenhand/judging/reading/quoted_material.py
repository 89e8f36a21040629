"""What a reply quotes of the material it judges: told apart by position and form, never because it is equal.

An answer that also stands in the material is the judge's own, unless words around it say whose it is, or it sits
under a key that nobody asked for. Where a reply holds another answer beside it, nobody can tell which is meant.
"""

from __future__ import annotations

import json
import re
from collections import deque
from collections.abc import Callable, Collection, Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import pairwise

from evenhand.judging.reading.reply_text import find_json_values_in_reply, normalize_reply_answer_name
from evenhand.judging.reading.score_mentions import NUMBER_WORDS, YES_NO_WORDS
from evenhand.model.scale import CriterionScore, Missing, Scored

GONE = "(quoted)"
WHICH_IS_QUOTED = "it gives different answers, and one of them also stands in the text it judges"
MOST_STRETCHES = 500  # The last ones: an answer stands near the end.
MOST_BOXES = 50
MOST_PLACES = 32  # Of one pair of words in the material: more tell nothing new.

_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[\u4e00-\u9fff]|[^\W\d_]+")
_MARKS = " \t\r\n\"'“”‘’`>|*_([{#-–—•「」"
_WRITER = (
    r"(?:outputs?|response|answer|text|summary|submission|author|writer|candidate|essay|document|material|passage|"
    r"assistant|model|student|content|reply|story|article|report|user|question|context|reference|it|one of them|which)"
)
_SAYS = (
    r"(?:contains?|containing|carr(?:y|ies|ying)|includes?|including|says?|saying|states?|stating|claims?|claiming|"
    r"reads?|writes?|wrote|asserts?|asserting|quotes?|lists?|embeds?|inserts?|instructs?|demands?|adds?|"
    r"declares?|announces?|insists?|requests?|(?:asks?|calls?) for|"
    r"(?:ends?|ending|begins?|starts?|opens?|closes?) with|"
    r"(?:rates?|scores?|grades?|awards?|gives?) itself)"
)
_CARRIER = (
    r"(?:block|lines?|table|sentence|statement|instructions?|note|text|words?|phrase|passage|snippet|json|object|list|"
    r"claim|message|string|verdict|scores?|ratings?|grades?|evaluation|assessment|command|comment|injection|answer|"
    r"paragraph|header|footer|result)"
)
_FILLING = r"(?: (?:that|the|this|these|a|an|its|own|following|one|such|false|fake|of|as|at|in|end|self-\w+|\w+ed))"
_IGNORED = r"(?:ignor\w+|disregard\w*|reject\w*|discard\w*|dismiss\w*|disagree with|(?:not|n't) (?:accept|agree with))"
_THING = rf"{_FILLING}{{0,5}}(?: {_CARRIER}){{0,2}}(?: (?:from|in|of|by) (?:the|its) {_WRITER})?"
_BEFORE = re.compile(
    rf"\b{_WRITER}(?: [A-Z])?(?: \w+){{0,2}}? {_SAYS}{_THING}"
    rf"(?:,? (?:which|that) (?:I|we)(?: \w+)? {_IGNORED})?\s?[:,]?\Z"
    rf"|\b(?:{_IGNORED}|quot(?:e|es|ed|ing)|injected|planted|verbatim|self-\w+){_THING}\s?:?\Z"
    r"|\b(?:attempt|manipulation|injection|trick)(?: \w+){0,3}\s?:\Z"
    r"|(?:输出|回答|文本|文中|原文|作者|内容|摘要)[^。！？\n]{0,12}(?:包含|写道|写着|声称|说|称|出现|含有|要求)[^。！？\n]{0,6}\Z",
    re.IGNORECASE,
)
_STANDS = (
    r"(?:stands|appears|occurs|comes|(?:is|was) (?:quoted|copied|taken|found|written|part))(?: verbatim)? "
    rf"(?:in|from|inside|within|of|by) (?:the|its) {_WRITER}"
)
# After a quotation mark or an object.
_AFTER_MARK = re.compile(
    r"[ ,;:)]{0,4}(?:but |and |yet )?(?:(?:which|this|that) )?"
    r"(?:(?:I|we)(?: \w+){0,2} (?:ignor|disregard|disagree|reject|discard|dismiss|(?:not|n't) (?:agree|accept))"
    r"|(?:is|was) (?:an? )?(?:\w+ )?(?:planted|injected|injection|false|untrue|wrong|nonsense|lie|unjustified|"
    r"unearned|unwarranted|not (?:true|mine|my)|attempt)|(?:says|claims|writes|states|reads) (?:the|its) "
    rf"|(?:is|was) (?:in|from) (?:the|its) {_WRITER}|{_STANDS})",
    re.IGNORECASE,
)
# In a sentence of its own only what cannot be about the work.
_AFTER = re.compile(
    rf"[ ,.;:)|\n]{{0,4}}(?:(?:this|that|the above|which)(?: {_CARRIER})? {_STANDS}"
    rf"|so (?:the|its) {_WRITER} (?:says|claims|writes))",
    re.IGNORECASE,
)
_CLOSES = re.compile(r"\A[.!?,| ]{0,3}[\"'”’`」]")
_BOX = re.compile(r"\[\[[^\[\]\n]{1,60}\]\]|\\boxed\{[^{}\n]{1,60}\}")
_UNQUOTED = re.compile(r"[^\"“”「」`]+")
_IS_BETTER = re.compile(r"\)? (?:is|wins|should be)(?: \w+){0,3}")
_MINE = re.compile(r"\bmy\b", re.IGNORECASE)


_WordPairs = tuple[list[str], dict[tuple[str, str], list[int]]]


@dataclass(frozen=True, slots=True)
class _RepeatedStretch:
    """A stretch of a reply that also stands in the material: words, or the JSON value that it is."""

    start: int
    end: int
    words: tuple[str, ...] = ()
    data: object = None


class JudgedMaterial:
    """The texts that a judge was shown, and what of a reply also stands in them."""

    def __init__(self, pieces: Sequence[str]) -> None:
        self.pieces = pieces

    @cached_property
    def objects(self) -> set[str]:
        """Every JSON object in the material, also inside others."""
        return _serialize_objects_in_material(self.pieces)

    @cached_property
    def pairs(self) -> _WordPairs:
        """All words of the material, and where each pair of them stands."""
        return _index_judged_word_pairs(self.pieces)

    def cut_quoted(self, reply: str, names: Collection[str] = ()) -> str:
        """The reply without what it says to be the material's, in words or by a key that is none of the names."""
        reply = _cut_reply_values_under_foreign_keys(reply, self, names)
        return _cut_reply_stretches(
            reply, [one for one in self._find_repeated(reply) if _does_reply_attribute_quote(reply, one)]
        )

    def cut_repeated(self, reply: str, data: object, values: Collection[Fraction | str]) -> str:
        """The reply without the answer that was read in it, wherever that also stands in the material.

        What is left holds another answer only where the judge gave two. What closes a reply in prose is its last
        word, and is left in place.
        """
        words = {word for value in values for word in _spell_reply_answer(value)}
        repeated = [
            one
            for one in self._find_repeated(reply)
            if (one.data == data if data is not None else words & set(one.words) and not _closes_reply(reply, one))
        ]
        return _cut_reply_stretches(reply, repeated)

    def _find_repeated(self, reply: str) -> list[_RepeatedStretch]:
        """JSON values that stand in the material, and the longest runs of words with an answer in them that do."""
        values = [value for value in find_json_values_in_reply(reply) if isinstance(value.data, dict)]
        gaps = list(zip([0, *(one.end for one in values)], [*(one.start for one in values), len(reply)], strict=True))
        if not any(_WORD.search(reply, start, end) for start, end in gaps) and len(values) < 2:
            return []  # Nothing but one answer: whose should it be?
        found = [
            _RepeatedStretch(value.start, value.end, data=value.data)
            for value in values
            if _serialize_reply_quotation(value.data) in self.objects
        ]
        found += [
            _RepeatedStretch(*box.span(), words=tuple(_WORD.findall(box.group().casefold())))
            for box in deque(_BOX.finditer(reply), maxlen=MOST_BOXES)
            if any(box.group() in piece for piece in self.pieces)
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
    values = [value.data for value in find_json_values_in_reply(own) if isinstance(value.data, dict)]
    for data in (values[-1], None) if len(values) > 1 else (None,):
        other = read(shown.cut_repeated(own, data, [score.value]))
        if isinstance(other, Scored) and other.value != score.value:
            return Missing.unreadable(WHICH_IS_QUOTED)
    return score


def _cut_reply_stretches(text: str, stretches: Sequence[_RepeatedStretch]) -> str:
    parts, at = [], 0
    for one in stretches:
        if one.start >= at:
            parts += [text[at : one.start], GONE]
            at = one.end
    return "".join([*parts, text[at:]])


def _does_reply_attribute_quote(text: str, one: _RepeatedStretch) -> bool:
    """Whether the words right before or after it say that it is not the judge's."""
    before = text[max(0, one.start - 200) : one.start].rstrip(_MARKS)
    sentence = re.split(r"[.!?。！？]\s|\n", before)[-1].rstrip(":：") + ":" * before.endswith((":", "："))
    if _BEFORE.search(sentence) and not _MINE.search(sentence):
        return True
    rest = text[one.end : one.end + 120]
    after = _CLOSES.sub("", rest)
    marked = one.data is not None or after != rest
    return _AFTER.match(after) is not None or (marked and _AFTER_MARK.match(after) is not None)


def _closes_reply(text: str, one: _RepeatedStretch) -> bool:
    quoted = text[one.end : one.end + 1] in ('"', "”", "’", "」") or text[max(0, one.start - 1) : one.start] in (
        '"',
        "“",
        "‘",
        "「",
    )
    if quoted or one.data is not None:
        return False
    chosen = not any(word[0].isdigit() for word in one.words) and _IS_BETTER.match(text, one.end)
    return not _WORD.search(text, chosen.end() if chosen else one.end)


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
        while run and not (run[-1][0].isdigit() or run[-1] in _ANSWERS or len(run[-1]) == 1):
            run.pop()  # It ends with an answer: what follows may be the judge's words again.
        if run:
            yield _RepeatedStretch(tokens[at][1], tokens[at + len(run) - 1][2], tuple(run))
        at += max(1, longest)


def _count_words_common_with_reply(words: list[str], at: int, known: list[str], start: int) -> int:
    length = 0
    while at + length < len(words) and start + length < len(known) and words[at + length] == known[start + length]:
        length += 1
    return length


_ANSWERS = frozenset([*NUMBER_WORDS, *YES_NO_WORDS, "tie", "draw", "equal"])


def _spell_reply_answer(value: Fraction | str) -> Iterator[str]:
    """How an answer may be written."""
    if isinstance(value, str):
        yield value.casefold()
        return
    yield f"{float(value):g}"
    if value.denominator == 1 and 0 <= value < len(NUMBER_WORDS):
        yield NUMBER_WORDS[int(value)]
    if value in (0, 1):
        yield from YES_NO_WORDS


# Where answers stand in a form, and what models put around one.
_HOLDERS = frozenset([
    "criteria", "scores", "ratings", "responses", "answers", "answer", "result", "results", "evaluation", "evaluations",
    "assessment", "assessments", "judgment", "judgments", "judgement", "judgements", "review", "reviews", "redflags",
    "bonuses", "submissions", "items", "dimensions", "final", "finalanswer", "json", "data", "score", "rating",
])  # fmt: skip


def _cut_reply_values_under_foreign_keys(text: str, shown: JudgedMaterial, names: Collection[str]) -> str:
    """Objects inside the reply's own that stand in the material, under a key that was not asked for."""
    asked = _HOLDERS | {normalize_reply_answer_name(name) for name in names}
    values = [value for value in find_json_values_in_reply(text) if _has_foreign_objects_in_reply(value.data, asked)]
    parts, at = [], 0
    for value in values:
        kept = _prune_values_quoted_in_reply(value.data, asked, shown.objects)
        if kept is not value.data:
            parts += [text[at : value.start], json.dumps(kept, default=str)]
            at = value.end
    return "".join([*parts, text[at:]])


def _has_foreign_objects_in_reply(data: object, asked: Collection[str]) -> bool:
    if isinstance(data, list):
        return any(_has_foreign_objects_in_reply(entry, asked) for entry in data)
    return isinstance(data, dict) and any(
        isinstance(below, (dict, list))
        and (normalize_reply_answer_name(str(key)) not in asked or _has_foreign_objects_in_reply(below, asked))
        for key, below in data.items()
    )


def _prune_values_quoted_in_reply(
    data: object, asked: Collection[str], known: Collection[str], foreign: bool = False
) -> object:
    """The value without what is quoted; the same object where nothing is."""
    if isinstance(data, dict):
        if foreign and data and _serialize_reply_quotation(data) in known:
            return GONE
        kept = {
            key: _prune_values_quoted_in_reply(below, asked, known, normalize_reply_answer_name(str(key)) not in asked)
            for key, below in data.items()
        }
        return kept if any(kept[key] is not data[key] for key in data) else data
    if isinstance(data, list):
        entries = [_prune_values_quoted_in_reply(entry, asked, known, foreign) for entry in data]
        return entries if any(new is not old for new, old in zip(entries, data, strict=True)) else data
    return data


def _serialize_objects_in_material(material: Sequence[str]) -> set[str]:
    objects = set()
    waiting = [value.data for one in material if "{" in one for value in find_json_values_in_reply(one)]
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict) and value:
            objects.add(_serialize_reply_quotation(value))
        waiting += value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return objects


def _serialize_reply_quotation(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)
