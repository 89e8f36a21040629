"""Features: how much of a claim an output says, where, and what speaks against it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from evenhand.judging.embedded.claims import (
    CriterionClaim,
    denies_claim_with_concept,
    find_denied_claim_stems,
    load_own_names_of_things,
    locate_concept_of_claim,
)
from evenhand.judging.embedded.lexicon import (
    load_claim_words,
    load_embedded_opposites,
    load_embedded_synonyms,
    load_judge_pattern,
    stem_embedded_word,
)
from evenhand.judging.embedded.texts import EmbeddedTextValue, JudgedSentence, JudgedText

GENERAL = 0.4  # What a general word weighs beside a specific one.
MATCHED = 0.75  # From this strength on, a word counts as found.
# Each of these speaks against a claim of which every word is there.
_AGAINST = ("against", "opposite", "values_absent", "values_differ", "quote_absent", "question", "asked_absent")
_MONEY = ("eur", "usd", "gbp", "cent")
_TIMES = ("time", "clock", "date", "full date", "weekday", "month")


@dataclass(frozen=True, slots=True, kw_only=True)
class ClaimFeatures:
    """What was seen for a claim, in numbers, and the sentence that shows most of it."""

    features: dict[str, float]
    quote: str
    missing: tuple[str, ...]  # Words of the claim that are found nowhere near.
    absent: tuple[str, ...]  # Values of the claim that are found nowhere.
    conflicts: tuple[tuple[str, str], ...]  # A value of the claim, and the one that stands in its place.

    @property
    def is_denied(self) -> bool:
        """Whether the sentence speaks of the claim and denies it."""
        return bool(self.features["against"] and self.features["here"] >= 0.5)


def measure_claim_features(claim: CriterionClaim, text: JudgedText) -> ClaimFeatures | None:
    """Hold a claim against a text; None where the text has no words."""
    if not text.prepared:
        return None
    match = _ClaimMatch(claim, text)
    sentence, stems = match.sentence, match.stems
    given = [_gives_value_of_claim(kind, sentence, match.values) for kind in claim.wanted]
    conflicts = _find_claim_conflicts(claim, match)
    features = {
        "bias": 1.0,
        **_measure_claim_coverage(match),
        **_measure_claim_opposition(match),
        **_measure_specific_words(match),
        **_measure_claim_concepts(match),
        **_measure_unknown_words_of_claim(match),
        **(_measure_values_of_claim(match, conflicts) if claim.values else {}),
        "name_absent": float(not claim.names <= text.stems),
        "names_near": float(bool(claim.names) and claim.names <= stems),
        "quote_absent": float(not all(text.contains_claimed_phrase(quote) for quote in claim.quoted)),
        "asked_given": float(bool(given) and all(given)),
        "asked_absent": float(not all(given)),
        "requested": float(claim.is_asking and is_claimed_request(sentence.text)),
        "forbidden": float(claim.way == "advice" and not claim.denied and _does_claim_forbid(sentence.text)),
        "both_forbid": float(bool(claim.denied) and _does_claim_forbid(sentence.text)),
        "question": float(_is_claim_doubted(sentence.text) and not claim.is_asking),
    }
    features[f"{claim.way}_given"] = features["asked_given"] * (1 - features[f"{claim.way}_away"])
    missing = tuple(word.raw for word in claim.words if measure_claim_stem(word.stem, stems) < MATCHED)
    is_apart = match.asked and not match.joins_names  # The names stand here, and all else elsewhere.
    has_all = features[f"{claim.way}_all"]
    features["every_word"] = float(bool(has_all) and not is_apart and not any(features.get(name) for name in _AGAINST))
    absent = tuple(value.raw for value in claim.values if not is_value_of_claim_among(value, text.values))
    # The other value may stand in the sentence before or after.
    shows = [one.text for one in (sentence, *match.near) if not conflicts or conflicts[0][1] in one.text]
    if missing and not conflicts and match.concepts and all(match.concepts):
        shows = [text.prepared[match.concepts[0][0]].text]  # It is said there, in other words.
    return ClaimFeatures(features=features, quote=shows[0], missing=missing, absent=absent, conflicts=tuple(conflicts))


def _is_claim_doubted(sentence: str) -> bool:
    """Whether a sentence asks something, or tells what others ask or say."""
    return sentence.endswith(("?", "？")) or bool(load_judge_pattern("claims", "hearsay").search(sentence))


def is_claimed_request(sentence: str) -> bool:
    """Whether a sentence asks for something."""
    return load_judge_pattern("claims", "request_made").search(sentence) is not None


def _does_claim_forbid(sentence: str) -> bool:
    return load_judge_pattern("claims", "prohibition").search(sentence) is not None


class _ClaimMatch:
    """A claim, a text, and the sentence of it that shows most of the claim, with those before and after."""

    def __init__(self, claim: CriterionClaim, text: JudgedText) -> None:
        self.claim, self.text = claim, text
        self._weights = {
            word.stem: text.weigh_claim_stem(word.stem)
            * (1.4 if word.stem in claim.names else 1.0 if word.stem in claim.specific else GENERAL)
            for word in claim.words
        }
        self.asked = frozenset(self._weights) - claim.names
        worth = []  # What decides which sentence is looked at: words first, values beside them.
        for sentence in text.prepared:
            met = sum(is_value_of_claim_among(value, sentence.values) for value in claim.values)
            worth.append(round(self.cover(sentence.stems) + 0.3 * met, 9))
        at = worth.index(max(worth))
        self.sentence = text.prepared[at]
        self.near = near = text.prepared[max(0, at - 1) : at + 2]
        self.here = self.cover(self.sentence.stems)
        self.nearby = max(self.cover(self.sentence.stems | other.stems) for other in near)
        self.stems = frozenset(stem for sentence in near for stem in sentence.stems)
        self.joins_names = not claim.names or any(
            claim.names <= one.stems and not self.asked.isdisjoint(one.stems) for one in near
        )
        self.values = [value for sentence in near for value in sentence.values]
        self.concepts = [locate_concept_of_claim(concept, text) for concept in claim.concepts]
        named = {stem for concept in claim.concepts for stem in concept.stems}
        self.others = [stem for stem in claim.specific if stem not in named]  # Words that have no other names here.

    def cover(self, stems: frozenset[str], part: frozenset[str] | None = None) -> float:
        """The share of the claim's words, or of a part of them, that these stems cover."""
        asked = {stem: weight for stem, weight in self._weights.items() if part is None or stem in part}
        whole = sum(asked.values())
        covered = sum(weight * measure_claim_stem(stem, stems) for stem, weight in asked.items())
        return covered / whole if whole else 0.0

    def locate_claim_stem(self, stem: str) -> list[int]:
        """The sentences, by number, that have a word or a synonym of it."""
        prepared = enumerate(self.text.prepared)
        return [number for number, one in prepared if measure_claim_stem(stem, one.stems) >= MATCHED]

    def has_claimed_clause(self) -> bool:
        """Whether one clause of the sentence has every specific word of the claim."""
        spans = [one.span() for one in load_judge_pattern("claims", "clause").finditer(self.sentence.text)]
        clauses = [frozenset(word.stem for word in self.sentence.words if a <= word.start < b) for a, b in spans]
        return any(all(measure_claim_stem(stem, one) >= MATCHED for stem in self.claim.specific) for one in clauses)


