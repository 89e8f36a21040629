"""What was found about a ranking under other weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # Whoever shows it needs no NumPy.
    from evenhand.compare.weights._flip import Flip
    from evenhand.stats import Difference


@dataclass(frozen=True, slots=True, kw_only=True)
class Survival:
    """How much of the ranking stays under random weights; `wins` is each variant's share of first places."""

    draws: int
    same_winner: float
    same_order: float
    wins: Mapping[str, float]


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One criterion or layer: its weight, how far the first is ahead in it, what that gives, and where it would flip.

    `flip_at` is the weight at which the first two are level, the others keeping their proportions; `without` is the
    order of the variants when it is left out.
    """

    name: str
    weight: float
    gap: float
    contribution: float
    flip_at: float | None
    without: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Ranking:
    """The ranking by criteria or by layers, under the weights it has and under others.

    `near` draws weights around them, `anywhere` all weights alike. `won` is the share of samples that the first wins
    and between what it lies under 95 of 100 near weightings. `with_noise` is the chance that the first stays first
    under near weights and another set of samples; `turned` is the share of near weightings under which the second is
    ahead of the first by more than the noise of the samples.
    """

    of: str
    variants: tuple[str, ...]
    means: Mapping[str, float]
    order: tuple[str, ...]
    parts: tuple[Part, ...]
    near: Survival
    anywhere: Survival
    won: tuple[float, float, float]
    flip: Flip | None
    gap: Difference | None
    with_noise: float
    turned: float
    samples: int
    left_out: int
    linear: bool
    note: str

    @property
    def tied(self) -> bool:
        """Whether the first two are level under the weights as they are."""
        return abs(self.means[self.order[0]] - self.means[self.order[1]]) <= 1e-9


@dataclass(frozen=True, slots=True, kw_only=True)
class Sensitivity:
    """What becomes of a ranking under other weights, and what to do about it."""

    run: str
    headline: str
    next_step: str
    draws: int
    seed: int
    spread: float
    rankings: tuple[Ranking, ...]
    without_judge: Mapping[str, tuple[str, ...]]
