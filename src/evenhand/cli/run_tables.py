"""A run on a terminal: the verdict and what to do, one table, what got worse; in full also all that it rests on."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from evenhand.cli.notable_tables import print_changed_samples, print_lowest_samples
from evenhand.cli.output import escape_cli_line
from evenhand.cli.screen import (
    COLUMN_GAP,
    Screen,
    print_section,
    print_table_or_sentences,
    shorten_distinct_names,
    shorten_terminal_name,
)
from evenhand.report.graded import (
    NO_HISTORY,
    format_report_grade_lines,
    format_report_history_lines,
    format_report_statement_lines,
    format_report_stray_lines,
    format_report_tie_lines,
)
from evenhand.report.phrases import (
    IMPORTED_RUN,
    build_report_comparison_columns,
    build_report_criterion_columns,
    build_report_difference_columns,
    build_report_summary_columns,
    build_report_tag_columns,
    build_report_variant_columns,
    describe_reported_badge,
    describe_reported_badge_advice,
    describe_reported_composite,
    describe_reported_failure_count,
    describe_reported_gate,
    describe_reported_maps,
    describe_reported_p_adjustment,
    describe_reported_safety_gate,
    describe_reported_samples,
    describe_reported_selection,
    describe_reported_verdict_counts,
    describe_unfinished_in_report,
    describe_unpaired_in_report,
    does_reported_verdict_stand,
    list_report_criteria,
    list_reported_safety_gates,
)
from evenhand.report.result_phrases import (
    CASCADE_TITLE,
    PEOPLE_SCALE_TITLE,
    build_cascade_table_columns,
    build_people_scale_table_columns,
    build_report_preference_tables,
    describe_reported_cascade,
    describe_reported_people_scale,
    list_reported_cost_parts,
)
from evenhand.wording import (
    format_dollar_amount,
    format_figure,
    join_names,
    pluralize_count,
)

RunHeadData = Mapping[str, Any]
TerminalColumn = tuple[str, list[str]]

UNSURE_COLOURS = dict.fromkeys(("CAUTIOUS", "NOISE", "UNDERPOWERED", "UNDECIDED"), "yellow")
VERDICT_COLOURS = {"PROGRESS": "green", "REGRESS": "red", **UNSURE_COLOURS}
BADGE_MARKS = {"green": ("✓", None), "amber": ("◆", "yellow"), "red": ("✗", "red"), "grey": ("–", "bright_black")}
FEW_GATES = 4  # So many passed gates are still worth their lines.
FEW_SAMPLES = 3  # That the short view shows of what got worse.
WIDEST_NAME = 24  # Cells that a long name may take before it is wrapped.


def print_run(head: RunHeadData, *, full: bool = False, screen: Screen | None = None) -> None:
    """Print what came out, the verdict first: by default one table and what got worse, in full all there is."""
    screen = screen or Screen()
    decision, run = head["decision"], head["run"]
    samples = describe_reported_samples(run)
    state = "" if run["state"] == "finished" else describe_unfinished_in_report(run)
    colour = VERDICT_COLOURS.get(decision["verdict"]) or ("red" if decision["exit_code"] else "green")
    if colour == "green" and not does_reported_verdict_stand(head):  # No green where something speaks against it.
        colour = "yellow"
    screen.line(f"{decision['verdict']}: {decision['headline']}", bold=True, fg=colour)
    cut = f"{state}, {samples}" if state else ""
    why = " ".join(decision["reasons"])
    for name, sentence in (("run", cut), ("why", why), ("how sure", decision["sure"]), ("next", decision["next_step"])):
        if sentence:
            screen.line(f"{name}: {sentence}", indent=2)
    part = describe_reported_selection(run["selection"]) if run.get("selection") else ""
    samples += f" ({part})" if part else ""
    repeats = [pluralize_count(run["repeats"], "repeat")] if run["repeats"] > 1 else []
    sizes = [samples, pluralize_count(len(head["variants"]), "variant"), *repeats]
    notes = filter(None, (state, IMPORTED_RUN if run.get("imported") else ""))
    screen.line(" · ".join([run["name"], *sizes, f"run {run['id']}", *notes]), dim=True, gap=True)
    if run.get("maps"):
        screen.line(describe_reported_maps(run), dim=True)
    (_print_whole_run if full else _print_run_in_short)(screen, head)


def _print_run_in_short(screen: Screen, head: RunHeadData) -> None:
    """One table, what got worse, and what else there is to look at."""
    _print_packed_tables(screen, build_report_summary_columns(head))
    made = head.get("composite") or {}
    settings = (made.get(name) for name in ("weights", "standardise", "debias", "notes"))
    mixed = len(made.get("samples_by_layers") or ()) > 1
    unusual = mixed or any(one not in (None, "off", False, []) for one in settings)  # A plain mean needs no words.
    compared = head["decision"]["comparisons"]
    if unusual or compared:
        told = describe_reported_composite(head) if unusual else ""
        _print_run_notes(screen, told, describe_unpaired_in_report(head))
    _print_run_notes(screen, *describe_reported_verdict_counts(head))
    _print_pairs_and_grades(screen, head)
    if compared:
        print_section(screen, "Treatments", format_treatment_lines_for_terminal(compared))
    notable = head.get("notable") or {}  # Earlier versions did not keep it.
    worse, lowest = (notable.get(kind, ())[:FEW_SAMPLES] for kind in ("worse", "lowest"))
    if worse:
        print_changed_samples(screen, "Got worse", worse, named=len(compared) > 1)
    else:
        none = " (no sample got worse)" if compared else ""
        print_lowest_samples(screen, f"Lowest{none}", lowest, named=len(compared) > 1)
    if head["failures"] or list_reported_safety_gates(head):
        _print_capped_and_failed(screen, head, most=FEW_SAMPLES)
    if any(one.get("strayed") for one in head["consistency"]):
        print_section(screen, "For review", [(line, "yellow") for line in format_report_stray_lines(head)])
    if head["cost"]["total"] or head["cost"]["unpriced"]:
        screen.line(" · ".join(list_reported_cost_parts(head["cost"])), dim=True, gap=True)
    screen.line()
    if any(one["heuristic"] for one in head["judges"]):
        _print_heuristic_judges(screen, head)
    screen.line(f"--full also shows {join_names(_list_unprinted_run_parts(head))}.", dim=True)


def _print_run_notes(screen: Screen, *notes: str) -> None:
    """What explains the table above, as far as there is something to explain."""
    for note in filter(None, notes):
        screen.line(note, dim=True)


def _list_unprinted_run_parts(head: RunHeadData) -> list[str]:
    """What only the full view shows of this run."""
    decision = head["decision"]
    parts = {
        "criteria": list_report_criteria(head),
        "tags": head.get("tags"),
        "gates": any(decision["gates"].values()),
        pluralize_count(len(head["flags"]), "flag"): head["flags"],
        "history": any(one["says"] != NO_HISTORY for one in head["consistency"]),
        "judges": head["judges"],
        "layers": any(one["layers"] for one in decision["comparisons"]),
        "the audit": decision["comparisons"],
    }
    return [name for name, there in parts.items() if there] or ["counts"]


def _print_whole_run(screen: Screen, head: RunHeadData) -> None:
    decision = head["decision"]
    _print_packed_tables(screen, build_report_variant_columns(head))
    _print_run_notes(screen, describe_reported_composite(head), describe_unpaired_in_report(head))
    _print_packed_tables(screen, [[column] for column in build_report_criterion_columns(head)])
    _print_packed_tables(screen, [[column] for column in build_report_tag_columns(head)])
    _print_pairs_and_grades(screen, head)
    found = [
        f"{one['variant']}: {one['guard']} guard, {one['rule']}: {one['says']}, in "
        f"{pluralize_count(one['count'], 'output')} (first in {one['first']})"
        for one in head["flags"]
    ]
    if any(decision["gates"].values()):
        print_section(screen, "Gates", format_gate_lines_for_terminal(decision["gates"]))
    print_section(screen, "Flags", [(line, None) for line in found])
    _print_capped_and_failed(screen, head)
    print_section(screen, "History", [(line, None) for line in format_report_history_lines(head)])
    notable = head.get("notable") or {}
    named = len(decision["comparisons"]) > 1
    print_changed_samples(screen, "Got worse", notable.get("worse", ()), named=named)
    print_changed_samples(screen, "Got better", notable.get("better", ()), named=named)
    print_lowest_samples(screen, "Lowest", notable.get("lowest", ()), named=named)
    if head["judges"]:
        _print_judges_table(screen, head)
    if head["cost"]["total"] or head["cost"]["unpriced"]:
        screen.line(" · ".join(list_reported_cost_parts(head["cost"])), dim=True, gap=True)
    if decision["comparisons"]:
        differences = build_report_difference_columns(head)
        _print_packed_tables(screen, [differences[:2], *([column] for column in differences[2:])])
        _print_packed_tables(screen, [[column] for column in build_report_comparison_columns(head)])
        _print_run_notes(screen, describe_reported_p_adjustment(decision["comparisons"]))
        print_section(screen, "Audit", format_cli_badge_lines(decision["comparisons"]))
        print_section(screen, "Treatments", format_treatment_lines_for_terminal(decision["comparisons"]))


def _print_pairs_and_grades(screen: Screen, head: RunHeadData) -> None:
    """What only some runs have: pairs, people's scale, grades, red flags and bonuses, ties."""
    if head.get("preferences"):
        for table in build_report_preference_tables(head):
            _print_packed_tables(screen, [[column] for column in table.columns])
    if head.get("cascade"):
        found = head["cascade"]
        _print_explained_table(
            screen, CASCADE_TITLE, build_cascade_table_columns(found), describe_reported_cascade(found)
        )
    if head.get("people_scale"):
        print_people_scale(screen, head["people_scale"])
    if any(one.get("grades") for one in head["variants"]):
        print_section(screen, "Grades", [(line, None) for line in format_report_grade_lines(head)])
    if head.get("statements"):
        print_section(screen, "Red flags and bonuses", [(line, None) for line in format_report_statement_lines(head)])
    if head.get("ties"):
        print_section(screen, "Ties", [(line, None) for line in format_report_tie_lines(head)])


