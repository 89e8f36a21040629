"""Columns beside a plain loop over the formula, and the explained path, on the same million scores."""

from collections.abc import Callable, Iterator
from time import perf_counter

import numpy as np

from benchmarks.figure import Figure
from evenhand import Answers, load_rubric
from evenhand.scoring.columns import score_columns
from evenhand.scoring.engine import compute_answers_scorecard

ROWS = 1_000_000
CHECKED = 100_000
EXPLAINED = 40_000


def measure_scoring() -> Iterator[Figure]:
    """Rates on one core; the best of several takes, since noise only ever slows."""
    rubric = load_rubric("council")
    rng = np.random.default_rng(20_261_115)
    table = {id: rng.integers(2, 21, ROWS) / 2 for id in rubric.leaves}
    # First, while memory is empty: a million rows held alongside would be walked by the garbage collector.
    given = [{id: float(column[at]) for id, column in table.items()} for at in range(EXPLAINED)]
    explained = EXPLAINED / _best(
        lambda: [compute_answers_scorecard(rubric, Answers(id="a", scores=rubric.read(scores)[0])) for scores in given],
        3,
    )
    yield Figure(
        "explained scorecards a second, from plain numbers", f"{explained:,.0f}", "≥ 20,000", explained >= 20_000
    )

    weights = {criterion.id: float(criterion.weight) for criterion in rubric.criteria}
    rows = list(zip(*(table[id].tolist() for id in table), strict=True))

    columns = ROWS / _best(lambda: score_columns(rubric, table), 7)
    loop = ROWS / _best(lambda: _plain_loop(rows, list(weights.values())), 2)
    yield Figure(
        "columns, council scorecards a second", f"{columns / 1e6:.1f} million", "≥ 10 million", columns >= 10e6
    )
    yield Figure("columns against a plain Python loop", f"{columns / loop:.1f} ×", "≥ 8 ×", columns >= 8 * loop)

    answers = [
        Answers(id=str(at), scores=rubric.read(dict(zip(table, row, strict=True)))[0])
        for at, row in enumerate(rows[:CHECKED])
    ]
    exact = [float(compute_answers_scorecard(rubric, entry).score or 0) for entry in answers]
    different = int((score_columns(rubric, {id: c[:CHECKED] for id, c in table.items()}).score != exact).sum())
    yield Figure(f"columns that differ from the exact path, of {CHECKED:,}", str(different), "0", different == 0)


def _plain_loop(rows: list[tuple[float, ...]], weights: list[float]) -> list[float]:
    """The formula as one would write it: a weighted sum in floats, two ceilings, a rounding."""
    a, b, c, d, e = weights
    scores = []
    for accuracy, relevance, completeness, conciseness, clarity in rows:
        score = accuracy * a + relevance * b + completeness * c + conciseness * d + clarity * e
        if accuracy < 5:
            score = min(score, 4.0)
        elif accuracy < 7:
            score = min(score, 7.0)
        scores.append(round(score, 2))
    return scores


def _best(run: Callable[[], object], takes: int) -> float:
    times = []
    for _ in range(takes):
        start = perf_counter()
        run()
        times.append(perf_counter() - start)
    return min(times)
