"""The assertions that a sample brings with it."""

from __future__ import annotations

from pathlib import Path

from evenhand.assertions import AnyAssertion, read_plain
from evenhand.errors import EvalError, Fault
from evenhand.runs._sample import RunSample


def assertions_of(sample: RunSample, folder: Path) -> tuple[AnyAssertion, ...]:
    """They were checked with all samples before the run began; whoever changes the file meanwhile is told."""
    if sample.assertions is None:
        return ()
    faults: list[Fault] = []
    found = read_plain(sample.assertions, folder, faults, ("assertions",))
    if faults:
        raise EvalError(*(fault.within(sample.id) for fault in faults))
    return found
