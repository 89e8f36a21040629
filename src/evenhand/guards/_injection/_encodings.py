"""Text that was encoded so that a machine reads it and a person does not: decoded, with the way back to its place."""

from __future__ import annotations

import base64
import binascii
import codecs
import html
import re
from collections.abc import Iterator
from itertools import chain, pairwise
from urllib.parse import unquote

from evenhand.guards._injection._normal import Trace, View

DEPTH = 2  # A code within a code is undone; deeper ones would let a short text make much work.
_LEAST = 3  # Escapes: one or two are ordinary.
_LONG = 20  # Characters without a space: shorter runs hide too little to say anything.
_READABLE = 0.9  # Share of letters, digits, spaces and punctuation in what was decoded.


def decoded(text: str, depth: int = DEPTH) -> Iterator[View]:
    """What the encoded parts of the text say, each with its place; nothing for an ordinary text."""
    views = chain(_unescaped(text), _unpacked(text) if _packed(text) else ())
    for view in views:
        yield view
        if depth > 1:
            for inner in decoded(view.text, depth - 1):
                yield view.behind(inner, view.disguise)


def rotated(view: View) -> View:
    """The view with every letter moved on by thirteen."""
    return View(codecs.encode(view.text, "rot13"), lambda: view.trace, "in ROT13")


def turned(view: View) -> View:
    """The view read from the end."""
    return View(view.text[::-1], lambda: (view.trace[0][::-1], view.trace[1][::-1]), "written backwards")


def _unescaped(text: str) -> Iterator[View]:
    """The whole text with its character escapes undone, since letters and escapes may be mixed."""
    marks = [match.span() for match in _ESCAPES.finditer(text)] if _ESCAPE_MARKS.search(text) else []
    if sum(end - start for start, end in marks) < 3 * _LEAST:
        return
    undone = [_character(text[start:end]) for start, end in marks]
    edges = [0, *chain.from_iterable(marks), len(text)]
    kept = [text[start:end] for start, end in list(pairwise(edges))[::2]]
    pieces = [piece for pair in zip(kept, [*undone, ""], strict=True) for piece in pair]
    yield View("".join(pieces), lambda: _patched(edges, pieces), "in character codes")


def _character(escape: str) -> str:
    if escape[0] == "%":
        return unquote(escape, errors="replace")
    if escape[0] == "&":
        return html.unescape(escape)
    return "".join(chr(int(digits, 16)) for digits in re.findall(r"[0-9a-fA-F]+", re.sub(r"\\[uUxX]", " ", escape)))


def _patched(edges: list[int], pieces: list[str]) -> Trace:
    starts: list[int] = []
    ends: list[int] = []
    for number, ((start, end), piece) in enumerate(zip(pairwise([*edges, edges[-1]]), pieces, strict=True)):
        replaced = number % 2
        starts += [start] * len(piece) if replaced else range(start, end)
        ends += [end] * len(piece) if replaced else range(start + 1, end + 1)
    return starts, ends


def _packed(text: str) -> bool:
    return max(map(len, text.split()), default=0) >= _LONG or _PAIRS.search(text) is not None


def _unpacked(text: str) -> Iterator[View]:
    """What each long run of code letters or code numbers says, where it says something readable."""
    for match in _PACKED.finditer(text):
        yield from _placed(_base64(match[0]), match, "in base64")
        yield from _placed(_hexadecimal(match[0]), match, "in hexadecimal")
    for match in _PAIRS.finditer(text):
        yield from _placed(_hexadecimal(match[0]), match, "in hexadecimal")


def _placed(said: str, match: re.Match[str], disguise: str) -> Iterator[View]:
    if said and _readable(said):
        yield View(said, lambda: ([match.start()] * len(said), [match.end()] * len(said)), disguise)


def _base64(run: str) -> str:
    letters = re.sub(r"[\s=]", "", run).replace("-", "+").replace("_", "/")
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _hexadecimal(run: str) -> str:
    digits = re.sub(r"0[xX]|[^0-9a-fA-F]", "", run)
    try:
        return bytes.fromhex(digits).decode()
    except ValueError:
        return ""


def _readable(said: str) -> bool:
    seen = sum(character.isalnum() or character in " \n\t.,:;!?'\"-/(){}<>[]|_" for character in said)
    return seen >= _READABLE * len(said)


_ESCAPE_MARKS = re.compile(r"&#?\w|%[0-9a-fA-F]|\\[uxUX]")
_ESCAPES = re.compile(
    r"&#[xX]?[0-9a-fA-F]{2,7};?|&[a-zA-Z]{2,8};|(?:%[0-9a-fA-F]{2})+"
    r"|(?:\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{2,5}\}|\\x[0-9a-fA-F]{2})+"
)
_PACKED = re.compile(
    rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_LONG},}}(?:\r?\n[A-Za-z0-9+/_-]{{4,}}=*$)*={{0,2}}", re.M
)
# The code of a letter, a digit or a space starts with 2 to 7; to start with that class keeps the search quick.
_PAIRS = re.compile(
    r"[2-7](?<![0-9A-Za-wyz].)[0-9a-fA-F][\s,:]{1,2}(?:(?:0x)?[0-9a-fA-F]{2}[\s,:]{1,2}){6,}(?:0x)?[0-9a-fA-F]{2}"
)
