"""Reading challenges: a JSONL file, in order of time."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evenhand.contest._challenge import Challenge
from evenhand.contest._names import is_blank
from evenhand.contest._read_lines import objects_in
from evenhand.contest._values import Values
from evenhand.errors import ContestError, Fault

CHALLENGE_FIELDS = frozenset(("by", "at", "reason"))
EXAMPLE = '{"by": "heron", "at": "2026-12-02T09:00:00Z", "reason": "…"}'


def load_challenges(path: Path) -> tuple[Challenge, ...]:
    """The challenges in a JSONL file, the earliest first; of those at one moment, as they stand in the file."""
    faults: list[Fault] = []
    found = []
    for where, given in objects_in(path, EXAMPLE, faults):
        told = len(faults)
        challenge = _challenge(Values(given, CHALLENGE_FIELDS, faults))
        faults[told:] = [replace(fault, where=where) for fault in faults[told:]]
        if challenge is not None:
            found.append(challenge)
    if faults:
        raise ContestError(*faults)
    return tuple(sorted(found, key=lambda challenge: challenge.at))


def _challenge(values: Values) -> Challenge | None:
    by, at, reason = values.name("by"), values.moment("at"), values.text("reason")
    if reason is not None and is_blank(reason):
        values.faults.append(Fault("reason cannot be empty", "say what is doubted", ("reason",)))
    return None if by is None or at is None or reason is None else Challenge(by=by, at=at, reason=reason)
