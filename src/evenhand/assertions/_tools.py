"""Rules on the trace: which tools were called, how often, with what and to what end."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator

from evenhand.assertions._facts import Facts, Found, unanswered
from evenhand.assertions._shown import listed, shown
from evenhand.assertions._text import find
from evenhand.model import ToolCall


def tools_called(facts: Facts, *, tools: tuple[str, ...]) -> Found:
    """Every one of the tools was called."""
    missing = [tool for tool in tools if tool not in _counts(facts)]
    found = f"{_called(facts)}; not called: {listed(missing)}" if missing else _called(facts)
    return Found(passed=not missing, found=found)


def tools_not_called(facts: Facts, *, tools: tuple[str, ...]) -> Found:
    """None of the tools was called."""
    return Found(passed=not any(tool in _counts(facts) for tool in tools), found=_called(facts))


def tools_count_min(facts: Facts, *, min: int) -> Found:
    """Not fewer calls."""
    return Found(passed=len(_trace(facts)) >= min, found=_called(facts))


def tools_count_max(facts: Facts, *, max: int) -> Found:
    """Not more calls."""
    return Found(passed=len(_trace(facts)) <= max, found=_called(facts))


def tool_input_contains(facts: Facts, *, text: str, tool: str | None, ignore_case: bool) -> Found:
    """A call got the text."""
    return _in_calls(facts, "input", text, tool, ignore_case)


def tool_input_not_contains(facts: Facts, *, text: str, tool: str | None, ignore_case: bool) -> Found:
    """No call got the text."""
    found = _in_calls(facts, "input", text, tool, ignore_case)
    return found if found.passed is None else Found(passed=not found.passed, found=found.found)


def tool_output_contains(facts: Facts, *, text: str, tool: str | None, ignore_case: bool) -> Found:
    """A call gave the text back."""
    return _in_calls(facts, "output", text, tool, ignore_case)


def _in_calls(facts: Facts, side: str, text: str, tool: str | None, ignore_case: bool) -> Found:
    calls = [(number, call) for number, call in enumerate(_trace(facts), 1) if tool in (None, call.name)]
    if not calls:
        return Found(passed=False, found="no tool was called" if tool is None else f"not called; {_called(facts)}")
    for number, call in calls:
        try:
            hit = next((part for part in _texts(getattr(call, side)) if find(part, text, ignore_case)), None)
        except (RecursionError, ValueError, TypeError) as problem:
            return unanswered(f"the {side} of call {number} cannot be read: {problem}")
        if hit is not None:
            return Found(passed=True, found=f"in the {side} of call {number}, {call.name}: {shown(hit)}")
    return Found(passed=False, found=f"in the {side} of none of {len(calls)} calls")


def _texts(data: object) -> Iterator[str]:
    """Every text in plain data as it stands, then all of it as JSON."""
    if isinstance(data, str):
        yield data
        return
    yield from _inner_texts(data)
    yield json.dumps(data, ensure_ascii=False, default=str)


def _inner_texts(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield str(key)
            yield from _inner_texts(value)
    elif isinstance(data, (list, tuple)):
        for value in data:
            yield from _inner_texts(value)


def _called(facts: Facts) -> str:
    """The calls of a trace in a few words."""
    counts = _counts(facts)
    names = ", ".join(
        shown(name, 40) + (f" × {times}" if times > 1 else "") for name, times in list(counts.items())[:10]
    )
    more = f" and {len(counts) - 10} more tools" if len(counts) > 10 else ""
    calls = "1 call" if counts.total() == 1 else f"{counts.total()} calls"
    return f"{calls}: {names}{more}" if names else "no calls"


def _counts(facts: Facts) -> Counter[str]:
    return Counter(call.name for call in _trace(facts))


def _trace(facts: Facts) -> tuple[ToolCall, ...]:
    return facts.made.trace or ()
