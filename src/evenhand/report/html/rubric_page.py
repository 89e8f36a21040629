"""What a page shows of a rubric: criteria, anchors and steps; and of a run under another one, with a map of weights."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from types import SimpleNamespace
from typing import Any

from evenhand.model.method import Method
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.report.result_phrases import (
    describe_reported_method_scale,
    format_reported_anchor_place,
    list_reported_method_steps,
)
from evenhand.wording import (
    MISSING_DASH,
    format_fraction,
    format_number,
    format_percent,
    format_percent_tenths,
    format_signed,
    pluralize_count,
    word_layers,
)


def build_rubric_report_page(found: Rubric | Method) -> dict[str, Any]:
    """All that the template is given of a rubric, or of a method that has no criteria of its own."""
    method = found.method if isinstance(found, Rubric) else found
    rubric = found if isinstance(found, Rubric) else None
    total = sum((one.weight for one in rubric.criteria), start=0) if rubric else 0
    return {
        "name": found.name,
        "about": found.about,
        "method": method,
        "method_about": method.about if rubric else "",
        "score_scale": describe_reported_method_scale(method),
        "criteria": [one for each in rubric.criteria for one in _list_criteria_in_report(each, total)]
        if rubric
        else [],
        "statements": [
            (kind, one.id, "" if one.id == one.asks else one.asks, format_fraction(one.amount) if one.amount else "")
            for kind, several in (("Red flags", rubric.red_flags), ("Bonuses", rubric.bonuses))
            for one in several
        ]
        if rubric
        else [],
        "gates": [(gate.criterion, format_fraction(gate.min)) for gate in rubric.all_gates] if rubric else [],
        "steps": list_reported_method_steps(method),
        "grades": [(one.grade, format_fraction(one.from_, method.scale.decimals), one.label) for one in method.grades],
        "verdicts": [(one.verdict, format_fraction(one.from_)) for one in method.verdicts],
    }


def _list_criteria_in_report(criterion: Criterion, total: Any, depth: int = 0) -> Iterator[SimpleNamespace]:
    """A criterion and those below it."""
    worth = format_fraction(criterion.weight if criterion.points is None else criterion.points)
    yield SimpleNamespace(
        id=criterion.id,
        asks=criterion.asks,
        scale=str(criterion.scale),
        worth=worth if criterion.points is None else f"{worth} points",
        share=round(float(100 * criterion.weight / total), 1) if total and not depth else None,
        anchors=[(format_reported_anchor_place(one, criterion.scale), one.text) for one in criterion.anchors],
        depth=depth,
    )
    for child in criterion.children:
        yield from _list_criteria_in_report(child, total, depth + 1)


CELL = 10  # Pixels of a cell of the map.


def build_what_if_report_page(asked: Any) -> dict[str, Any]:
    """All that the template is given; `asked` is the answer of a run."""
    found = asked.found
    kinds: dict[str, list[Any]] = {}
    for one in asked.controls:
        stored = asked.stored[one.name]
        changed = abs(one.value - stored) >= one.step / 2
        kinds.setdefault(one.kind, []).append(SimpleNamespace(given=one, stored=stored, changed=changed))
    return {
        "run": {"id": asked.run},
        "name": asked.name,
        "rubric_name": asked.rubric.name,
        "kinds": kinds,
        "weight_shares": list(_list_weight_shares([one for one in asked.controls if one.kind == "Weights"])),
        "leaf_shares": asked.shares,
        "headline": describe_winner_in_report(found),
        "turned": found.winner_before != found.winner_after,
        "lead": _describe_lead_in_report(found),
        "counted": _describe_counted_samples(found),
        "by_composite": describe_composite_ranking(found.composite),
        "rows": [_show_variant_in_report(one) for one in found.variants],
        "flipped": _describe_flips_in_report(found),
        "flips": [
            SimpleNamespace(given=one, id=id, position=position)
            for one, id, position in zip(found.flips, asked.samples, asked.positions, strict=True)
        ],
        "beyond": asked.beyond,
        "has_shares": any(one.verdicts or one.grades for one in found.variants),
        "has_verdicts": any(one.verdict_before or one.verdict_after for one in found.flips),
    }


def _list_weight_shares(weights: Sequence[Any]) -> Iterator[tuple[str, str, str]]:
    """Each weight as a share of those that it stands beside: of the whole, or of one node of a tree."""
    totals: dict[str, float] = {}
    for one in weights:
        beside = one.name.rpartition("-")[0]
        totals[beside] = totals.get(beside, 0.0) + one.value
    for one in weights:
        yield one.name, one.label, format_percent_tenths(one.value / totals[one.name.rpartition("-")[0]])


def describe_winner_in_report(found: Any) -> str:
    """Who wins now, and whether that is another one than before."""
    if len(found.variants) < 2:
        return f"{found.winner_after} is the only variant."
    scored = [one.name for one in found.variants if one.after is not None]
    if not scored:
        return "Nothing was scored: no other weights would change that."
    if not found.winner_after:
        return "No sample has a score of every variant: they cannot be ranked."
    if len(scored) == 1:
        return f"{found.winner_after} is the only variant with a score."
    if found.winner_before == found.winner_after:
        return f"{found.winner_after} stays first."
    return f"{found.winner_after} is first now, in place of {found.winner_before}."


def _describe_lead_in_report(found: Any) -> str:
    if found.lead is None:
        return ""
    sure = "more" if found.lead[1] > 0 else "no more"
    return (
        f"Ahead of {found.second} by {_describe_lead_with_interval(found.lead)}: {sure} than the noise of the samples."
    )


def _describe_lead_with_interval(found: tuple[float, float, float]) -> str:
    lead, low, high = found
    ends = f"95% interval {format_signed(low)} to {format_signed(high)}"
    if not (math.isfinite(low) and math.isfinite(high)):
        ends = "too few samples for a 95% interval"
    return f"{format_number(lead)} ({ends})"


def _describe_counted_samples(found: Any) -> str:
    """Which samples means, ranks and the lead are over, where it is not all of them."""
    if len(found.variants) < 2 or not found.samples or not found.left_out:
        return ""
    counted = pluralize_count(found.samples, "sample")
    left = "1 is" if found.left_out == 1 else f"{found.left_out:,} are"
    return f"Means, ranks and the lead are over the {counted} that every variant has a score for; {left} left out."


def describe_composite_ranking(found: Any) -> str:
    """That the verdict goes by more than the rubric's score, and who is first by that; empty where it does not."""
    if found is None:
        return ""
    first = f"{found.first} is first"
    if found.lead is not None:
        first += f", ahead of {found.second} by {_describe_lead_with_interval(found.lead)}"
    stored = "" if found.changed else " as it is stored"
    goes_by = f"the verdict of a run goes by the composite of {word_layers(found.layers)}"
    return f"This page ranks by the rubric's score; {goes_by}. By the composite{stored}, {first}."


