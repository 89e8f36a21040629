"""A run while it goes on: how far it is, how fast, what failed, what it cost, and whether it can be stopped here."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any

from evenhand.runs.tally import iter_failures_in_result_row
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.service_runs import OVER, view_service_run

Json = dict[str, Any]
FAILURES_LOOKED_AT = 500
RATE_SECONDS = 60.0  # The rate is that of the last minute.


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFollowing:
    """A run as it stands now; samples are counted, None is what nobody knows."""

    id: str
    name: str
    state: str
    why: str
    started: str | None
    done: int
    total: int | None
    unscored: int  # Outputs without a score.
    failures: Mapping[str, int]  # By kind, of the first ones that failed.
    cost: float | None
    tokens: int | None
    is_requested: bool  # Whether a service was asked for it, and can stop and resume it.
    at: float  # Seconds of the store's clock.
    seconds: float | None = None  # Since it started.
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
class RunFollower:
    """Looks at a run again and again; how fast it is shows between two looks."""

    store: Store
    run: str
    _seen: list[tuple[float, int]] = field(default_factory=list)

    def look(self) -> RunFollowing:
        """The run now."""
        found = view_run_following(self.store, self.run)
        self._seen = [one for one in self._seen if found.at - one[0] <= RATE_SECONDS]
        self._seen.append((found.at, found.done))
        (first, before), (last, now) = self._seen[0], self._seen[-1]
        rate = (now - before) / (last - first) if last > first else found.rate
        left = (found.total - found.done) / rate if rate and found.total is not None else None
        return replace(found, rate=rate, seconds_left=left)


def view_run_following(store: Store, run: str) -> RunFollowing:
    """A run as it stands; its rate is that since it started."""
    view = view_service_run(store, run)
    row = store.find_run(view["id"]) if view["started"] is not None else None
    progress: Json = view["progress"] or {}
    counts = store.rows.count_result_states(view["id"])
    done, total = _count_samples(progress, counts, row)
    at = store.now().timestamp()
    seconds = None if row is None else _count_seconds(row, at)
    rate = done / seconds if seconds and done and view["state"] == "running" else None
    return RunFollowing(
        id=view["id"],
        name=view["name"],
        state=view["state"],
        why=view["why"] or "",
        started=view["started"],
        done=done,
        total=total,
        unscored=sum(count for (_, state), count in counts.items() if state != "scored"),
        failures=_count_failure_kinds(store, view["id"]),
        cost=progress.get("cost", view["cost"]),
        tokens=progress.get("tokens"),
        is_requested=store.requests.find_run(view["id"]) is not None,
        at=at,
        seconds=seconds,
        rate=rate,
        seconds_left=(total - done) / rate if rate and total is not None else None,
    )


def _count_samples(progress: Json, counts: Mapping[tuple[str, str], int], row: Row | None) -> tuple[int, int | None]:
    """How many samples are done, and of how many; a run that was started elsewhere is counted by its results."""
    if progress:
        return progress["done"], progress["total"]
    if row is None:
        return 0, None
    setup = json.loads(row["setup"])
    frame = setup["frame"]
    each = max(1, len(frame["variants"]) * int(frame.get("repeats") or 1))
    return sum(counts.values()) // each, setup.get("samples")


def _count_seconds(row: Row, at: float) -> float:
    end = datetime.fromisoformat(row["ended"]).timestamp() if row["ended"] and row["state"] != "running" else at
    return max(0.0, end - datetime.fromisoformat(row["started"]).timestamp())


def _count_failure_kinds(store: Store, run: str) -> dict[str, int]:
    found: Counter[str] = Counter()
    for row in store.rows.list_unscored_results(run, FAILURES_LOOKED_AT):
        found.update({kind for kind, _ in iter_failures_in_result_row(row, json.loads(row["content"]))})
    return dict(found.most_common())
