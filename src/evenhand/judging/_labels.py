"""Several texts in one request: letters in a shuffled order, and what a reply says under each letter."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import count, islice, product
from string import ascii_uppercase

from evenhand.judging.reading import sections_of, values_in

_NOT_WORD = re.compile(r"[\W_]+")
_PREFIX = re.compile(r"^(?:response|submission|output|answer|candidate|回答|提交|回复)(?=.)")


def shuffled(names: Sequence[str], seed: int, *who: str) -> list[str]:
    """The names in an order that only the seed and who asks decide."""
    order = list(names)
    if len(order) < 2:
        return order
    random.Random("/".join((str(seed), *who))).shuffle(order)
    return order


def letters(number: int) -> tuple[str, ...]:
    """A, B, C … Z, AA, AB …"""
    words = ("".join(parts) for length in count(1) for parts in product(ascii_uppercase, repeat=length))
    return tuple(islice(words, number))


def under_labels(text: str, labels: Sequence[str], heading: str) -> tuple[dict[str, object], object]:
    """What stands under each label, and the JSON it was found in; without JSON, the section of prose under its heading.

    The last complete value with every label binds, else the one with most of them, else a truncated one.
    """
    best: tuple[dict[str, object], object] = ({}, None)
    for value in sorted(values_in(text), key=lambda value: (not value.complete, -value.start)):
        found = under(value.data, labels)
        if len(found) > len(best[0]):
            best = (found, value.data)
    if best[0]:
        return best
    headings = {heading.format(letter=label): label for label in labels}
    return {headings[name]: section for name, section in sections_of(text, list(headings)).items()}, None


def under(data: object, labels: Sequence[str]) -> dict[str, object]:
    """The entries of an object, or of one below it, whose keys are labels; or of a list whose entries name theirs."""
    places = [data, *(data.values() if isinstance(data, dict) else ())]
    found = [_of(place, labels) for place in places]
    return max(found, key=len, default={})


def _of(data: object, labels: Sequence[str]) -> dict[str, object]:
    if isinstance(data, dict):
        keys = {_key(key): key for key in data if isinstance(key, str)}
        return {label: data[keys[label.lower()]] for label in labels if label.lower() in keys}
    if isinstance(data, list):
        named = {_key(_name(entry)): entry for entry in data if isinstance(entry, dict)}
        return {label: named[label.lower()] for label in labels if label.lower() in named}
    return {}


def label_in(text: str) -> str:
    """The letter in a name such as "Response A"."""
    return _key(text).upper()


def _key(text: str) -> str:
    return _PREFIX.sub("", _NOT_WORD.sub("", text.lower()))


def _name(entry: Mapping[str, object]) -> str:
    given = (entry.get(key) for key in ("label", "response", "submission", "id", "name"))
    return next((name for name in given if isinstance(name, str)), "")
