"""Sentences of an output with their places: the smallest thing that can be quoted as what decided."""

from __future__ import annotations

import re
from dataclasses import dataclass

# An end mark followed by space, a Chinese end mark, or the end of a line.
_END = re.compile(r"(?<=[.!?])[\"'”’)\]*_]*\s+(?=\S)|(?<=[。！？；])|\n+")
# An abbreviation, an initial or the number of an item, after which a full stop ends nothing.
_ABBREVIATED = re.compile(
    r"(?:\b(?:e\.g|i\.e|etc|vs|approx|Dr|Mr|Mrs|Ms|St|Fig|Inc|Ltd|p|pp|cf|al)\.|\b[A-Z]\.)\s*$|(?:^|\n)\s*\d{1,3}\.$"
)
# How a line begins that is an item, a heading, a quotation, a row of a table or a code fence.
_ITEM = re.compile(r"\s*(?:[-*•‣–+#>|]|\(?\d{1,3}[.):]\s|```)")
WRAPPED = 60  # A line at least so long that ends without a mark goes on in the next one.
LONGEST = 600  # What runs on without an end mark is cut, so that a quotation stays readable.


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence or line, without the space around it."""

    text: str
    start: int


def sentences_of(text: str) -> list[Sentence]:
    """The sentences of a text in order, list items and headings on lines of their own."""
    found: list[Sentence] = []
    start = 0
    for match in _END.finditer(text):
        if _goes_on(text, start, match):
            continue
        found += _pieces(text, start, match.end())
        start = match.end()
    return found + _pieces(text, start, len(text))


def shown(passage: str, most: int) -> str:
    """A passage as a reason shows it: on one line, and cut where it is long."""
    line = " ".join(passage.split())
    return line if len(line) <= most else line[: most - 1] + "…"


def _goes_on(text: str, start: int, end: re.Match[str]) -> bool:
    """Whether the sentence goes on: after an abbreviation, or in a paragraph whose lines are cut at a width."""
    if "\n" not in end.group():
        before, after = text[max(0, end.start() - 8) : end.start()], text[end.end() : end.end() + 1]
        return bool(_ABBREVIATED.search(before)) or (before.endswith("No.") and after.isdigit())
    line = text[max(start, text.rfind("\n", 0, end.start()) + 1) : end.start()].rstrip()
    after = text[end.end() : end.end() + 8]
    if end.group().count("\n") > 1 or not line or line[-1] in ".!?:;。！？；|" or _ITEM.match(after):
        return False
    return after[:1].islower() or len(line) >= WRAPPED


def _pieces(text: str, start: int, end: int) -> list[Sentence]:
    pieces = []
    for at in range(start, end, LONGEST):
        piece = text[at : min(end, at + LONGEST)]
        bare = piece.strip()
        if bare:
            pieces.append(Sentence(bare, at + piece.index(bare[0])))
    return pieces
