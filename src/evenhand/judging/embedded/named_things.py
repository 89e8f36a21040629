"""What a criterion names (a term, a value, a quotation, an identifier), and where it stands in an output."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from evenhand.judging.embedded.claims import CriterionClaim, find_denied_claim_stems, load_own_names_of_things
from evenhand.judging.embedded.features import (
    MATCHED,
    gives_kind_of_claim,
    is_value_of_claim_among,
    measure_claim_features,
    measure_claim_stem,
)
from evenhand.judging.embedded.lexicon import (
    find_embedded_words,
    is_embedded_content_word,
    load_claim_words,
    load_judge_pattern,
    stem_embedded_word,
)
from evenhand.judging.embedded.texts import JudgedText, contains_claim_words, detect_language_unfit_for_judge


@dataclass(frozen=True, slots=True, kw_only=True)
class NamedThing:
    """Something that a criterion names, and the sentence in which it stands; without one, it stands nowhere."""

    called: str
    quote: str = ""


def split_claim_examples(asks: str) -> tuple[str, tuple[str, ...]]:
    """A criterion without the examples it gives ("such as …", "e.g. …"), and those examples: they demand nothing."""
    examples = []
    while cue := load_judge_pattern("claims", "example_cue").search(asks):
        quoted = load_judge_pattern("claims", "example_quoted").match(asks, cue.end())
        end = quoted or load_judge_pattern("claims", "example_end").search(asks, cue.end())
        stop = quoted.end() if quoted else end.start() if end else len(asks)
        given = asks[cue.end() : stop].strip()
        if not given:
            break
        examples.append(given.strip("()"))
        bracket = "(" in cue.group() and asks[stop : stop + 1] == ")"
        asks = asks[: cue.start()] + " " + asks[stop + bracket :].lstrip()
    return " ".join(asks.split()).replace(" ,", ",") if examples else asks, tuple(examples)


def find_example_of_claim(examples: Sequence[str], text: JudgedText) -> NamedThing | None:
    """One of the examples as it stands in a text, or another path through menus where a path is the example."""
    quotation, menu_path = load_judge_pattern("claims", "quoted"), load_judge_pattern("claims", "menu_path")
    quoted = [next(filter(None, groups)) for given in examples for groups in quotation.findall(given)]
    for sentence in text.prepared:
        for one in quoted:
            if contains_claim_words(sentence.text, one) or (menu_path.search(one) and menu_path.search(sentence.text)):
                return NamedThing(called=one, quote=sentence.text)
    return None


def find_thing_of_claim(asks: str, claim: CriterionClaim, text: JudgedText) -> NamedThing | None:
    """What a criterion names, where it stands in a text; None where it names nothing, or where that shows nothing.

    An identifier that stands nowhere is a thing without a quotation.
    """
    if not claim.is_statement or claim.is_open or claim.alternatives or claim.denied or text.is_cut:
        return None
    literals = (*claim.quoted, *_find_identifiers_of_claim(asks, claim))
    if not literals and not claim.values:
        return _find_term_of_claim(asks, claim, text)
    absent = next((one for one in literals if not contains_claim_words(text.text, one)), "")
    if absent:
        named = load_judge_pattern("claims", "naming").match(asks)
        return NamedThing(called=absent) if named and not _list_words_beside_claim(claim, literals) else None
    return _find_thing_of_claim_by_words(claim, literals, text)


def _find_identifiers_of_claim(asks: str, claim: CriterionClaim) -> tuple[str, ...]:
    """Identifiers outside quotations; what is wholly a value, such as "400mg", is none."""
    unquoted = load_judge_pattern("claims", "quoted").sub(lambda match: " " * len(match[0]), asks)
    spans = [(value.start, value.end) for value in claim.values]
    found = load_judge_pattern("claims", "identifier").finditer(unquoted)
    return tuple(match[0] for match in found if not any(start < match.end() <= end for start, end in spans))


def _list_words_beside_claim(claim: CriterionClaim, literals: Sequence[str]) -> list[str]:
    """Stems of a claim's words that are neither part of something literal nor a word for its kind."""
    own = {word.stem for one in literals for word in find_embedded_words(one)}
    kinds = {stem_embedded_word(word) for word in load_claim_words("claims", "kind_nouns")}
    return [word.stem for word in claim.words if word.stem not in own | kinds]


