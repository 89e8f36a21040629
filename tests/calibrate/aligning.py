"""Judges and people for aligning: a hidden rule that people follow, and rubrics that state it or something else."""

import numpy as np

from evenhand.calibrate.nested_selection import CandidateAnswers, NestedSelection, select_rubric_by_nested_cv
from tests.soak import often

RUBRICS = 10  # Beside the present one.
DEALS = often(99, 199)


def simulate_selection(
    rng: np.random.Generator,
    *,
    samples: int = 30,
    turned: float = 0.25,
    passing: float = 0.5,
    shuffled: bool = False,
    noise: float = 0.0,
    deals: int = DEALS,
) -> tuple[NestedSelection, int]:
    """What is selected, and the place of the rubric that states the rule; the other nine change answers at random.

    People pass `passing` of the outputs; the judge answers `turned` of them the other way round for want of the rule.
    """
    people = (rng.random(samples) < passing).astype(float)
    present = people.copy()
    wrong = rng.choice(samples, round(turned * samples), replace=False)
    present[wrong] = 1 - present[wrong]
    right = int(rng.integers(1, RUBRICS + 1))
    answers = np.stack([present, *(_edit_wrongly(present, rng) for _ in range(RUBRICS))])
    answers[right] = people
    answers = np.where(rng.random(answers.shape) < noise, 1 - answers, answers)
    labels = rng.permutation(people) if shuffled else people
    return select_rubric_by_nested_cv(answer_table(labels, answers), rng, deals=deals), right


def _edit_wrongly(present: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """An edit that does little, one that does much, one that makes the judge generous, or one that makes it harsh."""
    flipped = rng.random(len(present)) < rng.choice([0, 0.05, 0.15, 0.3, 0.5])
    answers = np.where(flipped, 1 - present, present)
    some = rng.random(len(present)) < 0.5
    way = rng.random()
    return np.where(some, 1.0, answers) if way < 0.2 else np.where(some, 0.0, answers) if way > 0.8 else answers


def answer_table(people: np.ndarray, answers: np.ndarray, *, high: float = 1.0) -> CandidateAnswers:
    """One question, one output per sample, on a scale from 0."""
    return CandidateAnswers(
        people=np.asarray(people, dtype=float)[:, None],
        answers=np.asarray(answers, dtype=float)[:, :, None],
        unit=np.arange(len(people)),
        variant=np.zeros(len(people), dtype=np.int64),
        low=np.array([0.0]),
        high=np.array([high]),
    )
