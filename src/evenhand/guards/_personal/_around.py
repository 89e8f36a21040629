"""What stands around a number: whether it is a number of its own, and what the words before say it counts."""

from __future__ import annotations

import re

# Scripts without spaces (from U+2E80) touch a number and are no part of it.
_WORD_BEFORE = re.compile(r"(?:[^\W\u2e80-\U0010ffff]|[0-9]\.)\Z")
_WORD_AFTER = re.compile(r"[^\W\u2e80-\U0010ffff]|\.[0-9]")
_PIECE_BEFORE = re.compile(r"(?<![A-Za-z0-9])([A-Za-z0-9]{1,32})[-_]\Z")
_PIECE_AFTER = re.compile(r"[-_]([A-Za-z0-9]{1,32})")
_GOODS = re.compile(
    r"\b(?:isbn|issn|ean|upc|gtin|sku|barcode|imei|order|tracking|parcel|invoice|timestamp|serial|model|part)\b\W{0,3}"
    r"(?:(?:number|no|nr|code|is|id)\b\W{0,3}){0,2}\Z",
    re.IGNORECASE,
)


def stands_alone(text: str, start: int, end: int) -> bool:
    """Whether a number is no part of a longer word, of a decimal fraction or of an identifier such as a UUID."""
    before, after = text[max(0, start - 34) : start], text[end : end + 34]
    if _WORD_BEFORE.search(before[-2:]) or _WORD_AFTER.match(after):
        return False
    pieces = (_PIECE_BEFORE.search(before), _PIECE_AFTER.match(after))
    return not any(piece and not piece[1].isalpha() and not piece[1].isdigit() for piece in pieces)


def counts_goods(text: str, start: int) -> bool:
    """Whether the words right before a number say that it belongs to goods or papers, not to a person."""
    return bool(_GOODS.search(text, max(0, start - 30), start))
