"""Text of a reply that also stands in the material: words in the same order, stretches and lines; and the reply
without it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import partial
from itertools import accumulate, islice, pairwise

from evenhand.files.lookalikes import fold_lookalike_letters, trace_lookalike_letters
from evenhand.judging.reading.json_answers import QUOTED
from evenhand.judging.reading.other_answers import mentions_another_answer, mentions_answer
from evenhand.judging.reading.quotation_signs import LONGEST_SENTENCES, is_quotation_disowned
from evenhand.judging.reading.reply_text import (
    find_broken_json_in_reply,
    find_json_values_in_reply,
    fold_quotation_in_reply,
    holds_reply_json_object,
    spell_answer_shapes,
)
from evenhand.judging.reading.score_mentions import NUMBER_WORDS, YES_NO_WORDS, Answer, spell_reply_answer
from evenhand.judging.reading.tolerant_json import ReplyValue

ReadAnswers = Callable[[str], Mapping[str, Answer]]  # The answers in a text, by name; ABSTAINED is one.
MOST_GAPS = 8
MOST_STATEMENTS = 20
MOST_POINTS = 100  # On scales that cannot be asked by one line.
_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[\u4e00-\u9fff]|[^\W\d_]+")


def find_doubtful_lines(
    reply: str, repeated: Sequence[RepeatedStretch], given: Mapping[str, Answer], read: ReadAnswers
) -> set[str]:
    """The names whose answer stands in a line of the material, and of which the reply says something else beside it.

    It says something else if what is left without such lines, or a stretch before, between or after them, has
    another answer; or if the reply says anywhere, in whatever words before it, that it gives none.
    """
    parts = _list_rest_of_reply(reply, repeated, given.values())
    if not parts:
        return set()
    doubtful = _find_given_up(reply, parts[0], given, read)
    for part in parts:
        said = read(part)
        doubtful |= {name for name, value in given.items() if said.get(name, value) != value}
    return doubtful | find_reply_answered_otherwise(parts[0], given, read)


def _list_rest_of_reply(reply: str, repeated: Sequence[RepeatedStretch], values: Collection[Answer]) -> list[str]:
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
    return [cut_reply_stretches(reply, answers), *[part for part in rest if _WORD.search(part)][-MOST_GAPS:]]


_CANNOT = (
    r"(?:cannot|can't|can not|could not|couldn't|won't|will not|would not|wouldn't|unable to|not able to|impossible to|"
    r"not possible to|refus\w+ to|declin\w+ to|unwilling to|not (?:going|willing|prepared|comfortable|qualified)|"
    r"(?:do|did)(?: not|n't) (?:want|wish|dare|feel able) to)"
)
_ASSESS = (
    r"(?:assess|judg|evaluat|scor|rate\b|rated\b|rating|grade\b|graded\b|grading|rank|determin|answer|decid|review)"
)
_ANSWER = r"(?:scores?|ratings?|grades?|verdicts?|assessments?|evaluations?|judge?ments?|answers?)"
# In English, and the most usual words of Chinese, German, Spanish and French.
_GIVES_NONE = re.compile(
    rf"\b{_CANNOT}\b[^.!?\n]{{0,40}}?\b{_ASSESS}|\b(?:abst(?:ain|en|ien)|recus)\w*"
    r"|\bn\s?/\s?a\b|\bnot applicable\b|\b(?:un|not |non-?)(?:assess|judge?|score?|rate?|grade?|evaluat|answer)able\b"
    r"|\b(?:un|not (?:be )?)(?:assessed|judged|scored|rated|graded|evaluated|answered|determined|decided)\b"
    rf"|\bno (?:\w+ )?{_ANSWER}(?=\W*(?:\Z|\n|[.!;]|(?:is|are|was|can|could|will|from|given|possible)\b))"
    rf"|\b(?:withh[eo]ld\w*|without giving|not giv\w+) (?:\w+ )?{_ANSWER}|\b(?:rather not|prefer not to)\b|\bnone given"
    r"|\b(?:i|we) (?:\w+ ){0,2}(?:refuse|decline|pass|skip)\b"
    r"|[:：=]\s*\W{0,3}(?:refus(?:ed?|al)|declined?|unknown|undetermined|undecided|skipped)\b"
    r"|\b(?:insufficient|not enough|too little) (?:information|context|evidence|material|detail)"
    r"|(?:无法|不能|不便|不会|拒绝|难以|没法|不予)[^。！？\n]{0,6}(?:评|判|打分|给分|回答|作答)|弃权|不适用"
    r"|\bnicht\b[^.!?\n]{0,30}\b(?:bewert|beurteil|einschätz|beantwort|benot)|\benthalte\b|\benthaltung"
    r"|\bkeine (?:bewertung|wertung|note|antwort)\b|\bno evaluable"
    r"|\bno (?:se )?(?:pued|podemos|es posible|quiero)[^.!?\n]{0,20}\b(?:evalu|calific|juzg|puntu|valor|respond)"
    r"|\b(?:peux|pouvons|peut|puis)[^.!?\n]{0,12}\b(?:évalu|jug|noter|répond)|\bimpossible (?:d'|de )",
    re.IGNORECASE,
)
_PLAIN = str.maketrans({**dict.fromkeys("’ʼ＇`´‘", "'"), "_": " ", "*": ""})


def _find_given_up(reply: str, rest: str, given: Mapping[str, Answer], read: ReadAnswers) -> set[str]:
    """The names of which a reply says that it gives no answer, and that it answers nowhere but in copied lines.

    A line with names of its own is about these, as in "accuracy: cannot assess"; any other is about all.
    """
    plain = reply.translate(_PLAIN)
    statements = list(islice(_GIVES_NONE.finditer(plain), MOST_STATEMENTS))
    if not statements:
        return set()
    still = read(rest)
    copied = {name for name, value in given.items() if still.get(name) != value}
    lines = {plain[plain.rfind("\n", 0, one.start()) + 1 : one.end()] for one in statements} if copied else set()
    return {name for line in lines for name in set(read(line)) or copied if name in copied}


def find_reply_answered_otherwise(rest: str, given: Mapping[str, Answer], read: ReadAnswers) -> set[str]:
    """The names that the rest of a reply does not answer, but has another number for, or a yes for a no."""
    said = read(rest)

    def is_answer(name: str, number: Fraction) -> bool:
        told, whole, value = (read(f"{name}: {float(one):g}").get(name) for one in (number, number // 1, given[name]))
        return (told or whole) is not None if value == given[name] else 0 <= number <= MOST_POINTS

    return {
        name
        for name, value in given.items()
        if not (said.get(name) == value and mentions_answer(rest, value))
        and mentions_another_answer(rest, value, partial(is_answer, name))
    }


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


MOST_PLACES = 32  # Of one pair of words in the material: more tell nothing new.
_DIGIT_OR_STAR = re.compile(r"[0-9★⭐🌟]")
WordRun = tuple[int, int, tuple[str, ...]]
WordPairs = tuple[list[str], dict[tuple[str, str], list[int]]]


def index_judged_word_pairs(material: Sequence[str]) -> WordPairs:
    """All words of the material, and where each pair of them stands."""
    words = [word for piece in material for word in (*_WORD.findall(fold_quotation_in_reply(piece)), "")]
    places: dict[tuple[str, str], list[int]] = {}
    for at, pair in enumerate(pairwise(words)):
        held = places.setdefault(pair, [])
        if len(held) < MOST_PLACES:
            held.append(at)
    return words, places


def find_words_repeated_in_reply(text: str, begin: int, end: int, index: WordPairs) -> Iterator[WordRun]:
    """Where the longest runs of words begin and end, and their words."""
    known, places = index
    tokens = list(_locate_reply_words(text, begin, end))
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
            yield tokens[at][1], tokens[at + len(run) - 1][2], tuple(run)
        at += max(1, longest)


def _locate_reply_words(text: str, begin: int, end: int) -> Iterator[tuple[str, int, int]]:
    """The words of a stretch as they are compared, and where they stand in the text."""
    part = text[begin:end]
    folded = fold_lookalike_letters(part)
    places = range(len(part)) if part.isascii() else trace_lookalike_letters(part)
    for found in _WORD.finditer(folded if len(folded) == len(places) else part.casefold()):
        first, last = (places[min(place, len(places) - 1)] for place in (found.start(), found.end() - 1))
        yield found.group(), begin + first, begin + last + 1


def _count_words_common_with_reply(words: list[str], at: int, known: list[str], start: int) -> int:
    length = 0
    while at + length < len(words) and start + length < len(known) and words[at + length] == known[start + length]:
        length += 1
    return length


def split_reply_words(text: str) -> tuple[str, ...]:
    """The words of a text as they are compared."""
    return tuple(_WORD.findall(fold_quotation_in_reply(text)))


def holds_reply_answer(text: str) -> bool:
    """Whether a text has a number, stars or another word that answers."""
    return bool(_DIGIT_OR_STAR.search(text)) or not _ANSWERS.isdisjoint(split_reply_words(text))


_UNITS = frozenset(["star", "stars", "point", "points"])
_ANSWERS = frozenset([*NUMBER_WORDS, *YES_NO_WORDS, "tie", "draw", "equal"])
