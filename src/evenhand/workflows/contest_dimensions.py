"""The dimensions of a task, locked by writing them into its file."""

from __future__ import annotations

import json
import os
import re
import shutil
from dataclasses import dataclass, replace
from decimal import Decimal
from fractions import Fraction
from pathlib import Path

from evenhand.contest.event_log import contest_task_json
from evenhand.contest.read_task import load_task
from evenhand.contest.task import Task
from evenhand.errors import ContestError, build_unwritable_error
from evenhand.model.rubric import Rubric

# An id that no reader of YAML takes for anything but text.
_PLAIN_YAML_ID = re.compile(r"(?!true$|false$|null$)[a-z]{4,}(?:-[a-z]+)*")


@dataclass(frozen=True, slots=True, kw_only=True)
class LockedDimensions:
    """The dimensions to paste, and whether they stand in the file already."""

    to_paste: str
    written: bool


def save_dimensions_to_user_file(path: Path, task: Task, rubric: Rubric) -> LockedDimensions:
    """Append the dimensions to a task file, if it then reads as the same task with these dimensions."""
    # The same in flow style, which is at home in JSON and in every YAML.
    entries = []
    for one in rubric.criteria:
        fixed = ', "fixed": true' if one.fixed else ""
        weight = _format_dimension_weight(one.weight)
        entries.append(f'  {{"id": {json.dumps(one.id)}, "asks": {json.dumps(one.asks)}, "weight": {weight}{fixed}}}')
    to_paste = '"dimensions": [\n' + ",\n".join(entries) + "\n  ]\n"
    wanted = replace(task, dimensions=rubric)
    real = path.resolve()  # A link stays a link.
    content = real.read_bytes()
    part = real.with_name(f".{real.stem}.part{real.suffix}")
    try:
        block = dimensions_to_yaml(rubric) if content.endswith(b"\n") else f"\n{dimensions_to_yaml(rubric)}"
        block = block.replace("\n", "\r\n") if b"\r\n" in content else block  # With the line ends of the file.
        part.write_bytes(content + block.encode())
        # JSON, flow style, an end mark or a block of text at the end may make it mean something else.
        found, _ = load_task(part, os.environ)
        if contest_task_json(replace(found, name=task.name)) != contest_task_json(wanted):
            return LockedDimensions(to_paste=to_paste, written=False)
        shutil.copymode(real, part)
        part.replace(real)
    except ContestError:
        return LockedDimensions(to_paste=to_paste, written=False)
    except OSError as problem:
        raise build_unwritable_error(str(path), problem) from None
    finally:
        part.unlink(missing_ok=True)
    return LockedDimensions(to_paste=to_paste, written=True)


def dimensions_to_yaml(rubric: Rubric) -> str:
    """The dimensions as a task file has them."""
    lines = ["dimensions:"]
    for one in rubric.criteria:
        id = one.id if _PLAIN_YAML_ID.fullmatch(one.id) else _quote_yaml_text(one.id)
        lines += [
            f"  - id: {id}",
            f"    asks: {_quote_yaml_text(one.asks)}",
            f"    weight: {_format_dimension_weight(one.weight)}",
        ]
        lines += ["    fixed: true"] if one.fixed else []
    return "\n".join(lines) + "\n"


def _quote_yaml_text(text: str) -> str:
    """JSON's strings are YAML's, once what nobody sees is an escape: YAML has no pairs of surrogates."""
    quoted = json.dumps(text, ensure_ascii=False)
    return "".join(one if one.isprintable() else f"\\U{ord(one):08x}" for one in quoted)


def _format_dimension_weight(weight: Fraction) -> str:
    decimal = Decimal(weight.numerator) / Decimal(weight.denominator)
    return str(decimal) if Fraction(decimal) == weight else str(weight)
