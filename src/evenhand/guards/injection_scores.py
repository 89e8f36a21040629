"""Scores for sentences that no fixed wording covers: fitted weights of the words and classes that meet in them."""

from __future__ import annotations

import json
from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Mapping
from functools import cache, cached_property, lru_cache
from math import inf

from evenhand.files.methods import LIBRARY
from evenhand.guards.injection_rules import Place, load_rule_classes
from evenhand.guards.injection_sentences import (
    Feature,
    InjectionSentence,
    classify_word,
    list_sentence_features,
    load_english_classes,
    split_sentences,
)
from evenhand.guards.injection_text import TextView, find_all

# What the words alone score, in one sentence and in two: below, the rest has hardly ever made up for it.
_WORTH_SCORING, _PAIR_WORTH_SCORING = -3.0, -2.2
_SIGNAL = 0.9  # Nearly every sentence that scores enough has a word that alone scores this much.
_MOST_WORDS = 80  # Of two sentences that are scored as one.


class SentenceScores:
    """The scores of a view's sentences, each worked out once: above zero, a sentence speaks to a judge."""

    def __init__(self, view: TextView) -> None:
        self._view = view
        self._scores: dict[tuple[int, bool], float] = {}
        self._word_scores: dict[int, float] = {}

    def find_injected_sentences(self) -> Iterator[tuple[str, Place]]:
        """The sentences, alone or two in a row, that score enough, with the rule that they break."""
        done = 0
        for number, paired in self._list_worth_scoring():
            first, last = self._sentences[number], self._sentences[number + paired]
            if first.start >= done and self._score(number, paired) > 0:
                done = last.end
                yield _choose_rule({*first.words, *last.words}), self._trim(first.start, last.end)

    def score_passage(self, start: int, end: int) -> float:
        """The best score of a sentence, or of two in a row, that has a part of this passage."""
        first = max(0, bisect_right(self._starts, start) - 1)
        last = max(first + 1, bisect_left(self._starts, end))
        tried = [(number, paired) for number in range(max(0, first - 1), last) for paired in (False, True)]
        return max((self._score(*one) for one in tried if one[0] >= first or one[1]), default=-inf)

    @cached_property
    def _sentences(self) -> list[InjectionSentence]:
        return split_sentences(self._view.text)

    @cached_property
    def _starts(self) -> list[int]:
        return [sentence.start for sentence in self._sentences]

    def _list_worth_scoring(self) -> Iterator[tuple[int, bool]]:
        """The sentences, and pairs of them, that a first look at their words does not rule out."""
        signalling = self._list_signalling()
        always = load_injection_weights()["always"]
        for number in sorted(signalling):
            alone = always + self._score_words(number)
            if alone > _WORTH_SCORING:
                yield number, False
            if number + 1 in signalling and alone + self._score_words(number + 1) > _PAIR_WORTH_SCORING:
                yield number, True

    def _list_signalling(self) -> set[int]:
        """The sentences that have a signal word."""
        view = self._view
        if not view.text.isascii():
            return set(range(len(self._sentences)))
        found = [at for word in view.known_words & _list_signal_words() for at in find_all(f" {word} ", view.spaced)]
        return {max(0, bisect_right(self._starts, at) - 1) for at in found} if found else set()

    def _score_words(self, number: int) -> float:
        if number not in self._word_scores:
            self._word_scores[number] = sum(map(_score_word, set(self._sentences[number].words)))
        return self._word_scores[number]

    def _score(self, number: int, paired: bool) -> float:
        if (number, paired) not in self._scores:
            sentence = _join_if_short(self._sentences, number) if paired else self._sentences[number]
            self._scores[number, paired] = score_injection_sentence(sentence) if sentence else -inf
        return self._scores[number, paired]

    def _trim(self, start: int, end: int) -> Place:
        passage = self._view.text[start:end]
        return start + len(passage) - len(passage.lstrip()), start + len(passage.rstrip())


def score_injection_sentence(sentence: InjectionSentence) -> float:
    """The sum of the weights of what the sentence has."""
    weights = load_injection_weights()
    return weights["always"] + sum([weights.get(feature, 0.0) for feature in list_sentence_features(sentence)])


def list_scored_sentences(view: TextView) -> Iterator[InjectionSentence]:
    """All that can be scored in a view: what the weights are fitted on."""
    sentences = split_sentences(view.text)
    for number, sentence in enumerate(sentences):
        yield sentence
        if both := _join_if_short(sentences, number):
            yield both


@cache
def load_injection_weights() -> Mapping[Feature, float]:
    """The fitted weights of all features; of two classes near each other where the name has " > "."""
    written: dict[str, float] = json.loads((LIBRARY / "injection.json").read_text("utf-8"))["weights"]
    pairs = {name: name.partition(" > ") for name in written}
    return {(pairs[name][0], pairs[name][2]) if pairs[name][1] else name: value for name, value in written.items()}


def _join_if_short(sentences: list[InjectionSentence], number: int) -> InjectionSentence | None:
    """A sentence and the next as one, if there is a next and both are not too long."""
    if number + 1 >= len(sentences):
        return None
    both = sentences[number].join(sentences[number + 1])
    return both if len(both.words) <= _MOST_WORDS else None


@lru_cache(maxsize=8192)
def _score_word(word: str) -> float:
    """What a word alone scores: quick to tell, and enough to leave most sentences at that."""
    weights = load_injection_weights()
    return weights.get(f"word {word}", 0.0) + sum(weights.get(name, 0.0) for name in classify_word(word))


@cache
def _list_signal_words() -> frozenset[str]:
    """The English words that alone score enough to look at the sentence."""
    weighted = (name for name in load_injection_weights() if isinstance(name, str))
    words = {name.removeprefix("word ") for name in weighted if name.startswith("word ")}
    return frozenset(word for word in words | load_english_classes().keys() if _score_word(word) > _SIGNAL)


def _choose_rule(words: Iterable[str]) -> str:
    """The rule whose classes weigh most among the words."""
    weights = load_injection_weights()
    present = {name for word in words for name in classify_word(word)}
    sums = {
        rule: sum(max(0.0, weights.get(name, 0.0)) for name in names & present)
        for rule, names in load_rule_classes().items()
    }
    return max(sums, key=lambda rule: (sums[rule], rule == "hijack"))
