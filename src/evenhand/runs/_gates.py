"""Gates of a run: the least mean of a layer, the composite, the rubric's own score, a criterion, the pass rate."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from fractions import Fraction

from evenhand.runs._tally import Tally

PASS_RATE = "pass_rate"


def gate_states(tally: Tally, gates: Mapping[str, Fraction], but: Collection[str] = ()) -> list[dict[str, object]]:
    """Each gate with what was reached, `but` for some. Every output must pass, unless a pass rate says otherwise."""
    asked = {name: least for name, least in gates.items() if name not in but}
    asked.setdefault(PASS_RATE, Fraction(1))
    states: list[dict[str, object]] = []
    for name, least in asked.items():
        reached = _reached(tally, name)
        states.append(
            {
                "gate": name,
                "min": float(least),
                "mean": None if reached is None else float(reached),
                "passed": None if reached is None else reached >= least,
            }
        )
    return states


def _reached(tally: Tally, name: str) -> Fraction | None:
    if name in ("score", "composite"):
        return (tally.score if name == "score" else tally.composite).exact
    if name in tally.layers:
        return tally.layers[name].exact
    if name == PASS_RATE:  # An incomplete scorecard never passes, and an output that failed has none.
        total = sum(tally.states.values())
        return Fraction(tally.passed, total) if total else None
    mean = tally.criteria.get(name)
    return mean.exact if mean else None
