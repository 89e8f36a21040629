"""A contest for readers: personal data masked in every text, and the places of passages moved along."""

from __future__ import annotations

from functools import cache
from typing import Any

from evenhand.guards import hider
from evenhand.report._masked import masked_with_places, moved

Json = dict[str, Any]
Places = list[tuple[int, int, int, int]]
# Under these keys stand times, words of the machine, and names by which one thing is told from another.
KEPT = frozenset({
    "id", "winner", "submission", "submissions", "revises", "output", "judge", "judges", "challenge_judges", "guard",
    "rule", "at", "deadline", "event", "effect", "kind", "mode", "state", "status", "type", "weight",
})  # fmt: skip


def masked_record(record: Json) -> Json:
    """The record with every text masked."""
    sent = [one for one in record["events"] if one["event"] == "submitted"]
    texts = {one["submission"]["id"]: masked_with_places(one["submission"]["text"]) for one in sent}
    hide = cache(hider([record["events"][0]["task"]["description"], *(one["submission"]["text"] for one in sent)]))
    shown: Json = _hidden(record, hide)
    for one in shown["events"]:
        if one["event"] == "submitted":
            text, places = texts[one["submission"]["id"]]
            one["submission"]["text"] = text
            _move(one["findings"], places)
        for judgment in one.get("judgments", ()):
            _move(judgment["evidence"], texts[judgment["output"]][1])
    return shown


def _hidden(data: Any, hide: Any, key: str = "") -> Any:
    if isinstance(data, str):
        return data if key in KEPT else hide(data)
    if isinstance(data, dict):
        return {name: _hidden(value, hide, name) for name, value in data.items()}
    return [_hidden(value, hide, key) for value in data] if isinstance(data, list | tuple) else data


def _move(passages: list[Json], places: Places) -> None:
    for one in passages:
        one["start"], one["end"] = moved(one["start"], places, end=False), moved(one["end"], places, end=True)
