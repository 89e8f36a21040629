"""What if weights, ceilings, thresholds and gates were others: a stored run answers at once; the rubric is saved."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock
from typing import Any

from evenhand.compare.sensitivity import WeightMap, map_variant_wins_over_weights
from evenhand.compare.weighted_scores import ComparedWeightedScores, weigh_compared_criteria
from evenhand.compare.what_if import WhatIf, WhatIfColumns, compare_what_if, prepare_what_if_comparison
from evenhand.errors import Fault, InputError
from evenhand.evals.eval_scoring import PAIRWISE
from evenhand.files.rubric_writing import is_shipped_method, write_method_yaml, write_rubric_yaml
from evenhand.model.rubric import Rubric
from evenhand.runs.columns import load_run_columns
from evenhand.runs.stored_judgments import (
    find_run_rubric_for_tag,
    find_scoring_rubrics,
    refuse_run_without_scoring_rubric,
    restore_run_rubric,
)
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.rubric import save_user_rubric_text, save_user_rubric_texts
from evenhand.workflows.stores import with_opened_user_store
from evenhand.workflows.what_if_controls import (
    RubricControl,
    change_rubric_by_controls,
    list_leaf_shares,
    list_what_if_controls,
)

RUNS_KEPT = 3  # In memory: the columns of a hundred thousand outputs take some ten megabytes each.


@dataclass(slots=True)
class PreparedRun:
    """A run in memory, with what does not change between two questions."""

    columns: WhatIfColumns
    name: str
    weighed: ComparedWeightedScores | None
    positions: list[int]  # Of its samples in the store.


@dataclass(slots=True)
class WhatIfWorkflowRuns:
    """The runs that were asked last; finished runs do not change."""

    _kept: OrderedDict[tuple[str, ...], PreparedRun] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def find_prepared_run(self, store: Store, row: Row) -> PreparedRun:
        """A run made ready, once."""
        key = (str(store.address), row["id"], row["ended"] or "")
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _load_run_for_what_if(store, row)
            self._kept.move_to_end(key)
            while len(self._kept) > RUNS_KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]


PREPARED_RUNS = WhatIfWorkflowRuns()


def can_ask_what_if(row: Row) -> bool:
    """Whether a run is one that can be asked, as far as its setup tells."""
    try:
        _refuse_what_if(row, json.loads(row["setup"]))
    except InputError:
        return False
    return True


def _refuse_what_if(row: Row, setup: Mapping[str, Any]) -> None:
    id, rubrics = row["id"], setup["rubrics"]
    if row["state"] != "finished":
        raise InputError(Fault(f"run {id} is not finished ({row['state']})", "ask once it is finished"))
    if not rubrics:
        what = "the run has no rubric: assertions alone decide, and there are no weights to move"
        raise InputError(Fault(what, "add a rubric to the eval, and run it again"))
    if len(rubrics) > 1:
        hint = f"change one of them, and evenhand runs rescore {id} --tag TAG --rubric FILE"
        raise InputError(Fault("the run has several rubrics, each for its own samples", hint))
    refuse_run_without_scoring_rubric(setup)
    (kept,) = find_scoring_rubrics(setup).values()
    if kept["method"].get("dialogue") == PAIRWISE:
        what = "the judges of this run compared outputs in pairs: there are no scores to weigh"
        raise InputError(Fault(what, "run the eval with a rubric whose method scores each output, such as council"))
    if setup["how"].get("cascade") is not None:
        what = "the judges of this run are a cascade: with other numbers it would have passed on other outputs"
        raise InputError(Fault(what, "change the rubric, and run the eval again"))


def _load_run_for_what_if(store: Store, row: Row) -> PreparedRun:
    setup = json.loads(row["setup"])
    _refuse_what_if(row, setup)
    rubrics = find_scoring_rubrics(setup)
    ((tag, kept),) = rubrics.items()
    asked = find_run_rubric_for_tag(setup, tag)
    table = load_run_columns(store, row["id"])
    rubric = restore_run_rubric(kept)
    weighed = weigh_compared_criteria(table, rubrics) if len(table.variants) > 1 else None
    positions = store.rows.list_positions(row["id"])
    return PreparedRun(prepare_what_if_comparison(table, rubric, asked), row["name"], weighed, positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWhatIf:
    """The answer, the numbers that were asked about, and those that are stored."""

    run: str
    name: str
    rubric: Rubric
    found: WhatIf
    controls: tuple[RubricControl, ...]
    stored: Mapping[str, float]
    shares: Mapping[str, tuple[float, float]]  # What each leaf weighs in the whole: asked about, and stored.
    beyond: int
    samples: tuple[str, ...]  # Ids of the flipped, in their order.
    positions: tuple[int, ...]


@with_opened_user_store
def ask_what_if_of_run(store: Store, run: str, changed: Mapping[str, str] | None = None) -> AskedWhatIf:
    """What a run comes to with some numbers of its rubric changed; by the names of `list_what_if_controls`."""
    row = store.find_run(run)
    prepared = PREPARED_RUNS.find_prepared_run(store, row)
    columns = prepared.columns
    rubric = change_rubric_by_controls(columns.rubric, changed or {})
    found = compare_what_if(columns, rubric)
    places = [one.place for one in found.flips]
    before = list_leaf_shares(columns.rubric)
    return AskedWhatIf(
        run=row["id"],
        name=prepared.name,
        rubric=rubric,
        found=found,
        controls=tuple(list_what_if_controls(rubric)),
        stored={one.name: one.value for one in list_what_if_controls(columns.rubric)},
        shares={id: (share, before[id]) for id, share in list_leaf_shares(rubric).items()},
        beyond=columns.beyond,
        samples=tuple(columns.table.samples[place] for place in places),
        positions=tuple(prepared.positions[place] for place in places),
    )


@with_opened_user_store
def save_what_if_rubric_file(
    store: Store, run: str, changed: Mapping[str, str], target: str, *, replace_file: bool = False
) -> list[str]:
    """Write the changed rubric to a new file, with a file of its method where that is changed; their names."""
    prepared = PREPARED_RUNS.find_prepared_run(store, store.find_run(run))
    stem = target.rpartition(".")[0] or target
    rubric = replace(change_rubric_by_controls(prepared.columns.rubric, changed), name=stem)
    if is_shipped_method(rubric.method):
        save_user_rubric_text(target, write_rubric_yaml(rubric, rubric.method.name), replace=replace_file)
        return [target]
    beside = f"{stem}-method.yaml"
    method = write_method_yaml(replace(rubric.method, name=f"{stem}-method"))
    save_user_rubric_texts({beside: method, target: write_rubric_yaml(rubric, beside)}, replace=replace_file)
    return [target, beside]


@with_opened_user_store
def map_weights_of_stored_run(store: Store, run: str, across: str = "", up: str = "") -> WeightMap | str:
    """Over which weights of two criteria each variant wins; where there is no map, why."""
    weighed = PREPARED_RUNS.find_prepared_run(store, store.find_run(run)).weighed
    if weighed is None:
        return "It takes two variants and two criteria with weights to map."
    if not len(weighed.values):
        return "No sample has a score of every variant: there is nothing to map."
    return map_variant_wins_over_weights(weighed, across, up)
