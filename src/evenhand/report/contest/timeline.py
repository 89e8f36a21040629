"""The events of a contest on a time line: time across, to scale, and a lane for every submission."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from evenhand.report.contest.reported_contest import ContestReportJson, ReportClock, ReportedContest
from evenhand.report.contest.scale_charts import LONGEST_NAME_BESIDE
from evenhand.report.html.chart_layout import AxisTick, ChartAxis
from evenhand.wording import pluralize_count

MOST_LANES = 60
TIMELINE_TOP, TIMELINE_RIGHT = (
    40.0,
    93.0,
)  # Pixels above the first lane; per cent, with room for marks that stand beside each other.
NEAR_MARKS = 2.6  # Per cent: marks of a lane that lie closer are put side by side.
MARK_DISTANCE = 12.0  # Pixels from one of those to the next.
CLOSER_RATIO = 8  # The stretch of the submissions is drawn once more where it is shorter than one part in so many.


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineMark:
    """A moment as it is drawn; `dx` puts it beside another one of the same time."""

    x: float
    dx: float
    kind: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineTrack:
    """A lane as it is drawn."""

    name: str
    y: float
    own: bool
    first: bool
    begin: float
    end: float
    marks: tuple[TimelineMark, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineLimit:
    """A moment that concerns everybody, drawn through all lanes."""

    x: float
    name: str
    y: float
    left: bool  # Whether its name stands to the left of it.


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestTimeline:
    """All that is drawn, and the same in words."""

    title: str
    about: str
    says: str
    height: float
    above: bool
    left: float
    ticks: tuple[AxisTick, ...]
    tracks: tuple[TimelineTrack, ...]
    limits: tuple[TimelineLimit, ...]
    period: tuple[float, float] | None  # From where, and how wide.
    key: tuple[tuple[str, str], ...]
    not_drawn: int


def draw_timelines(contest: ReportedContest) -> list[ContestTimeline]:
    """The whole contest, and, where they are crowded in it, the stretch of the submissions once more."""
    found = build_timeline_lanes(contest)
    moments = sorted(one.when for lane in found if not lane.outside for one in lane.moments)
    ends = [moments[-1], *(when for when, _ in _list_time_limits(contest) if not contest.closed)]
    drawn = [_draw_timeline(contest, found, moments[0], max(ends), "The whole contest")]
    own = sorted(one.when for lane in found if lane.own for one in lane.moments if one.kind in ("came", "passed",
                 "failed", "alone"))  # fmt: skip
    if own and own[0] < own[-1] and (own[-1] - own[0]) * CLOSER_RATIO < max(ends) - moments[0]:
        only = [lane for lane in found if lane.own]
        drawn.append(
            _draw_timeline(contest, only, own[0], own[-1], "Closer: from the first submission to the last answer")
        )
    return drawn


def _list_time_limits(contest: ReportedContest) -> Iterator[tuple[datetime, str]]:
    if contest.terms["deadline"]:
        yield contest.time(contest.terms["deadline"]), "deadline"
    if contest.period:
        yield contest.period[1], "end of challenges"


def _draw_timeline(
    contest: ReportedContest, found: Sequence[TimelineLane], begin: datetime, end: datetime, title: str
) -> ContestTimeline:
    held = [lane for lane in found if any(begin <= one.when <= end for one in lane.moments)]
    shown = held[:MOST_LANES]
    above = any(len(lane.name) > LONGEST_NAME_BESIDE for lane in shown)
    calendar = TimeAxis.spanning(begin, end, left=3.0 if above else 20.0, right=TIMELINE_RIGHT)
    step = 38 if above else 22
    top = TIMELINE_TOP + (30 if above else 11)
    tracks = [
        _draw_timeline_lane(lane, calendar, contest.clock, top + place * step) for place, lane in enumerate(shown)
    ]
    kinds = {mark.kind for track in tracks for mark in track.marks}
    return ContestTimeline(
        title=title,
        about=f"{contest.clock.full(calendar.begin)} to {contest.clock.full(calendar.end)}",
        says=_describe_timeline(contest, shown),
        height=TIMELINE_TOP + len(shown) * step + 32,
        above=above,
        left=calendar.axis.left,
        ticks=calendar.ticks(),
        tracks=tuple(tracks),
        limits=tuple(_draw_time_limits(contest, calendar)),
        period=_draw_challenge_period(contest, calendar),
        key=tuple((kind, words) for kind, words in MOMENT_KINDS.items() if kind in kinds),
        not_drawn=len(held) - len(shown),
    )


def _draw_timeline_lane(lane: TimelineLane, calendar: TimeAxis, clock: ReportClock, y: float) -> TimelineTrack:
    marks = tuple(_draw_timeline_marks(sorted(lane.moments, key=lambda one: one.when), calendar, clock))
    places = [mark.x for mark in marks] or [calendar.axis.left]
    return TimelineTrack(
        name=lane.name, y=y, own=lane.own, first=lane.first, marks=marks, begin=places[0], end=places[-1]
    )


def _draw_timeline_marks(
    moments: Sequence[TimelineMoment], calendar: TimeAxis, clock: ReportClock
) -> Iterator[TimelineMark]:
    """In order of time; those that would lie on one another stand side by side from the first of them on."""
    start, beside = -NEAR_MARKS, 0
    for one in moments:
        if not calendar.holds(one.when):
            continue
        x = calendar.at(one.when)
        near = x - start < NEAR_MARKS
        start, beside = (start, beside + 1) if near else (x, 0)
        yield TimelineMark(
            x=start, dx=MARK_DISTANCE * beside, kind=one.kind, says=f"{clock.full(one.when)}: {one.says}"
        )


def _draw_time_limits(contest: ReportedContest, calendar: TimeAxis) -> Iterator[TimelineLimit]:
    for row, (when, name) in enumerate(_list_time_limits(contest)):
        if calendar.holds(when):
            x = calendar.at(when)
            yield TimelineLimit(x=x, name=name, y=12 + 15 * row, left=x > 50)


def _draw_challenge_period(contest: ReportedContest, calendar: TimeAxis) -> tuple[float, float] | None:
    if contest.period is None or contest.period[0] >= calendar.end:
        return None
    begin, end = (calendar.at(when) for when in contest.period)
    return (begin, round(end - begin, 2)) if end > begin else None


def _describe_timeline(contest: ReportedContest, shown: Sequence[TimelineLane]) -> str:
    clock = contest.clock
    limits = [f"{name} on {clock.full(when)}" for when, name in _list_time_limits(contest)]
    marks = [f"{clock.full(one.when)}, {one.says}" for lane in shown for one in lane.moments if not lane.own]
    return "; ".join([pluralize_count(len(contest.submissions), "submission"), *limits, *marks])


# In the order of the key below the drawing.
MOMENT_KINDS = {
    "came": "came",
    "passed": "passed the gate",
    "failed": "failed the gate, or was stopped or refused",
    "alone": "scored alone",
    "together": "compared side by side",
    "won": "won",
    "wins": "wins if nothing more comes",
    "begin": "the contest began",
    "challenge": "the ranking was challenged",
    "paid": "payment released",
    "due": "payment due",
    "end": "the end, without a winner",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineMoment:
    """Something that happened, in a lane of the time line."""

    when: datetime
    kind: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class TimelineLane:
    """A lane: the contest itself, a submission, or all that were refused."""

    name: str
    moments: tuple[TimelineMoment, ...]
    own: bool = False  # Whether it is a submission's.
    first: bool = False
    outside: bool = False  # Whether what it holds never became part of the contest.


def build_timeline_lanes(contest: ReportedContest) -> list[TimelineLane]:
    """The contest, every submission in order of arrival, and what was refused."""
    found = [TimelineLane(name="contest", moments=tuple(_list_contest_moments(contest)))]
    found += [
        TimelineLane(name=one["id"], moments=tuple(_list_submission_moments(contest, one)), own=True,
             first=one["id"] == contest.record["winner"])
        for one in contest.submissions
    ]  # fmt: skip
    refused = contest.record.get("refused") or ()
    moments = tuple(
        TimelineMoment(when=contest.time(one["at"]), kind="failed", says=f"{one['id'] or 'a challenge'} was refused")
        for one in refused
    )
    return [*found, TimelineLane(name="refused", moments=moments, outside=True)] if moments else found


def _list_contest_moments(contest: ReportedContest) -> Iterator[TimelineMoment]:
    says = {
        "created": ("begin", "the contest began"),
        "ranked": ("together", "finalists compared side by side"),
        "challenged": ("challenge", "the ranking was challenged"),
        "resolved": ("together", "judges who had not judged before looked again"),
    }
    for event in contest.events:
        if event["event"] in says:
            kind, words = says[event["event"]]
            yield TimelineMoment(when=contest.time(event["at"]), kind=kind, says=words)
    paying = "due" if contest.ahead else "paid"
    for effect in contest.effects("release_payment", "close"):
        when = contest.time(effect["at"])
        if effect["effect"] == "release_payment":
            yield TimelineMoment(when=when, kind=paying, says=f"{MOMENT_KINDS[paying]} to {effect['author']}")
        elif effect["winner"] is None:
            yield TimelineMoment(
                when=when, kind="end", says=f"{'closes' if contest.ahead else 'closed'}: {effect['why']}"
            )


def _list_submission_moments(contest: ReportedContest, one: ContestReportJson) -> Iterator[TimelineMoment]:
    id, arrived = one["id"], contest.time(one["at"])
    yield TimelineMoment(when=arrived, kind="came", says=f"{id} came from {one['author']}")
    if one["status"] == "policy_violation":
        yield TimelineMoment(when=arrived, kind="failed", says=f"{id} was stopped by a guard")
    checked, alone = contest.last_event("gate_checked", id), contest.last_event("scored", id)
    if checked:
        passed = one["status"] != "gate_failed" and (alone or one["status"] != "unjudged")
        words = f"{id} {'passed the gate' if passed else 'did not pass the gate'}"
        yield TimelineMoment(when=contest.time(checked["at"]), kind="passed" if passed else "failed", says=words)
    if alone:
        yield TimelineMoment(when=contest.time(alone["at"]), kind="alone", says=f"{id} was scored alone")
    for name in ("ranked", "resolved"):
        event = contest.last_event(name)
        if event and id in contest.finalists:
            yield TimelineMoment(
                when=contest.time(event["at"]), kind="together", says=f"{id} was compared side by side"
            )
    kind = "wins" if contest.ahead else "won"
    for paid in contest.effects("release_payment"):
        if paid["submission"] == id:
            yield TimelineMoment(when=contest.time(paid["at"]), kind=kind, says=f"{id} {MOMENT_KINDS[kind]}")


MINUTE, HOUR, DAY = 60, 3600, 86400
TIME_STEPS = (
    1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
    2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 182 * DAY, 365 * DAY,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class TimeAxis:
    """From one moment to another."""

    begin: datetime
    end: datetime
    axis: ChartAxis

    @classmethod
    def spanning(cls, begin: datetime, end: datetime, *, left: float, right: float) -> TimeAxis:
        """The calendar of a stretch; one moment gets a minute about it."""
        if end <= begin:
            begin, end = begin - timedelta(seconds=30), begin + timedelta(seconds=30)
        axis = ChartAxis(low=0, high=(end - begin).total_seconds(), left=left, right=right)
        return cls(begin=begin, end=end, axis=axis)

    def at(self, when: datetime) -> float:
        """The place of a moment; what lies outside stands at the edge."""
        return self.axis.at((when - self.begin).total_seconds())

    def holds(self, when: datetime) -> bool:
        """Whether a moment lies inside."""
        return self.begin <= when <= self.end

    def ticks(self, most: int = 5) -> tuple[AxisTick, ...]:
        """Round moments, at most `most` of them."""
        step = next(step for step in _iterate_time_steps() if self.axis.high / step <= most)
        midnight = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=self.begin.tzinfo)
        first = math.ceil((self.begin - midnight).total_seconds() / step)
        moments = (midnight + timedelta(seconds=step * (first + number)) for number in range(most + 1))
        return tuple(AxisTick(self.at(when), _label_time_tick(when, step)) for when in moments if self.holds(when))


def _iterate_time_steps() -> Iterator[int]:
    yield from TIME_STEPS
    step = TIME_STEPS[-1]
    while True:
        step *= 2
        yield step


def _label_time_tick(when: datetime, step: int) -> str:
    """As much as tells one tick from the next."""
    if step < MINUTE:
        return f"{when:%H:%M:%S}"
    if step < DAY and (when.hour or when.minute):
        return f"{when:%H:%M}"
    return f"{when.day} {when:%b}" if step < 182 * DAY else f"{when:%b %Y}"
