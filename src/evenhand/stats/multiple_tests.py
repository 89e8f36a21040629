"""Several tests as one: Holm's adjustment, Hotelling's T² over layers, and the looks of a comparison under way.

Testing again and again at 5% is wrong far more often than that. Here the 5% are spent as samples come in (Lan and
DeMets 1983), by a power of their share (Kim and DeMets 1987): at first slower than the samples come, so that enough is
left for a difference that shows late. The level at each look follows from what the looks before it left over, as a sum
of independent steps would wander (Armitage, McPherson and Rowe 1969); sign flips and Student's t are held to that
level. All differences that a look does not reject are a repeated confidence interval (Jennison and Turnbull 1989):
together, those of all looks miss the truth in 5% of runs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    Floats,
    Numbers,
    Undefined,
    compute_interval_alpha,
    find_array_magnitude,
    require_array_sequence,
    require_finite_array,
    require_statistic_count,
    require_statistic_number,
    require_statistic_type,
)
from evenhand.stats.differences import Difference, difference_of
from evenhand.stats.distributions import compute_f_tail, compute_t_tail
from evenhand.stats.power import LEAST_NEEDED

_HOTELLING = "Hotelling's T², paired"
_CONSTANT = 1e-12  # Spread below this share of the largest difference is rounding, not spread.
_COLLINEAR = 1e-8  # What is left of a layer beside the others, below this share of its spread, is rounding.


@dataclass(frozen=True, slots=True, kw_only=True)
class Holm:
    """Adjusted p-values in the order given; `n` counts the tests."""

    p: tuple[float, ...]
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class Hotelling:
    """The chance of mean differences this far from 0 in all layers together; `f` has `df` degrees of freedom."""

    t2: float
    f: float
    df: tuple[int, int]
    p: float
    estimates: Mapping[str, float]
    method: str
    n: int


def holm(ps: Numbers) -> Holm:
    """Holm's step-down adjustment: the chance of any false alarm among all tests stays below the level."""
    given: list[float] = require_finite_array(ps, "ps").tolist()
    wrong = [p for p in given if not 0 <= p <= 1]
    if wrong:
        raise InputError(Fault(f"p-values lie between 0 and 1, got {wrong[0]:g}"))
    adjusted = [0.0] * len(given)
    highest = 0.0
    for rank, place in enumerate(sorted(range(len(given)), key=given.__getitem__)):
        highest = max(highest, min(1.0, (len(given) - rank) * given[place]))
        adjusted[place] = highest
    return Holm(p=tuple(adjusted), method="Holm", n=len(given))


def hotelling_of(differences: Mapping[str, Numbers]) -> Hotelling | Undefined:
    """Whether several layers moved at all, from differences by layer that are one per independent unit.

    Undefined where a layer is constant or follows from the others.
    """
    layers, scales, table = _tabulate_hotelling_samples(differences)
    n, k = table.shape
    means = np.array([math.fsum(column) / n for column in table.T])
    deviations = table - means
    constant = np.ptp(table, axis=0) <= _CONSTANT * np.abs(table).max(axis=0)
    names = " and in ".join(name for name, at in zip(layers, constant, strict=True) if at)
    why = f"all differences are equal in {names}: test the other layers" if names else ""
    why = why or _explain_collinear_covariance(layers, deviations)
    if why:
        return Undefined(why=why, method=_HOTELLING, n=n)
    spread = np.sqrt((deviations**2).sum(axis=0) / (n - 1))
    # Each layer is divided by its own spread: points or percent make no difference to the last digits.
    standard, shift = deviations / spread, means / spread
    t2 = max(0.0, float(n * shift @ np.linalg.solve(standard.T @ standard / (n - 1), shift)))
    f = (n - k) / (k * (n - 1)) * t2
    estimates = dict(zip(layers, (scales * means).tolist(), strict=True))
    p = compute_f_tail(f, k, n - k)
    return Hotelling(t2=t2, f=f, df=(k, n - k), p=p, estimates=estimates, method=_HOTELLING, n=n)


def _tabulate_hotelling_samples(differences: Mapping[str, Numbers]) -> tuple[list[str], Floats, Floats]:
    """Return the layers, their scales, and samples by layers in these scales; sorted, so that order does not matter."""
    if not isinstance(differences, Mapping) or not all(isinstance(name, str) for name in differences):
        hint = "a dict from the names of layers to numbers"
        raise InputError(Fault("differences must be numbers by layer", hint))
    if not differences:
        raise InputError(Fault("there is no layer to compare", "give the differences of at least one"))
    layers = sorted(differences)
    columns = [require_finite_array(differences[name], name) for name in layers]
    if len({len(column) for column in columns}) > 1:
        sizes = ", ".join(f"{name} {len(column)}" for name, column in zip(layers, columns, strict=True))
        raise InputError(Fault(f"the layers have different numbers of samples: {sizes}", "give those that all have"))
    table = np.column_stack(columns)
    if len(table) <= len(layers):
        what = f"{len(layers)} layers need at least {len(layers) + 1} samples, got {len(table)}"
        raise InputError(Fault(what, "score more samples, or test fewer layers"))
    scales = np.array([find_array_magnitude(column) for column in columns])
    return layers, scales, table[np.lexsort(table.T)] / scales


