"""Facts and assertions by default, so that a test names only what it is about."""

from pathlib import Path
from typing import Any

from evenhand.assertions.assertion import AnyAssertion, CheckedAssertion, check_assertion
from evenhand.assertions.reading import read_plain_assertions
from evenhand.assertions.rule_inputs import AssertionFacts
from evenhand.errors import Fault, InputError
from evenhand.model.sample import ToolCall, VariantOutput

TRACE = (
    ToolCall("search", {"city": "Berlin", "quote": 'say "hi"'}, ["12 hits", {"first": "Mitte"}]),
    ToolCall("search", "Hamburg", None),
    ToolCall("open", {"page": 7}, "the text of page 7"),
)


def facts(text: str = "", *, input: str = "", reference: str = "", context: str = "", **made: Any) -> AssertionFacts:
    """Facts of one output; of what came about, only what is named was measured."""
    return AssertionFacts(made=VariantOutput(text=text, **made), input=input, reference=reference, context=context)


def one(data: object, folder: Path | None = None) -> AnyAssertion:
    """The assertion that plain data says."""
    faults: list[Fault] = []
    read = read_plain_assertions([data], folder or Path(), faults)
    if faults:
        raise InputError(*faults)
    return read[0]


def checked(data: object, given: AssertionFacts | str) -> CheckedAssertion:
    """What comes of an assertion that needs nothing from outside."""
    return check_assertion(one(data), facts(given) if isinstance(given, str) else given, {})
