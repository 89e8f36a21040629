"""What aligning and probes promise, simulated: `python -m benchmarks.learning [alignment] [drift] [confirmation]`."""

import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from tests.calibrate.aligning import align, keeps_the_rule_alone, simulate_selection
from tests.stats.drifting import (
    World,
    Years,
    slip_more,
    waver_alike,
    waver_evenly,
    waver_on_an_eighth,
    waver_on_some,
)

from benchmarks.figure import Figure

REPETITIONS = 1_000
DEALS = 199
SEALS, YEARS = 15, 10  # So many years of each sealed set.
PROMPT, MOST_ALARMS, LEAST_FOUND, STEADY_ENOUGH = 200, 0.05, 0.9, 0.85
AGREEMENTS = {
    0.95: (0.99, 0.95),
    0.90: (0.99, 0.95, 0.90),
    0.85: (0.95, 0.90),
    0.70: (0.90,),
}  # Each repeats itself so.
SIZES = {
    "35 labels, 3 a day": Years(questions=35, daily=3),
    "80 labels, 1 a day": Years(questions=80, daily=1),
    "60 labels with 5 answers each, 10 a day": Years(questions=60, daily=10, repeats=5),
}
WORLDS: dict[str, Callable[[float, float], World]] = {"alike": waver_alike, "on some": waver_on_some}


@dataclass(frozen=True, kw_only=True)
class DriftFigures:
    """Of one kind of judge: years with a false alarm, drops found in time, and how many answers that took."""

    agreement: float
    alarms: float
    found: float
    median: float
    most: float  # Nine of ten drops are found within so many.


def measure_drift(
    kind: str, agreement: float, repeats: float, world: Callable[[float, float], World], years: Years
) -> DriftFigures:
    """Simulate years without drift, and years with a drop of ten points that begins on a random day."""
    rng = np.random.default_rng(crc32(f"{kind} {agreement} {repeats} {years.daily} {years.questions}".encode()))
    alarms, delays = years.simulate(world(agreement, repeats), SEALS, YEARS, rng)
    median, most = np.quantile(delays, [0.5, 0.9])
    found = float((delays <= PROMPT).mean())
    return DriftFigures(agreement=agreement, alarms=alarms, found=found, median=float(median), most=float(most))


DriftRows = Iterator[tuple[str, DriftFigures]]  # Each with the beginning of its row.


def simulate_drift() -> DriftRows:
    """The judges whose figures the manual shows."""
    for agreement, shares in AGREEMENTS.items():
        for repeats in shares:
            for kind, world in WORLDS.items():
                name = f"{agreement:.2f} | {repeats:.0%} | {kind}"
                yield name, measure_drift(kind, agreement, repeats, world, Years())


def simulate_slipping() -> DriftRows:
    """The same drop, but every answer turns with one chance, so that no question is lost again and again."""
    for repeats in AGREEMENTS[0.9]:
        for kind, world in WORLDS.items():
            yield f"0.90 | {repeats:.0%} | {kind}", measure_drift(kind, 0.9, repeats, world, Years(drift=slip_more))


def confirm_drift() -> DriftRows:
    """Judges and sets that no setting of the detector was chosen on."""
    kinds = {"on an eighth": waver_on_an_eighth, "evenly": waver_evenly, **WORLDS}
    for (size, years), (agreement, repeats) in zip(
        SIZES.items(), ((0.88, 0.93), (0.92, 0.96), (0.86, 0.94)), strict=True
    ):
        for kind, world in kinds.items():
            name = f"{agreement:.2f} | {repeats:.0%} | {kind}, {size}"
            yield name, measure_drift(kind, agreement, repeats, world, years)


def format_drift_row(name: str, one: DriftFigures) -> str:
    """A row of a table."""
    return f"| {name} | {one.alarms:.1%} | {one.found:.1%} | {one.median:.0f} | {one.most:.0f} |"


def measure_drift_promises() -> Iterator[Figure]:
    """False alarms in every simulated world, and drops found in time where the judge agreed often enough."""
    found = dict(simulate_drift())
    alarms, noisy = max((one.alarms, name) for name, one in found.items())
    least, slow = min((one.found, name) for name, one in found.items() if one.agreement >= STEADY_ENOUGH)
    yield Figure(f"false alarms in a year of daily looks ({noisy})", f"{alarms:.1%}", "≤ 5%", alarms <= MOST_ALARMS)
    yield Figure(f"drops found within 200 answers ({slow})", f"{least:.1%}", "≥ 90%", least >= LEAST_FOUND)


def measure_alignment_promises() -> Iterator[Figure]:
    """Labels that say nothing change no rubric, and the edit that states a hidden rule is kept alone."""
    tries = range(REPETITIONS)
    changed = sum(bool(align(seed, shuffled=True, deals=DEALS).edits) for seed in tries) / REPETITIONS
    yield Figure("align, shuffled labels: the rubric changes", f"{changed:.1%}", "≤ 5%", changed <= MOST_ALARMS)
    rng = np.random.default_rng(1)
    kept = [simulate_selection(rng, shuffled=True, passing=0.8, deals=DEALS)[0].kept for _ in tries]
    changed = sum(kept) / REPETITIONS
    yield Figure("the same where people pass 80%, selection alone", f"{changed:.1%}", "≤ 5%", changed <= MOST_ALARMS)
    right = sum(keeps_the_rule_alone(align(seed, deals=DEALS)) for seed in tries) / REPETITIONS
    yield Figure("align, a hidden rule among ten edits: it alone kept", f"{right:.1%}", "≥ 90%", right >= LEAST_FOUND)


if __name__ == "__main__":
    parts = sys.argv[1:] or ["alignment", "drift", "slipping", "confirmation"]
    if "alignment" in parts:
        for figure in measure_alignment_promises():
            print(figure, flush=True)
    tables = {"drift": simulate_drift, "slipping": simulate_slipping, "confirmation": confirm_drift}
    for part in (part for part in parts if part in tables):
        print(
            f"\n{part}: agreement, repeats itself, wavers; false alarms, found within 200 answers, median, 90% within"
        )
        for name, one in tables[part]():
            print(format_drift_row(name, one), flush=True)
