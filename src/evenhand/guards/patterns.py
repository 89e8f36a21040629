"""Patterns as data: read from library/guards when a guard first needs them, compiled one by one."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

_NAME = re.compile(r"\{([a-z_]+)\}")


@dataclass(frozen=True, slots=True)
class PatternTable:
    """Patterns by name. Each is compiled at its first lookup: all of them at once would take most of a second."""

    entries: Mapping[str, Mapping[str, Any]]
    words: Mapping[str, str]  # What {name} stands for in the patterns.
    _compiled: dict[str, re.Pattern[str]] = field(default_factory=dict)

    def __getitem__(self, name: str) -> re.Pattern[str]:
        if name not in self._compiled:
            self._compiled[name] = re.compile(fill_in_guard_words(self.entries[name]["pattern"], self.words))
        return self._compiled[name]


def read_guard_word_classes(entries: Mapping[str, Any]) -> dict[str, str]:
    """Named words as patterns; a class may name those above it."""
    words: dict[str, str] = {}
    for name, entry in entries.items():
        listed = entry["list"].replace(", ", "|") if "list" in entry else entry["pattern"]
        words[name] = fill_in_guard_words(listed, words)
    return words


def fill_in_guard_words(pattern: str, words: Mapping[str, str]) -> str:
    """A pattern on one line, with each {name} replaced by the words of that name."""
    return _NAME.sub(lambda found: words[found[1]], pattern.replace("\n", ""))
