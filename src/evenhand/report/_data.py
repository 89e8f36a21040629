"""The data of a report: the head that a run keeps, and its samples one at a time, personal data masked."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from itertools import groupby
from typing import Any

from evenhand.guards import hidden, hider
from evenhand.report._masked import Masked
from evenhand.runs.store import Store

Json = dict[str, Any]
Row = Mapping[str, Any]


def report_of(store: Store, run: Row, head: Json) -> tuple[Json, Iterator[Json]]:
    """The head of a run's report and its samples, fit to be shown."""
    head = {**head, "eval": {**head["eval"], "source": run["source"]}}
    masks = "personal" in head["eval"]["guards"]
    order = {one["name"]: place for place, one in enumerate(head["variants"])}
    samples = _samples(store, run["id"], order, masks)
    return (hidden(head, hider(())), samples) if masks else (head, samples)  # type: ignore[return-value]


def _samples(store: Store, run: str, order: Mapping[str, int], masks: bool) -> Iterator[Json]:
    results, calls = _by_position(store.results(run)), _by_position(store.calls(run))
    for row in store.samples(run):
        own = next(results, (None, []))[1] if results.at(row["position"]) else []
        kept = next(calls, (None, []))[1] if calls.at(row["position"]) else []
        own = sorted(own, key=lambda one: (order.get(one["variant"], len(order)), one["repeat"]))
        replies = {call["key"]: call for call in kept}
        yield _sample(row, own, replies, store, masks)


class _by_position:  # noqa: N801
    """Rows in order, taken by the position they are about."""

    def __init__(self, rows: Iterable[Row]) -> None:
        self._groups = groupby(rows, key=lambda row: row["position"])
        self._next = self._following()

    def at(self, position: int) -> bool:
        """Whether the next group is about that position; groups before it are passed over."""
        while self._next is not None and self._next[0] < position:
            self._next = self._following()
        return self._next is not None and self._next[0] == position

    def __next__(self) -> tuple[int, list[Row]]:
        taken = self._next
        if taken is None:
            raise StopIteration
        self._next = self._following()
        return taken

    def _following(self) -> tuple[int, list[Row]] | None:
        found = next(self._groups, None)
        return None if found is None else (found[0], list(found[1]))


def _sample(row: Row, results: list[Row], replies: Mapping[str, Row], store: Store, masks: bool) -> Json:
    content = json.loads(row["content"])
    sample = {
        "position": row["position"],
        "id": row["id"],
        "input": content.get("input", ""),
        "messages": content.get("messages"),
        "reference": content.get("reference", ""),
        "context": content.get("context", ""),
        "tags": content.get("tags", []),
        "cluster": content.get("cluster"),
        "metadata": content.get("metadata", {}),
        "results": [_result(one, replies, store) for one in results],
    }
    return Masked(sample).data() if masks else sample


def _result(row: Row, replies: Mapping[str, Row], store: Store) -> Json:
    content = json.loads(row["content"])
    card = content["scorecard"]
    elsewhere = [key for key in content["calls"] if key not in replies]  # Asked first about another sample.
    known = {**replies, **store.calls_by_key(row["run"], elsewhere)} if elsewhere else replies
    return {
        "variant": row["variant"],
        "repeat": row["repeat"],
        "state": row["state"],
        "why": content["why"],
        "score": _number(row["score"]),
        "composite": _number(row["composite"]),
        "layers": {name: _number(value) for name, value in content["layers"].items()},
        "verdict": card["verdict"] if card else None,
        "output": content["output"],
        "findings": content["findings"],
        "assertions": content["assertions"],
        "scorecard": card,
        "composite_steps": content["composite_steps"],
        "judgments": content["judgments"],
        "suggestions": content["suggestions"],
        "calls": [_call(known[key]) for key in content["calls"] if key in known],
    }


def _call(row: Row) -> Json:
    return {
        "judge": row["judge"],
        "reply": json.loads(row["reply"])["text"] if row["reply"] is not None else None,
        "kept": row["kept"],
        "failed": row["failed"],
        "input_tokens": row["input_tokens"],
        "output_tokens": row["output_tokens"],
        "attempts": row["attempts"],
        "seconds": row["seconds"],
        "cached": row["cached_from"] is not None,
        "cost": None if row["cost"] is None else float(row["cost"]),
    }


def _number(exact: str | None) -> float | None:
    if exact is None:
        return None
    above, _, below = exact.partition("/")
    return int(above) / int(below or 1)
