"""Every eval with its newest runs: how composite, layers and pass rate moved, and what was decided last."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from evenhand.errors import Fault, StoreError
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.runs import UserRunListing, load_run_listing
from evenhand.workflows.stores import with_opened_user_store

MOST_TREND_RUNS = 30  # Of one eval, the newest, where several are listed.
MOST_LISTED_RUNS = 300
Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class TrendPoint:
    """One variant in one finished run; `changed` where its fingerprint is another than that of the run before."""

    run: str
    ended: str
    variant: str
    role: str
    composite: float | None
    layers: Mapping[str, float | None]
    pass_rate: float | None  # Of the outputs that have a verdict.
    changed: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTrend:
    """An eval: its newest runs, the newest first, the points of those that are finished, the oldest first."""

    name: str
    total: int  # Runs in the store.
    runs: tuple[UserRunListing, ...]
    points: tuple[TrendPoint, ...]
    verdict: str | None  # Of the newest finished run.
    headline: str
    best: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalTrendPage:
    """Some of the evals that were found."""

    evals: tuple[EvalTrend, ...]
    found: int
    known: int  # Evals in the store.


@with_opened_user_store
def list_eval_trends(
    store: Store, *, search: str = "", verdict: str = "", skip: int = 0, most: int = 10
) -> EvalTrendPage:
    """Evals whose name or one of whose run ids has the words, and whose last verdict is that one; newest run first."""
    ids: dict[str, list[str]] = {}
    for head in store.rows.list_run_heads():
        ids.setdefault(head["name"], []).append(head["id"])
    words = search.casefold().split()
    named = [name for name, own in ids.items() if _has_all_words(words, name, own)]
    if verdict:
        decided = {name: _find_last_decision(store.rows.list_eval_runs(name, MOST_TREND_RUNS)) for name in named}
        named = [name for name in named if decided[name] and decided[name]["verdict"] == verdict]
    evals = tuple(_read_eval_trend(store, name, len(ids[name]), MOST_TREND_RUNS) for name in named[skip : skip + most])
    return EvalTrendPage(evals=evals, found=len(named), known=len(ids))


@dataclass(frozen=True, slots=True, kw_only=True)
class FinishedRun:
    """A finished run, as a choice among others."""

    id: str
    name: str
    started: str


@with_opened_user_store
def list_finished_runs(store: Store, most: int = 100) -> list[FinishedRun]:
    """The newest finished runs of all evals."""
    heads = [one for one in store.rows.list_run_heads() if one["state"] == "finished"]
    return [FinishedRun(**{name: one[name] for name in ("id", "name", "started")}) for one in heads[:most]]


def _has_all_words(words: Sequence[str], name: str, ids: Sequence[str]) -> bool:
    told = name.casefold()
    return all(word in told or any(id.startswith(word) for id in ids) for word in words)


@with_opened_user_store
def load_eval_trend(store: Store, name: str) -> EvalTrend:
    """One eval with all of its runs, up to a few hundred."""
    found = _read_eval_trend(store, name, 0, MOST_LISTED_RUNS)
    if not found.runs:
        raise StoreError(Fault(f"no run of {name!r} is stored", "go to the list of runs"))
    return replace(found, total=len(found.runs))


def _read_eval_trend(store: Store, name: str, total: int, most: int) -> EvalTrend:
    rows = store.rows.list_eval_runs(name, most)
    listed = [load_run_listing(row, held=row["state"] == "running" and store.is_run_held(row)) for row in rows]
    decision = _find_last_decision(rows) or {}
    return EvalTrend(
        name=name,
        total=total,
        runs=tuple(listed),
        points=tuple(_list_trend_points(reversed(rows))),
        verdict=decision.get("verdict"),
        headline=decision.get("headline", ""),
        best=decision.get("best"),
    )


def _find_last_decision(rows: Sequence[Row]) -> Json:
    """What the newest finished run decided; nothing where none is finished."""
    kept = next((row["summary"] for row in rows if row["state"] == "finished" and row["summary"]), None)
    decision: Json = json.loads(kept)["decision"] if kept else {}
    return decision


def _list_trend_points(rows: Iterator[Row]) -> Iterator[TrendPoint]:
    before = None
    for row in rows:
        if row["state"] != "finished" or not row["summary"]:
            continue
        changed = before is not None and row["fingerprint"] != before
        before = row["fingerprint"]
        for one in json.loads(row["summary"])["variants"]:
            verdicts = one.get("verdicts") or {}
            yield TrendPoint(
                run=row["id"],
                ended=row["ended"],
                variant=one["name"],
                role=one["role"],
                composite=_find_trend_mean(one["composite"]),
                layers={name: _find_trend_mean(layer) for name, layer in one["layers"].items()},
                pass_rate=verdicts.get("pass", 0) / sum(verdicts.values()) if verdicts else None,
                changed=changed,
            )


def _find_trend_mean(estimate: Json | None) -> float | None:
    return None if estimate is None else estimate["mean"]
