"""Outputs out of plain data: from a sample file, a program, a server or a function."""

from __future__ import annotations

import math
import re
from collections.abc import Collection, Mapping
from decimal import Decimal

from evenhand.errors import Fault, FaultPath, OutputError, suggest_known_word_in_error
from evenhand.evals.eval_schema import OUTPUT_FACTS, TOOL_CALL_FIELDS
from evenhand.evals.json_lines import explain_unstorable_sample_value, parse_sample_json
from evenhand.model.sample import ToolCall, VariantOutput
from evenhand.wording import quote_whole_text, word_type_of_value

_OUTPUT_FIELDS = ("text", "output", *OUTPUT_FACTS)
_WHOLE_FACTS = ("turns", "input_tokens", "output_tokens")
_WRITTEN_NUMBER = re.compile(r"[-+]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][-+]?[0-9]{1,3})?")
_LARGEST_NUMBER = Decimal(10**12)
_MOST_TOOL_CALLS = 10_000


def read_sample_output_value(
    value: object, path: FaultPath, faults: list[Fault], author: str | None = None
) -> VariantOutput | None:
    """The output in a value of a file; None where it is null, empty of facts, or wrong."""
    if value is None:
        return None
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return VariantOutput(text=str(value), author=author)
    if not isinstance(value, dict):
        hint = "put it in quotes" if isinstance(value, (float, bool)) else ""
        what = f"{_sample_field_name(path)} must be a text or an object with a text, got {word_type_of_value(value)}"
        faults.append(Fault(what, hint, path))
        return None
    refuse_unknown_sample_fields(value, _OUTPUT_FIELDS, path, faults)
    if all(entry is None for entry in value.values()):
        return None  # A row of a table has every column, whether there was an output or not.
    return read_sample_output_facts(value, path, faults, author)


def read_sample_output_facts(
    facts: Mapping[str, object], path: FaultPath, faults: list[Fault], author: str | None = None
) -> VariantOutput | None:
    """The output in an object with `text` or `output`; what else it holds is not looked at."""
    before = len(faults)
    text, other = facts.get("text"), facts.get("output")
    if text is not None and other is not None:
        faults.append(Fault(f"{_sample_field_name(path)} has a text and an output", "keep one of them", path))
    text = other if text is None else text
    if not isinstance(text, str):
        what = "has no text" if text is None else f"has a text that is {word_type_of_value(text)}"
        faults.append(Fault(f"{_sample_field_name(path)} {what}", "leave the output out where there is none", path))
        return None
    trace = read_sample_tool_trace(facts.get("trace"), (*path, "trace"), faults)
    cost, latency = (_read_sample_output_number(facts, name, path, faults) for name in ("cost", "latency_ms"))
    whole = {name: _read_sample_output_number(facts, name, path, faults) for name in _WHOLE_FACTS}
    made = VariantOutput(
        text=text,
        trace=trace,
        cost=cost,
        latency_ms=None if latency is None else float(latency),
        author=read_sample_output_author(facts.get("author"), (*path, "author"), faults) or author,
        **{name: None if value is None else int(value) for name, value in whole.items()},
    )
    return made if len(faults) == before else None


def read_sample_output_author(value: object, path: FaultPath, faults: list[Fault]) -> str | None:
    """The name of the model that wrote an output."""
    if value is None or (isinstance(value, str) and value.strip()):
        return value
    what = f"{_sample_field_name(path)} must be the name of a model, got {word_type_of_value(value)}"
    faults.append(Fault(what, path=path))
    return None


def read_sample_tool_trace(value: object, path: FaultPath, faults: list[Fault]) -> tuple[ToolCall, ...] | None:
    """The calls of tools in a list of {name, input, output}."""
    if value is None:
        return None
    if not isinstance(value, (list, tuple)) or len(value) > _MOST_TOOL_CALLS:
        what = f"must be a list of at most {_MOST_TOOL_CALLS:,} tool calls, got {word_type_of_value(value)}"
        hint = "as in [{name: search, input: Berlin, output: …}]"
        faults.append(Fault(f"{_sample_field_name(path)} {what}", hint, path))
        return None
    calls = []
    for at, one in enumerate(value):
        place = (*path, at)
        if not isinstance(one, dict):
            what = f"must be an object with the name of a tool, got {word_type_of_value(one)}"
            faults.append(Fault(f"{_sample_field_name(place)} {what}", path=place))
            continue
        refuse_unknown_sample_fields(one, TOOL_CALL_FIELDS, place, faults)
        name = one.get("name")
        if not isinstance(name, str) or not name:
            faults.append(Fault(f"{_sample_field_name(place)} needs the name of a tool", path=place))
        calls.append(ToolCall(str(name), one.get("input"), one.get("output")))
    return tuple(calls)


