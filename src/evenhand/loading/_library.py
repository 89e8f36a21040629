"""What ships with the package: methods, ready rubrics, a starter and the patterns of the guards, each a YAML file."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from evenhand.errors import RubricError
from evenhand.loading._files import read_tree
from evenhand.loading._methods import read_method
from evenhand.loading._tree import line_of
from evenhand.loading._yaml import parse_yaml_strings
from evenhand.model import Method

LIBRARY = Path(__file__).parent.parent / "library"


def rubric_names() -> list[str]:
    """The rubrics that ship: those with a file, and methods that have criteria of their own."""
    methods = [name for name in method_names() if load_method(name).criteria]
    return methods + ready_names()


@cache
def ready_names() -> list[str]:
    """The rubrics that ship as files of their own."""
    return sorted(path.stem for path in (LIBRARY / "rubrics").glob("*.yaml"))


@cache
def method_names() -> list[str]:
    """The methods that ship."""
    return sorted(path.stem for path in (LIBRARY / "methods").glob("*.yaml"))


@cache
def load_method(name: str) -> Method:
    """A shipped method."""
    return load_method_file(LIBRARY / "methods" / f"{name}.yaml")


def load_method_file(path: Path) -> Method:
    """A method from a file of its own."""
    tree = read_tree(path)
    try:
        return read_method(tree, path.stem)
    except RubricError as error:
        raise error.located(lambda at: f"{path}:{line_of(tree, at)}") from None


def starter_rubric() -> str:
    """The text of a commented rubric to begin with."""
    return (LIBRARY / "starter.yaml").read_text("utf-8")


def load_library_data(name: str) -> Any:
    """A data file of the library as mappings and lists of strings."""
    return parse_yaml_strings((LIBRARY / name).read_text("utf-8"))
