"""A piece of work: one sample, one repeat, and whose output it is about."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(slots=True)
class Work:
    """What is being asked about, and what asking has come to so far; `variant` is empty where it is about several."""

    position: int
    repeat: int
    variant: str = ""
    keys: list[str] = field(default_factory=list)  # Of the calls that it rests on.
    unanswered: int = 0  # Calls that failed and may go well another time.
