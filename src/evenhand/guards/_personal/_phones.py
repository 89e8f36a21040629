"""Telephone numbers: forms that nothing else has, and looser forms where the words around speak of calling."""

from __future__ import annotations

import re
from collections.abc import Iterator

from evenhand.guards._personal._around import stands_alone

_ROW = re.compile(r"[0-9][0-9]*+(?:(?:[ .\-/]|[ .\-/]?\(|\)[ .\-/]?)[0-9]++)*+")
_LONG = re.compile(r"[0-9][0-9 .\-/()]{5,}[0-9]")  # Cheap: most texts have no such row, and are done with.
_SHORTEST = 7
_LONGEST = 32  # Of a row that is looked at as one number, signs included.

_COUNTRY = (
    r"(?:1|7|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]"
    r"|(?:2[1-69]|3[578]|42|5[09]|6[7-9]|8[05-8]|9[679])[0-9])"
)
_ABROAD = re.compile(
    r"\+1\)?[ .-]?\(?[0-9]{3}\)?[ .-]?[0-9]{3}[ .-]?[0-9]{4}(?![0-9])"
    rf"|\+(?!1){_COUNTRY}(?:[ .-]?\(0\)|\))?(?![ .-]?00)(?:[ .\-/]?\(?[0-9]\)?){{6,12}}(?![0-9])"
)
_ABROAD_BY_ZEROS = re.compile(rf"00{_COUNTRY}[ .\-/](?:\(0\))?[0-9]++(?:[ .\-/][0-9]++){{1,5}}")
_AMERICAN = re.compile(
    r"(?<![0-9)])(?<![0-9][.\-(])"
    r"(?:1[ .-])?(?:\([0-9]{3}\)[ .-]?|[0-9]{3}[-.])[0-9]{3}[-. ][0-9]{4}"
    r"(?![0-9]|[.\-(][0-9])"
)
_AMERICAN_SPACED = re.compile(r"(?:1 )?[0-9]{3} [0-9]{3} [0-9]{4}")
_AREA_IN_BRACKETS = re.compile(r"\((?!19[0-9]{2}|20[0-9]{2})0?[0-9]{2,4}\)[ -]?[0-9]{3,5}[ -]?[0-9]{3,4}")
_TRUNK = re.compile(r"0[1-9][0-9]{0,3}(?:[ -][0-9]{2,4}){2,4}|0[1-9](?:\.[0-9]{2}){4}|0[1-9][0-9]{1,3}[ /-][0-9]{5,8}")
_LOOSE = re.compile(r"\(?[0-9]{1,5}(?:(?:\)?[ -]|\))[0-9]{2,8}){1,4}|[0-9]{2,4}(?:\.[0-9]{2,4}){2,4}|[0-9]{9,12}")
_EXTENSION = re.compile(r"[ ,]{0,2}(?:x|ext\.?|extension|#)[ :]{0,2}[0-9]{1,6}(?!\w)", re.IGNORECASE)