def _print_capped_and_failed(screen: Screen, head: RunHeadData, *, most: int | None = None) -> None:
    """What the safety gate capped, and what failed: all of it, or so many reasons at most."""
    capped = [f"{one['variant']}: {describe_reported_safety_gate(one)}" for one in list_reported_safety_gates(head)]
    failed = [
        (f"{one['variant']}: {describe_reported_failure_count(one)}: {one['why']} (first in {one['first']})", "red")
        for one in head["failures"]
    ]
    more = [(f"{len(failed) - most} more reasons", None)] if most is not None and len(failed) > most else []
    print_section(screen, "Safety gate: capped", [(line, "red") for line in capped])
    print_section(screen, "Failures", [*failed[:most], *more])


def _print_packed_tables(screen: Screen, groups: Sequence[Sequence[TerminalColumn]]) -> None:
    """A table whose first group of columns names its rows; where it is too wide for the screen, two or more of them.

    Groups of columns stand side by side while there is room for all of the next one; a group too wide is divided.
    """
    if not groups:
        return
    widths: dict[str, int] = {}  # Of every column with the gap beside it; no two names are alike.
    named: list[list[TerminalColumn]] = []
    for group in groups:
        named.append([])
        for name, cells in group:
            shown = escape_cli_line(name)
            if cell_len(shown) > WIDEST_NAME:
                shown = shorten_terminal_name(shown, WIDEST_NAME)
            while shown in widths:
                shown += "'"
            widths[shown] = COLUMN_GAP + max(map(cell_len, (shown, *cells)))
            named[-1].append((shown, cells))
    keys, *rest = named
    room = screen.width + COLUMN_GAP - sum(min(WIDEST_NAME + COLUMN_GAP, widths[name]) for name, _ in keys)
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
        numbers = [name for name, _ in table if name not in ("of", "verdict")]
        screen.table({**dict(keys), **dict(table)}, right=numbers, colours=VERDICT_COLOURS)