def measure_claim_stem(stem: str, stems: frozenset[str]) -> float:
    """How surely a stem is among others: itself, a longer or shorter form of it, or one of its synonyms."""
    if stem in stems:
        return 1.0
    if len(stem) > 4 and any(_is_claim_stem_form(stem, other) for other in stems):
        return 0.8
    return 0.75 if not stems.isdisjoint(load_embedded_synonyms().get(stem, ())) else 0.0


def _is_claim_stem_form(one: str, other: str) -> bool:
    """Whether the shorter of two stems, but for its last letter, begins the longer: "refund" and "refundab"."""
    short = min(len(one), len(other))
    return short > 4 and abs(len(one) - len(other)) <= 4 and one[: max(5, short - 1)] == other[: max(5, short - 1)]


def _measure_claim_coverage(match: _ClaimMatch) -> dict[str, float]:
    claim, text = match.claim, match.text
    parts = [max(match.cover(one.stems, part) for one in text.prepared) for part in claim.parts]
    return {
        "here": match.here,
        "near": match.nearby,
        "anywhere": match.cover(text.stems),
        "weakest": min((measure_claim_stem(stem, match.stems) for stem in claim.specific), default=0.0),
        "weakest_part": min(parts, default=match.here),
        "parts": float(bool(parts)),
        "few": float(len(claim.words) <= 2),
    }


