"""Payment cards: a length and first digits that some issuer gives out, and a right check digit."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evenhand.guards._personal._around import counts_goods, stands_alone

Span = tuple[int, int]

# First digits by length (ISO/IEC 7812 ranges as the card schemes publish them).
_ISSUERS: tuple[tuple[str, range], ...] = (
    (r"4", range(13, 20, 3)),  # Visa
    (r"5[1-5]|222[1-9]|22[3-9]|2[3-6]|27[01]|2720", range(16, 17)),  # Mastercard
    (r"3[47]", range(15, 16)),  # American Express
    (r"30[0-5]|3095|3[689]", range(14, 20)),  # Diners Club
    (r"6011|64[4-9]|65|62|60|636|35(?:2[89]|[3-8])|220[0-4]", range(16, 20)),  # Discover, UnionPay, RuPay, JCB, Mir
    (r"1800|2131", range(15, 16)),  # JCB
    (r"5[0678]|6304|6390|67", range(12, 20)),  # Maestro
    (r"9792|8[12]", range(16, 17)),  # Troy, RuPay
)
_BY_LENGTH = {
    length: re.compile("|".join(first for first, lengths in _ISSUERS if length in lengths)) for length in range(12, 20)
}
# How cards are printed: within a longer row of numbers, only such groups are one card.
_PRINTED = {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3)}
_MOST_DIGITS = 40  # More in one row is a table of numbers: there only unbroken ones count.
# Where the words say so, the issuer may be one that is not listed.
_NAMED = re.compile(r"\bcards?\b|\bcc\b|\bvisa\b|\bmastercard\b|\bamex\b|信用卡|银行卡|銀行卡|卡号|卡號", re.IGNORECASE)
_LONG = re.compile(r"[0-9][0-9 .-]{10,}[0-9]")  # Cheap: most texts have no such row, and are done with.
_ROW = re.compile(r"[0-9][0-9]*+(?:(?:[ -]{1,3}|\.)[0-9]++)*+")
_GROUP = re.compile(r"[0-9]+")


def cards(text: str) -> Iterator[Span]:
    """Where each number stands that is fit for a card."""
    for long in _LONG.finditer(text):
        for row in _ROW.finditer(text, *long.span()):
            yield from _cards_in(text, [group.span() for group in _GROUP.finditer(text, *row.span())])


def _cards_in(text: str, groups: list[Span]) -> Iterator[Span]:
    is_table = sum(end - start for start, end in groups) > _MOST_DIGITS
    at = 0
    while at < len(groups):
        offers = [1] if is_table else _offers(groups, at)
        taken = next((count for count in offers if _is_card(text, groups[at : at + count])), 0)
        if taken:
            yield groups[at][0], groups[at + taken - 1][1]
        at += taken or 1


def _offers(groups: list[Span], at: int) -> list[int]:
    """How many groups from here on may be one card: the whole row, as many as are printed, or one alone."""
    sizes = tuple(end - start for start, end in groups[at : at + 5])
    printed = [count for count in (5, 4, 3) if count <= len(sizes) and sizes[:count] in _PRINTED]
    return [*([len(groups)] if at == 0 else []), *printed, 1]


def _is_card(text: str, groups: list[Span]) -> bool:
    digits = "".join(text[start:end] for start, end in groups)
    start, end = groups[0][0], groups[-1][1]
    return (
        len(digits) in _BY_LENGTH
        and (_BY_LENGTH[len(digits)].match(digits) is not None or _is_named(text, start, digits))
        and _has_right_check_digit(digits)
        and stands_alone(text, start, end)
        and not counts_goods(text, start)
    )


def _is_named(text: str, start: int, digits: str) -> bool:
    return digits[0] != "0" and _NAMED.search(text, max(0, start - 40), start) is not None


def _has_right_check_digit(digits: str) -> bool:
    """The formula of Luhn (ISO/IEC 7812-1, annex B)."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + doubled) % 10 == 0
