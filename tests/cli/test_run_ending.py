"""A run that is ending is told to end: the store is closed first, and with it goes what was not to be kept."""

import asyncio
import os
import signal
import sys

import pytest

from evenhand.cli.output import ENDING_SIGNALS
from evenhand.cli.run import show_run_progress
from evenhand.models.budget import Spending
from evenhand.runs.execute import RunProgress


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize("number", ENDING_SIGNALS)
def test_a_signal_after_the_last_sample_does_not_cut_the_end_off(number: signal.Signals) -> None:
    """Texts that are not kept are dropped then: one signal left all of them in the log beside the store."""
    heard: list[int] = []
    before = {one: signal.signal(one, lambda heard_number, _: heard.append(heard_number)) for one in ENDING_SIGNALS}

    async def end() -> None:
        async with show_run_progress(RunProgress(total=1, done=1), Spending):
            pass
        os.kill(os.getpid(), number)

    try:
        asyncio.run(end())
        ignored = [signal.getsignal(one) for one in ENDING_SIGNALS]
    finally:
        for one, handler in before.items():
            signal.signal(one, handler)

    assert heard == []
    assert set(ignored) == {signal.SIG_IGN}
