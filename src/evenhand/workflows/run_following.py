"""A run while it goes on: how far it is, how fast, what failed, what it cost; and waiting until it is over."""

from __future__ import annotations

import asyncio
import json
import os
from collections import Counter
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from evenhand.errors import BusyError
from evenhand.models.connections import Connections
from evenhand.models.server_answers import ServerProblem
from evenhand.runs.live_batches import describe_run_batch_counts
from evenhand.runs.run_record import count_run_record_seconds
from evenhand.runs.tally import iter_failures_in_result_row
from evenhand.store.reply_claims import BatchCounts
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.models import open_run_judges
from evenhand.workflows.run_batches import open_batch_endpoints_of_run
from evenhand.workflows.service_runs import OVER, view_service_run
from evenhand.workflows.stores import StoreLike, open_user_store

Json = dict[str, Any]
FAILURES_LOOKED_AT = 500
RATE_SECONDS = 60.0  # The rate is that of the last minute.


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFollowingView:
    """A run as it stands now; samples are counted, once for each repeat, and None is what nobody knows."""

    id: str
    name: str
    state: str
    why: str
    started: str | None
    done: int
    total: int | None
    repeats: int
    unscored: int  # Outputs without a score.
    failures: Mapping[str, str]  # The commonest reason of each kind, of the first ones that failed.
    cost: float | None
    tokens: int | None
    is_requested: bool  # Whether a service was asked for it, and can stop and resume it.
    at: float  # Seconds of the store's clock.
    seconds: float | None = None  # That it was worked on.
    rate: float | None = None  # Samples a second, of late.
    seconds_left: float | None = None

    @property
    def is_over(self) -> bool:
        """Whether nothing happens by itself any more."""
        return self.state in OVER

    @property
    def share(self) -> float | None:
        """How much of it is done."""
        return min(1.0, self.done / self.total) if self.total else None


@dataclass(slots=True)
class FollowRunWorkflow:
    """Looks at a run again and again; how fast it is shows between two looks."""

    store: Store
    run: str
    _seen: list[tuple[float, int]] = field(default_factory=list)

    def look(self) -> RunFollowingView:
        """The run now."""
        found = view_run_following(self.store, self.run)
        self._seen = [one for one in self._seen if found.at - one[0] <= RATE_SECONDS]
        self._seen.append((found.at, found.done))
        (first, before), (last, now) = self._seen[0], self._seen[-1]
        rate = (now - before) / (last - first) if last > first else found.rate
        left = (found.total - found.done) / rate if rate and found.total is not None else None
        return replace(found, rate=rate, seconds_left=left)


def view_run_following(store: Store, run: str) -> RunFollowingView:
    """A run as it stands; its rate is that since it started."""
    view = view_service_run(store, run)
    row = store.find_run(view["id"]) if view["started"] is not None else None
    progress: Json = view["progress"] or {}
    counts = store.rows.count_result_states(view["id"])
    stored = store.rows.count_samples_with_result(view["id"])
    setup: Json = {} if row is None else json.loads(row["setup"])
    repeats = int(setup.get("frame", {}).get("repeats") or 1)
    done, total = _count_followed_samples(progress, stored, setup, repeats)
    at = store.now()
    seconds = None if row is None else _count_followed_seconds(row, at)
    rate = done / seconds if seconds and done and view["state"] == "running" else None
    return RunFollowingView(
        id=view["id"],
        name=view["name"],
        state=view["state"],
        why=view["why"] or "",
        started=view["started"],
        done=done,
        total=total,
        repeats=repeats,
        unscored=sum(count for (_, state), count in counts.items() if state != "scored"),
        failures=_explain_followed_failures(store, view["id"]),
        cost=progress.get("cost", view["cost"]),
        tokens=progress.get("tokens"),
        is_requested=store.requests.find_run(view["id"]) is not None,
        at=at.timestamp(),
        seconds=seconds,
        rate=rate,
        seconds_left=(total - done) / rate if rate and total is not None else None,
    )


