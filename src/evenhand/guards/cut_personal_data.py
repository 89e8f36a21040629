"""Personal data that a quotation was cut inside of: what is left of it at the cut is masked too."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping

_LEAST = 3  # Characters: fewer of a value are in many words.
# Where a quotation may begin or end: at a mark of what was left out, and at quotation marks, but not inside a word.
_EDGE = re.compile(r"""…|(?<!\w)['"]|['"](?!\w)""")

_WORD = re.compile(r"[0-9A-Za-z]")  # A value never touches one.


def build_cut_personal_text_mask(values: Mapping[str, str]) -> Callable[[str], str]:
    """A function that masks what quotations in a text have of these values, each given with its mask."""
    heads = {value[:end]: masked for value, masked in values.items() for end in range(_LEAST, len(value))}
    tails = {value[start:]: masked for value, masked in values.items() for start in range(1, len(value) - _LEAST + 1)}
    longest = max(map(len, values), default=0)

    def find_rests(text: str) -> Iterator[tuple[int, int, str]]:
        before = len(text)
        for edge in _EDGE.finditer(text):
            start, end = edge.span()
            for first in range(max(0, start - longest), start - _LEAST + 1):
                if text[first:start] in heads and not _WORD.match(text, max(0, first - 1), first):
                    yield first, start, heads[text[first:start]]
            for last in range(end + _LEAST, min(len(text), end + longest) + 1):
                if text[end:last] in tails and not _WORD.match(text, last):
                    yield end, last, tails[text[end:last]]
            if _LEAST <= start - before <= longest:
                yield from ((before, start, masked) for value, masked in values.items() if text[before:start] in value)
            before = end

    def mask(text: str) -> str:
        parts: list[str] = []
        last = 0
        for start, end, masked in sorted(find_rests(text), key=lambda rest: (rest[0], -rest[1])):
            if start >= last:
                parts += text[last:start], masked
            last = max(last, end)
        return "".join((*parts, text[last:]))

    return mask if values else str
