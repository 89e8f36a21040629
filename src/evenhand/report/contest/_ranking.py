"""The ranking as a table: those with a rank first, then the others by how far they came."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.report.contest._contest import Contest, Json, inside, scores, together
from evenhand.report.contest._words import STATUSES, Look, look


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """A row of the ranking."""

    rank: int | None
    id: str
    place: int
    author: str
    revises: str | None
    side: float | None
    alone: float | None
    band: str | None
    flags: tuple[str, ...]
    tie: str | None
    look: Look
    why: str | None


def ranked(contest: Contest) -> list[Place]:
    """Every submission, the best first."""
    order = list(STATUSES)
    rows = sorted(contest.submissions, key=lambda one: _far(one, order))
    return [_place(contest, one) for one in rows]


def _far(one: Json, order: list[str]) -> tuple[bool, int, int, float]:
    status = order.index(one["status"]) if one["status"] in order else len(order)
    return one["rank"] is None, one["rank"] or 0, status, -(one["score"] or 0.0)


def _place(contest: Contest, one: Json) -> Place:
    alone, now, placed = scores(one, "individual_scoring"), together(one), scores(one, "scoring")
    counts = now or alone or {}
    return Place(
        rank=one["rank"],
        id=one["id"],
        place=contest.places[one["id"]],
        author=one["author"],
        revises=one["revises"],
        side=inside(now, "final_score"),
        alone=inside(alone, "penalized_total"),
        band=inside(alone, "overall_band"),
        flags=tuple(counts.get("risk_flags", ())),
        tie=inside(placed, "tie_broken_by"),
        look=look(one["status"], contest.stage),
        why=one["why"],
    )
