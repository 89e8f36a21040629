"""Bank accounts (IBAN): a country, the length that the country uses, and right check digits (ISO 13616)."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache

# The IBAN registry of SWIFT, as a length with its countries.
_COUNTRIES = {
    15: "NO",
    16: "BE",
    18: "DK FI FK FO GL NL SD",
    19: "MK SI",
    20: "AT BA EE KZ LT LU MN XK",
    21: "CH HR LI LV",
    22: "BG BH CR DE GB GE IE ME RS VA",
    23: "AE GI IL IQ OM SO TL",
    24: "AD CZ ES MD PK RO SA SE SK TN VG",
    25: "LY PT ST",
    26: "IS TR",
    27: "BI DJ FR GR IT MC MR SM",
    28: "AL AZ BY CY DO GT HN HU LB NI PL SV",
    29: "BR EG PS QA UA",
    30: "JO KW MU YE",
    31: "MT SC",
    32: "LC",
    33: "RU",
}
_LENGTHS = {country: length for length, countries in _COUNTRIES.items() for country in countries.split()}
# Digits are rare: beginning with one, the search runs over the letters of a text at full speed.
_START = re.compile(r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![A-Za-z0-9_][A-Za-z]{2}[0-9])[0-9]")


def ibans(text: str) -> Iterator[tuple[int, int]]:
    """Where each number of a bank account stands."""
    last = 0
    for found in _START.finditer(text):
        start = found.start() - 2
        length = _LENGTHS.get(text[start : start + 2].upper())
        whole = _of_length(length).match(text, start) if length and start >= last else None
        if whole and _has_right_check_digits(re.sub("[ -]", "", whole[0])):
            yield whole.span()
            last = whole.end()


@cache
def _of_length(length: int) -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z0-9](?:[ -]{{0,3}}[A-Za-z0-9]){{{length - 1}}}(?![A-Za-z0-9_])")


def _has_right_check_digits(number: str) -> bool:
    moved = number[4:] + number[:4]
    return int("".join(str(int(character, 36)) for character in moved)) % 97 == 1
