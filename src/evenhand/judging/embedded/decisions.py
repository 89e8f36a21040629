"""The decision on one yes/no criterion: by form, by what rules cannot see, or by the weighed evidence of the
words.
"""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache

from evenhand.files.methods import LIBRARY
from evenhand.judging.embedded.claims import CriterionClaim, extract_claim
from evenhand.judging.embedded.features import (
    ClaimFeatures,
    gives_kind_of_claim,
    is_claimed_request,
    measure_claim_features,
)
from evenhand.judging.embedded.forms import judge_form_claim
from evenhand.judging.embedded.lexicon import (
    find_embedded_words,
    is_embedded_content_word,
    load_claim_words,
    load_embedded_synonyms,
    load_judge_pattern,
    load_judge_patterns,
    lower_claim_letters,
)
from evenhand.judging.embedded.named_things import (
    find_example_of_claim,
    find_thing_of_claim,
    is_claimed_name_spelled_otherwise,
    split_claim_examples,
)
from evenhand.judging.embedded.texts import JudgedText, detect_language_unfit_for_judge

SHORT_CLAIM = 3  # Specific words of a claim that is said in one clause, where it is said.
LONGEST_CRITERION = 1000  # Characters of a criterion that are read; taking a longer one apart would take too long.


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedFeatureWeights:
    """What fitting found: a weight for each feature, and how far from even a chance must be to count.

    Short claims have bands of their own, as each of their words may be said in another: one for a yes, one for a no.
    """

    features: Mapping[str, float]
    band: float
    short_yes_band: float
    short_no_band: float

    def choose_band(self, claim: CriterionClaim, seen: ClaimFeatures, *, found: bool) -> float:
        """How far from even the chance of a claim must be, on the side on which it is."""
        is_repeated = bool(seen.features["every_word"]) and (claim.way == "statement" or bool(claim.values))
        # The same words and values leave as little doubt as a value that stands nowhere.
        if len(claim.specific) > SHORT_CLAIM or (is_repeated if found else bool(seen.absent)):
            return self.band
        return self.short_yes_band if found else self.short_no_band


@dataclass(frozen=True, slots=True, kw_only=True)
class EmbeddedDecision:
    """Yes, no, or None where it cannot be told; why, and the sentence it rests on."""

    holds: bool | None
    reason: str
    quote: str = ""
    against: bool = False  # The text does not only leave it out: it says otherwise.


@cache
def load_embedded_judge_weights() -> EmbeddedFeatureWeights:
    """The shipped weights."""
    fitted = json.loads((LIBRARY / "embedded.json").read_text("utf-8"))
    bands = {name: fitted[name] for name in ("band", "short_yes_band", "short_no_band")}
    return EmbeddedFeatureWeights(features=fitted["weights"], **bands)


def judge_criterion_claim(
    asks: str, text: JudgedText, reference: JudgedText | None = None, weights: EmbeddedFeatureWeights | None = None
) -> EmbeddedDecision:
    """Whether a criterion holds for a text, by the shipped weights or by others."""
    asks, examples = split_claim_examples(asks[:LONGEST_CRITERION])
    form = judge_form_claim(asks, text)
    if form is not None:
        return EmbeddedDecision(holds=form.holds, reason=form.reason, quote=form.quote)
    claim = extract_claim(asks)
    correctness = find_correctness_claim(asks, claim)
    if correctness:
        if reference is None:
            return _abstain_as_embedded_judge(f"rules cannot tell what is “{correctness}” without a reference")
        return _answer_embedded_by_reference(asks.replace(correctness, " "), text, reference, weights)
    named = find_thing_of_claim(asks, claim, text)
    if examples and not (named and named.quote):
        named = None if claim.parts else find_example_of_claim(examples, text)
    unseeable = named and not named.quote and explain_unjudgeable_claim(asks, claim)
    if named is not None and not unseeable:
        reason = f"the passage says it: {named.called}" if named.quote else f"“{named.called}” does not occur in it"
        return EmbeddedDecision(holds=bool(named.quote) != claim.is_inverted, reason=reason, quote=named.quote)
    if load_judge_pattern("forms", "speaks_of_form").search(asks):
        return _abstain_as_embedded_judge("it asks for a form that rules cannot measure here")
    if "reference" in asks.lower():
        return _answer_embedded_by_reference(asks, text, reference, weights)
    decision = _decide_by_claim(asks, claim, text, weights)
    is_unnamed = load_judge_pattern("claims", "unnamed").match(asks) is not None
    if examples and (is_unnamed or decision.holds == claim.is_inverted) and not decision.against:
        return _abstain_as_embedded_judge(
            "it gives an example, and rules cannot tell whether something like it is there"
        )
    return decision


