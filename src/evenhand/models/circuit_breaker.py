"""A circuit breaker for each model: after a few timeouts in a row nothing is sent, one probe decides, and a model
that stays silent is asked no more.
"""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import Literal

from evenhand.errors import BusyError, CircuitOpenError, ModelError
from evenhand.models.limits import Clock
from evenhand.models.requests import CallNext, Reply, Request

FAILURES_TO_OPEN = 5  # Timeouts or lost connections in a row, over all questions to a model.
LONGEST_PAUSE = 30.0  # Seconds before the probe; no longer than one attempt may take.


@dataclass(slots=True)
class ModelCircuitBreaker:
    """Watches how the attempts to ask one model end; an answer of any kind, also an error, is a sign of life."""

    name: str
    attempt_seconds: float
    clock: Clock
    state: Literal["closed", "open", "dead"] = "closed"  # While it is closed, anybody may ask.
    failures: int = 0  # In a row.
    _why: str = ""
    _is_probing: bool = False
    _is_shut: bool = False
    _since: float = 0.0  # When it was last changed.
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def pause(self) -> float:
        """Seconds from the last failure to the probe."""
        return min(LONGEST_PAUSE, self.attempt_seconds)

    async def wait_until_closed(self) -> bool:
        """Wait while the circuit is open; true for the one that is let through after the pause, as the probe.

        A CircuitOpenError where the probe has failed.
        """
        while self.state == "open":
            if self._is_shut:
                raise asyncio.CancelledError
            if self._is_probing:
                await self._changed.wait()
                continue
            self._is_probing = True
            try:
                await self.clock.sleep(self.pause)
            except BaseException:
                self.abandon_probe()
                raise
            return True
        if self.state == "dead":
            raise CircuitOpenError(f"{self.name}: {self._why}")
        return False

    def revive(self, after: float) -> None:
        """Let one probe through again, once a silent model has been left alone for so many seconds."""
        if self.state == "dead" and not self._is_shut and self.clock.now() - self._since >= after:
            self._change_state("open")

    def note_answer(self) -> None:
        """The model answered something: it lives."""
        self.failures = 0
        if self.state == "open":
            self._change_state("closed")

    def note_failure(self, why: str, *, probe: bool, absent: bool = False) -> None:
        """No answer came within the time, or no connection. A server that was never there is not worth a pause."""
        self.failures += 1
        if probe:
            paused = f"{self.failures} times in a row, the last after a pause of {self.pause:g} s"
            self._why = f"{why}, {paused}: it is asked no more"
            self._change_state("dead")
        elif self.state == "closed" and self.failures >= FAILURES_TO_OPEN:
            self._why = f"{why}, {self.failures} times in a row: it is asked no more"
            self._change_state("dead" if absent else "open")

    def abandon_probe(self) -> None:
        """The probe was cancelled before it could tell: whoever waits next is the probe."""
        self._change_state(self.state)

    def shut(self) -> None:
        """Let nobody through any more; whoever waits is let go, as if cancelled."""
        self._is_shut = True
        self._change_state(self.state)

    async def refuse_when_open(self, request: Request, call_next: CallNext) -> Reply:
        """Middleware, for models that make one attempt at a question: a timeout is a failure, all else an answer."""
        probe = await self.wait_until_closed()
        try:
            reply = await call_next(request)
        except ModelError as error:
            if isinstance(error, BusyError) and error.late:
                self.note_failure(str(error).removeprefix(f"{self.name}: "), probe=probe)
            else:
                self.note_answer()
            raise
        except BaseException:
            if probe:
                self.abandon_probe()
            raise
        self.note_answer()
        return reply

    def _change_state(self, state: Literal["closed", "open", "dead"]) -> None:
        """Wake all who wait, and have the next ones wait for the next change."""
        self.state, self._is_probing, self._since = state, False, self.clock.now()
        self._changed.set()
        self._changed = asyncio.Event()
