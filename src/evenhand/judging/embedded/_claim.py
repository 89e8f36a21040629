"""A criterion taken apart: what must be found in an output for it to be met, and what must not."""

from __future__ import annotations

import re
from dataclasses import dataclass
from itertools import pairwise

from evenhand.judging.embedded._denials import denied
from evenhand.judging.embedded._values import Value, values_of
from evenhand.judging.embedded._words import EMPTY, Word, words_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Claim:
    """What a criterion claims of an output."""

    words: tuple[Word, ...]  # Those that carry content, each stem once.
    values: tuple[Value, ...]
    quoted: tuple[str, ...]
    names: frozenset[str]  # Stems of words written with a capital inside the sentence.
    parts: tuple[frozenset[str], ...]  # Stems of each thing asked for, where there are several.
    wanted: frozenset[str]  # What is asked for without being said: money, count, time, name, reason.
    inverted: bool  # It is met where the rest is not found.
    denied: frozenset[str]  # Stems of what is to be found denied.
    asking: bool  # It wants something to be asked: a question is then no doubt.
    open: bool  # It asks what, how or why: a denial may be the very answer.
    either: tuple[tuple[Word, ...], ...] = ()  # The words of each of the things of which one is enough.


def claim_of(asks: str) -> Claim:
    """Take a criterion apart."""
    inversion = _inversion(asks)
    rest = _blanked(asks, inversion.span()) if inversion else _unframed(asks)
    values = values_of(rest)
    content = _content(rest, values)
    return Claim(
        words=tuple(content.values()),
        values=tuple(values),
        quoted=tuple(next(filter(None, groups)) for groups in _QUOTED.findall(rest)),
        names=frozenset(word.stem for word in content.values() if word.raw[0].isupper() and word.start > 0),
        parts=_parts(rest, content),
        wanted=frozenset(kind for kind, pattern in _WANTED.items() if pattern.search(rest)),
        either=_alternatives(rest),
        inverted=inversion is not None,
        asking=bool(_ASKING.search(asks, 0, 60)),
        open=bool(_OPEN.match(rest)),
        denied=denied(rest, words_of(rest)),
    )


_ASKING = re.compile(r"\b(?:asks?|requests?|enquires?|inquires?|invites?)\b", re.IGNORECASE)
_OPEN = re.compile(
    r"\W*(?:what|how|why|when|who|whom|which|where|whether|"
    r"(?:the|an?|its) (?:\w+ )?(?:reasons?|causes?|explanation|difference))\b",
    re.IGNORECASE,
)


def speaks_of_saying(asks: str) -> bool:
    """Whether a criterion asks for something to be said: then its absence can be seen in the words."""
    return bool(_FRAME.match(asks)) or _inversion(asks) is not None


def _inversion(asks: str) -> re.Match[str] | None:
    return next((found for pattern in _INVERTED if (found := pattern.search(asks))), None)


_SAYING = (
    r"(?:mention|say|claim|state|recommend|promis|includ|contain|us|giv|suggest|advis|tell|ask|refer|offer|reveal|disclos|"
    r"blam|describ|assum|quot|repeat|impl|assert|encourag|instruct|guess|speculat|list|nam|commit|pressur|rely|link|call|"
    r"present)\w*"
)
_WORD = r"(?:[\w’']+[^\w’']+)"  # With what parts it from the next.
# The ways in which a criterion asks for something to be absent.
_INVERTED = tuple(
    re.compile(source, re.IGNORECASE)
    for source in (
        r"\b(?:avoid(?:s|ed|ing)?|refrain(?:s|ed|ing)? from|omit(?:s|ted)?|leaves? out|steers? clear of|"
        r"free (?:of|from))\b",
        # "The reply does not mention", "It never openly says", "Doesn't recommend": a denial after a few words at most.
        rf"^[^\w’']*(?:{_WORD}{{0,5}}?['’]*\b(?:not|never)|{_WORD}{{0,4}}?[\w’']*n['’]t)\b\s+(?:\w+ly\s)?{_SAYING}",
        rf"\bwithout\s+{_SAYING}ing\b",
        r"\b(?:makes?|contains?|includes?|gives?|offers?|has|have|uses?) no\b",
        r"^\W*no\b",
    )
)


def _unframed(asks: str) -> str:
    """A criterion without the words before what it is about, where enough is left."""
    frame = _FRAME.match(asks)
    return _blanked(asks, frame.span()) if frame and len(words_of(asks[frame.end() :])) >= 2 else asks


