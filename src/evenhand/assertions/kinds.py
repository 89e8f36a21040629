"""Every kind of assertion: its layer, parameters, rule and JSON Schema; and the rules on amounts and traces."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import partial
from types import MappingProxyType
from typing import Any, Literal

from evenhand.assertions import output_rules as outputs
from evenhand.assertions import rule_inputs as types
from evenhand.assertions.output_rules import count_asserted_words, find_asserted_text
from evenhand.assertions.rule_inputs import (
    ArgumentSchema,
    ArgumentType,
    AssertionArgument,
    AssertionFacts,
    AssertionFinding,
    leave_assertion_unanswered,
)
from evenhand.model.scale import Number, to_exact_fraction
from evenhand.wording import format_fraction, format_quoted_texts, quote_text


def _check_asserted_amount(
    unit: str,
    measure: Callable[[AssertionFacts], Number | None],
    facts: AssertionFacts,
    *,
    min: Fraction | None = None,
    max: Fraction | None = None,
) -> AssertionFinding:
    """Not less and not more, by the number exactly as it was written down."""
    measured = measure(facts)
    if measured is None:
        return leave_assertion_unanswered("it was not measured")
    try:
        value = to_exact_fraction(measured)
    except (ValueError, TypeError):
        return leave_assertion_unanswered(f"what was measured, {measured}, is not a number that can be used")
    passed = (min is None or value >= min) and (max is None or value <= max)
    return AssertionFinding(passed=passed, found=f"{format_fraction(value)} {unit}")


# White space at both ends of an output has no length.
_check_length = partial(_check_asserted_amount, "characters", lambda facts: len(facts.made.text.strip()))
_check_word_count = partial(_check_asserted_amount, "words", lambda facts: count_asserted_words(facts.made.text))
_check_cost = partial(_check_asserted_amount, "dollars", lambda facts: facts.made.cost)
_check_latency = partial(_check_asserted_amount, "ms", lambda facts: facts.made.latency_ms)
_check_turns = partial(_check_asserted_amount, "turns", lambda facts: facts.made.turns)


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


def check_tool_input_lacks_assertion(facts: AssertionFacts, **wanted: Any) -> AssertionFinding:
    """No call got the text."""
    found = _check_tool_input(facts, **wanted)
    return found if found.passed is None else replace(found, passed=not found.passed)


def _check_asserted_tool_calls(
    side: str, facts: AssertionFacts, *, text: str, tool: str | None, ignore_case: bool
) -> AssertionFinding:
    """A call was given the text (`input`), or gave it back (`output`)."""
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


_check_tool_input = partial(_check_asserted_tool_calls, "input")
_check_tool_output = partial(_check_asserted_tool_calls, "output")


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


AssertionLayer = Literal["fact", "behavior"]
SET_KIND = "assert_set"
EXECUTED_KIND = "custom"  # The one kind that runs what is not ours.
CHECK_WORD = "check"  # Names a check that the eval defines.
KIND_ALIASES: Mapping[str, str] = MappingProxyType({"tool_called": "tools_called"})


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionParameter:
    """One thing that can be said to an assertion."""

    name: str
    sort: ArgumentType
    means: str
    required: bool = False
    default: AssertionArgument | None = None
    absent: str = ""  # How an assertion speaks of it where it is not given.


@dataclass(frozen=True, slots=True, kw_only=True)
class AssertionKind:
    """One kind of assertion. Its first parameter is the one that the short form gives."""

    name: str
    layer: AssertionLayer
    looks_for: str  # With the names of parameters in braces.
    parameters: tuple[AssertionParameter, ...]
    rule: Callable[..., AssertionFinding] | None = None  # None: what it needs is measured outside this room.
    needs: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()  # Parameters of which exactly one is given.


def _define_main_assertion_parameter(name: str, sort: ArgumentType, means: str) -> AssertionParameter:
    return AssertionParameter(name=name, sort=sort, means=means, required=True)


# fmt: off
_TEXT = _define_main_assertion_parameter("text", types.TEXT, "the text to look for")
_EDGE = _define_main_assertion_parameter("text", types.VISIBLE_TEXT, "the text to look for")
_TEXTS = _define_main_assertion_parameter("texts", types.TEXTS, "the texts to look for")
_TOOLS = _define_main_assertion_parameter("tools", types.TEXTS, "names of tools")
_PATTERN = _define_main_assertion_parameter("pattern", types.PATTERN, "a regular expression")
_LEAST = _define_main_assertion_parameter("min", types.COUNT, "the least that passes")
_MOST = _define_main_assertion_parameter("max", types.COUNT, "the most that passes")
_AMOUNT = _define_main_assertion_parameter("max", types.AMOUNT, "the most that passes")
_SHARE = _define_main_assertion_parameter("min", types.SHARE, "the least that passes, 0 to 1")
_VALID = _define_main_assertion_parameter("valid", types.FLAG, "true where it must be JSON, false where it must not")
_SCHEMA = _define_main_assertion_parameter("schema", types.SCHEMA, "a JSON Schema, or the path of a file with one")
_FUNCTION = AssertionParameter(
    name="function", sort=types.FUNCTION, means="a Python function: python:MODULE:FUNCTION")
_COMMAND = AssertionParameter(
    name="command", sort=types.COMMAND, means="a command and its arguments; no shell reads it")
_ENV = AssertionParameter(
    name="env", sort=types.TEXTS, means="names of environment variables that the command gets beside PATH and the like")
_CASE = AssertionParameter(
    name="ignore_case", sort=types.FLAG, means="whether A and a are the same letter", default=False)
_TO = AssertionParameter(
    name="to", sort=types.ANY_TEXT, means="the text to compare with; where it is not given, the sample's reference",
    absent="the sample's reference")
_TOOL = AssertionParameter(name="tool", sort=types.TEXT, means="only calls of this tool", absent="any tool")
_N = AssertionParameter(name="n", sort=types.ORDER, means="words in a row that are compared", default=1)

# What a kind looks for, the rule that checks it, its parameters, and what it cannot be answered without.
_KindRow = tuple[str, Callable[..., AssertionFinding] | None, tuple[AssertionParameter, ...], str]
_FACT_KINDS: dict[str, _KindRow] = {
    "contains": ("the output contains {text}", outputs.check_contains_assertion, (_TEXT, _CASE), ""),
    "not_contains": ("the output does not contain {text}", outputs.check_not_contains_assertion, (_TEXT, _CASE), ""),
    "contains_all": ("the output contains all of {texts}", outputs.check_contains_all_assertion, (_TEXTS, _CASE), ""),
    "contains_any": ("the output contains one of {texts}", outputs.check_contains_any_assertion, (_TEXTS, _CASE), ""),
    "equals": ("the output is {to}", outputs.check_equals_assertion, (_TO, _CASE), "reference"),
    "not_equals": ("the output is not {to}", outputs.check_not_equals_assertion, (_TO, _CASE), "reference"),
    "regex": ("the output matches {pattern}", outputs.check_regex_assertion, (_PATTERN, _CASE), ""),
    "json_valid": ("whether the output is JSON: {valid}", outputs.check_json_valid_assertion, (_VALID,), ""),
    "json_schema": ("the output is JSON of the schema {schema}", outputs.check_json_schema, (_SCHEMA,), ""),
    "semantic_similarity":
        ("the output means the same as {to}, at least {min}", None, (_SHARE, _TO), "reference"),
    "rouge_n_min":
        ("the output shares runs of {n} words with {to}, F1 at least {min}", outputs.check_rouge_n_assertion,
         (_SHARE, _N, _TO), "reference"),
    "bleu_min":
        ("the output has BLEU {min} or more against {to}", outputs.check_bleu_assertion, (_SHARE, _TO), "reference"),
    "levenshtein_max":
        ("the output is at most {max} edits away from {to}", outputs.check_levenshtein_assertion,
         (_MOST, _TO, _CASE), "reference"),
    "tool_output_contains":
        ("a call of {tool} gave back {text}", _check_tool_output, (_TEXT, _TOOL, _CASE), "trace"),
    "tool_input_contains":
        ("a call of {tool} was given {text}", _check_tool_input, (_TEXT, _TOOL, _CASE), "trace"),
    "tool_input_not_contains":
        ("no call of {tool} was given {text}", check_tool_input_lacks_assertion, (_TEXT, _TOOL, _CASE), "trace"),
    "faithfulness": ("the context bears out at least {min} of what is said", None, (_SHARE,), "context"),
    "answer_relevancy": ("the output answers the input, at least {min}", None, (_SHARE,), "input"),
    "context_recall": ("the context holds at least {min} of the reference", None, (_SHARE,), "context reference"),
}
_BEHAVIOR_KINDS: dict[str, _KindRow] = {
    "starts_with": ("the output starts with {text}", outputs.check_starts_with_assertion, (_EDGE, _CASE), ""),
    "ends_with": ("the output ends with {text}", outputs.check_ends_with_assertion, (_EDGE, _CASE), ""),
    "min_length": ("the output has {min} characters or more", _check_length, (_LEAST,), ""),
    "max_length": ("the output has {max} characters or fewer", _check_length, (_MOST,), ""),
    "word_count_min": ("the output has {min} words or more", _check_word_count, (_LEAST,), ""),
    "word_count_max": ("the output has {max} words or fewer", _check_word_count, (_MOST,), ""),
    "cost_max": ("the output cost {max} dollars or less", _check_cost, (_AMOUNT,), "cost"),
    "latency_max": ("the output took {max} ms or less", _check_latency, (_AMOUNT,), "latency_ms"),
    "turns_min": ("the output took {min} turns or more", _check_turns, (_LEAST,), "turns"),
    "turns_max": ("the output took {max} turns or fewer", _check_turns, (_MOST,), "turns"),
    "tools_called": ("every one of {tools} was called", check_tools_called_assertion, (_TOOLS,), "trace"),
    "tools_not_called": ("none of {tools} was called", check_tools_not_called_assertion, (_TOOLS,), "trace"),
    "tools_count_min": ("{min} tool calls or more", check_tools_count_assertion, (_LEAST,), "trace"),
    "tools_count_max": ("{max} tool calls or fewer", check_tools_count_assertion, (_MOST,), "trace"),
    "custom": ("{function}{command} says that it passes", None, (_FUNCTION, _COMMAND, _ENV), ""),
}
# fmt: on
_KIND_ROWS: tuple[tuple[AssertionLayer, dict[str, _KindRow]], ...] = (
    ("fact", _FACT_KINDS),
    ("behavior", _BEHAVIOR_KINDS),
)
ASSERTION_KINDS: Mapping[str, AssertionKind] = MappingProxyType(
    {
        name: AssertionKind(
            name=name,
            layer=layer,
            looks_for=looks_for,
            rule=rule,
            parameters=parameters,
            needs=tuple(needs.split()),
            one_of=("function", "command") if name == "custom" else (),
        )
        for layer, rows in _KIND_ROWS
        for name, (looks_for, rule, parameters, needs) in rows.items()
    }
)

_SHARED_FIELDS_SCHEMA: ArgumentSchema = {
    "not": {"type": "boolean", "description": "Pass where it would fail."},
    "weight": {
        "anyOf": [
            {"type": "number", "exclusiveMinimum": 0},
            {"type": "string", "pattern": "^[0-9]*[1-9][0-9]*/[0-9]*[1-9][0-9]*$"},
        ],
        "default": 1,
    },
    "name": {"type": ["string", "number", "boolean"], "minLength": 1, "pattern": r"\S"},
}
_NAMED_CHECK_SCHEMA: ArgumentSchema = {
    CHECK_WORD: {"type": "string", "minLength": 1, "description": "A check that the eval defines under `checks`."},
    **_SHARED_FIELDS_SCHEMA,
}


def build_assertions_schema() -> ArgumentSchema:
    """A fragment: `$defs` with `assertions`, a list, and `assertion`, one of them."""
    words = {**ASSERTION_KINDS, **{word: ASSERTION_KINDS[name] for word, name in KIND_ALIASES.items()}}
    return {
        "$defs": {
            "assertions": {"type": ["array", "null"], "items": {"$ref": "#/$defs/assertion"}},
            "assertion": {
                "anyOf": [
                    *(_build_assertion_schema(word, kind) for word, kind in words.items()),
                    _build_any_all_assertion_schema(),
                    _build_assertion_object_schema(_NAMED_CHECK_SCHEMA, [CHECK_WORD]),
                ]
            },
        }
    }


def _build_assertion_schema(word: str, kind: AssertionKind) -> ArgumentSchema:
    parameters = {one.name: {**one.sort.schema, "description": one.means} for one in kind.parameters}
    inside = _build_assertion_object_schema(
        {**parameters, **_SHARED_FIELDS_SCHEMA}, [one.name for one in kind.parameters if one.required]
    )
    main, options = parameters[kind.parameters[0].name], dict(list(parameters.items())[1:])
    if kind.one_of:
        inside["oneOf"] = [{"required": [name]} for name in kind.one_of]
    argument = main if kind.name == "json_schema" else {"anyOf": [main, inside]}
    described = {**argument, "description": f"{kind.layer}: {kind.looks_for}"}
    return _build_assertion_object_schema({word: described, **options, **_SHARED_FIELDS_SCHEMA}, [word])


def _build_any_all_assertion_schema() -> ArgumentSchema:
    parts = {"type": "array", "minItems": 1, "items": {"$ref": "#/$defs/assertion"}}
    inside = {
        **_build_assertion_object_schema({"any": parts, "all": parts, **_SHARED_FIELDS_SCHEMA}),
        "oneOf": [{"required": [w]} for w in ("any", "all")],
    }
    return _build_assertion_object_schema(
        {SET_KIND: {**inside, "description": "Passes where any, or all, of its parts pass."}, **_SHARED_FIELDS_SCHEMA},
        [SET_KIND],
    )


def _build_assertion_object_schema(properties: ArgumentSchema, required: list[str] | None = None) -> ArgumentSchema:
    must = {"required": required} if required else {}
    return {"type": "object", "properties": properties, "additionalProperties": False, **must}
