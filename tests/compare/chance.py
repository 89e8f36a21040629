"""How often five methods are wrong about the same differences: ours, Student's t, Wilcoxon, bootstrap and betting.

`python -m tests.compare.chance` writes the table into docs/how-often-wrong.md.
"""

import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy import stats as scipy_stats

from evenhand.stats.differences import Difference, difference_of
from tests.compare.drawing import SHARES

Floats = NDArray[np.float64]
Booleans = NDArray[np.bool_]
SIZES = (12, 20, 50)
SPAN = 4.0  # Between the ends of 1–5 scores.
ALPHA = 0.05
PAGE = Path(__file__).parents[2] / "docs/how-often-wrong.md"
TRIES = re.compile(r"from ([\d,]+) draws")
TABLE = re.compile(r"(?s)\| differences \| \|.*?\n\n")


@dataclass(frozen=True, eq=False)
class Drawn:
    """Rows of differences, one comparison each; where samples are in clusters, their numbers and sizes."""

    rows: Floats
    sizes: NDArray[np.int64] | None = None  # Samples in each cluster; rows hold them cluster by cluster.


@dataclass(frozen=True)
class Case:
    """Differences of equal variants and of a better treatment, with their true means 0 and `better`."""

    name: str
    draw: Callable[[np.random.Generator, int, int, bool], Drawn]
    better: float


def _values(name: str, values: Floats, equal: Floats, better: Floats) -> Case:
    def draw(rng: np.random.Generator, tries: int, n: int, moved: bool) -> Drawn:
        return Drawn(rng.choice(values, size=(tries, n), p=better if moved else equal))

    assert abs(values @ equal) < 1e-9
    return Case(name, draw, float(values @ better))


def _tilted(values: Floats, equal: Floats, effect: float = 0.64) -> Floats:
    """The same differences with more of them above 0, until the mean is so many standard deviations."""
    low, high = 0.0, 1.0
    for _ in range(60):
        tilt = (low + high) / 2
        shares = equal * (1 + tilt * np.sign(values))
        mean = values @ shares
        reached = mean / math.sqrt(values**2 @ shares - mean**2) > effect
        low, high = (low, tilt) if reached else (tilt, high)
    assert abs(mean / math.sqrt(values**2 @ shares - mean**2) - effect) < 1e-6, "no tilt reaches this effect"
    return shares


def symmetric(name: str, values: list[float], shares: list[float]) -> Case:
    """A difference of 0.64 standard deviations."""
    both = np.array([*(-one for one in values[::-1] if one), *values])
    equal = np.array([*(share / 2 for one, share in zip(values[::-1], shares[::-1], strict=True) if one),
                      *(share / 2 if one else share for one, share in zip(values, shares, strict=True))])  # fmt: skip
    return _values(name, both, equal, _tilted(both, equal))


def _ceiling() -> Case:
    given = np.array(SHARES["ceiling"])
    gaps = np.arange(-4.0, 5.0)
    equal = np.array([sum(given[at] * given[at - int(gap)] for at in range(5) if 0 <= at - gap < 5) for gap in gaps])
    return _values("scores crowded at the top", gaps, equal, _tilted(gaps, equal))


def _draw_clusters(rng: np.random.Generator, tries: int, n: int, moved: bool) -> Drawn:
    """1 to 8 samples in a cluster, which share half of their scatter."""
    sizes = 1 + np.arange(n) % 8
    shared = np.repeat(rng.normal(0, 0.7, (tries, n)), sizes, axis=1)
    return Drawn(shared + rng.normal(0, 0.7, shared.shape) + (0.4 if moved else 0.0), sizes)


_QUARTERS = np.arange(0, 3.25, 0.25).tolist()
_NORMAL = np.exp(-(np.array(_QUARTERS) ** 2) / 2 / 0.9**2) * np.array([1.0, *[2.0] * 12])
CASES = (
    symmetric("many sizes", _QUARTERS, (_NORMAL / _NORMAL.sum()).tolist()),
    symmetric("half tied, three sizes", [0.0, 0.5, 1.0, 1.5], [0.5, 0.2, 0.2, 0.1]),
    symmetric("half tied, else ±1", [0.0, 1.0], [0.5, 0.5]),
    symmetric("±1, none tied", [1.0], [1.0]),
    _ceiling(),
    _values("mostly +0.25, rarely −3", np.array([-3.0, 0.25]), np.array([1 / 13, 12 / 13]), np.array([0.02, 0.98])),
    _values("gains of 0 to 0.5, rarely −3", np.array([-3.0, 0.0, 0.25, 0.5]),
            np.array([1 / 13, 3 / 13, 6 / 13, 3 / 13]), np.array([0.02, 0.245, 0.49, 0.245])),
    Case("clusters of 1 to 8", _draw_clusters, 0.4),
)  # fmt: skip


def reject_ours(drawn: Drawn, mean: float, rng: np.random.Generator) -> Booleans:
    """Whether the interval leaves out a mean."""
    found = _compare_rows(drawn, rng)
    return np.array([not one.low <= mean <= one.high if mean else one.p < ALPHA for one in found])


@lru_cache(maxsize=1)  # Coverage and power are read off the same comparisons, which take nearly all of the time.
def _compare_rows(drawn: Drawn, rng: np.random.Generator) -> list[Difference]:
    span = SPAN if drawn.sizes is None else None
    rows = drawn.rows
    if drawn.sizes is not None:
        rows = np.add.reduceat(rows, np.cumsum(drawn.sizes) - drawn.sizes, axis=1) / drawn.sizes
    return [difference_of(row, rng=rng, span=span, sizes=drawn.sizes) for row in rows]


