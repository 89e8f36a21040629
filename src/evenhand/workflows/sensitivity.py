"""The ranking of a stored run under other weights."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from evenhand.compare.sensitivity import measure_sensitivity
from evenhand.compare.sensitivity_result import Sensitivity, encode_compared_weight_sensitivity
from evenhand.errors import InputError
from evenhand.evals.eval_scoring import PAIRWISE, SAMPLE_RUBRIC_PREFIX
from evenhand.runs.columns import load_run_columns
from evenhand.runs.stored_judgments import (
    RunRubric,
    find_run_rubric_for_tag,
    find_scoring_rubrics,
    refuse_run_without_scoring_rubric,
)
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.stores import with_opened_user_store

Json = dict[str, Any]


@with_opened_user_store
def measure_run_sensitivity(store: Store, run: str, *, draws: int, seed: int, spread: float) -> Sensitivity:
    """What becomes of the ranking of a run's variants under other weights."""
    row = store.find_run(run)
    rubrics, asked = _load_scoring_rubrics(row)
    table, tags = load_run_columns(store, row["id"]), _read_rubric_tags(store, row["id"], rubrics)
    return measure_sensitivity(table, rubrics, tags=tags, asked=asked, draws=draws, seed=seed, spread=spread)


def _load_scoring_rubrics(row: Row) -> tuple[Json, dict[str, RunRubric]]:
    """The rubrics that gave a run its scores, and who was asked by each; pairs have no scores to weigh."""
    setup = json.loads(row["setup"])
    refuse_run_without_scoring_rubric(setup)
    scored = [tag for tag, one in setup["rubrics"].items() if one["method"].get("dialogue") != PAIRWISE]
    return find_scoring_rubrics(setup), {tag: find_run_rubric_for_tag(setup, tag) for tag in scored}


def _read_rubric_tags(store: Store, run: str, rubrics: Mapping[str, Any]) -> list[str]:
    """By sample, the tag under which the eval has its rubric; nothing where one rubric scored all."""
    if len(rubrics) < 2:
        return []
    tags = (json.loads(sample["content"]).get("tags", ()) for sample in store.samples(run))
    known = {key for key in rubrics if not key.startswith(SAMPLE_RUBRIC_PREFIX)}
    return [next((tag for tag in own if tag in known), "") for own in tags]


# Weightings; and samples times weightings, for a report that opens at once.
MOST_REPORT_DRAWS, MOST_WEIGHED_SAMPLES = 10_000, 20_000_000


def report_sensitivity_for_user(store: Store, run: Row) -> Json | None:
    """None where there is no ranking, or nothing that could be weighed otherwise."""
    table = load_run_columns(store, run["id"])
    draws = max(100, min(MOST_REPORT_DRAWS, MOST_WEIGHED_SAMPLES // max(1, len(table.samples))))
    try:
        rubrics, asked = _load_scoring_rubrics(run)
        tags = _read_rubric_tags(store, run["id"], rubrics)
        found = measure_sensitivity(table, rubrics, tags=tags, asked=asked, draws=draws, seed=run["seed"])
    except InputError:
        return None
    return encode_compared_weight_sensitivity(found)
