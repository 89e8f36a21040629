"""Watch a run until it is over: what its process has done, or what its providers have answered meanwhile."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from dataclasses import dataclass

from evenhand.errors import BusyError
from evenhand.models.connections import Connections
from evenhand.models.server_answers import ServerProblem
from evenhand.runs.live_batches import describe_batch_counts
from evenhand.store.batch_store import BatchCounts
from evenhand.store.store import Store
from evenhand.workflows.run_batches import open_batch_endpoints
from evenhand.workflows.run_following import view_run_following
from evenhand.workflows.stores import StoreLike, open_user_store

MOST_FAILED_LOOKS = 30  # In a row.


@dataclass(frozen=True, slots=True, kw_only=True)
class WatchedRun:
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
        return describe_batch_counts(self.counts)

    @property
    def is_last(self) -> bool:
        """Whether there is nothing more to wait for."""
        return self.state != "running" and (self.state == "finished" or self.over >= self.counts.batches)


async def watch_run(store: StoreLike, run: str, *, every: float = 10.0) -> AsyncIterator[WatchedRun]:
    """A run again and again, until it is over or can only be resumed. Where nobody works on it, providers are asked."""
    failures = 0
    with open_user_store(store) as opened:
        id = opened.find_run(run)["id"]
        async with Connections(os.environ) as connections:
            while True:
                try:
                    found = await _look_at_run(opened, id, connections)
                    failures = 0
                    yield found
                    if found.is_last:
                        return
                except BusyError:
                    failures += 1
                    if failures > MOST_FAILED_LOOKS:
                        raise
                await asyncio.sleep(every)


async def _look_at_run(store: Store, id: str, connections: Connections) -> WatchedRun:
    following = view_run_following(store, id)
    counts, over = store.batches.count_live().get(id, BatchCounts()), 0
    if following.is_over and following.state != "finished" and counts.batches:
        counts, over = await _look_at_providers(store, id, connections)
    return WatchedRun(
        id=id,
        name=following.name,
        state=following.state,
        done=following.done,
        total=following.total,
        counts=counts,
        over=over,
    )


async def _look_at_providers(store: Store, run: str, connections: Connections) -> tuple[BatchCounts, int]:
    """What a run has in batches as their providers tell, and how many batches are over; nothing is changed.

    One that may never have been created counts as over: only who resumes the run can look for it.
    """
    rows = store.batches.list_live(run)
    answered = over = 0
    for row in rows:
        if row["provider_id"] is None:
            over += 1
            continue
        endpoint = open_batch_endpoints([connections.open(row["judge"])])[row["judge"]]
        view = await endpoint.look(row["provider_id"])
        if isinstance(view, ServerProblem):
            if view.kind not in ("busy", "absent"):
                await endpoint.remote.refuse(view)
            raise BusyError(f"{row['judge']}: {view.why}")
        answered += view.answered
        over += view.is_over
    return BatchCounts(batches=len(rows), lines=sum(row["lines"] for row in rows), answered=answered), over
