"""Quotations: found again in the text they claim to come from, or not evidence."""

from __future__ import annotations

import re
from bisect import bisect_left
from functools import cached_property

from evenhand.model import Evidence

# Left out on both sides: quotation marks of any kind, and characters that nobody sees.
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_MARKS = "\"'`´“”„‟‘’‚‛«»‹›「」『』＂＇"
_IGNORED = re.compile(f"[{re.escape(_UNSEEN + _MARKS)}]+")
_SPACE = re.compile(r"\s+")
_LEFT_OUT = re.compile(r"\s*(?:\[\s*(?:\.\.\.|…)\s*\]|\.\.\.|…)\s*")
LEAST_OF_A_PART = 10


class Quoted:
    """A text in which quotations are looked up, white space and quotation marks aside."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quotation: str) -> Evidence | None:
        """Where the quotation stands, or None where it does not occur."""
        quotation = quotation.strip()
        at = self.text.find(quotation) if quotation else -1
        if at >= 0:
            return Evidence(quotation, at, at + len(quotation))
        whole = self._span(quotation, 0)
        if whole is None:
            whole = self._parts([part for part in _LEFT_OUT.split(quotation) if part])
        return None if whole is None else Evidence(quotation, *whole)

    def _parts(self, parts: list[str]) -> tuple[int, int] | None:
        """A quotation with something left out: its parts in their order, each long enough to mean something."""
        if not parts or any(len(_plain(part)) < LEAST_OF_A_PART for part in parts):
            return None
        spans: list[tuple[int, int]] = []
        for part in parts:
            span = self._span(part, spans[-1][1] if spans else 0)
            if span is None:
                return None
            spans.append(span)
        return spans[0][0], spans[-1][1]

    def _span(self, quotation: str, start: int) -> tuple[int, int] | None:
        wanted = _plain(quotation)
        if not wanted:
            return None
        plain, places = self._flat
        at = plain.find(wanted, bisect_left(places, start))
        return None if at < 0 else (places[at], places[at + len(wanted) - 1] + 1)

    @cached_property
    def _flat(self) -> tuple[str, list[int]]:
        """The text without what is ignored, and where each of its characters stands."""
        kept: list[str] = []
        places: list[int] = []
        for place, character in enumerate(self.text):
            space = character.isspace()
            if character in _UNSEEN or character in _MARKS or (space and kept and kept[-1] == " "):
                continue
            kept.append(" " if space else character)
            places.append(place)
        return "".join(kept), places


def _plain(text: str) -> str:
    return _SPACE.sub(" ", _IGNORED.sub("", text)).strip()
