"""Opening files: text in, or a clear reason why not."""

from __future__ import annotations

from pathlib import Path

from evenhand.errors import Fault, InputError, RubricError
from evenhand.loading._json import parse_json
from evenhand.loading._tree import Mapping, Node, Scalar
from evenhand.loading._yaml import parse_yaml

LARGEST_RUBRIC = 5_000_000


def read_tree(path: Path) -> Node:
    """The tree of a YAML or JSON file."""
    return parse_tree(path, read_text(path, LARGEST_RUBRIC, RubricError))


def parse_tree(path: Path, text: str) -> Node:
    """The tree of a YAML or JSON text that stands in a file."""
    try:
        tree = parse_json(text) if path.suffix == ".json" else parse_yaml(text)
    except RubricError as error:
        faults = (Fault(f.what, f.hint, f.path, f"{path}{f.where}") for f in error.faults)
        raise RubricError(*faults) from None
    if tree is None:
        raise RubricError(Fault("the file is empty", "evenhand rubric init writes a starter", where=str(path)))
    return tree


def read_words(path: Path) -> dict[str, str]:
    """A file of names and texts."""
    tree = read_tree(path)
    if not isinstance(tree, Mapping) or not all(isinstance(value, Scalar) for _, value in tree.items):
        raise InputError(Fault("expected names, each with a text", where=str(path)))
    return {key.text: value.text for key, value in tree.items if isinstance(value, Scalar)}


def read_text(path: Path, largest: int, error: type[InputError]) -> str:
    """The text of a file of reasonable size."""
    try:
        with path.open("rb") as file:
            content = file.read(largest + 1)
    except (OSError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise error(Fault(f"cannot be read: {reason.lower()}", where=str(path))) from None
    if len(content) > largest:
        raise error(Fault(f"larger than the {largest:,} bytes allowed", where=str(path)))
    return decoded(content, str(path), error)


def decoded(content: bytes, where: str, error: type[InputError]) -> str:
    """UTF-8 text, with or without a byte order mark."""
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as problem:
        line = content[: problem.start].count(b"\n") + 1
        raise error(Fault("not UTF-8 text", "save the file as UTF-8", where=f"{where}:{line}")) from None
