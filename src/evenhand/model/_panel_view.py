"""What a panel agrees and disagrees on."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Differing:
    """How far reviewers lie apart on a criterion, and the output on which they do most: who gave least and most."""

    criterion: str
    mean_gap: Fraction
    output: str
    low: tuple[Fraction, str]
    high: tuple[Fraction, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Harshness:
    """How far a reviewer's scores lie from the mean of the others', on how many outputs; below 0 is harsh."""

    judge: str
    by: Fraction
    outputs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Dissent:
    """A reviewer whose own scores put other outputs first than the panel does."""

    judge: str
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelView:
    """Disagreement, harshness, dissent, and the reviewers that gave no score, each with why."""

    differing: tuple[Differing, ...] = ()
    harshness: tuple[Harshness, ...] = ()
    dissent: tuple[Dissent, ...] = ()
    silent: tuple[tuple[str, str], ...] = ()
