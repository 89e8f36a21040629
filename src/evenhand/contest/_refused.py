"""What a contest did not take, each with the reason that held when it came."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.contest._events import Challenged, DeadlineReached, Event, Submitted
from evenhand.contest._machine import apply, rebuilt
from evenhand.contest._state import State
from evenhand.errors import ContestError


@dataclass(frozen=True, slots=True, kw_only=True)
class Refused:
    """What the contest did not take, and why; a challenge has no id."""

    id: str | None
    author: str
    at: datetime
    why: str


def refused(events: Sequence[Event], left_out: Iterable[Submitted | Challenged]) -> list[Refused]:
    """Each of those that were left out, held against the state that the log had led to when it came."""
    return [_refused(one, _why_not(rebuilt(_before(events, one)), one)) for one in left_out]


def _refused(event: Submitted | Challenged, why: str) -> Refused:
    if isinstance(event, Submitted):
        return Refused(id=event.submission.id, author=event.submission.author, at=event.at, why=why)
    return Refused(id=None, author=event.challenge.by, at=event.at, why=why)


def _why_not(state: State, event: Submitted | Challenged) -> str:
    if state.phase == "closed":
        return f"it came after the contest was closed: {state.why}"
    if isinstance(event, Challenged) and state.phase in ("open", "judging", "ranking"):
        return "there was no ranking yet that could be challenged"
    try:
        apply(state, event)
    except ContestError as error:
        return str(error)
    return "it came to light after what followed it: the contest had gone on"


def _before(events: Iterable[Event], event: Event) -> Iterator[Event]:
    """What had happened when an event came; a submission is held against the contest while it was open."""
    for one in events:
        if one.at > event.at or (isinstance(event, Submitted) and isinstance(one, DeadlineReached)):
            return
        yield one
