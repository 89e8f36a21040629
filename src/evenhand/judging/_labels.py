"""Several texts in one request: letters in a shuffled order, and what a reply says under each letter."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping, Sequence
from itertools import count, islice, product
from string import ascii_uppercase

from evenhand.judging.reading import sections_of, values_in
from evenhand.loading import Twice

# "A", "Response A", "response_a", "ResponseA", "回答A"; "responses" is no label S.
_LABEL = re.compile(
    r"""[\s"'(\[*]*
        (?:(?i:response|submission|output|answer|candidate)(?:[\s_\-:#]+|(?=[A-Z])) | (?:回答|提交|回复)\s*)?
        (?P<letters>[A-Za-z]{1,2}) [\s"')\]*:.]*""",
    re.VERBOSE,
)
# Where answers about each output may stand, beside the top; a list of places or counts is none.
_HOLDERS = ("responses", "evaluations", "scores", "ratings", "results", "reviews", "submissions", "outputs", "answers")


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

    The last complete value with most of the labels binds; one that breaks off only where no complete one has any.
    """
    found = [(said, value) for value in reversed(values_in(text)) if (said := under(value.data, labels))]
    if found:
        best, bound = max(found, key=lambda one: (one[1].complete, len(one[0])))
        later = [other for other, value in found if value.complete and value.start > bound.start]
        unclear = {label for other in later for label, said in other.items() if best.get(label, said) != said}
        return {label: said for label, said in best.items() if label not in unclear}, bound.data
    headings = {heading.format(letter=label): label for label in labels}
    return {headings[name]: section for name, section in sections_of(text, list(headings)).items()}, None


def under(data: object, labels: Sequence[str]) -> dict[str, object]:
    """What an object says of each label: at its top, or under a key that holds answers."""
    places = [data]
    if isinstance(data, dict):
        places += [data[key] for key in data if isinstance(key, str) and key.strip().lower() in _HOLDERS]
    found = [_of(place, labels) for place in places]
    # Objects are answers; bare numbers are at most a score for the whole.
    return max(found, key=lambda one: (sum(isinstance(said, dict) for said in one.values()), len(one)), default={})


def _of(data: object, labels: Sequence[str]) -> dict[str, object]:
    """The entries whose names are labels; one that is named twice with different answers is left out."""
    named: dict[str, list[object]] = {}
    if isinstance(data, dict):
        twice = data.twice if isinstance(data, Twice) else {}
        for key, said in data.items():
            named.setdefault(label_in(str(key)), []).extend(twice.get(key, [said]))
    elif isinstance(data, list):
        for entry in data:
            if isinstance(entry, dict):
                named.setdefault(label_in(_name(entry)), []).append(entry)
    known = {label: named[label] for label in labels if label in named}
    return {label: given[0] for label, given in known.items() if all(one == given[0] for one in given)}


def label_in(text: str) -> str:
    """The letter in a name such as "Response A"; empty where it is no such name."""
    found = _LABEL.fullmatch(text)
    return found["letters"].upper() if found else ""


def _name(entry: Mapping[str, object]) -> str:
    given = (entry.get(key) for key in ("label", "response", "submission", "id", "name"))
    return next((name for name in given if isinstance(name, str)), "")
