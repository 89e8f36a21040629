"""Samples that stand in the eval file itself."""

from __future__ import annotations

import re

from evenhand import errors
from evenhand.errors import Fault
from evenhand.loading._fields import is_null
from evenhand.loading._tree import Mapping, Node, Scalar, Sequence
from evenhand.runs._sample import RunSample
from evenhand.runs._samples_entry import read_entry
from evenhand.runs._samples_sound import unsound

_WHOLE = re.compile(r"[-+]?(0|[1-9][0-9]{0,18})")
_NUMBER = re.compile(r"[-+]?([0-9]+\.[0-9]*|\.[0-9]+|[0-9]+(?=[eE]))([eE][-+]?[0-9]+)?")
_TEXTS = ("id", "input", "output", "reference", "context", "tags", "cluster", "author", "text", "content", "role")


def read_inline(node: Sequence, faults: list[Fault], path: errors.Path) -> tuple[RunSample, ...]:
    """The samples of a list; faults have their paths, so that the door can name their lines."""
    samples: list[RunSample] = []
    places: dict[str, int] = {}
    for at, item in enumerate(node.items):
        found: list[Fault] = []
        entry = _entry(item)
        why = unsound(entry)
        sample = None if why else read_entry(entry, at + 1, found)
        faults += [Fault(why, path=(*path, at))] if why else [fault.within(*path, at) for fault in found]
        if sample is None:
            continue
        first = places.setdefault(sample.id, at)
        if first != at:
            what = f"the id {sample.id!r} is used twice, first by the sample {first + 1} of the list"
            faults.append(Fault(what, "each id is unique", (*path, at, "id")))
        samples.append(sample)
    return tuple(samples)


def _entry(node: Node) -> object:
    """A sample as plain data. What is a text stays as it is written: a reference of 1.50 is no number."""
    if not isinstance(node, Mapping):
        return plain(node)
    return {key.text: _field(key.text, value) for key, value in node.items}


def _field(name: str, node: Node) -> object:
    if isinstance(node, Scalar):
        return node.text if name in _TEXTS and not is_null(node) else plain(node)
    if name == "outputs" and isinstance(node, Mapping):
        return {
            key.text: _entry(value) if isinstance(value, Mapping) else _field("text", value)
            for key, value in node.items
        }
    if name in ("tags", "context") and isinstance(node, Sequence):
        return [_field("text", item) for item in node.items]
    if name in ("input", "messages") and isinstance(node, Sequence):
        return [_entry(item) for item in node.items]
    return _entry(node) if name == "output" else plain(node)


def plain(node: Node) -> object:
    """A node as the plain data that JSON would give."""
    if isinstance(node, Mapping):
        return {key.text: plain(value) for key, value in node.items}
    if isinstance(node, Sequence):
        return [plain(item) for item in node.items]
    if node.quoted:
        return node.text
    if is_null(node):
        return None
    if node.text in ("true", "false"):
        return node.text == "true"
    if _WHOLE.fullmatch(node.text):
        return int(node.text)
    return float(node.text) if _NUMBER.fullmatch(node.text) else node.text
