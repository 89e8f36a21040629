"""A ranking under ten thousand weightings: means, and who wins each of ten thousand samples under each of them."""

from collections.abc import Iterator
from fractions import Fraction
from time import perf_counter

import numpy as np

from benchmarks.figure import Figure
from evenhand import load_rubric
from evenhand.compare.sensitivity import measure_sensitivity as sensitivity
from evenhand.runs.columns import RunTable
from evenhand.runs.run_record import RunEvalRecord, run_rubric_snapshot_json
from evenhand.scoring.panel_pooling import round_half_away
from evenhand.scoring.scores import to_scoring_fingerprint_data

SAMPLES = DRAWS = 10_000
MOST = 2.0  # Seconds, the whole of it: near weightings with every sample won, all weightings, each part left out.
TAKES = 3


def measure_sensitivity() -> Iterator[Figure]:
    """Weighted sums alone, and with the ceilings of the council, which no product of means can give."""
    for name, method in (("weighted sum", "judge-skill"), ("with ceilings", "council")):
        table, rubrics = _run(method)
        took = min(_seconds(table, rubrics) for _ in range(TAKES))
        what = f"sensitivity, {SAMPLES:,} samples × {DRAWS:,} weightings, {name}"
        yield Figure(what, f"{took:.2f} s", f"< {MOST:.0f} s", took < MOST)


def _seconds(table: RunTable, rubrics: dict[str, object]) -> float:
    start = perf_counter()
    found = sensitivity(table, rubrics, draws=DRAWS, seed=1)
    took = perf_counter() - start
    assert 0 < found.rankings[0].won[0] < 1  # Samples were won and lost: they were looked at.
    return took


def _run(method: str) -> tuple[RunTable, dict[str, object]]:
    """Two variants, scored on 1 to 10 in halves, one of them a little better."""
    rubric, rng = load_rubric(method), np.random.default_rng(20_261_116)
    sample, variant = (one.ravel() for one in np.indices((SAMPLES, 2)))
    criteria = {id: np.clip(rng.integers(2, 21, len(sample)) / 2 + 0.1 * variant, 1, 10) for id in rubric.leaves}
    score = np.sum([float(rubric.leaves[id].weight) * column for id, column in criteria.items()], axis=0)
    score = round_half_away(score, 2) if method == "judge-skill" else score
    if method == "council":
        score = np.minimum(score, np.where(criteria["accuracy"] < 5, 4, np.where(criteria["accuracy"] < 7, 7, 10)))
    frame = RunEvalRecord(
        name="bench", control="old", variants={"old": "", "new": ""}, judges=("j",), guards=(), assertions=(),
        rubrics=(run_rubric_snapshot_json("", rubric),), gates={}, smallest_effect=Fraction(1, 2), repeats=1, seed=0,
        fingerprints={},
    )  # fmt: skip
    table = RunTable(
        run="", frame=frame, samples=tuple(map(str, range(SAMPLES))), variants=("old", "new"), sample=sample,
        variant=variant, repeat=np.zeros_like(sample), cluster=sample, length=np.ones(len(sample)), score=score,
        composite=score, layers={}, criteria=criteria, reviews={}, judgments={}, seats={},
    )  # fmt: skip
    return table, {"": to_scoring_fingerprint_data(rubric)}
