"""Calibration on recorded judges and people: maps that help on samples they have not seen, panels chosen honestly."""

from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.calibrate.calibration import hold_judges_against_people
from evenhand.calibrate.human_agreement import AgreementFigure, measure_human_kappa
from evenhand.calibrate.labelled_outputs import (
    HumanAnswerPairs,
    LabelledCells,
    collect_labelled_cells,
    collect_labelled_outputs,
)
from evenhand.calibrate.labels import Label
from evenhand.calibrate.panel_recommendation import RecommendedPanel, recommend_panel_from_labels
from evenhand.runs.columns import RunTable
from tests.calibrate.tables import labels, table
from tests.datasets.read import rows

QUESTIONS = [f"Q{number}" for number in range(9)]
LEVELS = 3  # Steps of the council's scale, 0 to 3.


def test_a_map_brings_a_judge_nearer_to_people_on_dialogues_it_was_not_fitted_on(shared: Path) -> None:
    """GPT-3.5's expected answers to nine questions about 223 dialogues, against up to five people each.

    Folds by topic, so that no topic is on both sides. On the overall question (Q0) the error falls by two fifths.
    """
    run, people = _dialogues(shared)

    found = {one.question: one for one in hold_judges_against_people(run, people).maps}

    before, after = ([getattr(found[name], side) for name in QUESTIONS] for side in ("before", "after"))
    assert after[0] < 0.62 * before[0]
    assert found["Q0"].helps and found["Q6"].helps
    assert not [name for name, one in found.items() if one.gain and one.gain.high < 0]
    assert np.mean(after) < 0.8 * np.mean(before)


def test_the_recommended_panel_is_no_worse_than_the_best_judge(shared: Path) -> None:
    """Nine judges on 537 passages, three of which answered a part only; chosen and measured on different queries.

    The figures of the judges, and of the upper median of all, are the published ones.
    """
    cells, queries = _council(shared)
    found = recommend_panel_from_labels(cells, rng=np.random.default_rng(0), cost={})

    assert isinstance(found, RecommendedPanel)
    alone = {name: _kappa(cells, cells.said[:, place], queries) for place, name in enumerate(cells.judges)}
    whole = [one for one in alone.values() if one.n == len(cells.people)]
    best = max(whole, key=lambda one: one.value or 0.0)
    ours = _kappa(cells, found.predicted, queries)
    assert (round(best.value or 0, 4), round(_kappa(cells, _upper_median(cells), queries).value or 0, 4)) == (
        0.5123,
        0.4941,
    )
    assert ours.n == len(cells.people)
    assert _value(ours) > _value(best) - _error(best), (ours, best)
    assert _value(ours) > 0.4941 - _error(ours)
    assert found.error < found.error_now  # The panel as it ran was the median of all nine.


def test_judges_that_answer_a_part_only_are_not_recommended_alone(shared: Path) -> None:
    """The best κ of all is that of a judge that answered a sixth: nobody could run on it."""
    cells, _ = _council(shared)

    found = recommend_panel_from_labels(cells, rng=np.random.default_rng(0), cost={})

    assert isinstance(found, RecommendedPanel)
    assert found.chosen.answered == 1.0
    part = next(one for one in found.candidates if one.name.startswith("Gemini 2.5"))
    assert part.answered == pytest.approx(92 / 537)
    assert part.error > found.chosen.error


def _dialogues(shared: Path) -> tuple[RunTable, list[Label]]:
    said: dict[str, dict[str, float]] = {name: {} for name in QUESTIONS}
    for row in rows(shared, "llm_rubric_calibration/synth_llm_distributions.jsonl"):
        chances = np.array([float(row[f"answer{level}_prob"]) for level in range(1, 5)])
        said[row["criterion"]][row["text_id"]] = float(chances @ [1, 2, 3, 4] / chances.sum())
    texts = sorted(said["Q0"])
    topics = np.unique([text.split("_")[1] for text in texts], return_inverse=True)[1]
    judge = {name: [said[name].get(text) for text in texts] for name in QUESTIONS}
    run = table({"gpt-3.5": judge}, samples=tuple(texts), cluster=topics, scale="1–4")
    for criterion in run.frame.rubrics[0]["criteria"]:
        criterion["ends"] = [1.0, 4.0]
    people = {
        (row["text_id"], row["annotator_id"], name): row[name]
        for row in rows(shared, "llm_rubric_calibration/synth_humans.jsonl")
        for name in QUESTIONS
        if row["text_id"] in said["Q0"] and row[name] and float(row[name]) > 0  # 0 stands for no answer.
    }
    return run, [
        Label(sample=text, variant="only", criterion=name, rater=rater, score=Fraction(score))
        for (text, rater, name), score in people.items()
    ]


def _council(shared: Path) -> tuple[LabelledCells, Any]:
    """The passages as cells, the median of all as the panel that ran, and the query of each passage."""
    passages = rows(shared, "council_9judges/trec_rag_2024.jsonl")
    judges = list(passages[0]["judges"])
    queries = np.unique([row["query_id"] for row in passages], return_inverse=True)[1]
    said = {judge: {"relevance": [row["judges"][judge] for row in passages]} for judge in judges}
    middle = np.nanmedian([[np.nan if one is None else one for one in row["judges"].values()] for row in passages], 1)
    run = table(said, cluster=queries, criteria={"relevance": middle}, scale="whole numbers 0–3")
    run.frame.rubrics[0]["criteria"][0]["ends"] = [0.0, float(LEVELS)]
    found = collect_labelled_outputs(run, labels(run, {"nist": {"relevance": [row["human"] for row in passages]}}))
    return collect_labelled_cells(found), queries


def _kappa(cells: LabelledCells, said: Any, queries: Any) -> AgreementFigure:
    """Quadratic κ with people, shares of the scale put back on its levels."""
    spoke = np.isfinite(said)
    pairs = HumanAnswerPairs(
        x=said[spoke] * LEVELS, y=cells.people[spoke] * LEVELS, place=np.flatnonzero(spoke), cluster=queries[spoke]
    )
    return measure_human_kappa(pairs.round_to_levels())


def _upper_median(cells: LabelledCells) -> Any:
    ordered = np.sort(cells.said, axis=1)  # NaN comes last.
    return ordered[np.arange(len(ordered)), np.isfinite(ordered).sum(axis=1) // 2]


def _value(one: AgreementFigure) -> float:
    assert one.value is not None
    return one.value


def _error(one: AgreementFigure) -> float:
    assert one.low is not None and one.high is not None
    return (one.high - one.low) / 2 / 1.96
