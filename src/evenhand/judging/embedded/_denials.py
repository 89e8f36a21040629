"""Denials: where a text says that something is not so."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from evenhand.judging.embedded._words import Word

_DENIAL = re.compile(
    r"^\s*against\b|\b(?:not|no|never|none|nothing|nobody|neither|without|cannot|can't|hardly|barely|un(?:able|likely|changed)|"
    r"fail(?:s|ed)? to|refus\w+|lack(?:s|ed|ing)?|except|excluded?|excludes|separately|"
    r"free of|myth|untrue|false|misconception|misunderstanding|den(?:y|ies|ied)|rejects?|rejected|avoid\w*|"
    r"stop(?:s|ped)?|far from|no longer|(?:advis|warn|recommend|caution|decid)\w* against)\b|"
    r"n['’]t\b|[不没無无未非别勿]",
    re.IGNORECASE,
)
# Those that deny only what comes after them.
_FORWARD = re.compile(
    r"\s*against\b|no\b|nobody|nothing|none|neither|without|never|lack|free of|fail|refus|reject|den[iy]", re.IGNORECASE
)
# A clause: what stands between commas and the like, or before "and" and "but".
_CLAUSE = re.compile(r"(?:(?!\b(?:and|but|while|although|whereas)\b)[^,;:—–])+", re.IGNORECASE)
# "No more than five" denies nothing.
_HARMLESS = re.compile(
    r"\b(?:not|no) (?:more|less|fewer|later|earlier|longer|older|only|just|exceed\w*|including|counting)\b|"
    r"\bno (?:extra |additional |further )?(?:cost|charge|fee)s?\b|\bfree of charge\b|"
    r"\bno\. ?\d|\bif not\b|\bnot even\b|\bwhether or not\b|\bno matter\b|\bno doubt\b",
    re.IGNORECASE,
)


def denied(text: str, words: Sequence[Word]) -> frozenset[str]:
    """Stems of the words that a text denies: each time they occur, an odd number of denials reaches them."""
    reached = [0] * len(words)
    for place in _reached(text, words):
        reached[place] += 1
    odd: dict[str, bool] = {}
    for word, times in zip(words, reached, strict=True):
        odd[word.stem] = odd.get(word.stem, True) and times % 2 == 1
    return frozenset(stem for stem, is_odd in odd.items() if is_odd)


def _reached(text: str, words: Sequence[Word]) -> Iterator[int]:
    """The places of words that denials reach within their clauses, once for each denial."""
    cues = _cues(text)
    clauses = [match.span() for match in _CLAUSE.finditer(text)] if cues else []
    for cue in cues:
        start, end = next((span for span in clauses if span[0] <= cue < span[1]), (0, len(text)))
        before = [place for place, word in enumerate(words) if start <= word.start and word.end <= cue]
        after = [place for place, word in enumerate(words) if cue < word.start < end]
        yield from () if _FORWARD.match(text, cue) else before[-BEFORE:]
        yield from after[:AFTER]


def _cues(text: str) -> list[int]:
    harmless = [match.span() for match in _HARMLESS.finditer(text)]
    found = (match.start() for match in _DENIAL.finditer(text))
    return [at for at in found if not any(start <= at < end for start, end in harmless)]


BEFORE, AFTER = 3, 5  # Words that a denial reaches: "parcels are not sent", "no parcel is sent".
