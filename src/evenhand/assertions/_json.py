"""Rules on outputs that are JSON: that it is, and that it follows a schema."""

from __future__ import annotations

import json
from typing import Never

from evenhand.assertions._facts import Facts, Found, unanswered
from evenhand.assertions._pattern import TooLong
from evenhand.assertions._schema_numbers import number_in, whole_in
from evenhand.assertions._shown import cut, place

TOO_DEEP = "the output is nested too deep to be read"


def json_valid(facts: Facts, *, valid: bool) -> Found:
    """The whole output is one JSON value, white space around it aside."""
    try:
        value = _value(facts.made.text)
    except RecursionError:
        return unanswered(TOO_DEEP)
    except _NotJson as problem:
        return Found(passed=not valid, found=f"not JSON: {problem}")
    return Found(passed=valid, found=f"JSON: {_what(value)}")


def json_schema(facts: Facts, *, schema: str) -> Found:
    """The output is JSON that the schema accepts."""
    from evenhand.assertions._schema_check import fault_in  # noqa: PLC0415 - slow to load, and few evals ask for it.

    try:
        fault = fault_in(_value(facts.made.text), schema)
    except RecursionError:
        return unanswered(TOO_DEEP)
    except TooLong as problem:
        return unanswered(str(problem))
    except _NotJson as problem:
        return Found(passed=False, found=f"not JSON: {problem}")
    if fault is None:
        return Found(passed=True, found="JSON that the schema accepts")
    return Found(passed=False, found=f"at {cut(fault.path, 100)}: {cut(fault.message)}")


class _NotJson(Exception):  # noqa: N818
    """What stands where JSON should."""


def _value(output: str) -> object:
    """The value of a JSON text, its numbers exactly as written."""
    if not output.strip():
        raise _NotJson("the output is empty")
    try:
        return json.loads(output, parse_float=number_in, parse_int=whole_in, parse_constant=_refused)
    except json.JSONDecodeError as problem:
        fenced = "; it stands in a code fence" if output.lstrip().startswith("```") else ""
        raise _NotJson(f"{problem.msg} at {place(output, problem.pos)}{fenced}") from None


def _refused(word: str) -> Never:
    raise _NotJson(f"{word} is no JSON number")


def _what(value: object) -> str:
    words = {dict: "an object", list: "a list", str: "a text", bool: "a truth value", type(None): "null"}
    return words.get(type(value), "a number")
