"""How often intervals from few labels cover what all labels say, and how wide they are: the tables of the manual."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from benchmarks.figure import Figure as Promise
from benchmarks.guards import SHARED
from benchmarks.labelled_data import DATA, Labelled, Population
from evenhand.calibrate.next_labels import measure_nearness_to_gate, mix_label_draw_priorities
from evenhand.stats.cascades import draw_by_chance, spread_chances, weigh_drawn_samples
from evenhand.stats.means import powered_mean
from evenhand.stats.rates import exact_share_interval

Floats = NDArray[np.float64]
LABELS = (20, 40, 80)
BATCH = 20  # Labels that `labels next` draws at a time.
DRAWS = 1_000  # Of each figure.
PROMISED, WIDEST = 0.93, 1.03
WAYS = ("at random", "by labels next")


@dataclass(frozen=True, kw_only=True)
class Drawn:
    """The places that were labelled, and how many each stands for; None where all chances were equal."""

    places: NDArray[np.int64]
    weights: Floats | None


@dataclass(frozen=True, kw_only=True)
class Coverage:
    """How often an interval covered, its mean width, and as a share of that of the labels alone."""

    covered: float
    width: float
    ratio: float | None
    draws: int

    def __str__(self) -> str:
        beside = "" if self.ratio is None else f" ({self.ratio:.2f} ×)"
        return f"{self.covered:.1%}, {self.width:.2f}{beside}"


Bound = tuple[float, float, float, float | None]  # Truth, low, high, width of the labels alone.
Figure = Callable[[Population, Drawn], Bound | None]


def draw_labels(population: Population, count: int, way: str, rng: np.random.Generator) -> Drawn:
    """Draw outputs to label; `labels next` draws them in batches, each from what is left."""
    size = len(population.people)
    if way == WAYS[0]:
        return Drawn(places=np.sort(rng.permutation(size)[:count]), weights=None)
    near = np.maximum(0.0, measure_nearness_to_gate(population.judged, population.gate, population.scale))
    apart = np.zeros(size) if population.apart is None else population.apart
    left, places, batches, chances = np.arange(size), [], [], []
    for batch in range(1, 1 + -(-count // BATCH)):
        wanted = min(BATCH, count - BATCH * (batch - 1))
        own = spread_chances(mix_label_draw_priorities(near[left], apart[left])[0], wanted)
        drawn = draw_by_chance(own, rng)
        places.append(left[drawn])
        chances.append(own[drawn])
        batches.append(np.full(len(drawn), batch))
        left = np.delete(left, drawn)
    weights = weigh_drawn_samples(np.concatenate(batches), np.concatenate(chances), size)
    return Drawn(places=np.concatenate(places), weights=weights)


def bound_mean(population: Population, drawn: Drawn) -> Bound | None:
    """People's mean over all outputs."""
    return _bound_powered(population.judged, population.people, population.scale, drawn)


def bound_pass_rate(population: Population, drawn: Drawn) -> Bound | None:
    """The share of outputs that people pass."""
    judged, people = (np.array(one >= population.gate, dtype=float) for one in (population.judged, population.people))
    return _bound_powered(judged, people, (0, 1), drawn)


def _bound_powered(judged: Floats, people: Floats, scale: tuple[float, float], drawn: Drawn) -> Bound:
    known: list[float | None] = [None] * len(people)
    weights = None if drawn.weights is None else np.ones(len(people))
    for number, place in enumerate(drawn.places):
        known[place] = float(people[place])
        if weights is not None and drawn.weights is not None:
            weights[place] = drawn.weights[number]
    found = powered_mean(judged, known, scale=scale, weights=weights)
    return float(people.mean()), found.low, found.high, found.labels_only.high - found.labels_only.low


def bound_wrong_passes(population: Population, drawn: Drawn) -> Bound | None:
    """Of the outputs that people fail, the share that the judge passes."""
    return _bound_errors(population, drawn, passed=False)


def bound_wrong_fails(population: Population, drawn: Drawn) -> Bound | None:
    """Of the outputs that people pass, the share that the judge fails."""
    return _bound_errors(population, drawn, passed=True)


def _bound_errors(population: Population, drawn: Drawn, *, passed: bool) -> Bound | None:
    judged, people = (one >= population.gate for one in (population.judged, population.people))
    kind, wrong = people == passed, (judged != people).astype(float)
    rows = kind[drawn.places]
    if not rows.any():
        return None
    weights = None if drawn.weights is None else drawn.weights[rows]
    found = exact_share_interval(wrong[drawn.places][rows], weights=weights)
    return float(wrong[kind].mean()), found.low, found.high, None


