"""A row of the guards' measurements: of so many texts, in how many something was found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One class of one data set; `holds` is None where nothing is promised."""

    data: str
    what: str
    found: int
    of: int
    target: str = ""
    holds: bool | None = None
