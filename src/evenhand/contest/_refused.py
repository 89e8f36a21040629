"""What a contest did not take, each with the reason that held when it came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.contest._challenge import Challenge
from evenhand.contest._events import Challenged, DeadlineReached, Event, Submitted, hand_in
from evenhand.contest._machine import apply, rebuilt
from evenhand.contest._submission import Submission
from evenhand.errors import ContestError


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What the contest did not take, and why; a challenge has no id."""

    id: str | None
    author: str
    at: datetime
    why: str


def refused(
    events: Sequence[Event], submissions: Sequence[Submission], challenges: Sequence[Challenge] = ()
) -> list[Refused]:
    """What of all that came is not in the log of a contest, and why."""
    state = rebuilt(events)
    found = [
        Refused(id=one.id, author=one.author, at=one.at, why=_why_not(events, hand_in(one)))
        for one in submissions
        if one.id not in state.entries
    ]
    found += [
        Refused(id=None, author=one.by, at=one.at, why=_why_not(events, Challenged(challenge=one)))
        for one in challenges
        if one != state.challenge
    ]
    return found


def _why_not(events: Iterable[Event], event: Event) -> str:
    """Held against the state that the log had led to when it came."""
    try:
        apply(rebuilt(_before(events, event)), event)
    except ContestError as error:
        return str(error)
    return "it was not there when the contest was played"


def _before(events: Iterable[Event], event: Event) -> Iterator[Event]:
    """What had happened when an event came; a submission is held against the contest while it was open."""
    for one in events:
        if one.at > event.at or (isinstance(event, Submitted) and isinstance(one, DeadlineReached)):
            return
        yield one
