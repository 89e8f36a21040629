"""What the injection guard looks for: the patterns of its rules, read from library/guards/injection when first
used.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

from evenhand.files.methods import load_library_data
from evenhand.guards.injection_text import TextView, find_all

Place = tuple[int, int]  # Where a passage begins and ends.

# One file for each rule, then the Chinese patterns of all; a word tries its patterns in this order.
_RULE_FILES = ("override", "role", "extraction", "hijack", "delimiter")
_BEHIND = 60  # Characters before the word that a pattern may look at.
_AROUND = 300  # Characters on either side of a quotation that may say what it is about.


@dataclass(frozen=True, slots=True, kw_only=True)
class InjectionPattern:
    """A wording of one rule. In its expressions a space is any separators, `~30` up to 30 characters."""

    rule: str
    starts_with: tuple[str, ...]  # The words that a passage can start with.
    followed_by: str
    preceded_by: str  # What must stand just before the word.
    not_preceded_by: str
    text_has: frozenset[str]  # One of these must be in the text, where the words alone are too common.

    def match_at(self, text: str, start: int, end: int) -> Place | None:
        """The passage that the word between `start` and `end` belongs to, if it is one."""
        found = _compile_pattern(self.followed_by).match(text, end)
        if found is None:
            return None
        back = max(0, start - _BEHIND)
        line = text.rfind("\n", back, start) + 1 or back  # What stands on another line takes nothing back.
        if self.not_preceded_by and _compile_pattern(rf"(?:{self.not_preceded_by})\Z").search(text, line, start):
            return None
        if not self.preceded_by:
            return start, found.end()
        lead = _compile_pattern(rf"(?:{self.preceded_by})\Z").search(text, back, start)
        return (lead.start(), found.end()) if lead else None


def find_pattern_matches(
    view: TextView, patterns: Mapping[str, tuple[InjectionPattern, ...]]
) -> Iterator[tuple[str, Place]]:
    """The rules whose patterns match, and where in the view; quoted examples of attacks are left out."""
    for word, candidates, start in _find_starts(view, patterns):
        for pattern in candidates:
            place = pattern.match_at(view.text, start, start + len(word))
            if place and not _is_quoted_example(view.text, place[0]):
                yield pattern.rule, place


def index_patterns_by_word(patterns: Iterable[InjectionPattern]) -> Mapping[str, tuple[InjectionPattern, ...]]:
    """The patterns that each word can start."""
    table: dict[str, tuple[InjectionPattern, ...]] = {}
    for pattern in patterns:
        for word in pattern.starts_with:
            table[word] = (*table.get(word, ()), pattern)
    return table


@cache
def load_injection_patterns() -> tuple[InjectionPattern, ...]:
    """All patterns, in the order in which they are tried."""
    return tuple(
        read_pattern(entry, file)
        for file in (*map(load_rule_file, _RULE_FILES), load_rule_file("chinese"))
        for entry in file["patterns"]
    )


@cache
def load_rule_evidence() -> Mapping[str, float]:
    """What a match of each rule adds to the score of its sentence."""
    return {rule: float(load_rule_file(rule)["evidence"]) for rule in _RULE_FILES}


@cache
def load_rule_classes() -> Mapping[str, frozenset[str]]:
    """The classes of words by which a sentence without a match is put under a rule."""
    return {rule: frozenset(load_rule_file(rule)["classes"].split()) for rule in _RULE_FILES}


@cache
def load_rule_file(name: str) -> Any:
    """A file of patterns, or of what goes with them."""
    return load_library_data(f"guards/injection/{name}.yaml")


def read_pattern(entry: Mapping[str, str], file: Mapping[str, Any]) -> InjectionPattern:
    """A pattern from its entry in a file, with the fragments of that file put in."""

    def expand(key: str) -> str:
        text = entry.get(key, "")
        while (expanded := re.sub(r"\{([a-z_]+)\}", lambda name: str(file["fragments"][name[1]]), text)) != text:
            text = expanded
        return text

    return InjectionPattern(
        rule=entry.get("rule") or file["rule"],
        starts_with=tuple(expand("starts_with").split()),
        followed_by=expand("followed_by"),
        preceded_by=expand("preceded_by"),
        not_preceded_by=expand("not_preceded_by"),
        text_has=frozenset(expand("text_has").split()),
    )


def _find_starts(
    view: TextView, patterns: Mapping[str, tuple[InjectionPattern, ...]]
) -> Iterator[tuple[str, tuple[InjectionPattern, ...], int]]:
    """Where a word stands that a pattern can start with, and the patterns that can start there."""
    possible = {
        word: tuple(one for one in patterns[word] if not one.text_has or not one.text_has.isdisjoint(view.known_words))
        for word in view.known_words & patterns.keys()
    }
    at = 0  # The space before the next word, or one before that: what lies between was passed and starts no pattern.
    for word in view.words:
        if possible.get(word):
            at = view.spaced.index(f" {word} ", at)
            yield word, possible[word], at
        at += len(word) + 1
    if not view.text.isascii():
        for sign in (word for word in patterns if not word.isascii()):
            for at in find_all(sign, view.text):
                yield sign, patterns[sign], at


def _is_quoted_example(text: str, start: int) -> bool:
    """Whether the passage opens a quotation that the text calls an example of an attack: spoken about, not spoken."""
    before = text[max(0, start - 90) : start]
    if before[-1:] not in ("'", '"', "`"):
        return False
    introduction, topic = _load_mention_patterns()
    return bool(introduction.search(before)) and bool(topic.search(text, max(0, start - _AROUND), start + _AROUND))


@cache
def _load_mention_patterns() -> tuple[re.Pattern[str], re.Pattern[str]]:
    file = load_rule_file("mentions")
    return re.compile(file["introduction"]["pattern"]), re.compile(file["topic"]["pattern"])


@cache
def _compile_pattern(pattern: str) -> re.Pattern[str]:
    # Compiled at first use: most texts need few of the patterns, and starting up must stay quick.
    gaps = re.sub(r"~(\d+)", r"[^.!?;]{0,\1}?(?<![a-z0-9])", pattern.replace(" ", r"(?:[\W_]{1,4})"))
    return re.compile(gaps, re.MULTILINE)
