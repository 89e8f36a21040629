"""Text of others on its way to a reader: what would act, hide or reorder is written out."""

from __future__ import annotations

import re

# Control characters, marks that turn the direction of reading, and halves of characters that no file can hold.
ACTING_CHARACTERS = re.compile(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]"
)
SURROGATE_HALVES = re.compile("[\ud800-\udfff]")


def escape_acting_report_characters(text: str) -> str:
    """The text with those characters as \\x1b or \\u202e; line breaks and tabs stay."""
    return ACTING_CHARACTERS.sub(lambda found: escape_report_character(found[0]), text)


def escape_report_character(character: str) -> str:
    """A character as people write it in source code."""
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}" if number < 65536 else f"\\U{number:08x}"


def replace_report_surrogates(text: str) -> str:
    """The text without halves of characters, which UTF-8 does not have."""
    return SURROGATE_HALVES.sub("\ufffd", text)


def fold_to_report_line(text: str, most: int) -> str:
    """The written-out text on one line, cut with … where it is longer than `most`."""
    start = text[: 4 * most]  # Enough for any sensible share of white space, and quick for a text of megabytes.
    line = escape_acting_report_characters(" ".join(start.split()))
    return line if len(line) <= most and len(start) == len(text) else line[: most - 1].rstrip() + "…"


# Control characters; marks of direction and of no width, which reorder or hide what is read; halves of characters.
# The two joiners stay: scripts and emoji need them.
_HIDING_CHARACTERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u2069\ufeff"
    "\U000e0000-\U000e007f\ud800-\udfff]"
)


def escape_hiding_report_characters(text: str) -> str:
    """The text with those characters as escapes; line breaks and tabs stay."""
    return _HIDING_CHARACTERS.sub(lambda found: escape_report_character(found[0]), text)
