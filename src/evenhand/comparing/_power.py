"""How many samples would settle it: for the difference that was seen, and for the smallest that matters."""

from __future__ import annotations

from typing import Any

from evenhand.compare import Column
from evenhand.stats import LEAST_NEEDED, Difference, needed_for, power_of, step_of, unit_differences

Json = dict[str, Any]
TIMES = (1, 2, 5, 10)  # As many samples as there are, and more.


def power_json(control: Column, treatment: Column, clusters: list[int], found: Difference, smallest: float) -> Json:
    """The chance to see a difference with so many samples, and how many give four of five."""
    both = [
        (ours, theirs, cluster)
        for ours, theirs, cluster in zip(treatment.composite, control.composite, clusters, strict=True)
        if ours is not None and theirs is not None
    ]
    step = step_of(unit_differences([one for one, _, _ in both], [one for _, one, _ in both], [c for *_, c in both]))
    effects = {"observed": abs(found.estimate), "smallest": smallest}
    needed = {name: _needed(effect, found.sd, step) for name, effect in effects.items()}
    sizes = {found.n * times for times in TIMES} | {n for n in needed.values() if n is not None}
    return {
        "pairs": found.n,
        "sd": round(found.sd, 6),
        **{
            name: {"effect": round(effect, 6), "needed": needed[name], "more": _more(needed[name], found.n)}
            for name, effect in effects.items()
        },
        "table": [{"n": n, **_chances(n, effects, found.sd, step)} for n in sorted(sizes)],
        "method": power_of(max(2, found.n), smallest, found.sd, step=step).method,
    }


def _chances(n: int, effects: dict[str, float], sd: float, step: float) -> dict[str, float]:
    return {name: round(power_of(n, effect, sd, step=step).power, 4) for name, effect in effects.items()}


def _needed(effect: float, sd: float, step: float) -> int | None:
    found = needed_for(effect, sd, step=step) if effect else None
    return None if found is None else max(LEAST_NEEDED, found)


def _more(needed: int | None, pairs: int) -> int | None:
    return None if needed is None else max(0, needed - pairs)
