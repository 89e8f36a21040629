"""Patterns, word lists and tables of the embedded judge, from library/embedded, each file read when first used.

A file holds one subject. An entry has examples (`matches`, `passes`) that a test checks, and one of
`pattern`, `names`, `words`, `numbers`, `sizes` and the like; a mapping without examples is a group of entries.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import cache
from typing import Any

from evenhand.files.methods import LIBRARY
from evenhand.files.parsing import read_tree_file
from evenhand.files.tree import MappingNode, SequenceNode, TreeNode

Entry = dict[str, Any]


@cache
def load_judge_lexicon(file: str) -> Entry:
    """All entries of one file of the library, by name."""
    lexicon: Entry = _judge_lexicon_to_plain(read_tree_file(LIBRARY / "embedded" / f"{file}.yaml"))
    return lexicon


@cache
def load_judge_pattern(file: str, name: str) -> re.Pattern[str]:
    """The pattern of an entry."""
    return _compile_judge_lexicon_entry(file, load_judge_lexicon(file)[name])


@cache
def load_judge_patterns(file: str, group: str) -> dict[str, re.Pattern[str]]:
    """The pattern of each entry of a group, in the order of the file."""
    return {name: _compile_judge_lexicon_entry(file, entry) for name, entry in load_judge_lexicon(file)[group].items()}


@cache
def load_claim_words(file: str, name: str) -> frozenset[str]:
    """The words of an entry."""
    return frozenset(load_judge_lexicon(file)[name]["words"].split())


@cache
def load_embedded_lexicon_numbers(file: str, name: str) -> dict[str, int]:
    """The number words of an entry, each with its number."""
    return {word: int(number) for word, number in load_judge_lexicon(file)[name]["numbers"].items()}


def _judge_lexicon_to_plain(node: TreeNode) -> Any:
    if isinstance(node, MappingNode):
        return {key.text: _judge_lexicon_to_plain(value) for key, value in node.items}
    return [_judge_lexicon_to_plain(item) for item in node.items] if isinstance(node, SequenceNode) else node.text


def _compile_judge_lexicon_entry(file: str, entry: Entry) -> re.Pattern[str]:
    source = _expand_judge_lexicon_entry(file, entry)
    return re.compile(rf"(?i)\b(?:{source})\b" if "names" in entry else source)


_PLACE = re.compile(r"\{\{(\w+)\}\}")


def _expand_judge_lexicon_entry(file: str, entry: Entry) -> str:
    """The source of a pattern, with the entries that it names put in: their patterns, or any of their words."""
    pattern = entry.get("pattern", entry.get("names"))
    if pattern is not None:
        joined = "".join(line.strip() for line in pattern.splitlines())
        return _PLACE.sub(lambda place: _expand_judge_lexicon_entry(file, load_judge_lexicon(file)[place[1]]), joined)
    if "matches" not in entry and all("names" in one for one in entry.values()):
        return "|".join(f"(?:{_expand_judge_lexicon_entry(file, one)})" for one in entry.values())
    # The longest first: an alternative that is the beginning of another would hide it.
    return "|".join(map(re.escape, sorted(_list_judge_lexicon_words(entry), key=len, reverse=True)))


def _list_judge_lexicon_words(entry: Entry) -> Iterator[str]:
    """The words of an entry, or of each entry of a group."""
    if "words" in entry:
        yield from entry["words"].split()
    elif "numbers" in entry:
        yield from entry["numbers"]
    elif "sizes" in entry:
        yield from (word for words in entry["sizes"].values() for word in words.split())
    else:
        yield from (word for one in entry.values() for word in _list_judge_lexicon_words(one))
