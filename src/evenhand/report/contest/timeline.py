"""The events of a contest on a time line: time across, to scale, and a lane for every submission."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import chain, count
from types import SimpleNamespace

from evenhand.report.contest.reported_contest import (
    LONGEST_NAME_BESIDE,
    ContestReportJson,
    ReportClock,
    ReportedContest,
)
from evenhand.report.html.chart_layout import AxisTick, ChartAxis
from evenhand.wording import pluralize_count

MOST_LANES = 60
TIMELINE_TOP = 40.0  # Pixels above the first lane.
TIMELINE_RIGHT = 93.0  # Per cent, with room for marks that stand beside each other.
NEAR_MARKS = 2.6  # Per cent: marks of a lane that lie closer are put side by side.
MARK_DISTANCE = 12.0  # Pixels from one of those to the next.
CLOSER_RATIO = 8  # The stretch of the submissions is drawn once more where it is shorter than one part in so many.


def draw_timelines(contest: ReportedContest) -> list[SimpleNamespace]:
    """The whole contest, and, where they are crowded in it, the stretch of the submissions once more."""
    found = build_timeline_lanes_for_report(contest)
    moments = sorted(one.when for lane in found if not lane.outside for one in lane.moments)
    ends = [moments[-1], *(when for when, _ in _list_timeline_limits_in_report(contest) if not contest.closed)]
    drawn = [_draw_timeline(contest, found, moments[0], max(ends), "The whole contest")]
    before = ("came", "passed", "failed", "open", "alone")
    own = sorted(one.when for lane in found if lane.own for one in lane.moments if one.kind in before)
    if own and own[0] < own[-1] and (own[-1] - own[0]) * CLOSER_RATIO < max(ends) - moments[0]:
        only, title = [lane for lane in found if lane.own], "Closer: from the first submission to the last answer"
        drawn.append(_draw_timeline(contest, only, own[0], own[-1], title))
    return drawn


def _list_timeline_limits_in_report(contest: ReportedContest) -> Iterator[tuple[datetime, str]]:
    if contest.terms["deadline"]:
        yield contest.time(contest.terms["deadline"]), "deadline"
    if contest.period:
        yield contest.period[1], "end of challenges"


def _draw_timeline(
    contest: ReportedContest, found: Sequence[TimelineLane], begin: datetime, end: datetime, title: str
) -> SimpleNamespace:
    held = [lane for lane in found if any(begin <= one.when <= end for one in lane.moments)]
    shown = held[:MOST_LANES]
    above = any(len(lane.name) > LONGEST_NAME_BESIDE for lane in shown)
    calendar = ChartTimeAxis.spanning(begin, end, left=3.0 if above else 20.0, right=TIMELINE_RIGHT)
    step = 38 if above else 22
    top = TIMELINE_TOP + (30 if above else 11)
    clock, limits = contest.clock, list(_list_timeline_limits_in_report(contest))
    tracks = [_draw_timeline_lane(lane, calendar, clock, top + place * step) for place, lane in enumerate(shown)]
    said = [f"{name} on {clock.full(when)}" for when, name in limits]
    said += [f"{clock.full(one.when)}, {one.says}" for lane in shown for one in lane.moments if not lane.own]
    kinds = {mark.kind for track in tracks for mark in track.marks}
    return SimpleNamespace(
        title=title,
        about=f"{clock.full(calendar.begin)} to {clock.full(calendar.end)}",
        says="; ".join([pluralize_count(len(contest.submissions), "submission"), *said]),
        height=TIMELINE_TOP + len(shown) * step + 32,
        above=above,
        left=calendar.axis.left,
        ticks=calendar.ticks(),
        tracks=tracks,
        limits=[
            SimpleNamespace(x=calendar.at(when), name=name, y=12 + 15 * row, left=calendar.at(when) > 50)
            for row, (when, name) in enumerate(limits)
            if calendar.holds(when)
        ],
        period=_draw_challenge_period(contest, calendar),
        key=[(kind, words) for kind, words in MOMENT_KINDS.items() if kind in kinds],
        not_drawn=len(held) - len(shown),
    )


def _draw_timeline_lane(lane: TimelineLane, calendar: ChartTimeAxis, clock: ReportClock, y: float) -> SimpleNamespace:
    """Its marks in order of time; those that would lie on one another stand side by side from the first of them on."""
    marks: list[SimpleNamespace] = []
    start, beside = -NEAR_MARKS, 0
    for one in sorted(lane.moments, key=lambda one: one.when):
        if calendar.holds(one.when):
            x = calendar.at(one.when)
            start, beside = (start, beside + 1) if x - start < NEAR_MARKS else (x, 0)
            says = f"{clock.full(one.when)}: {one.says}"
            marks.append(SimpleNamespace(x=start, dx=MARK_DISTANCE * beside, kind=one.kind, says=says))
    begin, end = (marks[0].x, marks[-1].x) if marks else (calendar.axis.left, calendar.axis.left)
    return SimpleNamespace(name=lane.name, y=y, own=lane.own, first=lane.first, marks=marks, begin=begin, end=end)


def _draw_challenge_period(contest: ReportedContest, calendar: ChartTimeAxis) -> tuple[float, float] | None:
    if contest.period is None or contest.period[0] >= calendar.end:
        return None
    begin, end = (calendar.at(when) for when in contest.period)
    return (begin, round(end - begin, 2)) if end > begin else None


# In the order of the key below the drawing.
MOMENT_KINDS = {
    "came": "came",
    "passed": "passed the gate",
    "failed": "failed the gate, or was stopped or refused",
    "open": "could not be checked at the gate",
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


@dataclass(frozen=True, slots=True)
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


def build_timeline_lanes_for_report(contest: ReportedContest) -> list[TimelineLane]:
    """The contest, every submission in order of arrival, and what was refused."""
    winner = contest.record["winner"]
    found = [TimelineLane(name="contest", moments=tuple(_list_contest_moments_in_report(contest)))]
    found += [
        TimelineLane(
            name=id, moments=tuple(_list_submission_moments_in_report(contest, one)), own=True, first=id == winner
        )
        for id, one in ((one["id"], one) for one in contest.submissions)
    ]
    moments = tuple(
        TimelineMoment(contest.time(one["at"]), "failed", f"{one['id'] or 'a challenge'} was refused")
        for one in contest.record.get("refused") or ()
    )
    return [*found, TimelineLane(name="refused", moments=moments, outside=True)] if moments else found


def _list_contest_moments_in_report(contest: ReportedContest) -> Iterator[TimelineMoment]:
    says = {
        "created": ("begin", "the contest began"),
        "ranked": ("together", "finalists compared side by side"),
        "challenged": ("challenge", "the ranking was challenged"),
        "resolved": ("together", "judges who had not judged before looked again"),
    }
    for event in contest.events:
        if event["event"] in says:
            yield TimelineMoment(contest.time(event["at"]), *says[event["event"]])
    paying = "paid" if contest.pays_at_end else "due"
    for effect in contest.effects("release_payment", "close"):
        when = contest.time(effect["at"])
        if effect["effect"] == "release_payment":
            yield TimelineMoment(when, paying, f"{MOMENT_KINDS[paying]} to {effect['author']}")
        elif effect["winner"] is None:
            yield TimelineMoment(when, "end", f"{'closes' if contest.ahead else 'closed'}: {effect['why']}")


def _list_submission_moments_in_report(contest: ReportedContest, one: ContestReportJson) -> Iterator[TimelineMoment]:
    id, arrived = one["id"], contest.time(one["at"])
    yield TimelineMoment(arrived, "came", f"{id} came from {one['author']}")
    if one["status"] == "policy_violation":
        yield TimelineMoment(arrived, "failed", f"{id} was stopped by a guard")
    checked, alone = contest.last_event("gate_checked", id), contest.last_event("scored", id)
    if checked:
        passed = one["status"] != "gate_failed" and (alone or one["status"] != "unjudged")
        kind = "passed" if passed else "failed" if one["status"] == "gate_failed" else "open"
        words = f"{id} {'did not pass the gate' if kind == 'failed' else MOMENT_KINDS[kind]}"
        yield TimelineMoment(contest.time(checked["at"]), kind, words)
    if alone:
        yield TimelineMoment(contest.time(alone["at"]), "alone", f"{id} was scored alone")
    for name in ("ranked", "resolved"):
        event = contest.last_event(name)
        if event and id in contest.finalists:
            yield TimelineMoment(contest.time(event["at"]), "together", f"{id} was compared side by side")
    kind = "wins" if contest.ahead else "won"
    for paid in contest.effects("release_payment"):
        if paid["submission"] == id:
            yield TimelineMoment(contest.time(paid["at"]), kind, f"{id} {MOMENT_KINDS[kind]}")


MINUTE, HOUR, DAY = 60, 3600, 86400
TIME_STEPS = (
    1, 5, 15, 30, MINUTE, 5 * MINUTE, 15 * MINUTE, 30 * MINUTE, HOUR, 2 * HOUR, 3 * HOUR, 6 * HOUR, 12 * HOUR, DAY,
    2 * DAY, 7 * DAY, 14 * DAY, 28 * DAY, 91 * DAY, 182 * DAY, 365 * DAY,
)  # fmt: skip


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartTimeAxis:
    """From one moment to another."""

    begin: datetime
    end: datetime
    axis: ChartAxis

    @classmethod
    def spanning(cls, begin: datetime, end: datetime, *, left: float, right: float) -> ChartTimeAxis:
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
        doubled = (TIME_STEPS[-1] * 2**times for times in count(1))
        step = next(step for step in chain(TIME_STEPS, doubled) if self.axis.high / step <= most)
        midnight = datetime(1970, 1, 1, tzinfo=UTC).replace(tzinfo=self.begin.tzinfo)
        first = math.ceil((self.begin - midnight).total_seconds() / step)
        moments = (midnight + timedelta(seconds=step * (first + number)) for number in range(most + 1))
        return tuple(
            AxisTick(self.at(when), _label_chart_time_tick(when, step)) for when in moments if self.holds(when)
        )


def _label_chart_time_tick(when: datetime, step: int) -> str:
    """As much as tells one tick from the next."""
    if step < MINUTE:
        return f"{when:%H:%M:%S}"
    if step < DAY and (when.hour or when.minute):
        return f"{when:%H:%M}"
    return f"{when.day} {when:%b}" if step < 182 * DAY else f"{when:%b %Y}"
