"""evenhand run: an eval file to outputs, judgments, scores, a decision and an exit code."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli._text import clean, tell, tell_json, while_read
from evenhand.judging.models import Spent
from evenhand.runs import Course

if TYPE_CHECKING:
    from evenhand.running import Ran

PATIENCE = 10.0  # Seconds that calls under way are waited for once somebody has said stop.
STOPPED = 130


SCHEMA_HELP = "Print the JSON Schema of eval files, for editors."


def _schema(context: click.Context, _option: click.Parameter, wanted: bool) -> None:
    if wanted:
        from evenhand.runs import eval_schema  # noqa: PLC0415

        tell_json(eval_schema())
        context.exit()


@click.command("run")
@click.argument("file", metavar="EVAL")
@click.option("--schema", is_flag=True, is_eager=True, expose_value=False, callback=_schema, help=SCHEMA_HELP)
@click.option("--plan", is_flag=True, help="Say what would be asked and what it would cost; ask nothing.")
@click.option("--resume", is_flag=True, help="Go on with the last run of this eval; ask only what is new.")
@click.option("--fresh", is_flag=True, help="Ask everything anew, whatever the store has.")
@click.option("--until-decided", is_flag=True, help="Ask in a random order, and no more once the verdict is settled.")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
@click.option("--report-only", is_flag=True, help="Exit 0 whatever was decided.")
def command(
    file: str, plan: bool, resume: bool, fresh: bool, until_decided: bool, as_data: bool, report_only: bool
) -> int:
    """Run the eval in EVAL: outputs, guards, assertions, judges, scores, and a decision.

    Everything is kept in .evenhand (or the database of EVENHAND_DATABASE_URL) as it comes.

    Exit code: 0 PROGRESS, or one variant and all gates passed; 1 any other verdict, a failed gate, or stopped;
    2 bad input; 3 a fault of Evenhand itself; 130 stopped by Ctrl-C.
    """
    if resume and fresh:
        raise click.UsageError("--resume keeps what was asked and --fresh asks it anew: give one of them")
    if plan:
        return _show_plan(file, as_data, resume=resume)
    from evenhand.running import BY_HAND, Options, run  # noqa: PLC0415

    options = Options(resume=resume, fresh=fresh, until_decided=until_decided)
    with redirect_stdout(sys.stderr):  # What a variant or judge of your own prints must not get between our lines.
        ran = asyncio.run(run(Path(file), options=options, watch=_watched))
    with while_read():
        _show(ran.head, as_data)
        _say_next(ran, file)
        if not as_data:
            _annotate(ran.id)
    if ran.why_stopped == BY_HAND:
        return STOPPED
    return 0 if report_only else ran.exit_code


def _show(head: dict[str, Any], as_data: bool) -> None:
    if as_data:
        tell_json(head)
    else:
        from evenhand.cli._run_view import show_run  # noqa: PLC0415

        show_run(head)


def _say_next(ran: Ran, file: str) -> None:
    name = clean(file)
    stopping = ran.head.get("stopping")
    if stopping and stopping["settled_early"]:
        left = stopping["planned"] - stopping["used"]
        tell(f"\nsettled: {left:,} of {stopping['planned']:,} samples did not have to be asked about", err=True)
    if ran.why_stopped:
        once = f", once the budget in {name} is larger" if ran.needs_budget else ""
        tell(f"\nnot finished: {clean(ran.why_stopped)}\nto go on: evenhand run {name} --resume{once}", err=True)
    elif ran.head["unfinished"]:
        count = ran.head["unfinished"]
        some = "1 result" if count == 1 else f"{count:,} results"
        tell(f"\n{some} may get better by another try: evenhand run {name} --resume", err=True)
    tell(f"\nreport: evenhand report {ran.id} --html -o report.html", err=True)


def _annotate(id: str) -> None:
    """Where GitHub Actions run us, the failures stand beside the change that made them."""
    if os.environ.get("GITHUB_ACTIONS") != "true":
        return
    from evenhand.cli._stored import stored  # noqa: PLC0415
    from evenhand.deciding import report_for  # noqa: PLC0415
    from evenhand.report import annotations  # noqa: PLC0415

    with stored() as store:
        for line in annotations(*report_for(store, id)):
            tell(line)


def _show_plan(file: str, as_data: bool, *, resume: bool) -> int:
    from evenhand.cli._plan_view import show_plan  # noqa: PLC0415
    from evenhand.planning import plan  # noqa: PLC0415

    planned = asyncio.run(plan(Path(file), resume=resume))
    tell_json(planned) if as_data else show_plan(planned)
    return 0


@asynccontextmanager
async def _watched(course: Course, spent: Callable[[], Spent]) -> AsyncIterator[None]:
    """A line that says how far it is; Ctrl-C stops starting, and a second one stops at once."""
    from evenhand.cli._run_progress import Progress, ticking  # noqa: PLC0415

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    progress = Progress(sys.stderr, loop.time)
    timers: list[asyncio.TimerHandle] = []

    def stop() -> None:
        if task is None:
            return
        if course.stopping:
            task.cancel()
            return
        course.stop()
        tell(f"\nstopping: up to {PATIENCE:g} s for the calls under way; Ctrl-C again stops at once", err=True)
        timers.append(loop.call_later(PATIENCE, task.cancel))

    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        progress.begin(_beginning(course), total=course.total)
        async with ticking(progress):
            feeder = asyncio.create_task(_feed(progress, course, spent))
            try:
                yield
            finally:
                feeder.cancel()
                _update(progress, course, spent())
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        for timer in timers:  # What comes after is summing up, which nobody has to hurry.
            timer.cancel()


def _beginning(course: Course) -> str:
    outputs = "1 output" if course.outputs == 1 else f"{course.outputs:,} outputs"
    judges = f"{', '.join(course.judges)} will be asked" if course.judges else "no judge is asked"
    until = f"; {course.until}" if course.until else ""
    note = f"; note: {course.note}" if course.note else ""
    return f"{outputs} to look at; {judges}{until}{note}"


async def _feed(progress: Any, course: Course, spent: Callable[[], Spent]) -> None:
    while True:
        _update(progress, course, spent())
        await asyncio.sleep(0.2)


def _update(progress: Any, course: Course, spent: Spent) -> None:
    done = course.done + course.skipped
    progress.update(done=done, failed=course.failed, cost=spent.cost, tokens=spent.input + spent.output)
