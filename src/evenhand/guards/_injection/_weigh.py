"""Sentences that no fixed wording covers: weighed by the classes of words that meet in them."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from importlib import resources
from math import inf

from evenhand.guards._injection._lexicon import english
from evenhand.guards._injection._normal import View
from evenhand.guards._injection._sentences import Feature, Sentence, classes_of, features, sentences

Weights = Mapping[Feature, float]

_WORTH, _BOTH_WORTH = -3.0, -2.2  # What the words alone weigh: below, the rest has hardly ever made up for it.
_PULLS = 0.9  # Nearly every sentence that weighs enough has a word that alone weighs this much.
_MOST_WORDS = 80  # Of two sentences that are weighed as one.

_FAMILIES: Mapping[str, frozenset[str]] = {
    "override": frozenset(("aside", "aside-ed", "stop", "replace", "follow", "criteria", "orders", "prior", "new")),
    "role": frozenset(("act", "now", "role", "system", "machine", "soft")),
    "extraction": frozenset(("expose", "emit", "orders", "secret")),
    "hijack": frozenset(
        (
            "score",
            "verdict",
            "top",
            "good",
            "accept",
            "give",
            "rate",
            "pick",
            "win",
            "penal",
            "flaw",
            "mention",
            "raise",
            "deserve",
        )
    ),
    "delimiter": frozenset(("end", "heads", "line", "angle", "bracket", "hash", "equals")),
}


class Weighing:
    """The sentences of a view and what they weigh: above zero, one speaks to a judge."""

    def __init__(self, view: View) -> None:
        self._view = view
        self._known: dict[tuple[int, bool], float] = {}
        self._pulls: dict[int, float] = {}

    def heavy(self) -> Iterator[tuple[str, tuple[int, int]]]:
        """The sentences, alone or two in a row, that weigh enough, with the rule that they break."""
        done = 0
        for number, paired in self._worth():
            first, last = self._sentences[number], self._sentences[number + paired]
            if first.start >= done and self._weight(number, paired) > 0:
                done = last.end
                yield _family({*first.words, *last.words}), _trimmed(self._view.text, first.start, last.end)

    def around(self, start: int, end: int) -> float:
        """What the heaviest sentence, or two in a row, that has a part of this passage weighs."""
        first = max(0, bisect_right(self._starts, start) - 1)
        last = max(first + 1, bisect_left(self._starts, end))
        tried = [(number, paired) for number in range(max(0, first - 1), last) for paired in (False, True)]
        return max((self._weight(*one) for one in tried if one[0] >= first or one[1]), default=-inf)

    @cached_property
    def _sentences(self) -> list[Sentence]:
        return sentences(self._view.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [sentence.start for sentence in self._sentences]

    def _worth(self) -> Iterator[tuple[int, bool]]:
        """What a first look does not rule out: words that pull, alone and together."""
        pulling = self._pulling()
        always = weights()["always"]
        for number in sorted(pulling):
            alone = always + self._pull(number)
            if alone > _WORTH:
                yield number, False
            if number + 1 in pulling and alone + self._pull(number + 1) > _BOTH_WORTH:
                yield number, True

    def _pulling(self) -> set[int]:
        """The sentences that have a word that pulls."""
        if not self._view.text.isascii():
            return set(range(len(self._sentences)))
        found = [at for word in self._view.known & pulling_words() for at in _found(f" {word} ", self._view.spaced)]
        return {max(0, bisect_right(self._starts, at) - 1) for at in found} if found else set()

    def _pull(self, number: int) -> float:
        if number not in self._pulls:
            self._pulls[number] = sum(map(_pull, set(self._sentences[number].words)))
        return self._pulls[number]

    def _unit(self, number: int, paired: bool) -> Sentence | None:
        if number + paired >= len(self._sentences):
            return None
        if not paired:
            return self._sentences[number]
        unit = self._sentences[number].joined(self._sentences[number + 1])
        return unit if len(unit.words) <= _MOST_WORDS else None

    def _weight(self, number: int, paired: bool) -> float:
        if (number, paired) not in self._known:
            unit = self._unit(number, paired)
            self._known[number, paired] = weight(unit) if unit else -inf
        return self._known[number, paired]


def weight(sentence: Sentence) -> float:
    """The sum of the weights of what the sentence has."""
    fitted = weights()
    return fitted["always"] + sum([fitted.get(feature, 0.0) for feature in features(sentence)])


@lru_cache(maxsize=8192)
def _pull(word: str) -> float:
    """What a word alone weighs: quick to tell, and enough to leave most sentences at that."""
    fitted = weights()
    return fitted.get(f"word {word}", 0.0) + sum(fitted.get(name, 0.0) for name in classes_of(word))


def units(view: View) -> Iterator[Sentence]:
    """All that can be weighed in a view: what the weights are fitted on."""
    every = sentences(view.text)
    for number, sentence in enumerate(every):
        yield sentence
        if number + 1 < len(every):
            both = sentence.joined(every[number + 1])
            if len(both.words) <= _MOST_WORDS:
                yield both


@cache
def weights() -> Weights:
    """The fitted weights, read once."""
    file = resources.files("evenhand") / "library" / "injection.json"
    written: dict[str, float] = json.loads(file.read_text("utf-8"))["weights"]
    return {_feature(name): value for name, value in written.items()}


@cache
def pulling_words() -> frozenset[str]:
    """The English words that alone weigh enough to look at the sentence."""
    words = {name.removeprefix("word ") for name in weights() if isinstance(name, str) and name.startswith("word ")}
    return frozenset(word for word in words | english().keys() if _pull(word) > _PULLS)


def _found(sign: str, text: str) -> Iterator[int]:
    at = text.find(sign)
    while at >= 0:
        yield at
        at = text.find(sign, at + 1)


def _feature(name: str) -> Feature:
    first, near, second = name.partition(" > ")
    return (first, second) if near else name


def _family(words: Iterable[str]) -> str:
    """The rule whose classes weigh most among the words."""
    fitted = weights()
    present = {name for word in words for name in classes_of(word)}
    sums = {rule: sum(max(0.0, fitted.get(name, 0.0)) for name in names & present) for rule, names in _FAMILIES.items()}
    return max(sums, key=lambda rule: (sums[rule], rule == "hijack"))


def _trimmed(text: str, start: int, end: int) -> tuple[int, int]:
    passage = text[start:end]
    return start + len(passage) - len(passage.lstrip()), start + len(passage.rstrip())
