"""Untrusted text on its way into a file: what would act on a terminal or a reader is written out, not passed on."""

from __future__ import annotations

import re

# Control characters, marks that turn the direction of reading, and halves of characters that no file can hold.
ACTING = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
HALVES = re.compile("[\ud800-\udfff]")


def written_out(text: str) -> str:
    """The text with those characters as \\x1b or \\u202e; line breaks and tabs stay."""
    return ACTING.sub(lambda found: escape(found[0]), text)


def escape(character: str) -> str:
    """A character as people write it in source code."""
    number = ord(character)
    return f"\\x{number:02x}" if number < 256 else f"\\u{number:04x}"


def storable(text: str) -> str:
    """The text without halves of characters, which UTF-8 does not have."""
    return HALVES.sub("\ufffd", text)


def folded(text: str, most: int) -> str:
    """The written-out text on one line, cut with … where it is longer than `most`."""
    start = text[: 4 * most]  # Enough for any sensible share of white space, and quick for a text of megabytes.
    line = written_out(" ".join(start.split()))
    return line if len(line) <= most and len(start) == len(text) else line[: most - 1].rstrip() + "…"
