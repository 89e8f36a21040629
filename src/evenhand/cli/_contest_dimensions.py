"""Dimensions into a task file: a block at its end and nothing else changed, or a block to paste."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.cli._written import unwritable
from evenhand.errors import ContestError

if TYPE_CHECKING:
    from evenhand.contest import Task
    from evenhand.model import Rubric

# An id that no reader of YAML takes for anything but text.
_PLAIN = re.compile(r"(?!true$|false$|null$)[a-z]{4,}(?:-[a-z]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class Locked:
    """The dimensions to paste, and whether they stand in the file already."""

    to_paste: str
    written: bool


def lock(path: Path, task: Task, rubric: Rubric) -> Locked:
    """Append the dimensions to a task file, if it then reads as the same task with these dimensions."""
    to_paste = _to_paste(rubric)
    real = path.resolve()  # A link stays a link.
    content = real.read_bytes()
    part = real.with_name(f".{real.stem}.part{real.suffix}")
    try:
        part.write_bytes(content + _ended(content) + _like(content, block_of(rubric)))
        if not _reads_as(part, replace(task, dimensions=rubric)):
            return Locked(to_paste=to_paste, written=False)
        shutil.copymode(real, part)
        part.replace(real)
    except OSError as problem:
        raise unwritable(str(path), problem) from None
    finally:
        part.unlink(missing_ok=True)
    return Locked(to_paste=to_paste, written=True)


def block_of(rubric: Rubric) -> str:
    """The dimensions as a task file has them."""
    lines = ["dimensions:"]
    for one in rubric.criteria:
        id = one.id if _PLAIN.fullmatch(one.id) else _in_yaml(one.id)
        lines += [f"  - id: {id}", f"    asks: {_in_yaml(one.asks)}", f"    weight: {_weight(one.weight)}"]
        lines += ["    fixed: true"] if one.fixed else []
    return "\n".join(lines) + "\n"


def _to_paste(rubric: Rubric) -> str:
    """The same in flow style, which is at home in JSON and in every YAML."""
    entries = []
    for one in rubric.criteria:
        fixed = ', "fixed": true' if one.fixed else ""
        entries.append(
            f'  {{"id": {json.dumps(one.id)}, "asks": {json.dumps(one.asks)}, "weight": {_weight(one.weight)}{fixed}}}'
        )
    return '"dimensions": [\n' + ",\n".join(entries) + "\n  ]\n"


def _reads_as(part: Path, wanted: Task) -> bool:
    """Whether the file means what is wanted: JSON, flow style, an end mark or a block of text at the end may not."""
    from evenhand.contest import task_json  # noqa: PLC0415
    from evenhand.contest._read_task import load_task  # noqa: PLC0415

    try:
        found, _ = load_task(part, os.environ)
    except ContestError:
        return False
    return task_json(replace(found, name=wanted.name)) == task_json(wanted)


def _ended(content: bytes) -> bytes:
    if content.endswith(b"\n"):
        return b""
    return b"\r\n" if b"\r\n" in content else b"\n"


def _like(content: bytes, block: str) -> bytes:
    """The block with the line ends of the file."""
    return (block.replace("\n", "\r\n") if b"\r\n" in content else block).encode()


def _in_yaml(text: str) -> str:
    """JSON's strings are YAML's, once what nobody sees is an escape: YAML has no pairs of surrogates."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)


def _weight(weight: Fraction) -> str:
    decimal = Decimal(weight.numerator) / Decimal(weight.denominator)
    return str(decimal) if Fraction(decimal) == weight else str(weight)
