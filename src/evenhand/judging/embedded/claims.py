"""Claims: what must and must not be found in an output for a criterion to be met, under any of its names."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

from evenhand.judging.embedded.lexicon import (
    TextWord,
    find_embedded_words,
    is_embedded_content_word,
    load_claim_words,
    load_judge_lexicon,
    load_judge_pattern,
    load_judge_patterns,
    stem_embedded_word,
)
from evenhand.judging.embedded.texts import EmbeddedTextValue, JudgedSentence, JudgedText, find_values_of_claim

DENIED_BEFORE, DENIED_AFTER = 3, 5  # Words that a denial reaches: "parcels are not sent", "no parcel is sent".


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionClaim:
    """What a criterion claims of an output."""

    words: tuple[TextWord, ...]  # Those that carry content, each stem once.
    values: tuple[EmbeddedTextValue, ...]
    quoted: tuple[str, ...]
    names: frozenset[str]  # Stems of words written with a capital inside the sentence.
    parts: tuple[frozenset[str], ...]  # Stems of each thing asked for, where there are several.
    wanted: frozenset[str]  # What is asked for without being said: money, count, time, name, reason.
    denied: frozenset[str]  # Stems of what is to be found denied.
    denied_first: frozenset[str]  # Of those, the first after each denial: "not sent by post" denies the sending.
    alternatives: tuple[tuple[TextWord, ...], ...]  # The words of each of the things of which one is enough.
    specific: tuple[str, ...]  # Stems of the words that are not general, in order; of all, where all are.
    concepts: tuple[NamedConcept, ...]  # What it names that has other names too.
    way: str  # What is to be done with all that: stated, mentioned, advised and so on.
    is_inverted: bool  # It is met where the rest is not found.
    is_statement: bool  # It asks for something to be said: then its absence can be seen in the words.
    is_request: bool  # It wants something to be asked for or advised: that it is lacking is then no denial.
    is_asking: bool  # It wants something to be asked: a question in the output is then no doubt.
    is_open: bool  # It asks what, how or why: a denial may be the very answer.


def extract_claim(asks: str) -> CriterionClaim:
    """Take a criterion apart."""
    inversions = load_judge_patterns("claims", "inversions").values()
    inversion = next((found for pattern in inversions if (found := pattern.search(asks))), None)
    frame = load_judge_pattern("claims", "frame").match(asks)
    rest = _blank_claim_lead(asks, inversion or frame, least=0 if inversion else 1)
    values, words = find_values_of_claim(rest), find_embedded_words(rest)
    kinds = load_judge_patterns("claims", "wanted").items()
    is_asking = bool(load_judge_pattern("claims", "asking").search(asks, 0, 60))
    # What is to be asked for need not be given.
    wanted = {} if is_asking else {name: found.end() for name, kind in kinds if (found := kind.search(rest))}
    content = _select_claim_words(rest, values, words, framed=rest != asks)
    parts = _split_claim_parts(rest, content)
    if not parts and " that " not in asks:  # After "that" each word belongs to what is said.
        content = _drop_umbrella_words_from_claim(content, wanted.values())
    specific = _list_specific_stems(content)
    if load_judge_pattern("claims", "unnamed").match(asks):
        wanted["name"] = 0
    return CriterionClaim(
        words=tuple(content.values()),
        values=tuple(values),
        quoted=tuple(next(filter(None, groups)) for groups in load_judge_pattern("claims", "quoted").findall(rest)),
        names=frozenset(word.stem for word in content.values() if word.raw[0].isupper() and word.start > 0),
        parts=parts,
        wanted=frozenset(wanted),
        denied=find_denied_claim_stems(rest, words),
        denied_first=frozenset(_find_first_denied_claim(rest, content)),
        alternatives=_split_claim_alternatives(rest),
        specific=specific or tuple(content),
        concepts=find_concepts_of_claim(words),
        way=_read_claim_way(asks, is_general=not specific),
        is_inverted=inversion is not None,
        is_statement=bool(inversion or frame or load_judge_pattern("claims", "act").match(asks)),
        is_request=bool(load_judge_pattern("claims", "request").match(asks)),
        is_asking=is_asking,
        is_open=bool(load_judge_pattern("claims", "open_question").match(rest)),
    )


def _blank_claim_lead(text: str, lead: re.Match[str] | None, least: int) -> str:
    """The text with its lead made blank, so that all else keeps its place; as it is where too few words are left."""
    if lead is None or (least and len(find_embedded_words(text[lead.end() :])) < least):
        return text
    return text[: lead.start()] + " " * (lead.end() - lead.start()) + text[lead.end() :]


def _select_claim_words(
    text: str, values: Sequence[EmbeddedTextValue], words: Sequence[TextWord], *, framed: bool
) -> dict[str, TextWord]:
    """The words that carry content and are no part of a value, by stem."""
    in_value = bytearray(len(text))
    for value in values:
        in_value[value.start : value.end] = b"\1" * (value.end - value.start)
    content: dict[str, TextWord] = {}
    for word in words:
        long = len(word.stem) > 1 or not word.raw.isascii()
        if long and not in_value[word.start] and is_embedded_content_word(word.raw, framed=framed):
            content.setdefault(word.stem, word)
    return content


def _drop_umbrella_words_from_claim(content: dict[str, TextWord], wanted: Collection[int]) -> dict[str, TextWord]:
    """Without the words for the kind of thing that is asked for ("the date of …"), where others are left."""
    umbrellas = load_claim_words("claims", "umbrella_nouns")
    kept = {
        stem: word for stem, word in content.items() if word.raw.lower() not in umbrellas and word.end not in wanted
    }
    return kept or content


def _list_specific_stems(content: dict[str, TextWord]) -> tuple[str, ...]:
    """Stems of the words that are not general."""
    names = ("umbrella_nouns", "kind_nouns", "general_words")
    general = {stem_embedded_word(word) for name in names for word in load_claim_words("claims", name)}
    return tuple(stem for stem in content if stem not in general)


def _read_claim_way(asks: str, *, is_general: bool) -> str:
    """The first way that fits; what has only general words is "general", as that they are missing shows nothing."""
    ways = load_judge_patterns("claims", "ways").items()
    way = next((name for name, pattern in ways if pattern.match(asks)), "plain")
    return "general" if is_general and way != "open" else way


def _find_first_denied_claim(text: str, content: dict[str, TextWord]) -> Iterator[str]:
    for cue in load_judge_pattern("claims", "denial").finditer(text):
        yield from [stem for stem, word in content.items() if word.start > cue.start()][:1]


def _split_claim_parts(text: str, content: dict[str, TextWord]) -> tuple[frozenset[str], ...]:
    ends = [0, *(match.end() for match in load_judge_pattern("claims", "conjunction").finditer(text)), len(text) + 1]
    parts = [
        frozenset(stem for stem, word in content.items() if start <= word.start < end) for start, end in pairwise(ends)
    ]
    kept = tuple(part for part in parts if part)
    return kept if len(kept) > 1 else ()


def _split_claim_alternatives(text: str) -> tuple[tuple[TextWord, ...], ...]:
    """The things in "asks for a password, a card number or a code": each by its own words."""
    # A text without "or" is not searched: with many commas that would take long.
    has_or = re.search(r"\sor\s", text)
    listed = load_judge_pattern("claims", "alternatives").search(text) if has_or else None
    if listed is None:
        return ()
    first, *others = load_judge_pattern("claims", "alternative_break").split(listed.group())
    first = load_judge_pattern("claims", "determiner").split(first)[-1]
    parts = [
        tuple(word for word in find_embedded_words(part)[-3:] if is_embedded_content_word(word.raw))
        for part in (first, *others)
    ]
    return tuple(part for part in parts if part)


def find_denied_claim_stems(text: str, words: Sequence[TextWord], *, is_request: bool = False) -> frozenset[str]:
    """Stems of the words that a text denies: each time they occur, an odd number of denials reaches them.

    Where something is requested, that it is lacking is no denial.
    """
    times = Counter(_reach_denied_claim_words(text, words, is_request))
    affirmed = {word.stem for place, word in enumerate(words) if times[place] % 2 == 0}
    return frozenset(word.stem for word in words if word.stem not in affirmed)


def _reach_denied_claim_words(text: str, words: Sequence[TextWord], is_request: bool) -> Iterator[int]:
    """The places of words that denials reach within their clauses, once for each denial."""
    names = ("harmless_denial", "lack") if is_request else ("harmless_denial",)
    harmless = [match.span() for name in names for match in load_judge_pattern("claims", name).finditer(text)]
    found = [match.start() for match in load_judge_pattern("claims", "denial").finditer(text)]
    cues = [at for at in found if not any(start <= at < end for start, end in harmless)]
    clauses = [match.span() for match in load_judge_pattern("claims", "clause").finditer(text)] if cues else []
    for cue in cues:
        start, end = next((span for span in clauses if span[0] <= cue < span[1]), (0, len(text)))
        before = [place for place, word in enumerate(words) if start <= word.start and word.end <= cue]
        if load_judge_pattern("claims", "backward_denial").match(text, cue):
            yield from before[-DENIED_AFTER:]
            continue
        if not load_judge_pattern("claims", "forward_denial").match(text, cue):
            yield from before[-DENIED_BEFORE:]
        yield from [place for place, word in enumerate(words) if cue < word.start < end][:DENIED_AFTER]


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
    found = [
        (places, one) for at, word in enumerate(words) for places, one in _match_names_of_claim(index, words, at, word)
    ]
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


def denies_claim_with_concept(concept: NamedConcept, sentence: JudgedSentence) -> bool:
    """Whether a sentence speaks of a concept by a denial, as "will not take place" speaks of a cancellation."""
    return any(phrase.denies and _is_concept_phrase_in(phrase, sentence) for phrase in concept.phrases)


@cache
def load_own_names_of_things() -> frozenset[str]:
    """Stems of the words for things that have hardly another name: where they are absent, the thing is."""
    return frozenset(map(stem_embedded_word, load_claim_words("concepts", "own_names")))


def read_concept_lines_of_lexicon(lines: str) -> Iterator[tuple[list[str], list[str]]]:
    """The names of each concept of an entry, and the phrases for it: "name / name: phrase, phrase"."""
    for line in lines.splitlines():
        names, _, phrases = line.partition(": ")
        yield names.split(" / "), phrases.split(", ")


@cache
def _load_concept_index() -> dict[str, tuple[NamedConcept, ...]]:
    """Each named concept by the first stem of its name."""
    index: dict[str, list[NamedConcept]] = {}
    for entry in load_judge_lexicon("concepts")["concepts"].values():
        for names, others in read_concept_lines_of_lexicon(entry["said"]):
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


def _match_names_of_claim(
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
