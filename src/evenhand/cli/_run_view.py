"""A run on a terminal: scores, criteria, gates, flags, failures, judges, and last what was decided and what to do."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from rich.cells import cell_len

from evenhand.cli._screen import GAP, Screen
from evenhand.cli._text import one_line
from evenhand.report import (
    advised,
    answered,
    comparison_columns,
    counted,
    criterion_columns,
    failed_count,
    stands,
    unfinished,
    variant_columns,
)
from evenhand.report import figures as f

Data = Mapping[str, Any]
Column = tuple[str, list[str]]

UNSURE = dict.fromkeys(("CAUTIOUS", "NOISE", "UNDERPOWERED", "UNDECIDED"), "yellow")
COLOURS = {"PROGRESS": "green", "REGRESS": "red", **UNSURE}
BADGES = {"green": ("✓", None), "amber": ("◆", "yellow"), "red": ("✗", "red"), "grey": ("–", "bright_black")}
FEW = 4  # So many passed gates are still worth their lines.
NO_HISTORY = "no history yet"  # Not worth a line on the first run of everything.
NAME = 24  # Cells that a long name may take before it is wrapped.


def show_run(head: Data, *, screen: Screen | None = None) -> None:
    """Print what came out; the verdict comes last, where the eye is when the command is done."""
    screen = screen or Screen()
    screen.line(_heading(head), dim=True)
    _show_packed(screen, variant_columns(head))
    _show_packed(screen, [[column] for column in criterion_columns(head)])
    show_section(screen, "Gates", gate_lines(head["decision"]["gates"]))
    show_section(screen, "Flags", _flags(head["flags"]))
    show_section(screen, "Failures", _failures(head["failures"]))
    show_section(screen, "History", _history(head["consistency"]))
    _show_judges(screen, head)
    _show_cost(screen, head["cost"])
    _show_packed(screen, comparison_columns(head))
    show_section(screen, "Audit", badge_lines(head["decision"]["comparisons"]))
    show_section(screen, "Treatments", treatment_lines(head["decision"]["comparisons"]))
    _show_verdict(screen, head)


def _heading(head: Data) -> str:
    run = head["run"]
    repeats = [f.times(run["repeats"], "repeat")] if run["repeats"] > 1 else []
    state = [unfinished(run)] if unfinished(run) else []
    sizes = [counted(run), f.times(len(head["variants"]), "variant"), *repeats]
    return " · ".join([run["name"], *sizes, f"run {run['id']}", *state])


def _show_packed(screen: Screen, groups: Sequence[Sequence[Column]]) -> None:
    """A table whose first column names its rows; where it is too wide for the screen, two or more of them."""
    if not groups:
        return
    ((head, names),), *rest = _distinct(groups)
    for table in _tables(screen.width - min(NAME, _width((head, names))), rest):
        screen.gap()
        numbers = [name for name, _ in table if name != "verdict"]
        screen.table({head: names, **dict(table)}, right=numbers, colours=COLOURS)


def _distinct(groups: Sequence[Sequence[Column]]) -> list[list[Column]]:
    """The columns with names fit to be shown, no two of them alike."""
    taken: set[str] = set()
    named: list[list[Column]] = []
    for group in groups:
        named.append([])
        for name, cells in group:
            shown = _short(one_line(name))
            while shown in taken:
                shown += "'"
            taken.add(shown)
            named[-1].append((shown, cells))
    return named


def _short(name: str) -> str:
    """A name above numbers, which nothing may push off the screen; names that differ often differ at the end."""
    if cell_len(name) <= NAME:
        return name
    start, end = name[:NAME], name[-NAME:]
    while cell_len(start) + cell_len(end) >= NAME:
        start, end = (start[:-1], end) if cell_len(start) >= cell_len(end) else (start, end[1:])
    return f"{start}…{end}"


def _tables(room: int, groups: Sequence[Sequence[Column]]) -> list[list[Column]]:
    """Groups of columns side by side while there is room for all of the next one; a group too wide is divided."""
    tables: list[list[Column]] = [[]]
    for group in groups:
        whole = _together(group) <= room
        for place, column in enumerate(group):
            coming = group if whole and place == 0 else [column]
            if tables[-1] and _together((*tables[-1], *coming)) > room:
                tables.append([])
            tables[-1].append(column)
    return tables


def _together(columns: Sequence[Column]) -> int:
    return sum(GAP + _width(one) for one in columns)


def _width(column: Column) -> int:
    name, cells = column
    return max(map(cell_len, (name, *cells)))


def show_section(screen: Screen, title: str, lines: Sequence[tuple[str, str | None]]) -> None:
    """A title with its lines below, each with its colour; nothing where there are none."""
    if not lines:
        return
    screen.gap()
    screen.line(title, bold=True)
    for line, colour in lines:
        screen.line(line, indent=2, **({"fg": colour} if colour else {}))


def gate_lines(gates: Mapping[str, Sequence[Data]]) -> list[tuple[str, str | None]]:
    """Those that did not pass; the others too, where they are few."""
    every = [(variant, gate) for variant, several in gates.items() for gate in several]
    passed = sum(gate["passed"] is True for _, gate in every)
    shown = every if len(every) <= FEW else [(variant, gate) for variant, gate in every if not gate["passed"]]
    lines = [_gate(variant, gate) for variant, gate in shown]
    if passed and len(shown) < len(every):
        lines.append(("all passed" if passed == len(every) else f"{passed} of {len(every)} passed", None))
    return lines


def _gate(variant: str, gate: Data) -> tuple[str, str | None]:
    demand = f.figure(gate["min"])
    if gate["passed"] is None:
        return f"{variant}: {gate['gate']} was not measured (gate {demand})", "red"
    if gate["passed"]:
        return f"{variant}: {gate['gate']} {f.figure(gate['mean'])} passes {demand}", None
    return f"{variant}: {gate['gate']} {f.figure(gate['mean'])} is below {demand}", "red"


def _flags(flags: Sequence[Data]) -> list[tuple[str, str | None]]:
    return [
        (
            f"{one['variant']}: {one['guard']} guard, {one['rule']}: {one['says']}, in "
            f"{f.times(one['count'], 'output')} (first in {one['first']})",
            None,
        )
        for one in flags
    ]


def _failures(failures: Sequence[Data]) -> list[tuple[str, str | None]]:
    return [
        (
            f"{one['variant']}: {failed_count(one)}: {one['why']} (first in {one['first']})",
            "red",
        )
        for one in failures
    ]


def _history(consistency: Sequence[Data]) -> list[tuple[str, str | None]]:
    return [(f"{one['variant']}: {one['says']}", None) for one in consistency if one["says"] != NO_HISTORY]


def _show_judges(screen: Screen, head: Data) -> None:
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
        *_paid(judges),
    ]
    _show_packed(screen, [[column] for column in columns])
    for one in head["agreement"]:
        pair = " and ".join(one["judges"])
        agreed = (
            f"correlation {one['pearson']:.2f}" if one["pearson"] is not None else f"no correlation: {one['why_not']}"
        )
        screen.line(f"{pair}: {agreed}, {f.figure(one['mean_gap'])} apart on average (n = {one['n']:,})")
    for one in judges:
        if one["heuristic"]:
            screen.line(f"{one['name']} is heuristic: it goes by words, not by understanding.")


def _paid(judges: Sequence[Data]) -> list[Column]:
    """Tokens and money, where a judge takes any."""
    if not any(one["input_tokens"] or one["output_tokens"] or one["cost"] for one in judges):
        return []
    return [
        ("tokens in", [f"{one['input_tokens']:,}" for one in judges]),
        ("out", [f"{one['output_tokens']:,}" for one in judges]),
        ("cost", [f.dollars(one["cost"]) for one in judges]),
    ]


def _show_cost(screen: Screen, cost: Data) -> None:
    if not cost["total"] and not cost["unpriced"]:
        return
    parts = [f"cost {f.dollars(cost['total'])}"]
    parts += [f"{name} {f.dollars(cost[name])}" for name in ("outputs", "judges") if cost[name] is not None]
    parts += [f"{f.times(cost['unpriced'], 'call')} of unknown price"] if cost["unpriced"] else []
    screen.gap()
    screen.line(" · ".join(parts), dim=True)


def badge_lines(comparisons: Sequence[Data]) -> list[tuple[str, str | None]]:
    """Each badge with whom it is about, where it is not about all of them."""
    whose: dict[str, dict[tuple[str, str | None], list[str]]] = {}
    for one in comparisons:
        for badge in one["badges"]:
            whose.setdefault(badge["badge"], {}).setdefault(_badge(badge), []).append(one["treatment"])
    return [
        (text if len(names) == len(comparisons) else f"{text} ({', '.join(names)})", colour)
        for said in whose.values()
        for (text, colour), names in said.items()
    ]


def _badge(badge: Data) -> tuple[str, str | None]:
    mark, colour = BADGES[badge["state"]]
    advice = f". {advised(badge)}" if advised(badge) else ""
    return f"{mark} {badge['badge']}: {answered(badge)}{advice}", colour


def treatment_lines(comparisons: Sequence[Data]) -> list[tuple[str, str | None]]:
    """What was decided of each treatment, by which rule, and what to do; one alone is told by the verdict below."""
    return [
        (f"{one['treatment']}: {one['verdict']} by rule {one['rule']}. {one['next_step']}", COLOURS.get(one["verdict"]))
        for one in comparisons
        if len(comparisons) > 1
    ]


def _show_verdict(screen: Screen, head: Data) -> None:
    decision, run = head["decision"], head["run"]
    screen.gap()
    screen.line(f"{decision['verdict']}: {decision['headline']}", bold=True, fg=_colour(head))
    cut = f"{unfinished(run)}, {counted(run)}" if unfinished(run) else ""
    why = " ".join(decision["reasons"])
    for name, sentence in (("run", cut), ("why", why), ("how sure", decision["sure"]), ("next", decision["next_step"])):
        if sentence:
            screen.line(f"{name}: {sentence}", indent=2)


def _colour(head: Data) -> str:
    """That of the verdict; no green where something speaks against it."""
    colour = COLOURS.get(head["decision"]["verdict"])
    if colour is None and head["decision"]["exit_code"]:
        return "red"
    return "yellow" if colour in (None, "green") and not stands(head) else colour or "green"
