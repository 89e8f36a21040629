"""Limits such as "at most 100 words", read out of a criterion and held against a count."""

from __future__ import annotations

import re

from evenhand.judging.embedded._forms import COUNTABLE, Countable
from evenhand.judging.embedded._words import lowered

_NUMBERS = {
    "a": 1, "an": 1, "one": 1, "two": 2, "three": 3, "four": 4, "five": 5, "six": 6, "seven": 7, "eight": 8, "nine": 9,
    "ten": 10, "twelve": 12, "fifteen": 15, "twenty": 20, "thirty": 30, "forty": 40, "fifty": 50, "hundred": 100,
}  # fmt: skip
_LOW = r"at least|no (?:fewer|less) than|a minimum of|minimum|not (?:fewer|less) than"
_HIGH = (
    r"at most|no more than|not more than|up to|a maximum of|maximum(?: of)?|no longer than|not longer than|"
    r"not exceed(?:ing)?|within"
)
_LESS = r"fewer than|less than|under|below|shorter than"
_MORE = r"more than|over|above|longer than|exceeds?"
# How the limit is meant, a number or two, what is counted, and "or more": "no fewer than 3 to 5 short sentences".
_LIMIT = re.compile(
    rf"(?:\b(?P<how>{_LOW}|{_HIGH}|{_LESS}|{_MORE}|exactly|precisely|only|just|between)\s+)?"
    rf"\b(?P<n>\d{{1,3}}(?:,\d{{3}}){{1,2}}|\d{{1,9}}|{'|'.join(sorted(_NUMBERS, key=len, reverse=True))})"
    r"(?:\s*(?:and|to|-|–)\s*(?P<m>\d{1,9}|two|three|four|five|six|seven|eight|nine|ten))?[\s-]+"
    r"(?:short |full |complete |separate |single |numbered |different )?"
    rf"(?P<what>{'|'.join(f'(?:{one.names})' for one in COUNTABLE)})\b(?:\s+(?P<after>or (?:fewer|less|more)))?",
    re.IGNORECASE,
)


class Limit:
    """How many of something a criterion asks for, and where it says so."""

    def __init__(self, found: re.Match[str]) -> None:
        self.span = found.span()
        self.what = lowered(found["what"])
        self._how, self._after = lowered(found["how"] or ""), lowered(found["after"] or "")
        self._any = lowered(found["n"]) in ("a", "an") and not self._how and not self._after
        self._least = _number(found["n"])
        self._most = _number(found["m"]) if found["m"] else self._least

    @property
    def countable(self) -> Countable:
        """What is to be counted."""
        return next(one for one in COUNTABLE if re.fullmatch(one.names, self.what))

    def allows(self, number: int) -> bool:
        """Whether so many are within it."""
        if re.fullmatch(_LOW, self._how) or self._after == "or more" or self._any:
            return number >= self._least
        if re.fullmatch(_HIGH, self._how) or self._after:
            return number <= self._most
        if re.fullmatch(_LESS, self._how):
            return number < self._least
        if re.fullmatch(_MORE, self._how):
            return number > self._most
        return self._least <= number <= self._most


def limit_of(asks: str) -> Limit | None:
    """The first limit in a criterion; None where there is none."""
    found = _LIMIT.search(asks)
    return Limit(found) if found else None


def _number(word: str) -> int:
    bare = word.replace(",", "")
    return int(bare) if bare.isdigit() else _NUMBERS[lowered(word)]
