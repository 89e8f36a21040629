"""Values out of a server's JSON, whatever it sent in their place."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

Stop = Literal["end", "length", "refusal", "unknown"]

_MOST_TOKENS = 10**12  # More than any server ever counted: a slip or an attack.


def mapping(value: object) -> Mapping[str, object]:
    """The value where it is an object, else an empty one."""
    return value if isinstance(value, dict) else {}


def count(value: object) -> int | None:
    """The value where it is a plausible number of tokens."""
    whole = isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MOST_TOKENS
    return value if whole and isinstance(value, int) else None


def text_of(value: object) -> str:
    """The text of a string or of a list of text parts; what is no character is replaced, so that it can be stored."""
    if isinstance(value, list):
        parts = (part if isinstance(part, str) else mapping(part).get("text") for part in value)
        value = "".join(part for part in parts if isinstance(part, str))
    if not isinstance(value, str) or value.isascii():
        return value if isinstance(value, str) else ""
    # JSON can spell half a character ("\ud83d" alone), which no file and no terminal can hold.
    return value.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
