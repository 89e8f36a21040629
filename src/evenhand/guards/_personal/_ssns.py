"""US social security numbers: their form without the ranges never issued, and without form only where words say so."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evenhand.guards._personal._around import counts_goods, stands_alone

_SSN = re.compile(r"[0-9](?<![0-9+][0-9])[0-9]{2}([ .-]?)[0-9]{2}\1[0-9]{4}(?![0-9])")
_NEVER_ISSUED = re.compile(r"000|666|9|...[ .-]?00|.*0000\Z")
_NAMED = re.compile(
    r"\bSSNs?\b|\bsocial[ -]?sec(?:urity)?\b|\b(?:my|your|his|her) social\b|社会安全号|社會安全號|社安号", re.IGNORECASE
)
_CALLED = re.compile(r"\b(?:phone|tel|telephone|call|fax|mobile|cell|dial|text|sms|whatsapp)\b", re.IGNORECASE)
_MORE_BEFORE = re.compile(r"[0-9]([-./ ])\Z")
_MORE_AFTER = re.compile(r"([-./ ])[0-9]")


def ssns(text: str) -> Iterator[tuple[int, int]]:
    """Where each number stands that may have been issued."""
    for found in _SSN.finditer(text):
        start, end = found.span()
        if _NEVER_ISSUED.match(found[0]) or not stands_alone(text, start, end) or counts_goods(text, start):
            continue
        if _is_named(text, start, end) or _has_the_form(text, start, end, separator=found[1]):
            yield start, end


def _is_named(text: str, start: int, end: int) -> bool:
    return bool(_NAMED.search(text, max(0, start - 50), start) or _NAMED.search(text, end, end + 25))


def _has_the_form(text: str, start: int, end: int, *, separator: str) -> bool:
    """Whether a row of digits is in the usual groups from its beginning to its end, and nobody is told to call it."""
    more = (_MORE_BEFORE.search(text, max(0, start - 2), start), _MORE_AFTER.match(text, end))
    goes_on = any(side and (separator == " " or side[1] != " ") for side in more)
    if separator == "-":
        return not goes_on
    return separator == " " and not goes_on and not _CALLED.search(text, max(0, start - 30), start)
