"""evenhand align: edits of a rubric that bring its judges nearer to people, kept only if they clearly do."""

from __future__ import annotations

import asyncio
import sys
from contextlib import redirect_stdout
from pathlib import Path
from typing import Any

import click

from evenhand.calibrate.alignment import AlignedRubric
from evenhand.calibrate.labels import describe_label_binding
from evenhand.calibrate.rubric_edits import (
    RubricEdit,
    describe_rubric_edit,
    list_edit_examples,
    list_edit_texts,
)
from evenhand.cli.options import add_record_options, add_request_limit_options, read_connection_command_options
from evenhand.cli.output import (
    escape_cli_line,
    escape_terminal_text,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.screen import Screen, print_import_mark
from evenhand.model.rubric import Rubric
from evenhand.wording import format_dollar_amount, format_p_value, format_percent, pluralize_count, quote_text
from evenhand.workflows.align import AlignmentReport, AlignOptions, align_run, encode_alignment, write_aligned_rubric
from evenhand.workflows.align_inputs import AlignmentPlan

MODEL_HELP = "Who is asked instead of the judges of RUN; an imported RUN needs it."


@click.command("align")
@click.argument("run", metavar="RUN")
@click.option("--labels", metavar="FILE", help="People's labels, one JSON object per line; else those kept with RUN.")
@click.option("--output", "-o", metavar="FILE", help="Write the new rubric, or the judges with a map, to a new file.")
@click.option("--proposer", metavar="MODEL", help="A model that proposes edits; without one, examples and a map.")
@click.option("--model", "-m", "models", multiple=True, metavar="NAME", help=MODEL_HELP)
@click.option("--rubric", metavar="FILE", help="The rubric that RUN asked by, if its eval does not lead to it.")
@click.option("--seed", type=int, default=0, help="Decides which samples edits are drafted from.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_record_options
@add_request_limit_options
def align_command(run: str, labels: str | None, output: str | None, as_data: bool, **options: Any) -> int:
    """Try edits of the rubric of RUN, and keep one if its judges then answer more like people.

    A quarter of the labelled samples is for drafting edits. The others decide, by nested cross-validation. Every reply
    is kept in the store: stopped or out of budget, the same command goes on.

    Exit code: 0 an edit is kept; 1 the present rubric stands; 2 bad input. RUN is an id, the beginning of one, "latest"
    or "latest:NAME".
    """
    asked = AlignOptions(
        rubric=options["rubric"],
        proposer=options["proposer"],
        judges=options["models"],
        seed=options["seed"],
        output=None if output is None else Path(output),
        connect=read_connection_command_options(options),
    )
    with redirect_stdout(sys.stderr):  # What a judge of your own prints must not get between our lines.
        given = None if labels is None else Path(labels)
        report = asyncio.run(align_run(None, run, given, options=asked, announce=print_alignment_plan))
    written = None if asked.output is None else write_aligned_rubric(report, asked.output)
    with print_until_reader_leaves():
        print_json(encode_alignment(report)) if as_data else print_alignment(report, written)
    if written is not None:
        print_message(f"written: {escape_terminal_text(str(written))}", err=True)
    return report.exit_code


def print_alignment_plan(plan: AlignmentPlan) -> None:
    """What will be asked at most, said before."""
    cost = "unknown cost" if plan.cost is None else f"about {format_dollar_amount(float(plan.cost))}"
    samples = f"{pluralize_count(plan.samples, 'sample')} to decide, {plan.drafting} to draft from"
    calls = f"at most {pluralize_count(plan.calls, 'call')} for up to {plan.rubrics} rubrics, {cost}"
    print_message(escape_cli_line(f"plan: {samples}; {calls}"), err=True)


def print_alignment(report: AlignmentReport, written: Path | None) -> None:
    """Print it; the answer comes first."""
    screen, found = Screen(), report.found
    one = found.selection
    if found.edits:
        kept = (
            f"Kept: {_name_printed_edits(found)}."
            if report.text
            else "The rubric stands, and a map of its scores helps."
        )
        screen.line(kept, bold=True, fg="green")
    else:
        screen.line(f"The present rubric stands: {found.why}.", bold=True)
    print_import_mark(screen, report.imported, report.run)
    before, after = (
        f"{format_percent(error.estimate)} [{format_percent(error.low)}, {format_percent(error.high)}]"
        for error in (one.before, one.after)
    )
    screen.line(
        f"Error on samples that neither the edits nor their choice saw: {before} before, {after} after.", indent=2
    )
    screen.line(f"Against no improvement: {format_p_value(one.chance)}.", indent=2)
    samples = f"{one.samples} samples decided, {found.drafting} drafted"
    labels = pluralize_count(report.labels, "label")
    screen.line(f"{report.name} · run {report.run} · {labels} · {samples}", gap=True, dim=True)
    for line in describe_label_binding(report.void, report.unbound):
        screen.line(line, dim=True)
    for edit in found.edits:
        _print_edit(screen, found, edit)
    _print_tried(screen, found)
    for refused in found.refused:
        screen.line(f"Refused: {_name_printed_candidate(found.tried[0].rubric, (refused.edit,))}", gap=True)
        screen.line(f"because {refused.why}", indent=2)
    for note in found.notes:
        screen.line(note, gap=True)
    cost = "unknown cost" if report.cost is None else format_dollar_amount(float(report.cost))
    screen.line(
        f"{pluralize_count(report.calls, 'call')} now (at most {report.plan.calls:,}), {cost}", gap=True, dim=True
    )
    screen.line(f"next: {_phrase_printed_next_step(report, written)}")


def _name_printed_edits(found: AlignedRubric) -> str:
    rubric = found.tried[0].rubric
    return "; ".join(describe_rubric_edit(rubric, edit)[0] for edit in found.edits)


def _print_edit(screen: Screen, found: AlignedRubric, edit: RubricEdit) -> None:
    place, before, after = describe_rubric_edit(found.tried[0].rubric, edit)
    screen.line(place, gap=True, bold=True)
    screen.line(f"− {before}", indent=2)
    screen.line(f"+ {after}", indent=2)
    screen.line(f"why: {edit.reason or 'no reason was given'}", indent=2)


def _print_tried(screen: Screen, found: AlignedRubric) -> None:
    rubric, errors = found.tried[0].rubric, found.selection.errors
    names = ["the present rubric", *(_name_printed_candidate(rubric, one.edits) for one in found.tried[1:])]
    names += ["a map of scores"] if found.map_tried else []
    screen.line("What was tried, by its error on all samples that decide", gap=True, bold=True)
    shown = [format_percent(error) for error in errors[: len(names)]]
    screen.table({"tried": names, "error": shown}, right=("error",))


def _name_printed_candidate(rubric: Rubric, edits: tuple[RubricEdit, ...]) -> str:
    """The places that are edited, and the new text where there is one."""
    places = ", ".join(describe_rubric_edit(rubric, edit)[0] for edit in edits)
    texts = [] if list_edit_examples(edits[0]) else list_edit_texts(edits[0])
    return f"{places}: {quote_text(texts[0])}" if texts else places


def _phrase_printed_next_step(report: AlignmentReport, written: Path | None) -> str:
    if not report.found.edits:
        return "more labels, another judge, or a --proposer"
    if written is None:
        return "write it: -o better.yaml"
    return f"name {written} as the {'judges' if report.judges else 'rubric'} of the eval, and run it"
