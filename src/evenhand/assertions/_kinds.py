"""Every kind of assertion: its layer, what it looks for, its parameters and the rule behind it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from evenhand.assertions import _amounts, _json, _overlap, _pattern, _sorts, _text, _tools
from evenhand.assertions._facts import Found
from evenhand.assertions._sorts import Argument, Sort

Layer = Literal["fact", "behavior"]
SET = "assert_set"
ALIASES: Mapping[str, str] = MappingProxyType({"tool_called": "tools_called"})


@dataclass(frozen=True, slots=True, kw_only=True)
class Parameter:
    """One thing that can be said to an assertion."""

    name: str
    sort: Sort
    means: str
    required: bool = False
    default: Argument | None = None
    absent: str = ""  # How an assertion speaks of it where it is not given.


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """One kind of assertion. Its first parameter is the one that the short form gives."""

    name: str
    layer: Layer
    looks_for: str  # With the names of parameters in braces.
    parameters: tuple[Parameter, ...]
    rule: Callable[..., Found] | None = None  # None: what it needs is measured outside this room.
    needs: tuple[str, ...] = ()
    one_of: tuple[str, ...] = ()  # Parameters of which exactly one is given.

    @property
    def main(self) -> Parameter:
        """What the short form gives."""
        return self.parameters[0]

    @property
    def options(self) -> tuple[Parameter, ...]:
        """All the others."""
        return self.parameters[1:]


_CASE = Parameter(name="ignore_case", sort=_sorts.FLAG, means="whether A and a are the same letter", default=False)
_TO = Parameter(
    name="to",
    sort=_sorts.ANY_TEXT,
    means="the text to compare with; where it is not given, the sample's reference",
    absent="the sample's reference",
)
_TOOL = Parameter(name="tool", sort=_sorts.TEXT, means="only calls of this tool", absent="any tool")
_N = Parameter(name="n", sort=_sorts.ORDER, means="words in a row that are compared", default=1)
_COMMAND = Parameter(name="command", sort=_sorts.COMMAND, means="a command and its arguments; no shell reads it")


def _main(name: str, sort: Sort, means: str) -> Parameter:
    return Parameter(name=name, sort=sort, means=means, required=True)


_TEXT = _main("text", _sorts.TEXT, "the text to look for")
_EDGE = _main("text", _sorts.VISIBLE_TEXT, "the text to look for")
_TEXTS = _main("texts", _sorts.TEXTS, "the texts to look for")
_TOOLS = _main("tools", _sorts.TEXTS, "names of tools")
_PATTERN = _main("pattern", _sorts.PATTERN, "a regular expression")
_LEAST = _main("min", _sorts.COUNT, "the least that passes")
_MOST = _main("max", _sorts.COUNT, "the most that passes")
_AMOUNT = _main("max", _sorts.AMOUNT, "the most that passes")
_SHARE = _main("min", _sorts.SHARE, "the least that passes, 0 to 1")
_VALID = _main("valid", _sorts.FLAG, "true where it must be JSON, false where it must not")
_SCHEMA = _main("schema", _sorts.SCHEMA, "a JSON Schema, or the path of a file with one")
_FUNCTION = Parameter(name="function", sort=_sorts.FUNCTION, means="a Python function: python:MODULE:FUNCTION")


def _fact(
    name: str, looks_for: str, rule: Callable[..., Found] | None, *parameters: Parameter, needs: str = ""
) -> Kind:
    return _kind("fact", name, looks_for, rule, parameters, needs)


def _behavior(name: str, looks_for: str, rule: Callable[..., Found], *parameters: Parameter, needs: str = "") -> Kind:
    return _kind("behavior", name, looks_for, rule, parameters, needs)


def _kind(
    layer: Layer,
    name: str,
    looks_for: str,
    rule: Callable[..., Found] | None,
    parameters: tuple[Parameter, ...],
    needs: str,
) -> Kind:
    needed = tuple(needs.split())
    return Kind(name=name, layer=layer, looks_for=looks_for, parameters=parameters, rule=rule, needs=needed)


_ALL = (
    _fact("contains", "the output contains {text}", _text.contains, _TEXT, _CASE),
    _fact("not_contains", "the output does not contain {text}", _text.not_contains, _TEXT, _CASE),
    _fact("contains_all", "the output contains all of {texts}", _text.contains_all, _TEXTS, _CASE),
    _fact("contains_any", "the output contains one of {texts}", _text.contains_any, _TEXTS, _CASE),
    _fact("equals", "the output is {to}", _text.equals, _TO, _CASE, needs="reference"),
    _fact("not_equals", "the output is not {to}", _text.not_equals, _TO, _CASE, needs="reference"),
    _fact("regex", "the output matches {pattern}", _pattern.matches, _PATTERN, _CASE),
    _fact("json_valid", "whether the output is JSON: {valid}", _json.json_valid, _VALID),
    _fact("json_schema", "the output is JSON of the schema {schema}", _json.json_schema, _SCHEMA),
    _fact(
        "semantic_similarity", "the output means the same as {to}, at least {min}", None, _SHARE, _TO, needs="reference"
    ),
    _fact(
        "rouge_n_min",
        "the output shares runs of {n} words with {to}, F1 at least {min}",
        _overlap.rouge_n_min,
        _SHARE,
        _N,
        _TO,
        needs="reference",
    ),
    _fact(
        "bleu_min", "the output has BLEU {min} or more against {to}", _overlap.bleu_min, _SHARE, _TO, needs="reference"
    ),
    _fact(
        "levenshtein_max",
        "the output is at most {max} edits away from {to}",
        _overlap.levenshtein_max,
        _MOST,
        _TO,
        _CASE,
        needs="reference",
    ),
    _fact(
        "tool_output_contains",
        "a call of {tool} gave back {text}",
        _tools.tool_output_contains,
        _TEXT,
        _TOOL,
        _CASE,
        needs="trace",
    ),
    _fact(
        "tool_input_contains",
        "a call of {tool} was given {text}",
        _tools.tool_input_contains,
        _TEXT,
        _TOOL,
        _CASE,
        needs="trace",
    ),
    _fact(
        "tool_input_not_contains",
        "no call of {tool} was given {text}",
        _tools.tool_input_not_contains,
        _TEXT,
        _TOOL,
        _CASE,
        needs="trace",
    ),
    _fact("faithfulness", "the context bears out at least {min} of what is said", None, _SHARE, needs="context"),
    _fact("answer_relevancy", "the output answers the input, at least {min}", None, _SHARE, needs="input"),
    _fact(
        "context_recall", "the context holds at least {min} of the reference", None, _SHARE, needs="context reference"
    ),
    _behavior("starts_with", "the output starts with {text}", _text.starts_with, _EDGE, _CASE),
    _behavior("ends_with", "the output ends with {text}", _text.ends_with, _EDGE, _CASE),
    _behavior("min_length", "the output has {min} characters or more", _amounts.min_length, _LEAST),
    _behavior("max_length", "the output has {max} characters or fewer", _amounts.max_length, _MOST),
    _behavior("word_count_min", "the output has {min} words or more", _amounts.word_count_min, _LEAST),
    _behavior("word_count_max", "the output has {max} words or fewer", _amounts.word_count_max, _MOST),
    _behavior("cost_max", "the output cost {max} dollars or less", _amounts.cost_max, _AMOUNT, needs="cost"),
    _behavior("latency_max", "the output took {max} ms or less", _amounts.latency_max, _AMOUNT, needs="latency_ms"),
    _behavior("turns_min", "the output took {min} turns or more", _amounts.turns_min, _LEAST, needs="turns"),
    _behavior("turns_max", "the output took {max} turns or fewer", _amounts.turns_max, _MOST, needs="turns"),
    _behavior("tools_called", "every one of {tools} was called", _tools.tools_called, _TOOLS, needs="trace"),
    _behavior("tools_not_called", "none of {tools} was called", _tools.tools_not_called, _TOOLS, needs="trace"),
    _behavior("tools_count_min", "{min} tool calls or more", _tools.tools_count_min, _LEAST, needs="trace"),
    _behavior("tools_count_max", "{max} tool calls or fewer", _tools.tools_count_max, _MOST, needs="trace"),
    Kind(
        name="custom",
        layer="behavior",
        looks_for="{function}{command} says that it passes",
        parameters=(_FUNCTION, _COMMAND),
        one_of=("function", "command"),
    ),
)
KINDS: Mapping[str, Kind] = MappingProxyType({kind.name: kind for kind in _ALL})