def format_gate_lines_for_terminal(gates: Mapping[str, Sequence[RunHeadData]]) -> list[tuple[str, str | None]]:
    """Those that did not pass; the others too, where they are few."""
    every = [(variant, gate) for variant, several in gates.items() for gate in several]
    passed = sum(gate["passed"] is True for _, gate in every)
    shown = every if len(every) <= FEW_GATES else [(variant, gate) for variant, gate in every if not gate["passed"]]
    lines: list[tuple[str, str | None]] = []
    for variant, gate in shown:
        lines.append((f"{variant}: {describe_reported_gate(gate)}", None if gate["passed"] else "red"))
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
    named = [one["name"] for one in judges] + [judge for one in head["agreement"] for judge in one["judges"]]
    names = shorten_distinct_names(dict.fromkeys(named))
    for one in head["agreement"]:
        pair = " and ".join(names[judge] for judge in one["judges"])
        r = one["pearson"]
        agreed = f"correlation not defined: {one['why_not']}" if r is None else f"correlation {format_figure(r)}"
        gap = f", {format_figure(one['mean_gap'])} apart on average (n = {one['n']:,})" if one["n"] else ""
        screen.line(f"{pair}: {agreed}{gap}")
    _print_heuristic_judges(screen, head)


def _print_heuristic_judges(screen: Screen, head: RunHeadData) -> None:
    for one in head["judges"]:
        if one["heuristic"]:
            screen.line(f"{one['name']} is heuristic: it goes by words, not by understanding.")


