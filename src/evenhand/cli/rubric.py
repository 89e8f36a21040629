"""evenhand rubric: lists, shows, checks, starts and drafts rubrics."""

from __future__ import annotations

import json
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.options import add_record_options, add_request_limit_options, read_connection_command_options
from evenhand.cli.output import (
    escape_cli_line,
    escape_terminal_text,
    print_error,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.screen import Screen
from evenhand.errors import InputError
from evenhand.model.method import Method
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.report.result_phrases import (
    describe_reported_method_scale,
    format_reported_anchor_place,
    format_reported_scale_score,
    list_reported_method_steps,
)
from evenhand.scoring.scores import list_scorecard_tie_breaks
from evenhand.wording import (
    MISSING_DASH,
    format_fraction,
    format_number,
    join_names,
    pluralize_count,
    quote_text,
    shorten_text_to_line,
    word_criterion,
)
from evenhand.workflows.rubric import (
    build_rubric_file_schema,
    check_rubric_file,
    find_rubric,
    list_rubrics,
    read_rubric_file_text,
    write_starter_rubric,
)

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
    screen.line(_phrase_printed_separation(drafted), gap=True)


def _phrase_printed_separation(drafted: DraftedRubric) -> str:
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


@click.group("rubric")
def rubric_command() -> None:
    """List, show, check, start and draft rubrics."""


rubric_command.add_command(draft_rubric_command)


@rubric_command.command("list")
def list_rubrics_command() -> None:
    """List the rubrics that ship."""
    library = list_rubrics()
    # The rubrics that can be used as they are, and the methods that need criteria.
    screen, rubrics, methods = Screen(), library.rubrics, library.methods
    columns = {
        "rubric": [rubric.name for rubric in rubrics],
        "method": [rubric.method.name for rubric in rubrics],
        "criteria": [", ".join(word_criterion(criterion.id) for criterion in rubric.criteria) for rubric in rubrics],
    }
    screen.table(columns)
    screen.line("Methods for rubrics with criteria of your own:", gap=True)
    screen.line()
    screen.table({"method": [method.name for method in methods], "about": [method.about for method in methods]})


@rubric_command.command("show")
@click.argument("name", metavar="NAME|FILE")
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the file itself, to copy and change.")
def show_rubric_command(name: str, as_yaml: bool) -> None:
    """Show a rubric in full, or its file."""
    if as_yaml:
        click.echo(escape_terminal_text(read_rubric_file_text(name)), nl=False)
        return
    found = find_rubric(name)
    if isinstance(found, Rubric):
        print_rubric(found)
        return
    screen = Screen()
    screen.line(found.name, bold=True)
    screen.line(found.about)
    screen.line("It has no criteria of its own: list them in a rubric.")
    _print_method_steps(screen, found)


@rubric_command.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE…")
@click.option("--judge", "judges", multiple=True, metavar="NAME", help="Who will judge by it (default: embedded).")
def check_rubric_command(files: tuple[str, ...], judges: tuple[str, ...]) -> int:
    """Check rubric and method files.

    Faults (exit 2), and what a careful colleague would point out (exit 0): also criteria that the judge cannot answer.
    """
    faulty = 0
    for file in files:
        try:
            checked = check_rubric_file(file, judges)
        except InputError as error:
            faulty += 1
            print_error(str(error))
            continue
        for fault in checked.warnings:
            print_message(escape_cli_line(f"{fault.where or file}: warning: {fault.what}"))
        said = pluralize_count(len(checked.warnings), "warning") if checked.warnings else "no warnings"
        valid = f"a valid rubric for {checked.method}, {said}" if checked.method else "a valid method"
        print_message(escape_cli_line(f"{file}: {valid}"))
        if checked.note:
            Screen().line(f"{file}: note: {checked.note}")
    return 2 if faulty else 0


@rubric_command.command("schema")
def rubric_schema_command() -> None:
    """Print a JSON Schema for rubric files, for editors."""
    click.echo(json.dumps(build_rubric_file_schema(), indent=2, ensure_ascii=False))


@rubric_command.command("init")
@click.argument("file", default="rubric.yaml")
def init_rubric_command(file: str) -> None:
    """Write a commented starter rubric to FILE (default: rubric.yaml)."""
    write_starter_rubric(file)
    print_message(escape_cli_line(f"wrote {file}; next: evenhand rubric check {file}"))


def print_rubric(rubric: Rubric) -> None:
    """Everything a rubric asks and does."""
    screen = Screen()
    screen.line(rubric.name, bold=True)
    if rubric.about:
        screen.line(rubric.about)
    if rubric.method.about:
        screen.line(f"Method {rubric.method.name}: {rubric.method.about}")
    screen.line("Criteria", gap=True, bold=True, underline=True)
    for criterion in rubric.criteria:
        _print_criterion(screen, criterion, 2)
    for title, statements in (("Red flags", rubric.red_flags), ("Bonuses", rubric.bonuses)):
        if statements:
            screen.line(title, gap=True, bold=True, underline=True)
        for statement in statements:
            amount = f" ({format_fraction(statement.amount)})" if statement.amount is not None else ""
            asks = "" if statement.id == statement.asks else f"{amount}: {statement.asks}"
            screen.line(f"{statement.id}{asks}", 2)
    gates = rubric.all_gates
    if gates:
        screen.line("Gates", gap=True, bold=True, underline=True)
    for gate in gates:
        gated = rubric.criterion(gate.criterion)
        yes_no = gated is not None and gated.scale.yes_no
        screen.line(f"{gate.criterion}: {'must be yes' if yes_no else f'at least {format_fraction(gate.min)}'}", 2)
    _print_method_steps(screen, rubric.method)
    ties = list_scorecard_tie_breaks(rubric)
    if ties:
        screen.line("Ties: " + ", ".join(map(str, ties)), 2)


def _print_criterion(screen: Screen, criterion: Criterion, indent: int) -> None:
    weight = f"weight {format_fraction(criterion.weight)}"
    worth = weight if criterion.points is None else f"points {format_fraction(criterion.points)}"
    named = word_criterion(criterion.id)  # Who writes a file needs the id, too.
    name = named if named == criterion.id else f"{named} ({criterion.id})"
    screen.heading(name, f"{criterion.scale}, {worth}{', fixed' if criterion.fixed else ''}", indent)
    if criterion.asks:
        screen.line(criterion.asks, indent + 2)
    for anchor in criterion.anchors:
        screen.line(f"{format_reported_anchor_place(anchor, criterion.scale)}: {anchor.text}", indent + 4)
    for example in criterion.examples:
        why = f" ({shorten_text_to_line(example.why, 80)})" if example.why else ""
        told = f"{format_reported_scale_score(example.score, criterion.scale)}{why}"
        screen.line(f"example, scored {told}: {quote_text(example.passage, 80)}", indent + 4)
    for child in criterion.children:
        _print_criterion(screen, child, indent + 2)


def _print_method_steps(screen: Screen, method: Method) -> None:
    screen.line("Score", gap=True, bold=True, underline=True)
    places = method.scale.decimals
    screen.line(f"{describe_reported_method_scale(method)}, by these steps:", 2)
    for number, step in enumerate(list_reported_method_steps(method), start=1):
        parameters = f" ({', '.join(step.given)})" if step.given else ""
        screen.line(f"{number}. {step.word}{parameters}: {step.about}", 2)
    if method.grades:
        grades = (f"{one.grade} from {format_fraction(one.from_, places)}" for one in method.grades)
        screen.line(f"Grades: {', '.join(grades)}", 2)
        for one in method.grades:
            if one.description:
                screen.line(f"{one.grade} ({one.label}): {one.description}", 4)
    if method.verdicts:
        verdicts = (f"{one.verdict} from {format_fraction(one.from_)}" for one in method.verdicts)
        screen.line(f"Verdict: {', '.join(verdicts)}, else fail", 2)
    if method.environment:
        screen.line(f"Environment: {', '.join(method.environment)}", 2)
