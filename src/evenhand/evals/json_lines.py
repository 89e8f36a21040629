"""JSON lines and JSON lists of a file, read with bounded length, and values refused that no store can hold."""

from __future__ import annotations

import json
import math
import stat
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from io import BufferedReader
from pathlib import Path
from typing import NoReturn

from evenhand.errors import EvalError, Fault, RubricError
from evenhand.files.allowed_files import explain_forbidden_path, follow_allowed_path, open_allowed_file
from evenhand.files.parsing import explain_json_error, parse_json_tree, read_text_file
from evenhand.files.tree import TreeNode, find_node_line
from evenhand.wording import quote_whole_text

LARGEST_JSON_LIST = 50_000_000
LARGEST_LOCATED_JSON = 5_000_000


@dataclass(frozen=True)
class EvalSampleJsonLines:
    """The objects of a JSONL file with their lines; empty lines are skipped."""

    path: Path

    def __iter__(self) -> Iterator[tuple[int, object]]:
        for number, line in read_eval_sample_lines(self.path):
            if line is None:
                yield number, Fault(LINE_TOO_LONG)
            elif not line.isspace():
                yield number, parse_sample_json(line)

    def locate(self, number: int) -> str:
        """Where an entry stands."""
        return f"{self.path}:{number}"


@dataclass(frozen=True)
class EvalSampleJsonList:
    """The entries of a small JSON file with a list in it."""

    path: Path

    def __iter__(self) -> Iterator[tuple[int, object]]:
        open_eval_sample_file(self.path).close()
        text = read_text_file(self.path, LARGEST_JSON_LIST, EvalError)
        value = parse_sample_json(text)
        if isinstance(value, Fault):
            several = value.what.endswith("Extra data")
            hint = "one object per line is JSONL: write format: jsonl" if several else value.hint
            raise EvalError(Fault(value.what, hint, where=str(self.path)))
        if not isinstance(value, list):
            raise EvalError(Fault("expected a list of samples", 'as in [{"input": …}, …]', where=str(self.path)))
        yield from enumerate(value)

    def locate(self, number: int) -> str:
        """Where an entry stands."""
        return f"{self.path}:{find_node_line(self._tree, (number,)) if self._tree else 1}"

    @cached_property
    def _tree(self) -> TreeNode | None:
        # Only a file with a fault is read once more for its lines.
        text = read_text_file(self.path, LARGEST_JSON_LIST, EvalError)
        with suppress(RubricError):
            return parse_json_tree(text, LARGEST_LOCATED_JSON, lenient=True)
        return None


def parse_sample_json(source: str | bytes) -> object:
    """The value in a JSON text or a line of JSONL, or the Fault why there is none that can be kept."""
    try:
        text = (source.decode() if isinstance(source, bytes) else source).rstrip()
        value = _decode_json(text)
    except UnicodeDecodeError:
        return NOT_UTF8_FAULT
    except json.JSONDecodeError as error:
        return explain_json_error(text, error)
    except RecursionError:
        return Fault(f"nested more than {DEEPEST_SAMPLE_NESTING} deep")
    except ValueError as error:
        return Fault(str(error).split(";")[0])
    # Looking at every value takes longer than reading it, and few lines can hold anything odd.
    if ("\\" in text and "\\u" in text) or text.count("{") + text.count("[") > DEEPEST_SAMPLE_NESTING:
        why = explain_unstorable_sample_value(value)
        return Fault(why) if why else value
    return value


def _parse_sample_float(text: str) -> float:
    value = float(text)
    if math.isinf(value):
        which = (
            f"the number {text}" if len(text) <= 40 else f"a number of {len(text):,} characters"
        )  # Never half of it.
        raise ValueError(f"{which} is too large")
    return value


def _refuse_constant_in_sample(word: str) -> NoReturn:
    raise ValueError(f"not valid JSON: {word} is not a number in JSON")


