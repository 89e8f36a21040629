"""What a reply only quotes: a block that stands in the judged text is not the judge's answer."""

from __future__ import annotations

import json
from collections.abc import Iterator, Sequence

from evenhand.judging.reading._blocks import values_in

_GONE = "(quoted)"


def without_quoted(text: str, material: Sequence[str]) -> str:
    """The reply with every object or list taken out that stands in the material, also inside its own."""
    quoted = {_form(value) for one in material if "{" in one or "[" in one for value in _all(_values(one))}
    if not quoted:
        return text
    parts, at = [], 0
    for value in values_in(text):
        kept = _pruned(value.data, quoted)
        if kept is not value.data:
            parts += [text[at : value.start], kept if kept == _GONE else json.dumps(kept, default=str)]
            at = value.end
    return "".join([*parts, text[at:]])


def _values(text: str) -> list[object]:
    return [value.data for value in values_in(text)]


def _all(values: Sequence[object]) -> Iterator[object]:
    """Every object and list that says something, however deep."""
    waiting = list(values)
    while waiting:
        value = waiting.pop()
        if isinstance(value, dict):
            waiting.extend(value.values())
        elif isinstance(value, list):
            waiting.extend(value)
        if isinstance(value, dict) and value:
            yield value


def _form(value: object) -> str:
    return json.dumps(value, sort_keys=True, default=str)


def _pruned(value: object, quoted: set[str]) -> object:
    """The value without what is quoted; the same object where nothing is."""
    if isinstance(value, dict):
        if value and _form(value) in quoted:
            return _GONE
        kept = {key: _pruned(below, quoted) for key, below in value.items()}
        return kept if any(kept[key] is not value[key] for key in value) else value
    if isinstance(value, list):
        entries = [_pruned(entry, quoted) for entry in value]
        return entries if any(new is not old for new, old in zip(entries, value, strict=True)) else value
    return value
