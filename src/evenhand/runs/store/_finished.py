"""Which pieces of a run are done, in few bytes each: a hundred thousand of them are looked up on every resume."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

Unit = tuple[int, str, int]


class Finished(Mapping[Unit, str]):
    """Keys by position, variant and repeat, kept as two arrays and one row of bytes instead of a dictionary."""

    def __init__(self, rows: Iterable[Any], variants: Iterable[str], repeats: int) -> None:
        """Take rows in order of position, variant and repeat; `variants` sorted, `repeats` above every repeat."""
        self._number = {variant: number for number, variant in enumerate(variants)}
        self._repeats = repeats
        self._places = array("q")
        self._ends = array("q", [0])
        self._keys = bytearray()
        for position, variant, repeat, key in rows:
            self._places.append(self._place(position, variant, repeat))
            self._keys += key.encode()
            self._ends.append(len(self._keys))

    def __getitem__(self, unit: Unit) -> str:
        position, variant, repeat = unit
        if variant not in self._number or not 0 <= repeat < self._repeats:
            raise KeyError(unit)
        place = self._place(position, variant, repeat)
        found = bisect_left(self._places, place)
        if found == len(self._places) or self._places[found] != place:
            raise KeyError(unit)
        return self._keys[self._ends[found] : self._ends[found + 1]].decode()

    def __iter__(self) -> Iterator[Unit]:
        variants = list(self._number)
        for place in self._places:
            rest, repeat = divmod(place, self._repeats)
            position, number = divmod(rest, len(variants))
            yield position, variants[number], repeat

    def __len__(self) -> int:
        return len(self._places)

    def _place(self, position: int, variant: str, repeat: int) -> int:
        return (position * len(self._number) + self._number[variant]) * self._repeats + repeat
