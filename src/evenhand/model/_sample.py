"""Samples: one input with what was made of it, and what a judge may hold it against."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from evenhand.errors import Fault, InputError
from evenhand.model._finding import Finding


@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One input with its outputs, by name; authors maps an output to the model that wrote it."""

    outputs: Mapping[str, str]
    input: str = ""
    reference: str = ""
    context: str = ""
    authors: Mapping[str, str] = field(default_factory=dict)
    id: str = "sample"
    findings: Mapping[str, tuple[Finding, ...]] = field(default_factory=dict)  # What guards found, by output.

    def __post_init__(self) -> None:
        faults = [Fault(f"output {name!r} is empty", "leave it out: there is nothing to judge", ("outputs", name))
                  for name, text in self.outputs.items() if not text.strip()]  # fmt: skip
        if not self.outputs:
            faults.append(Fault("a sample needs at least one output", path=("outputs",)))
        faults += [
            Fault(f"{name!r} has an author and no output", path=("authors", name))
            for name in self.authors
            if name not in self.outputs
        ]
        if faults:
            raise InputError(*faults)
