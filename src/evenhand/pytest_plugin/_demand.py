"""What a test asks of an output: said in the call, and where it is not, by the nearest mark."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from pathlib import Path
from typing import TYPE_CHECKING

from evenhand.errors import Fault, InputError, nearest

if TYPE_CHECKING:
    import pytest

    from evenhand.asking import JudgesLike, RubricLike
    from evenhand.model import Number


@dataclass(frozen=True, slots=True, kw_only=True)
class Demand:
    """What to score an output by, and what it must reach. What is None was not said."""

    rubric: RubricLike | None = None
    input: str | None = None
    reference: str | None = None
    context: str | None = None
    assertions: Sequence[Mapping[str, object]] | None = None
    judges: JudgesLike | None = None
    min_score: Number | None = None
    min_grade: str | None = None
    variant: str | None = None

    def or_else(self, further: Demand) -> Demand:
        """This demand, and what it leaves open as another has it."""
        said = {name: getattr(self, name) for name in ARGUMENTS if getattr(self, name) is not None}
        return replace(further, **said)


ARGUMENTS = tuple(field.name for field in fields(Demand))


def demand_of(marks: Iterable[pytest.Mark]) -> Demand:
    """What the marks of a test say together; they come nearest first."""
    demand = Demand()
    for mark in marks:
        if mark.args:
            raise InputError(Fault("it takes keywords only", "as in min_score=0.8", where="pytest.mark.evenhand"))
        unknown = [name for name in mark.kwargs if name not in ARGUMENTS]
        if unknown:
            hint = nearest(unknown[0], ARGUMENTS)
            raise InputError(Fault(f"unknown argument {unknown[0]!r}", hint, where="pytest.mark.evenhand"))
        demand = demand.or_else(Demand(**mark.kwargs))
    return demand


def beside(given: object, folder: Path) -> object:
    """A file that is named from the folder of the test, where it is there; anything else as it was given."""
    if isinstance(given, (str, Path)) and Path(given).suffix and (folder / given).is_file():
        return folder / given
    return given
