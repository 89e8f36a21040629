"""The signals that stop a run: taken before it begins, and given back once its store is closed."""

from __future__ import annotations

import asyncio
import signal
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any

from evenhand.runs.execute import RunProgress

# By whoever ends a process or closes its terminal. They may say so often: it stops once.
ENDING_SIGNALS = tuple(getattr(signal, name) for name in ("SIGTERM", "SIGHUP") if hasattr(signal, name))
STOP_PATIENCE = 10.0  # Seconds that calls under way are waited for once somebody has said stop.
TERMINATION_PATIENCE = 4.0  # Whoever ends a process (docker stop) kills it after ten.
STOPPING_SIGNALS: Mapping[int, float] = {
    signal.SIGINT: STOP_PATIENCE,
    **dict.fromkeys(ENDING_SIGNALS, TERMINATION_PATIENCE),
}
_DEFAULT_HANDLERS = (signal.SIG_DFL, signal.default_int_handler)

SignalHandler = Callable[[int, FrameType | None], Any] | int | signal.Handlers | None


def is_signal_heard(handler: SignalHandler) -> bool:
    """Whether a signal does anything: `nohup` has one ignored. What is no handler of Python cannot be put back."""
    return handler is not None and handler != signal.SIG_IGN


def is_signal_left_to_default(handler: SignalHandler) -> bool:
    """Whether the program has no handler of its own."""
    return handler in _DEFAULT_HANDLERS


class StopSignals:
    """Holds the handlers of these signals, in the main thread; elsewhere Python lets nobody do so, and it holds none.

    Before a run works, they do what they would do anyway: nothing is stored yet. While it works, they stop it. Once it
    sums up, they are only noted, so that none leaves a store with texts that are not to be kept.
    """

    def __init__(
        self,
        takes: Callable[[SignalHandler], bool],
        patience: Mapping[int, float] = STOPPING_SIGNALS,
        announce: Callable[[float], None] = lambda seconds: None,
    ) -> None:
        """Take those whose handler `takes` says; `announce` is told how long calls under way are waited for."""
        self._takes, self._patience, self._announce = takes, patience, announce
        self._before: dict[int, Any] = {}
        self._taken: tuple[int, ...] = ()
        self._stop: Callable[[int], object] | None = None
        self._began = False
        self.heard: list[int] = []  # While the run worked, and since.

    def __enter__(self) -> StopSignals:
        """Take them."""
        if threading.current_thread() is threading.main_thread():
            handlers = {number: signal.getsignal(number) for number in self._patience}
            self._before = {number: handler for number, handler in handlers.items() if self._takes(handler)}
            self._taken = tuple(self._before)
            for number in self._taken:
                signal.signal(number, self._hear)
        return self

    def __exit__(self, *_: object) -> None:
        """Give them back, unless something else handles them for good."""
        for number, handler in self._before.items():
            signal.signal(number, handler)

    def handle_for_good(self, handler: Callable[[int, FrameType | None], Any] | signal.Handlers) -> None:
        """Handle each that was taken so from now on."""
        self._before = {}
        for number in self._taken:
            signal.signal(number, handler)

    def stop_run(self) -> None:
        """Stop the run that works, if one does, as Ctrl-C would."""
        self._tell_run(signal.SIGINT)

    def repeat_heard(self) -> None:
        """Let those that were heard have their usual effect, those that end the process first."""
        for number in sorted(dict.fromkeys(self.heard), key=lambda number: number == signal.SIGINT):
            signal.raise_signal(number)

    def _hear(self, number: int, frame: FrameType | None) -> None:
        if self._began:
            self.heard.append(number)
            self._tell_run(number)
        elif self._before[number] == signal.SIG_DFL:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        else:
            self._before[number](number, frame)

    def _tell_run(self, number: int) -> None:
        stop = self._stop
        if stop is not None:
            with suppress(RuntimeError):  # Its loop is in another thread, and has ended this moment.
                stop(number)

    @contextmanager
    def stop_run_when_heard(self, course: RunProgress) -> Iterator[None]:
        """The first lets calls under way end, for as long as its patience; a Ctrl-C after that stops at once."""
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        timers: list[asyncio.TimerHandle] = []

        def stop_at_once() -> None:
            _cancel_timers(timers)
            if task is not None and not task.cancelling():  # Once: what follows is clean-up.
                task.cancel()

        def stop(number: int) -> None:
            if self._stop is None:
                return  # It came in the last moment: the run sums up by now.
            if course.stopping and number == signal.SIGINT:
                stop_at_once()
                return
            is_first = not timers
            course.stop_run()
            timers.append(loop.call_later(self._patience[number], stop_at_once))
            if is_first:
                self._announce(self._patience[number])

        # A handler runs between any two steps of the main thread: what it does belongs into the loop, and wakes it.
        self._stop = lambda number: loop.call_soon_threadsafe(stop, number)
        self._began = True
        try:
            yield
        finally:
            self._stop = None
            _cancel_timers(timers)  # What comes after is summing up, which nobody has to hurry.


def _cancel_timers(timers: list[asyncio.TimerHandle]) -> None:
    for timer in timers:
        timer.cancel()
