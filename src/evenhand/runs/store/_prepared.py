"""Statements that are asked for every call of a judge: put into words once, and run without being built again."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from sqlalchemy import ClauseElement, Dialect


class Prepared:
    """One statement in the words of one database. Building a statement takes ten times as long as running it."""

    def __init__(self, statement: ClauseElement, dialect: Dialect) -> None:
        compiled = statement.compile(dialect=dialect)
        self.text = str(compiled)
        self._fixed = {name: value for name, value in compiled.params.items() if value is not None}
        self._order: list[str] | None = getattr(compiled, "positiontup", None)

    def parameters(self, row: Mapping[str, Any]) -> Any:
        """The values of a row as the driver takes them: in order, or by name."""
        if self._fixed:
            row = {**self._fixed, **row}
        return row if self._order is None else tuple([row[name] for name in self._order])
