"""All that is known of a submission, opened from its path: text, checks, scores, advice, how the total came about."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report._figures import figure
from evenhand.report.contest._contest import Contest, Json, advice, inside, scores, together
from evenhand.report.contest._passages import Piece, in_context, marked_text
from evenhand.report.contest._path import Step, path
from evenhand.report.contest._scale import Measured, ScaleChart, scale_chart
from evenhand.report.contest._words import Look, look
from evenhand.report.html._figures import percent, short


@dataclass(frozen=True, slots=True, kw_only=True)
class Total:
    """How a total came about, in figures."""

    name: str
    sum: str
    base: str
    penalty: float
    reasons: tuple[str, ...]
    total: str
    by_judge: str  # The total of each judge and what they come to; nothing where there is one judge.


@dataclass(frozen=True, slots=True, kw_only=True)
class Detail:
    """A submission as it is opened."""

    id: str
    place: int
    author: str
    look: Look
    why: str | None
    steps: list[Step]
    text: list[Piece]
    left_out: int
    checks: list[Json]
    violations: list[tuple[Json, list[Piece]]]
    chart: ScaleChart | None
    said: list[tuple[str, Json | None, Json | None]]
    totals: list[Total]
    notes: list[str]
    advice: list[Json]


def detail(contest: Contest, one: Json) -> Detail:
    """All of one submission."""
    text, left_out = marked_text(contest, one["id"])
    alone, now = scores(one, "individual_scoring"), together(one)
    weights = {dimension["id"]: dimension["weight"] for dimension in contest.record["dimensions"]}
    by_dimension = [(id, *(inside(found, "dimension_scores", id) for found in (alone, now))) for id in weights]
    return Detail(
        id=one["id"], place=contest.places[one["id"]], author=one["author"],
        look=look(one["status"], contest.stage), why=one["why"], steps=path(contest, one), text=text,
        left_out=left_out, checks=_checks(contest, one), violations=_violations(contest, one),
        chart=scale_chart(f"{one['id']}: every dimension on 0 to 100", [_measured(*three) for three in by_dimension]),
        said=by_dimension if alone or now else [], totals=list(_totals(contest, alone, now)),
        notes=_notes(alone, now), advice=advice(one),
    )  # fmt: skip


def _measured(dimension: str, alone: Json | None, now: Json | None) -> Measured:
    return Measured(name=dimension, alone=inside(alone, "score"), together=inside(now, "score"))


def _checks(contest: Contest, one: Json) -> list[Json]:
    """The acceptance criteria as they were checked; of a submission that passed, from what the judges said."""
    told = [check for found in one["feedback"] for check in found.get("criteria_checks", ())]
    event = contest.happened("gate_checked", one["id"])
    if told or event is None:
        return told
    by: dict[str, list[Json]] = {}
    for check in event["checks"]:
        by.setdefault(check["criterion"], []).append(check)
    asked = enumerate(contest.terms["acceptance"], start=1)
    return [_passed(asks, by.get(f"criterion-{number}", [])) for number, asks in asked]


def _passed(asks: str, said: Sequence[Json]) -> Json:
    quotes = dict.fromkeys(quote["text"] for one in said for quote in one["evidence"])
    reasons = [f"{one['judge']}: {one['reason']}" if len(said) > 1 else one["reason"] for one in said if one["reason"]]
    return {"criterion": asks, "passed": True, "evidence": "\n".join(quotes), "reason": "\n".join(reasons),
            "revision_hint": None}  # fmt: skip


def _violations(contest: Contest, one: Json) -> list[tuple[Json, list[Piece]]]:
    sent = contest.sent(one["id"])
    return [(finding, in_context(sent["submission"]["text"], finding)) for finding in sent["findings"]]


def _totals(contest: Contest, alone: Json | None, now: Json | None) -> Iterator[Total]:
    weights = {dimension["id"]: dimension["weight"] for dimension in contest.record["dimensions"]}
    for name, found, key in (("Alone", alone, "penalized_total"), ("Side by side", now, "final_score")):
        if found and found[key] is not None:
            flagged = [f"{id} is below expected" for id in found["risk_flags"]]
            yield Total(
                name=name,
                sum=_sum(weights, found["dimension_scores"]),
                base=figure(found["weighted_base"]),
                penalty=found["penalty"],
                reasons=tuple(found.get("penalty_reasons") or flagged),
                total=figure(found[key]),
                by_judge=_by_judge(contest.terms["weights"], found.get("by_judge") or {}, figure(found[key])),
            )


def _sum(weights: Mapping[str, float], by_dimension: Mapping[str, Json]) -> str:
    return " + ".join(f"{percent(weight)} × {short(by_dimension[id]['score'])}" for id, weight in weights.items())


def _by_judge(weights: Mapping[str, Any], totals: Mapping[str, float | None], mean: str) -> str:
    """What the mean of several judges is taken from; a judge without a weight counts once."""
    if not totals:
        return ""
    counts = {judge: f" (weight {weights[judge]})" if judge in weights else "" for judge in totals}
    each = ", ".join(f"{judge} {figure(total)}{counts[judge]}" for judge, total in totals.items())
    return f"Judge by judge: {each}. Their {'weighted ' if any(counts.values()) else ''}mean is {mean}."


def _notes(*told: Json | None) -> list[str]:
    return list(dict.fromkeys(note for found in told if found for note in found.get("notes") or ()))
