"""Means from few labels on recorded judgments: 20 experts' labels of 100 summaries cover the mean of all 100."""

from pathlib import Path

import numpy as np
import pytest
from numpy.typing import NDArray

from evenhand.stats.means import powered_mean
from tests.datasets.verdicts import CRITERIA, JUDGES, experts, judge
from tests.soak import SOAK, at_least, often

Floats = NDArray[np.float64]

LABELLED = 20
TRIES = often(120, 1_000)
# Where all labels that are drawn are often a 5, and where most are and the others are far below.
HARD = [("M22", "consistency"), ("M11", "consistency"), ("M8", "fluency"), ("M11", "fluency"), ("M23", "relevance")]


@pytest.mark.parametrize("name", JUDGES if SOAK else ["letters"])
def test_the_interval_covers_on_every_system(shared: Path, name: str) -> None:
    """93% at least for each system and criterion: also where nearly all scores are 5, and never wider than labels."""
    people, judged = experts(shared), judge(shared, name)
    rng = np.random.default_rng(5)
    for key in sorted(people) if SOAK else HARD:
        covered, width, alone = _draw(people[key], judged[key], rng)

        assert covered >= at_least(0.93, TRIES), key
        assert width <= alone, key


@pytest.mark.parametrize("criterion", CRITERIA if SOAK else ["consistency"])
def test_the_plug_in_of_ppi_covers_less(shared: Path, criterion: str) -> None:
    """As `ppi_mean_ci` of ppi-python does it: λ tuned, normal quantiles. On consistency it misses in 1 of 4 draws."""
    people, judged = experts(shared), judge(shared, "free text")
    rng = np.random.default_rng(6)
    ours, theirs = [], []
    for key in sorted(key for key in people if key[1] == criterion):
        ours.append(_draw(people[key], judged[key], rng, tries=TRIES // 4)[0])
        theirs.append(np.mean([_covered_by_plug_in(people[key], judged[key], rng) for _ in range(TRIES // 4)]))

    assert np.mean(ours) >= 0.94
    assert np.mean(ours) > np.mean(theirs) - 0.02
    if criterion == "consistency":
        assert np.mean(theirs) < 0.82


def _draw(
    people: list[float], judged: list[float], rng: np.random.Generator, tries: int = TRIES
) -> tuple[float, float, float]:
    """How often the interval covers, its mean width, and that of the labels alone."""
    found = []
    for _ in range(tries):
        drawn = set(rng.permutation(len(people))[:LABELLED].tolist())
        labels = [label if place in drawn else None for place, label in enumerate(people)]
        found.append(powered_mean(judged, labels, scale=(1, 5)))
    truth = float(np.mean(people))
    covered = np.mean([one.low - 1e-9 <= truth <= one.high + 1e-9 for one in found])
    alone = np.mean([one.labels_only.high - one.labels_only.low for one in found])
    return float(covered), float(np.mean([one.high - one.low for one in found])), float(alone)


def _covered_by_plug_in(people: list[float], judged: list[float], rng: np.random.Generator) -> bool:
    order = rng.permutation(len(people))
    y, x = np.array(people)[order[:LABELLED]], np.array(judged)[order[:LABELLED]]
    others = np.array(judged)[order[LABELLED:]]
    together = float((1 + len(x) / len(others)) * np.concatenate([x, others]).var())
    tuned = float(np.clip(((x - x.mean()) * (y - y.mean())).mean() / together, 0, 1)) if together else 0.0
    rest: Floats = y - tuned * x
    estimate = tuned * others.mean() + rest.mean()
    reach = 1.96 * np.sqrt(tuned**2 * others.var() / len(others) + rest.var() / len(x))
    return bool(abs(estimate - np.mean(people)) <= reach + 1e-9)
