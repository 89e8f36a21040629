"""What a workflow is given by name: texts of files or of standard input, and numbers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import BinaryIO

from evenhand.errors import Fault, InputError, suggest_known_word_in_error
from evenhand.evals.json_lines import parse_sample_json
from evenhand.evals.output_data import read_sample_output_facts
from evenhand.files.methods import list_method_yaml_names, load_shipped_method_file
from evenhand.files.parsing import decode_text_file, read_text_file
from evenhand.files.tree import parse_number_field_text
from evenhand.model.sample import OutputTrace

LARGEST_INPUT = 5_000_000
SETTING_PREFIXES = ("LLM_COUNCIL_", "ORACLE_LLM_")
ORACLE_SETTINGS = ("ORACLE_LLM_PROVIDER", "ORACLE_LLM_MODEL", "ORACLE_LLM_BASE_URL")


def list_unknown_environment_settings(environ: Mapping[str, str]) -> list[str]:
    """A warning for each variable that is named like a setting and that no shipped method reads."""
    given = sorted(name for name in environ if name.startswith(SETTING_PREFIXES))
    if not given:
        return []
    methods = map(load_shipped_method_file, list_method_yaml_names())
    known = {*ORACLE_SETTINGS, *(name for method in methods for name in method.environment)}
    return [
        f"environment variable {name}: no shipped method reads it ({suggest_known_word_in_error(name, known)})"
        for name in given
        if name not in known
    ]


def load_user_files(names: Sequence[str], stdin: BinaryIO | None) -> dict[str, str]:
    """The texts by name, each named once."""
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice:
        raise InputError(Fault(f"{twice!r} is named twice", "each output once"))
    return {name: load_user_file(name, stdin) for name in names}


def load_user_file(name: str, stdin: BinaryIO | None) -> str:
    """The text of a file; "-" is standard input."""
    if name == "-":
        content = stdin.read(LARGEST_INPUT + 1) if stdin else b""
        if len(content) > LARGEST_INPUT:
            raise InputError(Fault(f"larger than the {LARGEST_INPUT:,} bytes allowed", where="standard input"))
        return decode_text_file(content, "standard input", InputError)
    return read_text_file(Path(name), LARGEST_INPUT, InputError)


def resolve_user_trace(value: object, turns: object = None) -> OutputTrace | None:
    """How an output came about: a list of {name, input, output}, as in a sample; None where nothing is told."""
    faults: list[Fault] = []
    made = read_sample_output_facts({"text": "-", "trace": value, "turns": turns}, (), faults)
    if faults:
        raise InputError(*faults)
    return None if made is None or made.trace is None else OutputTrace(calls=made.trace, turns=made.turns)


def load_user_trace_file(name: str, stdin: BinaryIO | None) -> OutputTrace:
    """The trace in a JSON file: the list of calls, or an object with `trace` and `turns`."""
    value = parse_sample_json(load_user_file(name, stdin))
    if isinstance(value, Fault):
        raise InputError(Fault(value.what, value.hint, where=name))
    facts = value if isinstance(value, dict) else {"trace": value}
    try:
        trace = resolve_user_trace(facts.get("trace"), facts.get("turns"))
    except InputError as error:
        raise InputError(*(Fault(one.what, one.hint, one.path, name) for one in error.faults)) from None
    if trace is None:
        hint = 'as in [{"name": "search", "input": "Berlin", "output": "…"}]'
        raise InputError(Fault("there is no trace in it", hint, where=name))
    return trace


def suggest_judge_for_author(author: str, judges: Sequence[str]) -> str:
    """The judge that an author probably is, named in another way; empty where there is none, or it is one of them.

    Only a judge with the author's very name is kept from scoring its own output.
    """
    if author in judges:
        return ""
    own = author.rpartition("/")[2].lower()
    return next((judge for judge in judges if judge.rpartition("/")[2].rpartition(":")[2].lower() == own), "")


def parse_user_input_number(text: str, where: str) -> Fraction:
    """The number that an option or an entry of a file gives."""
    value = parse_number_field_text(text)
    if isinstance(value, str):
        raise InputError(Fault(value, "as in 7.5 or 2/3", where=where))
    return value
