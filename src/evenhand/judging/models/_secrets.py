"""Keys that no message, record or reply may repeat, however a server echoes them."""

from __future__ import annotations

import re
from collections.abc import Iterable

HIDDEN = "[key hidden]"
KEY_VARIABLES = ("ANTHROPIC_API_KEY", "OPENAI_API_KEY", "EVENHAND_API_KEY")

_PIECE = 8  # So many characters in a row of a key give too much of it away.
_LONGEST = 2000
_LOOKS_LIKE_A_KEY = re.compile(
    r"""\b(?:sk|pk|rk|xai|gsk|hf|pplx|nvapi|ghp|gho|bearer|basic)[-_ ][^\s"',;<>)]{4,}
      | \b(?:AIza|AKIA)[\w-]{8,}
      | [^\s"',;:=<>(]*[*•]{3,}[^\s"',;<>)]*""",
    re.VERBOSE | re.IGNORECASE,
)


class Secrets:
    """The keys in use. It never shows them."""

    __slots__ = ("_keys",)

    def __init__(self, keys: Iterable[str] = ()) -> None:
        self._keys = tuple(sorted({key.strip() for key in keys if key.strip()}, key=len, reverse=True))

    def hidden(self, text: str) -> str:
        """A server's words for a message: one short line without keys, parts of keys and what looks like one."""
        text = text[:_LONGEST]
        for key in self._keys:
            text = _without_pieces(text.replace(key, HIDDEN), key)
        text = _LOOKS_LIKE_A_KEY.sub(HIDDEN, text)
        line = " ".join("".join(letter if letter.isprintable() else " " for letter in text).split())
        return line if len(line) <= 300 else line[:299] + "…"

    def removed(self, text: str) -> str:
        """A reply as it came, unless it repeats a whole key."""
        for key in self._keys:
            if len(key) >= _PIECE and key in text:
                text = text.replace(key, HIDDEN)
        return text


def _without_pieces(text: str, key: str) -> str:
    """The text with every stretch that eight or more characters of the key cover hidden."""
    covered = bytearray(len(text))
    for start in range(len(key) - _PIECE + 1):
        piece = key[start : start + _PIECE]
        found = text.find(piece)
        while found >= 0:
            covered[found : found + _PIECE] = b"\1" * _PIECE
            found = text.find(piece, found + 1)
    if not any(covered):
        return text
    return "".join(
        letter if not covered[place] else "" if place and covered[place - 1] else HIDDEN
        for place, letter in enumerate(text)
    )
