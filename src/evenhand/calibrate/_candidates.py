"""Panels that could be chosen: each judge alone, means of several, the median of all, weights that are fitted."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate._cells import Cells
from evenhand.calibrate._labelled import Floats
from evenhand.calibrate._weights import fitted_weights

Kind = Literal["alone", "mean", "median", "weights"]
KINDS: tuple[Kind, ...] = ("alone", "mean", "median", "weights")  # The simplest first.
MOST_SUBSETS = 512  # All of up to 9 judges; of more, as many sizes as fit.
SHRINKS = (0.1, 0.5)
QUORUM = 0.5  # More than this share of a panel must answer, as where a run joins its judges.


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """Some of the judges, and how their answers become one."""

    kind: Kind
    members: tuple[int, ...]
    shrink: float = 0.0

    def weights(self, cells: Cells, rows: NDArray[np.bool_] | None = None) -> Floats:
        """One weight per judge, 0 for who is left out; fitted on those rows where the candidate is fitted."""
        if self.kind == "weights":
            own = slice(None) if rows is None else rows
            return fitted_weights(cells.said[own], cells.people[own], cells.weight[own], self.shrink)
        weights = np.zeros(len(cells.judges))
        weights[list(self.members)] = 1 / len(self.members)
        return weights

    def said(self, cells: Cells, weights: Floats) -> Floats:
        """What the panel says in every cell; NaN where too few of it answer."""
        members = np.flatnonzero(weights)
        said = cells.said[:, members]
        there = np.isfinite(said)
        enough = there.sum(axis=1) > QUORUM * len(members)
        joined = np.full(len(said), np.nan)
        if self.kind == "median":
            joined[enough] = np.nanmedian(said[enough], axis=1)
        else:
            own = there[enough] * weights[members]
            joined[enough] = (np.where(there[enough], said[enough], 0.0) * own).sum(axis=1) / own.sum(axis=1)
        return joined

    def called(self, judges: Sequence[str]) -> str:
        """Its name for a table."""
        names = [judges[place] for place in self.members]
        whose = f"all {len(judges)}" if len(names) == len(judges) > 2 else ", ".join(names)
        words = {"alone": whose, "mean": f"mean of {whose}", "median": f"median of {whose}"}
        return words.get(self.kind, f"weights, shrunk by {self.shrink:.0%}".replace("%", " %"))


def candidates_of(cells: Cells) -> tuple[Candidate, ...]:
    """All that are tried, the simplest first."""
    return tuple(_candidates(len(cells.judges)))


def _candidates(judges: int) -> Iterator[Candidate]:
    everyone = tuple(range(judges))
    count = 0
    for size in range(1, judges):
        subsets = list(combinations(everyone, size))
        count += len(subsets)
        if count <= MOST_SUBSETS:
            yield from (Candidate(kind="alone" if size == 1 else "mean", members=one) for one in subsets)
    yield Candidate(kind="mean" if judges > 1 else "alone", members=everyone)
    if judges > 2:
        yield Candidate(kind="median", members=everyone)
    if judges > 1:
        yield from (Candidate(kind="weights", members=everyone, shrink=shrink) for shrink in SHRINKS)
