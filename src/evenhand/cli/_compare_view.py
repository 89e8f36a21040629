"""A comparison on a terminal: who against whom, every difference, the audit, and last what was decided and why."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.cli._run_view import COLOURS, badge_lines, gate_lines, show_section, treatment_lines
from evenhand.cli._screen import Screen
from evenhand.report import figures as f

Data = Mapping[str, Any]


def show_comparison(found: Data, *, screen: Screen | None = None) -> None:
    """Print what came out; the verdict comes last, where the eye is when the command is done."""
    screen = screen or Screen()
    decision = found["decision"]
    _show_heading(screen, found)
    for one in decision["comparisons"]:
        screen.gap()
        if len(decision["comparisons"]) > 1:
            screen.line(f"{one['treatment']} against {one['control']}: {one['verdict']}", bold=True)
        _show_differences(screen, one, found["scales"], len(decision["comparisons"]))
    show_section(screen, "Gates", gate_lines(decision["gates"]))
    show_section(screen, "Audit", badge_lines(decision["comparisons"]))
    for treatment, power in (found["power"] or {}).items():
        _show_power(screen, treatment, power)
    lines = treatment_lines(decision["comparisons"])
    show_section(screen, "Treatments", [(line, "yellow" if found["forced"] else colour) for line, colour in lines])
    _show_verdict(screen, found)


def _show_heading(screen: Screen, found: Data) -> None:
    sides = [found["control"], *found["treatments"]]
    runs = len({side["run"] for side in sides})
    samples = found["samples"]
    if runs == 1:
        counted = f.times(samples["both"], "sample")
        screen.line(f"{sides[0]['eval']} · run {sides[0]['run']} · {counted}", dim=True)
        screen.line(f"control: {sides[0]['name']}", dim=True)
    else:
        for word, side in zip(("control", "treatment"), sides, strict=True):
            screen.line(f"{word}: {side['eval']} · {side['variant']} · run {side['run']}", dim=True)
        screen.line(f"{f.times(samples['both'], 'sample')} in both", dim=True)
    for note in found["notes"]:
        screen.line(f"note: {note}")


def _show_differences(screen: Screen, one: Data, scales: Data, treatments: int) -> None:
    """A row each for the composite, its layers and the criteria; criteria are on their own scales."""
    layers, criteria = one["layers"], one["criteria"]
    composite = one["composite"] and {**one["composite"], "p": one["p"]}
    rows = [("composite", composite, one["verdict"])]
    rows += [(name, layers[name], one["layer_verdicts"][name]["verdict"]) for name in layers]
    rows += [(f"{id}{_ends(scales.get(id))}", criteria[id], "") for id in criteria]
    columns = {
        "of": [name for name, _, _ in rows],
        "difference": [f.difference(found) for _, found, _ in rows],
        "p": [f.chance(found) for _, found, _ in rows],
        "verdict": [verdict for _, _, verdict in rows],
    }
    screen.table(columns, right=("difference", "p"), colours=COLOURS)
    counts = f"{f.times(one['pairs'], 'pair')}: better in {one['wins']:,}, equal in {one['ties']:,}, worse in "
    lost = [f"{one[f'lost_by_{who}']:,} lost by the {who}" for who in ("treatment", "control") if one[f"lost_by_{who}"]]
    screen.line("; ".join([f"{counts}{one['losses']:,}", *lost]))
    if treatments > 1 and composite:
        screen.line(f"p of the composite is adjusted for {treatments} treatments")
    for name, layer in one["layer_verdicts"].items():
        if layer["verdict"] == "CAUTIOUS" and one["verdict"] == "PROGRESS":
            screen.line(f"{name} is CAUTIOUS: {' '.join(layer['reasons'][1:])}")  # The first is in the table.


def _ends(scale: Sequence[float] | None) -> str:
    return f" ({scale[0]:g}–{scale[1]:g})" if scale else ""


def _show_power(screen: Screen, treatment: str, power: Data) -> None:
    observed, smallest = power["observed"], power["smallest"]
    screen.gap()
    screen.line(f"Power: {treatment}, {f.times(power['pairs'], 'pair')}", bold=True)
    for what, one in (("the difference that was seen", observed), ("the smallest that matters", smallest)):
        screen.line(f"{what} ({one['effect']:.2f} points): {_needed(one)}", indent=2)
    columns = {"samples": [f"{row['n']:,}" for row in power["table"]]}
    for name, one in (("observed", observed), ("smallest", smallest)):
        columns[f"{name} {one['effect']:.2f}"] = [_percent(row[name]) for row in power["table"]]
    screen.table(columns, right=tuple(columns))


def _needed(one: Data) -> str:
    if one["needed"] is None:
        return "no number of samples would show it"
    if not one["more"]:
        return f"{one['needed']:,} samples show it four times out of five; there are enough"
    return f"{one['needed']:,} samples show it four times out of five: {one['more']:,} more"


def _percent(share: float) -> str:
    return "over 99 %" if 0.99 < share < 1 else f"{share * 100:.0f} %"


def _show_verdict(screen: Screen, found: Data) -> None:
    decision = found["decision"]
    lead = next((one for one in decision["comparisons"] if one["verdict"] == decision["verdict"]), None)
    screen.gap()
    screen.line(f"{decision['verdict']}: {decision['headline']}", bold=True, fg=_colour(found))
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


def _colour(found: Data) -> str:
    """That of the verdict; no green for what was forced."""
    if found["forced"]:
        return "yellow"
    decision = found["decision"]
    return COLOURS.get(decision["verdict"]) or ("red" if decision["exit_code"] else "green")
