"""A contest as it is shown: personal data in texts is masked; ids, authors and the reward are names, and stay."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import cache
from typing import Any

from evenhand.guards import hidden, hider

Data = Mapping[str, Any]
Mask = Callable[[str], str]
# Under these keys stand names by which somebody is told from others or paid, times, and words of the machine.
KEPT = frozenset({
    "id", "author", "by", "reward", "winner", "submission", "submissions", "revises", "output", "judge", "judges",
    "challenge_judges", "guard", "rule", "at", "ahead", "deadline", "period_ends", "event", "effect", "kind", "mode",
    "state", "status", "type", "weight",
})  # fmt: skip
SENTENCES = frozenset({"why", "how_sure", "notes", "stopped"})  # Our own words, with names in them.
QUOTING = "policy_violation"  # With this status, why it is so quotes the text.


def shown_contest(record: Data) -> Data:
    """The record of a contest for people and programs."""
    events = record["events"]
    texts = [one["submission"]["text"] for one in events if one["event"] == "submitted"]
    task = next(one["task"] for one in events if one["event"] == "created")
    return shown(record, texts=[*texts, task["description"]], names=[task["reward"], *_names(record)])


def shown(data: Data, *, texts: Iterable[str], names: Iterable[str]) -> Data:
    """Data with what is personal in these texts masked; in our sentences these names stay."""
    hide = cache(hider(texts))

    def text(given: str) -> str:
        return str(hidden(given, hide))

    sentence = _sparing([one for one in set(names) if one and hide(one) != one], text)
    masked: Data = _masked(data, "", text, sentence)
    return masked


def _names(record: Data) -> Iterator[str]:
    """Who challenges the ranking is among them: only an author may."""
    for one in (*record["submissions"], *record["refused"]):
        yield from (one["author"], one["id"] or "")


def _sparing(names: Iterable[str], mask: Mask) -> Mask:
    """A mask that leaves these names alone where they stand by themselves, not as a part of something longer."""
    longest_first = sorted(names, key=len, reverse=True)
    if not longest_first:
        return mask
    name = re.compile(rf"(?<![\w@.+-])({'|'.join(map(re.escape, longest_first))})(?![\w@-]|\.\w)")

    def spare(sentence: str) -> str:
        return "".join(part if place % 2 else mask(part) for place, part in enumerate(name.split(sentence)))

    return spare


def _masked(data: Any, key: str, text: Mask, sentence: Mask) -> Any:
    if isinstance(data, str):
        return data if key in KEPT else sentence(data) if key in SENTENCES else text(data)
    if isinstance(data, Mapping):
        if key == "shown":  # By judge, the ids in the order in which it saw them.
            return data
        quotes = data.get("status") == QUOTING
        names = {name: "text" if quotes and name == "why" else name for name in data}
        return {name: _masked(value, names[name], text, sentence) for name, value in data.items()}
    return [_masked(value, key, text, sentence) for value in data] if isinstance(data, list | tuple) else data
