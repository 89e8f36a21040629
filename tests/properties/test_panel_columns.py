"""A panel over columns gives each output what the exact path gives it: score, grade, verdict and gates."""

from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import Rubric, load_rubric
from evenhand.model.method import STEPS, Panel
from evenhand.model.scale import Gate, Missing, Scored, to_exact_fraction
from evenhand.model.scorecard import Answers, Review, Scorecard
from evenhand.scoring.panel_columns import (
    DECIDED_VERDICTS,
    PANEL_STEP_FUNCTIONS,
    ReviewColumns,
    decide_panel_columns,
    score_panel_columns,
)
from evenhand.scoring.scores import score_reviews
from tests.properties.strategies import RUBRICS, numbers_on

JUDGES = ("heron", "kestrel", "plover")
WEIGHTS = {"heron": Fraction(1), "kestrel": Fraction(2), "plover": Fraction(1, 2)}
NOBODY = Missing("failed", "not answered")
Said = dict[str, Any]


def draw_gates(draw: Any, rubric: Rubric) -> Rubric:
    """The rubric with gates on some of its criteria, inner nodes among them."""
    nodes = [node for one in rubric.criteria for node in (one, *one.children)]
    gated = [one for one in nodes if draw(st.booleans())]
    gates = [Gate(criterion=one.id, min=(one.scale.min + 2 * one.scale.max) / 3) for one in gated]
    return replace(rubric, gates=tuple(gates))


def draw_panel(draw: Any, rubric: Rubric) -> Rubric:
    """The rubric with a mean or a median over its judges."""
    aggregate = draw(st.sampled_from(["mean", "median"]))
    steps = [replace(one, aggregate=aggregate) if isinstance(one, Panel) else one for one in rubric.method.steps]
    return replace(rubric, method=replace(rubric.method, steps=tuple(steps)))


@st.composite
def said_of(draw: Any, rubric: Rubric) -> Said:
    """What one judge says of one output: whole, with a gap, nothing but a score for the whole, or nothing."""
    how = draw(st.sampled_from(["whole", "whole", "whole", "gap", "holistic", "silent"]))
    scores: dict[str, Any] = {
        id: to_exact_fraction(float(draw(numbers_on(leaf.scale)))) for id, leaf in rubric.leaves.items()
    }
    if how == "gap":
        scores[draw(st.sampled_from(sorted(scores)))] = None
    if how in ("holistic", "silent"):
        scores = dict.fromkeys(scores)
    return {
        "scores": scores,
        "red_flags": [one.id for one in rubric.red_flags if draw(st.booleans())],
        "bonuses": [one.id for one in rubric.bonuses if draw(st.booleans())],
        "holistic": Fraction(draw(st.integers(2, 9))) if how == "holistic" and rubric.method.holistic else None,
    }


def score_exactly(
    rubric: Rubric, rows: list[dict[str, Said]], authors: list[str], unsafe: list[bool]
) -> list[Scorecard]:
    """Each output through the exact panel."""
    cards = []
    for row, author, capped in zip(rows, authors, unsafe, strict=True):
        given = {
            judge: Answers(
                id="a",
                author=author,
                scores={id: NOBODY if one is None else Scored(one) for id, one in said["scores"].items()},
                red_flags=dict.fromkeys(said["red_flags"], ""),
                bonuses=dict.fromkeys(said["bonuses"], ""),
                unsafe="x" if capped else None,
                holistic=None if said["holistic"] is None else Scored(said["holistic"]),
            )
            for judge, said in row.items()
        }
        reviews = [Review(judge=judge, outputs=(one,), weight=WEIGHTS[judge]) for judge, one in given.items()]
        cards.append(score_reviews(rubric, reviews).scorecards[0])
    return cards


def to_review_columns(rubric: Rubric, rows: list[dict[str, Said]], authors: list[str]) -> list[ReviewColumns]:
    """The same as columns."""

    def column(judge: str, id: str) -> Any:
        return np.array(
            [np.nan if row[judge]["scores"][id] is None else float(row[judge]["scores"][id]) for row in rows]
        )

    def found(judge: str, kind: str, id: str) -> Any:
        return np.array([id in row[judge][kind] for row in rows])

    return [
        ReviewColumns(
            judge=judge,
            weight=WEIGHTS[judge],
            scores={id: column(judge, id) for id in rubric.leaves},
            found={
                kind: {one.id: found(judge, kind, one.id) for one in getattr(rubric, kind)}
                for kind in ("red_flags", "bonuses")
            },
            holistic=np.array([np.nan if (one := row[judge]["holistic"]) is None else float(one) for row in rows]),
            votes=np.array([author != judge for author in authors]),
        )
        for judge in JUDGES
    ]


@pytest.mark.parametrize("name", sorted(RUBRICS))
@given(data=st.data())
def test_a_panel_over_columns_equals_the_exact_panel(name: str, data: st.DataObject) -> None:
    """On every shipped rubric and one of every other kind, with gates anywhere, gaps, authors, weights and caps."""
    rubric = draw_panel(data.draw, draw_gates(data.draw, RUBRICS[name]))
    one = st.fixed_dictionaries({judge: said_of(rubric) for judge in JUDGES})
    rows = data.draw(st.lists(one, min_size=1, max_size=4))
    authors = [data.draw(st.sampled_from(["nobody", "nobody", "kestrel"])) for _ in rows]
    unsafe = [data.draw(st.booleans()) for _ in rows]

    cards = score_exactly(rubric, rows, authors, unsafe)
    columns = score_panel_columns(rubric, to_review_columns(rubric, rows, authors), np.array(unsafe))
    grade, verdict = decide_panel_columns(rubric, columns.score, columns.values)

    expected = [np.nan if card.exact is None else float(card.exact) for card in cards]
    assert columns.score.tolist() == pytest.approx(expected, abs=1e-9, nan_ok=True)
    grades = [*(one.grade for one in rubric.method.grades), None]
    assert [grades[at] for at in grade] == [card.grade for card in cards]
    words = [*DECIDED_VERDICTS, None]
    assert [words[at] for at in verdict] == [None if one.verdict == "incomplete" else one.verdict for one in cards]


def test_every_step_runs_over_columns_of_a_panel() -> None:
    """A step without its function here would be an error on a page, long after it was added."""
    assert set(PANEL_STEP_FUNCTIONS) | {Panel} == set(STEPS.values())


def test_a_mean_of_replies_between_two_whole_numbers_is_a_score() -> None:
    """A judge that is asked three times gives 20/3 on a scale of whole numbers: stored runs have it, and it counts."""
    rubric = load_rubric({"criteria": [{"id": "a", "score_ranges": {"0": "no", "5": "yes"}}]})

    found = score_panel_columns(rubric, [ReviewColumns(judge="one", scores={"a": np.array([20 / 3, np.nan])})])

    assert found.score.tolist() == pytest.approx([2 / 3, np.nan], nan_ok=True)
