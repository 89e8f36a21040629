"""What an output shows for a claim: how much of it is said, where, and what speaks against it."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass

from evenhand.judging.embedded._claim import Claim
from evenhand.judging.embedded._denials import denied
from evenhand.judging.embedded._kin import ALIKE, OPPOSITE
from evenhand.judging.embedded._text import Line, Text
from evenhand.judging.embedded._values import Value

MATCHED = 0.75  # From this strength on, a word counts as found.
_REASON = re.compile(
    r"\b(?:because|since|due to|owing to|caused?|as a result|reason|so that|thanks to|led to|so)\b|因为|由于",
    re.IGNORECASE,
)
_MONEY = ("eur", "usd", "gbp", "cent")
_TIMES = ("time", "clock", "date", "full date", "weekday", "month")


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """What was seen for a claim, in numbers, and the sentence that shows most of it."""

    features: dict[str, float]
    line: Line
    missing: tuple[str, ...]  # Words of the claim that are found nowhere near.
    absent: tuple[str, ...]  # Values of the claim that are found nowhere.
    conflicts: tuple[tuple[str, str], ...]  # A value of the claim, and the one that stands in its place.


def look(claim: Claim, text: Text) -> Seen | None:
    """Hold a claim against a text; None where the text has no words."""
    if not text.lines:
        return None
    match = _Match(claim, text)
    at = max(range(len(text.lines)), key=lambda place: (match.worth(text.lines[place]), -place))
    line, near = text.lines[at], text.around(at)
    said = _said(match, line, near)
    features = {
        "bias": 1.0,
        **said,
        **_opposed(claim, line, said),
        **_valued(claim, text, line, near),
        **_named(claim, text, near),
        **_wanted(claim, line, near),
        **_likened(claim, text),
        "question": float(line.sentence.text.endswith(("?", "？")) and not claim.asking),
    }
    stems = _stems(near)
    missing = tuple(word.raw for word in claim.words if match.strength(word.stem, stems) < MATCHED)
    features["every_word"] = float(not missing and not any(features.get(name) for name in _AGAINST))
    return Seen(
        features=features,
        line=line,
        missing=missing,
        absent=tuple(value.raw for value in claim.values if not _stands_in(value, text.values)),
        conflicts=tuple(_conflicts(claim, line, near)),
    )


# Each of these speaks against a claim of which every word is there.
_AGAINST = ("against", "opposite", "values_absent", "values_differ", "quote_absent", "question", "asked_absent")


class _Match:
    """How strongly the words of a claim are found in parts of a text."""

    def __init__(self, claim: Claim, text: Text) -> None:
        self.claim = claim
        self.text = text
        self.weights = {
            word.stem: text.rarity(word.stem) * (1.4 if word.stem in claim.names else 1.0) for word in claim.words
        }

    def strength(self, stem: str, stems: frozenset[str]) -> float:
        """How surely a stem is among others: itself, a longer or shorter form of it, or one of like meaning."""
        if stem in stems:
            return 1.0
        if len(stem) > 4 and any(
            len(other) > 4 and other[:5] == stem[:5] and abs(len(other) - len(stem)) <= 4 for other in stems
        ):
            return 0.8
        return 0.75 if not stems.isdisjoint(ALIKE.get(stem, ())) else 0.0

    def coverage(self, stems: frozenset[str], of: frozenset[str] | None = None) -> float:
        """The share of the claim's words, or of some of them, that these stems cover."""
        asked = {stem: weight for stem, weight in self.weights.items() if of is None or stem in of}
        whole = sum(asked.values())
        return sum(weight * self.strength(stem, stems) for stem, weight in asked.items()) / whole if whole else 0.0

    def worth(self, line: Line) -> float:
        """What decides which sentence is looked at: words first, values beside them."""
        met = sum(_stands_in(value, line.values) for value in self.claim.values)
        return round(self.coverage(line.stems) + 0.3 * met, 9)


