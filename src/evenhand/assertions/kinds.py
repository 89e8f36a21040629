"""Every kind of assertion: its layer, parameters and rule, and the JSON Schema for editors."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from evenhand.assertions.argument_types import (
    AMOUNT,
    ANY_TEXT,
    COMMAND,
    COUNT,
    FLAG,
    FUNCTION,
    ORDER,
    PATTERN,
    SCHEMA,
    SHARE,
    TEXT,
    TEXTS,
    VISIBLE_TEXT,
    ArgumentSchema,
    ArgumentType,
    AssertionArgument,
)
from evenhand.assertions.facts import AssertionFinding
from evenhand.assertions.output_rules import (
    check_bleu_min,
    check_contains,
    check_contains_all,
    check_contains_any,
    check_ends_with,
    check_equals,
    check_json_schema,
    check_json_valid,
    check_levenshtein_max,
    check_not_contains,
    check_not_equals,
    check_regex,
    check_rouge_n_min,
    check_starts_with,
)
from evenhand.assertions.trace_rules import (
    check_cost_max,
    check_latency_max,
    check_max_length,
    check_min_length,
    check_tool_input_contains,
    check_tool_input_not_contains,
    check_tool_output_contains,
    check_tools_called,
    check_tools_count_max,
    check_tools_count_min,
    check_tools_not_called,
    check_turns_max,
    check_turns_min,
    check_word_count_max,
    check_word_count_min,
)

AssertionLayer = Literal["fact", "behavior"]
SET_KIND = "assert_set"
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


_CASE = AssertionParameter(name="ignore_case", sort=FLAG, means="whether A and a are the same letter", default=False)
_TO = AssertionParameter(
    name="to",
    sort=ANY_TEXT,
    means="the text to compare with; where it is not given, the sample's reference",
    absent="the sample's reference",
)
_TOOL = AssertionParameter(name="tool", sort=TEXT, means="only calls of this tool", absent="any tool")
_N = AssertionParameter(name="n", sort=ORDER, means="words in a row that are compared", default=1)
_COMMAND = AssertionParameter(name="command", sort=COMMAND, means="a command and its arguments; no shell reads it")


def _define_main_parameter(name: str, sort: ArgumentType, means: str) -> AssertionParameter:
    return AssertionParameter(name=name, sort=sort, means=means, required=True)


_TEXT = _define_main_parameter("text", TEXT, "the text to look for")
_EDGE = _define_main_parameter("text", VISIBLE_TEXT, "the text to look for")
_TEXTS = _define_main_parameter("texts", TEXTS, "the texts to look for")
_TOOLS = _define_main_parameter("tools", TEXTS, "names of tools")
_PATTERN = _define_main_parameter("pattern", PATTERN, "a regular expression")
_LEAST = _define_main_parameter("min", COUNT, "the least that passes")
_MOST = _define_main_parameter("max", COUNT, "the most that passes")
_AMOUNT = _define_main_parameter("max", AMOUNT, "the most that passes")
_SHARE = _define_main_parameter("min", SHARE, "the least that passes, 0 to 1")
_VALID = _define_main_parameter("valid", FLAG, "true where it must be JSON, false where it must not")
_SCHEMA = _define_main_parameter("schema", SCHEMA, "a JSON Schema, or the path of a file with one")
_FUNCTION = AssertionParameter(name="function", sort=FUNCTION, means="a Python function: python:MODULE:FUNCTION")


def _define_fact_kind(
    name: str,
    looks_for: str,
    rule: Callable[..., AssertionFinding] | None,
    *parameters: AssertionParameter,
    needs: str = "",
) -> AssertionKind:
    return _define_assertion_kind("fact", name, looks_for, rule, parameters, needs)


def _define_behavior_kind(
    name: str, looks_for: str, rule: Callable[..., AssertionFinding], *parameters: AssertionParameter, needs: str = ""
) -> AssertionKind:
    return _define_assertion_kind("behavior", name, looks_for, rule, parameters, needs)


def _define_assertion_kind(
    layer: AssertionLayer,
    name: str,
    looks_for: str,
    rule: Callable[..., AssertionFinding] | None,
    parameters: tuple[AssertionParameter, ...],
    needs: str,
) -> AssertionKind:
    needed = tuple(needs.split())
    return AssertionKind(name=name, layer=layer, looks_for=looks_for, parameters=parameters, rule=rule, needs=needed)


_ALL_KINDS = (
    _define_fact_kind("contains", "the output contains {text}", check_contains, _TEXT, _CASE),
    _define_fact_kind("not_contains", "the output does not contain {text}", check_not_contains, _TEXT, _CASE),
    _define_fact_kind("contains_all", "the output contains all of {texts}", check_contains_all, _TEXTS, _CASE),
    _define_fact_kind("contains_any", "the output contains one of {texts}", check_contains_any, _TEXTS, _CASE),
    _define_fact_kind("equals", "the output is {to}", check_equals, _TO, _CASE, needs="reference"),
    _define_fact_kind("not_equals", "the output is not {to}", check_not_equals, _TO, _CASE, needs="reference"),
    _define_fact_kind("regex", "the output matches {pattern}", check_regex, _PATTERN, _CASE),
    _define_fact_kind("json_valid", "whether the output is JSON: {valid}", check_json_valid, _VALID),
    _define_fact_kind("json_schema", "the output is JSON of the schema {schema}", check_json_schema, _SCHEMA),
    _define_fact_kind(
        "semantic_similarity", "the output means the same as {to}, at least {min}", None, _SHARE, _TO, needs="reference"
    ),
    _define_fact_kind(
        "rouge_n_min",
        "the output shares runs of {n} words with {to}, F1 at least {min}",
        check_rouge_n_min,
        _SHARE,
        _N,
        _TO,
        needs="reference",
    ),
    _define_fact_kind(
        "bleu_min", "the output has BLEU {min} or more against {to}", check_bleu_min, _SHARE, _TO, needs="reference"
    ),
    _define_fact_kind(
        "levenshtein_max",
        "the output is at most {max} edits away from {to}",
        check_levenshtein_max,
        _MOST,
        _TO,
        _CASE,
        needs="reference",
    ),
    _define_fact_kind(
        "tool_output_contains",
        "a call of {tool} gave back {text}",
        check_tool_output_contains,
        _TEXT,
        _TOOL,
        _CASE,
        needs="trace",
    ),
    _define_fact_kind(
        "tool_input_contains",
        "a call of {tool} was given {text}",
        check_tool_input_contains,
        _TEXT,
        _TOOL,
        _CASE,
        needs="trace",
    ),
    _define_fact_kind(
        "tool_input_not_contains",
        "no call of {tool} was given {text}",
        check_tool_input_not_contains,
        _TEXT,
        _TOOL,
        _CASE,
        needs="trace",
    ),
    _define_fact_kind(
        "faithfulness", "the context bears out at least {min} of what is said", None, _SHARE, needs="context"
    ),
    _define_fact_kind("answer_relevancy", "the output answers the input, at least {min}", None, _SHARE, needs="input"),
    _define_fact_kind(
        "context_recall", "the context holds at least {min} of the reference", None, _SHARE, needs="context reference"
    ),
    _define_behavior_kind("starts_with", "the output starts with {text}", check_starts_with, _EDGE, _CASE),
    _define_behavior_kind("ends_with", "the output ends with {text}", check_ends_with, _EDGE, _CASE),
    _define_behavior_kind("min_length", "the output has {min} characters or more", check_min_length, _LEAST),
    _define_behavior_kind("max_length", "the output has {max} characters or fewer", check_max_length, _MOST),
    _define_behavior_kind("word_count_min", "the output has {min} words or more", check_word_count_min, _LEAST),
    _define_behavior_kind("word_count_max", "the output has {max} words or fewer", check_word_count_max, _MOST),
    _define_behavior_kind("cost_max", "the output cost {max} dollars or less", check_cost_max, _AMOUNT, needs="cost"),
    _define_behavior_kind(
        "latency_max", "the output took {max} ms or less", check_latency_max, _AMOUNT, needs="latency_ms"
    ),
    _define_behavior_kind("turns_min", "the output took {min} turns or more", check_turns_min, _LEAST, needs="turns"),
    _define_behavior_kind("turns_max", "the output took {max} turns or fewer", check_turns_max, _MOST, needs="turns"),
    _define_behavior_kind("tools_called", "every one of {tools} was called", check_tools_called, _TOOLS, needs="trace"),
    _define_behavior_kind(
        "tools_not_called", "none of {tools} was called", check_tools_not_called, _TOOLS, needs="trace"
    ),
    _define_behavior_kind("tools_count_min", "{min} tool calls or more", check_tools_count_min, _LEAST, needs="trace"),
    _define_behavior_kind("tools_count_max", "{max} tool calls or fewer", check_tools_count_max, _MOST, needs="trace"),
    AssertionKind(
        name="custom",
        layer="behavior",
        looks_for="{function}{command} says that it passes",
        parameters=(_FUNCTION, _COMMAND),
        one_of=("function", "command"),
    ),
)
ASSERTION_KINDS: Mapping[str, AssertionKind] = MappingProxyType({kind.name: kind for kind in _ALL_KINDS})

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


def build_assertions_schema() -> ArgumentSchema:
    """A fragment: `$defs` with `assertions`, a list, and `assertion`, one of them."""
    words = {**ASSERTION_KINDS, **{word: ASSERTION_KINDS[name] for word, name in KIND_ALIASES.items()}}
    return {
        "$defs": {
            "assertions": {"type": ["array", "null"], "items": {"$ref": "#/$defs/assertion"}},
            "assertion": {
                "anyOf": [
                    *(_build_assertion_schema(word, kind) for word, kind in words.items()),
                    _build_assertion_set_schema(),
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


def _build_assertion_set_schema() -> ArgumentSchema:
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
