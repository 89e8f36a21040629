"""evenhand run: an eval file to outputs, judgments, scores, a decision and an exit code; or its plan."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import asynccontextmanager, redirect_stdout
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.output import (
    escape_terminal_text,
    escape_to_terminal_line,
    print_json,
    print_message,
    until_reader_leaves,
)
from evenhand.cli.screen import Screen
from evenhand.judging.unanswerable import UnanswerableCriterion, describe_unanswerable_criteria
from evenhand.models.budget import Spending
from evenhand.runs.execute import RunProgress
from evenhand.wording import format_dollar_amount, pluralize_count

if TYPE_CHECKING:
    from evenhand.workflows.run import RunResult


STOP_PATIENCE = 10.0  # Seconds that calls under way are waited for once somebody has said stop.
EXIT_STOPPED = 130
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
@click.option("--resume", is_flag=True, help="Go on with the last run of this eval; ask only what is new.")
@click.option("--fresh", is_flag=True, help="Ask everything anew, whatever the store has.")
@click.option("--until-decided", is_flag=True, help="Ask in a random order, and no more once the verdict is settled.")
@click.option("--json", "as_data", is_flag=True, help="Print the head of the report as JSON.")
@click.option("--report-only", is_flag=True, help="Exit 0 whatever was decided.")
def run_command(
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
        from evenhand.workflows.plan import plan_run

        planned = asyncio.run(plan_run(Path(file), resume=resume))
        print_json(planned) if as_data else print_plan(planned)
        return 0
    from evenhand.cli.run_tables import print_run
    from evenhand.workflows.run import STOPPED_BY_HAND, RunOptions, run

    options = RunOptions(resume=resume, fresh=fresh, until_decided=until_decided)
    with redirect_stdout(sys.stderr):  # What a variant or judge of your own prints must not get between our lines.
        ran = asyncio.run(run(Path(file), options=options, watch=_show_run_progress_line))
    with until_reader_leaves():
        print_json(ran.head) if as_data else print_run(ran.head)
        _print_run_next_steps(ran, file)
        if not as_data and os.environ.get("GITHUB_ACTIONS") == "true":
            from evenhand.workflows.report import annotate_stored_run

            for line in annotate_stored_run(None, ran.id):  # Failures stand beside the change that made them.
                print_message(line)
    if ran.why_stopped == STOPPED_BY_HAND:
        return EXIT_STOPPED
    return 0 if report_only else ran.exit_code


def _print_run_next_steps(ran: RunResult, file: str) -> None:
    name = escape_terminal_text(file)
    stopping = ran.head.get("stopping")
    if stopping and stopping["settled_early"]:
        left = stopping["planned"] - stopping["used"]
        asked = f"{left:,} of {stopping['planned']:,} samples did not have to be asked about"
        print_message(f"\nsettled: {asked}", err=True)
    if ran.why_stopped:
        once = f", once the budget in {name} is larger" if ran.needs_budget else ""
        why = escape_terminal_text(ran.why_stopped)
        print_message(f"\nnot finished: {why}\nto go on: evenhand run {name} --resume{once}", err=True)
    elif ran.head["unfinished"]:
        some = pluralize_count(ran.head["unfinished"], "result")
        print_message(f"\n{some} may get better by another try: evenhand run {name} --resume", err=True)
    print_message(f"\nreport: evenhand report {ran.id} --html -o report.html", err=True)


@asynccontextmanager
async def _show_run_progress_line(course: RunProgress, spent: Callable[[], Spending]) -> AsyncIterator[None]:
    """A line that says how far it is; Ctrl-C stops starting, and a second one stops at once."""
    from evenhand.cli.progress import ProgressLine, keep_progress_fresh

    loop, task = asyncio.get_running_loop(), asyncio.current_task()
    progress = ProgressLine(sys.stderr, loop.time)
    timers: list[asyncio.TimerHandle] = []

    def stop() -> None:
        if task is None:
            return
        if course.stopping:
            task.cancel()
            return
        course.stop()
        patience = f"up to {STOP_PATIENCE:g} s for the calls under way"
        print_message(f"\nstopping: {patience}; Ctrl-C again stops at once", err=True)
        timers.append(loop.call_later(STOP_PATIENCE, task.cancel))

    def update() -> None:
        cost, tokens = spent().cost, spent().input + spent().output
        progress.update(done=course.done + course.skipped, failed=course.failed, cost=cost, tokens=tokens)

    loop.add_signal_handler(signal.SIGINT, stop)
    try:
        judges = f"{', '.join(course.judges)} will be asked" if course.judges else "no judge is asked"
        until = f"; {course.until}" if course.until else ""
        if course.note:
            print_message(escape_to_terminal_line(f"note: {course.note}"), err=True)
        begin = f"{pluralize_count(course.outputs, 'output')} to look at; {judges}{until}"
        progress.begin(begin, total=course.total)
        async with keep_progress_fresh(progress, update):
            try:
                yield
            finally:
                update()
    finally:
        loop.remove_signal_handler(signal.SIGINT)
        for timer in timers:  # What comes after is summing up, which nobody has to hurry.
            timer.cancel()


PlanData = Mapping[str, Any]


def print_plan(plan: PlanData) -> None:
    """Print the plan."""
    screen = Screen()
    repeats = f" · {plan['repeats']} repeats" if plan["repeats"] > 1 else ""
    samples = pluralize_count(plan["samples"], "sample")
    screen.line(f"{plan['name']} · {samples}{repeats} · fingerprint {plan['fingerprint']}", dim=True)
    screen.gap()
    columns: dict[str, list[str]] = {"variant": [], "outputs": [], "from": []}
    for one in plan["variants"]:
        counts = {"to make": one["to_make"], "taken over": one["taken_over"]}
        columns["variant"].append(one["name"])
        columns["outputs"].append(", ".join(f"{n:,} {what}" for what, n in counts.items() if n) or "recorded")
        columns["from"].append(one["about"])
    screen.table(columns)
    screen.gap()
    if plan["judges"]:
        _print_planned_judges(screen, plan)
    else:
        screen.line("no judge is asked")
    unanswerable = describe_unanswerable_criteria([UnanswerableCriterion(**one) for one in plan["unanswerable"]])
    for note in filter(None, (plan["note"], unanswerable)):
        screen.line(f"note: {note}")
    screen.gap()
    screen.line("nothing was asked; without --plan the run begins", dim=True)


def _print_planned_judges(screen: Screen, plan: PlanData) -> None:
    judges = plan["judges"]
    columns = {
        "judge": [one["name"] for one in judges],
        "calls": [f"{one['calls']:,}" for one in judges],
        "kept from before": [f"{one['kept']:,}" if one["kept"] else "" for one in judges],
        "tokens in": [f"{one['input_tokens']:,}" for one in judges],
        "out, about": [f"{one['output_tokens']:,}" for one in judges],
        "cost, about": ["unknown" if one["cost"] is None else format_dollar_amount(one["cost"]) for one in judges],
    }
    shown = {name: cells for name, cells in columns.items() if any(cells)}
    screen.table(shown, right=[name for name in shown if name != "judge"])
    screen.gap()
    if plan["looked_at"] < plan["samples"]:
        screen.line(f"worked out from the first {plan['looked_at']:,} samples")
    if any(one["to_make"] for one in plan["variants"]):
        screen.line("outputs that are yet to be made are counted as empty: expect more tokens")
    screen.line("retries and questions asked again because a reply could not be read come on top")
    if plan["budget"]:
        money, tokens = plan["budget"]["money"], plan["budget"]["tokens"]
        bounds = [format_dollar_amount(money)] if money is not None else []
        bounds += [f"{tokens:,} tokens"] if tokens is not None else []
        screen.line(f"budget: {', '.join(bounds)}")
