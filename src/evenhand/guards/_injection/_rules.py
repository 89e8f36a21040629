"""The rules of the injection guard: each starts at one of its words and looks a short way ahead and back."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache

RULES: Mapping[str, str] = {
    "override": "tells the reader to set aside its instructions",
    "role": "gives the reader another role, or forges a message of the system",
    "extraction": "asks for the instructions that the reader was given",
    "hijack": "tells the judge what to answer",
    "delimiter": "forges the end of the text or the start of another part",
}

_BEHIND = 60  # Characters before the word that a rule may look at.


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    """What one rule looks for. In its patterns a space stands for any separators, `~30` for up to 30 characters."""

    name: str
    words: tuple[str, ...]  # The words that a passage can start with; the pattern follows such a word.
    then: str
    after: str = ""  # What must stand just before the word.
    unless: str = ""  # What must not stand just before the word.
    near: frozenset[str] = frozenset()  # One of these must be in the text, where the words alone are too common.

    def find(self, text: str, at: int, end: int) -> tuple[int, int] | None:
        """The passage that the word between `at` and `end` belongs to, if it is one."""
        found = _compiled(self.then).match(text, end)
        if found is None:
            return None
        back = max(0, at - _BEHIND)
        line = text.rfind("\n", back, at) + 1 or back  # What stands on another line takes nothing back.
        if self.unless and _compiled(rf"(?:{self.unless})\Z").search(text, line, at):
            return None
        if not self.after:
            return at, found.end()
        led = _compiled(rf"(?:{self.after})\Z").search(text, back, at)
        return (led.start(), found.end()) if led else None


def rule(name: str, words: str, then: str, after: str = "", unless: str = "", near: str = "") -> Rule:
    """A rule, its words written in one line."""
    return Rule(
        name=name, words=tuple(words.split()), then=then, after=after, unless=unless, near=frozenset(near.split())
    )


def by_word(rules: Iterable[Rule]) -> Mapping[str, tuple[Rule, ...]]:
    """The rules that each word can start."""
    table: dict[str, tuple[Rule, ...]] = {}
    for each in rules:
        for word in each.words:
            table[word] = (*table.get(word, ()), each)
    return table


@cache
def _compiled(pattern: str) -> re.Pattern[str]:
    # Compiled at first use: most texts need few of the rules, and starting up must stay quick.
    gaps = re.sub(r"~(\d+)", r"[^.!?;]{0,\1}?(?<![a-z0-9])", pattern.replace(" ", r"(?:[\W_]{1,4})"))
    return re.compile(gaps, re.MULTILINE)
