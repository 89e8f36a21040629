"""How the page names what the machine says: statuses with a mark each, phases, lengths of time."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

Stage = Literal["open", "ahead", "closed"]  # Ahead: closed only if nothing more comes until then.


@dataclass(frozen=True, slots=True)
class Look:
    """A mark, a word and a tone: nobody has to tell colours apart."""

    mark: str
    word: str
    tone: str


STATUSES = {
    "won": Look("★", "won", "good"),
    "scored": Look("✓", "scored", "plain"),
    "below_threshold": Look("▽", "below the threshold", "warn"),
    "gate_passed": Look("✓", "passed the gate", "plain"),
    "submitted": Look("…", "waits for the gate", "calm"),
    "superseded": Look("↷", "superseded", "calm"),
    "unjudged": Look("–", "not judged", "calm"),
    "gate_failed": Look("✕", "failed the gate", "bad"),
    "policy_violation": Look("✕", "broke the rules", "bad"),
}
FIRST: dict[Stage, Look] = {
    "open": Look("☆", "first, not final yet", "warn"),
    "ahead": Look("☆", "wins if nothing more comes", "good"),
    "closed": STATUSES["won"],
}
MODES = {
    "quality_first": "quality first: the best at the deadline wins",
    "fastest_first": "fastest first: the first that passes wins",
}


def look(status: str, stage: Stage) -> Look:
    """How a status looks; a winner is one once the contest is closed."""
    if status == "won":
        return FIRST[stage]
    return STATUSES.get(status, Look("·", status.replace("_", " "), "calm"))


def lasting(seconds: float) -> str:
    """A length of time in whole days, hours or minutes, as people set it."""
    for unit, length in (("day", 86400), ("hour", 3600), ("minute", 60)):
        if seconds >= length and seconds % length == 0:
            number = round(seconds / length)
            return f"{number} {unit}" if number == 1 else f"{number:,} {unit}s"
    return f"{seconds:g} seconds" if seconds else "none"