def _count_followed_samples(progress: Json, stored: int, setup: Json, repeats: int) -> tuple[int, int | None]:
    """How many samples have a result, as a report counts them, and of how many; each counts once for each repeat."""
    if not setup:
        return (progress["done"], progress["total"]) if progress else (0, None)
    # A run that is taken up counts from the beginning what is stored already.
    if progress:
        return max(progress["done"], stored), progress["total"]
    return stored, None if setup.get("samples") is None else setup["samples"] * repeats


def _count_followed_seconds(row: Row, at: datetime) -> float:
    ended = row["ended"] if row["state"] != "running" else None
    return count_run_record_seconds(row, datetime.fromisoformat(ended) if ended else at)


def _explain_followed_failures(store: Store, run: str) -> dict[str, str]:
    """The kinds of failure, the commonest first, each with its commonest reason; an output may have several."""
    kinds: Counter[str] = Counter()
    reasons: Counter[tuple[str, str]] = Counter()
    for row in store.rows.list_unscored_results(run, FAILURES_LOOKED_AT):
        found = set(iter_failures_in_result_row(row, json.loads(row["content"])))
        kinds.update({kind for kind, _ in found})
        reasons.update(sorted(found))
    commonest = reasons.most_common()
    return {one: next(why for (kind, why), _ in commonest if kind == one) for one, _ in kinds.most_common()}


MOST_FAILED_LOOKS = 30  # In a row.


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRunView:
    """A run at one look."""

    id: str
    name: str
    state: str  # "running", "finished", "stopped" or "killed".
    done: int  # Samples.
    total: int | None
    counts: BatchCounts  # What it has in batches.
    over: int = 0  # Of these batches, those of which all answers are there, where nobody works on the run.

    @property
    def under_way(self) -> str:
        """What is in batches, in words."""
        return describe_run_batch_counts(self.counts)

    @property
    def is_last(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.state != "running" and (self.state == "finished" or self.over >= self.counts.batches)


async def watch_run(store: StoreLike, run: str, *, every: float = 10.0) -> AsyncIterator[WatchedRunView]:
    """A run again and again, until it is over or can only be resumed. Where nobody works on it, providers are asked."""
    failures = 0
    with open_user_store(store) as opened:
        id = opened.find_run(run)["id"]
        async with Connections(os.environ) as connections:
            while True:
                try:
                    found = await _look_at_followed_run(opened, id, connections)
                    failures = 0
                    yield found
                    if found.is_last:
                        return
                except BusyError:
                    failures += 1
                    if failures > MOST_FAILED_LOOKS:
                        raise
                await asyncio.sleep(every)


async def _look_at_followed_run(store: Store, id: str, connections: Connections) -> WatchedRunView:
    following = view_run_following(store, id)
    counts, over = store.batches.count_live().get(id, BatchCounts()), 0
    if following.is_over and following.state != "finished" and counts.batches:
        counts, over = await _look_at_followed_providers(store, id, connections)
    return WatchedRunView(
        id=id,
        name=following.name,
        state=following.state,
        done=following.done // following.repeats,
        total=None if following.total is None else following.total // following.repeats,
        counts=counts,
        over=over,
    )


async def _look_at_followed_providers(store: Store, run: str, connections: Connections) -> tuple[BatchCounts, int]:
    """What a run has in batches as their providers tell, and how many batches are over; nothing is changed.

    One that may never have been created counts as over: only who resumes the run can look for it.
    """
    rows = store.batches.list_live(run)
    answered = over = 0
    for row in rows:
        if row["provider_id"] is None:
            over += 1
            continue
        asked = open_run_judges(connections, store.find_run(run), [row["judge"]])
        endpoint = open_batch_endpoints_of_run(asked)[row["judge"]]
        view = await endpoint.look(row["provider_id"])
        if isinstance(view, ServerProblem):
            if view.kind not in ("busy", "absent"):
                await endpoint.remote.refuse(view)
            raise BusyError(f"{row['judge']}: {view.why}")
        answered += view.answered
        over += view.is_over
    return BatchCounts(batches=len(rows), lines=sum(row["lines"] for row in rows), answered=answered), over