def reject_t(drawn: Drawn, mean: float, rng: np.random.Generator) -> Booleans:
    """Student's paired t; where all differences are equal, nothing but them is left."""
    rows, n = drawn.rows, drawn.rows.shape[1]
    reach = scipy_stats.t.ppf(1 - ALPHA / 2, n - 1) * rows.std(axis=1, ddof=1) / math.sqrt(n)
    rejected: Booleans = np.abs(rows.mean(axis=1) - mean) > reach + 1e-12
    return rejected


def reject_wilcoxon(drawn: Drawn, mean: float, rng: np.random.Generator) -> Booleans:
    """Signed ranks without the ties, by the normal approximation, as most programs do."""
    off = drawn.rows - mean
    off[np.abs(off) < 1e-12] = 0.0
    there = off != 0
    sizes = np.where(there, np.abs(off), np.inf)
    ranks = scipy_stats.rankdata(sizes, axis=1) * there
    gap = (ranks * np.sign(off)).sum(axis=1)
    spread = np.sqrt((ranks**2).sum(axis=1))
    rejected: Booleans = np.abs(gap) > scipy_stats.norm.ppf(1 - ALPHA / 2) * spread
    return rejected


def reject_bootstrap(drawn: Drawn, mean: float, rng: np.random.Generator) -> Booleans:
    """Percentiles of 2,000 resampled means."""
    n = drawn.rows.shape[1]
    means = drawn.rows @ rng.multinomial(n, np.full(n, 1 / n), size=2_000).T / n
    low, high = np.quantile(means, [ALPHA / 2, 1 - ALPHA / 2], axis=1)
    rejected: Booleans = (mean < low - 1e-12) | (mean > high + 1e-12)
    return rejected


def reject_betting(drawn: Drawn, mean: float, rng: np.random.Generator) -> Booleans:
    """The hedged capital of Waudby-Smith and Ramdas (2024), bets from what came before."""
    scaled, m = np.clip((drawn.rows + SPAN) / (2 * SPAN), 0, 1), (mean + SPAN) / (2 * SPAN)
    n = scaled.shape[1]
    total, squares = np.full(len(scaled), 0.5), np.full(len(scaled), 0.25)
    logs, best = np.zeros((2, len(scaled))), np.full(len(scaled), -math.inf)
    for step in range(n):
        bet = np.sqrt(2 * math.log(2 / ALPHA) * (step + 1) / (n * squares))
        x = scaled[:, step]
        logs[0] += np.log1p(np.minimum(bet, 0.5 / m) * (x - m))
        logs[1] += np.log1p(-np.minimum(bet, 0.5 / (1 - m)) * (x - m))
        best = np.maximum(best, logs.max(axis=0))
        total += x
        squares += (x - total / (step + 2)) ** 2
    return best >= math.log(2 / ALPHA)


METHODS = {
    "Evenhand": reject_ours,
    "t": reject_t,
    "Wilcoxon": reject_wilcoxon,
    "bootstrap": reject_bootstrap,
    "betting": reject_betting,
}
Rates = dict[str, tuple[float, float, float]]  # By method: false alarms, coverage and power, in percent.


def measure(case: Case, n: int, tries: int, seed: int = 1, methods: Iterable[str] = METHODS) -> Rates:
    """Methods on the same differences, whichever they are."""
    rng = np.random.default_rng([seed, n, CASES.index(case)])
    equal, moved = (case.draw(rng, tries, n, better) for better in (False, True))
    up = moved.rows.mean(axis=1) > 0
    found = {}
    for name in methods:
        rejects = METHODS[name]
        alarms, missed, seen = rejects(equal, 0.0, rng), rejects(moved, case.better, rng), rejects(moved, 0.0, rng)
        found[name] = (100 * alarms.mean(), 100 * (1 - missed.mean()), 100 * (seen & up).mean())
    return found


def list_table(tries: int) -> Iterator[str]:
    """The table of the page."""
    yield f"| differences | | {' | '.join(METHODS)} |"
    yield f"|---|---|{'---|' * len(METHODS)}"
    for case in CASES:
        rates = [measure(case, n, tries) for n in SIZES]
        for place, what in enumerate(("false alarms", "coverage", "power")):
            cells = (" / ".join(f"{one[name][place]:.{place == 0:d}f}" for one in rates) for name in METHODS)
            yield f"| {case.name if not place else ''} | {what} | {' | '.join(cells)} |"


def read_tries() -> int:
    """How many draws are behind each figure of the page."""
    found = TRIES.search(PAGE.read_text())
    assert found
    return int(found[1].replace(",", ""))


def read_table() -> dict[tuple[str, str, str], list[float]]:
    """What the page says, by differences, what is counted, and method."""
    found, case = {}, ""
    for line in TABLE.search(PAGE.read_text())[0].strip().splitlines()[2:]:  # type: ignore[index]
        name, what, *cells = (cell.strip() for cell in line.strip("|").split("|"))
        case = name or case
        for method, cell in zip(METHODS, cells, strict=False):
            found[case, what, method] = [float(one) for one in cell.split("/")]
    return found


if __name__ == "__main__":
    tries = int(sys.argv[1]) if len(sys.argv) > 1 else 4_000
    text = "\n".join(list_table(tries)) + "\n\n"
    PAGE.write_text(TRIES.sub(f"from {tries:,} draws", TABLE.sub(lambda _: text, PAGE.read_text())))
