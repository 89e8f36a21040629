"""Word lists and tables of the embedded judge, and words as it compares them: stems, synonyms, opposites, stop
words.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import permutations
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


StemTable = dict[str, frozenset[str]]


@dataclass(frozen=True, slots=True)
class TextWord:
    """A word of a text: as it is written, its stem, and its place."""

    raw: str
    stem: str
    start: int
    end: int


def find_embedded_words(text: str) -> list[TextWord]:
    """Every word of a text in order; numbers are values, not words."""
    found, ideograph = [], load_judge_pattern("words", "ideograph")
    for match in load_judge_pattern("words", "word").finditer(text):
        raw, start = match.group(), match.start()
        if raw.isascii() or not ideograph.search(raw):
            found.append(TextWord(raw, stem_embedded_word(raw), start, match.end()))
        else:
            found += [TextWord(raw[at], raw[at], start + at, start + at + 1) for at in range(len(raw))]
    return found


def lower_claim_letters(text: str) -> str:
    """A text in lower case, with the four letters that a pattern that ignores case takes for i, k or s."""
    return text.translate(_ODD_LETTERS).lower()


_ODD_LETTERS = str.maketrans("ıİſ\N{KELVIN SIGN}", "iisk")


@lru_cache(maxsize=50_000)
def stem_embedded_word(word: str) -> str:
    """A word without its endings. Rough: it has to be the same for both texts, not right."""
    low = word.lower().replace("’", "'").removesuffix("'s").removesuffix("'")
    if low in _load_claim_word_stems():
        return _load_claim_word_stems()[low]
    for ending, kept, replacement in _load_embedded_endings():
        if low.endswith(ending) and len(low) - len(ending) >= kept:
            low = low[: -len(ending)] + replacement
            if not replacement and len(low) > 3 and low[-1] == low[-2] and low[-1] not in "aeiouls":
                low = low[:-1]  # "Stopped" without "ed" is "stop".
            if ending in ("ing", "ed") and low.endswith("er") and len(low) > 5:
                low = low[:-2]  # "Simmering" as "simmer", which loses its own ending.
            break
    low = low[:-1] if len(low) > 3 and low.endswith("e") else low
    return low[:-1] + "i" if len(low) > 3 and low.endswith("y") else low


@cache
def _load_claim_word_stems() -> dict[str, str]:
    """Each irregular form with its stem."""
    groups = load_judge_lexicon("words")["irregular"].values()
    return {form: base for group in groups for base, forms in group["forms"].items() for form in forms.split()}


@cache
def _load_embedded_endings() -> list[tuple[str, int, str]]:
    """Each ending, how many letters must stay before it, and what takes its place."""
    entries = load_judge_lexicon("words")["endings"]["endings"].split()
    return [(ending, int(kept), "".join(rest)) for ending, kept, *rest in (entry.split("/") for entry in entries)]


def is_embedded_content_word(raw: str, *, framed: bool = False) -> bool:
    """Whether a word says something by itself.

    Where it is `framed`, words for saying are part of what is said: "says that a charger is included".
    """
    low = lower_claim_letters(raw).replace("’", "'").removesuffix("'s")
    in_frame = not framed and low in load_claim_words("words", "frame_words")
    return not in_frame and low not in load_claim_words("words", "stop_words")


@cache
def load_embedded_synonyms() -> StemTable:
    """Stems of the words that mean the same, by stem."""
    return _relate_embedded_stems("synonyms", "alike")


@cache
def load_embedded_opposites() -> StemTable:
    """Stems of the words that mean the opposite, by stem."""
    return _relate_embedded_stems("opposites", "opposed")


def _relate_embedded_stems(group: str, kind: str) -> StemTable:
    """Each stem with the others of its lines."""
    related: dict[str, set[str]] = {}
    for entry in load_judge_lexicon("words")[group].values():
        for line in entry[kind].splitlines():
            for one, other in permutations({stem_embedded_word(word) for word in line.split()}, 2):
                related.setdefault(one, set()).add(other)
    return {one: frozenset(others) for one, others in related.items()}
