"""A text with passages marked in it: what judges quoted, and what a guard found."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from evenhand.report.contest._contest import Contest, Json

MOST = 60_000  # Characters of a text that are shown: some twenty pages.
AROUND = 90  # Characters beside a passage that is shown on its own.


@dataclass(frozen=True, slots=True)
class Piece:
    """A stretch of text, with what marks it."""

    text: str
    kind: str = ""


def marked_text(contest: Contest, id: str) -> tuple[list[Piece], int]:
    """The text of a submission in pieces, and how many characters of it are left out."""
    sent = contest.sent(id)
    text = sent["submission"]["text"]
    marks = [(one["start"], one["end"], "flag") for one in sent["findings"]]
    alone = contest.happened("scored", id) or {}
    marks += [(quote["start"], quote["end"], "evidence")
              for one in alone.get("judgments", ()) for quote in one["evidence"]]  # fmt: skip
    return list(_cut(text[:MOST], marks)), max(len(text) - MOST, 0)


def in_context(text: str, finding: Json) -> list[Piece]:
    """A passage with some words before and after it."""
    start, end = finding["start"], finding["end"]
    begin, stop = max(start - AROUND, 0), min(end + AROUND, len(text))
    before = ("…" if begin else "") + text[begin:start]
    after = text[end:stop] + ("…" if stop < len(text) else "")
    return [Piece(before), Piece(text[start:end], "flag"), Piece(after)]


def _cut(text: str, marks: Iterable[tuple[int, int, str]]) -> Iterator[Piece]:
    """The text in order; of passages that overlap the later one loses what the earlier one has."""
    last = 0
    for start, end, kind in sorted(set(marks)):
        begin, stop = max(start, last), min(end, len(text))
        if begin < stop:
            yield from (Piece(text[last:begin]), Piece(text[begin:stop], kind))
            last = stop
    yield Piece(text[last:])
