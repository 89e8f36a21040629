"""Patterns as data: read from library/guards when a guard is first used, compiled one by one when they are needed."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

_NAME = re.compile(r"\{([a-z_]+)\}")


class PatternTable(dict[str, re.Pattern[str]]):
    """Patterns by name. Each is compiled at its first lookup: all of them at once would take most of a second."""

    def __init__(self, wordings: Mapping[str, str]) -> None:
        super().__init__()
        self._wordings = wordings

    def __missing__(self, name: str) -> re.Pattern[str]:
        pattern = self[name] = re.compile(self._wordings[name])
        return pattern


def read_word_classes(entries: Mapping[str, Any]) -> dict[str, str]:
    """Named words as patterns; a class may name those above it."""
    words: dict[str, str] = {}
    for name, entry in entries.items():
        words[name] = join_list(entry["list"], words) if "list" in entry else join_lines(entry["pattern"], words)
    return words


def join_lines(pattern: str, words: Mapping[str, str]) -> str:
    """A pattern on one line, with each {name} replaced by the words of that name."""
    return _NAME.sub(lambda found: words[found[1]], pattern.replace("\n", ""))


def join_list(items: str, words: Mapping[str, str]) -> str:
    """A list with commas as the alternatives of a pattern."""
    return join_lines(items.replace(", ", "|"), words)


def read_pattern_table(entries: Mapping[str, Any], words: Mapping[str, str]) -> PatternTable:
    """The patterns of a section by their names."""
    return PatternTable({name: join_lines(entry["pattern"], words) for name, entry in entries.items()})
