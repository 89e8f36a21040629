"""What a worker does unasked: it finds contests in which something is due, plays them, and sends what is to be told.

The store says what is due, so nothing depends on a wake-up that was announced: after a crash, a restart or a lost
worker the next look finds it.
"""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from dataclasses import dataclass, field

from evenhand.errors import EvenhandError
from evenhand.models.connections import Connections
from evenhand.store.store import Store
from evenhand.workflows.live_contest import list_due_contests, play_live_contest
from evenhand.workflows.webhooks import HookTargets, deliver_due_messages

LOG = logging.getLogger("evenhand.service")
LOOK_SECONDS = 1.0
CONTESTS_AT_ONCE = 20


@dataclass(slots=True)
class ContestEngine:
    """Plays contests and delivers messages until it is stopped."""

    store: Store
    connections: Connections
    targets: HookTargets
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _playing: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _looking: list[asyncio.Task[None]] = field(default_factory=list)

    def start(self) -> None:
        """Begin to look."""
        self._looking = [
            asyncio.create_task(self._play_until_stopped()),
            asyncio.create_task(self._tell_until_stopped()),
        ]

    async def stop(self) -> None:
        """Begin nothing more, and let what is under way stop where it is: every event of it is kept."""
        for task in [*self._looking, *self._playing.values()]:
            task.cancel()
        await asyncio.gather(*self._looking, *self._playing.values(), return_exceptions=True)

    async def wake_contest(self, _id: str) -> None:
        """Something came: look now."""
        self._woken.set()

    async def _play_until_stopped(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self._play_due_contests()
            except EvenhandError as error:
                LOG.warning("contests could not be looked for: %s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), LOOK_SECONDS)

    async def _play_due_contests(self) -> None:
        for id in await asyncio.to_thread(list_due_contests, self.store):
            if len(self._playing) >= CONTESTS_AT_ONCE:
                return
            if id not in self._playing:
                task = asyncio.create_task(self._play_contest(id))
                self._playing[id] = task
                task.add_done_callback(lambda _, id=id: self._playing.pop(id, None))  # type: ignore[misc]

    async def _play_contest(self, id: str) -> None:
        try:
            await play_live_contest(self.store, id, connections=self.connections)
        except EvenhandError as error:
            LOG.warning("contest %s could not be played: %s", id, error)
            await asyncio.sleep(LOOK_SECONDS)

    async def _tell_until_stopped(self) -> None:
        while True:
            try:
                await deliver_due_messages(self.store, self.targets)
            except EvenhandError as error:
                LOG.warning("messages could not be sent: %s", error)
            await asyncio.sleep(LOOK_SECONDS)
