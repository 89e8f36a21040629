"""Every entry of library/guards matches its own examples, by itself, and lets its counterexamples pass."""

import re
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from evenhand.files.methods import load_library_data_file
from evenhand.guards.guarded_text import fill_in_guard_words, read_guard_word_classes
from evenhand.guards.output_guards import ASKING_FRAMES, find_unsafe_passages, load_safety_guard_patterns
from evenhand.guards.personal_data import find_personal_data
from evenhand.guards.personal_numbers import load_personal_patterns

Entry = tuple[str, dict[str, Any], Callable[[str], object]]


def safety_entries() -> Iterator[Entry]:
    """Name, entry and a check by this entry alone: an act in its sentence, a frame before it, a pattern anywhere."""
    data, patterns = load_library_data_file("guards/safety.yaml"), load_safety_guard_patterns()
    words = read_guard_word_classes(data["words"])
    yield from word_entries(data["words"])
    for name, entry in data["asked"].items():
        yield name, entry, re.compile(ASKING_FRAMES % fill_in_guard_words(entry["pattern"], words)).search
    for name, entry in data["context"].items():
        yield name, entry, patterns.context[name].search
    for entries in data["acts"].values():
        for name, entry in entries.items():
            alone = replace(patterns, acts={name: patterns.acts[name]}, chinese_acts={})
            yield name, entry, partial(find_unsafe_passages, patterns=alone)
    for entries in data["chinese"].values():
        for name, entry in entries.items():
            alone = replace(patterns, acts={}, chinese_acts={name: patterns.chinese_acts[name]})
            yield name, entry, partial(find_unsafe_passages, patterns=alone)


def personal_entries() -> Iterator[Entry]:
    """Words before are searched, words after follow at once, forms are whole; numbers are found in a text."""
    data, patterns = load_library_data_file("guards/personal.yaml"), load_personal_patterns()
    yield from word_entries(data["words"])
    yield from ((name, entry, patterns.before[name].search) for name, entry in data["before"].items())
    yield from ((name, entry, patterns.after[name].match) for name, entry in data["after"].items())
    yield from ((name, entry, patterns.forms[name].fullmatch) for name, entry in data["forms"].items())
    for name, entry in data["issuers"].items():
        issued = {int(length): re.compile(entry["first"]) for length in entry["lengths"].split()}
        alone = replace(patterns, issuers=issued)
        yield name, entry, partial(find_personal_data, patterns=alone)
    for length, entry in data["ibans"].items():
        alone = replace(patterns, iban_lengths=dict.fromkeys(entry["countries"].split(), int(length)))
        yield length, entry, partial(find_personal_data, patterns=alone)


def word_entries(entries: dict[str, Any]) -> Iterator[Entry]:
    words = read_guard_word_classes(entries)
    yield from ((name, entry, re.compile(words[name]).match) for name, entry in entries.items())


@pytest.mark.parametrize(("entries", "count"), [(safety_entries, 225), (personal_entries, 46)])
def test_every_entry_matches_its_examples_alone(entries: Callable[[], Iterator[Entry]], count: int) -> None:
    """An entry that nothing shows to be needed is a guess; one without a counterexample grows too wide."""
    checked, wrong = 0, []
    for name, entry, check in entries():
        checked += 1
        wrong += [f"{name} does not match {text!r}" for text in listed(entry, "matches") if not check(text)]
        wrong += [f"{name} does not pass {text!r}" for text in listed(entry, "passes") if check(text)]

    assert wrong == []
    assert checked == count


def test_counterexamples_of_acts_are_looked_at() -> None:
    """Without a trigger in it, a text passes whatever the pattern says."""
    patterns = load_safety_guard_patterns()
    acts = {
        name: entry
        for entries in load_library_data_file("guards/safety.yaml")["acts"].values()
        for name, entry in entries.items()
    }

    skipped = [
        (name, text)
        for name, entry in acts.items()
        for text in listed(entry, "passes")
        if not patterns.acts[name].triggers & set(re.findall("[a-z]+", text.lower()))
    ]

    assert skipped == []


def listed(entry: dict[str, Any], key: str) -> list[str]:
    """One text or several; an entry without any fails."""
    texts = entry[key]
    return [texts] if isinstance(texts, str) else texts or [f"no {key}"]
