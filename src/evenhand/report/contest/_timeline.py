"""The events on a time line: time across, to scale, and a lane for every submission."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime

from evenhand.report._figures import times
from evenhand.report.contest._calendar import Calendar
from evenhand.report.contest._clock import Clock
from evenhand.report.contest._contest import Contest
from evenhand.report.contest._moments import KINDS, Lane, Moment, lanes
from evenhand.report.contest._scale import LONGEST
from evenhand.report.html._axis import Tick

MOST_LANES = 60
TOP, RIGHT = 40.0, 93.0  # Pixels above the first lane; per cent, with room for marks that stand beside each other.
NEAR = 2.6  # Per cent: marks of a lane that lie closer are put side by side.
APART = 12.0  # Pixels from one of those to the next.
CLOSER = 8  # The stretch of the submissions is drawn once more where it is shorter than one part in so many.


@dataclass(frozen=True, slots=True, kw_only=True)
class Mark:
    """A moment as it is drawn; `dx` puts it beside another one of the same time."""

    x: float
    dx: float
    kind: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Track:
    """A lane as it is drawn."""

    name: str
    y: float
    own: bool
    first: bool
    begin: float
    end: float
    marks: tuple[Mark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Limit:
    """A moment that concerns everybody, drawn through all lanes."""

    x: float
    name: str
    y: float
    left: bool  # Whether its name stands to the left of it.


@dataclass(frozen=True, slots=True, kw_only=True)
class Timeline:
    """All that is drawn, and the same in words."""

    title: str
    about: str
    says: str
    height: float
    above: bool
    left: float
    ticks: tuple[Tick, ...]
    tracks: tuple[Track, ...]
    limits: tuple[Limit, ...]
    period: tuple[float, float] | None  # From where, and how wide.
    key: tuple[tuple[str, str], ...]
    not_drawn: int


def timelines(contest: Contest) -> list[Timeline]:
    """The whole contest, and, where they are crowded in it, the stretch of the submissions once more."""
    found = lanes(contest)
    moments = sorted(one.when for lane in found if not lane.outside for one in lane.moments)
    ends = [moments[-1], *(when for when, _ in _limits(contest) if not contest.closed)]
    drawn = [_timeline(contest, found, moments[0], max(ends), "The whole contest")]
    own = sorted(one.when for lane in found if lane.own for one in lane.moments if one.kind in ("came", "passed",
                 "failed", "alone"))  # fmt: skip
    if own and own[0] < own[-1] and (own[-1] - own[0]) * CLOSER < max(ends) - moments[0]:
        only = [lane for lane in found if lane.own]
        drawn.append(_timeline(contest, only, own[0], own[-1], "Closer: from the first submission to the last answer"))
    return drawn


def _limits(contest: Contest) -> Iterator[tuple[datetime, str]]:
    if contest.terms["deadline"]:
        yield contest.time(contest.terms["deadline"]), "deadline"
    if contest.period:
        yield contest.period[1], "end of challenges"


def _timeline(contest: Contest, found: Sequence[Lane], begin: datetime, end: datetime, title: str) -> Timeline:
    held = [lane for lane in found if any(begin <= one.when <= end for one in lane.moments)]
    shown = held[:MOST_LANES]
    above = any(len(lane.name) > LONGEST for lane in shown)
    calendar = Calendar.of(begin, end, left=3.0 if above else 20.0, right=RIGHT)
    step = 38 if above else 22
    top = TOP + (30 if above else 11)
    tracks = [_track(lane, calendar, contest.clock, top + place * step) for place, lane in enumerate(shown)]
    kinds = {mark.kind for track in tracks for mark in track.marks}
    return Timeline(
        title=title,
        about=f"{contest.clock.full(calendar.begin)} to {contest.clock.full(calendar.end)}",
        says=_said(contest, shown),
        height=TOP + len(shown) * step + 32,
        above=above,
        left=calendar.axis.left,
        ticks=calendar.ticks(),
        tracks=tuple(tracks),
        limits=tuple(_drawn(contest, calendar)),
        period=_period(contest, calendar),
        key=tuple((kind, words) for kind, words in KINDS.items() if kind in kinds),
        not_drawn=len(held) - len(shown),
    )


def _track(lane: Lane, calendar: Calendar, clock: Clock, y: float) -> Track:
    marks = tuple(_marks(sorted(lane.moments, key=lambda one: one.when), calendar, clock))
    places = [mark.x for mark in marks] or [calendar.axis.left]
    return Track(name=lane.name, y=y, own=lane.own, first=lane.first, marks=marks, begin=places[0], end=places[-1])


def _marks(moments: Sequence[Moment], calendar: Calendar, clock: Clock) -> Iterator[Mark]:
    """In order of time; those that would lie on one another stand side by side from the first of them on."""
    start, beside = -NEAR, 0
    for one in moments:
        if not calendar.holds(one.when):
            continue
        x = calendar.at(one.when)
        near = x - start < NEAR
        start, beside = (start, beside + 1) if near else (x, 0)
        yield Mark(x=start, dx=APART * beside, kind=one.kind, says=f"{clock.full(one.when)}: {one.says}")


def _drawn(contest: Contest, calendar: Calendar) -> Iterator[Limit]:
    for row, (when, name) in enumerate(_limits(contest)):
        if calendar.holds(when):
            x = calendar.at(when)
            yield Limit(x=x, name=name, y=12 + 15 * row, left=x > 50)


def _period(contest: Contest, calendar: Calendar) -> tuple[float, float] | None:
    if contest.period is None or contest.period[0] >= calendar.end:
        return None
    begin, end = (calendar.at(when) for when in contest.period)
    return (begin, round(end - begin, 2)) if end > begin else None


def _said(contest: Contest, shown: Sequence[Lane]) -> str:
    clock = contest.clock
    limits = [f"{name} on {clock.full(when)}" for when, name in _limits(contest)]
    marks = [f"{clock.full(one.when)}, {one.says}" for lane in shown for one in lane.moments if not lane.own]
    return "; ".join([times(len(contest.submissions), "submission"), *limits, *marks])
