"""A challenge: who doubts the ranking, when, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from evenhand.contest._names import name_fault, one_name
from evenhand.contest._times import kept_moment, moment_faults
from evenhand.errors import ContestError, Fault


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """That an author asks for the ranking to be looked at by a panel that did not make it."""

    by: str
    at: datetime
    reason: str

    def __post_init__(self) -> None:
        why = name_fault(self.by)
        faults = [*([Fault(f"by {why}", path=("by",))] if why else []), *moment_faults(self.at, "at")]
        if faults:
            raise ContestError(*faults)
        object.__setattr__(self, "by", one_name(self.by))
        object.__setattr__(self, "at", kept_moment(self.at, "at"))
