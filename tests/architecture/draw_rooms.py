"""Draws the rooms into CONTRIBUTING.md from the docstrings and imports of the package: `scripts/draw-rooms`."""

import ast
from collections.abc import Sequence
from pathlib import Path

from tests.architecture.source import LEVEL_OF, LEVELS, Module, read_modules

PAGE = Path(__file__).parents[2] / "CONTRIBUTING.md"
BEGIN = "<!-- Drawn by scripts/draw-rooms from here -->\n"
END = "<!-- to here -->\n"
CAPTION = "Who imports whom: a ● stands in the row of a room, below the number of one that it imports.\n"
SMALL = ("_version", "__init__", "__main__")  # No rooms, only a way in or a constant.


def main() -> None:
    """Write the drawing into the page."""
    page = PAGE.read_text("utf-8")
    before, _, rest = page.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}{draw_rooms(read_modules())}{END}{after}", "utf-8")


def draw_rooms(modules: Sequence[Module]) -> str:
    """What each room is for, from the doors down; then who imports whom, from the ground up."""
    return f"\n{_list_purposes(modules)}\n{CAPTION}\n{_draw_imports(modules)}\n"


def _list_purposes(modules: Sequence[Module]) -> str:
    openings = {module.path: module for module in modules}
    lines = ["| level | room | what is in it |\n|---|---|---|\n"]
    for room in reversed(_list_rooms()):
        opening = openings.get(f"{room}/__init__.py") or openings[f"{room}.py"]
        purpose = (ast.get_docstring(opening.tree) or "").partition("\n")[0]
        lines.append(f"| {LEVEL_OF[room]} | `{room}` | {purpose} |\n")
    return "".join(lines)


def _draw_imports(modules: Sequence[Module]) -> str:
    """A row for each room: ● below the number of a room that it imports, ■ where it meets itself."""
    rooms = _list_rooms()
    imports = {(module.room, one.room) for module in modules for one in module.imports if one.is_own}
    width = max(map(len, rooms))
    numbers = "".join(f"{number:>3}" for number in range(1, len(rooms) + 1))
    lines = [f"    {'':{width + 3}}{numbers}\n"]
    for number, room in enumerate(rooms, start=1):
        marks = ["■" if other == room else "●" if (room, other) in imports else "·" for other in rooms[:number]]
        lines.append(f"    {number:>2} {room:<{width}}{''.join(f'{mark:>3}' for mark in marks)}\n")
    return "".join(lines)


def _list_rooms() -> list[str]:
    return [room for rooms in LEVELS for room in rooms if room not in SMALL]


if __name__ == "__main__":
    main()