_SPEAKS_OF_CALLING = re.compile(
    r"\b(?:(?:tele)?phones?|tel|call(?:s|ed|ing|er)?|dial(?:ling|ed)?|fax|mobile|cell|ring|whats ?app|sms|contact"
    r"|hotline|helpline|landline|voicemail|desk|office|text(?:ed|ing)? (?:me|us|him|her|them)|messages? (?:to|on|at)"
    r"|(?:reach(?:ed|able)?(?: \w+)?|answer(?:s|ed|ing)?) (?:at|on|via)|(?:my|your|his|her|our|their) number)\b"
    r"|\btext \Z|电话|電話|手机|手機|致电|拨打|热线|传真",
    re.IGNORECASE,
)
_NAMES_A_LINE = re.compile(
    r"[\s,;(-]{0,3}(?:is (?:my|his|her|our|their|the) )?(?:office|fax|mobile|cell|home|work|phone|tel|desk)\b",
    re.IGNORECASE,
)
_COUNTS_OTHER = re.compile(
    r"(?:\b(?:order|invoice|ticket|tracking|parcel|is[bs]n|ean|upc|gtin|sku|barcode|imei|serial|model|part|version|ref|"
    r"reference|id|account|acct|patent|rfc|pmid|doi|arxiv|case|item|batch|lot|build|commit|routing|zip|port|grant|"
    r"licen[cs]e|passport|policy|member|booking|confirmation|flight|pages?|pp|vol|volume|chapter|section|years?|since|"
    r"coordinates?|lat|latitude|lon|longitude|hash|timestamp|seed|ssn)\b|[$€£¥₹]|\w\()\W{0,3}"
    r"(?:(?:number|no|nr|num|id|code|is|from|of)\b\W{0,3}){0,3}\Z",
    re.IGNORECASE,
)
_MEASURED = re.compile(
    r" ?(?:[%€$£°]|(?:usd|eur|dollars|euros|km|kg|bytes?|years|people|times|points|votes)\b)", re.IGNORECASE
)
_LINKED = re.compile(r"(?:://|\bwww\.)[^\s]{0,200}\Z")
_DATE = re.compile(
    r"(?<![0-9])(?:[0-3]?[0-9]([./ -])[0-3]?[0-9]\1(?:19|20)[0-9]{2}"
    r"|(?:19|20)[0-9]{2}([./ -])[01]?[0-9]\2[0-3]?[0-9])(?![0-9])"
)
# Two years, an address of a machine, thousands.
_NO_PHONE = re.compile(
    r"(?:1[0-9]|20)[0-9]{2}[ /-](?:1[0-9]|20)[0-9]{2}|[0-9]{1,3}(?:\.[0-9]{1,3}){3}"
    r"|[0-9]{1,2}(?: [0-9]{3})+|[0-9]{1,3}(?: [0-9]{3})* 000"
)
_ATTACHED = re.compile(r"[-_]\Z|[^0-9)\s]/\Z")
_GROUP = re.compile("[0-9]+")


def phones(text: str) -> Iterator[tuple[int, int]]:
    """Where each telephone number stands, with its extension."""
    for long in _LONG.finditer(text):
        for row in _ROW.finditer(text, *long.span()):
            if row.end() - row.start() >= _SHORTEST:
                yield from _phones_in(text, _opened(text, row.start(), row.end()), row.end())


def _opened(text: str, start: int, end: int) -> int:
    """Where a row begins, with the + before its first digit and a bracket that it closes."""
    if text[start - 1 : start] == "+":
        start -= 1
    return start - (text[start - 1 : start] == "(" and text.find(")", start, end) > 0)


def _phones_in(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    bracket = text[start] == "("
    if abroad := _ABROAD.match(text, start + bracket, end):
        spans = [(start, abroad.end())]
    elif end - start <= _LONGEST and _is_phone(text, start, end):
        spans = [(start, end)]
    else:
        spans = [found.span() for found in _AMERICAN.finditer(text, start, end)]
    for first, last in spans:
        extension = _EXTENSION.match(text, last)
        after = extension.end() if extension else last
        if _is_apart(text, first, after):
            yield first, after


def _is_phone(text: str, start: int, end: int) -> bool:
    """Whether a whole row has one of the forms of a country, or any form where the words around speak of calling."""
    row = text[start:end]
    groups = _GROUP.findall(row)
    digits = sum(map(len, groups))
    if _DATE.search(row) or not _SHORTEST <= digits <= 15:
        return False
    if _AMERICAN_SPACED.fullmatch(row) or (digits >= 10 and _ABROAD_BY_ZEROS.fullmatch(row)):
        return True
    if digits >= 9 and (_AREA_IN_BRACKETS.fullmatch(row) or _TRUNK.fullmatch(row)):
        return not all(len(group) == 2 for group in groups) or groups != sorted(groups)  # Numbers drawn in a lottery.
    return bool(
        _LOOSE.fullmatch(row)
        and not _NO_PHONE.fullmatch(row)
        and not _MEASURED.match(text, end)
        and _is_called(text, start, end)
    )


def _is_called(text: str, start: int, end: int) -> bool:
    return bool(_SPEAKS_OF_CALLING.search(text, max(0, start - 32), start) or _NAMES_A_LINE.match(text, end))


def _is_apart(text: str, start: int, end: int) -> bool:
    """Whether a number stands alone and counts nothing else: no sum of money, no order, no part of a link."""
    if not stands_alone(text, start, end) or _LINKED.search(text, max(0, start - 200), start):
        return False
    if text[start] != "+" and _COUNTS_OTHER.search(text, max(0, start - 40), start):
        return False
    return not _ATTACHED.search(text, max(0, start - 2), start) or _is_called(text, start, end)
