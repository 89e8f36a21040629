"""Carries out the runs that the service was asked for: each in a thread of its own, so that requests are answered."""

from __future__ import annotations

import asyncio
import logging
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field

from evenhand.errors import EvenhandError
from evenhand.models.budget import Spending, add_spending
from evenhand.models.shared_limits import SharedLimits
from evenhand.store.store import Store
from evenhand.workflows.service_runs import ServiceRunControl, carry_out_run, list_due_runs

LOG = logging.getLogger("evenhand.service")
LOOK_SECONDS = 1.0


@dataclass(slots=True)
class RunEngine:
    """Looks for runs that are due, and carries out so many at once until it is stopped."""

    store: Store
    at_once: int
    limits: SharedLimits | None = None  # On models, kept with all other workers.
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _running: dict[str, tuple[ServiceRunControl, asyncio.Task[None]]] = field(default_factory=dict)
    _looking: asyncio.Task[None] | None = None
    _spent: Spending = field(default_factory=Spending)
    _threads: ThreadPoolExecutor = field(init=False)

    def __post_init__(self) -> None:
        self._threads = ThreadPoolExecutor(self.at_once, "evenhand-run")

    @property
    def under_way(self) -> int:
        """How many runs are carried out now."""
        return len(self._running)

    @property
    def spent(self) -> Spending:
        """What the runs of this worker have used, those that are over too."""
        return add_spending([self._spent, *(control.spent for control, _ in self._running.values())])

    def start(self) -> None:
        """Begin to look."""
        self._looking = asyncio.create_task(self._look_until_stopped())

    def begin_stop(self) -> None:
        """Begin nothing more, and have what is under way stop: what was paid for is kept, and the rest is due."""
        if self._looking is not None:
            self._looking.cancel()
        for control, _ in self._running.values():
            control.close_run()

    async def stop(self) -> None:
        """The same, and wait for it."""
        self.begin_stop()
        tasks = [task for _, task in self._running.values()]
        await asyncio.gather(*filter(None, [self._looking, *tasks]), return_exceptions=True)
        self._threads.shutdown()

    def wake(self) -> None:
        """A run was asked for: look now."""
        self._woken.set()

    def stop_run(self, id: str) -> None:
        """Stop a run if it is carried out here; other workers find in the store that it is not wanted."""
        if id in self._running:
            self._running[id][0].stop_run()
        else:
            self._woken.set()

    async def _look_until_stopped(self) -> None:
        while True:
            self._woken.clear()
            try:
                await self._begin_due_runs()
            except EvenhandError as error:
                LOG.warning("runs could not be looked for: %s", error)
            with suppress(TimeoutError):
                await asyncio.wait_for(self._woken.wait(), LOOK_SECONDS)

    async def _begin_due_runs(self) -> None:
        if len(self._running) >= self.at_once:
            return
        for id in await asyncio.to_thread(list_due_runs, self.store):
            if len(self._running) >= self.at_once:
                return
            if id not in self._running:
                control = ServiceRunControl()
                self._running[id] = control, asyncio.create_task(self._carry_out(id, control))

    async def _carry_out(self, id: str, control: ServiceRunControl) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, carry_out_run, self.store, id, control, self.limits)
        except EvenhandError as error:
            LOG.warning("run %s is left to be tried again: %s", id, error)
            await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._spent = add_spending([self._spent, control.spent])
            self._running.pop(id, None)
            self._woken.set()
