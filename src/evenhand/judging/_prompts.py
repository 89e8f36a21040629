"""Prompt texts: files with a version, in English, Chinese or a folder of your own."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from evenhand.errors import Fault, InputError, nearest
from evenhand.loading import LIBRARY, read_text, read_words

NAMES = (
    "pointwise", "checklist", "individual", "listwise", "pairwise", "dimensions", "gate", "horizontal", "sampled",
    "odds", "odds-met", "odds-level", "odds-known", "rules", "evidence", "repair",
)  # fmt: skip
SHARED = ("rules", "evidence")  # Stand in several texts.
PARTS = {"odds": ("odds-met", "odds-level", "odds-known")}  # Stand in one text only.
LANGUAGES = ("en", "zh")
_SHIPPED = LIBRARY / "prompts"
_LARGEST = 200_000
_VERSION = re.compile(r"version: *(\S+)\n+")
_PLACE = re.compile(r"\{\{(\w+)\}\}")
_TASK = "\n=== task\n"


@dataclass(frozen=True, slots=True, kw_only=True)
class Prompts:
    """One set of prompt texts. `texts` holds each file whole, so that any change is a change of the fingerprint."""

    language: str
    texts: Mapping[str, str]
    phrases: Mapping[str, str]

    def version(self, name: str) -> str:
        """The version that a text says it has."""
        found = _VERSION.match(self.texts[name])
        return found[1] if found else ""

    def used(self, name: str) -> dict[str, str]:
        """All texts that a dialogue is made of, by name."""
        phrases = "\n".join(f"{key}: {text}" for key, text in sorted(self.phrases.items()))
        parts = (name, *PARTS.get(name, ()), *SHARED, "repair")
        return {part: self.texts[part] for part in parts} | {"phrases": phrases}

    def fill(self, name: str, **values: str) -> tuple[str, str]:
        """The two halves of a prompt, what stays the same and the task, with their places filled."""
        before, _, task = self.body(name).partition(_TASK)
        values |= {part: self.body(part) for part in SHARED}
        return _filled(before, values).strip(), _filled(task, values).strip()

    def body(self, name: str) -> str:
        """A text without the line of its version."""
        return _VERSION.sub("", self.texts[name], count=1).strip()

    def say(self, phrase: str, **values: object) -> str:
        """A phrase with its places filled."""
        return self.phrases[phrase].format(**values)


def load_prompts(language: str) -> Prompts:
    """A shipped set by its language, or one from a folder with the same files."""
    if language in LANGUAGES:
        return _shipped(language)
    folder = Path(language)
    if not folder.is_dir():
        hint = nearest(language, LANGUAGES) + ", or a folder of prompt texts"
        raise InputError(Fault(f"no prompt texts for {language!r}", hint))
    return _load(folder)


@cache
def _shipped(language: str) -> Prompts:
    return _load(_SHIPPED / language)


@cache
def _load(folder: Path) -> Prompts:
    texts = {name: read_text(folder / f"{name}.md", _LARGEST, InputError) for name in NAMES}
    phrases = read_words(folder / "phrases.yaml")
    if folder.parent != _SHIPPED:
        model = _shipped(LANGUAGES[0])
        faults = [fault for name in NAMES for fault in _differences(name, texts[name], model.texts[name])]
        faults += [Fault(f"phrase {name!r} is missing") for name in model.phrases if name not in phrases]
        if faults:
            raise InputError(*(Fault(f.what, f.hint, where=f.where or str(folder / "phrases.yaml")) for f in faults))
    return Prompts(language=folder.name, texts=texts, phrases=phrases)


def _differences(name: str, text: str, model: str) -> list[Fault]:
    """What a text of one's own must share with the shipped one: a version, the cut, the places."""
    own, known = set(_PLACE.findall(text)), set(_PLACE.findall(model))
    where = f"{name}.md"
    faults = [Fault(f"the place {{{{{place}}}}} is missing", where=where) for place in sorted(known - own)]
    faults += [
        Fault(f"unknown place {{{{{place}}}}}", nearest(place, known), where=where) for place in sorted(own - known)
    ]
    if (_TASK in text) != (_TASK in model):
        faults.append(Fault("one line '=== task' parts what stays the same from the task", where=where))
    if not _VERSION.match(text):
        faults.append(Fault("it must begin with its version", "as in version: 1", where=where))
    return faults


def _filled(text: str, values: Mapping[str, str]) -> str:
    # In one pass: what is put in is never searched for places again.
    return _PLACE.sub(lambda found: values[found[1]], text)
