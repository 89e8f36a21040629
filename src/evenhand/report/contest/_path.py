"""The path of a submission: it came, met the gate, was scored alone, went into the final and got its rank."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.report._figures import figure
from evenhand.report.contest._contest import Contest, Json, scores, together
from evenhand.report.contest._words import look

NOT_JUDGED = ("submitted", "unjudged", "policy_violation", "gate_failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """A stage, what came of it and when; a stage that was not reached has no mark."""

    name: str
    mark: str = ""
    says: str = ""
    at: str = ""
    tone: str = "calm"


def path(contest: Contest, one: Json) -> list[Step]:
    """The stages of a submission; there is no final where the first that passes wins."""
    return list(_steps(contest, one))


def _steps(contest: Contest, one: Json) -> Iterator[Step]:
    says = f"revises {one['revises']}" if one["revises"] else "handed in"
    yield Step(name="Came", mark="●", says=says, at=_at(contest, one), tone="plain")
    yield _gate(contest, one)
    yield _alone(contest, one)
    if contest.record["mode"] == "quality_first":
        yield _final(contest, one)
    yield _rank(contest, one)


def _at(contest: Contest, one: Json) -> str:
    return contest.clock.short(contest.time(one["at"]))


def _gate(contest: Contest, one: Json) -> Step:
    if one["status"] == "policy_violation":
        return Step(
            name="Gate",
            mark="✕",
            says="stopped by a guard",
            at=_at(contest, one),
            tone="bad",
        )
    event = contest.happened("gate_checked", one["id"])
    if event is None:
        return _waits("Gate", "waits for the judges", one["status"] == "submitted" and not contest.closed)
    at = _at(contest, event)
    if one["status"] == "gate_failed":
        return Step(name="Gate", mark="✕", says="failed", at=at, tone="bad")
    if one["status"] == "unjudged" and contest.happened("scored", one["id"]) is None and one["feedback"]:
        return Step(name="Gate", mark="–", says="could not be checked", at=at, tone="warn")
    return Step(name="Gate", mark="✓", says="passed", at=at, tone="good")


def _alone(contest: Contest, one: Json) -> Step:
    event = contest.happened("scored", one["id"])
    if event is None:
        return _waits("Alone", "waits for the judges", one["status"] == "gate_passed" and not contest.closed)
    at = _at(contest, event)
    found = scores(one, "individual_scoring")
    if found is None:
        return Step(name="Alone", mark="✓", says="scored, hidden for now", at=at, tone="plain")
    if found["penalized_total"] is None:
        return Step(name="Alone", mark="–", says="no score", at=at, tone="warn")
    says = f"{figure(found['penalized_total'])}, band {found['overall_band']}"
    return Step(name="Alone", mark="✓", says=says, at=at, tone="plain")


def _final(contest: Contest, one: Json) -> Step:
    if one["status"] == "superseded":
        return Step(name="Final", mark="↷", says=one["why"] or "superseded")
    if one["status"] == "below_threshold":
        return Step(name="Final", mark="▽", says=one["why"] or "below the threshold", tone="warn")
    if one["id"] not in contest.finalists:
        if one["rank"] is not None:
            only = one["status"] == "won"
            return Step(name="Final", says="the only one left" if only else "not among the best three")
        now = contest.record["state"] == "ranking"
        return _waits("Final", "the best are compared now" if now else "after the deadline",
                      one["status"] == "gate_passed")  # fmt: skip
    event = contest.happened("resolved") or contest.happened("ranked") or {}
    found = together(one)
    again = " on the challenge" if event["event"] == "resolved" else " side by side"
    says = f"{figure(found['final_score'])}{again}" if found else "could not be read side by side"
    return Step(name="Final", mark="◆", says=says, at=_at(contest, event), tone="plain")


def _rank(contest: Contest, one: Json) -> Step:
    if one["rank"] is None:
        return Step(name="Rank", says="" if contest.hidden and one["status"] not in NOT_JUDGED else "no rank")
    found = look(one["status"], contest.stage)
    won = one["status"] == "won"
    says = f"{one['rank']}, {found.word}" if won else str(one["rank"])
    return Step(name="Rank", mark=found.mark if won else "✓", says=says, tone=found.tone if won else "plain")


def _waits(name: str, says: str, waits: bool) -> Step:
    return Step(name=name, mark="…", says=says) if waits else Step(name=name)
