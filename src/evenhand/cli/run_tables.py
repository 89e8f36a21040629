"""A run on a terminal: scores, criteria, gates, flags, failures, judges, and last the verdict and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from evenhand.cli.output import escape_to_terminal_line
from evenhand.cli.screen import COLUMN_GAP, Screen, shorten_terminal_name
from evenhand.report.pair_phrases import build_preference_tables
from evenhand.report.phrases import (
    build_comparison_columns,
    build_criterion_columns,
    build_variant_columns,
    describe_badge,
    describe_badge_advice,
    describe_failure_count,
    describe_reported_samples,
    describe_unfinished_in_report,
    does_reported_verdict_stand,
)
from evenhand.wording import format_dollar_amount, format_figure, pluralize_count

RunHeadData = Mapping[str, Any]
TerminalColumn = tuple[str, list[str]]

UNSURE_COLOURS = dict.fromkeys(("CAUTIOUS", "NOISE", "UNDERPOWERED", "UNDECIDED"), "yellow")
VERDICT_COLOURS = {"PROGRESS": "green", "REGRESS": "red", **UNSURE_COLOURS}
BADGE_MARKS = {"green": ("✓", None), "amber": ("◆", "yellow"), "red": ("✗", "red"), "grey": ("–", "bright_black")}
FEW_GATES = 4  # So many passed gates are still worth their lines.
NO_HISTORY = "no history yet"  # Not worth a line on the first run of everything.
WIDEST_NAME = 24  # Cells that a long name may take before it is wrapped.


def print_run(head: RunHeadData, *, screen: Screen | None = None) -> None:
    """Print what came out; the verdict comes last, where the eye is when the command is done."""
    screen = screen or Screen()
    run, decision = head["run"], head["decision"]
    repeats = [pluralize_count(run["repeats"], "repeat")] if run["repeats"] > 1 else []
    state = [describe_unfinished_in_report(run)] if describe_unfinished_in_report(run) else []
    sizes = [describe_reported_samples(run), pluralize_count(len(head["variants"]), "variant"), *repeats]
    screen.line(" · ".join([run["name"], *sizes, f"run {run['id']}", *state]), dim=True)
    _print_packed_tables(screen, build_variant_columns(head))
    _print_packed_tables(screen, [[column] for column in build_criterion_columns(head)])
    for table in build_preference_tables(head):
        _print_packed_tables(screen, [[column] for column in table.columns])
    found = [
        f"{one['variant']}: {one['guard']} guard, {one['rule']}: {one['says']}, in "
        f"{pluralize_count(one['count'], 'output')} (first in {one['first']})"
        for one in head["flags"]
    ]
    failed = [
        f"{one['variant']}: {describe_failure_count(one)}: {one['why']} (first in {one['first']})"
        for one in head["failures"]
    ]
    told = [f"{one['variant']}: {one['says']}" for one in head["consistency"] if one["says"] != NO_HISTORY]
    if any(decision["gates"].values()):
        print_section(screen, "Gates", format_gate_lines(decision["gates"]))
    for title, lines, colour in (("Flags", found, None), ("Failures", failed, "red"), ("History", told, None)):
        if lines:
            print_section(screen, title, [(line, colour) for line in lines])
    if head["judges"]:
        _print_judges_table(screen, head)
    cost = head["cost"]
    if cost["total"] or cost["unpriced"]:
        parts = {"cost": cost["total"], "outputs": cost["outputs"], "judges": cost["judges"]}
        shown = [
            f"{name} {format_dollar_amount(one)}" for name, one in parts.items() if name == "cost" or one is not None
        ]
        shown += [f"{pluralize_count(cost['unpriced'], 'call')} of unknown price"] if cost["unpriced"] else []
        screen.line(" · ".join(shown), dim=True, gap=True)
    if decision["comparisons"]:
        _print_packed_tables(screen, build_comparison_columns(head))
        print_section(screen, "Audit", format_terminal_badges(decision["comparisons"]))
        print_section(screen, "Treatments", format_treatment_lines(decision["comparisons"]))
    _print_run_verdict(screen, head)


def _print_packed_tables(screen: Screen, groups: Sequence[Sequence[TerminalColumn]]) -> None:
    """A table whose first column names its rows; where it is too wide for the screen, two or more of them.

    Groups of columns stand side by side while there is room for all of the next one; a group too wide is divided.
    """
    if not groups:
        return
    widths: dict[str, int] = {}  # Of every column with the gap beside it; no two names are alike.
    named: list[list[TerminalColumn]] = []
    for group in groups:
        named.append([])
        for name, cells in group:
            shown = escape_to_terminal_line(name)
            if cell_len(shown) > WIDEST_NAME:
                shown = shorten_terminal_name(shown, WIDEST_NAME)
            while shown in widths:
                shown += "'"
            widths[shown] = COLUMN_GAP + max(map(cell_len, (shown, *cells)))
            named[-1].append((shown, cells))
    ((head, names),), *rest = named
    room = screen.width - min(WIDEST_NAME, widths[head] - COLUMN_GAP)
    tables: list[list[TerminalColumn]] = [[]]
    for group in rest:
        whole = sum(widths[name] for name, _ in group)
        for place, column in enumerate(group):
            coming = whole if whole <= room and place == 0 else widths[column[0]]
            if tables[-1] and sum(widths[name] for name, _ in tables[-1]) + coming > room:
                tables.append([])
            tables[-1].append(column)
    for table in tables:
        screen.line()
        numbers = [name for name, _ in table if name != "verdict"]
        screen.table({head: names, **dict(table)}, right=numbers, colours=VERDICT_COLOURS)


def print_section(screen: Screen, title: str, lines: Sequence[tuple[str, str | None]]) -> None:
    """A title with its lines below, each with its colour; nothing where there are none."""
    if not lines:
        return
    screen.line(title, bold=True, gap=True)
    for line, colour in lines:
        screen.line(line, indent=2, fg=colour)


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
        r = one["pearson"]
        agreed = f"no correlation: {one['why_not']}" if r is None else f"correlation {r:.2f}"
        screen.line(f"{pair}: {agreed}, {format_figure(one['mean_gap'])} apart on average (n = {one['n']:,})")
    for one in judges:
        if one["heuristic"]:
            screen.line(f"{one['name']} is heuristic: it goes by words, not by understanding.")


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
    lines = []
    for one in comparisons if len(comparisons) > 1 else ():
        decided = f"{one['treatment']}: {one['verdict']} by rule {one['rule']}. {one['next_step']}"
        lines.append((decided, VERDICT_COLOURS.get(one["verdict"])))
    return lines


def _print_run_verdict(screen: Screen, head: RunHeadData) -> None:
    decision, run = head["decision"], head["run"]
    colour = VERDICT_COLOURS.get(decision["verdict"]) or ("red" if decision["exit_code"] else "green")
    if colour == "green" and not does_reported_verdict_stand(head):  # No green where something speaks against it.
        colour = "yellow"
    screen.line(f"{decision['verdict']}: {decision['headline']}", bold=True, fg=colour, gap=True)
    state = describe_unfinished_in_report(run)
    cut = f"{state}, {describe_reported_samples(run)}" if state else ""
    why = " ".join(decision["reasons"])
    for name, sentence in (("run", cut), ("why", why), ("how sure", decision["sure"]), ("next", decision["next_step"])):
        if sentence:
            screen.line(f"{name}: {sentence}", indent=2)
