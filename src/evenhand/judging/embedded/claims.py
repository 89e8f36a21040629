"""Claims: what must be found in an output for a criterion to be met, what must not, and what a text denies."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from itertools import pairwise

from evenhand.judging.embedded.concepts import NamedConcept, find_concepts_of_claim
from evenhand.judging.embedded.lexicon import load_claim_words, load_judge_pattern, load_judge_patterns
from evenhand.judging.embedded.values import EmbeddedTextValue, find_values_of_claim
from evenhand.judging.embedded.words import TextWord, find_embedded_words, is_embedded_content_word, stem_embedded_word

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
