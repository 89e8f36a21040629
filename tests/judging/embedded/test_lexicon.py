"""The library of the embedded judge: every entry takes its own examples only, and the code reads it."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.files.methods import LIBRARY
from evenhand.judging import embedded
from evenhand.judging.embedded.claims import read_concept_lines_of_lexicon
from evenhand.judging.embedded.lexicon import (
    Entry,
    _compile_judge_lexicon_entry,
    load_judge_lexicon,
    stem_embedded_word,
)

FILES = sorted(path.stem for path in (LIBRARY / "embedded").glob("*.yaml"))
CODE = "".join(path.read_text("utf-8") for path in Path(str(embedded.__file__)).parent.glob("*.py"))


def entries(group: Entry, path: str = "") -> Iterator[tuple[str, Entry]]:
    """Every entry with its path; what has no examples and nothing to check is a group of entries."""
    for name, entry in group.items():
        if KINDS.keys() & entry.keys():
            yield f"{path}{name}", entry
        else:
            yield from entries(entry, f"{path}{name}.")


def in_one_line(lines: str, pair: str) -> bool:
    """Whether the stems of two words are in one line."""
    first, second = map(stem_embedded_word, pair.split())
    return any({first, second} <= set(map(stem_embedded_word, line.split())) for line in lines.splitlines())


def is_said(lines: str, pair: str) -> bool:
    """Whether a phrase stands in the line of a name: "refund | money back"."""
    name, phrase = pair.split(" | ")
    return any(name in names and phrase in phrases for names, phrases in read_concept_lines_of_lexicon(lines))


def has_ending(endings: str, word: str) -> bool:
    """Whether one of these endings leaves enough of a word."""
    parts = [entry.split("/") for entry in endings.split()]
    return any(word.endswith(ending) and len(word) - len(ending) >= int(kept) for ending, kept, *_ in parts)


# What an entry holds, and whether an example belongs to it.
KINDS: dict[str, Callable[[Any, str], bool]] = {
    "words": lambda words, example: example in words.split(),
    "numbers": lambda numbers, example: example in numbers,
    "sizes": lambda sizes, example: any(example in names.split() for names in sizes.values()),
    "forms": lambda forms, example: any(example in each.split() for each in forms.values()),
    "endings": has_ending,
    "alike": in_one_line,
    "opposed": in_one_line,
    "said": is_said,
    "pattern": lambda compiled, example: compiled.search(example) is not None,
    "names": lambda compiled, example: compiled.search(example) is not None,
}


@pytest.mark.parametrize("file", FILES)
def test_every_entry_takes_its_own_examples_only(file: str) -> None:
    """A pattern that is widened or narrowed by accident meets the wrong ones."""
    wrong = []
    for path, entry in entries(load_judge_lexicon(file)):
        (kind,) = KINDS.keys() & entry.keys()
        held = _compile_judge_lexicon_entry(file, entry) if kind in ("pattern", "names") else entry[kind]
        wrong += [f"{path} has no {key}" for key in ("matches", "passes") if not entry.get(key)]
        wrong += [f"{path} misses {one!r}" for one in entry.get("matches", ()) if not KINDS[kind](held, one)]
        wrong += [f"{path} takes {one!r}" for one in entry.get("passes", ()) if KINDS[kind](held, one)]

    assert wrong == []


@pytest.mark.parametrize("file", FILES)
def test_every_entry_is_read(file: str) -> None:
    """By its name in the code, by that of its group, or by another entry of its file."""
    text = (LIBRARY / "embedded" / f"{file}.yaml").read_text("utf-8")
    marks = {mark for _, entry in entries(load_judge_lexicon(file)) for mark in entry.get("marks", "").split()}

    unread = [
        name
        for name in load_judge_lexicon(file)
        if f'"{name}"' not in CODE and f"{{{{{name}}}}}" not in text and name not in marks
    ]

    assert unread == []
