"""Words as the embedded judge compares them: stems with their places, and which of them carry content."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evenhand.judging.embedded._stems import stem

# Words in Latin, Greek or Cyrillic letters; Chinese, Japanese and Korean by character, as they have no spaces.
_WORD = re.compile(r"[^\W\d_]+(?:['’][^\W\d_]+)?")
_HAN = re.compile(r"[\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word of a text: as it stands, its stem, and its place."""

    raw: str
    stem: str
    start: int
    end: int


def words_of(text: str) -> list[Word]:
    """Every word of a text in order; numbers are values, not words."""
    found = []
    for match in _WORD.finditer(text):
        raw = match.group()
        if raw.isascii() or not _HAN.search(raw):
            found.append(Word(raw, stem(raw), *match.span()))
        else:
            start = match.start()
            found += [Word(raw[at], raw[at], start + at, start + at + 1) for at in range(len(raw))]
    return found


def lowered(text: str) -> str:
    """In lower case, with the four letters that a pattern that ignores case takes for i, k or s."""
    return text.translate(_ODD_LETTERS).lower()


_ODD_LETTERS = str.maketrans("ıİſ\N{KELVIN SIGN}", "iisk")

# Words that say how something is said, or nothing: they stand in criteria and need not stand in outputs.
_SAY_NOTHING = """
a an the this that these those it its they them their he she his her him we our us you your i me my one ones and or
but if then than so as of in on at to for from by with about into over under between during per via is are was were
be been being am do does did has have had will would shall should can could may might must there here what which who
whom whose when where why how whether not no nor any some all both each every also just only very more most much
many such other same own too still even yet out up down off reply replies answer answers output response responses
text email message summary report note notes author writer reader article document page post review comment section
paragraph sentence model assistant mention mentions mentioned say says said state states stated stating tell tells
explain explains explained describe describes give gives given provide provides include includes including contain
contains name names naming identify identifies specify specifies point points indicate indicates list lists cite
cites make makes clear clearly explicitly correctly correct least exactly following using use present required need
needs cannot without never against reports set sets refer refers reference cover covers address addresses
"""
EMPTY = frozenset(map(stem, _SAY_NOTHING.split()))
