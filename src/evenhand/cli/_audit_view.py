"""An audit on a terminal: the answer, what to do, what speaks against the judges, every number, what is not known."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.calibrate import Audit, AuditFinding
from evenhand.cli._rows import show_rows
from evenhand.cli._screen import Screen

MARKS = {"green": ("✓", None), "amber": ("◆", "yellow"), "red": ("✗", "red"), "grey": ("–", "bright_black")}
FIT = {"yes": "green", "no": "red"}
MOST_TOLD = 12  # Findings that are told in full; all are in the table below.


def show_audit(audit: Audit) -> None:
    """Print it; the answer comes first."""
    screen = Screen()
    screen.line(audit.headline, bold=True, fg=FIT.get(audit.fit, "yellow"))
    screen.line(f"next: {audit.next_step}", indent=2)
    _show_others(screen, [one for one in audit.findings if one.colour in ("red", "amber") and one != audit.worst])
    _show_numbers(screen, [one for one in audit.findings if one.value is not None])
    _show_unknown(screen, [one for one in audit.findings if one.value is None])


def _show_others(screen: Screen, findings: Sequence[AuditFinding]) -> None:
    """What else speaks against them; single criteria are left to the table."""
    told = [one for one in findings if one.criterion is None][:MOST_TOLD]
    if not findings:
        return
    screen.gap()
    screen.line("Also", bold=True)
    for one in told:
        _show_told(screen, one)
    if len(findings) > len(told):
        screen.line(f"{len(findings) - len(told)} more in the table", indent=2)


def _show_told(screen: Screen, one: AuditFinding) -> None:
    mark, colour = MARKS[one.colour]
    screen.line(f"{mark} {one.name}, {_of(one)}: {one.says} {one.advice}".rstrip(), indent=2, fg=colour)


def _show_numbers(screen: Screen, findings: Sequence[AuditFinding]) -> None:
    if not findings:
        return
    screen.gap()
    names = ("", "finding", "of", "value", "interval", "n")
    rows = [
        [MARKS[one.colour][0], one.name, _of(one), _number(one, one.value), _interval(one), f"{one.n:,}"]
        for one in findings
    ]
    colours = {mark: colour for mark, colour in MARKS.values() if colour}
    show_rows(screen, names, rows, heads=3, right=names[3:], colours=colours)


def _show_unknown(screen: Screen, findings: Sequence[AuditFinding]) -> None:
    """What is not known for one reason, in one line."""
    if not findings:
        return
    screen.gap()
    screen.line("Not known", bold=True)
    whose: dict[tuple[str, str], list[str]] = {}
    for one in findings:
        whose.setdefault((one.name, one.says.removeprefix("not known: ")), []).append(_of(one))
    for (name, why), of in whose.items():
        screen.line(f"{name}, {', '.join(of)}: {why}", indent=2)


def _of(one: AuditFinding) -> str:
    return f"{one.judge}, {one.criterion}" if one.criterion else one.judge


def _interval(one: AuditFinding) -> str:
    return "" if one.low is None else f"[{_number(one, one.low)}, {_number(one, one.high)}]"


def _number(one: AuditFinding, value: float | None) -> str:
    """With as many decimals as the unit needs."""
    if value is None:
        return ""
    digits = 3 if one.unit.endswith("characters") else 2
    return f"{value:.{digits}f}".replace("-", "−") if round(value, digits) else f"{0:.{digits}f}"
