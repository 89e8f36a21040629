"""A challenge: who doubts the ranking, when, and why."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """That an author asks for the ranking to be looked at by a panel that did not make it."""

    by: str
    at: datetime
    reason: str
