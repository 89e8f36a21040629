"""evenhand compare: two runs over the same samples, or the variants of one; the exit code says what was decided."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.output import (
    escape_terminal_text,
    open_output_option,
    print_import_marks,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.cli.run_tables import (
    VERDICT_COLOURS,
    format_cli_badge_lines,
    format_gate_lines_for_terminal,
    format_treatment_lines_for_terminal,
    print_people_scale,
)
from evenhand.cli.screen import Screen, print_section
from evenhand.errors import Fault, InputError
from evenhand.report.phrases import (
    explain_adjusted_layer_p_values,
    format_report_p_value,
    format_reported_estimate,
    list_reported_differences,
)
from evenhand.wording import format_percent, format_rounded, pluralize_count, word_criterion, word_layer

if TYPE_CHECKING:
    from evenhand.workflows.compare import CompareResult


@click.command("compare")
@click.argument("runs", metavar="[CONTROL] RUN", nargs=-1, required=True)
@click.option("--baseline", metavar="NAME", help="The control: the run that `evenhand baseline set` pinned.")
@click.option("--control", metavar="VARIANT", help="The control among the variants of one run.")
@click.option("--not-worse-by", type=float, metavar="POINTS", help="Pass what is surely not worse by more than this.")
@click.option("--power", is_flag=True, help="Also say how many samples show a difference.")
@click.option("--force", is_flag=True, help="Compare what was not scored alike, and mark the result.")
@click.option("--report-only", is_flag=True, help="Exit with 0 whatever was decided.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@click.option("--html", "as_page", is_flag=True, help="Write one self-contained page; needs -o FILE.")
@click.option("--output", "-o", metavar="FILE", help="The file of the page.")
def compare_command(
    runs: tuple[str, ...], baseline: str | None, as_data: bool, as_page: bool, output: str | None, **terms: Any
) -> int:
    """Hold RUN against CONTROL, sample by sample; with RUN alone, its variants against each other.

    A run is an id, the beginning of one, "latest", "latest:EVAL" or "baseline:NAME"; RUN:VARIANT chooses a variant.
    """
    from evenhand.workflows.compare import CompareTerms, compare_runs

    report_only = terms.pop("report_only")
    if as_page != (output is not None) or (as_page and as_data):
        raise InputError(Fault("a page goes to a file, and a file holds a page", "as in --html -o compare.html"))
    if baseline is not None:
        runs = (f"baseline:{baseline}", *runs)
    if len(runs) > 2:
        what = f"{len(runs)} runs were named" + (", the baseline counted" if baseline is not None else "")
        raise InputError(Fault(what, "two are compared, or the variants of one"))
    found = compare_runs(None, *runs, terms=CompareTerms(**terms))
    if output is not None:
        _write_comparison_file(found, output)
        return 0 if report_only else found.exit_code
    with print_until_reader_leaves():
        print_json(found.to_json()) if as_data else print_comparison(found.to_json())
    return 0 if report_only else found.exit_code


def _write_comparison_file(found: CompareResult, output: str) -> None:
    from evenhand.report.html.comparison_page import write_comparison_report_page
    from evenhand.workflows.run_samples import load_moved_samples

    with open_output_option(output) as stream:
        write_comparison_report_page(found.to_json(), load_moved_samples(found), stream)
    print_message(f"written: {escape_terminal_text(output)}", err=True)
    sides = [found.control, *found.treatments]
    print_import_marks(dict.fromkeys(one.run["id"] for one in sides if one.run["imported"] is not None))


ComparisonData = Mapping[str, Any]


def print_comparison(found: ComparisonData, *, screen: Screen | None = None) -> None:
    """Print what came out; the verdict comes last, where the eye is when the command is done."""
    screen = screen or Screen()
    decision = found["decision"]
    sides = [found["control"], *found["treatments"]]
    runs = len({side["run"] for side in sides})
    samples = found["samples"]
    if runs == 1:
        counted = pluralize_count(samples["both"], "sample")
        screen.line(f"{sides[0]['eval']} · run {sides[0]['run']} · {counted}", dim=True)
        screen.line(f"control: {sides[0]['name']}", dim=True)
    else:
        for word, side in zip(("control", "treatment"), sides, strict=True):
            screen.line(f"{word}: {side['eval']} · {side['variant']} · run {side['run']}", dim=True)
        screen.line(f"{pluralize_count(samples['both'], 'sample')} in both", dim=True)
    for note in found["notes"]:
        screen.line(f"note: {note}")
    for one in decision["comparisons"]:
        screen.line()
        if len(decision["comparisons"]) > 1:
            screen.line(f"{one['treatment']} against {one['control']}: {one['verdict']}", bold=True)
        _print_differences_table(screen, one, found["scales"], len(decision["comparisons"]))
    print_section(screen, "Gates", format_gate_lines_for_terminal(decision["gates"]))
    print_section(screen, "Audit", format_cli_badge_lines(decision["comparisons"]))
    if found.get("people_scale"):
        print_people_scale(screen, found["people_scale"])
    for treatment, power in (found["power"] or {}).items():
        _print_power_table(screen, treatment, power)
    lines = format_treatment_lines_for_terminal(decision["comparisons"])
    print_section(screen, "Treatments", [(line, "yellow" if found["forced"] else colour) for line, colour in lines])
    _print_comparison_verdict(screen, found)


def _print_differences_table(screen: Screen, one: ComparisonData, scales: ComparisonData, treatments: int) -> None:
    """A row each for the composite, its layers and the criteria; criteria are on their own scales."""
    criteria, rows = one["criteria"], list_reported_differences(one)
    ends = {id: f" ({scale[0]:g}–{scale[1]:g})" for id, scale in scales.items() if scale}
    rows += [(f"{word_criterion(id)}{ends.get(id, '')}", criteria[id], "") for id in criteria]
    columns = {
        "of": [name for name, _, _ in rows],
        "difference": [format_reported_estimate(found) for _, found, _ in rows],
        "p": [format_report_p_value(found) for _, found, _ in rows],
        "verdict": [verdict for _, _, verdict in rows],
    }
    screen.table(columns, right=("difference", "p"), colours=VERDICT_COLOURS)
    counts = f"{pluralize_count(one['pairs'], 'pair')}: better in {one['wins']:,}, equal in {one['ties']:,}, worse in "
    lost = [
        f"{one[f'lost_by_{who}']:,} lost by {one[who]}" for who in ("treatment", "control") if one[f"lost_by_{who}"]
    ]
    screen.line("; ".join([f"{counts}{one['losses']:,}", *lost]))
    if treatments > 1 and one["composite"]:
        screen.line(f"p of the composite is adjusted for {treatments} treatments")
    if adjusted := explain_adjusted_layer_p_values(one, treatments):
        screen.line(adjusted)
    for name, layer in one["layer_verdicts"].items():
        if layer["verdict"] == "CAUTIOUS" and one["verdict"] == "PROGRESS":
            _, *reasons = layer["reasons"]  # The first is in the table.
            screen.line(f"The {word_layer(name)} layer is CAUTIOUS: {' '.join(reasons)}")


def _print_power_table(screen: Screen, treatment: str, power: ComparisonData) -> None:
    observed, smallest = power["observed"], power["smallest"]
    unit = power["unit"]
    counted = pluralize_count(power["pairs"], "pair" if unit == "sample" else unit)
    screen.line(f"Power: {treatment}, {counted}", bold=True, gap=True)
    for line in format_power_lines_for_terminal(power):
        screen.line(line, indent=2)
    columns = {f"{unit}s": [f"{row['n']:,}" for row in power["table"]]}
    for name, one in (("observed", observed), ("smallest", smallest)):
        shares = [row[name] for row in power["table"]]
        # No number of samples makes it certain: what is 1 was rounded.
        shown = ["over 99%" if share > 0.99 else format_percent(share) for share in shares]
        columns[f"{name} {format_rounded(one['effect'], 2)}"] = shown
    screen.table(columns, right=tuple(columns))


DETECTED = "; these {pairs:,} did"
POWER_STATES = {
    "shown": "; these {pairs:,} show a difference at least that large",
    "ruled out": "; these {pairs:,} rule it out",
    "open": "; these {pairs:,} leave it open",
}


def format_power_lines_for_terminal(power: ComparisonData) -> list[str]:
    """How many samples show a difference, and what is left to do for this comparison."""
    lines = []
    for what, name in (("the difference that was seen", "observed"), ("the smallest that matters", "smallest")):
        one = power[name]
        says = f"no number of {power['unit']}s would show it"
        if one["needed"] is not None:
            state = DETECTED if (name, one["state"]) == ("observed", "shown") else POWER_STATES.get(one["state"], "")
            rest = f": {one['more']:,} more" if one["more"] else state
            needed = pluralize_count(one["needed"], power["unit"])
            says = f"{needed} would detect it four times out of five{rest.format(pairs=power['pairs'])}"
        lines.append(f"{what} ({format_rounded(one['effect'], 2)} points): {says}")
    return lines


def _print_comparison_verdict(screen: Screen, found: ComparisonData) -> None:
    decision = found["decision"]
    told = (decision["verdict"], decision["sure"])
    lead = next((one for one in decision["comparisons"] if (one["verdict"], one["sure"]) == told), None)
    colour = VERDICT_COLOURS.get(decision["verdict"]) or ("red" if decision["exit_code"] else "green")
    colour = "yellow" if found["forced"] else colour  # No green for what was forced.
    screen.line(f"{decision['verdict']}: {decision['headline']}", bold=True, fg=colour, gap=True)
    sentences = {
        "forced": "; ".join(found["forced"]),
        "why": " ".join(decision["reasons"]),
        "rule": lead["rule"] if lead else "",
        "how sure": decision["sure"],
        "next": decision["next_step"],
    }
    for name, sentence in sentences.items():
        if sentence:
            screen.line(f"{name}: {sentence}", indent=2)
