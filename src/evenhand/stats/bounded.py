"""Bounds on a mean difference that hold for every distribution on a bounded scale, and what they say about a margin.

Whoever bets a share f of the capital on each difference against "the mean is at most m" multiplies it by
1 + f·(x − m) / (m − lowest): never below 0, and 1 on average where the claim is true. So the capital reaches 1/α with
chance α at most, whatever the distribution (Ville; Waudby-Smith and Ramdas 2024), in whatever order the differences
come, and for the mean over several shares f that were chosen before the differences were seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from evenhand.errors import Fault, InputError
from evenhand.stats.arrays import (
    Floats,
    Numbers,
    compute_interval_alpha,
    require_finite_array,
    require_statistic_number,
)

_BETS = 4
_ROUNDING = 1e-9  # Of the span: differences this far beyond their scale are rounding.
_HALVINGS = 60


@dataclass(frozen=True, slots=True, kw_only=True)
class MarginTest:
    """Whether the treatment is not worse by `margin` or more: the lower bound lies above −margin.

    `needed` is the least number of differences that could show it, even if all of them were 0.
    """

    holds: bool
    margin: float
    estimate: float
    low: float
    level: float
    needed: int
    method: str
    n: int


def not_worse(
    differences: Numbers, *, by: float, span: float, level: float = 0.95, sizes: Numbers | None = None
) -> MarginTest:
    """Non-inferiority for every distribution of independent differences between −`span` and `span`.

    On 1–5 scores the span is 4. `sizes` says how many samples each difference counts.
    """
    alpha = compute_interval_alpha(level)
    margin = require_statistic_number(by, "by", "0.2 is a fifth of a point")
    given, counted = require_bounded_array(differences, span, sizes)
    if not _ROUNDING < margin / span < 1:
        raise InputError(Fault(f"by must be above 0 and below the span {span:g}, got {margin:g}", "such as 0.2"))
    bets = _choose_bets_of_margin_test(len(given), margin, span, alpha)
    low = _bound_mean_from_below(given, counted, lowest=-span, alpha=alpha, bets=bets)
    return MarginTest(
        holds=_log_capital_of_margin_test(given, counted, -margin, lowest=-span, bets=bets)
        >= -math.log(alpha) - _ROUNDING,
        margin=margin,
        estimate=float(np.average(given, weights=counted)),
        low=low,
        level=level,
        # So many differences of 0: a rarer loss of the whole span would go unseen by fewer.
        needed=math.ceil(math.log(alpha) / math.log1p(-margin / span) - _ROUNDING),
        method="betting, one-sided",
        n=len(given),
    )


def _choose_bets_of_margin_test(n: int, margin: float, span: float, alpha: float) -> Floats:
    """Shares of the capital to bet, from the number of differences and the margin alone.

    The whole of it while there are few. With more, the scatter that can be shown not to matter is larger, and takes
    smaller bets: down to the share that is best where n differences without a mean just suffice.
    """
    smallest = -2 * math.log(alpha) / (n * margin) * (span - margin)
    return np.ones(1) if smallest >= 1 else np.geomspace(max(smallest, _ROUNDING), 1.0, _BETS)


def _bound_mean_from_below(values: Floats, sizes: Floats, *, lowest: float, alpha: float, bets: Floats) -> float:
    """The largest m for which "the mean is at most m" is rejected; `lowest` where none is."""
    low, high = lowest, float(np.average(values, weights=sizes))
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        capital = (
            _log_capital_of_margin_test(values, sizes, middle, lowest=lowest, bets=bets)
            if middle > lowest
            else -math.inf
        )
        rejected = capital >= -math.log(alpha)
        low, high = (middle, high) if rejected else (low, middle)
    return low


def _log_capital_of_margin_test(values: Floats, sizes: Floats, mean: float, *, lowest: float, bets: Floats) -> float:
    """The logarithm of the capital after all bets against "the mean is at most this", over the shares that were bet."""
    gains = np.maximum(sizes / sizes.max() * (values - mean) / (mean - lowest), -1.0)
    with np.errstate(divide="ignore"):
        logs = np.log1p(bets[:, None] * gains[None, :]).sum(axis=1)
    largest = float(logs.max())
    return largest if math.isinf(largest) else largest + math.log(float(np.exp(logs - largest).mean()))


def require_bounded_array(differences: Numbers, span: float, sizes: Numbers | None) -> tuple[Floats, Floats]:
    """Return differences on their scale and what each counts, or refuse them."""
    given = require_finite_array(differences, "differences")
    counted = np.ones(len(given)) if sizes is None else require_finite_array(sizes, "sizes")
    if len(given) < 2:
        raise InputError(
            Fault(f"a difference needs at least 2 pairs, got {len(given)}", "score more samples with both")
        )
    if len(counted) != len(given) or (counted <= 0).any():
        raise InputError(Fault("sizes must be above 0, one per difference", "how many samples each difference counts"))
    width = require_statistic_number(span, "span", "4 on scores from 1 to 5")
    if width <= 0 or np.abs(given).max() > width * (1 + _ROUNDING):
        raise InputError(Fault("span must be at least as large as every difference", "4 on scores from 1 to 5"))
    return np.clip(given, -width, width), counted
