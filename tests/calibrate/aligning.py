"""Judges and people for aligning: a hidden rule that people follow, and rubrics that state it or something else."""

import json
from collections.abc import Callable, Sequence
from fractions import Fraction
from random import Random
from zlib import crc32

import numpy as np

from evenhand import Rubric, load_rubric
from evenhand.calibrate.alignment import (
    AlignedRubric,
    JudgedCase,
    ProposedEdits,
    ask_for_rubric_edits,
    choose_alignment_cases_to_show,
    conclude_alignment,
    divide_labelled_samples,
    draft_alignment_candidates,
    tabulate_candidate_answers,
)
from evenhand.calibrate.nested_selection import CandidateAnswers, NestedSelection, select_rubric_by_nested_cv
from evenhand.calibrate.rubric_edits import AddClause, list_edit_texts
from evenhand.models.requests import Request
from tests.calibrate.tables import held
from tests.judging.scripted import MANNER, converse
from tests.soak import often

RUBRICS = 10  # Beside the present one.
DEALS = often(99, 199)
ANCHORS = {1: "No.", 5: "Yes."}
RUBRIC = load_rubric({"criteria": [{"id": "tone", "asks": "Is the reply good?", "scale": "1-5", "anchors": ANCHORS}]})
RULE = "A weekday must be named."  # The hidden rule: stated in no anchor, and people go by it.
WRONG = [f"Consider the {word} of it." for word in
         ("price", "colour", "weather", "history", "author", "length", "grammar", "humour", "spelling")]  # fmt: skip
LABELS = 40


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
        mappable=np.array([True]),
    )


def _judge(rubric: Rubric, number: int, said: Sequence[float], people: Sequence[float]) -> Fraction:
    """A judge that goes by its own sense unless the rubric states the rule; other clauses move it at random."""
    asks = rubric.criteria[0].asks
    if RULE in asks:
        return Fraction(people[number])
    moved = asks != RUBRIC.criteria[0].asks and crc32(f"{asks} {number}".encode()) % 5 == 0
    return Fraction(6 - said[number] if moved else said[number])


def _propose(edits: Sequence[str]) -> Callable[[Request], str]:
    entries = [{"kind": "clause", "criterion": "tone", "text": text, "reason": "a guess"} for text in edits]
    return lambda _request: json.dumps({"edits": entries})


def align(seed: int, *, shuffled: bool = False, deals: int = DEALS) -> AlignedRubric:
    """Forty labels; where no drafted sample shows a difference, no proposer is asked.

    People and the judge's own sense part on ten of them.
    """
    rng, lot = np.random.default_rng(seed), Random(seed)
    people = [lot.choice((1.0, 5.0)) for _ in range(LABELS)]
    turned = set(lot.sample(range(LABELS), LABELS // 4))
    said = [6 - one if number in turned else one for number, one in enumerate(people)]
    labels = lot.sample(people, LABELS) if shuffled else people
    labelled = held({"j": {"tone": said}}, {"r": {"tone": labels}})
    divided = divide_labelled_samples(labelled, rng)
    cases = [
        JudgedCase(criterion="tone", passage=f"reply {n}", people=Fraction(labels[n]), judge=Fraction(said[n]))
        for n in divided.drafting
    ]
    shown, proposed = choose_alignment_cases_to_show(RUBRIC, cases), ProposedEdits()
    if shown:
        proposals = lot.sample([RULE, *WRONG], 10)
        proposed, _ = converse(ask_for_rubric_edits(RUBRIC, shown, MANNER), _propose(proposals))
    tried, refused = draft_alignment_candidates(RUBRIC, cases, proposed.edits, [f"reply {n}" for n in divided.deciding])
    answers = [{(int(n), "tone"): _judge(one.rubric, int(n), said, people) for n in divided.deciding} for one in tried]
    data = tabulate_candidate_answers(labelled, labelled.questions, divided.deciding, tried, answers, {"tone"})
    selection = select_rubric_by_nested_cv(data, rng, deals=deals)
    return conclude_alignment(tried, refused, selection, data, labelled.questions)


def keeps_the_rule_alone(found: AlignedRubric) -> bool:
    """Whether the one edit that is kept states the hidden rule."""
    return [type(one) for one in found.edits] == [AddClause] and list_edit_texts(found.edits[0]) == (RULE,)
