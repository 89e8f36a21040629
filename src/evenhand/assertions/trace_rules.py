"""Rules on amounts and on the trace: length, cost, latency, turns and tool calls."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from fractions import Fraction
from typing import Any

from evenhand.assertions.facts import AssertionFacts, AssertionFinding, leave_assertion_unanswered
from evenhand.assertions.output_rules import count_asserted_words, find_asserted_text
from evenhand.model.scale import Number, to_exact_fraction
from evenhand.wording import format_fraction, format_quoted_texts, quote_text


def check_length_assertion(facts: AssertionFacts, **ends: Fraction) -> AssertionFinding:
    """Characters, white space at both ends aside."""
    return _check_asserted_amount(len(facts.made.text.strip()), "characters", **ends)


def check_word_count_assertion(facts: AssertionFacts, **ends: Fraction) -> AssertionFinding:
    """Words of the output."""
    return _check_asserted_amount(count_asserted_words(facts.made.text), "words", **ends)


def check_cost_assertion(facts: AssertionFacts, **ends: Fraction) -> AssertionFinding:
    """Dollars that the output cost."""
    return _check_asserted_amount(facts.made.cost, "dollars", **ends)


def check_latency_assertion(facts: AssertionFacts, **ends: Fraction) -> AssertionFinding:
    """Milliseconds that the output took."""
    return _check_asserted_amount(facts.made.latency_ms, "ms", **ends)


def check_turns_assertion(facts: AssertionFacts, **ends: Fraction) -> AssertionFinding:
    """Turns of the conversation."""
    return _check_asserted_amount(facts.made.turns, "turns", **ends)


def _check_asserted_amount(
    measured: Number | None, unit: str, min: Fraction | None = None, max: Fraction | None = None
) -> AssertionFinding:
    """Not less and not more, by the number exactly as it was written down."""
    if measured is None:
        return leave_assertion_unanswered("it was not measured")
    try:
        value = to_exact_fraction(measured)
    except (ValueError, TypeError):
        return leave_assertion_unanswered(f"what was measured, {measured}, is not a number that can be used")
    passed = (min is None or value >= min) and (max is None or value <= max)
    return AssertionFinding(passed=passed, found=f"{format_fraction(value)} {unit}")


def check_tools_called_assertion(facts: AssertionFacts, *, tools: tuple[str, ...]) -> AssertionFinding:
    """Every one of the tools was called."""
    counts, found = _describe_asserted_tool_calls(facts)
    missing = [tool for tool in tools if tool not in counts]
    said = f"; not called: {format_quoted_texts(missing)}" if missing else ""
    return AssertionFinding(passed=not missing, found=found + said)


def check_tools_not_called_assertion(facts: AssertionFacts, *, tools: tuple[str, ...]) -> AssertionFinding:
    """None of the tools was called."""
    counts, found = _describe_asserted_tool_calls(facts)
    return AssertionFinding(passed=not any(tool in counts for tool in tools), found=found)


def check_tools_count_assertion(facts: AssertionFacts, *, min: int = 0, max: float = math.inf) -> AssertionFinding:
    """Not fewer calls, and not more."""
    counts, found = _describe_asserted_tool_calls(facts)
    return AssertionFinding(passed=min <= counts.total() <= max, found=found)


def check_tool_input_assertion(facts: AssertionFacts, **wanted: Any) -> AssertionFinding:
    """A call got the text."""
    return _check_asserted_tool_calls(facts, "input", **wanted)


def check_tool_input_lacks_assertion(facts: AssertionFacts, **wanted: Any) -> AssertionFinding:
    """No call got the text."""
    found = _check_asserted_tool_calls(facts, "input", **wanted)
    return found if found.passed is None else replace(found, passed=not found.passed)


def check_tool_output_assertion(facts: AssertionFacts, **wanted: Any) -> AssertionFinding:
    """A call gave the text back."""
    return _check_asserted_tool_calls(facts, "output", **wanted)


def _check_asserted_tool_calls(
    facts: AssertionFacts, side: str, *, text: str, tool: str | None, ignore_case: bool
) -> AssertionFinding:
    calls = [(number, call) for number, call in enumerate(facts.made.trace or (), 1) if tool in (None, call.name)]
    if not calls:
        found = "no tool was called" if tool is None else f"not called; {_describe_asserted_tool_calls(facts)[1]}"
        return AssertionFinding(passed=False, found=found)
    for number, call in calls:
        try:
            parts = _list_asserted_call_texts(getattr(call, side))
            hit = next((part for part in parts if find_asserted_text(part, text, ignore_case)), None)
        except (RecursionError, ValueError, TypeError) as problem:
            return leave_assertion_unanswered(f"the {side} of call {number} cannot be read: {problem}")
        if hit is not None:
            found = f"in the {side} of call {number}, {call.name}: {quote_text(hit)}"
            return AssertionFinding(passed=True, found=found)
    return AssertionFinding(passed=False, found=f"in the {side} of none of {len(calls)} calls")


def _list_asserted_call_texts(data: object) -> Iterator[str]:
    """Every text in plain data as it stands, then all of it as JSON."""
    yield from _walk_asserted_call_texts(data)
    if not isinstance(data, str):
        yield json.dumps(data, ensure_ascii=False, default=str)


def _walk_asserted_call_texts(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield str(key)
            yield from _walk_asserted_call_texts(value)
    elif isinstance(data, (list, tuple)):
        for value in data:
            yield from _walk_asserted_call_texts(value)


def _describe_asserted_tool_calls(facts: AssertionFacts) -> tuple[Counter[str], str]:
    """The calls of a trace by name, and in a few words."""
    counts = Counter(call.name for call in facts.made.trace or ())
    names = ", ".join(
        quote_text(name, 40) + (f" × {times}" if times > 1 else "") for name, times in list(counts.items())[:10]
    )
    more = f" and {len(counts) - 10} more tools" if len(counts) > 10 else ""
    calls = "1 call" if counts.total() == 1 else f"{counts.total()} calls"
    return counts, f"{calls}: {names}{more}" if names else "no calls"
