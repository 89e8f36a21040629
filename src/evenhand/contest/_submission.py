"""A submission: whose it is, when it came, what it says, and which one it revises."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evenhand.contest._names import name_fault, one_name
from evenhand.contest._times import kept_moment, moment_faults
from evenhand.errors import ContestError, Fault

NAMES = ("id", "author", "revises")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One text handed in for a task. Names that differ only in what cannot be seen are one name."""

    id: str
    author: str
    at: datetime
    text: str
    revises: str | None = None

    def __post_init__(self) -> None:
        names = {name: getattr(self, name) for name in NAMES if getattr(self, name) is not None}
        wrong = {name: name_fault(given) for name, given in names.items()}
        faults = [Fault(f"{name} {why}", path=(name,)) for name, why in wrong.items() if why]
        faults += moment_faults(self.at, "at")
        if faults:
            raise ContestError(*faults)
        for name, given in names.items():
            object.__setattr__(self, name, one_name(given))
        object.__setattr__(self, "at", kept_moment(self.at, "at"))
