"""What a page shows of a run under another rubric: each number beside the stored one, and a map of weights."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

from evenhand.wording import format_number, format_percent, format_signed, pluralize_count

CELL = 10  # Pixels of a cell of the map.


def build_what_if_page(asked: Any) -> dict[str, Any]:
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
        "headline": describe_winner(found),
        "turned": found.winner_before != found.winner_after,
        "lead": _describe_lead(found),
        "rows": [_show_variant(one) for one in found.variants],
        "flipped": _describe_flips(found),
        "flips": [
            SimpleNamespace(given=one, id=id, position=position)
            for one, id, position in zip(found.flips, asked.samples, asked.positions, strict=True)
        ],
        "beyond": asked.beyond,
    }


def describe_winner(found: Any) -> str:
    """Who wins now, and whether that is another one than before."""
    if len(found.variants) < 2:
        return f"{found.winner_after} is the only variant."
    if found.winner_before == found.winner_after:
        return f"{found.winner_after} stays first."
    return f"{found.winner_after} is first now, in place of {found.winner_before}."


def _describe_lead(found: Any) -> str:
    if found.lead is None:
        return ""
    lead, low, high = found.lead
    sure = "more" if low > 0 else "no more"
    ends = f"95% interval {format_signed(low)} to {format_signed(high)}"
    return f"Ahead of {found.second} by {format_number(lead)} ({ends}): {sure} than the noise of the samples."


def _show_variant(one: Any) -> SimpleNamespace:
    shares = {**one.verdicts, **one.grades}
    return SimpleNamespace(
        given=one,
        before=format_number(one.before, 3),
        after=format_number(one.after, 3),
        change=format_signed(one.after - one.before, 3),
        shares=[(name, format_percent(before), format_percent(after)) for name, (before, after) in shares.items()],
    )


def _describe_flips(found: Any) -> str:
    outputs = pluralize_count(found.outputs, "output")
    moved = pluralize_count(found.moved, "score moves", "scores move")
    return f"Of {outputs}, {moved}, and {pluralize_count(found.flipped, 'verdict flips', 'verdicts flip')}."


def build_weight_map(found: Any) -> SimpleNamespace:
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
            f"{name} wins with {format_percent(share)} of the weights" for name, share in found.shares.items()
        ),
    )
