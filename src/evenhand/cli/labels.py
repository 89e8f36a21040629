"""evenhand labels: which outputs of a run to label next, and whether a file of labels fits it."""

from __future__ import annotations

from pathlib import Path

import click

from evenhand.calibrate.labels import describe_label_binding
from evenhand.calibrate.next_labels import LEAST_FOR_INTERVAL, ExpectedWidth
from evenhand.cli.output import (
    escape_terminal_text,
    print_import_marks,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.screen import Screen, print_import_mark
from evenhand.wording import MISSING_DASH, format_number, format_percent, join_names, pluralize_count
from evenhand.workflows.labels import CheckedLabels, NextLabelPlan

PART_WORDS = {"at_random": "at random", "near_gate": "near the gate", "judges_disagree": "where judges disagree"}


@click.group("labels")
def labels_command() -> None:
    """People's labels: which outputs to label next, and whether a file of labels fits a run."""


@labels_command.command("next")
@click.argument("run", metavar="RUN")
@click.option("-n", "count", type=int, default=12, show_default=True, metavar="OUTPUTS", help="How many to label.")
@click.option("--labels", metavar="FILE", help="Labels that are there already; else those kept with RUN.")
@click.option("--criterion", "criteria", multiple=True, metavar="ID", help="Ask this one only; may be repeated.")
@click.option("--rater", default="", metavar="NAME", help="Who will label, to be written into the file.")
@click.option("-o", "--output", "target", metavar="FILE", help="Write a file to fill in.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def next_labels_command(
    run: str,
    count: int,
    labels: str | None,
    criteria: tuple[str, ...],
    rater: str,
    target: str | None,
    as_data: bool,
) -> None:
    """Choose outputs of RUN to label: half of the draw at random, the rest near the gate and where judges disagree.

    Each comes with the chance with which it was drawn, and estimates weigh it back. RUN is an id, the beginning of one,
    "latest" or "latest:NAME".
    """
    from evenhand.workflows.labels import choose_labels, next_labels_to_json, write_label_template

    plan = choose_labels(None, run, count, labels=None if labels is None else Path(labels), criteria=criteria)
    lines = None if target is None else write_label_template(plan, Path(target), rater)
    with print_until_reader_leaves():
        print_json(next_labels_to_json(plan)) if as_data else print_next_labels(plan, written=lines is not None)
    if target is not None and lines is not None:
        count_words = pluralize_count(lines, "line waits", "lines wait")
        print_message(f"written: {escape_terminal_text(target)} ({count_words} for a score)", err=True)
        print_import_marks([plan.run] if plan.imported else [])


def print_next_labels(plan: NextLabelPlan, *, written: bool) -> None:
    """Print what to label, and what comes of it."""
    screen, drawn = Screen(), plan.drawn
    count = f"{pluralize_count(len(plan.outputs), 'output')} of {pluralize_count(len(drawn.samples), 'sample')}"
    screen.line(f"Label {count}, drawn from {drawn.left:,} without a label.", bold=True)
    print_import_mark(screen, plan.imported, plan.run)
    parts = join_names([f"{format_percent(share)} {PART_WORDS[name]}" for name, share in drawn.parts.items()])
    screen.line(f"Drawn {parts}.", indent=2)
    known = pluralize_count(plan.labelled, "sample has", "samples have")
    where = f"{plan.name} · run {plan.run} · {known} a label"
    screen.line(f"{where} · batch {drawn.batch}, seed {drawn.seed}", gap=True, dim=True)
    for line in describe_label_binding(plan.void, plan.unbound):
        screen.line(line, dim=True)
    _print_next_samples(screen, plan)
    _print_expected_widths(screen, plan.widths)
    ask = "fill in rater and score" if written else "have them written to a file with -o FILE, and fill it in"
    screen.line(f"next: {ask}; then evenhand trust {plan.run} --labels FILE.", gap=True)


def _print_next_samples(screen: Screen, plan: NextLabelPlan) -> None:
    outputs: dict[str, list[str]] = {}
    for one in plan.outputs:
        outputs.setdefault(one.sample, []).append(one.variant)
    drawn = [one for one in plan.drawn.samples if one.sample in outputs]
    screen.line("What to label", gap=True, bold=True)
    columns = {
        "sample": [one.sample for one in drawn],
        "outputs of": [", ".join(outputs[one.sample]) for one in drawn],
        "chance": [format_percent(one.chance) for one in drawn],
        "near the gate": ["yes" if one.near_gate else "" for one in drawn],
        "judges disagree": ["yes" if one.disputed else "" for one in drawn],
    }
    screen.table({name: cells for name, cells in columns.items() if any(cells)}, right=("chance",))


def _print_expected_widths(screen: Screen, widths: tuple[ExpectedWidth, ...]) -> None:
    screen.line("Width of the 95% interval on people's scale, now and about then", gap=True, bold=True)
    columns = {
        "what": [one.kind for one in widths],
        "variant": [one.variant if one.control is None else f"{one.variant} − {one.control}" for one in widths],
        "labelled": [f"{one.labelled:,}" for one in widths],
        "now": [MISSING_DASH if one.now is None else format_number(one.now) for one in widths],
        "then labelled": [f"{one.labelled_then:,}" for one in widths],
        "then": [_format_printed_width(one) for one in widths],
    }
    screen.table(columns, right=("labelled", "now", "then labelled", "then"))
    if any(one.now is None for one in widths):
        screen.line(
            f"{MISSING_DASH} below {LEAST_FOR_INTERVAL} labelled samples there is no interval", indent=2, dim=True
        )


def _format_printed_width(one: ExpectedWidth) -> str:
    if one.then is None:
        return MISSING_DASH
    return format_number(one.then) if one.at == one.labelled_then else f"{format_number(one.then)} with {one.at}"


@labels_command.command("check")
@click.argument("labels", metavar="LABELS")
@click.argument("run", metavar="RUN")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def check_labels_command(labels: str, run: str, as_data: bool) -> None:
    """Say whether LABELS fit RUN: mistakes with their lines, void labels, and how many count. Nothing is kept."""
    from evenhand.workflows.labels import check_labels, checked_labels_to_json

    found = check_labels(None, Path(labels), run)
    with print_until_reader_leaves():
        print_json(checked_labels_to_json(found)) if as_data else _print_checked_labels(found)
    if found.void:
        raise SystemExit(1)


def _print_checked_labels(found: CheckedLabels) -> None:
    screen = Screen()
    people = pluralize_count(len(found.raters), "person", "people")
    sizes = f"{pluralize_count(found.labels, 'label')} by {people} on {pluralize_count(found.outputs, 'output')}"
    screen.line(f"{sizes} fit {found.name} · run {found.run}.", bold=True)
    print_import_mark(screen, found.imported, found.run)
    if found.batches:
        screen.line(f"Drawn in {pluralize_count(found.batches, 'batch', 'batches')} by labels next.", indent=2)
    for line in describe_label_binding(found.void, found.unbound):
        screen.line(line, indent=2)