def _read_sample_output_number(
    facts: Mapping[str, object], name: str, path: FaultPath, faults: list[Fault]
) -> Decimal | None:
    value, where = facts.get(name), (*path, name)
    number = None if value is None else _parse_sample_decimal(value)
    if value is not None and (number is None or not 0 <= number <= _LARGEST_NUMBER):
        shown = quote_whole_text(value) if isinstance(value, str) else word_type_of_value(value)
        shown = str(value) if isinstance(value, (int, float)) and abs(value) < _LARGEST_NUMBER else shown
        faults.append(Fault(f"{_sample_field_name(where)} must be a number from 0 up, got {shown}", path=where))
        return None
    if name in _WHOLE_FACTS and number is not None and number != int(number):
        faults.append(Fault(f"{_sample_field_name(where)} must be a whole number, got {number}", path=where))
        return None
    return number


def _parse_sample_decimal(value: object) -> Decimal | None:
    """The number that a value is or is written as; a float is taken as the shortest text that gives it."""
    if isinstance(value, bool):
        return None
    if isinstance(value, float):
        return Decimal(repr(value)) if math.isfinite(value) else None
    if isinstance(value, (int, Decimal)):
        return Decimal(value) if Decimal(value).is_finite() else None
    text = value.strip() if isinstance(value, str) else ""
    return Decimal(text) if len(text) <= 50 and _WRITTEN_NUMBER.fullmatch(text) else None


def refuse_unknown_sample_fields(
    value: Mapping[str, object], known: Collection[str], path: FaultPath, faults: list[Fault]
) -> None:
    """A fault for every field that is none, with the nearest known one."""
    for field in [field for field in value if field not in known][:10]:
        place = f" in {_sample_field_name(path)}" if path else ""
        hint = suggest_known_word_in_error(str(field)[:40], known)
        faults.append(Fault(f"unknown field {quote_whole_text(str(field))}{place}", hint, (*path, str(field))))


def _sample_field_name(path: FaultPath) -> str:
    """A path as it is written in a sample: outputs.new.trace[0]."""
    text = ""
    for part in path:
        text += f"[{part}]" if isinstance(part, int) else f".{part}" if text else part
    return text or "the output"


def read_variant_text(text: str, latency_ms: float) -> VariantOutput:
    """The output in a text: a JSON object with `text` or `output`, else the text itself without its last line break."""
    if text.lstrip().startswith("{"):
        value = parse_sample_json(text)
        if isinstance(value, dict) and isinstance(value.get("text", value.get("output")), str):
            return read_variant_output_facts(value, latency_ms)
    return VariantOutput(text=clean_variant_text(text.removesuffix("\n").removesuffix("\r")), latency_ms=latency_ms)


def read_variant_output_facts(facts: dict[str, object], latency_ms: float) -> VariantOutput:
    """The output in an object; the time it took is measured where it does not say it."""
    cleaned = {name: clean_variant_text(value) if isinstance(value, str) else value for name, value in facts.items()}
    faults: list[Fault] = []
    why = explain_unstorable_sample_value({name: cleaned[name] for name in ("trace", "author") if name in cleaned})
    given = {name: value for name, value in cleaned.items() if value is not None}
    made = read_sample_output_facts({"latency_ms": latency_ms, **given}, (), faults)
    if why or made is None:
        raise OutputError(f"it gave back what cannot be used: {why or faults[0]}")
    return made


def clean_variant_text(text: str) -> str:
    """The text, what is no character in it replaced: half a character, NUL."""
    if "\0" in text:
        text = text.replace("\0", "�")
    return text if text.isascii() else text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
