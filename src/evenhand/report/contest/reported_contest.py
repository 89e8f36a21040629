"""The record of a contest with the questions that every part of the page asks of it, and its scores as charts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from functools import cache, cached_property
from types import SimpleNamespace
from typing import Any, Literal

from evenhand.files.methods import load_shipped_method_file
from evenhand.report.html.chart_layout import AxisTick, ChartAxis
from evenhand.report.html.formats import format_report_moment, format_report_short_number
from evenhand.wording import format_kept_figure

ContestReportJson = dict[str, Any]


class ReportedContest:
    """The record of a contest; nothing here is computed but what stands where in it."""

    def __init__(self, record: ContestReportJson) -> None:
        self.record = record
        self.events: list[ContestReportJson] = self.record["events"]
        self.submissions: list[ContestReportJson] = self.record["submissions"]  # In order of arrival.
        self.places = {one["id"]: place for place, one in enumerate(self.submissions, start=1)}  # On the page.
        self.terms: ContestReportJson = self.events[0]["task"]  # The task as it was when the contest began.
        # Up to when a contest was played ahead of the clock, as if nothing more came; None where it was not.
        self.ahead = self.time(record["ahead"]) if record.get("ahead") else None
        self.closed: bool = record["state"] == "closed"  # Nothing can happen any more, or would if nothing more came.
        self.stage: ContestStage = "open" if not self.closed else "ahead" if self.ahead else "closed"
        # Whether there are scores that may not be seen yet.
        self.hidden = record["mode"] == "quality_first" and record["state"] in ("open", "judging", "ranking")
        # Those who were compared side by side; before they were, nobody may know who they are.
        asked = self.effects("ask_horizontal")
        self.finalists: tuple[str, ...] = tuple(asked[-1].get("submissions", ())) if asked else ()

    def time(self, written: str) -> datetime:
        """A time of the record in the time zone in which the contest began: that of every time on the page."""
        return datetime.fromisoformat(written).astimezone(datetime.fromisoformat(self.events[0]["at"]).tzinfo)

    @cached_property
    def clock(self) -> ReportClock:
        """How times are written, so that no two moments of the contest look like one."""
        happened = [one for one in self.events if one["event"] != "released"]
        written = [one["at"] for one in (*happened, *(self.record.get("refused") or ()))]
        written += [self.terms["deadline"]] if self.terms["deadline"] else []
        return ReportClock.for_moments([*map(self.time, written), *(self.period or ())])

    def effects(self, *kinds: str) -> list[ContestReportJson]:
        """What was wanted, of some kinds."""
        return [one for one in self.record["effects"] if one["effect"] in kinds]

    def last_event(self, kind: str, submission: str | None = None) -> ContestReportJson | None:
        """The last event of a kind, of a submission where one is named."""
        found = [one for one in self.events if one["event"] == kind and submission in (None, one.get("submission"))]
        return found[-1] if found else None

    def submission_event(self, submission: str) -> ContestReportJson:
        """The event by which a submission came."""
        came = (one for one in self.events if one["event"] == "submitted")
        return next(one for one in came if one["submission"]["id"] == submission)

    @cached_property
    def released(self) -> str:
        """When whoever pays was told to, by the clock; empty in older logs, where it was at the end, and before it."""
        event = self.last_event("released")
        return (format_report_moment(event["at"]) or "") if event else ""

    @cached_property
    def pays_at_end(self) -> bool:
        """Whether the end of the contest released the payment, as in older logs, and not a moment of its own."""
        payment = self.record.get("payment") or {}
        return self.ahead is None and not self.released and payment.get("state") != "due"

    @cached_property
    def period(self) -> tuple[datetime, datetime] | None:
        """From when to when the ranking may be challenged; None before there is one."""
        told = [one for one in self.effects("tell_submitter") if one["status"] == "won"]
        if not told or self.record["mode"] != "quality_first":
            return None
        begins = self.time(told[0]["at"])
        return begins, begins + timedelta(seconds=self.terms["challenge_period"])

    @cached_property
    def deposed(self) -> str | None:
        """Who had come first before a challenge, where that is another one now."""
        told = [one["submission"] for one in self.effects("tell_submitter") if one["status"] == "won"]
        return told[0] if told and told[0] != self.record["winner"] else None

    def before_challenge(self, submission: str) -> ContestReportJson | None:
        """The scores side by side that a challenge had judged anew, where it had."""
        ranked = self.last_event("ranked")
        if ranked is None or self.last_event("resolved") is None:
            return None
        told = [one for one in self.effects("tell_submitter") if one["after"] == ranked["number"]]
        return next((find_reported_final_scores(one) for one in told if one["submission"] == submission), None)


def find_reported_feedback_scores(one: ContestReportJson, kind: str) -> ContestReportJson | None:
    """The feedback of a kind with its scores, where a submission has it and they may be seen."""
    found: Sequence[ContestReportJson] = one["feedback"]
    return next((told for told in found if told["type"] == kind and "dimension_scores" in told), None)


def get_reported_value(found: ContestReportJson | None, *keys: str) -> Any:
    """What stands under some keys; None where there is nothing to look into."""
    value: Any = found
    for key in keys:
        value = None if value is None else value[key]
    return value


def find_reported_final_scores(one: ContestReportJson) -> ContestReportJson | None:
    """The scores side by side, of one that was compared."""
    found = find_reported_feedback_scores(one, "scoring")
    return found if found and found["compared"] else None


def list_reported_suggestions(one: ContestReportJson) -> list[ContestReportJson]:
    """What to fix, as its author was told."""
    return [tip for told in one["feedback"] for tip in told.get("revision_suggestions", ())]


TIME_FORMS = ("%H:%M", "%H:%M:%S")  # Within a second, the order of the events tells.


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportClock:
    """Writes the times of a page; it knows how many of its moments look like one in each form."""

    alike: tuple[Counter[str], ...]
    moments: frozenset[datetime]

    @classmethod
    def for_moments(cls, moments: Iterable[datetime]) -> ReportClock:
        """The clock of these moments."""
        known = frozenset(moments)
        alike = tuple(Counter(one.strftime(f"%Y-%m-%d {form}") for one in known) for form in TIME_FORMS)
        return cls(alike=alike, moments=known)

    def short(self, when: datetime) -> str:
        """A time as short as it can be within one contest."""
        return f"{when.day} {when:%b}, {when.strftime(self._form(when))}"

    def full(self, when: datetime) -> str:
        """A time with its year and zone."""
        return f"{when.day} {when:%b %Y}, {when.strftime(self._form(when))} {when:%Z}".rstrip()

    def _form(self, when: datetime) -> str:
        """The shortest that no other moment shares."""
        own = int(when in self.moments)
        forms = zip(TIME_FORMS, self.alike, strict=True)
        found = (form for form, alike in forms if alike[when.strftime(f"%Y-%m-%d {form}")] <= own)
        return next(found, TIME_FORMS[-1])


ContestStage = Literal["open", "ahead", "closed"]  # Ahead: closed only if nothing more comes until then.


@dataclass(frozen=True, slots=True)
class StatusBadge:
    """A mark, a word and a tone: nobody has to tell colours apart."""

    mark: str
    word: str
    tone: str


STATUS_BADGES = {
    "won": StatusBadge("★", "won", "good"),
    "scored": StatusBadge("✓", "scored", "plain"),
    "below_threshold": StatusBadge("▽", "below the threshold", "warn"),
    "gate_passed": StatusBadge("✓", "passed the gate", "plain"),
    "submitted": StatusBadge("…", "waits for the gate", "calm"),
    "superseded": StatusBadge("↷", "superseded", "calm"),
    "unjudged": StatusBadge("–", "not judged", "calm"),
    "gate_failed": StatusBadge("✕", "failed the gate", "bad"),
    "policy_violation": StatusBadge("✕", "broke the rules", "bad"),
}
WINNER_BADGES: dict[ContestStage, StatusBadge] = {
    "open": StatusBadge("☆", "first, not final yet", "warn"),
    "ahead": StatusBadge("☆", "wins if nothing more comes", "good"),
    "closed": STATUS_BADGES["won"],
}
MODE_SENTENCES = {
    "quality_first": "quality first: the best at the deadline wins",
    "fastest_first": "fastest first: the first that passes wins",
}


def choose_report_badge(status: str, stage: ContestStage) -> StatusBadge:
    """How a status looks; a winner is one once the contest is closed."""
    if status == "won":
        return WINNER_BADGES[stage]
    return STATUS_BADGES.get(status, StatusBadge("·", status.replace("_", " "), "calm"))


def chart_finalists(contest: ReportedContest) -> list[SimpleNamespace]:
    """Every dimension, where finalists were compared and it may be seen; the best first."""
    finalists = [one for one in contest.submissions if one["id"] in contest.finalists]
    compared = sorted(filter(find_reported_final_scores, finalists), key=lambda one: one["rank"])
    return (
        [_chart_contest_dimension(contest, one, compared) for one in contest.record["dimensions"]] if compared else []
    )


def draw_total_score_chart(contest: ReportedContest, most: int) -> SimpleNamespace | None:
    """The scores as a whole, the best first, at most so many; where there are ranks, of those that have one."""
    scored = [one for one in contest.submissions if one["score"] is not None and one["status"] != "superseded"]
    if contest.record["mode"] == "quality_first" and contest.record["winner"]:
        scored = [one for one in scored if one["rank"]]
    scored.sort(key=lambda one: (one["rank"] or math.inf, -one["score"]))
    charted = [_chart_scores(contest, one, ("penalized_total",), ("final_score",)) for one in scored[:most]]
    return draw_scale_chart("Scores as a whole", charted, format_kept_figure)


def _chart_contest_dimension(
    contest: ReportedContest, dimension: ContestReportJson, compared: list[ContestReportJson]
) -> SimpleNamespace:
    id = dimension["id"]
    keys = ("dimension_scores", id, "score")
    measured = [_chart_scores(contest, one, keys, keys) for one in compared]
    columns = [
        SimpleNamespace(
            id=one["id"],
            place=contest.places[one["id"]],
            first=one["id"] == contest.record["winner"],
            said=get_reported_value(find_reported_final_scores(one), "dimension_scores", id),
        )
        for one in compared
    ]
    chart = draw_scale_chart(f"{id}: the finalists on 0 to 100", measured)
    return SimpleNamespace(**dimension, chart=chart, columns=columns)


def _chart_scores(
    contest: ReportedContest, one: ContestReportJson, alone: Sequence[str], side: Sequence[str]
) -> ChartedScores:
    """The scores of one submission that stand under these keys of its feedback."""
    return ChartedScores(
        name=one["id"],
        alone=get_reported_value(find_reported_feedback_scores(one, "individual_scoring"), *alone),
        together=get_reported_value(find_reported_final_scores(one), *side),
        before=get_reported_value(contest.before_challenge(one["id"]), *side),
        first=one["id"] == contest.record["winner"],
    )


LONGEST_NAME_BESIDE = 10  # Characters of a name that stands beside its row; longer ones stand above.
SCALE_RIGHT = 71.0  # Per cent; after it stand the numbers.
SCORE_KINDS = ("together", "alone", "before")
SCALE_TOP = 22.0  # Pixels; above stand the letters of the bands.


@dataclass(frozen=True, slots=True, kw_only=True)
class ChartedScores:
    """The scores of one thing; what was not measured, or may not be seen, is None."""

    name: str
    alone: float | None = None
    together: float | None = None
    before: float | None = None
    first: bool = False

    @property
    def known(self) -> bool:
        """Whether there is anything to draw."""
        return self.alone is not None or self.together is not None


def draw_scale_chart(
    title: str, measured: Sequence[ChartedScores], written: Callable[[float], str | None] = format_report_short_number
) -> SimpleNamespace | None:
    """The chart of these scores, each number as it is written there; None where nothing is known."""
    if not any(one.known for one in measured):
        return None
    above = any(len(one.name) > LONGEST_NAME_BESIDE for one in measured)
    axis = ChartAxis(low=0, high=100, left=1.0 if above else 20.0, right=SCALE_RIGHT)
    step = 46 if above else 26
    first = SCALE_TOP + (33 if above else 13)
    rows = tuple(_draw_scale_row(one, axis, first + place * step, written) for place, one in enumerate(measured))
    kinds = [kind for kind in SCORE_KINDS if any(getattr(row, kind) is not None for row in rows)]
    grounds = [(row.y - 10, 20.0) for row in rows] if above else [(SCALE_TOP - 4, len(rows) * step + 8.0)]
    # A band reaches from its lowest score up to that of the one above, so that no mean falls between two.
    edges, bands = [100.0], []
    for id, lowest in _list_chart_bands():
        left, right = axis.at(lowest), axis.at(edges[-1])
        middle = round((left + right) / 2, 2)
        bands.append(SimpleNamespace(id=id, x=left, width=round(right - left, 2), middle=middle))
        edges.append(lowest)
    return SimpleNamespace(
        title=title,
        says="; ".join(map(_describe_charted_scores, measured)),
        height=SCALE_TOP + len(rows) * step + 24,
        above=above,
        value_at=SCALE_RIGHT + 2,
        bands=tuple(bands),
        grounds=tuple(grounds),  # From where down, and how high, the bands are shaded.
        ticks=tuple(AxisTick(axis.at(value), format_report_short_number(value) or "") for value in edges),
        rows=rows,
        kinds=tuple(kinds),
    )


def _draw_scale_row(
    one: ChartedScores, axis: ChartAxis, y: float, written: Callable[[float], str | None]
) -> SimpleNamespace:
    value = one.alone if one.together is None else one.together
    aside = f" · {written(one.alone)} alone" if one.together is not None and one.alone is not None else ""
    return SimpleNamespace(
        name=one.name,
        y=y,
        first=one.first,
        **{kind: None if (at := getattr(one, kind)) is None else axis.at(at) for kind in SCORE_KINDS},
        value=(value is not None and written(value)) or "not scored",
        aside=aside,
    )


def _describe_charted_scores(one: ChartedScores) -> str:
    known = (("side by side", one.together), ("alone", one.alone), ("side by side before the challenge", one.before))
    said = ", ".join(f"{format_report_short_number(value)} {how}" for how, value in known if value is not None)
    return f"{one.name}: {said or 'not scored'}"


@cache
def _list_chart_bands() -> tuple[tuple[str, float], ...]:
    """The bands of the method from the best down, each with its lowest score."""
    scale = load_shipped_method_file("oracle").criterion_scale
    bands = scale.bands if scale else ()
    return tuple(sorted(((one.id, float(one.min)) for one in bands), key=lambda one: -one[1]))
