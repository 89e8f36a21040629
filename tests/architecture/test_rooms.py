"""Rooms and who may enter: one test for each rule, over every file of the package."""

from collections.abc import Callable, Sequence

import pytest

from evenhand.files.methods import list_method_yaml_names
from tests.architecture.draw_rooms import BEGIN, END, PAGE, draw_rooms
from tests.architecture.rules import (
    MOST_LINES,
    find_foreign_packages,
    find_long_files,
    find_method_names,
    find_missing_purposes,
    find_private_imports,
    find_repeated_classes,
    find_shortcuts,
    find_surroundings,
    find_unbounded_fractions,
    find_unused_allowances,
    find_upward_imports,
    find_waiting,
)
from tests.architecture.source import LEVEL_OF, Module, read_modules

# "points" is also a field of a criterion, "checklist" also a dialogue.
METHODS = set(list_method_yaml_names()) - {"points", "checklist"}


@pytest.fixture(scope="module")
def modules() -> list[Module]:
    return read_modules()


def test_every_room_has_its_level(modules: list[Module]) -> None:
    """A new room says where it stands before anybody imports it."""
    assert {module.room for module in modules} == set(LEVEL_OF)


def test_the_drawing_of_the_rooms_is_current(modules: list[Module]) -> None:
    """CONTRIBUTING shows every room and who imports whom: scripts/draw-rooms draws it anew."""
    assert f"{BEGIN}{draw_rooms(modules)}{END}" in PAGE.read_text("utf-8")


def test_a_room_imports_only_from_below(modules: list[Module]) -> None:
    """What is low stays low: arithmetic never learns of files, files never of screens."""
    _expect_none(find_upward_imports(modules))


def test_a_command_goes_through_a_workflow(modules: list[Module]) -> None:
    """What the command line can do, Python can do: cli/X calls workflows/X, and that joins the rooms."""
    _expect_none(find_shortcuts(modules))


def test_third_party_packages_stay_in_their_rooms(modules: list[Module]) -> None:
    """The model needs the standard library only; NumPy is for columns, Rich for what is drawn."""
    _expect_none(find_foreign_packages(modules))


def test_nothing_is_allowed_that_nobody_needs(modules: list[Module]) -> None:
    """A table of exceptions that outlives them hides the next one."""
    _expect_none(find_unused_allowances(modules))


def test_nobody_imports_what_another_keeps_private(modules: list[Module]) -> None:
    """An underscore promises that a change stays in the file, or the room."""
    _expect_none(find_private_imports(modules))


def test_a_module_opens_with_its_purpose(modules: list[Module]) -> None:
    """Whoever reads only first lines learns the architecture."""
    _expect_none(find_missing_purposes(modules))


def test_a_fraction_that_was_stored_is_read_with_bounds(modules: list[Module]) -> None:
    """A file of a stranger is stored too: eleven letters of it kept an import at work until the memory was full."""
    _expect_none(find_unbounded_fractions(modules))


def test_a_file_is_a_chapter(modules: list[Module]) -> None:
    """It is read at one sitting."""
    _expect_none(find_long_files(modules))


def test_a_public_class_name_exists_once(modules: list[Module]) -> None:
    """Whoever searches for it finds one place."""
    _expect_none(find_repeated_classes(modules))


def test_clock_and_environment_are_read_above(modules: list[Module]) -> None:
    """What depends on the moment or the machine is handed down as a value, and so can be tested."""
    _expect_none(find_surroundings(modules))


def test_only_those_who_send_wait(modules: list[Module]) -> None:
    """Asking is data, sending is elsewhere: prompts, readers and dialogues are tested without a loop."""
    _expect_none(find_waiting(modules))


def test_no_arithmetic_knows_a_method_by_name(modules: list[Module]) -> None:
    """The engine knows steps, never methods."""
    _expect_none(find_method_names(modules, METHODS))


def _expect_none(violations: list[str]) -> None:
    assert not violations, "\n".join(violations)


PLANTED = {
    "a room above": (find_upward_imports, "scoring/x.py", "from evenhand.files.tree import TreeNode"),
    "a room beside": (find_upward_imports, "compare/x.py", "def f():\n    from evenhand.contest import task"),
    "a room named last": (find_upward_imports, "errors.py", "from evenhand import model"),
    "a shortcut": (find_shortcuts, "cli/x.py", "from evenhand.store.store import Store"),
    "a file read by a route": (find_shortcuts, "service/x.py", "from evenhand.files.rubrics import load_rubric"),
    "a package": (find_foreign_packages, "model/x.py", "import numpy.linalg"),
    "a private module": (find_private_imports, "runs/x.py", "from evenhand.store._rows import Row"),
    "a private name": (find_private_imports, "runs/x.py", "from evenhand.runs.execute import _work"),
    "no purpose": (find_missing_purposes, "runs/x.py", '"""Work."""'),
    "a long file": (find_long_files, "runs/x.py", "\n" * (MOST_LINES + 1)),
    "a class twice": (find_repeated_classes, "runs/x.py", "class A: ...\nclass B:\n    class A: ..."),
    "the environment": (find_surroundings, "runs/x.py", "import os\nos.environ['A']"),
    "an imported clock": (find_surroundings, "store/x.py", "from time import time"),
    "this moment": (find_surroundings, "contest/x.py", "from datetime import datetime\ndatetime.now()"),
    "the search path": (find_surroundings, "models/x.py", "import sys\nsys.path.insert(0, '.')"),
    "a stored fraction": (find_unbounded_fractions, "runs/x.py", "Fraction(row['weight'] or 1)"),
    "a wait": (find_waiting, "judging/prompts.py", "async def ask(): ..."),
    "a method": (lambda modules: find_method_names(modules, METHODS), "scoring/x.py", "is_it = name == 'council'"),
}


@pytest.mark.parametrize("name", PLANTED)
def test_a_rule_finds_what_breaks_it(name: str) -> None:
    """A rule that cannot fail is none."""
    rule: Callable[[Sequence[Module]], list[str]]
    rule, path, text = PLANTED[name]

    assert len(rule([Module(path, text)])) == 1


def test_an_allowance_that_nobody_needs_is_found() -> None:
    """Without the rooms that use it, every entry of the tables is one too many."""
    unused = find_unused_allowances([Module("scoring/x.py", "import numpy")])

    assert "stats: numpy" in unused
    assert "scoring: numpy" not in unused
    assert "judging/single_judge.py" in unused
    assert "store/database.py: datetime.now" in unused
