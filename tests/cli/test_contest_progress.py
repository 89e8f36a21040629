"""The line that says how far a contest is: on a terminal only, and gone when it is over."""

import asyncio
import io

import pytest

from evenhand.cli.progress import format_contest_progress, show_contest_progress
from evenhand.contest.play import ContestProgress


class Terminal(io.StringIO):
    """A stream that says it is one."""

    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize(
    ("progress", "says"),
    [
        (None, "asking · 3 s"),
        (ContestProgress(done=12, total=30, doing="gate_checked"), "submission 12 of 30 · gate · 3 s"),
        (ContestProgress(done=30, total=30, doing="ranked"), "submission 30 of 30 · side by side · 3 s"),
    ],
)
def test_the_line_says_how_far_it_is(progress: ContestProgress | None, says: str) -> None:
    """Which submission, which step, for how long."""
    assert format_contest_progress(progress, 3) == says


def test_a_terminal_sees_the_line_and_then_nothing_of_it() -> None:
    """The result stands where the line was."""
    terminal = Terminal()

    asyncio.run(_play(terminal))

    assert "submission 1 of 2 · scored alone · 0 s" in terminal.getvalue()
    assert terminal.getvalue().endswith("\r\x1b[K")


def test_a_file_sees_nothing() -> None:
    """A log is not filled with lines that overwrite each other."""
    file = io.StringIO()

    asyncio.run(_play(file))

    assert file.getvalue() == ""


async def _play(stream: io.StringIO) -> None:
    async with show_contest_progress(stream) as tell:
        tell(ContestProgress(done=1, total=2, doing="scored"))
        await asyncio.sleep(0)
