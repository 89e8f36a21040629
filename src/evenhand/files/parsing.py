"""Files opened safely: YAML, JSON and JSONL text to a tree with lines, or to plain values."""

from __future__ import annotations

import json
import re
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from decimal import Decimal, InvalidOperation
from functools import cache
from pathlib import Path
from typing import Any

import orjson
import yaml

from evenhand.errors import AnswersError, Fault, FaultPath, InputError, RubricError
from evenhand.files.allowed_files import open_allowed_file, refuse_forbidden_path
from evenhand.files.tree import (
    MOST_NODES,
    MappingNode,
    ScalarNode,
    SequenceNode,
    TreeBuilder,
    TreeNode,
    find_node_line,
    make_line_error,
)

LARGEST_RUBRIC_FILE = 5_000_000


def read_tree_file(path: Path) -> TreeNode:
    """The tree of a YAML or JSON file."""
    return parse_tree(path, read_text_file(path, LARGEST_RUBRIC_FILE, RubricError))


def parse_tree(path: Path, text: str) -> TreeNode:
    """The tree of a YAML or JSON text that stands in a file."""
    try:
        tree = parse_json_tree(text) if path.suffix == ".json" else parse_yaml_tree(text)
    except RubricError as error:
        faults = (Fault(f.what, f.hint, f.path, f"{path}{f.where}") for f in error.faults)
        raise RubricError(*faults) from None
    if tree is None:
        raise RubricError(Fault("the file is empty", "evenhand rubric init writes a starter", where=str(path)))
    return tree


def read_text_mapping_file(path: Path) -> dict[str, str]:
    """A file of names and texts."""
    tree = read_tree_file(path)
    if not isinstance(tree, MappingNode) or not all(isinstance(value, ScalarNode) for _, value in tree.items):
        raise InputError(Fault("expected names, each with a text", where=str(path)))
    return {key.text: value.text for key, value in tree.items if isinstance(value, ScalarNode)}


def read_text_file(path: Path, largest: int, error: type[InputError]) -> str:
    """The text of a file of reasonable size."""
    return decode_text_file(read_file_content(path, largest, error), str(path), error)


def read_file_content(path: Path, largest: int, error: type[InputError]) -> bytes:
    """What is in a file of reasonable size."""
    refuse_forbidden_path(path, error)
    try:
        with open_allowed_file(path) as file:
            content = file.read(largest + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise error(Fault(f"cannot be read: {reason.lower()}", where=str(path))) from None
    if len(content) > largest:
        raise error(Fault(f"larger than the {largest:,} bytes allowed", where=str(path)))
    return content


def decode_text_file(content: bytes, where: str, error: type[InputError]) -> str:
    """UTF-8 text, with or without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise error(Fault("not UTF-8 text", "save the file as UTF-8", where=f"{where}:{line}")) from None


_YamlLoader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
YAML_STRING_LOADER = getattr(yaml, "CBaseLoader", yaml.BaseLoader)  # "no" and 10 stay strings.


def parse_yaml_tree(text: str) -> TreeNode | None:
    """The one document in a YAML text; None where it is empty."""
    builder = TreeBuilder()
    anchors: dict[str, TreeNode | None] = {}
    opened: list[str | None] = []
    documents = 0
    try:
        for event in yaml.parse(text, Loader=_YamlLoader):
            line = event.start_mark.line + 1 if event.start_mark else 0
            tag = getattr(event, "tag", None)
            if tag not in (None, "!"):
                raise make_line_error(line, f"the tag {tag!r} is not understood", "write the plain value")
            if isinstance(event, yaml.DocumentStartEvent):
                documents += 1
                if documents > 1:
                    raise make_line_error(line, "a second document", "one file holds one rubric: remove '---'")
            elif isinstance(event, yaml.AliasEvent):
                target = anchors.get(event.anchor or "")
                if target is None:
                    wrong = "contains itself" if event.anchor in anchors else "names nothing above it"
                    raise make_line_error(line, f"the alias *{event.anchor or ''} {wrong}")
                builder.alias(target, line)
            elif isinstance(event, (yaml.MappingStartEvent, yaml.SequenceStartEvent)):
                anchors |= {event.anchor: None} if event.anchor else {}
                opened.append(event.anchor)
                is_mapping = isinstance(event, yaml.MappingStartEvent)
                builder.add(MappingNode(line) if is_mapping else SequenceNode(line), opens=True)
            elif isinstance(event, (yaml.MappingEndEvent, yaml.SequenceEndEvent)):
                node = builder.close()
                anchor = opened.pop()
                anchors |= {anchor: node} if anchor else {}
            elif isinstance(event, yaml.ScalarEvent):
                scalar = ScalarNode(event.value, line, quoted=not event.implicit[0])
                anchors |= {event.anchor: scalar} if event.anchor else {}
                builder.add(scalar)
    except yaml.MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        problem = error.problem or error.context or "cannot be read"
        line_text = "" if mark is None else next(iter(text.split("\n")[mark.line : mark.line + 1]), "")
        if mark is not None and "\t" in line_text[: len(line_text) - len(line_text.lstrip())]:
            hint = "YAML is indented with spaces: replace the tab by spaces"
            raise make_line_error(mark.line + 1, "not valid YAML: the line begins with a tab", hint) from None
        raise make_line_error(mark.line + 1 if mark else 1, f"not valid YAML: {problem}") from None
    except yaml.YAMLError as error:
        raise make_line_error(1, f"not valid YAML: {str(error).splitlines()[0]}") from None
    return builder.root


_JSON_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<string>"(?:[^"\\\x00-\x1f]|\\["\\/bfnrt]|\\u[0-9a-fA-F]{4})*")
      | (?P<number>-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?)
      | (?P<word>true|false|null|-?Infinity|NaN)
      | (?P<mark>[\[\]{},:])""",
    re.VERBOSE,
)
_JSON_CONSTANTS = ("NaN", "Infinity", "-Infinity")
_EXPECTED_TOKENS = {"value": "a value", "key": "a key in quotes", "colon": "':'", "after": "',' or the end"}


