"""What a worker does unasked: plays contests in which something is due, sends messages, and carries out runs."""

from __future__ import annotations

import asyncio
import logging
import math
import random
import time
from collections.abc import Awaitable, Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import timedelta
from functools import partial

from evenhand.errors import EvenhandError
from evenhand.models.budget import Spending, add_model_spending
from evenhand.models.connections import Connections
from evenhand.models.shared_limits import SharedLimits
from evenhand.store.store import Store
from evenhand.workflows.contest import LONGEST_GAP
from evenhand.workflows.contests import refuse_changed_payment_message
from evenhand.workflows.live_contest import list_due_contests, play_live_contest
from evenhand.workflows.service_runs import STOP_PATIENCE, RunWorkflowControl, carry_out_run, list_due_runs
from evenhand.workflows.webhooks import AT_ONCE, WebhookTargets, deliver_due_messages

LOG = logging.getLogger("evenhand.service")
LOOK_SECONDS = 1.0
LEAST_PAUSE = 0.02  # Seconds between two looks, however much comes.
LONGEST_PAUSE = 60.0  # Of a contest that cannot be played, as one whose log was changed.
SILENCE_SECONDS = 60.0  # After which a model that fell silent is asked again.
CONTESTS_AT_ONCE = 20
FORGET_SECONDS = 60.0  # Between two looks for answers that were kept long enough.


@dataclass(slots=True)
class ServiceContestEngine:
    """Plays contests and delivers messages until it is stopped."""

    store: Store
    connections: Connections
    targets: WebhookTargets
    longest_gap: timedelta = LONGEST_GAP  # From the last sign of a contest to the clock.
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _playing: dict[str, asyncio.Task[None]] = field(default_factory=dict)
    _failed: dict[str, tuple[int, float]] = field(default_factory=dict)  # By contest: how often, and rest until when.
    _has_more: bool = False  # More was due than is played at once, or came for what is being played.
    _looking: list[asyncio.Task[None]] = field(default_factory=list)
    _ends: float = math.inf  # When it waits no more for what is under way.

    def start(self) -> None:
        """Begin to look."""
        self._looking = [
            asyncio.create_task(_repeat_until_service_stops(self._play_due_contests, self._wait_for_more)),
            asyncio.create_task(_repeat_until_service_stops(self._tell_others, partial(asyncio.sleep, LOOK_SECONDS))),
            asyncio.create_task(
                _repeat_until_service_stops(self._forget_answers, partial(asyncio.sleep, FORGET_SECONDS))
            ),
        ]

    def begin_stop(self) -> None:
        """Begin nothing more."""
        self._ends = min(self._ends, time.monotonic() + STOP_PATIENCE)
        for task in self._looking:
            task.cancel()

    async def stop(self) -> None:
        """Let what is under way end, so that no reply is lost; what takes too long stops where it is."""
        self.begin_stop()
        playing = list(self._playing.values())
        if playing:
            await asyncio.wait(playing, timeout=max(0.0, self._ends - time.monotonic()))
        for task in playing:
            task.cancel()
        await asyncio.gather(*self._looking, *playing, return_exceptions=True)

    async def wake_contest(self, id: str) -> None:
        """Something came: look now, or as soon as whoever plays the contest here has done so."""
        if id in self._playing:
            self._has_more = True
        else:
            self._woken.set()

    async def _wait_for_more(self) -> None:
        await asyncio.sleep(LEAST_PAUSE)
        with suppress(TimeoutError):
            await asyncio.wait_for(self._woken.wait(), LOOK_SECONDS - LEAST_PAUSE)

    async def _play_due_contests(self) -> None:
        self._woken.clear()
        self.connections.revive_silent_models(SILENCE_SECONDS)
        due = await asyncio.to_thread(list_due_contests, self.store)
        self._failed = {id: self._failed[id] for id in due if id in self._failed}
        now = time.monotonic()
        waiting = [id for id in due if id not in self._playing and self._failed.get(id, (0, 0.0))[1] <= now]
        free = CONTESTS_AT_ONCE - len(self._playing)
        self._has_more = self._has_more or len(waiting) > free
        first = waiting[: 2 * free]
        random.shuffle(first)  # Other workers see the same list: who begins elsewhere is not in the way.
        for id in first[:free]:
            self._playing[id] = task = asyncio.create_task(self._play_contest(id))
            task.add_done_callback(lambda _, id=id: self._end_play(id))  # type: ignore[misc]

    def _end_play(self, id: str) -> None:
        self._playing.pop(id, None)
        if self._has_more:
            self._has_more = False
            self._woken.set()

    async def _play_contest(self, id: str) -> None:
        try:
            await play_live_contest(self.store, id, connections=self.connections, longest_gap=self.longest_gap)
            self._failed.pop(id, None)
        except Exception as error:
            count = self._failed.get(id, (0, 0.0))[0] + 1
            pause = min(LOOK_SECONDS * 2.0 ** min(count - 1, 10), LONGEST_PAUSE)
            self._failed[id] = count, time.monotonic() + pause
            known = isinstance(error, EvenhandError)
            LOG.warning("contest %s could not be played: %s", id, error, exc_info=None if known else error)

    async def _tell_others(self) -> None:
        while await deliver_due_messages(self.store, self.targets, refuse_changed_payment_message) == AT_ONCE:
            continue  # There may be more.

    async def _forget_answers(self) -> None:
        await asyncio.to_thread(lambda: self.store.requests.drop_expired_answers(self.store.now()))
        await asyncio.to_thread(self.store.overwrite_removed)  # What was removed while somebody read.


async def _repeat_until_service_stops(act: Callable[[], Awaitable[None]], pause: Callable[[], Awaitable[None]]) -> None:
    """Act again and again; whatever fails now is tried again."""
    while True:
        try:
            await act()
        except EvenhandError as error:
            LOG.warning("%s", error)
        except Exception:
            LOG.exception("a fault of Evenhand; it goes on")
        await pause()


@dataclass(slots=True)
class ServiceRunEngine:
    """Looks for runs that are due, and carries out so many at once until it is stopped."""

    store: Store
    at_once: int
    limits: SharedLimits | None = None  # On models, kept with all other workers.
    _woken: asyncio.Event = field(default_factory=asyncio.Event)
    _running: dict[str, tuple[RunWorkflowControl, asyncio.Task[None]]] = field(default_factory=dict)
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
        return add_model_spending([self._spent, *(control.spent for control, _ in self._running.values())])

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
                control = RunWorkflowControl()
                self._running[id] = control, asyncio.create_task(self._carry_out(id, control))

    async def _carry_out(self, id: str, control: RunWorkflowControl) -> None:
        loop = asyncio.get_running_loop()
        try:
            await loop.run_in_executor(self._threads, carry_out_run, self.store, id, control, self.limits)
        except EvenhandError as error:
            LOG.warning("run %s is left to be tried again: %s", id, error)
            await asyncio.sleep(LOOK_SECONDS)
        finally:
            self._spent = add_model_spending([self._spent, control.spent])
            self._running.pop(id, None)
            self._woken.set()