def _explain_collinear_covariance(layers: Sequence[str], deviations: Floats) -> str:
    """Name the first layer that follows from those before it, and from which of them."""
    unit = deviations / np.sqrt((deviations**2).sum(axis=0))
    for at in range(1, len(layers)):
        weights = np.linalg.lstsq(unit[:, :at], unit[:, at], rcond=None)[0]
        if np.abs(unit[:, at] - unit[:, :at] @ weights).max() > _COLLINEAR:
            continue
        others = [name for name, weight in zip(layers, weights, strict=False) if abs(weight) > _COLLINEAR]
        return f"the differences in {layers[at]} follow from those in {' and '.join(others)}: leave one of them out"
    return ""


_GROWTH = 5  # A look follows when a fifth more samples are there,
_SHARE = 20  # or a twentieth of all that are planned, whichever comes first.
_SPENDING_POWER = 1.5  # At 1 a run asks less, at 2 it agrees more often with one that asked about all samples.

_MOST_LOOKS = 300  # Each rests on the one before it.
_SMALLEST_ALPHA, _ALPHA_STEPS = 1e-5, 31  # Overall levels between the smallest and 1 at which a p-value is looked up.
_GRID_END, _CELLS = 6.5, 521  # The paths of a sum, in standard errors, counted in cells.
_GRID = np.linspace(-_GRID_END, _GRID_END, _CELLS)
_CELL_WIDTH = float(_GRID[1] - _GRID[0])


@dataclass(frozen=True, slots=True, kw_only=True)
class Looks:
    """The looks that a comparison has had, in samples, the last of them now; and how many samples are planned."""

    taken: tuple[int, ...]
    planned: int

    def __post_init__(self) -> None:
        taken = tuple(require_statistic_count(look, "a look") for look in require_array_sequence(self.taken, "taken"))
        object.__setattr__(self, "taken", taken)
        object.__setattr__(self, "planned", require_statistic_count(self.planned, "planned"))
        rising = all(one < next for one, next in zip(self.taken, self.taken[1:], strict=False))
        if not (self.taken and rising and self.taken[0] > 0 and self.taken[-1] <= self.planned):
            what = f"not looks at {self.planned} samples: {list(self.taken)}"
            raise InputError(Fault(what, "one at least, rising, none beyond what is planned"))
        if len(self.taken) > _MOST_LOOKS:
            raise InputError(Fault(f"{len(self.taken):,} looks are too many", f"{_MOST_LOOKS} at most"))


def planned_looks(planned: int) -> tuple[int, ...]:
    """When to look, in samples: first at 20, last at the end."""
    planned = require_statistic_count(planned, "planned")
    if planned < LEAST_NEEDED:
        raise InputError(Fault(f"{planned} samples are too few to look before the end", f"{LEAST_NEEDED} at least"))
    looks = [LEAST_NEEDED]
    while looks[-1] < planned:
        step = min(math.ceil(looks[-1] / _GROWTH), math.ceil(planned / _SHARE))
        looks.append(min(planned, looks[-1] + step))
    return tuple(looks)


def looks_after(samples: int, looks: Sequence[int]) -> Looks:
    """The looks of a comparison that has reached so many samples: those of the plan up to now, and one now."""
    now = require_statistic_count(samples, "samples")
    plan = [require_statistic_count(look, "a look") for look in require_array_sequence(looks, "looks")]
    return Looks(taken=(*(look for look in plan if look < now), now), planned=max(plan, default=0))


def level_at(looks: Looks, level: float = 0.95) -> float:
    """Below what a p-value must be at this look, so that all looks together are wrong in 1 − `level` of runs."""
    alpha = compute_interval_alpha(level)
    alphas, levels = _compute_sequential_levels(looks, alpha)
    return float(levels[np.searchsorted(alphas, alpha)])


def p_over_looks(p: float, looks: Looks, level: float = 0.95) -> float:
    """The overall level at which this look would just reject: below 1 − `level` where p is below `level_at`."""
    alpha = compute_interval_alpha(level)
    alphas, levels = _compute_sequential_levels(looks, alpha)
    if not 0 <= require_statistic_number(p, "p") <= 1:
        raise InputError(Fault(f"p-values lie between 0 and 1, got {p:g}"))
    if p >= levels[-1]:
        return 1.0
    known = np.log(np.maximum(levels, 1e-300))
    found = math.exp(np.interp(math.log(max(p, 1e-300)), known, np.log(alphas)))
    if p < levels[0]:  # Below the smallest that was worked out the two shrink together.
        found = float(alphas[0] * p / levels[0])
    # Rounding must not make the p-value say something else than the interval.
    return max(found, alpha) if p >= level_at(looks, level) else min(found, math.nextafter(alpha, 0))


