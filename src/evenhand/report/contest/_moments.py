"""What stands on the time line: the moments of the contest and of every submission, each with a kind and a word."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime

from evenhand.report.contest._contest import Contest, Json

# In the order of the key below the drawing.
KINDS = {
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
class Moment:
    """Something that happened, in a lane of the time line."""

    when: datetime
    kind: str
    says: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Lane:
    """A lane: the contest itself, a submission, or all that were refused."""

    name: str
    moments: tuple[Moment, ...]
    own: bool = False  # Whether it is a submission's.
    first: bool = False
    outside: bool = False  # Whether what it holds never became part of the contest.


def lanes(contest: Contest) -> list[Lane]:
    """The contest, every submission in order of arrival, and what was refused."""
    found = [Lane(name="contest", moments=tuple(_contest(contest)))]
    found += [
        Lane(name=one["id"], moments=tuple(_submission(contest, one)), own=True,
             first=one["id"] == contest.record["winner"])
        for one in contest.submissions
    ]  # fmt: skip
    refused = contest.record.get("refused") or ()
    moments = tuple(
        Moment(when=contest.time(one["at"]), kind="failed", says=f"{one['id'] or 'a challenge'} was refused")
        for one in refused
    )
    return [*found, Lane(name="refused", moments=moments, outside=True)] if moments else found


def _contest(contest: Contest) -> Iterator[Moment]:
    says = {
        "created": ("begin", "the contest began"),
        "ranked": ("together", "finalists compared side by side"),
        "challenged": ("challenge", "the ranking was challenged"),
        "resolved": ("together", "judges who had not judged before looked again"),
    }
    for event in contest.events:
        if event["event"] in says:
            kind, words = says[event["event"]]
            yield Moment(when=contest.time(event["at"]), kind=kind, says=words)
    paying = "due" if contest.ahead else "paid"
    for effect in contest.effects("release_payment", "close"):
        when = contest.time(effect["at"])
        if effect["effect"] == "release_payment":
            yield Moment(when=when, kind=paying, says=f"{KINDS[paying]} to {effect['author']}")
        elif effect["winner"] is None:
            yield Moment(when=when, kind="end", says=f"{'closes' if contest.ahead else 'closed'}: {effect['why']}")


def _submission(contest: Contest, one: Json) -> Iterator[Moment]:
    id, arrived = one["id"], contest.time(one["at"])
    yield Moment(when=arrived, kind="came", says=f"{id} came from {one['author']}")
    if one["status"] == "policy_violation":
        yield Moment(when=arrived, kind="failed", says=f"{id} was stopped by a guard")
    checked, alone = contest.happened("gate_checked", id), contest.happened("scored", id)
    if checked:
        passed = one["status"] != "gate_failed" and (alone or one["status"] != "unjudged")
        words = f"{id} {'passed the gate' if passed else 'did not pass the gate'}"
        yield Moment(when=contest.time(checked["at"]), kind="passed" if passed else "failed", says=words)
    if alone:
        yield Moment(when=contest.time(alone["at"]), kind="alone", says=f"{id} was scored alone")
    for name in ("ranked", "resolved"):
        event = contest.happened(name)
        if event and id in contest.finalists:
            yield Moment(when=contest.time(event["at"]), kind="together", says=f"{id} was compared side by side")
    kind = "wins" if contest.ahead else "won"
    for paid in contest.effects("release_payment"):
        if paid["submission"] == id:
            yield Moment(when=contest.time(paid["at"]), kind=kind, says=f"{id} {KINDS[kind]}")
