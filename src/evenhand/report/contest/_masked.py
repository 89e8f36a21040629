"""A contest for readers: personal data masked in every text, names left as they are, places of passages moved along."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection
from functools import cache
from typing import Any

from evenhand.guards import hider
from evenhand.report._masked import masked_with_places, moved

Json = dict[str, Any]
Hide = Callable[[str], str]
Places = list[tuple[int, int, int, int]]
# Under these keys stand times, words of the machine, and names: of one thing among others, of who is paid and by what.
KEPT = frozenset({
    "id", "winner", "submission", "submissions", "revises", "output", "judge", "judges", "challenge_judges", "guard",
    "rule", "at", "deadline", "event", "effect", "kind", "mode", "state", "status", "type", "weight", "author", "by",
    "reward",
})  # fmt: skip


def masked_record(record: Json) -> Json:
    """The record with every text masked; ids, authors and the reward are not, wherever they stand outside a text."""
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
    _name_again(shown, record)
    if record.get("stopped"):  # An id beside what a server or a judge wrote.
        shown["stopped"] = _sparing(texts, record["stopped"], hide)
    return shown


def _hidden(data: Any, hide: Hide, key: str = "") -> Any:
    if isinstance(data, str):
        return data if key in KEPT else hide(data)
    if isinstance(data, dict):
        return {name: _hidden(value, hide, name) for name, value in data.items()}
    return [_hidden(value, hide, key) for value in data] if isinstance(data, list | tuple) else data


def _move(passages: list[Json], places: Places) -> None:
    for one in passages:
        one["start"], one["end"] = moved(one["start"], places, end=False), moved(one["end"], places, end=True)


def _name_again(shown: Json, record: Json) -> None:
    """Put back the sentences that are made of names and numbers only, with nothing of a text in them."""
    for key in ("decision", "refused"):
        if key in record:
            shown[key] = record[key]
    for one, given in zip(shown["events"], record["events"], strict=True):
        if "shown" in given:
            one["shown"] = given["shown"]
    for one, given in zip(shown["effects"], record["effects"], strict=True):
        if given["effect"] == "close":
            one["why"] = given["why"]
    for one, given in zip(shown["submissions"], record["submissions"], strict=True):
        if given["status"] == "superseded" or not given["feedback"]:  # It says who counts, or had passed, instead.
            one["why"] = given["why"]


def _sparing(names: Collection[str], text: str, hide: Hide) -> str:
    """A text put through, but for those of the names in it that would not come out as they are."""
    spared = sorted((one for one in names if hide(one) != one), key=len, reverse=True)
    parts = re.split(f"({'|'.join(map(re.escape, spared))})", text) if spared else [text]
    return "".join(one if one in spared else hide(one) for one in parts)