def format_cli_badge_lines(comparisons: Sequence[RunHeadData]) -> list[tuple[str, str | None]]:
    """Each badge with whom it is about, where it is not about all of them."""
    whose: dict[str, dict[tuple[str, str | None], list[str]]] = {}
    for one in comparisons:
        for badge in one["badges"]:
            mark, colour = BADGE_MARKS[badge["state"]]
            advice = f". {describe_reported_badge_advice(badge)}" if describe_reported_badge_advice(badge) else ""
            line = f"{mark} {badge['badge']}: {describe_reported_badge(badge)}{advice}", colour
            whose.setdefault(badge["badge"], {}).setdefault(line, []).append(one["treatment"])
    return [
        (text if len(names) == len(comparisons) else f"{text} (comparison of {join_names(names)})", colour)
        for said in whose.values()
        for (text, colour), names in said.items()
    ]


def format_treatment_lines_for_terminal(comparisons: Sequence[RunHeadData]) -> list[tuple[str, str | None]]:
    """What was decided of each treatment, by which rule, and what to do; one alone is told by the verdict below."""
    lines = []
    for one in comparisons if len(comparisons) > 1 else ():
        decided = f"{one['treatment']}: {one['verdict']} (rule {one['rule']}). {one['next_step']}"
        lines.append((decided, VERDICT_COLOURS.get(one["verdict"])))
    return lines


def print_people_scale(screen: Screen, found: Mapping[str, Any]) -> None:
    """Print it as a section of a run or a comparison."""
    columns = build_people_scale_table_columns(found)
    columns.pop("labels alone", None)  # As wide as a screen; reports and JSON have it.
    _print_explained_table(screen, PEOPLE_SCALE_TITLE, columns, describe_reported_people_scale(found))


def _print_explained_table(
    screen: Screen, title: str, columns: Mapping[str, Sequence[str]], lines: Iterable[str]
) -> None:
    screen.line(title, gap=True, bold=True)
    rows = [list(row) for row in zip(*columns.values(), strict=True)]
    print_table_or_sentences(screen, tuple(columns), rows, heads=1, right=tuple(columns)[1:])
    for line in lines:
        screen.line(line, indent=2, dim=True)
