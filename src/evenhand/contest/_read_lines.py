"""The objects of a JSONL file, each with its place; what is none is a fault, and the next line is read."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from evenhand.errors import MOST_TOLD, ContestError, Fault
from evenhand.loading import read_text
from evenhand.runs._samples_json import value_in
from evenhand.runs._samples_made import kind

LARGEST = 5_000_000


def objects_in(path: Path, example: str, faults: list[Fault]) -> Iterator[tuple[str, dict[str, object]]]:
    """One object a line, with its place; empty lines are passed over. Ends where more is wrong than can be told."""
    text = read_text(path, LARGEST, ContestError)
    # Not splitlines: a string may hold other line breaks than the one that ends a line of JSONL.
    for number, line in enumerate(text.split("\n"), start=1):
        if len(faults) > MOST_TOLD:
            return
        if line.strip():
            found = object_in(line, f"{path}:{number}", example, faults)
            if found is not None:
                yield f"{path}:{number}", found


def object_in(text: str, where: str, example: str, faults: list[Fault]) -> dict[str, object] | None:
    """The object in a JSON text; None where there is none."""
    value = value_in(text)
    if isinstance(value, dict):
        return value
    if isinstance(value, Fault):
        faults.append(replace(value, where=where))
    else:
        faults.append(Fault(f"expected an object, got {kind(value)}", f"as in {example}", where=where))
    return None
