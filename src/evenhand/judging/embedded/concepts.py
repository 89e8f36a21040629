"""Concepts with many names: what a criterion calls "a refund", an output may call "your money back"."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cache

from evenhand.judging.embedded.lexicon import (
    load_claim_words,
    load_judge_lexicon,
    load_judge_pattern,
    load_judge_patterns,
)
from evenhand.judging.embedded.texts import JudgedSentence, JudgedText
from evenhand.judging.embedded.words import (
    TextWord,
    find_embedded_words,
    is_embedded_content_word,
    stem_embedded_word,
)

GAP = 3  # How far apart two words of a phrase may stand: "send you a new one" has "send" and "new".
_KINDS = {  # Kinds of values under the names that the library has for them.
    "money": ("eur", "usd", "gbp", "cent"),
    "date": ("date", "full date", "month"),
    "percent": ("%",),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class ConceptPhrase:
    """One way to say it: stems in order, letters as they stand, or a value of a kind after certain letters."""

    stems: tuple[str, ...] = ()
    letters: str = ""
    kind: str = ""
    denies: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedConcept:
    """A concept by the stems that a criterion has for it, with all the ways to say it."""

    stems: tuple[str, ...]
    phrases: tuple[ConceptPhrase, ...]


def find_concepts_of_claim(words: Sequence[TextWord]) -> tuple[NamedConcept, ...]:
    """The concepts that these words name, the longest names first; no word belongs to two."""
    index = _load_concept_index()
    found = [(places, one) for at, word in enumerate(words) for places, one in _match_names(index, words, at, word)]
    taken: set[int] = set()
    chosen: list[NamedConcept] = []
    for places, one in sorted(found, key=lambda match: -len(match[0])):
        if taken.isdisjoint(places) and all(one.phrases is not other.phrases for other in chosen):
            chosen.append(one)
        taken.update(places)
    return tuple(chosen)


def locate_concept_of_claim(concept: NamedConcept, text: JudgedText) -> list[int]:
    """The sentences of a text, by number, in which a concept is spoken of in any of its ways."""
    return [
        number
        for number, sentence in enumerate(text.prepared)
        if any(_is_concept_phrase_in(phrase, sentence) for phrase in concept.phrases)
    ]


def denies_with_concept(concept: NamedConcept, sentence: JudgedSentence) -> bool:
    """Whether a sentence speaks of a concept by a denial, as "will not take place" speaks of a cancellation."""
    return any(phrase.denies and _is_concept_phrase_in(phrase, sentence) for phrase in concept.phrases)


@cache
def load_own_names_of_things() -> frozenset[str]:
    """Stems of the words for things that have hardly another name: where they are absent, the thing is."""
    return frozenset(map(stem_embedded_word, load_claim_words("concepts", "own_names")))


def read_concept_lines(lines: str) -> Iterator[tuple[list[str], list[str]]]:
    """The names of each concept of an entry, and the phrases for it: "name / name: phrase, phrase"."""
    for line in lines.splitlines():
        names, _, phrases = line.partition(": ")
        yield names.split(" / "), phrases.split(", ")


@cache
def _load_concept_index() -> dict[str, tuple[NamedConcept, ...]]:
    """Each named concept by the first stem of its name."""
    index: dict[str, list[NamedConcept]] = {}
    for entry in load_judge_lexicon("concepts")["concepts"].values():
        for names, others in read_concept_lines(entry["said"]):
            phrases = tuple(map(_read_concept_phrase, (*others, *names)))
            for stems in filter(None, map(_stem_concept_phrase, names)):
                index.setdefault(stems[0], []).append(NamedConcept(stems=stems, phrases=phrases))
    return {stem: tuple(concepts) for stem, concepts in index.items()}


def _stem_concept_phrase(phrase: str) -> tuple[str, ...]:
    return tuple(word.stem for word in find_embedded_words(phrase))


def _read_concept_phrase(phrase: str) -> ConceptPhrase:
    """A phrase of the library: "<kind>" is a value; what has other signs than letters stands for itself."""
    kind = re.fullmatch(r"(?:(\w+) )?<(\w+)>", phrase)
    if kind:
        return ConceptPhrase(letters=kind[1] or "", kind=kind[2])
    if not re.search(r"[^\W\d_]{2}", phrase) or re.search(r"[`|=²×½π^\[\\\"(:$<]", phrase):
        return ConceptPhrase(letters=phrase)
    denial = load_judge_pattern("claims", "denial").search(phrase)
    return ConceptPhrase(stems=_stem_concept_phrase(phrase), denies=denial is not None)


def _match_names(
    index: dict[str, tuple[NamedConcept, ...]], words: Sequence[TextWord], at: int, word: TextWord
) -> Iterator[tuple[list[int], NamedConcept]]:
    """The concepts whose name begins at a word, each with the places of its words."""
    for concept in index.get(word.stem, ()):
        places = [at]
        for stem in concept.stems[1:]:
            after = places[-1] + 1
            while after < len(words) and after - places[-1] < GAP and words[after].stem != stem:
                if is_embedded_content_word(words[after].raw):
                    break
                after += 1
            if after >= len(words) or words[after].stem != stem:
                break
            places.append(after)
        if len(places) == len(concept.stems):
            yield places, concept


def _is_concept_phrase_in(phrase: ConceptPhrase, sentence: JudgedSentence) -> bool:
    if phrase.kind:
        return _gives_kind_of_concept(phrase, sentence)
    if phrase.letters:
        return phrase.letters in sentence.text
    if not phrase.stems or not sentence.stems.issuperset(phrase.stems):
        return False
    stems = [word.stem for word in sentence.words]
    return any(_follows_concept_phrase(stems, at, phrase.stems) for at in range(len(stems)))


def _follows_concept_phrase(stems: list[str], at: int, wanted: tuple[str, ...]) -> bool:
    """Whether stems stand in this order from a place on, each near the one before it."""
    if stems[at] != wanted[0]:
        return False
    for stem in wanted[1:]:
        near = stems[at + 1 : at + 1 + GAP]
        if stem not in near:
            return False
        at += 1 + near.index(stem)
    return True


def _gives_kind_of_concept(phrase: ConceptPhrase, sentence: JudgedSentence) -> bool:
    """Whether a sentence has a value of a kind, right after certain letters where there are some."""
    kind, marks = phrase.kind, load_judge_patterns("concepts", "marks")
    if kind in marks:
        return marks[kind].search(sentence.text) is not None
    if kind == "number":
        return bool(sentence.values)
    if kind == "year":
        return any(value.is_year or value.kind == "full date" for value in sentence.values)
    given = [value for value in sentence.values if value.kind in _KINDS.get(kind, (kind,))]
    before = len(phrase.letters) + 6
    return any(phrase.letters in sentence.text[max(0, value.start - before) : value.start].lower() for value in given)
