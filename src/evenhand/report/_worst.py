"""The samples worth a look, found in one pass: the largest drops, the lowest scores, what has no score."""

from __future__ import annotations

import heapq
from collections.abc import Iterable
from dataclasses import dataclass, field
from statistics import fmean

from evenhand.report._failing import failed_checks, is_unscored, unscored_because
from evenhand.report._figures import Data

MOST = 10


@dataclass(frozen=True, slots=True, kw_only=True)
class Seen:
    """A result worth a look: whose, what it scored, and what is known of why."""

    sample: str
    variant: str
    value: float | None
    before: float | None = None  # What the control scored.
    why: str = ""


@dataclass(slots=True)
class Worst:
    """What one pass over the samples has found; never more than a few of each."""

    drops: list[Seen] = field(default_factory=list)
    lowest: list[Seen] = field(default_factory=list)
    unscored: list[Seen] = field(default_factory=list)
    n_dropped: int = 0
    n_unscored: int = 0


def worst_of(head: Data, samples: Iterable[Data]) -> Worst:
    """Look at every sample once."""
    control = next((one["name"] for one in head["variants"] if one["role"] == "control"), None)
    found = Worst()
    drops, lows = _Largest(), _Largest()
    for sample in samples:
        _note_unscored(found, sample)
        means = _means(sample)
        before = None if control is None else means.get(control)
        for variant, value in means.items():
            lows.offer(-value, sample, variant, value, before)
            if before is not None and value < before:
                found.n_dropped += 1
                drops.offer(before - value, sample, variant, value, before)
    found.drops, found.lowest = drops.in_order(), lows.in_order()
    return found


class _Largest:
    """The few largest of many, and of equals the earlier."""

    def __init__(self) -> None:
        self._heap: list[tuple[float, int, Seen]] = []
        self._offered = 0

    def offer(self, by: float, sample: Data, variant: str, value: float, before: float | None) -> None:
        """Keep it, if it is among them so far."""
        self._offered += 1
        if len(self._heap) == MOST and by <= self._heap[0][0]:
            return
        seen = Seen(sample=sample["id"], variant=variant, value=value, before=before, why=_why(sample, variant))
        keep = heapq.heappush if len(self._heap) < MOST else heapq.heapreplace
        keep(self._heap, (by, -self._offered, seen))

    def in_order(self) -> list[Seen]:
        """The largest first."""
        return [seen for _, _, seen in sorted(self._heap, key=lambda one: one[:2], reverse=True)]


def _note_unscored(found: Worst, sample: Data) -> None:
    for result in filter(is_unscored, sample["results"]):
        found.n_unscored += 1
        if len(found.unscored) < MOST:
            why = unscored_because(result)
            found.unscored.append(Seen(sample=sample["id"], variant=result["variant"], value=None, why=why))


def _means(sample: Data) -> dict[str, float]:
    """What each variant scored, over its repeats: composites, or scores where nobody has a composite."""
    results = [one for one in sample["results"] if not is_unscored(one)]
    of = "composite" if any(one["composite"] is not None for one in results) else "score"
    values: dict[str, list[float]] = {}
    for one in results:
        if one[of] is not None:
            values.setdefault(one["variant"], []).append(one[of])
    return {variant: fmean(several) for variant, several in values.items()}


def _why(sample: Data, variant: str) -> str:
    checks = [check for one in sample["results"] if one["variant"] == variant for check in failed_checks(one)]
    return "; ".join(dict.fromkeys(checks))
