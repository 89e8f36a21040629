"""The skill for assistants: instructions that make an evaluation one move, printed or installed into a folder."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from evenhand.errors import Fault, InputError, make_unwritable_file_error
from evenhand.files.methods import LIBRARY

SKILL_FILE = Path("evenhand") / "SKILL.md"  # Below the folder in which an assistant looks for skills.


@dataclass(frozen=True, slots=True, kw_only=True)
class InstalledSkill:
    """Where the skill is now, and what was done for it."""

    path: Path
    done: Literal["written", "replaced", "unchanged"]


def read_skill_text() -> str:
    """The text of SKILL.md."""
    return (LIBRARY / "skill" / "SKILL.md").read_text("utf-8")


def install_skill(folder: str, *, force: bool = False) -> InstalledSkill:
    """Write evenhand/SKILL.md into a folder; a file there that says something else stays, unless forced."""
    path, text = Path(folder) / SKILL_FILE, read_skill_text().encode()
    try:
        there = path.read_bytes() if path.exists() else None
        if there == text:
            return InstalledSkill(path=path, done="unchanged")
        if there is not None and not force:
            hint = "--force writes over it"
            raise InputError(Fault("it was changed, or is of another version", hint, where=str(path)))
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(text)
    except OSError as problem:
        raise make_unwritable_file_error(str(path), problem) from None
    return InstalledSkill(path=path, done="written" if there is None else "replaced")
