"""Rules on the trace."""

import pytest

from evenhand.model.sample import ToolCall
from tests.assertions.builders import TRACE, checked, facts


@pytest.mark.parametrize(
    ("assertion", "passed", "found"),
    [
        ({"tools_called": ["open", "search"]}, True, "3 calls: 'search' × 2, 'open'"),
        ({"tool_called": "open"}, True, "3 calls: 'search' × 2, 'open'"),
        ({"tools_called": ["open", "close"]}, False, "3 calls: 'search' × 2, 'open'; not called: 'close'"),
        ({"tools_not_called": ["close"]}, True, "3 calls: 'search' × 2, 'open'"),
        ({"tools_not_called": ["close", "open"]}, False, "3 calls: 'search' × 2, 'open'"),
        ({"tools_count_min": 3}, True, "3 calls: 'search' × 2, 'open'"),
        ({"tools_count_min": 4}, False, "3 calls: 'search' × 2, 'open'"),
        ({"tools_count_max": 3}, True, "3 calls: 'search' × 2, 'open'"),
        ({"tools_count_max": 2}, False, "3 calls: 'search' × 2, 'open'"),
        ({"tool_input_contains": "Berlin"}, True, "in the input of call 1, search: 'Berlin'"),
        ({"tool_input_contains": {"tool": "open", "text": "Berlin"}}, False, "in the input of none of 1 calls"),
        ({"tool_input_contains": "berlin", "ignore_case": True}, True, "in the input of call 1, search: 'Berlin'"),
        ({"tool_input_contains": 'say "hi"'}, True, "in the input of call 1, search: 'say \"hi\"'"),
        ({"tool_input_contains": '"page": 7'}, True, "in the input of call 3, open: '{\"page\": 7}'"),
        ({"tool_input_contains": "x", "tool": "close"}, False, "not called; 3 calls: 'search' × 2, 'open'"),
        ({"tool_input_not_contains": "Paris"}, True, "in the input of none of 3 calls"),
        ({"tool_input_not_contains": "Hamburg"}, False, "in the input of call 2, search: 'Hamburg'"),
        ({"tool_input_not_contains": "x", "tool": "close"}, True, "not called; 3 calls: 'search' × 2, 'open'"),
        ({"tool_output_contains": "Mitte"}, True, "in the output of call 1, search: 'Mitte'"),
        ({"tool_output_contains": "Berlin"}, False, "in the output of none of 3 calls"),
    ],
)
def test_a_trace_is_searched(assertion: dict[str, object], passed: bool, found: str) -> None:
    """Texts are found as they stand in the data; with their keys, as JSON."""
    result = checked(assertion, facts(trace=TRACE))

    assert (result.passed, result.found) == (passed, found)


def test_a_trace_without_calls_is_an_answer() -> None:
    """Nothing was called: that was measured."""
    empty = facts(trace=())

    assert checked({"tools_called": "search"}, empty).passed is False
    assert checked({"tools_count_max": 0}, empty).passed is True
    assert checked({"tool_input_contains": "x"}, empty).found == "no tool was called"


def test_many_tools_are_counted() -> None:
    """Ten are named, in the order of their first call."""
    trace = tuple(ToolCall(f"t{n}") for n in range(12))

    found = checked({"tools_count_min": 1}, facts(trace=trace)).found

    names = ", ".join(f"'t{n}'" for n in range(10))
    assert found == f"12 calls: {names} and 2 more tools"
    assert checked({"tools_count_min": 1}, facts(trace=trace[:1])).found == "1 call: 't0'"


def test_a_trace_that_cannot_be_read_is_not_answered() -> None:
    """Data nested without end must not take the run down."""
    deep: list[object] = []
    for _ in range(100_000):
        deep = [deep]

    result = checked({"tool_input_not_contains": "x"}, facts(trace=(ToolCall("search", deep),)))

    assert result.passed is None
    assert "call 1 cannot be read" in result.why_not
