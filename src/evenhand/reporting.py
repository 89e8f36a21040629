"""The whole report of a run: what it came to, what people say of its judges, and its ranking under other weights."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from evenhand.deciding import report_for
from evenhand.errors import InputError
from evenhand.runs.store import Row, Store

Json = dict[str, Any]
MOST_DRAWS, MOST_WEIGHED = (
    10_000,
    20_000_000,
)  # Weightings; and samples times weightings, for a report that opens at once.


def whole_report(store: Store, id: str) -> tuple[Json, Iterator[Json]]:
    """The head and the samples of a run, with all that a page shows beside them."""
    head, samples = report_for(store, id)
    run = store.run(id)
    return {**with_people(store, run, head), "sensitivity": _sensitivity(store, run)}, samples


def with_people(store: Store, run: Row, head: Json) -> Json:
    """The head as the labels that were taken in since put it: judges against people, and the fourth badge."""
    rows = list(store.labels(run["id"]))
    if not rows:
        return head
    from evenhand.calibrate import agreement_with_people, label_from, scatter_json  # noqa: PLC0415
    from evenhand.compare import aligned_badge  # noqa: PLC0415
    from evenhand.runs import table_of  # noqa: PLC0415

    table, labels = table_of(store, run["id"]), [label_from(row) for row in rows]
    badge = aligned_badge(agreement_with_people(table, labels))
    comparisons = [
        {**one, "badges": [badge if old["badge"] == badge["badge"] else old for old in one["badges"]]}
        for one in head["decision"]["comparisons"]
    ]
    decision = {**head["decision"], "comparisons": comparisons}
    return {**head, "decision": decision, "labels": scatter_json(table, labels)}


def _sensitivity(store: Store, run: Row) -> Json | None:
    """None where there is no ranking, or nothing that could be weighed otherwise."""
    from evenhand.compare import sensitivity, sensitivity_json  # noqa: PLC0415
    from evenhand.runs import table_of  # noqa: PLC0415

    table = table_of(store, run["id"])
    draws = max(100, min(MOST_DRAWS, MOST_WEIGHED // max(1, len(table.samples))))
    try:
        return sensitivity_json(sensitivity(table, json.loads(run["setup"])["rubrics"], draws=draws, seed=run["seed"]))
    except InputError:
        return None
