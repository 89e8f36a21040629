"""From columns to facts: pair the rows, count what was lost, test the composite and every layer."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from evenhand.compare._column import Column, Scores
from evenhand.compare._decision import GateState
from evenhand.compare._facts import NEARLY, Agreed, Facts, LayerFacts, NotWorse, Spread
from evenhand.errors import Fault, InputError, nearest
from evenhand.stats import (
    LEAST_NEEDED,
    Agreement,
    Difference,
    Looks,
    Mcnemar,
    PowerBand,
    Saturation,
    Undefined,
    difference_of,
    holm,
    krippendorff,
    mcnemar_worse,
    mean_pairwise,
    not_worse,
    p_over_looks,
    power_band,
    saturation,
    sequential_difference,
    unit_differences,
)

Floats = NDArray[np.float64]
Judges = Mapping[str, Sequence[Scores]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """What holds for all comparisons of one decision."""

    control: str
    layers: tuple[str, ...]
    gates: Mapping[str, tuple[GateState, ...]]
    agreed: Mapping[str, Agreed]
    aligned: Agreement | Undefined | None
    smallest_effect: float
    not_worse_by: float | None
    treatments: int
    seed: int
    stopped_early: bool
    looks: Looks | None = None  # Of a run that was looked at while it came in.


def gate_states(
    column: Column, clusters: Sequence[int], layers: Sequence[str], gates: Mapping[str, float]
) -> tuple[GateState, ...]:
    """Each layer's mean over the samples that have it, against its minimum."""
    states = []
    for layer in layers:
        mean = _mean(_array(column.layers[layer]), np.asarray(clusters)) if layer in column.layers else None
        passed = None if mean is None else mean >= gates[layer] - NEARLY
        states.append(GateState(gate=layer, min=gates[layer], mean=mean, passed=passed))
    return tuple(states)


def agreement(judges: Judges, variants: Sequence[str], rows: int) -> dict[str, Agreed]:
    """How far the judges agree on each variant that two or more of them have scored."""
    found = {}
    for variant, given in judges.items():
        if variant not in variants:
            raise InputError(Fault(f"judges of unknown variant {variant!r}", nearest(variant, variants)))
        if any(len(row) != rows for row in given):
            raise InputError(Fault(f"a judge of variant {variant!r} does not have {rows} rows", "None where missing"))
        if len(given) > 1:
            alpha = krippendorff(given) if len(given) > 2 else None
            found[variant] = Agreed(judges=len(given), pearson=mean_pairwise(given), alpha=alpha)
    return found


def measure(columns: Mapping[str, Column], clusters: Sequence[int], setting: Setting) -> list[Facts]:
    """The facts of every treatment, in order; what can condemn one of them is adjusted over all of them."""
    units = np.unique(np.asarray(clusters), return_inverse=True)[1] if len(clusters) else np.empty(0, np.int64)
    treatments = [name for name in columns if name != setting.control]
    found = [_facts(columns, name, units, setting) for name in treatments]
    tested = [place for place, facts in enumerate(found) if facts.p is not None]
    for place, p in zip(tested, holm([found[place].p or 0.0 for place in tested]).p, strict=True):
        found[place] = replace(found[place], p=p, tests=len(tested))
    lost = holm([facts.lost.p for facts in found]).p
    return [
        replace(facts, lost=replace(facts.lost, p=p), layers=layers)
        for facts, p, layers in zip(found, lost, _held(found), strict=True)
    ]


def _held(found: Sequence[Facts]) -> list[dict[str, LayerFacts]]:
    """The layers of every treatment, their p-values adjusted over all of them."""
    adjusted = iter(holm([layer.p_held for facts in found for layer in facts.layers.values()]).p)
    return [{name: replace(layer, p_held=next(adjusted)) for name, layer in facts.layers.items()} for facts in found]


def _facts(columns: Mapping[str, Column], treatment: str, units: NDArray[np.int64], setting: Setting) -> Facts:
    ours, theirs = columns[treatment], columns[setting.control]
    own, other = _array(ours.composite), _array(theirs.composite)
    both = ~np.isnan(own) & ~np.isnan(other)
    only_control, only_treatment = np.isnan(own) & ~np.isnan(other), ~np.isnan(own) & np.isnan(other)
    # Per sample: repeats of one sample that fail together are one loss, not several.
    lost = np.bincount(units, weights=only_control.astype(np.float64) - only_treatment)
    differences = _differences(own, other, units, both)
    composite = _tested(differences, setting)
    power = _power(composite, setting)
    return Facts(
        what="composite",
        treatment=treatment,
        control=setting.control,
        pairs=len(differences),
        lost=lost_over_looks(mcnemar_worse(int((lost > 0).sum()), int((lost < 0).sum())), setting.looks),
        dropped=int(only_control.sum()),
        wins=int((differences > 0).sum()),
        ties=int((differences == 0).sum()),
        losses=int((differences < 0).sum()),
        composite=composite,
        p=composite.p if composite else None,
        tests=1,
        layers=_layers(ours, theirs, units, both, treatment, setting),
        power=power,
        needed=_needed(power, setting),
        smallest_effect=setting.smallest_effect,
        saturation=_saturation(differences, setting),
        agreed={name: setting.agreed[name] for name in (setting.control, treatment) if name in setting.agreed},
        aligned=setting.aligned,
        criteria=_criteria(ours, theirs, units, setting),
        spread=_spread(differences),
        not_worse=_not_worse(differences, setting),
    )


