"""Reading task files: every fault at once, each with its line."""

from __future__ import annotations

from collections.abc import Iterator
from collections.abc import Mapping as AnyMapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from evenhand import errors
from evenhand.contest._read_dimensions import read_dimensions
from evenhand.contest._read_panel import read_challenge_judges, read_panel
from evenhand.contest._task import MODES, Task
from evenhand.contest._times import length_in, moment_in
from evenhand.errors import ContestError, Fault, RubricError
from evenhand.loading import read_text
from evenhand.loading._fields import Fields, described, is_null
from evenhand.loading._files import LARGEST_RUBRIC, parse_tree
from evenhand.loading._tree import Mapping, Node, Scalar, Sequence, line_of
from evenhand.model import Rubric
from evenhand.runs._samples_sound import unsound_text

TASK_FIELDS = (
    "name", "description", "acceptance", "acceptance_criteria", "mode", "deadline", "revisions", "revision_limit",
    "challenge_period", "reward", "dimensions", "judges", "challenge_judges",
)  # fmt: skip
ALSO = {"acceptance": "acceptance_criteria", "revisions": "revision_limit"}
OF = {also: name for name, also in ALSO.items()}
HINTS = {
    "evenhand rubric init writes a starter": "a task needs description, acceptance and mode",
    "one file holds one rubric: remove '---'": "one file holds one task: remove '---'",
}


def load_task(path: Path, environ: AnyMapping[str, str]) -> tuple[Task, str]:
    """The task in a YAML or JSON file, and the file's text. Settings in the environment override its dimensions."""
    source = read_text(path, LARGEST_RUBRIC, ContestError)
    try:
        tree = parse_tree(path, source)
    except RubricError as error:
        raise ContestError(
            *(replace(fault, hint=HINTS.get(fault.hint, fault.hint)) for fault in error.faults)
        ) from None
    if not isinstance(tree, Mapping):
        what = f"a task file is a mapping, got {described(tree)}"
        raise ContestError(Fault(what, "as in description: …", where=f"{path}:{tree.line}"))
    if unkept := [Fault(why, where=f"{path}:{line}") for line, why in _unkept(tree)]:
        raise ContestError(*unkept)
    return _Reader(tree, path, environ).task(), source


def _unkept(tree: Node) -> Iterator[tuple[int, str]]:
    """The lines of texts that no file or database can hold, and why."""
    waiting: list[Node] = [tree]
    while waiting:
        node = waiting.pop()
        if isinstance(node, Sequence):
            waiting += reversed(node.items)
        elif isinstance(node, Mapping):
            waiting += [part for pair in reversed(node.items) for part in reversed(pair)]
        elif why := unsound_text(node.text):
            yield node.line, why


def _news(fault: Fault) -> str:
    """What a fault of the whole task adds to those of its field; empty where it only says that the field is missed."""
    return fault.what if fault.path[0] in ("judges", "challenge_judges") else ""


class _Reader:
    """Reads one task file and collects its faults."""

    def __init__(self, tree: Mapping, path: Path, environ: AnyMapping[str, str]) -> None:
        self.faults: list[Fault] = []
        self.tree = tree
        self.fields = Fields(tree, TASK_FIELDS, self.faults)
        self.path = path
        self.environ = environ

    def task(self) -> Task:
        """The task, or an error with all that is wrong."""
        parts = self._parts()
        told = {
            (OF.get(str(name), name), what) for one in self.faults for name in one.path[:1] for what in ("", one.what)
        }
        try:
            task = Task(**parts)
        except ContestError as error:
            # What was refused already is left out of the task, which would only say that it misses it.
            self.faults += [one for one in error.faults if (one.path[0], _news(one)) not in told]
        if self.faults:
            raise ContestError(*sorted(self.faults, key=self._order)).located(self._place)
        return task

    def _parts(self) -> dict[str, Any]:
        self._once_each()
        name = self.fields.text("name") or self.path.stem
        judges, weights = read_panel(self.fields, self.tree, self.path)
        return {
            "name": name,
            "description": self.fields.text("description") or "",
            "acceptance": self._acceptance(),
            "mode": self._mode(),
            "deadline": self._deadline(),
            "revisions": self.fields.integer(self._written("revisions")),
            "challenge_period": self._challenge_period(),
            "reward": self.fields.text("reward") or "",
            "dimensions": self._dimensions(name),
            "judges": judges,
            "weights": weights,
            "challenge_judges": read_challenge_judges(self.fields),
        }

    def _once_each(self) -> None:
        """A fault for a field that is given under both its names."""
        for name, also in ALSO.items():
            self.fields.node(name, also)

    def _acceptance(self) -> tuple[str, ...]:
        name = self._written("acceptance")
        node = self.fields.node(name)
        if node is not None and not isinstance(node, Sequence):
            hint = "write a list, one entry for each criterion, even for one"
            self.fields.fault(f"{name} must be a list, got {described(node)}", hint, name)
            return ()
        found: dict[str, int] = {}
        for entry, path in self.fields.items(name):
            text = entry.text.strip() if isinstance(entry, Scalar) and not is_null(entry) else None
            if text is None:
                hint = "a text with a colon in it needs quotes" if isinstance(entry, Mapping) else ""
                self.faults.append(Fault(f"an acceptance criterion is a text, got {described(entry)}", hint, path))
            elif not text:
                self.faults.append(Fault("an acceptance criterion cannot be empty", "write what must be met", path))
            elif text in found:
                first = line_of(self.tree, (name, found[text]))
                self.faults.append(Fault(f"the same criterion as in line {first}", "keep one of them", path))
            else:
                found[text] = int(path[-1])
        return tuple(found)

    def _mode(self) -> str:
        if "mode" not in self.fields:
            self.fields.fault("a task needs a mode", f"one of {', '.join(MODES)}", "mode")
        return self.fields.choice("mode", MODES) or ""

    def _deadline(self) -> datetime | None:
        text = self.fields.text("deadline")
        return None if text is None else moment_in(text, "deadline", self.faults)

    def _challenge_period(self) -> timedelta:
        text = self.fields.text("challenge_period")
        length = None if text is None else length_in(text, "challenge_period", self.faults)
        return timedelta() if length is None else length

    def _dimensions(self, name: str) -> Rubric | None:
        node = self.fields.node("dimensions")
        return None if node is None else read_dimensions(node, name, self.faults, self.path.parent, self.environ)

    def _written(self, name: str) -> str:
        """The name under which a field is given, of the two that it may have."""
        return ALSO[name] if ALSO[name] in self.fields and name not in self.fields else name

    def _place(self, path: errors.Path) -> str:
        return f"{self.path}:{self._line(path)}"

    def _line(self, path: errors.Path) -> int:
        name = str(path[0]) if path else ""
        return line_of(self.tree, (self._written(name), *path[1:]) if name in ALSO else path)

    def _order(self, fault: Fault) -> tuple[bool, int]:
        """By line; what is wrong in another file comes after what is wrong in this one."""
        return bool(fault.where), self._line(fault.path)
