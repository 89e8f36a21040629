"""evenhand rubric draft: a rubric from the text of a task and a few outputs that are known to be good or bad."""

from __future__ import annotations

from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import add_record_options, add_request_limit_options, read_connection_command_options
from evenhand.cli.output import (
    escape_cli_line,
    escape_terminal_text,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.screen import Screen
from evenhand.wording import MISSING_DASH, format_number, join_names, pluralize_count

if TYPE_CHECKING:
    from evenhand.workflows.rubric_draft import DraftedRubric


@click.command("draft")
@click.argument("task", metavar="TASK")
@click.option("--examples", metavar="FILE", help="Outputs known to be good or bad, one JSON object per line.")
@click.option("--proposer", metavar="MODEL", help="The model that writes the rubric; without one it is made by rule.")
@click.option("--judge", "judges", multiple=True, metavar="MODEL", help="Who scores the examples (default: embedded).")
@click.option("-o", "--output", metavar="FILE", help="Write the rubric to this file, which must not exist.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_record_options
@add_request_limit_options
def draft_rubric_command(task: str, **options: Any) -> None:
    """Draft a rubric for the task that the file TASK describes, and show how it scores the examples."""
    from evenhand.models.requests import EMBEDDED
    from evenhand.workflows.rubric_draft import draft_rubric, encode_drafted_rubric

    output, examples = (None if options[name] is None else Path(options[name]) for name in ("output", "examples"))
    drafted = draft_rubric(
        Path(task),
        examples,
        proposer=options["proposer"],
        judges=options["judges"] or (EMBEDDED,),
        output=output,
        connect=read_connection_command_options(options),
    )
    with print_until_reader_leaves():
        if options["as_data"]:
            print_json(encode_drafted_rubric(drafted))
            return
        if output is None:
            click.echo(escape_terminal_text(drafted.text), nl=False)
        _print_drafted_examples(drafted)
        if output is not None:
            print_message(escape_cli_line(f"wrote {output}; next: read it, then evenhand rubric show {output}"))


def _print_drafted_examples(drafted: DraftedRubric) -> None:
    """How the rubric scores what is known to be good or bad; on standard output only beside a file."""
    screen, rubric = Screen(), drafted.rubric
    kind = f"proposed by {drafted.by}" if drafted.by else "a scaffold by rule: no model has read the task"
    gates = pluralize_count(len(rubric.all_gates), "gate")
    flags = pluralize_count(len(rubric.red_flags), "red flag")
    screen.line(
        f"{rubric.name}: {pluralize_count(len(rubric.criteria), 'criterion', 'criteria')}, {gates}, {flags}; {kind}.",
        bold=True,
    )
    if not drafted.examples:
        return
    columns = {
        "example": [one.id for one in drafted.examples],
        "known as": ["good" if one.good else "bad" for one in drafted.examples],
        "score": [MISSING_DASH if one.score is None else format_number(one.score) for one in drafted.examples],
        "verdict": [one.verdict or MISSING_DASH for one in drafted.examples],
        "not assessed": [str(one.missing or MISSING_DASH) for one in drafted.examples],
    }
    screen.line(f"The examples, judged by {join_names(drafted.judges)}", gap=True, bold=True)
    screen.table(columns, right=("score", "not assessed"))
    screen.line(_phrase_separation(drafted), gap=True)


def _phrase_separation(drafted: DraftedRubric) -> str:
    """Whether the rubric tells the good examples from the bad ones."""
    known = [(one.good, one.score) for one in drafted.examples if one.score is not None]
    good, bad = ([score for kind, score in known if kind is wanted] for wanted in (True, False))
    if not known:
        return f"{join_names(drafted.judges)} could score none of them: name a model with --judge."
    if not good or not bad:
        return "Give good and bad examples to see whether the rubric tells them apart."
    means = f"{format_number(fmean(good))} against {format_number(fmean(bad))} on average"
    if min(good) > max(bad):
        return f"Every good example scores above every bad one: {means}."
    return f"It does not tell all of them apart: {means}."
