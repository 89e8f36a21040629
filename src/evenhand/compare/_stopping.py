"""When a run has asked enough: the stopping rule, fed with scores as they come and looking when it was planned."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenhand.compare._facts import ALPHA
from evenhand.compare._measure import lost_over_looks
from evenhand.compare._rules import LOST_ALPHA
from evenhand.compare._words import listed
from evenhand.stats import (
    LEAST_NEEDED,
    Looks,
    holm,
    mcnemar_worse,
    near_rejection,
    sequential_difference,
    unit_differences,
)

Floats = NDArray[np.float64]
Scores = Mapping[str, float | None]  # Composites by variant; None where there is none.


@dataclass(frozen=True, slots=True, kw_only=True)
class Settled:
    """At which look a run was settled, and why."""

    looks: Looks
    why: str

    @property
    def used(self) -> int:
        """The samples that it was settled on."""
        return self.looks.taken[-1]


class Stopping:
    """Says at each planned look whether every treatment is settled; the first look that says so is the last.

    `order` holds the positions of all samples in the order in which they are asked about, `looks` after how many of
    them it looks, last at the end. Scores may come in any
    order: a look waits for the first so many of them, so that what happens to be quick counts no more than the rest.
    """

    def __init__(
        self,
        *,
        order: Sequence[int],
        looks: Sequence[int],
        variants: Sequence[str],
        control: str,
        repeats: int,
        seed: int,
    ) -> None:
        self._order = order
        self._planned = tuple(looks)
        self._treatments = [name for name in variants if name != control]
        self._control = control
        self._repeats = repeats
        self._seed = seed
        self._pieces: dict[int, dict[int, tuple[Scores, int | str]]] = {}  # By position and repeat.
        self._rows: list[tuple[Scores, int | str]] = []  # Of the first so many samples, in their order.
        self._complete = 0
        self._looked = 0
        self.settled: Settled | None = None

    def take(self, position: int, repeat: int, scores: Scores, cluster: str | None = None) -> str:
        """Take in what one sample and repeat came to, and say why it is settled, or "" to go on.

        Samples of one cluster are not independent.
        """
        self._pieces.setdefault(position, {})[repeat] = scores, position if cluster is None else cluster
        while self.settled is None and self._next_is_complete():
            pieces = self._pieces.pop(self._order[self._complete])
            self._rows += [pieces[one] for one in sorted(pieces)]
            self._complete += 1
            if self._complete == self._planned[self._looked]:
                self._looked += 1
                self.settled = self._look(self.looks)
        return self.settled.why if self.settled else ""

    @property
    def looks(self) -> Looks:
        """The looks that were taken so far."""
        return Looks(taken=self._planned[: self._looked], planned=len(self._order))

    def _next_is_complete(self) -> bool:
        if self._complete == len(self._order):
            return False
        return len(self._pieces.get(self._order[self._complete], ())) == self._repeats

    def _look(self, looks: Looks) -> Settled | None:
        lost = [self._has_lost(name, looks) for name in self._treatments]
        differences = [self._differences(name) for name in self._treatments]
        for gone, found in zip(lost, differences, strict=True):
            if len(found) < LEAST_NEEDED or not (gone or near_rejection(found, looks=looks)):
                return None
        tested = [
            sequential_difference(found, looks=looks, rng=np.random.default_rng(self._seed)) for found in differences
        ]
        adjusted = holm([one.p for one in tested]).p
        if not all(gone or p < ALPHA for gone, p in zip(lost, adjusted, strict=True)):
            return None
        words = [
            f"{name} {'lost outputs' if gone else 'is better' if one.estimate > 0 else 'is worse'}"
            for name, gone, one in zip(self._treatments, lost, tested, strict=True)
        ]
        return Settled(looks=looks, why=listed(words))

    def _differences(self, treatment: str) -> Floats:
        """Treatment minus control, one for each independent unit that has both."""
        units: dict[int | str, int] = {}
        own, other, clusters = [], [], []
        for scores, cluster in self._rows:
            ours, theirs = scores.get(treatment), scores.get(self._control)
            if ours is not None and theirs is not None:
                own.append(ours)
                other.append(theirs)
                clusters.append(units.setdefault(cluster, len(units)))
        return unit_differences(own, other, clusters)

    def _has_lost(self, treatment: str, looks: Looks) -> bool:
        """Whether the treatment lost significantly more outputs, counted by sample as the decision counts them."""
        balance: dict[int | str, int] = {}
        for scores, cluster in self._rows:
            ours, theirs = scores.get(treatment) is None, scores.get(self._control) is None
            balance[cluster] = balance.get(cluster, 0) + ours - theirs
        lost = mcnemar_worse(sum(one > 0 for one in balance.values()), sum(one < 0 for one in balance.values()))
        return lost_over_looks(lost, looks).p < LOST_ALPHA
