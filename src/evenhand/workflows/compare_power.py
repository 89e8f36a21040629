"""What a comparison could have shown: its power, and how many samples another one takes."""

from __future__ import annotations

from typing import Any

from evenhand.compare.decision import Comparison
from evenhand.compare.facts import SIGNIFICANCE_LEVEL, does_difference_reach, is_treatment_difference_beyond
from evenhand.errors import Fault, InputError
from evenhand.stats.differences import Difference
from evenhand.stats.power import LEAST_NEEDED, needed_for, power_of

Json = dict[str, Any]
SAMPLE_MULTIPLES = (1, 2, 5, 10)  # As many samples as there are, and more.


def requested_power_json(comparison: Comparison) -> Json:
    """The chance to see a difference with so many samples, how many give four of five, and what these have shown."""
    found, band = comparison.composite, comparison.power
    if found is None or band is None:
        raise InputError(Fault("nothing was compared, so its power is not known", "score more samples with both"))
    step = band.step
    effects = {"observed": abs(found.estimate), "smallest": band.smallest_effect}
    seen = needed_for(effects["observed"], found.sd, step=step) if effects["observed"] else None
    needed = {"observed": None if seen is None else max(LEAST_NEEDED, seen), "smallest": band.needed}
    states = _requested_effect_json(comparison, found, band.smallest_effect)
    sizes = {found.n * times for times in SAMPLE_MULTIPLES} | {n for n in needed.values() if n is not None}
    return {
        "pairs": found.n,
        "sd": round(found.sd, 6),
        **{
            name: {
                "effect": round(effects[name], 6),
                "needed": n,
                "more": None if n is None else max(0, n - found.n) if states[name] == "open" else 0,
                "state": states[name],
            }
            for name, n in needed.items()
        },
        "table": [
            {"n": n} | {name: round(power_of(n, one, found.sd, step=step).power, 4) for name, one in effects.items()}
            for n in sorted(sizes)
        ],
        "method": power_of(max(2, found.n), band.smallest_effect, found.sd, step=step).method,
    }


def _requested_effect_json(comparison: Comparison, found: Difference, smallest: float) -> dict[str, str | None]:
    """What these pairs have shown: "shown", "ruled out", "open", or None where the verdict does not turn on it."""
    significant = comparison.p is not None and comparison.p < SIGNIFICANCE_LEVEL
    few, beyond = found.n < LEAST_NEEDED, is_treatment_difference_beyond(found, smallest)
    # A loss is a loss from 5 pairs on; a gain has to be certain.
    observed = "shown" if significant and (found.estimate < 0 or beyond or not few) else "open"
    if significant and beyond:
        return {"observed": observed, "smallest": "shown"}
    if not few and not does_difference_reach(found, smallest):
        return {"observed": observed, "smallest": "ruled out"}
    return {"observed": observed, "smallest": None if significant else "open"}
