"""What a planned run can show: the difference that so many samples see four times out of five."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from evenhand.compare.facts import SIGNIFICANCE_LEVEL
from evenhand.errors import Fault, InputError
from evenhand.stats.differences import SCALE_BOUND
from evenhand.stats.power import (
    FEWEST_TESTED_PAIRS,
    LEAST_NEEDED,
    detectable_effect_at_power,
    needed_for,
    power_of,
)
from evenhand.store.store import Store
from evenhand.wording import round_number_for_json

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class ExpectedSpread:
    """How far the differences between two variants are expected to scatter, and where that is known from."""

    sd: float
    run: str | None  # None where somebody stated it.
    step: float = 0.0  # Of tied differences, which take more samples.


def plan_power(
    store: Store | None,
    name: str,
    *,
    treatments: Sequence[str],
    pairs: int,
    smallest_effect: float,
    stated_sd: float | None,
    unit: Literal["sample", "cluster"] = "sample",
) -> Json | None:
    """For each treatment what so many pairs show; None where there is nothing to compare. `unit` is what they count.

    The scatter is the stated one, or that of the last run of the eval that tells it. Several treatments share the 5%.
    """
    if stated_sd is not None and not 0 <= stated_sd < math.inf:
        raise InputError(
            Fault(f"a standard deviation cannot be {stated_sd:g}", "0 or more, in points of the composite")
        )
    if not treatments:
        return None
    spreads = _load_spreads_to_plan(store, name, treatments, stated_sd)
    level = 1 - SIGNIFICANCE_LEVEL / len(treatments)
    return {
        "pairs": pairs,
        "unit": unit,
        "smallest_effect": smallest_effect,
        "treatments": [
            _planned_treatment_json(treatment, spreads.get(treatment), pairs, smallest_effect, level)
            for treatment in treatments
        ],
    }


def _load_spreads_to_plan(
    store: Store | None, name: str, treatments: Sequence[str], stated_sd: float | None
) -> Mapping[str, ExpectedSpread]:
    if stated_sd is not None:
        return dict.fromkeys(treatments, ExpectedSpread(sd=stated_sd, run=None))
    found: dict[str, tuple[int, ExpectedSpread]] = {}
    for row in store.list_runs(name) if store is not None else ():
        own = row["summary"] and row["imported"] is None
        summary = json.loads(row["summary"]) if own else {"decision": {"comparisons": []}}
        for one in summary["decision"]["comparisons"]:
            measured = one["composite"]
            # A few pairs, or pairs that hardly differ from each other, do not tell how far others will scatter.
            if measured is None or measured["n"] < FEWEST_TESTED_PAIRS or SCALE_BOUND in measured["method"]:
                continue
            pairs = min(measured["n"], LEAST_NEEDED)  # From 20 pairs on, the later run counts.
            if pairs > found.get(one["treatment"], (0, None))[0]:
                step = (one["power"] or {}).get("step") or 0.0
                found[one["treatment"]] = pairs, ExpectedSpread(sd=measured["sd"], run=row["id"], step=step)
    return {treatment: spread for treatment, (_, spread) in found.items()}


def _planned_treatment_json(
    treatment: str, spread: ExpectedSpread | None, pairs: int, smallest_effect: float, level: float
) -> Json:
    known: Json = {"treatment": treatment, "sd": None, "run": None, "detectable": None, "needed": None, "power": None}
    if spread is None:
        return known
    sd, terms = spread.sd, {"step": spread.step, "level": level}
    needed = needed_for(smallest_effect, sd, **terms)
    known |= {"sd": sd, "run": spread.run, "needed": None if needed is None else max(LEAST_NEEDED, needed)}
    if pairs >= FEWEST_TESTED_PAIRS:
        known["detectable"] = round_number_for_json(detectable_effect_at_power(pairs, sd, **terms))
        known["power"] = round_number_for_json(power_of(pairs, smallest_effect, sd, **terms).power)
    return known
