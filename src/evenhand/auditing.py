"""From a stored run to what can be said of its judges, and of its ranking under other weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import islice
from typing import Any

from evenhand.calibrate import Audit, Seen, all_answered, audit, heard_in
from evenhand.compare import Sensitivity, sensitivity
from evenhand.deciding import report_for
from evenhand.runs import Table, table_of
from evenhand.runs.store import Store

Json = dict[str, Any]
PEEKED = 200  # Results that are looked at for who made the outputs of a variant.


def audit_run(store: Store, run: str) -> Audit:
    """The audit of a run's judges; `run` is an id as `Store.run` takes it."""
    row = store.run(run)
    table, setup = table_of(store, row["id"]), json.loads(row["setup"])
    head, _ = report_for(store, row["id"])
    silent = any(one["kind"] in ("judge", "abstention") for one in head["failures"])
    whole = any(rubric["method"]["holistic"] for rubric in setup["rubrics"].values())
    # The columns tell all of a run in which every judge answered; else its results are gone through once more.
    heard, holistic = (
        heard_in(_contents(store, table), len(table.score)) if silent or whole else (all_answered(table), {})
    )
    return audit(
        Seen(
            table=table,
            heard=heard,
            makers=_makers(store, table, setup),
            holistic=holistic,
            comparisons=tuple(head["decision"]["comparisons"]),
        )
    )


def sensitivity_of_run(store: Store, run: str, *, draws: int, seed: int, spread: float) -> Sensitivity:
    """What becomes of the ranking of a run's variants under other weights."""
    row = store.run(run)
    rubrics = json.loads(row["setup"])["rubrics"]
    return sensitivity(table_of(store, row["id"]), rubrics, draws=draws, seed=seed, spread=spread)


def _contents(store: Store, table: Table) -> Iterator[Json]:
    return (json.loads(row["content"]) for row in store.results(table.run) if row["variant"] in table.variants)


def _makers(store: Store, table: Table, setup: Json) -> dict[str, str]:
    """The model that made each variant: as the eval says, else the author that its outputs name, if it is one."""
    known = {name: one["model"] for name, one in setup["variants"].items() if "model" in one}
    authors: dict[str, set[str | None]] = {}
    for row in islice(store.results(table.run), PEEKED if len(known) < len(table.variants) else 0):
        output = json.loads(row["content"])["output"]
        if output is not None:
            authors.setdefault(row["variant"], set()).add(output["author"])
    named = {name: next(iter(found)) for name, found in authors.items() if len(found) == 1}
    return {name: by for name, by in {**named, **known}.items() if by and name in table.variants}
