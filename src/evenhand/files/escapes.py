"""Characters as strings of JSON and of programs escape them, and what they stand for."""

from __future__ import annotations

import re

ESCAPED_CHARACTER = re.compile(  # Escaped any number of times; of a backslash alone nothing is left.
    r"(?<!\\)\\++(?:u(?P<high>d[89ab][0-9a-f]{2})\\++u(?P<low>d[c-f][0-9a-f]{2})|u(?P<code>[0-9a-f]{4})"
    r"|x(?P<byte>[0-9a-f]{2})|(?P<sign>[/\"'])|[nrtbf])?",
    re.IGNORECASE,
)
CHARACTER_ESCAPED_ONCE = re.compile(  # As JSON does.
    r"\\(?:u(?P<high>d[89ab][0-9a-f]{2})\\u(?P<low>d[c-f][0-9a-f]{2})|u(?P<code>[0-9a-f]{4})|(?P<sign>[/\"\\])|[nrtbf])",
    re.IGNORECASE,
)


def read_escaped_character(found: re.Match[str]) -> str:
    """The character that an escape stands for; of blanks, and of a backslash alone, nothing."""
    if found["high"]:
        return chr(0x10000 + ((int(found["high"], 16) - 0xD800) << 10) + int(found["low"], 16) - 0xDC00)
    code = found["code"] or found.groupdict().get("byte")
    return chr(int(code, 16)) if code else found["sign"] or ""
