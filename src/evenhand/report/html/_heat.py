"""How far each two judges agree, as a map: the darker, the more; what lies below the least that counts stands out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.html._figures import count, number

LEAST = 0.4  # Below it judges do not agree enough for a verdict to rest on them.
MOST = 10  # Judges: with more the numbers no longer fit into the cells of a telephone.
LONGEST, BESIDE = 11, 6  # Letters of a name, and judges, with which names stand beside their rows.
WIDEST, CELL = 16.0, 30.0  # Per cent, pixels.


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A pair of judges; `weight` is how strongly it is coloured, and None where there is no number."""

    x: float
    y: float
    text: str
    says: str
    kind: str
    weight: float | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Named:
    """A judge: its name before or above its row, its number at the head of its column."""

    number: int
    name: str
    name_y: float
    head_x: float
    y: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Heat:
    """All that is drawn, and the same in words."""

    says: str
    height: float
    width: float
    cell: float
    judges: tuple[Named, ...]
    cells: tuple[Cell, ...]
    whys: tuple[str, ...]


def heat_map(agreement: Sequence[Mapping[str, Any]]) -> Heat | None:
    """All pairs of two to ten judges; the table beside it holds them in any case."""
    names = list(dict.fromkeys(name for one in agreement for name in one["judges"]))
    if not 2 <= len(names) <= MOST:
        return None
    above = len(names) > BESIDE or any(len(name) > LONGEST for name in names)
    left, pitch = (0.0, CELL + 22) if above else (27.0, CELL + 2)
    width = round(min((100 - left) / len(names), WIDEST), 2)
    judges = [
        Named(number=place + 1, name=name, y=pitch * place + (20 if above else 0),
              name_y=pitch * place + (14 if above else 20), head_x=round(left + width * (place + 0.5), 2))
        for place, name in enumerate(names)
    ]  # fmt: skip
    pairs = {frozenset(one["judges"]): one for one in agreement}
    cells = [
        _cell(row, column, pairs.get(frozenset((row.name, column.name))), width)
        for row in judges
        for column in judges[: row.number - 1]
    ]
    return Heat(
        says="; ".join(cell.says for cell in cells), height=pitch * len(names), width=round(width - 0.4, 2),
        cell=CELL, judges=tuple(judges), cells=tuple(cells), whys=_whys(judges, pairs),
    )  # fmt: skip


def _cell(row: Named, column: Named, pair: Mapping[str, Any] | None, width: float) -> Cell:
    x, about = round(column.head_x - width / 2, 2), f"{column.name} and {row.name}"
    if pair is None or pair["pearson"] is None:
        return Cell(x=x, y=row.y, text="–", says=f"{about}: {_why(pair)}", kind="unknown", weight=None)
    value = pair["pearson"]
    agree = value >= LEAST
    share = (value - LEAST) / (1 - LEAST) if agree else (LEAST - value) / (1 + LEAST)
    return Cell(
        x=x, y=row.y, text=number(value), kind="agree" if agree else "differ", weight=round(0.1 + 0.35 * share, 2),
        says=f"{about}: {number(value)}, mean gap {number(pair['mean_gap'])}, {count(pair['n'])} judgments",
    )  # fmt: skip


def _whys(judges: Sequence[Named], pairs: Mapping[frozenset[str], Mapping[str, Any]]) -> tuple[str, ...]:
    """Why cells are empty: each reason once, with the numbers of the judges."""
    reasons: dict[str, list[str]] = {}
    for row in judges:
        for column in judges[: row.number - 1]:
            pair = pairs.get(frozenset((row.name, column.name)))
            if pair is None or pair["pearson"] is None:
                reasons.setdefault(_why(pair), []).append(f"{column.number} and {row.number}")
    return tuple(f"{', '.join(who)}: {why}" for why, who in reasons.items())


def _why(pair: Mapping[str, Any] | None) -> str:
    return (pair["why_not"] if pair else "") or "nothing that both judged"
