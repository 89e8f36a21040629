"""Fields of a submission or a challenge out of plain data: every fault is collected with its path, none is raised."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime

from evenhand.contest._names import name_fault, one_name
from evenhand.contest._times import moment_in
from evenhand.errors import Fault
from evenhand.runs._samples_made import kind, refuse_unknown


class Values:
    """One object of a file, read field by field. What is absent or wrong comes back as None."""

    def __init__(self, given: Mapping[str, object], known: frozenset[str], faults: list[Fault]) -> None:
        self.faults = faults
        self._given = given
        refuse_unknown(given, known, (), faults)

    def text(self, name: str) -> str | None:
        """A text that must be there; it may be empty."""
        value = self._given.get(name)
        if isinstance(value, str):
            return value
        if value is None:
            self.faults.append(Fault(f"{name} is missing", "", (name,)))
        else:
            hint = "put it in quotes" if isinstance(value, (int, float)) else ""
            self.faults.append(Fault(f"{name} must be text, got {kind(value)}", hint, (name,)))
        return None

    def name(self, name: str) -> str | None:
        """A text that says who or what, as it is compared: without what cannot be seen at its ends."""
        text = self.text(name)
        if text is None:
            return None
        if why := name_fault(text):
            self.faults.append(Fault(f"{name} {why}", "", (name,)))
            return None
        return one_name(text)

    def name_if_given(self, name: str) -> str | None:
        """The same, where it may be left out."""
        return None if self._given.get(name) is None else self.name(name)

    def moment(self, name: str) -> datetime | None:
        """A moment with its time zone."""
        text = self.text(name)
        return None if text is None else moment_in(text, name, self.faults)
