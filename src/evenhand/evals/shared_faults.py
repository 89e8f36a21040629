"""Faults that many samples share: told once, with how many have them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace

from evenhand.errors import Fault

FEW_FAULTS = 3  # Faults of one kind that are each told with their place.


class SharedSampleFaults:
    """Faults of which all samples, or many, have the same: kept once, where they were met first, and counted."""

    def __init__(self, faults: list[Fault]) -> None:
        self._faults = faults
        self._counts: Counter[tuple[str, str]] = Counter()

    def locate_since(self, told: int, locate: Callable[[Fault], Fault]) -> None:
        """Give the faults from a place of the list on their location; of one kind only a few are kept."""
        new = self._faults[told:]
        del self._faults[told:]
        for fault in new:
            self._counts[fault.what, fault.hint] += 1
            if self._counts[fault.what, fault.hint] <= FEW_FAULTS:
                self._faults.append(locate(fault))

    def join_repeats(self, samples: int) -> None:
        """Tell those once that are many, or that each of so many samples has."""
        self._faults[:] = list(join_shared_sample_faults(self._faults, self._counts, samples))
        self._counts = Counter()


def join_shared_sample_faults(
    faults: Sequence[Fault], counts: Mapping[tuple[str, str], int], samples: int
) -> Iterator[Fault]:
    """The faults in their order; of those of one kind, where they are many or each sample has one, only the first."""
    told = set()
    for fault in faults:
        key = (fault.what, fault.hint)
        count = counts.get(key, 1)
        if count <= FEW_FAULTS and (count < samples or count == 1):
            yield fault
        elif key not in told:
            told.add(key)
            every = "in both samples" if count == 2 else f"in all {count:,} samples"
            often = every if count == samples else f"in {count:,} samples, first here"
            yield replace(fault, what=f"{fault.what}, {often}")
