"""Numbers that belong to one person: payment cards, bank accounts, US social security numbers and telephones."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache

from evenhand.files.methods import load_library_data_file
from evenhand.guards.guarded_text import PatternTable, read_guard_word_classes

Span = tuple[int, int]

_GROUP = re.compile("[0-9]+")
# Scripts without spaces (from U+2E80) touch a number and are no part of it.
_WORD_BEFORE = re.compile(r"(?:[^\W\u2e80-\U0010ffff]|[0-9]\.)\Z")
_WORD_AFTER = re.compile(r"[^\W\u2e80-\U0010ffff]|\.[0-9]")
_PIECE_BEFORE = re.compile(r"(?<![A-Za-z0-9])([A-Za-z0-9]{1,32})[-_]\Z")
_PIECE_AFTER = re.compile(r"[-_]([A-Za-z0-9]{1,32})")


@dataclass(frozen=True, kw_only=True)
class PersonalPatterns:
    """Words before and after a number, forms of telephone numbers, issuers of cards and lengths of accounts."""

    before: PatternTable
    after: PatternTable
    forms: PatternTable
    issuers: Mapping[int, re.Pattern[str]]  # First digits by the length of the card.
    iban_lengths: Mapping[str, int]  # By country.


@cache
def load_personal_patterns() -> PersonalPatterns:
    """The patterns that ship, read once."""
    data = load_library_data_file("guards/personal.yaml")
    words = read_guard_word_classes(data["words"])
    first_digits: dict[int, list[str]] = {}
    for issuer in data["issuers"].values():
        for length in issuer["lengths"].split():
            first_digits.setdefault(int(length), []).append(issuer["first"])
    return PersonalPatterns(
        before=PatternTable(data["before"], words),
        after=PatternTable(data["after"], words),
        forms=PatternTable(data["forms"], words),
        issuers={length: re.compile("|".join(first)) for length, first in first_digits.items()},
        iban_lengths={
            country: int(length) for length, entry in data["ibans"].items() for country in entry["countries"].split()
        },
    )


# Payment cards: a length and first digits that some issuer gives out, and a right check digit.

# How cards are printed: within a longer row of numbers, only such groups are one card.
_PRINTED_GROUPS = {(4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3)}
_MOST_CARD_DIGITS = 40  # More in one row is a table of numbers: there only unbroken ones count.
_LONG_CARD = re.compile(r"[0-9][0-9 .-]{10,}[0-9]")  # Cheap: most texts have no such row, and are done with.
_CARD_ROW = re.compile(r"[0-9][0-9]*+(?:(?:[ -]{1,3}|\.)[0-9]++)*+")


def match_personal_card_numbers(text: str, patterns: PersonalPatterns) -> Iterator[Span]:
    """Where each number stands that is fit for a card."""
    for long in _LONG_CARD.finditer(text):
        for row in _CARD_ROW.finditer(text, *long.span()):
            groups = [group.span() for group in _GROUP.finditer(text, *row.span())]
            yield from _match_personal_cards_in_row(text, groups, patterns)


def _match_personal_cards_in_row(text: str, groups: list[Span], patterns: PersonalPatterns) -> Iterator[Span]:
    is_table = sum(end - start for start, end in groups) > _MOST_CARD_DIGITS
    at = 0
    while at < len(groups):
        counts = [1]  # Groups that may be one card: the whole row, as many as are printed, or one alone.
        if not is_table:
            sizes = tuple(end - start for start, end in groups[at : at + 5])
            printed = [count for count in (5, 4, 3) if count <= len(sizes) and sizes[:count] in _PRINTED_GROUPS]
            counts = [*([len(groups)] if at == 0 else []), *printed, 1]
        taken = next(
            (count for count in counts if _is_personal_card_number(text, groups[at : at + count], patterns)), 0
        )
        if taken:
            yield groups[at][0], groups[at + taken - 1][1]
        at += taken or 1


def _is_personal_card_number(text: str, groups: list[Span], patterns: PersonalPatterns) -> bool:
    digits = "".join(text[start:end] for start, end in groups)
    start, end = groups[0][0], groups[-1][1]
    issued = patterns.issuers.get(len(digits))
    called_card = patterns.before["card"].search
    return (
        issued is not None
        and bool(issued.match(digits) or (digits[0] != "0" and called_card(text, max(0, start - 40), start)))
        and _has_personal_card_check_digit(digits)
        and _is_personal_number_alone(text, start, end)
        and not _is_impersonal_goods_number(text, start, patterns)
    )


def _has_personal_card_check_digit(digits: str) -> bool:
    """The formula of Luhn (ISO/IEC 7812-1, annex B)."""
    doubled = sum(sum(divmod(2 * int(digit), 10)) for digit in digits[-2::-2])
    return (sum(map(int, digits[-1::-2])) + doubled) % 10 == 0


# Bank accounts (IBAN): a country, the length that the country uses, and right check digits (ISO 13616).

# Digits are rare: beginning with one, the search runs over the letters of a text at full speed.
_IBAN_START = re.compile(r"[0-9](?<=[A-Za-z]{2}[0-9])(?<![A-Za-z0-9_][A-Za-z]{2}[0-9])[0-9]")


def match_personal_ibans(text: str, patterns: PersonalPatterns) -> Iterator[Span]:
    """Where each number of a bank account stands."""
    last = 0
    for found in _IBAN_START.finditer(text):
        start = found.start() - 2
        length = patterns.iban_lengths.get(text[start : start + 2].upper())
        whole = _personal_iban_form(length).match(text, start) if length and start >= last else None
        if whole:
            number = re.sub("[ -]", "", whole[0])
            if int("".join(str(int(character, 36)) for character in number[4:] + number[:4])) % 97 == 1:
                yield whole.span()
                last = whole.end()


@cache
def _personal_iban_form(length: int) -> re.Pattern[str]:
    return re.compile(rf"[A-Za-z0-9](?:[ -]{{0,3}}[A-Za-z0-9]){{{length - 1}}}(?![A-Za-z0-9_])")


# US social security numbers: their form without the ranges never issued, and any form only where words say so.

_SSN = re.compile(r"[0-9](?<![0-9+][0-9])[0-9]{2}([ .-]?)[0-9]{2}\1[0-9]{4}(?![0-9])")
_NEVER_ISSUED = re.compile(r"000|666|9|...[ .-]?00|.*0000\Z")
_MORE_DIGITS_BEFORE = re.compile(r"[0-9]([-./ ])\Z")
_MORE_DIGITS_AFTER = re.compile(r"([-./ ])[0-9]")


def match_personal_social_security_numbers(text: str, patterns: PersonalPatterns) -> Iterator[Span]:
    """Where each number stands that may have been issued."""
    named = patterns.before["social_security"]
    for found in _SSN.finditer(text):
        start, end = found.span()
        if (
            _NEVER_ISSUED.match(found[0])
            or not _is_personal_number_alone(text, start, end)
            or _is_impersonal_goods_number(text, start, patterns)
        ):
            continue
        is_named = named.search(text, max(0, start - 50), start) or named.search(text, end, end + 25)
        if is_named or _has_personal_ssn_groups(text, start, end, found[1], patterns):
            yield start, end


def _has_personal_ssn_groups(text: str, start: int, end: int, separator: str, patterns: PersonalPatterns) -> bool:
    """Whether a row of digits is in the usual groups from its beginning to its end, and nobody is told to call it."""
    more = (_MORE_DIGITS_BEFORE.search(text, max(0, start - 2), start), _MORE_DIGITS_AFTER.match(text, end))
    goes_on = any(side and (separator == " " or side[1] != " ") for side in more)
    if separator == "-":
        return not goes_on
    call = patterns.before["call_or_text"]
    return separator == " " and not goes_on and not call.search(text, max(0, start - 30), start)


# Telephones: forms that nothing else has, and looser forms where the words around speak of calling.

_PHONE_ROW = re.compile(r"[0-9][0-9]*+(?:(?:[ .\-/]|[ .\-/]?\(|\)[ .\-/]?)[0-9]++)*+")
_LONG_PHONE = re.compile(r"[0-9][0-9 .\-/()]{5,}[0-9]")  # Cheap: most texts have no such row, and are done with.
_SHORTEST_PHONE = 7
_LONGEST_PHONE = 32  # Of a row that is looked at as one number, signs included.
_ATTACHED = re.compile(r"[-_]\Z|[^0-9)\s]/\Z")


def match_personal_phone_numbers(text: str, patterns: PersonalPatterns) -> Iterator[Span]:
    """Where each telephone number stands, with its extension."""
    for long in _LONG_PHONE.finditer(text):
        for row in _PHONE_ROW.finditer(text, *long.span()):
            if row.end() - row.start() >= _SHORTEST_PHONE:
                start = row.start() - (text[row.start() - 1 : row.start()] == "+")
                start -= text[start - 1 : start] == "(" and text.find(")", start, row.end()) > 0
                yield from _match_personal_phones_in_row(text, start, row.end(), patterns)


def _match_personal_phones_in_row(text: str, start: int, end: int, patterns: PersonalPatterns) -> Iterator[Span]:
    bracket = text[start] == "("
    if abroad := patterns.forms["abroad"].match(text, start + bracket, end):
        spans = [(start, abroad.end())]
    elif end - start <= _LONGEST_PHONE and _is_personal_phone(text, start, end, patterns):
        spans = [(start, end)]
    else:
        spans = [found.span() for found in patterns.forms["american"].finditer(text, start, end)]
    for first, last in spans:
        extension = patterns.after["extension"].match(text, last)
        after = extension.end() if extension else last
        if _is_personal_phone_apart(text, first, after, patterns):
            yield first, after


def _is_personal_phone(text: str, start: int, end: int, patterns: PersonalPatterns) -> bool:
    """Whether a whole row has one of the forms of a country, or any form where the words around speak of calling."""
    row, forms = text[start:end], patterns.forms
    groups = _GROUP.findall(row)
    digits = sum(map(len, groups))
    if forms["date"].search(row) or not _SHORTEST_PHONE <= digits <= 15:
        return False
    if forms["american_spaced"].fullmatch(row) or (digits >= 10 and forms["abroad_by_zeros"].fullmatch(row)):
        return True
    if digits >= 9 and (forms["area_in_brackets"].fullmatch(row) or forms["trunk"].fullmatch(row)):
        return not all(len(group) == 2 for group in groups) or groups != sorted(groups)  # Numbers drawn in a lottery.
    return bool(
        forms["loose"].fullmatch(row)
        and not forms["no_phone"].fullmatch(row)
        and not patterns.after["measure"].match(text, end)
        and _names_personal_phone(text, start, end, patterns)
    )


def _names_personal_phone(text: str, start: int, end: int, patterns: PersonalPatterns) -> bool:
    before = patterns.before["calling"].search(text, max(0, start - 32), start)
    return bool(before or patterns.after["line"].match(text, end))


def _is_personal_phone_apart(text: str, start: int, end: int, patterns: PersonalPatterns) -> bool:
    """Whether a number stands alone and counts nothing else: no sum of money, no order, no part of a link."""
    if not _is_personal_number_alone(text, start, end) or patterns.before["link"].search(
        text, max(0, start - 200), start
    ):
        return False
    if text[start] != "+" and patterns.before["counts_other"].search(text, max(0, start - 40), start):
        return False
    return not _ATTACHED.search(text, max(0, start - 2), start) or _names_personal_phone(text, start, end, patterns)


def _is_personal_number_alone(text: str, start: int, end: int) -> bool:
    """Whether a number is no part of a longer word, of a decimal fraction or of an identifier such as a UUID."""
    before, after = text[max(0, start - 34) : start], text[end : end + 34]
    if _WORD_BEFORE.search(before[-2:]) or _WORD_AFTER.match(after):
        return False
    pieces = (_PIECE_BEFORE.search(before), _PIECE_AFTER.match(after))
    return not any(piece and not piece[1].isalpha() and not piece[1].isdigit() for piece in pieces)


def _is_impersonal_goods_number(text: str, start: int, patterns: PersonalPatterns) -> bool:
    """Whether the words right before a number say that it belongs to goods or papers, not to a person."""
    return bool(patterns.before["goods"].search(text, max(0, start - 30), start))
