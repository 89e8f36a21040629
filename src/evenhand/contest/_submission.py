"""A submission: whose it is, when it came, what it says, and which one it revises."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evenhand.errors import ContestError, Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One text handed in for a task."""

    id: str
    author: str
    at: datetime
    text: str
    revises: str | None = None

    def __post_init__(self) -> None:
        faults = [Fault(f"{name} cannot be empty", path=(name,)) for name in ("id", "author") if not _given(self, name)]
        if self.at.tzinfo is None:
            faults.append(Fault("at needs a time zone", "as in 2026-12-01T18:00:00+01:00", ("at",)))
        if faults:
            raise ContestError(*faults)


def _given(submission: Submission, name: str) -> bool:
    return bool(getattr(submission, name).strip())
