"""Text of others on its way to the page: what would hide or reorder it is written out."""

from __future__ import annotations

import re

# Control characters; marks of direction and of no width, which reorder or hide what is read; halves of characters.
# The two joiners stay: scripts and emoji need them.
_HIDING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def visible(text: str) -> str:
    """The text with those characters as escapes; line breaks and tabs stay."""
    return _HIDING.sub(lambda found: _escaped(ord(found[0])), text)


def _escaped(number: int) -> str:
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"
