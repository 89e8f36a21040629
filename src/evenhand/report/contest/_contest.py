"""A contest's record with the questions that every part of the page asks of it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta, tzinfo
from functools import cached_property
from typing import Any

from evenhand.report.contest._clock import Clock
from evenhand.report.contest._words import Stage

Json = dict[str, Any]


@dataclass(frozen=True)
class Contest:
    """The record of a contest; nothing here is computed but what stands where in it."""

    record: Json

    @property
    def events(self) -> list[Json]:
        """All that happened, in order."""
        events: list[Json] = self.record["events"]
        return events

    @property
    def submissions(self) -> list[Json]:
        """All that was handed in, in order of arrival."""
        submissions: list[Json] = self.record["submissions"]
        return submissions

    @property
    def terms(self) -> Json:
        """The task as it was when the contest began."""
        task: Json = self.events[0]["task"]
        return task

    @property
    def closed(self) -> bool:
        """Whether nothing can happen any more."""
        return bool(self.record["state"] == "closed")

    @cached_property
    def ahead(self) -> datetime | None:
        """Up to when a contest was played ahead of the clock, as if nothing more came; None where it was not."""
        written = self.record.get("ahead")
        return self.time(written) if written else None

    @property
    def stage(self) -> Stage:
        """Whether it is closed, or would be if nothing more came."""
        if not self.closed:
            return "open"
        return "ahead" if self.ahead else "closed"

    @property
    def hidden(self) -> bool:
        """Whether there are scores that may not be seen yet."""
        return self.record["mode"] == "quality_first" and self.record["state"] in ("open", "judging", "ranking")

    @cached_property
    def finalists(self) -> tuple[str, ...]:
        """Those who were compared side by side; before they were, nobody may know who they are."""
        asked = self.effects("ask_horizontal")
        return tuple(asked[-1].get("submissions", ())) if asked else ()

    @cached_property
    def places(self) -> dict[str, int]:
        """The place of each submission on the page, by id."""
        return {one["id"]: place for place, one in enumerate(self.submissions, start=1)}

    @property
    def zone(self) -> tzinfo | None:
        """The time zone in which the contest began: that of every time on the page."""
        return datetime.fromisoformat(self.events[0]["at"]).tzinfo

    def time(self, written: str) -> datetime:
        """A time of the record in that zone."""
        return datetime.fromisoformat(written).astimezone(self.zone)

    @cached_property
    def clock(self) -> Clock:
        """How times are written, so that no two moments of the contest look like one."""
        written = [one["at"] for one in (*self.events, *(self.record.get("refused") or ()))]
        written += [self.terms["deadline"]] if self.terms["deadline"] else []
        return Clock.of([*map(self.time, written), *(self.period or ())])

    def effects(self, *kinds: str) -> list[Json]:
        """What was wanted, of some kinds."""
        return [one for one in self.record["effects"] if one["effect"] in kinds]

    def happened(self, kind: str, submission: str | None = None) -> Json | None:
        """The last event of a kind, of a submission where one is named."""
        found = (
            one for one in reversed(self.events)
            if one["event"] == kind and (submission is None or one["submission"] == submission)
        )  # fmt: skip
        return next(found, None)

    def sent(self, submission: str) -> Json:
        """The event by which a submission came."""
        return next(one for one in self.events
                    if one["event"] == "submitted" and one["submission"]["id"] == submission)  # fmt: skip

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

    def before_challenge(self, submission: str) -> Json | None:
        """The scores side by side that a challenge had judged anew, where it had."""
        ranked = self.happened("ranked")
        if ranked is None or self.happened("resolved") is None:
            return None
        told = [one for one in self.effects("tell_submitter") if one["after"] == ranked["number"]]
        return next((together(one) for one in told if one["submission"] == submission), None)


def scores(one: Json, kind: str) -> Json | None:
    """The feedback of a kind with its scores, where a submission has it and they may be seen."""
    found: Sequence[Json] = one["feedback"]
    return next((told for told in found if told["type"] == kind and "dimension_scores" in told), None)


def inside(found: Json | None, *keys: str) -> Any:
    """What stands under some keys; None where there is nothing to look into."""
    value: Any = found
    for key in keys:
        value = None if value is None else value[key]
    return value


def together(one: Json) -> Json | None:
    """The scores side by side, of one that was compared."""
    found = scores(one, "scoring")
    return found if found and found["compared"] else None


def advice(one: Json) -> list[Json]:
    """What to mend, as its author was told."""
    return [tip for told in one["feedback"] for tip in told.get("revision_suggestions", ())]