def _measure_specific_words(match: _ClaimMatch) -> dict[str, float]:
    """How many of the words that are not general are missing, by what the claim wants done with them."""
    claim, way = match.claim, match.claim.way
    here, near, anywhere = (
        [measure_claim_stem(stem, stems) < MATCHED for stem in claim.specific]
        for stems in (match.sentence.stems, match.stems, match.text.stems)
    )
    whole = max(1, len(claim.specific))
    return {
        way: 1.0,
        f"{way}_absent": sum(anywhere) / whole,
        f"{way}_away": sum(near) / whole,
        f"{way}_apart": sum(here) / whole,
        f"{way}_all": float(not any(near)),
        f"{way}_half": float(2 * sum(near) <= whole),
        f"{way}_none": float(all(anywhere)),
        f"{way}_first": float(any(anywhere[:1])),
        "specific": float(len(claim.specific) > 1),
        "split": float(not any(here) and not match.has_claimed_clause()),
    }


def _measure_claim_concepts(match: _ClaimMatch) -> dict[str, float]:
    """Whether what has many names is spoken of by any of them, and together with the other words of the claim."""
    found, way = match.concepts, match.claim.way
    places = [match.locate_claim_stem(stem) for stem in match.others]
    if not found:
        return {}
    if not all(found):
        none = float(not any(found))
        return {
            "concept": 1.0,
            "concept_none": none,
            "concept_some": 1 - none,
            "concept_alone_none": float(not places),
            "concept_many_none": float(len(found) > 1),
            "concept_others_only": float(bool(places) and all(places)),
            f"concept_none_{way}": none,
        }
    known = [*found, *filter(None, places)]
    missing = sum(not one for one in places) / max(1, len(places))
    together = _do_claim_words_stand_together(known, 0)
    return {
        "concept": 1.0,
        "concept_all": 1.0,
        "concept_together": float(together),
        "concept_near": float(_do_claim_words_stand_together(known, 1)),
        "concept_others_missing": missing,
        "concept_alone": float(not places),
        "concept_others_all": float(bool(places) and not missing),
        "concept_whole": float(together and not missing),
        f"concept_{way}": 1.0,
    }


def _do_claim_words_stand_together(places: list[list[int]], reach: int) -> bool:
    """Whether some sentence has all of these in it, or no further than this from it."""
    return any(all(any(abs(at - one) <= reach for one in others) for others in places) for at in places[0])


def _measure_unknown_words_of_claim(match: _ClaimMatch) -> dict[str, float]:
    """Which words are absent: names and things show that by their absence, a word with unknown other names does not."""
    claim, stems = match.claim, match.text.stems
    known = [stem for stem in claim.specific if stem in load_own_names_of_things() or stem in claim.names]
    absent = [stem for stem in known if measure_claim_stem(stem, stems) < MATCHED]
    unknown = [stem for stem in match.others if stem not in known]
    lost = [stem for stem in unknown if measure_claim_stem(stem, stems) < MATCHED]
    whole = max(1, len(claim.specific))
    return {
        "own_absent": float(bool(absent)),
        "own_all_absent": float(bool(absent) and len(absent) == whole),
        "unknown_absent": len(lost) / whole,
        "unknown_none": float(len(lost) == whole),
    }


def _measure_claim_opposition(match: _ClaimMatch) -> dict[str, float]:
    claim, sentence, synonyms = match.claim, match.sentence, load_embedded_synonyms()
    met: dict[str, str] = {}  # Each stem of the claim that the sentence has, itself or as a synonym.
    for word in claim.words:
        forms = (word.stem, *sorted(synonyms.get(word.stem, ())))
        form = next((one for one in forms if one in sentence.stems), "")
        met |= {word.stem: form} if form else {}
    denied = find_denied_claim_stems(sentence.text, sentence.words, is_request=claim.is_request)
    # What should be denied is affirmed only where the word stands there that is denied first.
    own = {stem: form for stem, form in met.items() if claim.denied_first <= met.keys() or stem not in claim.denied}
    differ = [stem for stem, form in own.items() if (stem in claim.denied) != (form in denied)]
    refusals = {stem_embedded_word(word) for word in load_claim_words("claims", "refusals")}
    # It asks for the refusal itself.
    backward = load_judge_pattern("claims", "backward_denial").search(sentence.text)
    is_refusal = (backward is not None and not refusals.isdisjoint(met)) or any(
        denies_claim_with_concept(concept, sentence) for concept in claim.concepts
    )
    against = bool(differ) and 3 * len(differ) >= len(met) and not claim.is_open and not is_refusal
    unmet = [word.stem for word in claim.words if word.stem not in sentence.stems]
    return {
        "against": float(against),
        "against_here": against * match.here,
        "differ": len(differ) / len(met) if met and not claim.is_open else 0.0,
        "both_deny": float(any(stem in claim.denied and form in denied for stem, form in met.items())),
        "for_near": (not against) * match.nearby**3,
        "opposite": float(any(not sentence.stems.isdisjoint(_list_claim_opposites(stem)) for stem in unmet)),
    }