def _said(match: _Match, line: Line, near: list[Line]) -> dict[str, float]:
    claim, text = match.claim, match.text
    here = match.coverage(line.stems)
    two = max((match.coverage(line.stems | other.stems) for other in near), default=here)
    parts = [max(match.coverage(one.stems, part) for one in text.lines) for part in claim.parts]
    weakest = min((match.strength(word.stem, _stems(near)) for word in claim.words), default=0.0)
    return {
        "here": here,
        "near": two,
        "anywhere": match.coverage(text.stems),
        "weakest": weakest,
        "weakest_part": min(parts, default=here),
        "parts": float(bool(parts)),
        "few": float(len(claim.words) <= 2),
    }


def _opposed(claim: Claim, line: Line, said: dict[str, float]) -> dict[str, float]:
    met = {word.stem: other for word in claim.words if (other := _met(word.stem, line.stems))}
    told = denied(line.sentence.text, line.words)
    differ = [stem for stem, other in met.items() if (stem in claim.denied) != (other in told)]
    against = bool(differ) and 3 * len(differ) >= len(met) and not claim.open
    opposite = any(
        word.stem not in line.stems and not line.stems.isdisjoint(OPPOSITE.get(word.stem, ())) for word in claim.words
    )
    return {
        "against": float(against),
        "against_here": against * said["here"],
        "differ": len(differ) / len(met) if met and not claim.open else 0.0,
        "both_deny": float(any(stem in claim.denied and other in told for stem, other in met.items())),
        "for_near": (not against) * said["near"] ** 3,
        "opposite": float(opposite),
    }


def _met(stem: str, stems: frozenset[str]) -> str:
    """The stem itself, or one of like meaning, as far as it is among these."""
    return next((one for one in (stem, *sorted(ALIKE.get(stem, ()))) if one in stems), "")


def _valued(claim: Claim, text: Text, line: Line, near: list[Line]) -> dict[str, float]:
    if not claim.values:
        return {}
    values = _values(near)
    absent = sum(not _stands_in(value, text.values) for value in claim.values)
    return {
        "values": 1.0,
        "values_absent": absent / len(claim.values),
        "values_near": float(all(_stands_in(value, values) for value in claim.values)),
        "values_differ": float(any(_conflicts(claim, line, near))),
    }


def _named(claim: Claim, text: Text, near: list[Line]) -> dict[str, float]:
    quoted = [text.has(quote) for quote in claim.quoted]
    return {
        "name_absent": float(not claim.names <= text.stems),
        "names_near": float(bool(claim.names) and claim.names <= _stems(near)),
        "quote_absent": float(not all(quoted)),
    }


def _wanted(claim: Claim, line: Line, near: list[Line]) -> dict[str, float]:
    given = [_gives(kind, line, _values(near)) for kind in claim.wanted]
    return {"asked_given": float(bool(given) and all(given)), "asked_absent": float(not all(given))}


def _likened(claim: Claim, text: Text) -> dict[str, float]:
    one, two = text.likeness(" ".join(word.raw for word in claim.words))
    return {"likeness": one, "likeness_of_two": two}


def _gives(kind: str, line: Line, values: list[Value]) -> bool:
    if kind == "name":
        return any(word.raw[0].isupper() for word in line.words[1:])
    if kind == "reason":
        return bool(_REASON.search(line.sentence.text))
    if kind == "money":
        return any(value.kind in _MONEY for value in values)
    return any(kind == "count" or value.kind in _TIMES or value.year for value in values)


def _conflicts(claim: Claim, line: Line, near: list[Line]) -> list[tuple[str, str]]:
    """Values of the claim in whose place another stands: in the sentence itself, or else beside it."""
    found = []
    for value in claim.values:
        values = line.values if any(map(value.alike, line.values)) else _values(near)
        # What the claim names elsewhere stands in its own place, not in this one's.
        other = next((one for one in values if value.alike(one) and not _stands_in(one, claim.values)), None)
        if other is not None and not _stands_in(value, values):
            found.append((value.raw, other.raw))
    return found


def _stands_in(value: Value, values: Iterable[Value]) -> bool:
    return any(value.same(other) for other in values)


def _values(lines: list[Line]) -> list[Value]:
    return [value for line in lines for value in line.values]


def _stems(lines: list[Line]) -> frozenset[str]:
    return frozenset(stem for line in lines for stem in line.stems)