def _decide_by_claim(
    asks: str, claim: CriterionClaim, text: JudgedText, weights: EmbeddedFeatureWeights | None
) -> EmbeddedDecision:
    """By what rules cannot see, by what is nowhere in the text, or by the weighed evidence of the words."""
    language = detect_language_unfit_for_judge(text.text)
    in_chinese = language == "chinese" and load_judge_pattern("texts", "chinese_character").search(asks)
    if language and not in_chinese and detect_language_unfit_for_judge(asks) != language:
        return _abstain_as_embedded_judge(f"the output reads as {language.capitalize()}, the criterion does not")
    if claim.is_statement and claim.alternatives and not _has_claim_alternative(claim, text):
        named = ", ".join(" ".join(word.raw for word in part) for part in claim.alternatives)
        return _answer_embedded_by_absence(claim, text, f"none of these occurs in it: {named}")
    unseeable = explain_unjudgeable_claim(asks, claim)
    if unseeable:
        return _abstain_as_embedded_judge(unseeable)
    absent = [quote for quote in claim.quoted if not text.contains_claimed_phrase(quote)] if claim.is_statement else []
    if absent:
        return _answer_embedded_by_absence(claim, text, f"“{absent[0]}” does not occur in it")
    measured = _find_absent_measure_of_claim(asks, claim, text)
    if measured:
        return _answer_embedded_by_absence(claim, text, f"it gives no {measured}")
    return _answer_embedded_by_words(asks, claim, text, weights, is_statement=claim.is_statement)


def _find_absent_measure_of_claim(asks: str, claim: CriterionClaim, text: JudgedText) -> str:
    """The kind of value (money, a weight) that is asked for and that no sentence gives; empty where none is."""
    asked = load_judge_pattern("decisions", "measure_asked").match(asks)
    kinds = claim.wanted & {"money", "mass", "volume", "temperature"} if asked and not claim.values else ()
    return next((kind for kind in sorted(kinds) if not gives_kind_of_claim(kind, text)), "")


def judge_statement_claim(
    statement: str, text: JudgedText, weights: EmbeddedFeatureWeights | None = None
) -> EmbeddedDecision:
    """Whether a text says what a statement says."""
    statement = statement[:LONGEST_CRITERION]
    claim = replace(extract_claim(statement), way="statement")  # Whatever it is about, it is to be said.
    return _answer_embedded_by_words(statement, claim, text, weights, is_statement=True)


def find_correctness_claim(asks: str, claim: CriterionClaim) -> str:
    """The word with which a criterion asks whether something is said correctly; empty where it says what is correct."""
    asked = load_judge_pattern("decisions", "correctness").search(asks)
    told = claim.values or claim.quoted or load_judge_pattern("decisions", "stated_fact").search(asks)
    return asked[0] if asked and not told and "reference" not in asks.lower() else ""


def explain_unjudgeable_claim(asks: str, claim: CriterionClaim) -> str:
    """Why rules cannot answer a criterion, as they see no tone, truth or quality; empty where they may try."""
    asks = load_judge_pattern("decisions", "quality_as_noun").sub("somebody", asks)
    words, qualities = find_embedded_words(asks), load_claim_words("decisions", "qualities")
    lowered = [lower_claim_letters(word.raw) for word in words]
    is_quality = [low in qualities or low.removesuffix("ly") in qualities for low in lowered]
    named = sum(not own and is_embedded_content_word(word.raw) for word, own in zip(words, is_quality, strict=True))
    about_quality = load_judge_pattern("decisions", "about_quality").search(asks)
    if any(is_quality) and (about_quality or named < 2 or not claim.is_statement):
        return f"rules cannot weigh what is “{lowered[is_quality.index(True)]}”"
    if load_judge_pattern("decisions", "manner").search(asks):
        return "it asks how something is said"
    if any(pattern.search(asks) for pattern in load_judge_patterns("decisions", "beyond_output").values()):
        return "it depends on more than the words of the output"
    if load_judge_pattern("decisions", "all_of_something").search(asks):
        return "it speaks of all of something, and rules see single passages"
    return ""


