"""Masks for texts in which characters are escaped, as in the JSON of a reply: what they say is masked too."""

from __future__ import annotations

import json
import re
from collections.abc import Callable

from evenhand.files.escapes import ESCAPED_CHARACTER, read_escaped_character

_DEEPEST = 8  # Strings in strings, and escapes of escapes: more is made up.
_PIECE = re.compile(r'"(?P<inner>(?:[^"\\]|\\.)*+)(?P<end>"?)|[^"]+', re.DOTALL)
_BLANKS = {"n": "\n", "r": "\r", "t": "\t", "b": " ", "f": " "}


def mask_text_as_read(text: str, mask: Callable[[str], str], deepest: int = _DEEPEST) -> str:
    """The text masked. A string in it, or what stands between strings, is written without escapes where they hide what
    the mask finds; all else stays as it is written.
    """
    if "\\" in text:
        text = _PIECE.sub(lambda found: _mask_escaped_piece(found, mask, deepest), text)
    return mask(text)


def _mask_escaped_piece(found: re.Match[str], mask: Callable[[str], str], deepest: int) -> str:
    written, inner = found[0], found["inner"]
    if "\\" not in written:
        return written
    if inner is None or not deepest:
        masked = mask(_read_escapes(written))
        return written if _read_escapes(mask(written)) == masked else _replace_half_characters(masked, "replace")
    said = _read_json_string(inner)
    masked = mask_text_as_read(said, mask, deepest - 1)
    if masked == said:
        return written
    again = json.dumps(masked, ensure_ascii=False)[:-1] + found["end"]
    return _replace_half_characters(again, "backslashreplace")


def _read_json_string(inner: str) -> str:
    """What a string says; one that is not quite JSON is read as far as its escapes are."""
    try:
        return str(json.loads(f'"{inner}"', strict=False))
    except ValueError:
        return _read_escapes(inner)


def _read_escapes(text: str) -> str:
    for _ in range(_DEEPEST):
        if "\\" not in text:
            break
        text = ESCAPED_CHARACTER.sub(_read_escape, text)
    return text


def _read_escape(found: re.Match[str]) -> str:
    return read_escaped_character(found) or _BLANKS.get(found[0][-1].lower(), "")


def _replace_half_characters(text: str, how: str) -> str:
    """No file holds half of a pair of surrogates; as an escape, or as a question mark, it does."""
    return text.encode("utf-8", how).decode()
