"""Quoted text as models write it: raw line breaks, quotes inside that nobody escaped, curly quotes."""

from __future__ import annotations

import re
from typing import Literal

Ending = Literal["closed", "cut", "broken"]
Place = Literal["key", "value", "item"]

MOST_OF_A_KEY = 200

# Which characters may end a text that began with this one.
_ENDS = {'"': '"', "'": "'", "“": "“”\"", "”": "“”\"", "‘": "‘’'", "’": "‘’'"}  # fmt: skip
_MARKS = {opening: re.compile(rf"\\(?s:.)|[{ends}]") for opening, ends in _ENDS.items()}

# A quote ends a text only where what follows could follow a text: in valid JSON it always does, and a quote that
# nobody escaped rarely does.
_NEXT_KEY = r"[\"'“”‘’}]|[^\W\d][\w\-]{0,60}[ \t]{0,8}[:：]|//|\#|/\*|\Z"
_FOLLOWS: dict[Place, re.Pattern[str]] = {
    "key": re.compile(r"\s*[:：]|\s*\Z"),
    "value": re.compile(
        rf"\s*(?:\}}|,\s*(?:{_NEXT_KEY})|//|\#|/\*|\Z)|\s*\n\s*[\"'“][^\"'“”\n]{{1,60}}[\"'”][ \t]{{0,8}}:"
    ),
    "item": re.compile(r"\s*(?:[\]),]|//|\#|/\*|\Z)"),
}
_OPENS_OBJECT = re.compile(r"\{\s{0,8}\Z")
_ESCAPE = re.compile(r"\\(?:u([0-9a-fA-F]{4})|((?s:.)))")
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_SURROGATE_PAIR = re.compile("[\ud800-\udbff][\udc00-\udfff]")
_SURROGATE = re.compile("[\ud800-\udfff]")


def string_at(text: str, start: int, end: int, place: Place) -> tuple[str, int, Ending]:
    """The quoted text that begins here, where to go on, and whether it was closed, cut off or is none at all."""
    stop = min(end, start + MOST_OF_A_KEY) if place == "key" else end
    for mark in _MARKS[text[start]].finditer(text, start + 1, stop):
        if mark.group()[0] == "\\":
            continue
        if _FOLLOWS[place].match(text, mark.end(), end):
            return _unescaped(text[start + 1 : mark.start()]), mark.end(), "closed"
        opens = _OPENS_OBJECT.search(text, max(start + 1, mark.start() - 9), mark.start())
        if opens:  # A quote was never closed, and this is the next object.
            return "", opens.start(), "broken"
    return ("", end, "cut") if stop == end else ("", start + 1, "broken")


def _unescaped(text: str) -> str:
    if "\\" in text:
        text = _ESCAPE.sub(_character, text)
    text = _SURROGATE_PAIR.sub(lambda pair: pair.group().encode("utf-16", "surrogatepass").decode("utf-16"), text)
    return _SURROGATE.sub("\ufffd", text)


def _character(escape: re.Match[str]) -> str:
    if escape[1]:
        return chr(int(escape[1], 16))
    return _ESCAPED.get(escape[2], escape[2])
