"""Personal data: numbers and addresses that belong to one person, found by their form and check digits, and masked."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType

from evenhand.guards._personal._cards import cards
from evenhand.guards._personal._emails import emails
from evenhand.guards._personal._ibans import ibans
from evenhand.guards._personal._phones import phones
from evenhand.guards._personal._plain import plain
from evenhand.guards._personal._ssns import ssns
from evenhand.model import Finding

RULES: Mapping[str, str] = MappingProxyType(
    {
        "ssn": "a US social security number",
        "card": "the number of a payment card",
        "iban": "the number of a bank account (IBAN)",
        "email": "an e-mail address",
        "phone": "a telephone number",
    }
)

Span = tuple[int, int]
HIDDEN = "•"

# The surest form first: what one rule found is hidden from those after it, so that findings never overlap.
_FINDERS: tuple[tuple[str, Callable[[str], Iterable[Span]]], ...] = (
    ("email", emails),
    ("iban", ibans),
    ("card", cards),
    ("ssn", ssns),
    ("phone", phones),
)


def personal(text: str) -> tuple[Finding, ...]:
    """The personal data in a text, in order of start; the text of each finding is its mask."""
    shown, places = plain(text)
    found: list[Finding] = []
    for rule, find in _FINDERS:
        spans = list(find(shown))
        for start, end in spans:
            first, after = (start, end) if places is None else (places[start], places[end - 1] + 1)
            says, hidden = RULES[rule], mask(rule, text[first:after])
            found.append(Finding(guard="personal", rule=rule, says=says, text=hidden, start=first, end=after))
        shown = _without(shown, spans)
    return tuple(sorted(found, key=lambda finding: finding.start))


def masked(text: str) -> str:
    """The text with its personal data replaced by masks."""
    while found := personal(text):  # What a mask no longer stands against may show: look again until nothing does.
        text = _replaced(text, ((finding.start, finding.end, finding.text) for finding in found))
    return text


def mask(rule: str, value: str) -> str:
    """Just enough of a value to recognise it by, never enough to tell it."""
    shown = plain(value)[0]
    if rule == "email":
        return f"[{HIDDEN * 3}@{HIDDEN * 3}.{shown.rpartition('.')[2]}]" if "." in shown else f"[{HIDDEN * 3}]"
    if rule == "iban":
        return f"[{shown[:2].upper()}{HIDDEN * 4}]"
    kept = 4 if rule == "card" else 2
    digits = "".join(filter(str.isdigit, shown))
    return f"[{HIDDEN * 4}{digits[-kept:] if len(digits) > 2 * kept else ''}]"


def _without(text: str, spans: Iterable[Span]) -> str:
    return _replaced(text, ((start, end, HIDDEN * (end - start)) for start, end in spans))


def _replaced(text: str, pieces: Iterable[tuple[int, int, str]]) -> str:
    parts: list[str] = []
    last = 0
    for start, end, piece in pieces:
        parts += text[last:start], piece
        last = end
    return "".join((*parts, text[last:])) if parts else text
