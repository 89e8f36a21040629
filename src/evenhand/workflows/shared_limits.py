"""Limits on models that all workers of one store keep together: the store hands them out."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from evenhand.errors import StoreError
from evenhand.models.limits import Limits
from evenhand.models.shared_limits import SharedLimits
from evenhand.models.slices import LimitSlices
from evenhand.store.rows import to_stored_json
from evenhand.store.run_holds import name_new_player
from evenhand.store.store import Store
from evenhand.workflows.connections import ConnectionOptions

T = TypeVar("T")
RETRY_SECONDS = 1.0  # While the store does not answer.


def share_worker_limits(store: Store, options: ConnectionOptions) -> SharedLimits:
    """The limits that these options name, over all workers of a store."""
    limits = Limits(
        concurrency=options.concurrency,
        requests_per_minute=options.requests_per_minute,
        tokens_per_minute=options.tokens_per_minute,
    )
    return SharedLimits(limits, StoredLimits(store), name_new_player)


@dataclass(frozen=True, slots=True)
class StoredLimits:
    """Hands out slices from the rows of a store."""

    store: Store

    async def change_slices(self, model: str, change: Callable[[LimitSlices, float], tuple[LimitSlices, T]]) -> T:
        """Change what has been handed out of a model's limits; a store that does not answer is asked again."""

        while True:
            try:
                return await asyncio.to_thread(change_stored_slices, self.store, model, change)
            except StoreError:
                await asyncio.sleep(RETRY_SECONDS)


def change_stored_slices(store: Store, model: str, change: Callable[[LimitSlices, float], tuple[LimitSlices, T]]) -> T:
    """Change what a store keeps of a model's limits, given that and its time."""

    def change_row(content: str, now: float) -> tuple[str, T]:
        before = LimitSlices.from_json(json.loads(content)) if content else LimitSlices()
        after, result = change(before, now)
        return to_stored_json(after.to_json()), result

    return store.limits.change_row(model, change_row)