def _refuse_duplicate_sample_keys(pairs: list[tuple[str, object]]) -> dict[str, object]:
    found = dict(pairs)
    if len(found) != len(pairs):
        twice = next(name for name, count in Counter(name for name, _ in pairs).items() if count > 1)
        raise ValueError(f"the field {quote_whole_text(twice)} is given twice")
    return found


_decode_json = json.JSONDecoder(
    parse_float=_parse_sample_float,
    parse_constant=_refuse_constant_in_sample,
    object_pairs_hook=_refuse_duplicate_sample_keys,
).decode

LONGEST_LINE = 10_000_000
LINE_TOO_LONG = f"longer than the {LONGEST_LINE:,} bytes allowed for one sample"
NOT_UTF8_FAULT = Fault("not UTF-8 text", "save the file as UTF-8")

_BOM = b"\xef\xbb\xbf"


def read_eval_sample_lines(path: Path) -> Iterator[tuple[int, bytes | None]]:
    """Each line with its number and its line break; None in place of one that is too long."""
    with open_eval_sample_file(path) as file:
        if file.read(len(_BOM)) != _BOM:
            file.seek(0)
        number = 0
        while line := file.readline(LONGEST_LINE + 1):
            number += 1
            too_long = len(line) > LONGEST_LINE
            while too_long and line and not line.endswith(b"\n"):
                line = file.readline(LONGEST_LINE)
            yield number, None if too_long else line


def open_eval_sample_file(path: Path) -> BufferedReader:
    """The file, open for reading from its start, or an error that says why it is none."""
    why = explain_unreadable_eval_data(path)
    if why is not None:
        raise EvalError(Fault(why.what, why.hint, where=str(path)))
    try:
        return open_allowed_file(path)
    except OSError as problem:
        why_not = (problem.strerror or str(problem)).lower()
        raise EvalError(Fault(f"cannot be read: {why_not}", where=str(path))) from None


def explain_unreadable_eval_data(path: Path) -> Fault | None:
    """Why a path cannot be read over and over, where that is so."""
    outside = explain_forbidden_path(path)
    if outside is not None:
        return outside
    try:
        mode = follow_allowed_path(path).stat().st_mode
    except (OSError, ValueError) as problem:
        return Fault(f"cannot be read: {(getattr(problem, 'strerror', None) or str(problem)).lower()}")
    if stat.S_ISDIR(mode):
        return Fault("is a folder", "name a file in it")
    if not stat.S_ISREG(mode):
        return Fault("is not a regular file", "it is read more than once: save what it gives to a file")
    return None


DEEPEST_SAMPLE_NESTING = 60

LONE_SURROGATE = "half a character (a lone surrogate), which no file can hold"
NUL_CHARACTER = "a NUL character, which no database can hold"


def explain_unstorable_sample_value(value: object) -> str:
    """Why plain data cannot be kept; empty where it can."""
    waiting: list[tuple[object, int]] = [(value, 0)]
    while waiting:
        value, depth = waiting.pop()
        if isinstance(value, str):
            if why := explain_unstorable_sample_text(value):
                return why
        elif isinstance(value, float) and not math.isfinite(value):
            return f"the number {value}, which JSON does not know"
        elif isinstance(value, (Mapping, list, tuple)):
            if depth >= DEEPEST_SAMPLE_NESTING:
                return f"nested more than {DEEPEST_SAMPLE_NESTING} deep"
            waiting += [(part, depth + 1) for part in value]
            if isinstance(value, Mapping):
                if not all(isinstance(key, str) for key in value):
                    return "a key that is not text"
                waiting += [(part, depth + 1) for part in value.values()]
        elif value is not None and not isinstance(value, (bool, int, float)):
            return f"a value of the type {type(value).__name__}, which JSON does not know"
    return ""


def explain_unstorable_sample_text(text: str) -> str:
    """Why a text cannot be kept; empty where it can."""
    return NUL_CHARACTER if "\0" in text else explain_half_character(text)


def explain_half_character(text: str) -> str:
    """Why a text cannot be written in UTF-8; empty where it can."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return LONE_SURROGATE
    return ""
