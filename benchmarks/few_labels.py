"""People's mean from few labels beside `ppi_mean_ci` of ppi-python, on the same draws of labels."""

import json
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from tests.datasets.verdicts import CRITERIA, JUDGES, experts, judge

from benchmarks.figure import Figure
from benchmarks.guards import SHARED
from benchmarks.peers import find_peer_python
from evenhand.stats.means import powered_mean

Floats = NDArray[np.float64]
LABELLED, DRAWS = 20, 200  # Labels of 100 summaries, and how often they are drawn for each system and judge.
MANY, OF, LARGE = 500, 50_000, 40  # Labels, outputs and draws where both should say the same.
PROMISED = 0.93
MINUTES = 5


def measure_few_labels() -> Iterator[Figure]:
    """Coverage and width with 20 labels of 100, by criterion; with many labels, the same interval as theirs."""
    python = find_peer_python()
    if SHARED.is_dir():
        for criterion in CRITERIA:
            yield from _recorded(criterion, python)
    if python is not None:
        yield from _many_labels(python)


def _recorded(criterion: str, python: Path | None) -> Iterator[Figure]:
    """Every system of SummEval by both judges: what covers the experts' mean over all 100 summaries."""
    rng = np.random.default_rng(20_261_116)
    people = experts(SHARED)
    cases, truths = [], []
    for judged in (judge(SHARED, name) for name in JUDGES):
        for key in (key for key in sorted(people) if key[1] == criterion):
            cases += [_draw(np.array(people[key]), np.array(judged[key]), LABELLED, rng) for _ in range(DRAWS)]
            truths += [float(np.mean(people[key]))] * DRAWS
    ours = _bound_by_us(cases, scale=(1, 5))
    name = f"{LABELLED} labels of 100, {criterion}, {len(cases):,} draws"
    covered = _share_covered(ours, truths)
    worst = covered.reshape(-1, DRAWS).mean(axis=1).min()
    value = f"{covered.mean():.1%}, {worst:.0%}"
    yield Figure(f"{name}: covered, worst", value, f"≥ {PROMISED:.0%} on average", covered.mean() >= PROMISED)
    if python is not None and (theirs := _bound_by_them(python, cases)) is not None:
        beside, width = _share_covered(theirs, truths), np.mean(np.ptp(ours, axis=1)) / np.mean(np.ptp(theirs, axis=1))
        holds = covered.mean() >= beside.mean() - 0.005
        value = f"{beside.mean():.1%}, {beside.reshape(-1, DRAWS).mean(axis=1).min():.0%}"
        yield Figure(f"{name}: ppi-python's", value, "not above ours", holds)
        print(f"        our interval is {width:.2f} × as wide as ppi-python's")


def _many_labels(python: Path) -> Iterator[Figure]:
    """500 labels of 50,000 outputs: nothing is finite, rare or few, and the two are one method."""
    rng = np.random.default_rng(20_261_117)
    cases = []
    for _ in range(LARGE):
        human = rng.normal(3, 1, OF)
        cases.append(_draw(human, human + rng.normal(1, 0.7, OF), MANY, rng))
    ours, theirs = _bound_by_us(cases, scale=None), _bound_by_them(python, cases)
    if theirs is None:
        return
    width = np.ptp(ours, axis=1) / np.ptp(theirs, axis=1)
    apart = np.abs(ours.mean(axis=1) - theirs.mean(axis=1)) / np.ptp(theirs, axis=1)
    name = f"{MANY} labels of {OF:,}, {LARGE} draws"
    value = f"{width.min():.3f}–{width.max():.3f} ×"
    yield Figure(f"{name}: width, of ppi-python's", value, "0.97–1.03 ×", bool((np.abs(width - 1) <= 0.03).all()))
    yield Figure(f"{name}: furthest apart, of the width", f"{apart.max():.3f}", "≤ 0.05", apart.max() <= 0.05)


Case = tuple[Floats, Floats, Floats]  # Labels, the judge on what was labelled, and the judge on the others.


def _draw(human: Floats, judged: Floats, labelled: int, rng: np.random.Generator) -> Case:
    order = rng.permutation(len(human))
    return human[order[:labelled]], judged[order[:labelled]], judged[order[labelled:]]


def _bound_by_us(cases: list[Case], scale: tuple[float, float] | None) -> Floats:
    ends = []
    for labels, on_labelled, on_others in cases:
        judged, human = np.concatenate([on_labelled, on_others]), [*labels.tolist(), *[None] * len(on_others)]
        found = powered_mean(judged, human, scale=scale)
        ends.append((found.low, found.high))
    return np.array(ends)


def _bound_by_them(python: Path, cases: list[Case]) -> Floats | None:
    """Their 95% intervals, λ tuned as by default; None where it failed, which is said."""
    rows = json.dumps([[column.tolist() for column in case] for case in cases])
    try:
        done = subprocess.run(
            [str(python), "-c", _SCRIPT], input=rows, capture_output=True, text=True, timeout=60 * MINUTES, check=True
        )
    except subprocess.SubprocessError as error:
        said = (getattr(error, "stderr", None) or str(error)).strip().splitlines()
        print(f"        ppi-python: not measured: {said[-1]}")
        return None
    return np.array(json.loads(done.stdout))


def _share_covered(ends: Floats, truths: list[float]) -> NDArray[np.bool_]:
    covered: NDArray[np.bool_] = (ends[:, 0] - 1e-9 <= truths) & (truths <= ends[:, 1] + 1e-9)
    return covered


_SCRIPT = """
import json, sys
import numpy as np
from ppi_py import ppi_mean_ci

def bound(case):
    labels, on_labelled, on_others = (np.array(column) for column in case)
    low, high = ppi_mean_ci(labels, on_labelled, on_others, alpha=0.05)
    return float(np.squeeze(low)), float(np.squeeze(high))

np.seterr(all="ignore")
print(json.dumps([bound(case) for case in json.load(sys.stdin)]))
"""
