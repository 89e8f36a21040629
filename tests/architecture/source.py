"""The package as source code: its modules, the room that each is in, and what each imports."""

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

import evenhand

PACKAGE = Path(evenhand.__file__).parent

# From the ground up; rooms on one line do not know each other.
LEVELS = [
    ["errors", "_version"],
    ["wording"],
    ["model"],
    ["scoring", "stats", "files"],
    ["models"],
    ["judging", "assertions", "guards"],
    ["evals", "store"],
    ["runs"],
    ["compare", "calibrate", "contest"],
    ["report"],
    ["workflows"],
    ["testing", "mcp", "rewards", "client"],
    ["service"],
    ["web"],
    ["cli", "pytest_plugin"],
    ["__init__", "__main__"],
]
LEVEL_OF = {room: number for number, rooms in enumerate(LEVELS) for room in rooms}
DOORS = ("testing", "mcp", "rewards", "service", "web", "client", "cli", "pytest_plugin", "__main__")


class ImportedName(NamedTuple):
    """One name that an import statement brings in; `module` is what stands behind `from` or `import`."""

    module: str
    name: str
    line: int

    @property
    def is_own(self) -> bool:
        """Whether it comes from this package."""
        return self.module.partition(".")[0] == "evenhand"

    @property
    def room(self) -> str:
        """The room that it comes from: `from evenhand import errors` names it last."""
        below = self.module.split(".")[1:]
        return below[0] if below else self.name


@dataclass
class Module:
    """A file of the package, parsed."""

    path: str  # Below the package.
    text: str

    @property
    def room(self) -> str:
        """The first part of its path."""
        return self.path.partition("/")[0].removesuffix(".py")

    @cached_property
    def tree(self) -> ast.Module:
        """Its syntax."""
        return ast.parse(self.text)

    @cached_property
    def imports(self) -> list[ImportedName]:
        """All of them, those inside functions too."""
        return [name for node in ast.walk(self.tree) for name in self._list_imported_names(node)]

    def _list_imported_names(self, node: ast.AST) -> Iterator[ImportedName]:
        if isinstance(node, ast.Import):
            yield from (ImportedName(alias.name, "", node.lineno) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{self.path}:{node.lineno}: imports are written in full"
            yield from (ImportedName(node.module or "", alias.name, node.lineno) for alias in node.names)


def read_modules() -> list[Module]:
    """Every module of the package."""
    files = sorted(PACKAGE.rglob("*.py"))
    return [Module(file.relative_to(PACKAGE).as_posix(), file.read_text("utf-8")) for file in files]
