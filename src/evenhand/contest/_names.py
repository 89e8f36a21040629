"""Names of submissions and authors: one way to write each, and nothing in it that cannot be seen."""

from __future__ import annotations

import re
import unicodedata

LONGEST_NAME = 500

# What leaves no mark: spaces, control characters, and what Unicode says may be ignored when a text is shown.
_UNSEEN = (
    r"\s\x00-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    r"\u2060-\u206f\u2800\u3164\ufe00-\ufe0f\ufeff\uffa0\ufff0-\ufffb\U000e0000-\U000e0fff"
)
_SEEN = re.compile(f"[^{_UNSEEN}]")
# Of these, what no script needs inside a name; joiners and variants of a character are needed by some.
_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0"
    r"\ufff0-\ufffb\ud800-\udfff]"
)


def is_blank(text: str) -> bool:
    """Whether nothing in a text can be seen."""
    return _SEEN.search(text) is None


def one_name(text: str) -> str:
    """A name as it is compared: composed as Unicode composes it, without what cannot be seen at its ends."""
    text = unicodedata.normalize("NFC", text)
    first, last = _SEEN.search(text), _SEEN.search(text[::-1])
    return text[first.start() : len(text) - last.start()] if first and last else ""


def name_fault(text: str) -> str:
    """What is wrong with a name; empty where nothing is."""
    name = one_name(text)
    if not name:
        return "cannot be empty"
    if len(name) > LONGEST_NAME:
        return f"is longer than {LONGEST_NAME} characters"
    if found := _CONTROL.search(name):
        return f"holds a character that cannot be seen, U+{ord(found.group()):04X}"
    return ""
