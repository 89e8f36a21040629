"""Which samples keep a variant from passing a gate, lowest first, and the criteria that they fall short in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace
from fractions import Fraction
from functools import partial
from math import isnan

from evenhand.compare.decision import REQUIRED_GATE, SCORED_GATE, GateSamples, GateState
from evenhand.runs.tally import MOST_REPEATS, RunTallyMean, VariantTally

SampleNames = Callable[[Collection[int]], Mapping[int, str]]  # Ids by position.
MOST_SAMPLES_NAMED = 3
MOST_CRITERIA_NAMED = 3


def name_compared_samples_short_of_gates(
    tally: VariantTally,
    states: tuple[GateState, ...],
    name_samples: SampleNames | None,
    *,
    count_borderline: bool = False,
) -> tuple[GateState, ...]:
    """The states of a variant's gates, those that are missed with the samples that fall short."""
    find_short = partial(
        find_compared_samples_short_of_gate, tally, name_samples=name_samples, count_borderline=count_borderline
    )
    return tuple(state if state.passed else replace(state, short=find_short(state.gate, state.min)) for state in states)


def find_compared_samples_short_of_gate(
    tally: VariantTally,
    gate: str,
    least: float | Fraction,
    name_samples: SampleNames | None,
    *,
    count_borderline: bool = False,
) -> GateSamples | None:
    """The samples below a gate, or, for a share of outputs, those not in it; None where nobody can name any."""
    if name_samples is None:
        return None
    measured = {**tally.criteria, **tally.layers, "score": tally.score, "composite": tally.composite}
    criteria: tuple[str, ...] = ()
    if gate in measured:
        lowest = _order_variant_samples_below_gate(tally, measured[gate], float(least))
        criteria = (gate,) if gate in tally.criteria and gate not in tally.layers else ()
    else:
        lowest = _list_compared_positions_left_out(tally, gate, count_borderline)
        failed = Counter({criterion: len(set(places)) for criterion, places in tally.failed_gates.items()})
        criteria = tuple(criterion for criterion, _ in failed.most_common(MOST_CRITERIA_NAMED))
    if not lowest:
        return None
    names = name_samples(lowest[:MOST_SAMPLES_NAMED])
    shown = tuple(names[position] for position in lowest[:MOST_SAMPLES_NAMED] if position in names)
    return GateSamples(samples=shown, count=len(lowest), criteria=criteria)


def _list_compared_positions_left_out(tally: VariantTally, gate: str, count_borderline: bool) -> list[int]:
    """Samples whose outputs do not pass, fail a gate of their rubric, or have no score, as the gate asks."""
    if gate == REQUIRED_GATE:
        places = list(tally.failed_gates.values())
    else:
        passing = {"borderline"} if count_borderline else set()
        passing |= {"borderline", "fail"} if gate == SCORED_GATE else set()
        places = [found for verdict, found in sorted(tally.not_passed.items(), reverse=True) if verdict not in passing]
    return list(dict.fromkeys(position for found in places for position in found))


def _order_variant_samples_below_gate(tally: VariantTally, mean: RunTallyMean, least: float) -> list[int]:
    """Positions of samples below a minimum, lowest first; of repeats the lowest counts."""
    low: dict[int, float] = {}
    for place, value in zip(tally.places, mean.values, strict=True):
        if not isnan(value) and value < least:
            position = place // MOST_REPEATS
            low[position] = min(value, low.get(position, value))
    return sorted(low, key=lambda position: (low[position], position))
