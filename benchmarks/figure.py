"""One measured figure with its target."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Figure:
    """What was measured, how it reads, what it should be, and whether it is."""

    name: str
    value: str
    target: str
    holds: bool

    def __str__(self) -> str:
        return f"{'ok    ' if self.holds else 'MISSED'}  {self.name:<52} {self.value:>16}   target {self.target}"