def sequential_difference(
    differences: Numbers,
    *,
    looks: Looks,
    rng: np.random.Generator,
    level: float = 0.95,
    sizes: Numbers | None = None,
    span: float | None = None,
) -> Difference:
    """`difference_of` at one of several looks: its interval and its p hold at whichever look a run was stopped."""
    now = difference_of(differences, sizes=sizes, span=span, rng=rng, level=1 - level_at(looks, level))
    method = f"{now.method}; look {len(looks.taken)}, at {looks.taken[-1]:,} of {looks.planned:,}, alpha spending"
    return replace(now, p=p_over_looks(now.p, looks, level), level=level, method=method, looks=len(looks.taken))


def near_rejection(differences: Numbers, *, looks: Looks, level: float = 0.95) -> bool:
    """Whether a full test is worth its cost: Student's t, which costs next to nothing, comes within twice the level."""
    values = require_finite_array(differences, "differences")
    if len(values) < 2 or not values.any():
        return False
    error = float(values.std(ddof=1)) / math.sqrt(len(values))
    t = abs(float(values.mean())) / error if error else math.inf
    return math.isinf(t) or compute_t_tail(t, len(values) - 1) < level_at(looks, level)


def _compute_sequential_levels(looks: Looks, alpha: float) -> tuple[Floats, Floats]:
    """Return overall levels in order, `alpha` among them, and what each leaves for a single test at the last look."""
    alphas = _alpha_spending_grid(alpha)
    require_statistic_type(looks, Looks, "looks", "Looks(taken=..., planned=...), or looks_after(...)")
    return alphas, _sequential_test_alpha_at_look(looks.taken, looks.planned, alpha)[0]


@lru_cache(maxsize=8)
def _alpha_spending_grid(alpha: float) -> Floats:
    return np.unique(np.append(np.geomspace(_SMALLEST_ALPHA, 1.0, _ALPHA_STEPS), alpha))


@lru_cache(maxsize=128)
def _sequential_test_alpha_at_look(taken: tuple[int, ...], planned: int, alpha: float) -> tuple[Floats, Floats]:
    """Return, by overall level, the level of a single test at the last look and where the unstopped paths are.

    Under "no difference" the sum after n samples is a sum of n independent steps. Its chance to be in each cell, in
    standard errors, is carried from look to look; beyond the bound, on either side, it is cut off.
    """
    alphas = _alpha_spending_grid(alpha)
    share = taken[-1] / planned
    before = taken[-2] / planned if len(taken) > 1 else 0.0
    if before:
        # The chance to get from each cell at one share of the samples to each cell at the next.
        reach = (_GRID[None, :] * math.sqrt(share) - _GRID[:, None] * math.sqrt(before)) / math.sqrt(share - before)
        mass = _sequential_test_alpha_at_look(taken[:-1], planned, alpha)[1] @ _spread_normal(reach)
    else:
        mass = np.tile(_spread_normal(_GRID), (len(alphas), 1))
    due = alphas * (share**_SPENDING_POWER - before**_SPENDING_POWER)
    bounds = [_cut_probability_tails(row, one / 2) for row, one in zip(mass, due, strict=True)]
    # One look alone is the plain test, to the last digit.
    exact = [math.erfc(bound / math.sqrt(2)) for bound in bounds] if before else due
    levels: Floats = np.maximum.accumulate(np.round(exact, 9))
    return levels, mass


def _spread_normal(reach: Floats) -> Floats:
    """Spread a normal distribution over the cells; where a step is smaller than a cell, the nearest takes all."""
    square = reach**2
    height = np.exp((square.min(axis=-1, keepdims=True) - square) / 2)
    shares: Floats = height / height.sum(axis=-1, keepdims=True)
    return shares


def _cut_probability_tails(mass: Floats, due: float) -> float:
    """Cut this much probability off at either end, in place, and return where."""
    beyond = np.cumsum(mass[::-1])[::-1]  # In each cell and all above it.
    first = int(np.searchsorted(-beyond, -due))  # The lowest cell that goes altogether.
    below = max(first - 1, _CELLS // 2)
    rest = due - (beyond[first] if first < _CELLS else 0.0)
    part = min(1.0, rest / mass[below]) if mass[below] > 0 else 0.0
    mass[below + 1 :] = 0.0
    mass[: _CELLS - below - 1] = 0.0
    for edge in {below, _CELLS - 1 - below}:
        mass[edge] *= 1 - part
    return max(0.0, float(_GRID[below]) + _CELL_WIDTH / 2 - part * _CELL_WIDTH)
