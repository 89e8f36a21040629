"""The events as a list: what happened, and what followed from it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.report._figures import times
from evenhand.report.contest._contest import Contest, Json
from evenhand.report.contest._words import Stage, look


@dataclass(frozen=True, slots=True, kw_only=True)
class Line:
    """An event in words."""

    number: int
    at: str
    says: str
    follows: tuple[str, ...]


def happened(contest: Contest) -> Iterator[Line]:
    """Every event in order."""
    # Who is first has won at once only where the first that passes does.
    stage = contest.stage if contest.record["mode"] == "fastest_first" else "open"
    for event in contest.events:
        effects = [one for one in contest.record["effects"] if one["after"] == event["number"]]
        yield Line(
            number=event["number"], at=contest.clock.full(contest.time(event["at"])), says=_says(event),
            follows=tuple(_wanted(one, stage, due=contest.ahead is not None) for one in effects),
        )  # fmt: skip


def _says(event: Json) -> str:
    known = {
        "created": "The contest began, its dimensions locked.",
        "gate_checked": f"The acceptance criteria were checked on {event.get('submission')}.",
        "scored": f"{event.get('submission')} was scored alone.",
        "deadline_reached": f"The time for {event.get('deadline')} was over.",
        "ranked": "The finalists were scored side by side.",
        "challenged": f"{event.get('by')} challenged the ranking: {event.get('reason')}",
        "resolved": "Judges who had not judged before looked again.",
    }
    return _came(event) if event["event"] == "submitted" else known[event["event"]]


def _came(event: Json) -> str:
    sent = event["submission"]
    revises = f", which revises {sent['revises']}" if sent["revises"] else ""
    found = f"; a guard found {times(len(event['findings']), 'passage')}" if event["findings"] else ""
    return f"{sent['author']} handed in {sent['id']}{revises}{found}."


def _wanted(effect: Json, stage: Stage, *, due: bool) -> str:
    """What an effect asks for; `stage` is what being first is worth, `due` whether paying still lies ahead."""
    id, author = effect.get("submission"), effect.get("author")
    panel = " by the judges for challenges" if effect.get("panel") == "challenge_judges" else ""
    reward = f": {effect['reward']}" if effect.get("reward") else ""
    finalists = ", ".join(effect.get("submissions", ())) or "the finalists"
    known = {
        "ask_gate": f"{id} goes to the gate",
        "ask_individual": f"{id} is to be scored alone{panel}",
        "ask_horizontal": f"{finalists} are to be compared{panel}",
        "tell_submitter": f"{author} is told of {id}: {look(effect.get('status', ''), stage).word}",
        "release_payment": f"payment {'due' if due else 'released'} to {author}{reward}",
        "close": f"{'closes' if due else 'closed'}: {effect.get('why')}",
    }
    return known[effect["effect"]]
