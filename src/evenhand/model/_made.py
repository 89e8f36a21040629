"""What a variant made of a sample: the output, and how it came about."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Decimal


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool on the way to an output; input and output are plain data."""

    name: str
    input: object = None
    output: object = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Made:
    """One output with how it came about. What is None was not measured."""

    text: str
    trace: tuple[ToolCall, ...] | None = None
    cost: Decimal | None = None  # US dollars.
    latency_ms: float | None = None
    turns: int | None = None
    author: str | None = None
