"""Quotations: found again in the text they claim to come from, or not evidence."""

from __future__ import annotations

import re
from functools import cached_property

from evenhand.model import Evidence

# Left out on both sides: quotation marks of any kind, and characters that nobody sees.
_UNSEEN = "\u200b\u200c\u200d\u2060\ufeff\u00ad"
_MARKS = "\"'`´“”„‟‘’‚‛«»‹›「」『』＂＇"
_IGNORED = re.compile(f"[{re.escape(_UNSEEN + _MARKS)}]+")
LEAST = 3  # Letters or digits: a full stop occurs everywhere and shows nothing.
_SPACE = re.compile(r"\s+")


class Quoted:
    """A text in which quotations are looked up, white space and quotation marks aside."""

    def __init__(self, text: str) -> None:
        self.text = text

    def find(self, quotation: str) -> Evidence | None:
        """Where the quotation stands, or None where it does not occur."""
        quotation = quotation.strip()
        if sum(map(str.isalnum, quotation)) < LEAST and quotation != self.text.strip():
            return None
        at = self.text.find(quotation) if quotation else -1
        if at >= 0:
            return Evidence(quotation, at, at + len(quotation))
        wanted = _plain(quotation)
        plain, places = self._flat
        at = plain.find(wanted) if wanted else -1
        return None if at < 0 else Evidence(quotation, places[at], places[at + len(wanted) - 1] + 1)

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
