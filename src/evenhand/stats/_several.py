"""Several tests at once: p-values that still mean what they say."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.errors import Fault, InputError
from evenhand.stats._arrays import Numbers, finite


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


def holm(ps: Numbers) -> Holm:
    """Holm's step-down adjustment: the chance of any false alarm among all tests stays below the level."""
    given = _checked(ps)
    adjusted = [0.0] * len(given)
    highest = 0.0
    for rank, place in enumerate(_by_size(given)):
        highest = max(highest, min(1.0, (len(given) - rank) * given[place]))
        adjusted[place] = highest
    return Holm(p=tuple(adjusted), method="Holm", n=len(given))


def benjamini_hochberg(ps: Numbers) -> BenjaminiHochberg:
    """The step-up adjustment: of the tests below the level, the expected share of false alarms stays below it."""
    given = _checked(ps)
    adjusted = [0.0] * len(given)
    lowest = 1.0
    for rank, place in reversed(list(enumerate(_by_size(given), 1))):
        lowest = min(lowest, len(given) / rank * given[place])
        adjusted[place] = lowest
    return BenjaminiHochberg(p=tuple(adjusted), method="Benjamini–Hochberg", n=len(given))


def _checked(ps: Numbers) -> list[float]:
    given: list[float] = finite(ps, "ps").tolist()
    wrong = [p for p in given if not 0 <= p <= 1]
    if wrong:
        raise InputError(Fault(f"p-values lie between 0 and 1, got {wrong[0]:g}"))
    return given


def _by_size(ps: list[float]) -> list[int]:
    return sorted(range(len(ps)), key=ps.__getitem__)