def _abstain_as_embedded_judge(reason: str, quote: str = "") -> EmbeddedDecision:
    return EmbeddedDecision(holds=None, reason=reason, quote=quote)


def _has_claim_alternative(claim: CriterionClaim, text: JudgedText) -> bool:
    """Whether a word of any alternative, or a synonym of it, occurs."""
    stems = {word.stem for part in claim.alternatives for word in part}
    synonyms = load_embedded_synonyms()
    return any(not text.stems.isdisjoint((stem, *synonyms.get(stem, ()))) for stem in stems)


def _answer_embedded_by_absence(claim: CriterionClaim, text: JudgedText, reason: str) -> EmbeddedDecision:
    """What is asked for is nowhere in the text, which meets a criterion that asks for its absence.

    What is absent cannot be quoted.
    """
    return _limit_claim_decision(EmbeddedDecision(holds=claim.is_inverted, reason=reason), text)


def _limit_claim_decision(decision: EmbeddedDecision, text: JudgedText) -> EmbeddedDecision:
    """A decision that something is absent, or an abstention where a part of the text was not looked at."""
    if not text.is_cut:
        return decision
    looked = f"only the first {len(text.prepared):,} of {len(text.sentences):,} sentences were looked at"
    return _abstain_as_embedded_judge(f"{looked}; there, {decision.reason}", decision.quote)


def _answer_embedded_by_reference(
    asks: str, text: JudgedText, reference: JudgedText | None, weights: EmbeddedFeatureWeights | None
) -> EmbeddedDecision:
    """What the reference says on the matter takes the place of the criterion."""
    if reference is None:
        return _abstain_as_embedded_judge("no reference was given")
    seen = measure_claim_features(extract_claim(asks), reference)
    if seen is None or seen.features["here"] < 0.3:
        return _abstain_as_embedded_judge("the reference does not clearly speak of it")
    return judge_statement_claim(seen.quote, text, weights)


def _answer_embedded_by_words(
    asks: str, claim: CriterionClaim, text: JudgedText, weights: EmbeddedFeatureWeights | None, *, is_statement: bool
) -> EmbeddedDecision:
    if not claim.words and not claim.values and not claim.quoted:
        return _abstain_as_embedded_judge("it names nothing that could be looked for")
    seen = measure_claim_features(claim, text)
    if seen is None:
        return _abstain_as_embedded_judge("there are no words to look at")
    weights = weights or load_embedded_judge_weights()
    log_odds = sum(weights.features.get(name, 0.0) * value for name, value in seen.features.items())
    chance = 1 / (1 + math.exp(-log_odds))  # How likely it is, as fitted, that the claim is met.
    band = weights.choose_band(claim, seen, found=chance > 0.5)
    is_requested = seen.features["requested"] and seen.features["every_word"]
    is_repeated = claim.way == "statement" and seen.features["every_word"] and seen.features["here"] > 0.99
    has_value = seen.features.get("concept_whole") and seen.features.get("values_near") and not seen.conflicts
    if (is_repeated and not seen.features["split"]) or ((is_requested or has_value) and not seen.missing):
        band = weights.choose_band(claim, seen, found=True)
        chance = max(chance, 0.501 + band)  # In the same words, or with the same value.
    if is_statement and seen.absent and not seen.features["near"]:
        band = weights.choose_band(claim, seen, found=False)
        chance = min(chance, 0.499 - band)  # Neither the value nor a word of it.
    if abs(chance - 0.5) < band:
        return _abstain_as_embedded_judge("too close to call", seen.quote)
    in_other_words = bool(seen.features.get("concept_all"))
    if chance > 0.5 and claim.words and not seen.features["near"] and not in_other_words:
        return _abstain_as_embedded_judge("only the value is there, and none of the words around it", seen.quote)
    found, contradicted = chance > 0.5, bool(seen.conflicts) or seen.is_denied
    if not is_statement and ((seen.missing and not in_other_words) if found else not contradicted):
        return _abstain_as_embedded_judge("no passage speaks of it in these words, which shows nothing either way")
    doubt = (
        _explain_claim_doubt(asks, claim, text, seen)
        if found
        else _explain_absence_doubt_of_claim(asks, claim, text, seen)
    )
    if doubt:
        return _abstain_as_embedded_judge(doubt, seen.quote)
    percent = f"{100 * (1 - chance if claim.is_inverted else chance):.0f}%"
    shown = found or contradicted or seen.features["opposite"]  # What is absent cannot be quoted.
    decision = EmbeddedDecision(
        holds=found != claim.is_inverted,
        reason=f"{_describe_claim_evidence(claim, seen, found)} (chance of yes {percent})",
        quote=seen.quote if shown else "",
        against=not found and contradicted,
    )
    return decision if found else _limit_claim_decision(decision, text)