def parse_json_tree(text: str, most_nodes: int = MOST_NODES, *, lenient: bool = False) -> TreeNode | None:
    """The value in a JSON text; None where it is empty. Lenient, it only looks for places, whatever stands there."""
    reader = _JsonTokenReader(TreeBuilder(most_nodes, lenient=lenient))
    position, line = 0, 1
    while position < len(text):
        token = _JSON_TOKEN.match(text, position)
        if token is None:
            found = text[position : position + 12].split("\n", maxsplit=1)[0]
            raise make_line_error(line, f"not valid JSON: expected {_EXPECTED_TOKENS[reader.expects]}, found {found!r}")
        if token.lastgroup != "space":
            if token.group() in _JSON_CONSTANTS and not lenient:
                raise make_line_error(line, f"not valid JSON: expected a value, found {token.group()!r}")
            reader.take(token.lastgroup or "", token.group(), line)
        line += token.group().count("\n")
        position = token.end()
    if reader.nesting or (reader.builder.root is None and reader.started):
        raise make_line_error(line, "not valid JSON: the file ends too early")
    return reader.builder.root


@dataclass(slots=True)
class _JsonTokenReader:
    """What may come next in a JSON text."""

    builder: TreeBuilder
    nesting: list[str] = field(default_factory=list)
    expects: str = "value"
    started: bool = False
    _just_opened: bool = False

    def take(self, kind: str, token: str, line: int) -> None:
        """Accept one token, or say what was expected in its place."""
        self.started = True
        wants_value = self.expects == "value"
        may_close = self.nesting[-1:] == [token] and (self.expects == "after" or self._just_opened)
        if token in ("]", "}") and may_close:
            self.builder.close()
            self.nesting.pop()
            self.expects = "after"
        elif wants_value and token in ("{", "["):
            is_mapping = token == "{"
            self.builder.add(MappingNode(line) if is_mapping else SequenceNode(line), opens=True)
            self.nesting.append("}" if is_mapping else "]")
            self.expects = "key" if is_mapping else "value"
        elif kind == "string" and self.expects in ("value", "key"):
            self.builder.add(ScalarNode(json.loads(token), line, quoted=wants_value))
            self.expects = "after" if wants_value else "colon"
        elif kind in ("number", "word") and wants_value:
            self.builder.add(ScalarNode(token, line))
            self.expects = "after"
        elif self.expects == "colon" and token == ":":
            self.expects = "value"
        elif self.expects == "after" and token == "," and self.nesting:
            self.expects = "key" if self.nesting[-1] == "}" else "value"
        else:
            inside = self.nesting or wants_value or token in ("]", "}")
            expected = _EXPECTED_TOKENS[self.expects] if inside else "the end of the file"
            raise make_line_error(line, f"not valid JSON: expected {expected}, found {token[:12]!r}")
        self._just_opened = token in ("{", "[")


# Only a file with a fault is read once more for its lines.
MOST_LOCATED_NODES = 5_000_000


class DuplicateKeyJsonObject(dict[str, object]):
    """A JSON object in which a key came more than once; `twice` maps it to all its values."""

    twice: dict[str, list[object]]

    def differing(self) -> list[str]:
        """The keys whose values contradict each other."""
        return [key for key, values in self.twice.items() if any(value != values[0] for value in values)]