def _find_thing_of_claim_by_words(
    claim: CriterionClaim, literals: Sequence[str], text: JudgedText
) -> NamedThing | None:
    """The sentence with all that is named, where it and its neighbours have the other words of the claim too."""
    # A limit is named by its own number, not by any that keeps it.
    values = [replace(value, bound="") for value in claim.values if not any(value.raw in one for one in literals)]
    others = _list_words_beside_claim(claim, literals)
    seen = measure_claim_features(claim, text) if values else None
    if seen and seen.conflicts:
        return None  # It stands there, but another stands in its place.
    denial = load_judge_pattern("claims", "denial")
    for at, sentence in enumerate(text.prepared):
        stands = all(is_value_of_claim_among(value, sentence.values) for value in values) and all(
            contains_claim_words(sentence.text, one) for one in literals
        )
        near = text.prepared[max(0, at - 1) : at + 2]
        if others or values:  # What is only to be named is named in a denial too.
            near = [one for one in near if not denial.search(one.text)]
        stands = stands and claim.names <= sentence.stems
        if not stands or sentence not in near or sentence.text.endswith(("?", "？")):
            continue  # What a sentence denies may be what is named.
        stems = frozenset(stem for one in near for stem in one.stems)
        if all(measure_claim_stem(stem, stems) >= MATCHED for stem in others):
            return NamedThing(called=", ".join((*literals, *(value.raw for value in values))), quote=sentence.text)
    return None


def _find_term_of_claim(asks: str, claim: CriterionClaim, text: JudgedText) -> NamedThing | None:
    """The term that a criterion wants mentioned, in the same words, where no denial reaches it."""
    mention = load_judge_pattern("claims", "mention").match(asks)
    term = _cut_claim_to_term(asks[mention.end() :]) if mention else ""
    for sentence in text.prepared if term else ():
        denied = find_denied_claim_stems(sentence.text, sentence.words)
        if contains_claim_words(sentence.text, term, inflected=True) and denied.isdisjoint(
            map(stem_embedded_word, term.split())
        ):
            return NamedThing(called=term, quote=sentence.text)
    return _find_absent_thing_of_claim(asks, claim, text)


def _find_absent_thing_of_claim(asks: str, claim: CriterionClaim, text: JudgedText) -> NamedThing | None:
    """What a criterion wants mentioned, offered, recommended or the like, where no word of it occurs.

    A name counts by itself, and so does a thing that has hardly another name; all else may be there under another word.
    """
    name = load_judge_pattern("claims", "name_named").match(asks)
    # What is not to be promised or recommended may still be, in other words; what is not to be mentioned hardly.
    is_mention = not claim.is_inverted or load_judge_pattern("claims", "mention").match(asks)
    named = name or (load_judge_pattern("claims", "object").match(asks) if is_mention else None)
    words = [word for word in find_embedded_words(named["name"]) if is_embedded_content_word(word.raw)] if named else []
    if detect_language_unfit_for_judge(text.text):
        return None  # There it has another name.
    if not name:
        known = [word for word in words if word.stem in load_own_names_of_things()]
        words = known if not claim.concepts else []
    if not named or not words or any(measure_claim_stem(word.stem, text.stems) for word in words):
        return None
    if not name and any(gives_kind_of_claim(kind, text) for kind in claim.wanted):
        return None
    return None if is_claimed_name_spelled_otherwise(named["name"], text) else NamedThing(called=named["name"].strip())


def is_claimed_name_spelled_otherwise(term: str, text: JudgedText) -> bool:
    """Whether the letters of a term stand in a text in other pieces ("sun light", "fine-tuning"), or as initials."""
    bare = "".join(word.stem for word in find_embedded_words(term))
    initials = "".join(word.raw[0] for word in find_embedded_words(term)).upper()
    run = "".join(character for character in text.plain if character.isalnum())
    return bare in run or (len(initials) > 1 and contains_claim_words(text.text, initials))


def _cut_claim_to_term(phrase: str) -> str:
    """A noun phrase without the articles before it and the words for its kind around it, where more is left."""
    words = whole = re.findall(r"[\w’'-]+", phrase)
    kinds = load_claim_words("claims", "kind_nouns")
    while words and not is_embedded_content_word(words[0], framed=True):
        words = whole = words[1:]
    while words and (not is_embedded_content_word(words[0]) or words[0].lower() in kinds):
        words = words[1:]
    while words and (not is_embedded_content_word(words[-1]) or words[-1].lower() in kinds):
        words = words[:-1]
    # "The time complexity" is a thing, though each of its words is one for a kind; "an email" is one too.
    is_thing = len(whole) > 1 or re.match(r"(?i)\W*an?\s", phrase)
    return " ".join(words or (whole if is_thing else ()))
