"""The decision on one yes/no criterion: by form, by what rules cannot see, or by the weighed evidence of the
words.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources

from evenhand.judging.embedded._claim import Claim, claim_of, speaks_of_saying
from evenhand.judging.embedded._features import Seen, look
from evenhand.judging.embedded._forms import foreign
from evenhand.judging.embedded._kin import ALIKE
from evenhand.judging.embedded._shapes import shape, speaks_of_form
from evenhand.judging.embedded._text import Text
from evenhand.judging.embedded._unseeable import unseeable


@dataclass(frozen=True, slots=True, kw_only=True)
class Weights:
    """What fitting found: a weight for each feature, and how far from even a chance must be to count."""

    features: Mapping[str, float]
    band: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Yes, no, or None where it cannot be told; why, and the sentence it rests on."""

    holds: bool | None
    reason: str
    quote: str = ""
    against: bool = False  # The text does not only leave it out: it says otherwise.


LONGEST = 1000  # Characters of a criterion that are read; taking a longer one apart would take too long.


@lru_cache(maxsize=2)
def weights(with_vectors: bool) -> Weights:
    """The shipped weights; those for word vectors differ from those without."""
    file = resources.files("evenhand") / "library" / "embedded.json"
    part = json.loads(file.read_text("utf-8"))["vectors" if with_vectors else "rules"]
    return Weights(features=part["weights"], band=part["band"])


def decide(asks: str, text: Text, reference: Text | None = None, fitted: Weights | None = None) -> Decision:
    """Whether a criterion holds for a text, by the shipped weights or by others."""
    fitted, asks = fitted or weights(text.vectors is not None), asks[:LONGEST]
    form = shape(asks, text)
    if form is not None:
        return Decision(holds=form.holds, reason=form.reason, quote=form.quote or _first(text))
    if speaks_of_form(asks):
        return Decision(holds=None, reason="it asks for a form that rules cannot measure here")
    if "reference" in asks.lower():
        return _by_reference(asks, text, reference, fitted)
    language = foreign(text.text)
    if language and language != foreign(asks) and not (language == "chinese" and _HAN.search(asks)):
        return Decision(holds=None, reason=f"the output reads as {language.capitalize()}, the criterion does not")
    claim, said = claim_of(asks), speaks_of_saying(asks)
    if said and claim.either and not _any_occurs(claim, text):
        named = ", ".join(" ".join(word.raw for word in part) for part in claim.either)
        decision = Decision(holds=claim.inverted, reason=f"none of these occurs in it: {named}", quote=_first(text))
        return _unless_cut(decision, text)
    blind = unseeable(asks)
    if blind:
        return Decision(holds=None, reason=blind)
    absent = next((quote for quote in claim.quoted if not text.has(quote)), "") if said else ""
    if absent:
        return _unless_cut(
            Decision(holds=claim.inverted, reason=f"“{absent}” does not occur in it", quote=_first(text)), text
        )
    return _by_words(claim, text, fitted, said=said)


_HAN = re.compile(r"[\u4e00-\u9fff]")


def entailed(statement: str, text: Text, fitted: Weights | None = None) -> Decision:
    """Whether a text says what a statement says."""
    return _by_words(claim_of(statement[:LONGEST]), text, fitted or weights(text.vectors is not None), said=True)


def chance(seen: Seen, weights: Weights) -> float:
    """How likely it is, as fitted, that the claim is met."""
    log_odds = sum(weights.features.get(name, 0.0) * value for name, value in seen.features.items())
    return 1 / (1 + math.exp(-log_odds))


def _any_occurs(claim: Claim, text: Text) -> bool:
    """Whether a word of any alternative, or one of like meaning, occurs."""
    words = {kin for part in claim.either for word in part for kin in (word.stem, *ALIKE.get(word.stem, ()))}
    return not text.stems.isdisjoint(words)


def _by_reference(asks: str, text: Text, reference: Text | None, fitted: Weights) -> Decision:
    """What the reference says on the matter takes the place of the criterion."""
    if reference is None:
        return Decision(holds=None, reason="no reference was given")
    seen = look(claim_of(asks), reference)
    if seen is None or seen.features["here"] < 0.3:
        return Decision(holds=None, reason="the reference does not clearly speak of it")
    return entailed(seen.line.sentence.text, text, fitted)


def _by_words(claim: Claim, text: Text, fitted: Weights, *, said: bool) -> Decision:
    if not claim.words and not claim.values and not claim.quoted:
        return Decision(holds=None, reason="it names nothing that could be looked for")
    seen = look(claim, text)
    if seen is None:
        return Decision(holds=None, reason="there are no words to look at")
    likely = chance(seen, fitted)
    quote = seen.line.sentence.text
    if abs(likely - 0.5) < fitted.band:
        return Decision(holds=None, reason="too close to call", quote=quote)
    found = likely > 0.5
    plain = not seen.missing if found else _contradicted(seen)
    if not said and not plain:
        return Decision(holds=None, reason="no passage speaks of it in these words, which shows nothing either way")
    if not found and claim.either and not seen.conflicts:
        return Decision(holds=None, reason="it names several things, of which one may be meant here", quote=quote)
    if not found and any(value.bound and not value.kind for value in claim.values):
        return Decision(holds=None, reason="it asks for a number of things, which rules cannot count", quote=quote)
    decision = Decision(
        holds=found != claim.inverted,
        reason=f"{_told(claim, seen, found)} (chance of yes {_percent(likely, claim)})",
        quote=quote,
        against=not found and _contradicted(seen),
    )
    return decision if found else _unless_cut(decision, text)


def _unless_cut(decision: Decision, text: Text) -> Decision:
    """What was not found may stand where nobody looked."""
    if not text.cut:
        return decision
    looked = f"only the first {len(text.lines):,} of {len(text.sentences):,} sentences were looked at"
    return Decision(holds=None, reason=f"{looked}; there, {decision.reason}", quote=decision.quote)


def _contradicted(seen: Seen) -> bool:
    return bool(seen.conflicts) or bool(seen.features["against"] and seen.features["here"] >= 0.5)


def _told(claim: Claim, seen: Seen, found: bool) -> str:
    """In words what weighed most."""
    if found:
        return "the passage says it" if not seen.missing else f"the passage says it, without “{seen.missing[0]}”"
    if seen.conflicts:
        asked, stands = seen.conflicts[0]
        return f"it says {stands}, where {asked} is asked for"
    if seen.features["against"] and seen.features["here"] >= 0.5:
        return "the passage affirms what should be denied" if claim.denied else "the passage denies it"
    if seen.missing or seen.absent:
        return f"not found: {', '.join((*seen.absent, *seen.missing)[:4])}"
    if seen.features["opposite"]:
        return "its opposite stands there"
    return "the words are there, but not so that they say it"


def _percent(likely: float, claim: Claim) -> str:
    return f"{100 * (1 - likely if claim.inverted else likely):.0f} %"


def _first(text: Text) -> str:
    """The first sentence that can be quoted; of a text without one, all of it."""
    return next(
        (line.sentence.text for line in text.lines if sum(map(str.isalnum, line.sentence.text)) > 2), text.text.strip()
    )
