"""How many samples it takes to see a difference that matters, and whether more would still change the result."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from itertools import pairwise
from statistics import NormalDist

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    LARGEST_NUMBER,
    Numbers,
    compute_interval_alpha,
    require_finite_array,
    require_random_generator,
    require_statistic_count,
    require_statistic_number,
)
from evenhand.stats.differences import difference_of
from evenhand.stats.distributions import compute_noncentral_t_tail, student_quantile

LEAST_NEEDED = 20
FEWEST_TESTED_PAIRS = 5  # Below, nothing is significant.
_MOST_NEEDED = 10_000_000
_MOST_HALVINGS = 20  # To the sixth digit.
USUAL_POWER = 0.80  # Four times out of five.
_LEVEL = 0.95
# The limit for each of the last three tenths. For all three together nothing would ever be saturated: an interval that
# only follows the square root of n narrows by 16 % over them, and by 5 to 7 % over each.
_MOST_CHANGED = 0.10
_MOST_MOVED = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class PowerBand:
    """The number of samples at which a difference of `smallest_effect` is seen four times out of five."""

    needed: int
    sd: float
    smallest_effect: float
    power: float
    method: str
    # Of tied differences.
    step: float | None = field(default=None, metadata={"only_if_set": True})


@dataclass(frozen=True, slots=True, kw_only=True)
class Power:
    """The chance that `n` pairs show a true difference of `effect` to be significant."""

    power: float
    effect: float
    sd: float
    level: float
    method: str
    n: int


@dataclass(frozen=True, slots=True, kw_only=True)
class SaturationPoint:
    """The estimate after the first `n` samples, and half the width of its interval; infinite where it has no bound."""

    n: int
    estimate: float
    half_width: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Saturation:
    """What the last three tenths of the samples did to the interval; saturated needs 20 samples at least.

    `changed` is the most that one of them changed its width, as a share of the width before; `moved` is how far all
    three moved the estimate, as a share of the half-width now; None where there was no bound. `curve` has a point for
    each tenth of the samples.
    """

    saturated: bool
    low_confidence: bool
    changed: float | None
    moved: float | None
    curve: tuple[SaturationPoint, ...]
    method: str
    n: int


def power_band(
    sd: float, smallest_effect: float = 0.5, *, step: float = 0.0, level: float = _LEVEL, span: float | None = None
) -> PowerBand:
    """Samples needed at this standard deviation of the differences; never less than 20.

    `step` is that of the differences where they are tied, `span` their scale where nearly all are equal, as in
    `power_of`.
    """
    alpha = compute_interval_alpha(level)
    sd, smallest_effect = (
        _check_sd(sd),
        require_statistic_number(smallest_effect, "smallest_effect", "0.5 is half a point"),
    )
    if smallest_effect <= 0:
        raise InputError(Fault(f"smallest_effect must be above 0, got {smallest_effect}", "0.5 is half a point"))
    if sd / smallest_effect > LARGEST_NUMBER:
        raise InputError(Fault(f"no number of samples shows {smallest_effect:g} beside a spread of {sd:g}"))
    return PowerBand(
        needed=_approximate_pairs_for_power(sd, smallest_effect, _require_power_step(step), level, span),
        sd=sd,
        smallest_effect=smallest_effect,
        power=USUAL_POWER,
        method=f"paired t, two-sided {100 * alpha:.3g}%",
        step=step or None,
    )


def _approximate_pairs_for_power(sd: float, effect: float, step: float, level: float, span: float | None) -> int:
    """Count what `needed_for` counts, at a fraction of its cost: an approximation, held against the exact chance."""
    alarm, seen = NormalDist().inv_cdf((1 + level) / 2), NormalDist().inv_cdf(USUAL_POWER)

    def is_about_enough_power(n: int) -> bool:
        # Guenther (1981): half a squared quantile more makes the normal approximation right for Student's t.
        visible = effect - step / n
        return visible > 0 and n >= ((alarm + seen) * sd / visible) ** 2 + alarm**2 / 2

    def has_power(n: int) -> bool:
        return power_of(n, effect, sd, step=step, level=level, span=span).power >= USUAL_POWER

    wanted = _find_least_powered_count(is_about_enough_power, LEAST_NEEDED)
    if span is not None:
        span = _require_power_span(span)
        wanted = max(wanted, count_pairs_for_scale_bound(effect, span + effect, level=level))
    while wanted < _MOST_NEEDED and not has_power(wanted):
        wanted += 1
    while wanted > LEAST_NEEDED and has_power(wanted - 1):
        wanted -= 1
    return wanted


def count_pairs_for_scale_bound(away: float, room: float, *, level: float = _LEVEL) -> int:
    """Pairs with the same difference after which the bound on the scale reaches no further than `away`.

    `room` is how far the end of the scale is: beyond it no difference can be, however rare.
    """
    away, room = require_statistic_number(away, "away"), require_statistic_number(room, "room")
    if not 0 < away < room:
        raise InputError(Fault(f"away must be between 0 and {room:g}, got {away:g}", "a part of the scale"))
    share = away / room
    if share * _MOST_NEEDED < 1:  # So far away that no number of pairs would do.
        return _MOST_NEEDED
    return math.floor(math.log(compute_interval_alpha(level) / 2) / math.log1p(-share)) + 1


def power_of(
    n: int, effect: float, sd: float, *, step: float = 0.0, level: float = 0.95, span: float | None = None
) -> Power:
    """The chance that the paired test sees a difference; below 5 pairs it sees none.

    `span` is how far apart two scores can be, given where nearly all differences are equal: their scatter says nothing
    about what is rare, and the test waits until a bound on the scale leaves out 0.
    `step` is that of the differences where they are tied (see `step_of`). Sums of tied differences move in steps, and a
    test that holds its level on them has to wait for the next one: as if the effect were one step of one pair less.
    """
    alpha = compute_interval_alpha(level)
    n = require_statistic_count(n, "n")
    if n < 2:
        raise InputError(Fault(f"a difference needs at least 2 pairs, got {n}", "give the number of samples"))
    effect, step, sd = require_statistic_number(effect, "effect"), _require_power_step(step), _check_sd(sd)
    span = None if span is None else _require_power_span(span)
    seen = max(0.0, abs(effect) - step / n)
    if n < FEWEST_TESTED_PAIRS or not seen:
        power = 0.0 if n < FEWEST_TESTED_PAIRS or sd == 0 else alpha
    elif span is not None and n < count_pairs_for_scale_bound(abs(effect), span + abs(effect), level=level):
        power = 0.0
    elif sd == 0:
        power = 1.0
    else:
        away, critical = math.sqrt(n) * seen / sd, student_quantile(alpha / 2, n - 1)
        above, below = (compute_noncentral_t_tail(critical, n - 1, centre) for centre in (away, -away))
        power = above + below
    method = "noncentral t" + (", less one step for ties" if step else "")
    return Power(power=min(1.0, power), effect=effect, sd=sd, level=level, method=method, n=n)


def needed_for(
    effect: float,
    sd: float,
    *,
    power: float = USUAL_POWER,
    step: float = 0.0,
    level: float = 0.95,
    span: float | None = None,
) -> int | None:
    """The least number of pairs that sees a difference with this chance; None where ten million would not."""
    if not 0 < require_statistic_number(power, "power") < 1:
        raise InputError(Fault(f"power must be between 0 and 1, got {power}", "four times out of five is 0.8"))

    def is_enough(n: int) -> bool:
        return power_of(n, effect, sd, step=step, level=level, span=span).power >= power

    if not is_enough(_MOST_NEEDED):
        return None
    return _find_least_powered_count(is_enough, 2)


def detectable_effect_at_power(
    n: int, sd: float, *, power: float = USUAL_POWER, step: float = 0.0, level: float = 0.95
) -> float:
    """The smallest true difference that `n` pairs show with this chance; `step` as in `power_of`."""
    if not 0 < require_statistic_number(power, "power") < 1:
        raise InputError(Fault(f"power must be between 0 and 1, got {power}", "four times out of five is 0.8"))
    if n < FEWEST_TESTED_PAIRS:
        raise InputError(Fault(f"{n} pairs show no difference", f"it takes {FEWEST_TESTED_PAIRS} at least"))
    low, high = 0.0, 1.0  # In standard deviations.
    while power_of(n, high, 1.0, level=level).power < power:
        low, high = high, 2 * high
    for _ in range(_MOST_HALVINGS):
        middle = (low + high) / 2
        low, high = (low, middle) if power_of(n, middle, 1.0, level=level).power >= power else (middle, high)
    return high * _check_sd(sd) + _require_power_step(step) / n


def _find_least_powered_count(is_enough: Callable[[int], bool], least: int) -> int:
    """Find the least number that is enough, from `least` on; whatever is more than enough is enough too."""
    low = high = least
    while not is_enough(high):
        low, high = high + 1, 2 * high
    while low < high:
        middle = (low + high) // 2
        low, high = (low, middle) if is_enough(middle) else (middle + 1, high)
    return low


def step_of(differences: Numbers) -> float:
    """The smallest gap between sizes of differences, where some are tied; 0 where none are."""
    sizes, counts = np.unique(np.abs(require_finite_array(differences, "differences")), return_counts=True)
    if not len(sizes) or counts.max() == 1:
        return 0.0
    gaps = np.diff(sizes, prepend=0.0)
    return float(min(gaps[gaps > 0], default=0.0))


def saturation(differences: Numbers, *, rng: np.random.Generator, level: float = 0.95) -> Saturation:
    """Half-widths over distinct samples in a random order that the generator fixes, whatever order they come in."""
    order = require_random_generator(rng).permutation(np.sort(require_finite_array(differences, "differences")))
    sizes = [max(2, math.ceil(tenths * len(order) / 10)) for tenths in range(1, 11)]
    parts = [difference_of(order[:size], rng=rng, level=level) for size in sizes]
    curve = tuple(SaturationPoint(n=one.n, estimate=one.estimate, half_width=(one.high - one.low) / 2) for one in parts)
    last = curve[-4:]
    changed = moved = None  # The largest change of the width, and the shift of the estimate in half-widths.
    widths = [point.half_width for point in last]
    if not math.isinf(widths[0]):
        changed = max(abs(1 - after / before) if before else float(after > 0) for before, after in pairwise(widths))
    if not math.isinf(widths[-1]):
        step = abs(last[-1].estimate - last[0].estimate)
        moved = step / widths[-1] if widths[-1] else 0.0 if step == 0 else math.inf
    settled = changed is not None and changed < _MOST_CHANGED and moved is not None and moved < _MOST_MOVED
    saturated = settled and len(order) >= LEAST_NEEDED
    return Saturation(
        saturated=saturated,
        low_confidence=not saturated,
        changed=changed,
        moved=moved,
        curve=curve,
        method="half-widths after each tenth of the samples",
        n=len(order),
    )


def _require_power_step(step: float) -> float:
    given = require_statistic_number(step, "step")
    if given < 0:
        raise InputError(Fault(f"differences have no steps of {given}", "0 or more"))
    return given


def _require_power_span(span: float) -> float:
    given = require_statistic_number(span, "span", "4 on scores from 1 to 5")
    if not given > 0:
        raise InputError(Fault(f"scores cannot be {given:g} apart", "4 on scores from 1 to 5"))
    return given


def _check_sd(sd: float) -> float:
    given = require_statistic_number(sd, "sd", "0 or more")
    if given < 0:
        raise InputError(Fault(f"a standard deviation cannot be {given}", "0 or more"))
    return given
