"""Who was A, B and C to each judge: what judges wrote side by side may speak of the finalists by letter."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from string import ascii_uppercase

from evenhand.report.contest._contest import Contest

ROUNDS = {"ranked": "in the final", "resolved": "on the challenge"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Letters:
    """A judge with the letters under which the finalists were shown to it."""

    judge: str
    when: str
    given: tuple[tuple[str, str], ...]  # A letter, and the id behind it.


def letters(contest: Contest) -> Iterator[Letters]:
    """Of every judge who saw the finalists under letters; nothing where that was not kept."""
    for kind, when in ROUNDS.items():
        shown = (contest.happened(kind) or {}).get("shown") or {}
        for judge, ids in shown.items():
            yield Letters(judge=judge, when=when, given=tuple(zip(ascii_uppercase, ids, strict=False)))
