"""The ranking of a stored run under other weights."""

from __future__ import annotations

import json
from typing import Any

from evenhand.compare.sensitivity import encode_compared_weight_sensitivity, measure_sensitivity
from evenhand.compare.sensitivity_result import Sensitivity
from evenhand.errors import InputError
from evenhand.runs.columns import load_run_columns
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.stores import with_opened_user_store

Json = dict[str, Any]


@with_opened_user_store
def measure_run_sensitivity(store: Store, run: str, *, draws: int, seed: int, spread: float) -> Sensitivity:
    """What becomes of the ranking of a run's variants under other weights."""
    row = store.find_run(run)
    rubrics = json.loads(row["setup"])["rubrics"]
    return measure_sensitivity(load_run_columns(store, row["id"]), rubrics, draws=draws, seed=seed, spread=spread)


# Weightings; and samples times weightings, for a report that opens at once.
MOST_REPORT_DRAWS, MOST_WEIGHED_SAMPLES = 10_000, 20_000_000


def report_sensitivity_for_user(store: Store, run: Row) -> Json | None:
    """None where there is no ranking, or nothing that could be weighed otherwise."""
    table = load_run_columns(store, run["id"])
    draws = max(100, min(MOST_REPORT_DRAWS, MOST_WEIGHED_SAMPLES // max(1, len(table.samples))))
    try:
        found = measure_sensitivity(table, json.loads(run["setup"])["rubrics"], draws=draws, seed=run["seed"])
    except InputError:
        return None
    return encode_compared_weight_sensitivity(found)
