"""Samples: one input, the outputs that variants made of it, and what guards found in them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal

from evenhand.errors import Fault, InputError
from evenhand.model.quick_init import set_slots_directly

DEFAULT_SAMPLE_ID = "sample"


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class Sample:
    """One input with its outputs, by name, as far as there are any; authors maps an output to who wrote it."""

    outputs: Mapping[str, str] = field(default_factory=dict)
    input: str = ""
    reference: str = ""
    context: str = ""
    authors: Mapping[str, str] = field(default_factory=dict)
    id: str = DEFAULT_SAMPLE_ID
    traces: Mapping[str, OutputTrace] = field(default_factory=dict)  # How outputs came about, where it is known.
    findings: Mapping[str, tuple[GuardFinding, ...]] = field(default_factory=dict)  # What guards found, by output.

    def __post_init__(self) -> None:
        faults = [Fault(f"output {name!r} is empty", "leave it out: there is nothing to judge", ("outputs", name))
                  for name, text in self.outputs.items() if not text.strip()]  # fmt: skip
        if self.authors or self.traces:
            known = (("authors", "an author", self.authors), ("traces", "a trace", self.traces))
            faults += [
                Fault(f"{name!r} has {what} and no output", path=(field_name, name))
                for field_name, what, given in known
                for name in given
                if name not in self.outputs
            ]
        if faults:
            raise InputError(*faults)


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool on the way to an output; input and output are plain data."""

    name: str
    input: object = None
    output: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class OutputTrace:
    """How an output came about: the calls of tools in order, and in how many turns where that was counted."""

    calls: tuple[ToolCall, ...] = ()
    turns: int | None = None


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class VariantOutput:
    """One output with how it came about. What is None was not measured."""

    text: str
    trace: tuple[ToolCall, ...] | None = None
    cost: Decimal | None = None  # US dollars.
    latency_ms: float | None = None
    turns: int | None = None
    author: str | None = None
    input_tokens: int | None = None  # That the model read to make it.
    output_tokens: int | None = None

    @property
    def is_only_text(self) -> bool:
        """Whether nothing is known of how it came about."""
        told = (self.trace, self.cost, self.latency_ms, self.turns, self.author, self.input_tokens, self.output_tokens)
        return told == _NOTHING_TOLD


_NOTHING_TOLD = (None,) * 7


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardFinding:
    """A passage that a rule of a guard matched. Personal data is masked in `text`; the places are those of the text."""

    guard: str
    rule: str
    says: str  # What the rule looks for, in a few words.
    text: str
    start: int
    end: int