FIGURES: dict[str, tuple[str, Figure]] = {
    "mean": ("outputs", bound_mean),
    "difference": ("pairs", bound_mean),
    "pass rate": ("gated", bound_pass_rate),
    "wrongly passed": ("gated", bound_wrong_passes),
    "wrongly failed": ("gated", bound_wrong_fails),
}


def measure_coverage(data: Labelled, figure: str, count: int, way: str, draws: int = DRAWS) -> Coverage | None:
    """Draw labels again and again, from one population after the other; None where none has enough outputs."""
    kind, bound = FIGURES[figure]
    populations = [one for one in getattr(data, kind) if len(one.people) > count]
    if not populations:
        return None
    rng = np.random.default_rng(crc32(f"{data.name} {figure} {count} {way}".encode()))
    found = [
        one
        for number in range(draws)
        if (one := bound(own := populations[number % len(populations)], draw_labels(own, count, way, rng))) is not None
    ]
    truth, low, high = (np.array([one[place] for one in found]) for place in range(3))
    alone = [one[3] for one in found if one[3] is not None]
    width = float((high - low).mean())
    return Coverage(
        covered=float(((low - 1e-9 <= truth) & (truth <= high + 1e-9)).mean()),
        width=width,
        ratio=width / float(np.mean(alone)) if alone else None,
        draws=len(found),
    )


def coverage_row(name: str, count: int, way: str, draws: int = DRAWS) -> str:
    """One row of the table."""
    data = DATA[name]()
    cells = [measure_coverage(data, figure, count, way, draws) for figure in FIGURES]
    return f"| {name} | {count} | {' | '.join('–' if cell is None else str(cell) for cell in cells)} |"


def coverage_table(way: str, draws: int = DRAWS) -> str:
    """The table of one way of drawing."""
    heads = [f"| data | labels | {' | '.join(FIGURES)} |", f"|---|---:|{'---|' * len(FIGURES)}"]
    rows = [coverage_row(name, count, way, draws) for name in DATA for count in LABELS]
    return "\n".join([*heads, *rows, ""])


BANDS = (("below 0.2", -1.0, 0.2), ("0.2 to 0.4", 0.2, 0.4), ("0.4 to 0.6", 0.4, 0.6), ("0.6 and above", 0.6, 1.1))


def narrowing_table(count: int = 40, draws: int = DRAWS) -> str:
    """How wide the interval is beside that of the labels alone, by how far the judge goes with people."""
    every = [one for read in DATA.values() for kind in ("outputs", "pairs") for one in getattr(read(), kind)]
    lines = [
        f"| correlation with people | populations | {count} labels: width beside labels alone |",
        "|---|---:|---:|",
    ]
    for name, low, high in BANDS:
        some = [one for one in every if low <= one.correlation < high and len(one.people) > count]
        found = measure_coverage(
            Labelled(name=name, outputs=tuple(some), gated=(), pairs=()), "mean", count, WAYS[0], draws
        )
        lines.append(
            f"| {name} | {len(some)} | {'–' if found is None or found.ratio is None else f'{found.ratio:.2f} ×'} |"
        )
    return "\n".join([*lines, ""])


def coverage_tables() -> dict[str, str]:
    """All of them, by the names under which the manual keeps them."""
    return {
        "coverage-at-random": coverage_table(WAYS[0]),
        "coverage-by-labels-next": coverage_table(WAYS[1]),
        "narrowing": narrowing_table(),
    }


def measure_label_coverage() -> Iterator[Promise]:
    """What is promised: 93% at least, and never more than 3% wider than the labels alone."""
    if not SHARED.is_dir():
        return
    for way in WAYS:
        found = {
            f"{data.name}, {count} labels, {figure}": one
            for data in (read() for read in DATA.values())
            for count in LABELS
            for figure in FIGURES
            if (one := measure_coverage(data, figure, count, way)) is not None
        }
        worst, least = min((one.covered, name) for name, one in found.items())[::-1]
        widest, most = max((one.ratio or 0.0, name) for name, one in found.items())[::-1]
        name = f"intervals from few labels, drawn {way}"
        yield Promise(f"{name}: worst coverage ({worst})", f"{least:.1%}", f"≥ {PROMISED:.0%}", least >= PROMISED)
        yield Promise(f"{name}: width beside labels alone ({widest})", f"{most:.2f} ×", "≤ 1.03 ×", most <= WIDEST)
