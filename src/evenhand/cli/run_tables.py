"""A run on a terminal: scores, criteria, gates, flags, failures, judges, and last the verdict and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from evenhand.cli.output import escape_to_terminal_line
from evenhand.cli.screen import COLUMN_GAP, Screen, shorten_terminal_name
from evenhand.report.graded import format_grade_lines, format_history_lines, format_statement_lines
from evenhand.report.phrases import (
    describe_badge,
    describe_badge_advice,
    describe_failure_count,
    describe_reported_samples,
    describe_unfinished_in_report,
    does_reported_verdict_stand,
)
from evenhand.report.tables import build_comparison_columns, build_criterion_columns, build_variant_columns
from evenhand.wording import format_dollar_amount, format_figure, pluralize_count

RunHeadData = Mapping[str, Any]
TerminalColumn = tuple[str, list[str]]

UNSURE_COLOURS = dict.fromkeys(("CAUTIOUS", "NOISE", "UNDERPOWERED", "UNDECIDED"), "yellow")
VERDICT_COLOURS = {"PROGRESS": "green", "REGRESS": "red", **UNSURE_COLOURS}
BADGE_MARKS = {"green": ("✓", None), "amber": ("◆", "yellow"), "red": ("✗", "red"), "grey": ("–", "bright_black")}
FEW_GATES = 4  # So many passed gates are still worth their lines.
WIDEST_NAME = 24  # Cells that a long name may take before it is wrapped.


def print_run(head: RunHeadData, *, screen: Screen | None = None) -> None:
    """Print what came out; the verdict comes last, where the eye is when the command is done."""
    screen = screen or Screen()
    run = head["run"]
    repeats = [pluralize_count(run["repeats"], "repeat")] if run["repeats"] > 1 else []
    state = [describe_unfinished_in_report(run)] if describe_unfinished_in_report(run) else []
    sizes = [describe_reported_samples(run), pluralize_count(len(head["variants"]), "variant"), *repeats]
    screen.line(" · ".join([run["name"], *sizes, f"run {run['id']}", *state]), dim=True)
    _print_packed_tables(screen, build_variant_columns(head))
    _print_packed_tables(screen, [[column] for column in build_criterion_columns(head)])
    print_section(screen, "Grades", [(line, None) for line in format_grade_lines(head)])
    print_section(screen, "Red flags and bonuses", [(line, None) for line in format_statement_lines(head)])
    print_section(screen, "Gates", format_gate_lines(head["decision"]["gates"]))
    found = [
        f"{one['variant']}: {one['guard']} guard, {one['rule']}: {one['says']}, in "
        f"{pluralize_count(one['count'], 'output')} (first in {one['first']})"
        for one in head["flags"]
    ]
    print_section(screen, "Flags", [(line, None) for line in found])
    failed = [
        f"{one['variant']}: {describe_failure_count(one)}: {one['why']} (first in {one['first']})"
        for one in head["failures"]
    ]
    print_section(screen, "Failures", [(line, "red") for line in failed])
    print_section(screen, "History", [(line, None) for line in format_history_lines(head)])
    _print_judges_table(screen, head)
    _print_run_cost(screen, head["cost"])
    _print_packed_tables(screen, build_comparison_columns(head))
    print_section(screen, "Audit", format_terminal_badges(head["decision"]["comparisons"]))
    print_section(screen, "Treatments", format_treatment_lines(head["decision"]["comparisons"]))
    _print_run_verdict(screen, head)


def _print_packed_tables(screen: Screen, groups: Sequence[Sequence[TerminalColumn]]) -> None:
    """A table whose first column names its rows; where it is too wide for the screen, two or more of them."""
    if not groups:
        return
    ((head, names),), *rest = _distinguish_terminal_columns(groups)
    room = screen.width - min(WIDEST_NAME, max(map(cell_len, (head, *names))))
    for table in _pack_columns_into_tables(room, rest):
        screen.gap()
        numbers = [name for name, _ in table if name != "verdict"]
        screen.table({head: names, **dict(table)}, right=numbers, colours=VERDICT_COLOURS)


def _distinguish_terminal_columns(groups: Sequence[Sequence[TerminalColumn]]) -> list[list[TerminalColumn]]:
    """The columns with names fit to be shown, no two of them alike."""
    taken: set[str] = set()
    named: list[list[TerminalColumn]] = []
    for group in groups:
        named.append([])
        for name, cells in group:
            shown = shorten_terminal_name(escape_to_terminal_line(name), WIDEST_NAME)
            while shown in taken:
                shown += "'"
            taken.add(shown)
            named[-1].append((shown, cells))
    return named


def _pack_columns_into_tables(room: int, groups: Sequence[Sequence[TerminalColumn]]) -> list[list[TerminalColumn]]:
    """Groups of columns side by side while there is room for all of the next one; a group too wide is divided."""
    tables: list[list[TerminalColumn]] = [[]]
    for group in groups:
        whole = sum(map(_measure_column_width, group)) <= room
        for place, column in enumerate(group):
            coming = group if whole and place == 0 else [column]
            if tables[-1] and sum(map(_measure_column_width, (*tables[-1], *coming))) > room:
                tables.append([])
            tables[-1].append(column)
    return tables


def _measure_column_width(column: TerminalColumn) -> int:
    """Its longest cell, and the gap beside it."""
    name, cells = column
    return COLUMN_GAP + max(map(cell_len, (name, *cells)))


def print_section(screen: Screen, title: str, lines: Sequence[tuple[str, str | None]]) -> None:
    """A title with its lines below, each with its colour; nothing where there are none."""
    if not lines:
        return
    screen.gap()
    screen.line(title, bold=True)
    for line, colour in lines:
        screen.line(line, indent=2, **({"fg": colour} if colour else {}))


def format_gate_lines(gates: Mapping[str, Sequence[RunHeadData]]) -> list[tuple[str, str | None]]:
    """Those that did not pass; the others too, where they are few."""
    every = [(variant, gate) for variant, several in gates.items() for gate in several]
    passed = sum(gate["passed"] is True for _, gate in every)
    shown = every if len(every) <= FEW_GATES else [(variant, gate) for variant, gate in every if not gate["passed"]]
    lines: list[tuple[str, str | None]] = []
    for variant, gate in shown:
        how = f"{gate['gate']} was not measured (gate {format_figure(gate['min'])})"
        if gate["passed"] is not None:
            passes = "passes" if gate["passed"] else "is below"
            how = f"{gate['gate']} {format_figure(gate['mean'])} {passes} {format_figure(gate['min'])}"
        lines.append((f"{variant}: {how}", None if gate["passed"] else "red"))
    if passed and len(shown) < len(every):
        lines.append(("all passed" if passed == len(every) else f"{passed} of {len(every)} passed", None))
    return lines


def _print_judges_table(screen: Screen, head: RunHeadData) -> None:
    judges = head["judges"]
    if not judges:
        return
    columns = [
        ("judge", [one["name"] for one in judges]),
        ("calls", [f"{one['calls']:,}" for one in judges]),
        *(
            (word, [f"{one[word]:,}" for one in judges])
            for word in ("cached", "failed", "retries")
            if any(one[word] for one in judges)
        ),
    ]
    if any(one["input_tokens"] or one["output_tokens"] or one["cost"] for one in judges):
        columns += [
            ("tokens in", [f"{one['input_tokens']:,}" for one in judges]),
            ("out", [f"{one['output_tokens']:,}" for one in judges]),
            ("cost", [format_dollar_amount(one["cost"]) for one in judges]),
        ]
    _print_packed_tables(screen, [[column] for column in columns])
    for one in head["agreement"]:
        pair = " and ".join(one["judges"])
        agreed = (
            f"correlation {one['pearson']:.2f}" if one["pearson"] is not None else f"no correlation: {one['why_not']}"
        )
        screen.line(f"{pair}: {agreed}, {format_figure(one['mean_gap'])} apart on average (n = {one['n']:,})")
    for one in judges:
        if one["heuristic"]:
            screen.line(f"{one['name']} is heuristic: it goes by words, not by understanding.")


def _print_run_cost(screen: Screen, cost: RunHeadData) -> None:
    if not cost["total"] and not cost["unpriced"]:
        return
    parts = [f"cost {format_dollar_amount(cost['total'])}"]
    parts += [f"{name} {format_dollar_amount(cost[name])}" for name in ("outputs", "judges") if cost[name] is not None]
    parts += [f"{pluralize_count(cost['unpriced'], 'call')} of unknown price"] if cost["unpriced"] else []
    screen.gap()
    screen.line(" · ".join(parts), dim=True)


def format_terminal_badges(comparisons: Sequence[RunHeadData]) -> list[tuple[str, str | None]]:
    """Each badge with whom it is about, where it is not about all of them."""
    whose: dict[str, dict[tuple[str, str | None], list[str]]] = {}
    for one in comparisons:
        for badge in one["badges"]:
            mark, colour = BADGE_MARKS[badge["state"]]
            advice = f". {describe_badge_advice(badge)}" if describe_badge_advice(badge) else ""
            line = f"{mark} {badge['badge']}: {describe_badge(badge)}{advice}", colour
            whose.setdefault(badge["badge"], {}).setdefault(line, []).append(one["treatment"])
    return [
        (text if len(names) == len(comparisons) else f"{text} ({', '.join(names)})", colour)
        for said in whose.values()
        for (text, colour), names in said.items()
    ]


def format_treatment_lines(comparisons: Sequence[RunHeadData]) -> list[tuple[str, str | None]]:
    """What was decided of each treatment, by which rule, and what to do; one alone is told by the verdict below."""
    return [
        (
            f"{one['treatment']}: {one['verdict']} by rule {one['rule']}. {one['next_step']}",
            VERDICT_COLOURS.get(one["verdict"]),
        )
        for one in comparisons
        if len(comparisons) > 1
    ]


def _print_run_verdict(screen: Screen, head: RunHeadData) -> None:
    decision, run = head["decision"], head["run"]
    screen.gap()
    colour = VERDICT_COLOURS.get(decision["verdict"]) or ("red" if decision["exit_code"] else "green")
    if colour == "green" and not does_reported_verdict_stand(head):  # No green where something speaks against it.
        colour = "yellow"
    screen.line(f"{decision['verdict']}: {decision['headline']}", bold=True, fg=colour)
    cut = (
        f"{describe_unfinished_in_report(run)}, {describe_reported_samples(run)}"
        if describe_unfinished_in_report(run)
        else ""
    )
    why = " ".join(decision["reasons"])
    for name, sentence in (("run", cut), ("why", why), ("how sure", decision["sure"]), ("next", decision["next_step"])):
        if sentence:
            screen.line(f"{name}: {sentence}", indent=2)
