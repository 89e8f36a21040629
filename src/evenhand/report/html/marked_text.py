"""A text cut at the marks that lie over it, and the words that it does not share with another."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from difflib import SequenceMatcher
from itertools import pairwise

MOST_COMPARED_TOKENS = 2_000  # Words of each text, else lines; comparing takes time that grows with their product.
LONGEST_SHOWN_TEXT = 60_000  # Characters of one output; a page stays small.
_WORDS = re.compile(r"\w+\s*|[^\w\s]\s*|\s+")
_LINES = re.compile(r"[^\n]*\n?")


@dataclass(frozen=True, slots=True)
class TextMark:
    """A stretch of a text, in characters; without both ends it is nowhere."""

    start: int | None
    end: int | None
    kind: str
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class MarkedPiece:
    """A piece of a text between two ends of marks, with all marks that lie over it."""

    text: str
    start: int
    kinds: tuple[str, ...] = ()
    by: tuple[str, ...] = ()

    @property
    def id(self) -> str:
        """Its name within the text."""
        return f"at{self.start}"


def split_report_text_at_marks(text: str, marks: Iterable[TextMark]) -> list[MarkedPiece]:
    """The pieces of a text in order; what is beyond the longest that is shown is left out, and said so."""
    shown = text[:LONGEST_SHOWN_TEXT]
    placed = [
        (max(0, one.start), min(one.end, len(shown)), one)
        for one in marks
        if one.start is not None and one.end is not None and max(0, one.start) < min(one.end, len(shown))
    ]
    cuts = sorted({0, len(shown), *(end for start, stop, _ in placed for end in (start, stop))})
    pieces = []
    for start, end in pairwise(cuts):
        over = [one for first, last, one in placed if first <= start and end <= last]
        kinds, by = (tuple(dict.fromkeys(values)) for values in ([one.kind for one in over], [one.by for one in over]))
        pieces.append(MarkedPiece(text=shown[start:end], start=start, kinds=kinds, by=tuple(filter(None, by))))
    if len(text) > len(shown):
        rest = f"\n… {len(text) - len(shown):,} more characters"
        pieces.append(MarkedPiece(text=rest, start=len(shown)))
    return pieces


def find_differing_report_marks(text: str, other: str) -> list[TextMark]:
    """The stretches of a text that another one has not: word by word, of long texts line by line."""
    if text == other:
        return []
    for tokens in (_WORDS, _LINES):
        ours, theirs = tokens.findall(text), tokens.findall(other)
        if len(ours) <= MOST_COMPARED_TOKENS and len(theirs) <= MOST_COMPARED_TOKENS:
            return list(_mark_unshared_report_words(ours, theirs))
    return []


def _mark_unshared_report_words(ours: list[str], theirs: list[str]) -> Iterator[TextMark]:
    starts = [0]
    for token in ours:
        starts.append(starts[-1] + len(token))
    same = SequenceMatcher(None, theirs, ours, autojunk=False).get_matching_blocks()
    at = 0
    for block in same:
        if block.b > at:
            yield TextMark(starts[at], starts[block.b], "differs")
        at = block.b + block.size
