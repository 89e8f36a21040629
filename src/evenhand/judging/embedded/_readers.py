"""Readers of values: a pattern for each way of writing one, and what it means; the more special come first."""

from __future__ import annotations

import re
from collections.abc import Callable
from fractions import Fraction

from evenhand.judging.embedded._units import DAYS, MONTHS, ONES, ORDINALS, SCALES, TENS, UNITS
from evenhand.judging.embedded._words import lowered

Amount = Fraction | tuple[int, ...]
Reading = tuple[str, Amount] | None  # A kind and an amount; None where the words mean no value after all.
MOST_DIGITS = 40  # A longer row of digits is no value that anybody compares, and slow to reckon with.


def _full_date(match: re.Match[str]) -> Reading:
    year, month, day = (int(part) for part in match.groups())
    return ("full date", (day, month, year)) if 1 <= month <= 12 and 1 <= day <= 31 else None


def _date(match: re.Match[str]) -> Reading:
    given = match.groupdict()
    month, day = MONTHS[lowered(given["month"])], int(given["day"])
    if not 1 <= day <= 31:
        return None
    return ("full date", (day, month, int(given["year"]))) if given.get("year") else ("date", (day, month))


def _numeric_date(match: re.Match[str]) -> Reading:
    day, month, year = (int(part) for part in match.groups(default="0"))
    if not (1 <= day <= 31 and 1 <= month <= 12):
        return None
    return ("full date", (day, month, year if year > 99 else 2000 + year)) if year else ("date", (day, month))


def _pair(match: re.Match[str]) -> Reading:
    first, second = _amount(match[1]), _amount(match[2])
    return ("pair", (int(first), int(second))) if first is not None and second is not None else None


def _month(match: re.Match[str]) -> Reading:
    # "May" and "March" are also words: in lower case they are no months.
    return ("month", Fraction(MONTHS[lowered(match[0])])) if match[0][0].isupper() else None


def _weekday(match: re.Match[str]) -> Reading:
    return "weekday", Fraction(DAYS[lowered(match[1])])


def _clock(match: re.Match[str]) -> Reading:
    hour, minute = int(match[1]), int(match[2] or 0)
    half = (match[3] or "").lower().replace(".", "")
    if hour > 24 or minute > 59 or (not half and match[2] is None):
        return None
    return "clock", Fraction((hour % 12 + 12 if half == "pm" else hour % 12 if half == "am" else hour) * 60 + minute)


def _version(match: re.Match[str]) -> Reading:
    parts = match[1].split(".")
    return None if max(map(len, parts)) > MOST_DIGITS else ("version", tuple(map(int, parts)))


def _ordinal(match: re.Match[str]) -> Reading:
    word = lowered(match[1])
    if word in ORDINALS:
        return "ordinal", Fraction(ORDINALS[word])
    return ("ordinal", Fraction(int(word[:-2]))) if len(word) <= MOST_DIGITS else None


def _quantity(match: re.Match[str]) -> Reading:
    amount = _amount(match["number"])
    if amount is None or (lowered(match["number"]) in ("one", "half a", "half an") and not match["unit"]):
        return None  # "One" alone is more often a pronoun.
    for scale in lowered(match["scale"]).split():
        amount *= SCALES[scale]
    if match["sign"] and lowered(match["unit"] or "") == "m":
        amount *= 10**6
    unit = lowered(match["sign"] or match["unit"] or "").split()
    kind, size = UNITS[unit[-1]] if unit else ("", Fraction(1))
    return kind, amount * size


def _amount(text: str) -> Fraction | None:
    low = lowered(text)
    if low[0].isdigit():
        # A comma before three digits groups thousands; any other comma is a decimal point.
        plain = re.sub(r",(?=\d{3}(?:\D|$))", "", low).replace(",", ".")
        return Fraction(plain) if plain.count(".") <= 1 and len(plain) <= MOST_DIGITS else None
    if "dozen" in low:
        return Fraction(12)
    if low.startswith("half"):
        return Fraction(1, 2)
    return Fraction(sum(TENS.get(word, ONES.get(word, 0)) for word in re.split(r"[-\s]", low)))


def _either(names: dict[str, int]) -> str:
    """A pattern for any of these names, the longest first."""
    return "|".join(re.escape(name) for name in sorted(names, key=len, reverse=True))


_MONTH = _either(MONTHS)
_WORDS = _either(ONES | TENS)
# Digits with their points and commas, or number words up to "ninety-nine".
_NUMBER = rf"(?:\d+(?:[.,]\d+)*|\b(?:{_WORDS}|a dozen|dozen|half a|half an)\b(?:[-\s](?:{'|'.join(ONES)})\b)?)"
# A lone "s" after a number is rather a plural ("the 1990s") than seconds.
_UNIT = "|".join(re.escape(unit) for unit in sorted(UNITS, key=len, reverse=True) if unit != "s")
_DAY = r"(?P<day>\d{1,2})(?:st|nd|rd|th)?"
_YEAR = r"(?:,? (?P<year>\d{4})\b)?"
_SOURCES: tuple[tuple[str, Callable[[re.Match[str]], Reading]], ...] = (
    (r"\b(\d{4})-(\d\d)-(\d\d)\b", _full_date),
    (rf"\b{_DAY}(?: of)? (?P<month>{_MONTH})\b\.?{_YEAR}", _date),
    (rf"\b(?P<month>{_MONTH})\.? {_DAY}\b{_YEAR}", _date),
    (r"(?<![\d/])(\d{1,2})/(\d{1,2})(?:/(\d{4}|\d\d))?(?![\d/])", _numeric_date),
    (r"(?<![\d.,-])(\d{1,3})[-–](\d{1,3})(?![\d.,]|[-–]\d)", _pair),  # A range or a result: 3–1.
    (rf"(?<!from )(?<![\d.,-])\b(\d{{1,3}}|{_WORDS}) to (\d{{1,3}}|{_WORDS})\b(?![.,]\d|[-–])", _pair),  # Not a rise.
    (rf"\b(?:{_MONTH})\b", _month),
    (rf"\b({'|'.join(DAYS)})s?\b", _weekday),
    (r"\b(\d{1,2})(?:[:.](\d\d))?\s?(am|pm|a\.m\.|p\.m\.)", _clock),
    (r"\b(\d{1,2}):(\d\d)()\b", _clock),
    (r"\bv?(\d+\.\d+\.\d+(?:\.\d+)*)\b", _version),
    (rf"\b({'|'.join(ORDINALS)}|\d+(?:st|nd|rd|th))\b", _ordinal),
    (
        # A sign of money, a number, words like "million", and a unit: each but the number may be missing.
        rf"(?P<sign>[€$£])?\s?(?P<number>{_NUMBER})[\s-]?(?P<scale>(?:(?:{'|'.join(SCALES)})\b\s?)*)"
        rf"(?P<unit>(?:(?:working|business|calendar|full)\s)?(?:{_UNIT})(?![^\W\d_]))?",
        _quantity,
    ),
)
READERS = tuple((re.compile(source, re.IGNORECASE), read) for source, read in _SOURCES)