def _show_variant_in_report(one: Any) -> SimpleNamespace:
    grades = {name: share for name, share in one.grades.items() if share[0] or share[1]}  # Of twelve, few are given.
    shares = {**one.verdicts, **grades}
    known = one.before is not None and one.after is not None
    return SimpleNamespace(
        given=one,
        before=format_number(one.before, 3) if known else MISSING_DASH,
        after=format_number(one.after, 3) if known else MISSING_DASH,
        change=format_signed(one.after - one.before, 3) if known else MISSING_DASH,
        shares=[
            (name, "" if before is None else format_percent(before), format_percent(after))
            for name, (before, after) in shares.items()
        ],
    )


def _describe_flips_in_report(found: Any) -> str:
    if not found.outputs:
        return ""
    all_flips = found.flipped + found.decided
    more = all_flips - len(found.flips)
    if not all_flips or more <= 0:
        return _count_flips(found)
    listed = f"Listed are {len(found.flips)}, those that moved most and at least one of each kind"
    return f"{_count_flips(found)} {listed}; {more:,} more {'is' if more == 1 else 'are'} not."


def _count_flips(found: Any) -> str:
    outputs = pluralize_count(found.outputs, "output")
    moved = pluralize_count(found.moved, "score moves", "scores move")
    if found.decided:
        first = pluralize_count(found.decided, "output gets", "outputs get")
        return f"Of {outputs}, {moved}, and {first} a verdict for the first time."
    return f"Of {outputs}, {moved}, and {pluralize_count(found.flipped, 'verdict flips', 'verdicts flip')}."


def draw_weight_map(found: Any) -> SimpleNamespace:
    """The map as rectangles, the first criterion to the right, the second upwards."""
    side = found.side * CELL
    return SimpleNamespace(
        across=found.across,
        up=found.up,
        side=side,
        cell=CELL,
        cells=[(i * CELL, side - (j + 1) * CELL, winner) for i, j, winner in found.cells],
        winners=[(at, name, format_percent(found.shares[name])) for at, name in enumerate(found.variants)],
        others=found.others,
        says="; ".join(
            f"{name} wins for {format_percent(share)} of the weights" for name, share in found.shares.items()
        ),
    )
