"""Words of a reply that stand in the material in the same order, with an answer at their end."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from evenhand.files.lookalikes import fold_lookalike_letters, trace_lookalike_letters
from evenhand.judging.reading.reply_text import fold_quotation_in_reply
from evenhand.judging.reading.score_mentions import NUMBER_WORDS, YES_NO_WORDS

MOST_PLACES = 32  # Of one pair of words in the material: more tell nothing new.
_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[\u4e00-\u9fff]|[^\W\d_]+")
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
