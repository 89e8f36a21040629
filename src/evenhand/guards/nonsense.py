"""Passages that no language and no code writes: tokens that a search put together to move a judge."""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import accumulate, pairwise

from evenhand.files.methods import LIBRARY, load_library_data_file
from evenhand.guards.injection_text import Place

_SIZES = (16, 30)  # Units of a passage that is weighed: those of short suffixes, and of longer ones.
_FEWEST = 8  # Units below which nothing is said.
_NEAR = 200  # Characters between two odd joints that may belong to one passage.
_OFTEN = 2  # A pair of units that the text has more often belongs to what the text is: code, a table, a log.
# A capital after a small letter, or a mark or a foreign letter that no space sets apart. To start with that class of
# characters keeps the search quick.
_ODD_JOINT = re.compile(r"[A-Z!-&(-+/:-@\[-`{-~\x80-\U0010ffff](?:(?<=[a-z][A-Z])|(?<=\S[^A-Za-z])(?=\S))")
_UNIT = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+|[^\W\d_a-zA-Z]+|\s+|.", re.DOTALL)


def find_nonsense(text: str) -> tuple[Place, ...]:
    """The passages whose units follow each other as in no ordinary text, in order."""
    odd = [match.start() for match in _ODD_JOINT.finditer(text)]
    if all(after - before > _NEAR for before, after in pairwise(odd)):
        return ()  # Prose, as nearly every text.
    units, places = split_nonsense_units(text)
    if len(units) < _FEWEST:
        return ()
    profile = load_nonsense_profile()
    weights, each = profile.weights, profile.each
    weighed = [
        each + weights.get(pair, 0.0) + weights.get(triple, 0.0) for pair, triple in list_nonsense_features(units)
    ]
    sums = list(accumulate(weighed, initial=0.0))
    above = [total + profile.always * place / _SIZES[-1] for place, total in enumerate(sums)]
    windows = [(start, start + size) for size in _SIZES for start in range(len(units) - size + 1)]
    unlikely = [
        _trim_nonsense_passage(above, first, last)
        for first, last in windows or [(0, len(units))]
        if sums[last] - sums[first] + profile.always > 0
    ]
    found: list[Place] = []
    for first, last in sorted(unlikely):
        if found and first <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], last))
        else:
            found.append((first, last))
    return tuple((places[first][0], places[last - 1][1]) for first, last in found)


def _trim_nonsense_passage(above: Sequence[float], first: int, last: int) -> Place:
    """The passage without what ordinary text it has at its ends, and with what belongs to it beyond them."""
    middle = (first + last) // 2
    before = range(max(0, first - _SIZES[-1]), middle)
    after = range(middle + 1, min(len(above), last + _SIZES[-1]))
    return min(before, key=above.__getitem__), max(after, key=above.__getitem__)


def split_nonsense_units(text: str) -> tuple[list[str], list[Place]]:
    """The class of each unit, marked where a space stands before it, and its place; spaces are no units."""
    units: list[str] = []
    places: list[Place] = []
    space = ""
    for match in _UNIT.finditer(text):
        unit = classify_nonsense_unit(match[0])
        if unit == " ":
            space = "_"
        else:
            units.append(space + unit)
            places.append(match.span())
            space = ""
    return units, places


def list_nonsense_features(units: Sequence[str]) -> list[tuple[str, str]]:
    """For each unit the pair and the triple that it ends; of a pair that the text has often, only that it does."""
    padded = ["\n", "\n", *units]
    pairs = [f"{before} {unit}" for before, unit in pairwise(padded[1:])]
    often = {pair for pair, count in Counter(pairs).items() if count > _OFTEN}
    return [
        ("again", f"again {pair[-1]}") if pair in often else (pair, f"{before} {pair}")
        for before, pair in zip(padded, pairs, strict=False)
    ]


@lru_cache(maxsize=8192)
def classify_nonsense_unit(unit: str) -> str:
    """A letter for a word by how common it is, its case and its alphabet; a mark stands for itself."""
    first = unit[0]
    if first.isspace():
        return "\n" if "\n" in unit else " "
    if not first.isalnum():
        return first if first.isascii() else "¤"
    if first.isdecimal() and first.isascii():
        return "0"
    profile = load_nonsense_profile()
    if not first.isascii():
        return next((name for name, low, high in profile.alphabets if low <= ord(first) <= high), "o")
    if unit.isupper():
        return "A" if len(unit) > 1 else "X"
    kind = profile.words.get(unit.lower()) or ("u" if len(unit) > 2 else "s")
    return kind if first.islower() else kind.upper()


@dataclass(frozen=True, slots=True, kw_only=True)
class NonsenseProfile:
    """Kinds of words, alphabets, and the fitted weights of pairs and triples of units."""

    words: Mapping[str, str]
    alphabets: tuple[tuple[str, int, int], ...]
    weights: Mapping[str, float]
    always: float
    each: float


@cache
def load_nonsense_profile() -> NonsenseProfile:
    """The profile that ships, read once."""
    data = load_library_data_file("guards/injection/nonsense.yaml")
    weights: dict[str, float] = json.loads((LIBRARY / "nonsense.json").read_text("utf-8"))["weights"]
    return NonsenseProfile(
        words=dict.fromkeys(data["common_words"]["words"].split(), "w")
        | dict.fromkeys(data["function_words"]["words"].split(), "f"),
        alphabets=tuple(
            (name[0], int(entry["codes"][0], 16), int(entry["codes"][1], 16))
            for name, entry in data["alphabets"].items()
        ),
        weights=weights,
        always=weights.pop("always"),
        each=weights.pop("each"),
    )