def _list_claim_opposites(stem: str) -> set[str]:
    """Stems that mean the opposite, those with a prefix that denies among them: "sorted" and "unsorted"."""
    prefixes = ("un", "in", "non", "dis")
    bare = {stem.removeprefix(one) for one in prefixes if stem.startswith(one) and len(stem) - len(one) > 3}
    return {*load_embedded_opposites().get(stem, ()), *(one + stem for one in prefixes if len(stem) > 3), *bare}


def _measure_values_of_claim(match: _ClaimMatch, conflicts: list[tuple[str, str]]) -> dict[str, float]:
    values = match.claim.values
    absent = sum(not is_value_of_claim_among(value, match.text.values) for value in values)
    return {
        "values": 1.0,
        "values_absent": absent / len(values),
        "values_near": float(all(is_value_of_claim_among(value, match.values) for value in values)),
        "values_alone": float(not match.here and bool(match.claim.words)),
        "values_differ": float(bool(conflicts)),
    }


def _gives_value_of_claim(kind: str, sentence: JudgedSentence, values: list[EmbeddedTextValue]) -> bool:
    """Whether a sentence, with the values near it, gives what is asked for without being said."""
    if kind == "name":
        in_value = [(value.start, value.end) for value in sentence.values]
        named = (word for word in sentence.words[1:] if word.raw[0].isupper() and word.raw != "I")
        return any(not any(start <= word.start < end for start, end in in_value) for word in named)
    if kind == "reason":
        return bool(load_judge_pattern("decisions", "reason_given").search(sentence.text))
    if kind == "money":
        return any(value.kind in (*_MONEY, "%") for value in values)  # A fee may be a share of the price.
    if kind in ("mass", "volume", "temperature"):
        return any(value.kind == kind for value in values)
    return any(kind == "count" or value.kind in _TIMES or value.is_year for value in values)


def gives_kind_of_claim(kind: str, text: JudgedText) -> bool:
    """Whether any sentence of a text gives what is asked for without being said."""
    return any(_gives_value_of_claim(kind, sentence, list(sentence.values)) for sentence in text.prepared)


def _find_claim_conflicts(claim: CriterionClaim, match: _ClaimMatch) -> list[tuple[str, str]]:
    """Values of the claim in whose place another stands: in the clause with most of its words, or else around it."""
    found = []
    clause = _find_clause_of_claim(match)
    for value in claim.values:
        own = match.sentence.values
        in_clause = [one for one in own if clause[0] <= one.start < clause[1] and value.is_comparable(one)]
        values = in_clause or (own if any(map(value.is_comparable, own)) else match.values)
        if claim.denied and is_value_of_claim_among(value, match.values):
            continue  # What is denied of it may stand beside what is said of another.
        # What the claim names elsewhere stands in its own place, not in this one's.
        others = (one for one in values if value.is_comparable(one) and not is_value_of_claim_among(one, claim.values))
        other = next(others, None)
        if other is not None and not is_value_of_claim_among(value, values):
            found.append((value.raw, other.raw))
    return found


def _find_clause_of_claim(match: _ClaimMatch) -> tuple[int, int]:
    """Where in the sentence the clause stands that has most of the claim's words; all of it where two have as many."""
    spans = [one.span() for one in load_judge_pattern("claims", "clause").finditer(match.sentence.text)]
    words = match.sentence.words
    shares = [match.cover(frozenset(word.stem for word in words if a <= word.start < b)) for a, b in spans]
    most = max(shares, default=0.0)
    return spans[shares.index(most)] if most and shares.count(most) == 1 else (0, len(match.sentence.text))


def is_value_of_claim_among(value: EmbeddedTextValue, values: Iterable[EmbeddedTextValue]) -> bool:
    """Whether one of these values means the same."""
    return any(value.means_same(other) for other in values)