def parse_json_file_text(text: str, where: str) -> tuple[object, Callable[[FaultPath], str]]:
    """The data of a JSON text, or of one value per line, and how to find a path's place in it."""

    tree = cache(lambda: _parse_lenient_json_tree(text))
    try:
        return decode_json(text), lambda path: f"{where}:{find_node_line(found, path) if (found := tree()) else 1}"
    except json.JSONDecodeError as error:
        # Not splitlines: a string may hold other line breaks than the one that ends a line of JSONL.
        lines = [(number, line) for number, line in enumerate(text.split("\n"), start=1) if line.strip()]
        if len(lines) < 2 or error.msg != "Extra data":
            fault = explain_json_error(text.rstrip(), error, with_line=False)
            hint = f"{fault.hint}; answers are JSON or JSONL"
            raise AnswersError(replace(fault, hint=hint, where=f"{where}:{error.lineno}")) from None
    rows = [_parse_json_file_line(line, f"{where}:{number}") for number, line in lines]
    return rows, lambda path: f"{where}:{lines[int(path[0])][0]}" if path else where


def _parse_json_file_line(line: str, where: str) -> object:
    try:
        return decode_json(line)
    except json.JSONDecodeError as error:
        raise AnswersError(replace(explain_json_error(line.rstrip(), error), where=where)) from None
    except AnswersError as error:
        raise error.with_locations(lambda _: where) from None


def explain_json_error(text: str, error: json.JSONDecodeError, *, with_line: bool = True) -> Fault:
    """What is wrong with a text and at which column; of one that breaks off, where it does and what was left open."""
    line = f"line {error.lineno}, " if with_line and "\n" in text else ""
    place = f"{line}column {error.colno}"
    if error.msg.startswith("Unterminated string"):
        end = f"it breaks off at column {len(text.rpartition(chr(10))[2]) + 1}"
        return Fault("not valid JSON: a string is not closed", f"{end}; the string begins at {place}")
    if error.msg.startswith("Invalid control character") and text[error.pos : error.pos + 1] == "\n":
        return Fault("not valid JSON: a string is not closed", f"its line breaks off at {place}")
    if error.pos >= len(text):
        return Fault(f"not valid JSON: it breaks off: {error.msg}", place)
    return Fault(f"not valid JSON: {error.msg.removesuffix(' at')}", place)


def encode_plain_json(value: object) -> str:
    """Plain data as JSON, for machines: short, and with no character that a database or a server cannot take."""
    return encode_plain_json_bytes(value).decode()


def encode_plain_json_bytes(value: object) -> bytes:
    """The same in UTF-8, as a server takes it."""
    try:
        return orjson.dumps(value)
    except TypeError:  # Half a character, a number of many digits or a key that is no text: the slow one takes them.
        return json.dumps(value, separators=(",", ":")).encode()


def decode_plain_json(text: str | bytes) -> Any:
    """The value of a JSON text that a machine has written, with plain floats; a ValueError where it is none."""
    try:
        return orjson.loads(text)
    except ValueError:  # The slow one reads halves of characters and NaN too, and its errors say where.
        return json.loads(text.decode("utf-8-sig") if isinstance(text, bytes) else text)


def build_json_encoder(plain: json.JSONEncoder) -> Callable[[object], str]:
    """What the encoder makes of lists and objects, in less time: its own `encode` sets up a C encoder for each.

    One without indents that does not check for circles.
    """
    make: Any = getattr(json.encoder, "c_make_encoder", None)
    if make is None:
        return plain.encode
    quote = json.encoder.encode_basestring_ascii if plain.ensure_ascii else json.encoder.encode_basestring
    colon, comma = plain.key_separator, plain.item_separator
    write = make(None, plain.default, quote, None, colon, comma, plain.sort_keys, plain.skipkeys, plain.allow_nan)
    return lambda value: "".join(write(value, 0))


def decode_json(text: str) -> object:
    """The value of a JSON text: exact decimals, and what an object says twice remembered."""
    try:
        return _decode_exact_json(text)
    except RecursionError:
        raise AnswersError("nested too deep") from None
    except json.JSONDecodeError:
        raise
    except ValueError as error:
        raise AnswersError(f"a number that cannot be read: {str(error).split(';')[0]}") from None


def decode_json_decimal(text: str) -> Decimal:
    """The exact number a text is; infinite where it is beyond counting."""
    try:
        return Decimal(text)
    except InvalidOperation:
        return Decimal("Infinity")  # Beyond every scale, and so unreadable.


def decode_json_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object from its pairs, which remembers what it says twice."""
    plain = dict(pairs)
    if len(plain) == len(pairs):
        return plain
    values: dict[str, list[object]] = {}
    for key, value in pairs:
        values.setdefault(key, []).append(value)
    result = DuplicateKeyJsonObject(plain)
    result.twice = {key: given for key, given in values.items() if len(given) > 1}
    return result


# Made once: setting one up takes as long as reading a short reply.
_decode_exact_json = json.JSONDecoder(parse_float=decode_json_decimal, object_pairs_hook=decode_json_object).decode


def _parse_lenient_json_tree(text: str) -> TreeNode | None:
    try:
        return parse_json_tree(text, MOST_LOCATED_NODES, lenient=True)
    except RubricError:
        return None
