"""Several tests at once: p-values that still mean what they say."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from evenhand.errors import Fault, InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Holm:
    """Adjusted p-values in the order given; `n` counts the tests."""

    p: tuple[float, ...]
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class BenjaminiHochberg:
    """Adjusted p-values in the order given; `n` counts the tests."""

    p: tuple[float, ...]
    method: str
    n: int


def holm(ps: Sequence[float]) -> Holm:
    """Holm's step-down adjustment: the chance of any false alarm among all tests stays below the level."""
    adjusted = [0.0] * len(ps)
    highest = 0.0
    for rank, place in enumerate(_by_size(ps)):
        highest = max(highest, min(1.0, (len(ps) - rank) * ps[place]))
        adjusted[place] = highest
    return Holm(p=tuple(adjusted), method="Holm", n=len(ps))


def benjamini_hochberg(ps: Sequence[float]) -> BenjaminiHochberg:
    """The step-up adjustment: of the tests below the level, the expected share of false alarms stays below it."""
    adjusted = [0.0] * len(ps)
    lowest = 1.0
    for rank, place in reversed(list(enumerate(_by_size(ps), 1))):
        lowest = min(lowest, len(ps) / rank * ps[place])
        adjusted[place] = lowest
    return BenjaminiHochberg(p=tuple(adjusted), method="Benjamini–Hochberg", n=len(ps))


def _by_size(ps: Sequence[float]) -> list[int]:
    if any(not 0 <= p <= 1 for p in ps):
        raise InputError(Fault(f"p-values lie between 0 and 1, got {list(ps)}"))
    return sorted(range(len(ps)), key=ps.__getitem__)
