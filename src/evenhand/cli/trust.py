"""evenhand trust: how often the gates of a run decide otherwise than people, and whether they may gate."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import click

from evenhand.calibrate.labels import UNEQUAL_CHANCES, describe_label_binding
from evenhand.calibrate.trust import (
    DecisionErrors,
    GateTrust,
    list_gate_error_lines,
    phrase_direction_trust,
    phrase_trust_answer,
    phrase_trust_next_step,
)
from evenhand.cli.output import print_json, print_until_reader_leaves
from evenhand.cli.screen import Screen
from evenhand.wording import MISSING_DASH, format_percent, pluralize_count
from evenhand.workflows.trust import RunTrust

TRUST_COLOURS = {"may gate": "green", "one way": "yellow", "may not": "red"}


@click.command("trust")
@click.argument("run", metavar="RUN")
@click.option("--labels", metavar="FILE", help="People's labels, one JSON object per line; else those kept with RUN.")
@click.option("--min-score", metavar="NUMBER", help="Hold this gate on the score against people instead.")
@click.option("--at-most", type=float, default=0.2, show_default=True, help="The share of wrong decisions to accept.")
@click.option("--report-only", is_flag=True, help="Exit 0 whatever the answer is.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def trust_command(
    run: str, labels: str | None, min_score: str | None, at_most: float, report_only: bool, as_data: bool
) -> None:
    """Say whether the judges of RUN may gate: how often they pass what people fail, and fail what people pass.

    Exits 0 if they may gate, else 1. RUN is an id, the beginning of one, "latest" or "latest:NAME".
    """
    from evenhand.workflows.inputs import parse_user_input_number
    from evenhand.workflows.trust import encode_run_trust, measure_trust

    least = None if min_score is None else parse_user_input_number(min_score, "--min-score")
    found = measure_trust(None, run, None if labels is None else Path(labels), least=least, most=at_most)
    with print_until_reader_leaves():
        print_json(encode_run_trust(found)) if as_data else print_trust(found)
    if not report_only:
        raise SystemExit(found.exit_code)


def print_trust(found: RunTrust) -> None:
    """Print it; the answer comes first."""
    screen, first = Screen(), found.gates[0]
    screen.line(phrase_trust_answer(first, found.most), bold=True, fg=TRUST_COLOURS.get(first.answer))
    for line in list_gate_error_lines(first):
        screen.line(line, indent=2)
    screen.line(f"next: {phrase_trust_next_step(first, found.most)}", indent=2)
    people = pluralize_count(found.raters, "person", "people")
    sizes = f"{pluralize_count(found.labels, 'label')} by {people} on {pluralize_count(found.outputs, 'output')}"
    screen.line(f"{found.name} · run {found.run} · {sizes}", gap=True, dim=True)
    for line in describe_label_binding(found.void, found.unbound):
        screen.line(line, dim=True)
    if found.weighted:
        screen.line(UNEQUAL_CHANCES, dim=True)
    _print_gates_table(screen, found.gates)
    for direction in found.directions:
        screen.line(phrase_direction_trust(direction), gap=True)


def _print_gates_table(screen: Screen, gates: Sequence[GateTrust]) -> None:
    heads = ("gate", "decides", "wrongly passed", "wrongly failed", "may gate")
    rows = [
        (
            gate.gate if who == gate.who else "",
            who,
            _format_errors(passed),
            _format_errors(failed),
            _format_answer(gate) if who == gate.who else "",
        )
        for gate in gates
        for who, passed, failed in _list_deciders(gate)
    ]
    screen.line("Wrong decisions at each gate [95% interval]; a person: each against the others", gap=True, bold=True)
    columns = {head: [row[place] for row in rows] for place, head in enumerate(heads)}
    screen.table(columns, right=("wrongly passed", "wrongly failed"))


def _list_deciders(gate: GateTrust) -> list[tuple[str, DecisionErrors, DecisionErrors]]:
    people = ("a person", gate.person_passed, gate.person_failed)
    several = gate.person_passed.n or gate.person_failed.n
    return [(gate.who, gate.passed, gate.failed), *([people] if several else [])]


def _format_errors(errors: DecisionErrors) -> str:
    if errors.share is None:
        return MISSING_DASH
    low, high = format_percent(errors.share.low), format_percent(errors.share.high)
    return f"{errors.wrong} of {errors.n} [{low}, {high}]"


def _format_answer(gate: GateTrust) -> str:
    if gate.answer == "one way":
        return "only its passes" if gate.trusted == ("pass",) else "only its fails"
    return {"may gate": "yes", "may not": "no", "too few labels": "not known"}[gate.answer]
