"""The line while a run is under way: short, calm, honest about the time left, and never in the way."""

import asyncio
import io
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.cli.progress import CLEAR_LINE
from evenhand.cli.run import ProgressState, TerminalProgressLine, format_run_progress, show_run_progress
from evenhand.models.budget import Spending
from evenhand.runs.execute import RunProgress
from evenhand.runs.stop_signals import StopSignals, is_signal_heard
from evenhand.workflows.run import RunOptions, run


class Clock:
    """A clock that a test turns."""

    now = 100.0

    def __call__(self) -> float:
        return self.now


class Terminal(io.StringIO):
    """A stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


class Closed(io.StringIO):
    """A stream that nobody reads any more."""

    def write(self, text: str) -> int:
        raise BrokenPipeError


@pytest.mark.parametrize(
    ("state", "shown"),
    [
        (ProgressState(total=400), "0 of 400 samples"),
        (ProgressState(total=400, done=128, rate=32.4), "128 of 400 samples · 32/s · a few seconds left"),
        (ProgressState(total=400, done=128, rate=3.24), "128 of 400 samples · 3.2/s · about 90 s left"),
        (ProgressState(total=400, done=128, rate=0.5), "128 of 400 samples · 30.0/min · about 9 min left"),
        (ProgressState(total=40_000, done=1280, rate=2.0), "1,280 of 40,000 samples · 2.0/s · about 5 h left"),
        (ProgressState(total=400, done=128, cost=Decimal("0.01234")), "128 of 400 samples · $0.0123"),
        (ProgressState(total=400, done=128, cost=Decimal("12.346")), "128 of 400 samples · $12.35"),
        (ProgressState(total=400, done=128, tokens=51200), "128 of 400 samples · 51,200 tokens"),
        (ProgressState(total=400, done=128, failed=2), "128 of 400 samples · 2 failed"),
        (ProgressState(total=400, done=400, rate=3.0), "400 of 400 samples · 3.0/s"),
        (ProgressState(total=400, made=17, to_make=800), "0 of 400 samples · 17 of 800 outputs made"),
        (ProgressState(total=430, done=412, passed_on=30), "400 of 400 samples · 12 of 30 passed on"),
    ],
)
def test_the_line_says_what_is_known(state: ProgressState, shown: str) -> None:
    """And nothing that is not: no time left before there is a rate."""
    assert format_run_progress(state, 80) == shown


def test_on_a_narrow_terminal_the_least_important_goes_first() -> None:
    """How far it is, what failed and how long it takes stay longest."""
    state = ProgressState(total=400, done=128, failed=2, rate=3.24, cost=Decimal("0.0123"))

    assert [format_run_progress(state, width) for width in (78, 58, 48, 33, 18)] == [
        "128 of 400 samples · 3.2/s · $0.0123 · 2 failed · about 90 s left",
        "128 of 400 samples · $0.0123 · 2 failed · about 90 s left",
        "128 of 400 samples · 2 failed · about 90 s left",
        "128 of 400 samples · 2 failed",
        "128 of 400 samples",
    ]


@given(
    st.builds(
        ProgressState,
        total=st.integers(0, 10**9),
        done=st.integers(0, 10**9),
        failed=st.integers(0, 10**9),
        rate=st.none() | st.floats(0, 1e9),
        cost=st.none() | st.decimals(0, 10**6, places=6),
        tokens=st.integers(0, 10**12),
    ),
    st.integers(0, 200),
)
def test_the_line_fits_whatever_comes(state: ProgressState, width: int) -> None:
    """A line that wraps cannot be drawn again."""
    assert len(format_run_progress(state, width)) <= width
    assert "\n" not in format_run_progress(state, width)


def test_a_terminal_is_drawn_at_most_five_times_a_second() -> None:
    """A thousand results a second do not cost a thousand drawings."""
    clock, stream = Clock(), Terminal()
    progress = TerminalProgressLine(stream, clock, "24 samples × 2 variants: 48 calls to embedded", total=1000)

    for done in range(1, 1001):
        clock.now += 0.001
        progress.update(RunProgress(total=0, done=done), Spending())
    progress.end()

    first, *drawn, last = stream.getvalue().split(CLEAR_LINE)
    assert first == "24 samples × 2 variants: 48 calls to embedded\n"
    assert 3 <= len(drawn) <= 5
    assert last == ""


def test_a_file_gets_a_line_every_ten_seconds_at_most() -> None:
    """And the first at once, so that nobody waits without knowing for what."""
    clock, stream = Clock(), io.StringIO()
    progress = TerminalProgressLine(stream, clock, "48 calls", total=100)

    for done in range(1, 101):
        clock.now += 0.25
        progress.update(RunProgress(total=0, done=done), Spending())
    progress.end()

    assert stream.getvalue().splitlines() == [
        "48 calls",
        "40 of 100 samples · 4.0/s · about 20 s left",
        "80 of 100 samples · 4.0/s · a few seconds left",
        "100 of 100 samples",
    ]


def test_a_wait_without_results_is_not_silent() -> None:
    """A build that waits for a slow server still shows a sign of life."""
    clock, stream = Clock(), io.StringIO()
    progress = TerminalProgressLine(stream, clock, "48 calls", total=48)

    for _ in range(4):
        clock.now += 10
        progress.update(RunProgress(total=0, done=0), Spending())

    assert stream.getvalue().splitlines() == ["48 calls", *["0 of 48 samples"] * 4]


def test_what_was_done_before_does_not_count_as_fast() -> None:
    """A resumed run that skips 90,000 results takes as long as the rest takes."""
    clock, stream = Clock(), io.StringIO()
    progress = TerminalProgressLine(stream, clock, "goes on", total=100_000, before=90_000)

    clock.now += 10
    progress.update(RunProgress(total=100_000, done=10, skipped=90_000), Spending())

    assert stream.getvalue().splitlines()[-1] == "90,010 of 100,000 samples · 1.0/s · about 3 h left"


def test_what_was_kept_from_before_does_not_count_as_fast() -> None:
    """Ninety replies out of the store in a second say nothing of the ten that a model has to give."""
    clock, stream = Clock(), io.StringIO()
    progress = TerminalProgressLine(stream, clock, "48 calls", total=1000)

    clock.now += 10
    progress.update(RunProgress(total=1000, done=910, carried=900), Spending())

    assert stream.getvalue().splitlines()[-1] == "910 of 1,000 samples · 1.0/s · about 2 min left"


def test_where_only_kept_samples_are_done_no_time_is_promised() -> None:
    """There is no rate yet."""
    clock, stream = Clock(), io.StringIO()
    progress = TerminalProgressLine(stream, clock, "48 calls", total=1000)

    clock.now += 10
    progress.update(RunProgress(total=1000, done=900, carried=900), Spending())

    assert stream.getvalue().splitlines()[-1] == "900 of 1,000 samples"


def test_outputs_are_counted_while_no_sample_is_done() -> None:
    """Also in the log of a build: making them is where the time goes."""
    clock, stream = Clock(), io.StringIO()
    progress = TerminalProgressLine(stream, clock, "48 outputs to look at", total=24)

    for made in (6, 30):
        clock.now += 10
        progress.update(RunProgress(total=24, to_make=48, made=made), Spending())

    assert stream.getvalue().splitlines()[1:] == [
        "0 of 24 samples · 6 of 48 outputs made",
        "0 of 24 samples · 30 of 48 outputs made",
    ]


def test_the_rate_is_that_of_the_last_half_minute() -> None:
    """A server that slows down is seen."""
    clock, stream = Clock(), io.StringIO()
    progress = TerminalProgressLine(stream, clock, "48 calls", total=10_000)

    for second in range(1, 121):
        clock.now += 1
        progress.update(RunProgress(total=0, done=50 * min(second, 60) + max(0, second - 60)), Spending())

    assert "3,060 of 10,000 samples · 1.0/s" in stream.getvalue()


def test_texts_from_the_eval_are_not_obeyed() -> None:
    """The name of a run is untrusted like any other text."""
    stream = Terminal()

    TerminalProgressLine(stream, Clock(), "a\x1b[2J\nb", total=1)

    assert stream.getvalue() == "a\\x1b[2J\\nb\n"


def test_samples_that_a_cascade_draws_are_counted_by_themselves() -> None:
    """They are scored once more: the line would count past its end, as in 7 of 4 samples."""
    stream, clock = io.StringIO(), Clock()
    progress, course = TerminalProgressLine(stream, clock, "4 samples", total=4), RunProgress(total=4, done=4)

    course.add_pieces(0, 3)
    course.done += 2
    clock.now += 10
    progress.update(course, Spending())

    assert stream.getvalue().splitlines()[-1].startswith("4 of 4 samples · 2 of 3 passed on")


def test_a_stream_that_is_gone_does_not_stop_the_run() -> None:
    """Nor does a process without standard error."""
    gone = Closed()

    for stream in (gone, None):
        progress = TerminalProgressLine(stream, Clock(), "48 calls", total=48)
        progress.end()

    assert gone.getvalue() == ""


def test_the_line_is_gone_when_the_work_is_done_or_broken(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also after an error, so that its message stands on a line of its own."""
    stream = Terminal()
    monkeypatch.setattr("sys.stderr", stream)

    async def broken() -> None:
        async with show_run_progress(StopSignals(is_signal_heard), RunProgress(total=48), Spending):
            await asyncio.sleep(0)
            raise KeyError

    with pytest.raises(KeyError):
        asyncio.run(broken())

    assert stream.getvalue().endswith(CLEAR_LINE)


def test_a_run_knows_which_samples_it_only_carried_over(tmp_path: Path) -> None:
    """The second run of the same eval asks nothing."""
    (tmp_path / "eval.yaml").write_text(
        "samples: [{id: a, input: Hi, output: Hello}, {id: b, input: Hi, output: Go}]\n"
        "rubric: {criteria: [{id: greets, asks: \"Does it contain the word 'Hello'?\"}]}\n",
        "utf-8",
    )
    seen: list[RunProgress] = []

    @asynccontextmanager
    async def watch(course: RunProgress, _spent: object) -> AsyncIterator[None]:
        seen.append(course)
        yield

    for _ in range(2):
        asyncio.run(run(tmp_path / "eval.yaml", options=RunOptions(place=tmp_path / "store"), watch=watch))

    assert [(one.done, one.carried) for one in seen] == [(2, 0), (2, 2)]