# The words before what a criterion is about: "Does the reply say that", "The summary must mention".
_FRAME = re.compile(
    r"^\W*(?:(?:does|do|did|is|are|has|have|was|were|will|must|should)\s+)?(?:(?:the|this|that|it|they|an?)\b\s*)?"
    r"(?:[\w’'-]+\s+){0,4}?"
    r"(?:says?|states?|stating|mentions?|mentioned|names?|named|explains?|tells?|gives?|notes?|reports?|describes?|"
    r"identif(?:y|ies)|claims?|warns?|points? out|makes? clear|includes?|lists?|specif(?:y|ies)|confirms?|advises?|"
    r"recommends?|suggests?|cites?|contains?|provides?|acknowledges?|announces?|instructs?|asks?|shows?|indicates?|adds?|"
    r"offers?)\b"
    r"(?:\s+(?:that|both|clearly|explicitly|correctly|at least|the fact that|"
    r"(?:the|its|a|an) (?:customer|user|reader|student|patient|visitor|caller|client|team|parents?)s?(?: that| to)?))*",
    re.IGNORECASE,
)


def _blanked(text: str, span: tuple[int, int]) -> str:
    """The text with a part made blank, so that all else keeps its place."""
    start, end = span
    return text[:start] + " " * (end - start) + text[end:]


def _content(text: str, values: list[Value]) -> dict[str, Word]:
    """The words that carry content and are no part of a value, by stem."""
    valued = bytearray(len(text))
    for value in values:
        valued[value.start : value.end] = b"\1" * (value.end - value.start)
    content: dict[str, Word] = {}
    for word in words_of(text):
        if not valued[word.start] and word.stem not in EMPTY and (len(word.stem) > 1 or not word.raw.isascii()):
            content.setdefault(word.stem, word)
    return content


# What stands in quotation marks of any kind, or in backticks; single marks only around whole words.
_QUOTED = re.compile(
    r"[\"“”«»「」]([^\"“”«»「」]{1,80})[\"“”«»「」]|`([^`]{1,80})`|(?<!\w)['‘]([^'‘’]{2,80})['’](?!\w)"
)
# What a question asks for without saying it: a kind of value, a name, a reason.
_WANTED = {
    kind: re.compile(source, re.IGNORECASE)
    for kind, source in {
        "money": r"\bhow much\b(?! (?:time|water|of))|\b(?:price|cost|fee|fare|amount|salary|budget|charge)s?\b",
        "count": r"\bhow many\b|\bthe (?:number|size|figure|percentage|share|temperature|amount|score|dose|dosage|"
        r"length|height|weight)\b",
        "time": r"\bwhen\b|\bhow (?:long|often|soon|old)\b|"
        r"\b(?:the|a|an|new|exact) (?:\w+ )?(?:date|deadline|time|duration|day|year)\b",
        "name": r"\bwho\b|\bthe (?:full )?names? of\b",
        "reason": r"\bwhy\b|\b(?:reason|cause|explanation)s?\b",
    }.items()
}


def _parts(text: str, content: dict[str, Word]) -> tuple[frozenset[str], ...]:
    ends = [0, *(match.end() for match in _AND.finditer(text)), len(text) + 1]
    parts = [
        frozenset(stem for stem, word in content.items() if start <= word.start < end) for start, end in pairwise(ends)
    ]
    kept = tuple(part for part in parts if part)
    return kept if len(kept) > 1 else ()


_AND = re.compile(
    r",\s*(?:and|as well as)?\s+|\b(?:and|as well as|plus|along with|but also)\b|[、和及]",
    re.IGNORECASE,
)


def _alternatives(text: str) -> tuple[tuple[Word, ...], ...]:
    """The things in "asks for a password, a card number or a code": each by its own words."""
    listed = _EITHER.search(text) if _OR.search(text) else None
    if listed is None:
        return ()
    first, *others = re.split(r",\s*(?:or\s+)?|\s+or\s+", listed.group())
    first = re.split(r"\b(?:an?|the|any|his|her|their|its)\s+", first)[-1]
    parts = [tuple(word for word in words_of(part)[-3:] if word.stem not in EMPTY) for part in (first, *others)]
    return tuple(part for part in parts if part)


_OR = re.compile(r"\sor\s")
# Ends before a clause: what it says belongs to the last thing or to all of them.
_EITHER = re.compile(
    r"[^,.;?]+(?:,[^,.;?]+)*?,?\s+or\s+(?:(?!\b(?:that|which|who|to|before|after|when|in|for|with|as|and)\b)[^,.;?])+"
)
