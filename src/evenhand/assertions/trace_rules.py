"""Rules on amounts and on the trace: length, cost, latency, turns and tool calls."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from fractions import Fraction

from evenhand.assertions.facts import AssertionFacts, AssertionFinding, make_unanswered_finding
from evenhand.assertions.output_rules import count_asserted_words, find_asserted_text
from evenhand.model.sample import ToolCall
from evenhand.model.scale import Number, to_exact_fraction
from evenhand.wording import format_fraction, format_quoted_texts, quote_text


def check_min_length(facts: AssertionFacts, *, min: int) -> AssertionFinding:
    """Not shorter, white space at both ends aside."""
    return _check_at_least(len(facts.made.text.strip()), min, "characters")


def check_max_length(facts: AssertionFacts, *, max: int) -> AssertionFinding:
    """Not longer, white space at both ends aside."""
    return _check_at_most(len(facts.made.text.strip()), max, "characters")


def check_word_count_min(facts: AssertionFacts, *, min: int) -> AssertionFinding:
    """Not fewer words."""
    return _check_at_least(count_asserted_words(facts.made.text), min, "words")


def check_word_count_max(facts: AssertionFacts, *, max: int) -> AssertionFinding:
    """Not more words."""
    return _check_at_most(count_asserted_words(facts.made.text), max, "words")


def check_cost_max(facts: AssertionFacts, *, max: Fraction) -> AssertionFinding:
    """Not more dollars."""
    return _check_at_most(facts.made.cost, max, "dollars")


def check_latency_max(facts: AssertionFacts, *, max: Fraction) -> AssertionFinding:
    """Not more milliseconds."""
    return _check_at_most(facts.made.latency_ms, max, "ms")


def check_turns_min(facts: AssertionFacts, *, min: int) -> AssertionFinding:
    """Not fewer turns."""
    return _check_at_least(facts.made.turns, min, "turns")


def check_turns_max(facts: AssertionFacts, *, max: int) -> AssertionFinding:
    """Not more turns."""
    return _check_at_most(facts.made.turns, max, "turns")


def _check_at_least(measured: Number | None, least: int, unit: str) -> AssertionFinding:
    value = _read_asserted_amount(measured)
    return (
        value
        if isinstance(value, AssertionFinding)
        else AssertionFinding(passed=value >= least, found=f"{format_fraction(value)} {unit}")
    )


def _check_at_most(measured: Number | None, most: Number, unit: str) -> AssertionFinding:
    value = _read_asserted_amount(measured)
    return (
        value
        if isinstance(value, AssertionFinding)
        else AssertionFinding(passed=value <= most, found=f"{format_fraction(value)} {unit}")
    )


def _read_asserted_amount(measured: Number | None) -> Fraction | AssertionFinding:
    """What was measured, exactly as it was written down."""
    try:
        return make_unanswered_finding("it was not measured") if measured is None else to_exact_fraction(measured)
    except (ValueError, TypeError):
        return make_unanswered_finding(f"what was measured, {measured}, is not a number that can be used")


def check_tools_called(facts: AssertionFacts, *, tools: tuple[str, ...]) -> AssertionFinding:
    """Every one of the tools was called."""
    missing = [tool for tool in tools if tool not in _count_tool_calls(facts)]
    found = (
        f"{_describe_tool_calls(facts)}; not called: {format_quoted_texts(missing)}"
        if missing
        else _describe_tool_calls(facts)
    )
    return AssertionFinding(passed=not missing, found=found)


def check_tools_not_called(facts: AssertionFacts, *, tools: tuple[str, ...]) -> AssertionFinding:
    """None of the tools was called."""
    return AssertionFinding(
        passed=not any(tool in _count_tool_calls(facts) for tool in tools), found=_describe_tool_calls(facts)
    )


def check_tools_count_min(facts: AssertionFacts, *, min: int) -> AssertionFinding:
    """Not fewer calls."""
    return AssertionFinding(passed=len(_get_trace_calls(facts)) >= min, found=_describe_tool_calls(facts))


def check_tools_count_max(facts: AssertionFacts, *, max: int) -> AssertionFinding:
    """Not more calls."""
    return AssertionFinding(passed=len(_get_trace_calls(facts)) <= max, found=_describe_tool_calls(facts))


def check_tool_input_contains(
    facts: AssertionFacts, *, text: str, tool: str | None, ignore_case: bool
) -> AssertionFinding:
    """A call got the text."""
    return _search_tool_calls(facts, "input", text, tool, ignore_case)


def check_tool_input_not_contains(
    facts: AssertionFacts, *, text: str, tool: str | None, ignore_case: bool
) -> AssertionFinding:
    """No call got the text."""
    found = _search_tool_calls(facts, "input", text, tool, ignore_case)
    return found if found.passed is None else AssertionFinding(passed=not found.passed, found=found.found)


def check_tool_output_contains(
    facts: AssertionFacts, *, text: str, tool: str | None, ignore_case: bool
) -> AssertionFinding:
    """A call gave the text back."""
    return _search_tool_calls(facts, "output", text, tool, ignore_case)


def _search_tool_calls(
    facts: AssertionFacts, side: str, text: str, tool: str | None, ignore_case: bool
) -> AssertionFinding:
    calls = [(number, call) for number, call in enumerate(_get_trace_calls(facts), 1) if tool in (None, call.name)]
    if not calls:
        return AssertionFinding(
            passed=False, found="no tool was called" if tool is None else f"not called; {_describe_tool_calls(facts)}"
        )
    for number, call in calls:
        try:
            hit = next(
                (part for part in _list_call_texts(getattr(call, side)) if find_asserted_text(part, text, ignore_case)),
                None,
            )
        except (RecursionError, ValueError, TypeError) as problem:
            return make_unanswered_finding(f"the {side} of call {number} cannot be read: {problem}")
        if hit is not None:
            return AssertionFinding(
                passed=True, found=f"in the {side} of call {number}, {call.name}: {quote_text(hit)}"
            )
    return AssertionFinding(passed=False, found=f"in the {side} of none of {len(calls)} calls")


def _list_call_texts(data: object) -> Iterator[str]:
    """Every text in plain data as it stands, then all of it as JSON."""
    if isinstance(data, str):
        yield data
        return
    yield from _walk_call_texts(data)
    yield json.dumps(data, ensure_ascii=False, default=str)


def _walk_call_texts(data: object) -> Iterator[str]:
    if isinstance(data, str):
        yield data
    elif isinstance(data, dict):
        for key, value in data.items():
            yield str(key)
            yield from _walk_call_texts(value)
    elif isinstance(data, (list, tuple)):
        for value in data:
            yield from _walk_call_texts(value)


def _describe_tool_calls(facts: AssertionFacts) -> str:
    """The calls of a trace in a few words."""
    counts = _count_tool_calls(facts)
    names = ", ".join(
        quote_text(name, 40) + (f" × {times}" if times > 1 else "") for name, times in list(counts.items())[:10]
    )
    more = f" and {len(counts) - 10} more tools" if len(counts) > 10 else ""
    calls = "1 call" if counts.total() == 1 else f"{counts.total()} calls"
    return f"{calls}: {names}{more}" if names else "no calls"


def _count_tool_calls(facts: AssertionFacts) -> Counter[str]:
    return Counter(call.name for call in _get_trace_calls(facts))


def _get_trace_calls(facts: AssertionFacts) -> tuple[ToolCall, ...]:
    return facts.made.trace or ()