def _layers(
    ours: Column, theirs: Column, units: NDArray[np.int64], both: NDArray[np.bool_], treatment: str, setting: Setting
) -> dict[str, LayerFacts]:
    states = zip(setting.gates[treatment], setting.gates[setting.control], strict=True)
    found = {}
    for layer, (own, other) in zip(setting.layers, states, strict=True):
        differences = np.empty(0)
        if layer in ours.layers and layer in theirs.layers:
            differences = _differences(_array(ours.layers[layer]), _array(theirs.layers[layer]), units, both)
        difference = _tested(differences, setting)
        power = _power(difference, setting)
        found[layer] = LayerFacts(
            difference=difference,
            p_held=1.0 if difference is None else difference.p,
            gate=own.min,
            control_mean=other.mean,
            treatment_mean=own.mean,
            power=power,
            needed=_needed(power, setting),
            saturation=_saturation(differences, setting),
        )
    return found


def _criteria(ours: Column, theirs: Column, units: NDArray[np.int64], setting: Setting) -> dict[str, Difference | None]:
    """Each criterion that both have, over the samples that both have it for."""
    found = {}
    for name in ours.criteria:
        if name in theirs.criteria:
            own, other = _array(ours.criteria[name]), _array(theirs.criteria[name])
            both = ~np.isnan(own) & ~np.isnan(other)
            found[name] = _tested(_differences(own, other, units, both), setting)
    return found


def _power(found: Difference | None, setting: Setting) -> PowerBand | None:
    return power_band(found.sd, setting.smallest_effect) if found else None


def _needed(power: PowerBand | None, setting: Setting) -> int:
    return LEAST_NEEDED if power is None or setting.stopped_early else power.needed


def _saturation(differences: Floats, setting: Setting) -> Saturation | None:
    return _settled(differences.tobytes(), setting.seed) if len(differences) > 1 else None


@lru_cache(2)  # Where there is one layer, its differences are those of the composite.
def _settled(differences: bytes, seed: int) -> Saturation:
    return saturation(np.frombuffer(differences), rng=np.random.default_rng(seed))


def _not_worse(differences: Floats, setting: Setting) -> NotWorse | None:
    """Each treatment has its share of the 5 % by which one of them may pass wrongly."""
    if setting.not_worse_by is None or len(differences) < 2:
        return None
    level = 1 - 0.10 / setting.treatments
    rng = np.random.default_rng(setting.seed)
    found = not_worse(differences, by=setting.not_worse_by, rng=rng, level=level)
    return NotWorse(by=found.margin, low=found.low, level=level, holds=found.holds)


_MOST_BARS = 24


def _spread(differences: Floats) -> Spread | None:
    """Differences in steps get a bar each, others bars of equal width."""
    if not len(differences):
        return None
    values = np.unique(differences)
    gap = float(np.diff(values).min()) if len(values) > 1 else 1.0
    low, high = float(values[0]), float(values[-1])
    bars = round((high - low) / gap) + 1
    if bars <= _MOST_BARS:
        edges = low + gap * (np.arange(bars + 1) - 0.5)
    else:  # 0 is an edge: no bar holds both gains and losses.
        width = (high - low) / _MOST_BARS
        edges = width * np.arange(math.floor(low / width), math.ceil(high / width) + 1)
    counts, edges = np.histogram(differences, bins=edges)
    return Spread(edges=tuple(edges.tolist()), counts=tuple(counts.tolist()), mean=float(differences.mean()))


def _tested(differences: Floats, setting: Setting) -> Difference | None:
    """Every test draws from its own generator, so that no variant's name or place changes another's numbers."""
    if len(differences) < 2:
        return None
    rng = np.random.default_rng(setting.seed)
    if setting.looks is None:
        return difference_of(differences, rng=rng)
    return sequential_difference(differences, looks=setting.looks, rng=rng)


def lost_over_looks(lost: Mcnemar, looks: Looks | None) -> Mcnemar:
    """The same for lost outputs: their p-value holds at whichever look a run was stopped."""
    if looks is None:
        return lost
    return replace(lost, p=p_over_looks(min(1.0, 2 * lost.p), looks) / 2, method=f"{lost.method}; alpha spending")


def _differences(own: Floats, other: Floats, units: NDArray[np.int64], both: NDArray[np.bool_]) -> Floats:
    return unit_differences(own[both], other[both], units[both].tolist())


def _mean(values: Floats, clusters: NDArray[np.int64]) -> float | None:
    """Every sample counts once, however often it was repeated."""
    there = ~np.isnan(values)
    if not there.any():
        return None
    _, unit = np.unique(clusters[there], return_inverse=True)
    return float((np.bincount(unit, weights=values[there]) / np.bincount(unit)).mean())


def _array(scores: Scores) -> Floats:
    """NaN for None, inside this module only: a column refuses NaN at birth."""
    return np.array(scores, dtype=np.float64)
