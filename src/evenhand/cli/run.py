"""evenhand run: an eval file to outputs, judgments, scores, a decision and an exit code; or its plan."""

from __future__ import annotations

import asyncio
import math
import os
import shutil
import signal
import sys
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, redirect_stdout, suppress
from dataclasses import dataclass, replace
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TextIO

import click

from evenhand.cli.output import (
    POSITIVE_NUMBER,
    escape_cli_line,
    escape_terminal_text,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.progress import CLEAR_LINE
from evenhand.models.budget import Spending
from evenhand.runs.execute import RunProgress
from evenhand.runs.stop_signals import StopSignals, is_signal_heard
from evenhand.wording import pluralize_count

if TYPE_CHECKING:
    from evenhand.workflows.run import RunResult

EXIT_STOPPED = 130  # By Ctrl-C, SIGTERM or SIGHUP.
SCHEMA_HELP = "Print the JSON Schema of eval files, for editors."


def _print_eval_schema(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from evenhand.workflows.plan import eval_schema

        print_json(eval_schema())
        context.exit()


@click.command("run")
@click.argument("file", metavar="EVAL")
@click.option(
    "--schema", is_flag=True, is_eager=True, expose_value=False, callback=_print_eval_schema, help=SCHEMA_HELP
)
@click.option("--plan", is_flag=True, help="Say what would be asked and what it would cost; ask nothing.")
@click.option(
    "--sd", type=float, metavar="POINTS", help="With --plan: how far differences scatter, if not as last time."
)
@click.option("--resume", is_flag=True, help="Go on with the last run of this eval; ask only what is new.")
@click.option("--fresh", is_flag=True, help="Ask everything again, even if replies are cached.")
@click.option("--limit", type=click.IntRange(1), metavar="N", help="Only the first N samples of those chosen.")
@click.option("--only", multiple=True, metavar="ID", help="Only the sample with this id; may be repeated.")
@click.option("--tag", "tags", multiple=True, metavar="TAG", help="Only samples with this tag; may be repeated.")
@click.option("--repeats", type=click.IntRange(1), metavar="N", help="Ask each sample N times, whatever the eval says.")
@click.option("--until-decided", is_flag=True, help="Ask in a random order, and no more once the verdict is settled.")
@click.option(
    "--batch/--no-batch",
    default=None,
    help="Ask judges in batches, at the price of batches: within a day. The run may be left, and --resume picks it up.",
)
@click.option(
    "--for-width",
    type=POSITIVE_NUMBER,
    metavar="POINTS",
    help="In a cascade: pass on as many samples as an interval of this width takes.",
)
@click.option(
    "--budget",
    type=POSITIVE_NUMBER,
    metavar="DOLLARS",
    help="Spend no more than this, whatever the eval says; a cascade passes on what it pays for.",
)
@click.option("--fleet", metavar="WHERE", help="Do the work on a Ray cluster: ray, or ray://HOST:PORT.")
@click.option("--labels", metavar="FILE", help="People's labels of its outputs: also score on their scale.")
@click.option("--strict", is_flag=True, help="Count a borderline output as a failure.")
@click.option("--full", is_flag=True, help="Print everything: criteria, tags, gates, judges, the audit.")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
@click.option("--report-only", is_flag=True, help="Exit 0 whatever was decided.")
def run_command(
    file: str, plan: bool, sd: float | None, full: bool, as_data: bool, report_only: bool, **options: Any
) -> int:
    """Run the eval in EVAL: outputs, guards, assertions, judges, scores, and a decision.

    Everything is kept in .evenhand (or the database of EVENHAND_DATABASE_URL) as it comes.

    Exit code: 0 PROGRESS, or one variant and all gates passed; 1 any other verdict, a failed gate, or stopped;
    2 bad input; 3 a fault of Evenhand itself; 130 stopped by Ctrl-C, SIGTERM or SIGHUP.
    """
    if options["resume"] and options["fresh"]:
        raise click.UsageError("--resume keeps what was asked and --fresh asks it again: give one of them")
    if options["batch"] is False and not options["resume"]:
        raise click.UsageError("--no-batch asks directly what batches of a run have not answered: give --resume too")
    if sd is not None and not plan:
        raise click.UsageError("--sd says how far differences scatter, for a plan: give --plan too")
    from evenhand.workflows.run import RunOptions, run
    from evenhand.workflows.run_resuming import STOPPED_BY_HAND

    asked = RunOptions(**options)
    if plan:
        from evenhand.workflows.plan import plan_run

        planned = asyncio.run(plan_run(Path(file), options=asked, sd=sd))
        from evenhand.cli.plan_tables import print_plan

        print_json(planned) if as_data else print_plan(planned)
        return 0
    from evenhand.cli.run_tables import print_run
    from evenhand.workflows.telemetry import open_user_telemetry

    with StopSignals(is_signal_heard, announce=_announce_stop) as signals:
        watch = partial(show_run_progress, signals)
        # What a variant or judge of your own prints must not get between our lines.
        with open_user_telemetry("evenhand run"), redirect_stdout(sys.stderr):
            ran = asyncio.run(run(Path(file), options=asked, watch=watch))
        if signals.heard:  # The store is closed: what is printed may be cut off, but not by the death of the process.
            signals.handle_for_good(lambda *_: os._exit(EXIT_STOPPED))
    with print_until_reader_leaves():
        print_json(ran.head) if as_data else print_run(ran.head, full=full)
        _print_run_next_steps(ran, file)
        if not as_data and os.environ.get("GITHUB_ACTIONS") == "true":
            from evenhand.workflows.report import load_user_report_annotations

            for line in load_user_report_annotations(None, ran.id):  # Failures stand beside the change that made them.
                print_message(line)
    if ran.labels_refused is not None:
        raise ran.labels_refused
    if signals.heard:  # Also while Python ends, which puts other handlers back to the default.
        signals.handle_for_good(signal.SIG_IGN)
    return EXIT_STOPPED if ran.why_stopped == STOPPED_BY_HAND else 0 if report_only else ran.exit_code


def _announce_stop(seconds: float) -> None:
    with suppress(OSError):  # The terminal may be gone.
        print_message(f"\nstopping: up to {seconds:g} s for the calls under way; Ctrl-C again stops at once", err=True)


def _print_run_next_steps(ran: RunResult, file: str) -> None:
    name = escape_terminal_text(file)
    stopping = ran.head.get("stopping")
    if stopping and stopping["settled_early"]:
        asked = f"{stopping['planned'] - stopping['used']:,} of {stopping['planned']:,} samples"
        print_message(f"\nsettled: {asked} did not have to be asked about", err=True)
    if ran.head["run"].get("selection") and not ran.why_stopped:
        print_message(f"\nall samples: evenhand run {name} --resume", err=True)
    if ran.why_stopped:
        once = f", once the budget in {name} is larger" if ran.needs_budget else ""
        why = escape_terminal_text(ran.why_stopped)
        print_message(f"\nnot finished: {why}\nto continue: evenhand run {name} --resume{once}", err=True)
        if ran.under_way:
            goes_on = f"{ran.under_way}; their providers continue without this process"
            print_message(f"{goes_on}\nto wait for them: evenhand runs watch {ran.id}", err=True)
    elif ran.head["unfinished"]:
        again = f"may succeed on another try: evenhand run {name} --resume"
        print_message(f"\n{pluralize_count(ran.head['unfinished'], 'result')} {again}", err=True)
    print_message(f"\nreport: evenhand report {ran.id} --html -o report.html", err=True)


@asynccontextmanager
async def show_run_progress(
    signals: StopSignals, course: RunProgress, spent: Callable[[], Spending]
) -> AsyncIterator[None]:
    """A line that says how far it is; Ctrl-C or SIGTERM stops starting, and a second Ctrl-C stops at once."""
    loop = asyncio.get_running_loop()
    if course.note:
        print_message(escape_cli_line(f"note: {course.note}"), err=True)
    progress = TerminalProgressLine(sys.stderr, loop.time, _describe_printed_run_progress(course), total=course.total)

    async def keep_updating() -> None:
        while True:
            progress.update(course, spent())
            await asyncio.sleep(REDRAW_SECONDS)

    ticker = asyncio.create_task(keep_updating())
    try:
        with signals.stop_run_when_heard(course):
            yield
    finally:
        progress.update(course, spent())
        ticker.cancel()
        progress.end()


def _describe_printed_run_progress(course: RunProgress) -> str:
    asked = "will be asked" if course.fresh else "will be asked where no reply is stored"
    judges = f"{', '.join(course.judges)} {asked}" if course.judges else "no judge is asked"
    until = f"; {course.until}" if course.until else ""
    make = f", {course.to_make:,} of them to make" if course.to_make else ""
    sizes = [pluralize_count(course.total // course.repeats, "sample"), pluralize_count(course.outputs, "output")]
    return f"{' to score, '.join(sizes)}{make}; {judges}{until}"


REDRAW_SECONDS = 0.2  # Seconds between two drawings on a terminal.
LOG_SECONDS = 10.0  # Seconds between two lines in a file.
RATE_WINDOW_SECONDS = 30.0  # That the rate looks back: long enough to be calm, short enough to see a server slow down.


@dataclass(frozen=True, slots=True, kw_only=True)
class ProgressState:
    """How far a run is."""

    total: int
    repeats: int = 1  # Of each sample.
    done: int = 0
    failed: int = 0
    made: int = 0
    to_make: int = 0
    passed_on: int = 0  # Of the total, to be scored once more by the strong judge of a cascade, after the others.
    rate: float | None = None  # Samples a second, lately, without those that were kept from before.
    cost: Decimal | None = None  # US dollars, where every price is known.
    tokens: int = 0
    waiting: str = ""  # What is under way in batches.


class TerminalProgressLine:
    """The line on its way to a terminal, or now and then into a file; trouble with the stream never stops a run."""

    def __init__(
        self, stream: TextIO | None, clock: Callable[[], float], what: str, *, total: int, before: int = 0
    ) -> None:
        """Say what will be asked, before anything is waited for; what was done before does not count as fast."""
        self._stream, self._clock = stream, clock
        self._terminal, self._total = stream is not None and stream.isatty(), total
        self._state = ProgressState(total=total, done=before)
        self._drawn, self._line = clock(), ""
        self._seen = deque([(self._drawn, 0)])
        self._write(f"{escape_cli_line(what)}\n")

    def update(self, course: RunProgress, spent: Spending) -> None:
        """Take in how far it is, and draw it if the last drawing is old enough, also when nothing is new."""
        done, tokens = course.done + course.skipped, spent.input + spent.output
        names = ("failed", "made", "to_make", "passed_on", "repeats", "waiting")
        counts = {name: getattr(course, name) for name in names}
        counts["total"] = self._total + course.passed_on
        self._state = replace(self._state, done=done, cost=spent.cost, tokens=tokens, **counts)
        now = self._clock()
        if now - self._drawn < (REDRAW_SECONDS if self._terminal else LOG_SECONDS):
            return
        self._drawn = now
        worked = course.done - course.carried  # What was kept from before takes no time, and says nothing of the rest.
        self._seen.append((now, worked))
        while len(self._seen) > 2 and self._seen[1][0] <= now - RATE_WINDOW_SECONDS:
            self._seen.popleft()
        since, before = self._seen[0]
        rate = (worked - before) / (now - since) if now > since and not self._state.waiting else None
        state = replace(self._state, rate=rate)  # How fast batches are answered says nothing of the rest.
        line = format_run_progress(state, shutil.get_terminal_size().columns - 1 if self._terminal else 200)
        if state.waiting and line == self._line and not self._terminal:
            return  # Batches take hours: a file is told when something has changed.
        self._line = line
        self._write(f"{CLEAR_LINE}{line}" if self._terminal else f"{line}\n")

    def end(self) -> None:
        """Leave the terminal as it was; in a file, say how far it came."""
        self._write(CLEAR_LINE if self._terminal else f"{format_run_progress(self._state, 200)}\n")

    def _write(self, text: str) -> None:
        if self._stream is not None:
            with suppress(OSError, ValueError):  # Closed, or read by nobody any more.
                self._stream.write(text)
                self._stream.flush()


def format_run_progress(state: ProgressState, width: int) -> str:
    """The state in at most `width` characters; what matters least is left out first."""
    rate = spent = left = ""
    if state.rate:
        rate = f"{state.rate:.{0 if state.rate >= 10 else 1}f}/s" if state.rate >= 1 else f"{state.rate * 60:.1f}/min"
        left = _format_progress_time_left((state.total - state.done) / state.rate) if state.done < state.total else ""
    if state.cost:
        spent = f"${state.cost:.{2 if state.cost >= 1 else 4}f}"
    elif state.cost is None and state.tokens:
        spent = f"{state.tokens:,} tokens"
    first = state.total - state.passed_on
    done = min(state.done, first)
    parts = {  # The higher the number, the sooner it is left out.
        0: f"{done:,} of {first:,} {'samples' if state.repeats == 1 else 'repeats'}",
        2: f"{state.done - done:,} of {state.passed_on:,} passed on" if state.passed_on else "",
        4: f"{state.made:,} of {state.to_make:,} outputs made" if state.to_make else "",
        7: state.waiting,
        6: rate,
        5: spent,
        1: f"{state.failed:,} failed" if state.failed else "",
        3: left,
    }
    shown = {number: text for number, text in parts.items() if text}
    while len(line := " · ".join(shown.values())) > width and len(shown) > 1:
        del shown[max(shown)]
    return line[: max(width, 0)]


def _format_progress_time_left(seconds: float) -> str:
    if seconds < 10:
        return "a few seconds left"
    if seconds < 90:
        return f"about {10 * math.ceil(seconds / 10)} s left"
    if seconds < 90 * 60:
        return f"about {round(seconds / 60)} min left"
    return f"about {round(seconds / 3600)} h left" if seconds < 100 * 3600 else "days left"
