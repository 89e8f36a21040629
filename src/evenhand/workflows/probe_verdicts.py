"""The stored verdicts that rest on a judge, and what it would cost to judge them again."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.calibrate.probes import Probe
from evenhand.store.queries import ASIDE_PREFIXES
from evenhand.store.rows import Row
from evenhand.store.store import Store


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedVerdict:
    """A run, an evaluation or a contest with answers of the judge. `after` is whether it came when drift had begun."""

    kind: Literal["run", "evaluation", "contest"]
    id: str
    name: str
    at: str
    verdict: str | None
    after: bool
    calls: int
    cost: float | None  # In dollars, of the same calls again; None where they have no price.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgedVerdicts:
    """All of them, the newest first; `cost` is that of those after drift began."""

    verdicts: tuple[JudgedVerdict, ...]
    since: str | None
    calls: int
    cost: float | None


def load_verdicts_by_judge(store: Store, probe: Probe, since: str | None) -> JudgedVerdicts:
    """What rests on the judge of a probe; `since` is when it began to drift."""
    found = [
        *_load_runs_by_judge(store, probe, since),
        *_load_evaluations_by_judge(store, probe, since),
        *_load_contests_by_judge(store, probe, since),
    ]
    found.sort(key=lambda one: (one.at, one.id), reverse=True)
    after = [one for one in found if one.after]
    costs = [one.cost for one in after]
    known = [one for one in costs if one is not None]
    return JudgedVerdicts(
        verdicts=tuple(found),
        since=since,
        calls=sum(one.calls for one in after),
        cost=sum(known) if len(known) == len(costs) else None,
    )


def _load_runs_by_judge(store: Store, probe: Probe, since: str | None) -> Iterator[JudgedVerdict]:
    for row in store.list_runs():
        summary = json.loads(row["summary"]) if row["summary"] else None
        judged = next((one for one in (summary or {}).get("judges", ()) if one["name"] == probe.judge), None)
        if summary is None or judged is None or row["name"].startswith(ASIDE_PREFIXES):
            continue
        yield JudgedVerdict(
            kind="run",
            id=row["id"],
            name=row["name"],
            at=row["started"],
            verdict=summary["decision"]["verdict"],
            after=_was_stored_after_probe(row["started"], since),
            calls=judged["calls"],
            cost=_price_probed_calls(probe, judged["calls"], judged["cost"]),
        )


def _load_evaluations_by_judge(store: Store, probe: Probe, since: str | None) -> Iterator[JudgedVerdict]:
    for row in store.evaluations.list_evaluations():
        content = json.loads(row["content"])
        if probe.judge not in content.get("judges", ()) and row["fingerprint"] != probe.fingerprint:
            continue
        card = content["scorecard"]
        yield JudgedVerdict(
            kind="evaluation",
            id=row["id"],
            name=row["subject"],
            at=row["at"],
            verdict=card.get("verdict") or card.get("grade"),
            after=_was_stored_after_probe(row["at"], since),
            calls=1,
            cost=_price_probed_calls(probe, 1, None),
        )


def _load_contests_by_judge(store: Store, probe: Probe, since: str | None) -> Iterator[JudgedVerdict]:
    damaged = store.contests.list_damaged()
    for row in store.contests.list_contests():
        if row["id"] in damaged:
            continue
        calls = [
            one for event in store.contests.stream_events(row["id"], calls=True) for one in _load_calls_by_judge(event)
        ]
        own = [one for one in calls if one.get("judge") == probe.judge]
        if own:
            winner = json.loads(row["summary"]).get("winner") if row["summary"] else None
            yield JudgedVerdict(
                kind="contest",
                id=row["id"],
                name=row["name"],
                at=row["started"],
                verdict=f"winner {winner}" if winner else None,
                after=_was_stored_after_probe(row["touched"], since),
                calls=len(own),
                cost=_price_probed_calls(probe, len(own), None),
            )


def _load_calls_by_judge(event: Row) -> list[dict[str, Any]]:
    """The calls behind an event; beside the first stands how judges are asked."""
    said = json.loads(event["calls"])
    return [one for one in said if isinstance(one, dict)] if isinstance(said, list) else []


def _was_stored_after_probe(at: str, since: str | None) -> bool:
    return since is None or at[:19] >= since[:19]


def _price_probed_calls(probe: Probe, calls: int, paid: float | None) -> float | None:
    """What the calls cost when they were made, else what as many answers to the probe cost."""
    return paid if paid is not None else None if probe.cost is None else calls * probe.cost
