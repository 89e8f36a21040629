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

from evenhand.guards.injection_text import TextView, Trace

_DEPTH = 2  # A code within a code is undone; deeper ones would let a short text make much work.
_LEAST = 3  # Escapes: one or two are ordinary.
_LONG = 20  # Characters without a space: shorter runs hide too little to say anything.
_READABLE = 0.9  # Share of letters, digits, spaces and punctuation in what was decoded.


def decode_hidden_text(text: str, depth: int = _DEPTH) -> Iterator[TextView]:
    """What the encoded parts of the text say, each with its place; nothing for an ordinary text."""
    views: list[TextView] = []
    if _ESCAPE_MARKS.search(text):
        views += _decode_escapes(text)
    if max(map(len, text.split()), default=0) >= _LONG or _HEX_PAIRS.search(text):
        views += _decode_runs(text)
    for view in views:
        yield view
        if depth > 1:
            yield from map(view.trace_through, decode_hidden_text(view.text, depth - 1))


def rotate_letters(view: TextView) -> TextView:
    """The view with every letter moved on by thirteen."""
    return TextView(codecs.encode(view.text, "rot13"), lambda: view.trace, "in ROT13")


def reverse_text(view: TextView) -> TextView:
    """The view read from the end."""
    return TextView(view.text[::-1], lambda: (view.trace[0][::-1], view.trace[1][::-1]), "written backwards")


def _decode_escapes(text: str) -> Iterator[TextView]:
    """The whole text with its character escapes undone, since letters and escapes may be mixed."""
    escapes = [match.span() for match in _ESCAPES.finditer(text)]
    if sum(end - start for start, end in escapes) < 3 * _LEAST:
        return
    undone = [_decode_escape(text[start:end]) for start, end in escapes]
    edges = [0, *chain.from_iterable(escapes), len(text)]
    kept = [text[start:end] for start, end in list(pairwise(edges))[::2]]
    pieces = [piece for pair in zip(kept, [*undone, ""], strict=True) for piece in pair]
    yield TextView("".join(pieces), lambda: _trace_pieces(edges, pieces), "in character codes")


def _decode_escape(escape: str) -> str:
    if escape[0] == "%":
        return unquote(escape, errors="replace")
    if escape[0] == "&":
        return html.unescape(escape)
    return "".join(chr(int(digits, 16)) for digits in re.findall(r"[0-9a-fA-F]+", re.sub(r"\\[uUxX]", " ", escape)))


def _trace_pieces(edges: list[int], pieces: list[str]) -> Trace:
    """The trace of pieces that are kept and replaced by turns."""
    starts: list[int] = []
    ends: list[int] = []
    for number, ((start, end), piece) in enumerate(zip(pairwise([*edges, edges[-1]]), pieces, strict=True)):
        replaced = number % 2
        starts += [start] * len(piece) if replaced else range(start, end)
        ends += [end] * len(piece) if replaced else range(start + 1, end + 1)
    return starts, ends


def _decode_runs(text: str) -> Iterator[TextView]:
    """What each long run of code letters or code numbers says, where it says something readable."""
    for match in _LONG_RUN.finditer(text):
        yield from _view_decoded(_decode_base64(match[0]), match, "in base64")
        yield from _view_decoded(_decode_hexadecimal(match[0]), match, "in hexadecimal")
    for match in _HEX_PAIRS.finditer(text):
        yield from _view_decoded(_decode_hexadecimal(match[0]), match, "in hexadecimal")


def _view_decoded(decoded: str, match: re.Match[str], disguise: str) -> Iterator[TextView]:
    if decoded and _is_injection_readable(decoded):
        size = len(decoded)
        yield TextView(decoded, lambda: ([match.start()] * size, [match.end()] * size), disguise)


def _decode_base64(run: str) -> str:
    letters = re.sub(r"[\s=]", "", run).replace("-", "+").replace("_", "/")
    letters = letters[: len(letters) - (len(letters) % 4 == 1)]
    try:
        return base64.b64decode(letters + "=" * (-len(letters) % 4)).decode()
    except (binascii.Error, UnicodeDecodeError):
        return ""


def _decode_hexadecimal(run: str) -> str:
    try:
        return bytes.fromhex(re.sub(r"0[xX]|[^0-9a-fA-F]", "", run)).decode()
    except ValueError:
        return ""


def _is_injection_readable(decoded: str) -> bool:
    seen = sum(character.isalnum() or character in " \n\t.,:;!?'\"-/(){}<>[]|_" for character in decoded)
    return seen >= _READABLE * len(decoded)


_ESCAPE_MARKS = re.compile(r"&#?\w|%[0-9a-fA-F]|\\[uxUX]")
_ESCAPES = re.compile(
    r"&#[xX]?[0-9a-fA-F]{2,7};?|&[a-zA-Z]{2,8};|(?:%[0-9a-fA-F]{2})+"
    r"|(?:\\u[0-9a-fA-F]{4}|\\u\{[0-9a-fA-F]{2,5}\}|\\x[0-9a-fA-F]{2})+"
)
_LONG_RUN = re.compile(
    rf"(?<![A-Za-z0-9+/_-])[A-Za-z0-9+/_-]{{{_LONG},}}(?:\r?\n[A-Za-z0-9+/_-]{{4,}}=*$)*={{0,2}}", re.M
)
# The code of a letter, a digit or a space starts with 2 to 7; to start with that class keeps the search quick.
_HEX_PAIRS = re.compile(
    r"[2-7](?<![0-9A-Za-wyz].)[0-9a-fA-F][\s,:]{1,2}(?:(?:0x)?[0-9a-fA-F]{2}[\s,:]{1,2}){6,}(?:0x)?[0-9a-fA-F]{2}"
)
