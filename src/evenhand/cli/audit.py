"""evenhand audit: whether the judges of a run are fit to decide, and what speaks against it."""

from __future__ import annotations

from collections.abc import Sequence

import click

from evenhand.calibrate.audits.findings import Audit, AuditFinding
from evenhand.cli.output import print_json, print_until_reader_leaves
from evenhand.cli.run_tables import BADGE_MARKS
from evenhand.cli.screen import Screen, print_section, print_table_or_sentences
from evenhand.wording import format_number, format_rounded


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
