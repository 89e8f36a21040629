"""What if weights, ceilings, thresholds and gates were others: a stored run answers at once; the rubric is saved."""

from __future__ import annotations

import json
from collections import OrderedDict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from threading import Lock

from evenhand.compare.weight_map import WeightMap, map_variant_wins
from evenhand.compare.weighted_scores import ComparedWeightedScores, weigh_compared_criteria
from evenhand.compare.what_if import WhatIf, WhatIfColumns, measure_what_if, prepare_what_if
from evenhand.errors import Fault, InputError
from evenhand.files.rubric_export import is_shipped_method, write_method_yaml, write_rubric_yaml
from evenhand.model.rubric import Rubric
from evenhand.runs.columns import load_run_columns
from evenhand.runs.kept_rubrics import restore_kept_rubric
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.wording import read_kept_fraction
from evenhand.workflows.rubric_controls import RubricControl, change_rubric, list_rubric_controls
from evenhand.workflows.rubric_editing import save_rubric_text
from evenhand.workflows.stores import with_opened_user_store

RUNS_KEPT = 3  # In memory: the columns of a hundred thousand outputs take some ten megabytes each.


@dataclass(slots=True)
class PreparedRun:
    """A run in memory, with what does not change between two questions."""

    columns: WhatIfColumns
    name: str
    weighed: ComparedWeightedScores | None
    positions: list[int]  # Of its samples in the store.


@dataclass(slots=True)
class PreparedRuns:
    """The runs that were asked last; finished runs do not change."""

    _kept: OrderedDict[tuple[str, ...], PreparedRun] = field(default_factory=OrderedDict)
    _lock: Lock = field(default_factory=Lock)

    def find_prepared_run(self, store: Store, row: Row) -> PreparedRun:
        """A run made ready, once."""
        key = (str(store.address), row["id"], row["ended"] or "")
        with self._lock:
            if key not in self._kept:
                self._kept[key] = _prepare_run(store, row)
            self._kept.move_to_end(key)
            while len(self._kept) > RUNS_KEPT:
                self._kept.popitem(last=False)
            return self._kept[key]


PREPARED_RUNS = PreparedRuns()


def _prepare_run(store: Store, row: Row) -> PreparedRun:
    if row["state"] != "finished":
        raise InputError(Fault(f"run {row['id']} is not finished ({row['state']})", "ask once it is finished"))
    setup = json.loads(row["setup"])
    if not setup["rubrics"]:
        raise InputError(Fault("the run has no rubric", "assertions alone decide: there are no weights to move"))
    if len(setup["rubrics"]) > 1:
        raise InputError(
            Fault("the run has several rubrics", "rescore it with one of them: evenhand runs rescore --tag")
        )
    (kept,) = setup["rubrics"].values()
    if kept["method"].get("dialogue") == "pairwise":
        raise InputError(Fault("the judges of this run compared outputs in pairs", "there are no scores to weigh"))
    if setup["how"].get("cascade") is not None:
        what = "the judges of this run are a cascade: with other numbers it would have passed on other outputs"
        raise InputError(Fault(what, "change the rubric, and run the eval again"))
    table = load_run_columns(store, row["id"])
    judges = {one["name"]: float(read_kept_fraction(one["weight"])) for one in setup["judges"]}
    rubric = restore_kept_rubric(kept)
    weighed = weigh_compared_criteria(table, setup["rubrics"]) if len(table.variants) > 1 else None
    positions = store.rows.list_positions(row["id"])
    return PreparedRun(prepare_what_if(table, rubric, judges), row["name"], weighed, positions)


@dataclass(frozen=True, slots=True, kw_only=True)
class AskedWhatIf:
    """The answer, the numbers that were asked about, and those that are stored."""

    run: str
    name: str
    rubric: Rubric
    found: WhatIf
    controls: tuple[RubricControl, ...]
    stored: Mapping[str, float]
    beyond: int
    samples: tuple[str, ...]  # Ids of the flipped, in their order.
    positions: tuple[int, ...]


@with_opened_user_store
def ask_what_if(store: Store, run: str, changed: Mapping[str, str] | None = None) -> AskedWhatIf:
    """What a run comes to with some numbers of its rubric changed; by the names of `list_rubric_controls`."""
    row = store.find_run(run)
    prepared = PREPARED_RUNS.find_prepared_run(store, row)
    columns = prepared.columns
    rubric = change_rubric(columns.rubric, changed or {})
    found = measure_what_if(columns, rubric)
    places = [one.place for one in found.flips]
    return AskedWhatIf(
        run=row["id"],
        name=prepared.name,
        rubric=rubric,
        found=found,
        controls=tuple(list_rubric_controls(rubric)),
        stored={one.name: one.value for one in list_rubric_controls(columns.rubric)},
        beyond=columns.beyond,
        samples=tuple(columns.table.samples[place] for place in places),
        positions=tuple(prepared.positions[place] for place in places),
    )


@with_opened_user_store
def save_what_if(
    store: Store, run: str, changed: Mapping[str, str], target: str, *, replace_file: bool = False
) -> list[str]:
    """Write the changed rubric to a new file, with a file of its method where that is changed; their names."""
    prepared = PREPARED_RUNS.find_prepared_run(store, store.find_run(run))
    rubric = change_rubric(prepared.columns.rubric, changed)
    if is_shipped_method(rubric.method):
        save_rubric_text(target, write_rubric_yaml(rubric, rubric.method.name), replace=replace_file)
        return [target]
    stem = target.rpartition(".")[0] or target
    beside = f"{stem}-method.yaml"
    save_rubric_text(beside, write_method_yaml(replace(rubric.method, name=f"{stem}-method")), replace=replace_file)
    save_rubric_text(target, write_rubric_yaml(rubric, beside), replace=replace_file)
    return [target, beside]


@with_opened_user_store
def map_run_weights(store: Store, run: str, across: str = "", up: str = "") -> WeightMap | None:
    """Over which weights of two criteria each variant wins; None where there is nothing to weigh against another."""
    weighed = PREPARED_RUNS.find_prepared_run(store, store.find_run(run)).weighed
    return map_variant_wins(weighed, across, up) if weighed is not None and len(weighed.values) else None
