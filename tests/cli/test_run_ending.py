"""A run that is ending is told to end: the store is closed first, and with it goes what was not to be kept."""

import asyncio
import os
import signal
import sys

import pytest

from evenhand.runs.execute import RunProgress
from evenhand.runs.stop_signals import STOPPING_SIGNALS, StopSignals, is_signal_heard, is_signal_left_to_default

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")


@pytest.mark.parametrize("number", STOPPING_SIGNALS)
def test_a_signal_after_the_last_sample_does_not_cut_the_end_off(number: int) -> None:
    """Texts that are not kept are dropped then: one signal left all of them in the log beside the store."""
    heard: list[int] = []
    before = signal.signal(number, lambda heard_number, _: heard.append(heard_number))

    async def end(signals: StopSignals) -> None:
        with signals.stop_run_when_heard(RunProgress(total=1, done=1)):
            pass
        os.kill(os.getpid(), number)
        os.kill(os.getpid(), number)

    try:
        with StopSignals(is_signal_heard) as signals:
            asyncio.run(end(signals))
            heard_meanwhile = list(heard)
        signals.repeat_heard()
    finally:
        signal.signal(number, before)

    assert heard_meanwhile == []
    assert heard == [number]


@pytest.mark.parametrize("number", STOPPING_SIGNALS)
def test_what_handles_a_signal_itself_keeps_it(number: int) -> None:
    """A program decides for itself what a signal does to it; `run_sync` takes those that it leaves to the default."""
    heard: list[int] = []
    before = signal.signal(number, lambda heard_number, _: heard.append(heard_number))

    async def work(signals: StopSignals) -> None:
        with signals.stop_run_when_heard(course):
            os.kill(os.getpid(), number)
            await asyncio.sleep(0)

    course = RunProgress(total=1)
    try:
        with StopSignals(is_signal_left_to_default) as signals:
            asyncio.run(work(signals))
    finally:
        signal.signal(number, before)

    assert heard == [number]
    assert (signals.heard, course.stopping) == ([], False)


def test_a_signal_before_a_run_works_does_what_it_always_did() -> None:
    """Nothing is stored yet, and reading a large file should end when it is told to."""
    with StopSignals(is_signal_left_to_default) as signals:
        with pytest.raises(KeyboardInterrupt):
            signal.raise_signal(signal.SIGINT)
        assert signals.heard == []