def _explain_claim_doubt(asks: str, claim: CriterionClaim, text: JudgedText, seen: ClaimFeatures) -> str:
    """Why a passage with the words of a claim may still not say it; empty where nothing speaks against that."""
    if seen.features["split"] and load_judge_pattern("claims", "comparison").search(asks):
        return "it compares, and the passage has its words in several places"
    if seen.features["split"] and claim.way == "statement" and len(claim.specific) <= SHORT_CLAIM:
        return "the passage has all of the words, but in several clauses"
    if load_judge_pattern("claims", "stance").match(asks):
        return "rules cannot tell whether the passage is for or against it"
    if not claim.names <= text.stems:
        return "the passage speaks of it, but not of who or what is named"
    if claim.wanted == {"name"} and seen.features["asked_absent"]:
        return "the passage speaks of it, but gives no name"
    if claim.is_asking and not is_claimed_request(seen.quote):
        return "the passage speaks of it, but asks for nothing"
    if seen.features["forbidden"]:
        return "the passage forbids something, and rules cannot tell what"
    return ""


def _explain_absence_doubt_of_claim(asks: str, claim: CriterionClaim, text: JudgedText, seen: ClaimFeatures) -> str:
    """Why what is not found, or denied, may still be there; empty where nothing speaks for that."""
    if seen.missing and is_claimed_name_spelled_otherwise(" ".join(seen.missing), text):
        return "its letters stand in the output in other pieces"
    if claim.alternatives and not seen.conflicts:
        return "it names several things, of which one may be meant here"
    if claim.way == "general" and seen.missing and not seen.conflicts and not claim.concepts:
        return "it asks for something by a general word, and rules cannot tell what stands for it"
    if any(value.bound and not value.kind for value in claim.values):
        return "it asks for a number of things, which rules cannot count"
    if seen.is_denied and not seen.missing and load_judge_pattern("claims", "mention").match(asks):
        return "it is mentioned where it is denied"
    if seen.is_denied and load_judge_pattern("claims", "lacking").search(asks):
        return "it asks for something to be lacking, and the passage denies something"
    return ""


def _describe_claim_evidence(claim: CriterionClaim, seen: ClaimFeatures, found: bool) -> str:
    """In words what weighed most."""
    if found and seen.missing and seen.features.get("concept_all"):
        return "the passage says it in other words"
    if found:
        return f"the passage says it, without “{seen.missing[0]}”" if seen.missing else "the passage says it"
    if seen.conflicts:
        asked, stands = seen.conflicts[0]
        return f"it says {stands}, where {asked} is asked for"
    if seen.is_denied:
        return "the passage affirms what should be denied" if claim.denied else "the passage denies it"
    if seen.missing or seen.absent:
        return f"not found: {', '.join((*seen.absent, *seen.missing)[:4])}"
    if seen.features["opposite"]:
        return "its opposite stands there"
    return "the words are there, but not so that they say it"
