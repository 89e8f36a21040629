"""evenhand trust, audit and sensitivity: how far the judges of a run, its gates and its ranking can be trusted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import click

from evenhand.calibrate.audits.findings import Audit, AuditFinding
from evenhand.calibrate.labels import UNEQUAL_CHANCES, describe_label_binding
from evenhand.calibrate.trust import (
    DecisionErrors,
    GateTrust,
    list_gate_error_lines,
    phrase_trust_answer,
    phrase_trust_in_direction,
    phrase_trust_next_step,
)
from evenhand.cli.output import print_json, print_until_reader_leaves
from evenhand.cli.run_tables import BADGE_MARKS
from evenhand.cli.screen import Screen, print_import_mark, print_section, print_table_or_sentences
from evenhand.wording import (
    MISSING_DASH,
    format_figure,
    format_number,
    format_percent,
    format_rounded,
    format_signed,
    join_names,
    pluralize_count,
    word_criterion,
    word_layer,
)
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
    print_import_mark(screen, found.imported, found.run)
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
        screen.line(phrase_trust_in_direction(direction), gap=True)


def _print_gates_table(screen: Screen, gates: Sequence[GateTrust]) -> None:
    heads = ("gate", "decides", "wrongly passed", "wrongly failed", "may gate")
    rows = [
        (
            word_criterion(gate.gate) if who == gate.who else "",
            who,
            _format_printed_errors(passed),
            _format_printed_errors(failed),
            _format_printed_answer(gate) if who == gate.who else "",
        )
        for gate in gates
        for who, passed, failed in _list_printed_deciders(gate)
    ]
    screen.line("Wrong decisions at each gate [95% interval]; a person: each against the others", gap=True, bold=True)
    columns = {head: [row[place] for row in rows] for place, head in enumerate(heads)}
    screen.table(columns, right=("wrongly passed", "wrongly failed"))


def _list_printed_deciders(gate: GateTrust) -> list[tuple[str, DecisionErrors, DecisionErrors]]:
    people = ("a person", gate.person_passed, gate.person_failed)
    several = gate.person_passed.n or gate.person_failed.n
    return [(gate.who, gate.passed, gate.failed), *([people] if several else [])]


def _format_printed_errors(errors: DecisionErrors) -> str:
    if errors.share is None:
        return MISSING_DASH
    low, high = format_percent(errors.share.low), format_percent(errors.share.high)
    return f"{errors.wrong} of {errors.n} [{low}, {high}]"


def _format_printed_answer(gate: GateTrust) -> str:
    if gate.answer == "one way":
        return "only its passes" if gate.trusted == ("pass",) else "only its fails"
    return {"may gate": "yes", "may not": "no", "too few labels": "not known"}[gate.answer]


@click.command("audit")
@click.argument("run", metavar="RUN")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def audit_command(run: str, as_data: bool) -> None:
    """Audit the judges of RUN: its id, the beginning of one, "latest" or "latest:NAME". No labels are needed."""
    from evenhand.calibrate.audits.audit import encode_calibration_audit
    from evenhand.workflows.audit import audit_run

    found = audit_run(None, run)
    with print_until_reader_leaves():
        print_json(encode_calibration_audit(found)) if as_data else print_audit(found)


FIT_COLOURS = {"yes": "green", "no": "red"}
MOST_FINDINGS_PRINTED = 12  # Findings that are told in full; all are in the table below.


def print_audit(audit: Audit) -> None:
    """Print it; the answer comes first."""
    screen = Screen()
    screen.line(audit.headline, bold=True, fg=FIT_COLOURS.get(audit.fit, "yellow"))
    print_import_mark(screen, audit.imported, audit.run)
    screen.line(f"next: {audit.next_step}", indent=2)
    # What else speaks against them; single criteria are left to the table.
    findings = [one for one in audit.findings if one.colour in ("red", "amber") and one != audit.worst]
    told = [one for one in findings if one.criterion is None][:MOST_FINDINGS_PRINTED]
    lines = []
    for one in told:
        mark, colour = BADGE_MARKS[one.colour]
        lines.append((f"{mark} {one.name}, {_format_cli_judge_cell(one)}: {one.says} {one.advice}".rstrip(), colour))
    if len(findings) > len(told):
        lines.append((f"{len(findings) - len(told)} more in the table", None))
    print_section(screen, "Also", lines)
    _print_findings_table(screen, [one for one in audit.findings if one.value is not None])
    unknown: dict[tuple[str, str], list[str]] = {}  # What is not known for one reason, in one line.
    for one in audit.findings:
        if one.value is None:
            why = one.says.removeprefix("not known: ")
            unknown.setdefault((one.name, why), []).append(_format_cli_judge_cell(one))
    lines = [(f"{name}, {', '.join(of)}: {why}", None) for (name, why), of in unknown.items()]
    print_section(screen, "Not known", lines)


def _print_findings_table(screen: Screen, findings: Sequence[AuditFinding]) -> None:
    if not findings:
        return
    screen.line()
    rows = []
    for one in findings:
        digits = 3 if one.unit.endswith("characters") else 2  # As many decimals as the unit needs.
        value, low, high = ("" if x is None else format_number(x, digits) for x in (one.value, one.low, one.high))
        interval = f"[{low}, {high}]" if low else ""
        mark = BADGE_MARKS[one.colour][0]
        rows.append([mark, one.name, _format_cli_judge_cell(one), value, interval, f"{one.n:,}"])
    names = ("", "finding", "of", "value", "interval", "n")
    colours = {mark: colour for mark, colour in BADGE_MARKS.values() if colour}
    print_table_or_sentences(screen, names, rows, heads=3, right=names[3:], colours=colours)
    typical = [one.typical for one in findings if one.typical is not None]
    if typical:
        ends = dict.fromkeys(format_rounded(100 * end, 0) for end in (min(typical), max(typical)))
        worth = f"what a typical difference of {' to '.join(ends)} characters between two outputs is worth"
        screen.line(f"length is in points per 100 characters; its mark goes by {worth}")


def _format_cli_judge_cell(one: AuditFinding) -> str:
    return f"{one.judge}, {one.criterion}" if one.criterion else one.judge


@click.command("sensitivity")
@click.argument("run", metavar="RUN")
@click.option("--draws", type=int, default=10_000, show_default=True, help="How many weightings are drawn.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Decides which are drawn.")
@click.option("--spread", type=float, default=0.2, show_default=True, help="How far near weights vary, 0 to 1.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def sensitivity_command(run: str, draws: int, seed: int, spread: float, as_data: bool) -> None:
    """Rank the variants of RUN under other weights: its id, the beginning of one, "latest" or "latest:NAME"."""
    from evenhand.compare.sensitivity_result import encode_compared_weight_sensitivity
    from evenhand.workflows.sensitivity import measure_run_sensitivity

    found = measure_run_sensitivity(None, run, draws=draws, seed=seed, spread=spread)
    with print_until_reader_leaves():
        print_json(encode_compared_weight_sensitivity(found)) if as_data else print_sensitivity(
            encode_compared_weight_sensitivity(found)
        )


SensitivityData = Mapping[str, Any]


def print_sensitivity(found: SensitivityData) -> None:
    """Print it; the answer comes first."""
    screen = Screen()
    screen.line(found["headline"], bold=True)
    print_import_mark(screen, found.get("imported"), found["run"])
    screen.line(f"next: {found['next_step']}", indent=2)
    _print_weight_ranking(screen, found)
    if found["layers"]:
        _print_weight_ranking(screen, found["layers"])
    if found["without_judge"]:
        screen.line("Without one judge", bold=True, gap=True)
        for one in found["without_judge"]:
            first = "the same first" if one["same_winner"] else f"{one['order'][0]} is first"
            screen.line(f"{one['judge']}: {first}", indent=2)


def _print_weight_ranking(screen: Screen, one: SensitivityData) -> None:
    order = one["order"]
    screen.line()
    left = f", {one['left_out']:,} left out without all scores" if one["left_out"] else ""
    screen.heading(f"By {one['of']}", f"{pluralize_count(one['samples'], 'sample')}{left}", 0)
    columns = {
        "variant": order,
        "mean": [format_figure(one["means"][name]) for name in order],
        "first, near weights": [format_percent(one["wins"][name]) for name in order],
        "first, any weights": [format_percent(one["anywhere"]["wins"][name]) for name in order],
    }
    screen.table(columns, right=tuple(columns)[1:])
    screen.line()
    parts = one["by_weight"]
    columns = {
        {"criteria": "criterion", "layers": "layer"}[one["of"]]: [word_layer(part["criterion"]) for part in parts],
        "weight": [format_figure(part["weight"]) for part in parts],
        f"lead of {order[0]}": [format_signed(part["gap"]) for part in parts],
        "level at": [format_figure(part["flip_at"]) for part in parts],
        "without it": [_format_without_criterion_terminal(part, order) for part in parts],
    }
    screen.table(columns, right=tuple(columns)[1:4])
    for line in _format_cli_weight_lines(one):
        screen.line(line, indent=2)


def _format_cli_weight_lines(one: SensitivityData) -> list[str]:
    if one["tied"]:
        return [one["noise"], *([one["note"]] if one["note"] else [])]
    first, second = one["order"][:2]
    won, order, flip = one["won"], format_percent(one["share_same_order"]), one["flip"]
    if flip is None:
        turns = f"{'No weights' if one['exact'] else 'None of the weights drawn'} put {second} level with {first}."
    else:
        known = [(part, flip["weights"].get(part["criterion"], part["weight"])) for part in one["by_weight"]]
        changed = [(part, new) for part, new in known if abs(new - part["weight"]) > 0.005]
        moved = ", ".join(
            f"{word_layer(part['criterion'])} {format_figure(part['weight'])} to {format_figure(new)}"
            for part, new in changed
        )
        drawn = "" if flip["exact"] else " drawn"
        share = format_percent(flip["distance"] / 2)
        turns = f"The smallest change{drawn} that levels them moves {share} of the weight: {moved}."
    lines = [
        f"The whole order stays the same with {order} of near weights.",
        f"{first} wins {format_percent(won['share'])} of the samples, {format_percent(won['low'])} to "
        f"{format_percent(won['high'])} under near weights.",
        turns,
        one["noise"],
    ]
    if one["share_with_noise"] is not None:
        stays = format_percent(one["share_with_noise"])
        lines.append(f"If the samples vary too, {first} stays first in {stays} of the draws.")
    if not one["exact"]:
        lines.append("Every judge's answers were scored and joined anew under each weighting.")
    return [*lines, *([one["note"]] if one["note"] else [])]


def _format_without_criterion_terminal(part: SensitivityData, order: Sequence[str]) -> str:
    first, level = order[0], part["level_without"]
    if level:
        return "level" if len(level) == len(order) else f"{join_names(level)} level"
    if part["winner_without"] != first:
        return "nothing left" if part["winner_without"] is None else f"{part['winner_without']} first"
    return "the same" if part["same_order_without"] else "same first, other order"
