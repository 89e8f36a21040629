"""Columns agree with the exact path to the last digit, on every shipped method and on awkward numbers."""

from decimal import Decimal
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import InputError, Rubric, Scorecard, load_rubric, score
from evenhand.scoring.columns import ScoreColumns, score_columns
from tests.properties.strategies import RUBRICS, numbers_on, rubrics

Row = dict[str, Any]


def in_columns(rubric: Rubric, rows: list[Row]) -> ScoreColumns:
    """The rows as columns; a score of None is masked."""
    scores = {}
    for id in rubric.leaves:
        values = [row["scores"][id] for row in rows]
        filled = [0 if value is None else value for value in values]
        scores[id] = np.ma.MaskedArray(filled, mask=[value is None for value in values])
    return score_columns(
        rubric,
        scores,
        red_flags={flag.id: [flag.id in row["red_flags"] for row in rows] for flag in rubric.red_flags},
        bonuses={bonus.id: [bonus.id in row["bonuses"] for row in rows] for bonus in rubric.bonuses},
        unsafe=[row["unsafe"] is not None for row in rows],
    )


def exactly(rubric: Rubric, rows: list[Row]) -> list[Scorecard]:
    """The same rows through the exact path, with the band that each number lies in."""
    outputs = []
    for at, row in enumerate(rows):
        scores = {id: _with_band(rubric, id, value) for id, value in row["scores"].items()}
        outputs.append({"id": str(at), **row, "scores": scores})
    return list(score(rubric, {"outputs": outputs}).scorecards)


def assert_agree(columns: ScoreColumns, cards: list[Scorecard]) -> None:
    """Score, grade, verdict and gates, row by row."""
    assert columns.score.mask.tolist() == [card.exact is None for card in cards]
    shown = [float(card.score) if card.score is not None else None for card in cards]
    assert [
        None if gone else value
        for value, gone in zip(columns.score.data.tolist(), np.ma.getmaskarray(columns.score), strict=True)
    ] == shown
    if columns.grade is not None:
        assert columns.grade.tolist() == [card.grade or "" for card in cards]
    verdicts = columns.verdict.tolist() if columns.verdict is not None else [None] * len(cards)
    decided = [card.verdict for card in cards]
    assert verdicts == decided or columns.verdict is None
    for criterion, failed in columns.gates_failed.items():
        assert failed.tolist() == [criterion in card.gates_failed for card in cards]


@st.composite
def rows_of(draw: Any, rubric: Rubric, *, gaps: bool = False) -> Row:
    answers = {id: numbers_on(leaf.scale) for id, leaf in rubric.leaves.items()}
    if gaps:
        wrong = st.sampled_from([None, None, -3, 1000, 2.75])
        answers = {id: st.one_of(answer, answer, answer, wrong) for id, answer in answers.items()}
    return {
        "scores": {id: draw(answer) for id, answer in answers.items()},
        "red_flags": [flag.id for flag in rubric.red_flags if draw(st.booleans())],
        "bonuses": [bonus.id for bonus in rubric.bonuses if draw(st.booleans())],
        "unsafe": draw(st.sampled_from([None, "x"])),
    }


@pytest.mark.parametrize("name", sorted(RUBRICS))
@given(data=st.data())
def test_columns_equal_the_exact_path(name: str, data: st.DataObject) -> None:
    """On every shipped rubric and on one of every other kind."""
    rubric = RUBRICS[name]
    rows = data.draw(st.lists(rows_of(rubric), min_size=1, max_size=8))

    assert_agree(in_columns(rubric, rows), exactly(rubric, rows))


@given(st.data())
def test_missing_and_unreadable_rows_are_incomplete_in_both(data: st.DataObject) -> None:
    """Masked, off the scale, or not whole: no score, and a known failed gate still fails."""
    rubric = data.draw(rubrics)
    rows = data.draw(st.lists(rows_of(rubric, gaps=True), min_size=1, max_size=8))

    assert_agree(in_columns(rubric, rows), exactly(rubric, rows))


def test_half_points_round_like_the_exact_path() -> None:
    """Naive floats differ on 7% of these."""
    rubric = load_rubric("council")
    rng = np.random.default_rng(7)
    table = {id: rng.integers(2, 21, 4000) / 2 for id in rubric.leaves}
    rows = [dict(zip(table, values, strict=True)) for values in zip(*(c.tolist() for c in table.values()), strict=True)]
    cards = score(rubric, {"outputs": [{"id": str(at), "scores": row} for at, row in enumerate(rows)]}).scorecards
    weights = {criterion.id: float(criterion.weight) for criterion in rubric.criteria}
    naive = np.round(sum(table[id] * weights[id] for id in table), 2)
    uncapped = table["accuracy"] >= 7

    result = score_columns(rubric, table)

    assert result.score.tolist() == [float(card.score or 0) for card in cards]
    assert result.rechecked == 0
    assert (naive[uncapped] != result.score.data[uncapped]).mean() > 0.02


def test_long_decimals_are_rechecked_exactly() -> None:
    """A mean of samples such as 7.3333333333 does not fit whole numbers over ten thousand."""
    rubric = load_rubric("council")
    table = {id: np.array([7.3333333333333, 8.0, 22 / 3]) for id in rubric.leaves}

    result = score_columns(rubric, table)

    assert result.score.tolist() == [7.33, 8.0, 7.33]
    assert result.rechecked == 2


def test_products_that_do_not_fit_are_done_exactly() -> None:
    """Weights with many decimals times three penalties leave 64 bits."""
    weights = [Decimal("0.2000000001"), Decimal("0.3"), Decimal("0.3"), Decimal("0.1999999999")]
    criteria = [{"id": f"c{at}", "asks": "?", "weight": weight, "fixed": at < 3} for at, weight in enumerate(weights)]
    rubric = load_rubric({"method": "oracle", "criteria": criteria})
    table = {f"c{at}": np.array([33, 59]) for at in range(4)}
    rows: list[Row] = [
        {
            "scores": {id: int(column[at]) for id, column in table.items()},
            "red_flags": [],
            "bonuses": [],
            "unsafe": None,
        }
        for at in (0, 1)
    ]

    result = score_columns(rubric, table)

    assert result.rechecked == 2
    assert_agree(result, exactly(rubric, rows))


def test_chunks_join_without_a_seam() -> None:
    """More rows than one chunk holds."""
    rubric = load_rubric("council")
    rng = np.random.default_rng(3)
    table = {id: rng.integers(1, 11, 40_000) for id in rubric.leaves}

    whole = score_columns(rubric, table).score
    parts = [
        score_columns(rubric, {id: c[at : at + 10_000] for id, c in table.items()}).score
        for at in range(0, 40_000, 10_000)
    ]

    assert whole.tolist() == [value for part in parts for value in part.tolist()]


def test_a_column_left_out_is_missing_except_for_layers() -> None:
    """A layer that was not configured is absent; a criterion that was not asked is missing."""
    council = score_columns(load_rubric("council"), {"accuracy": [9, 8]})
    layered = score_columns(load_rubric("layered"), {"fact": [0.5, 1.0], "judge": [4, 5]})

    assert council.score.mask.tolist() == [True, True]
    assert layered.score.tolist() == [3.5, 5.0]


@pytest.mark.parametrize(
    ("table", "said"),
    [
        ({}, "columns are named after criteria"),
        ({"acuracy": [9]}, "got acuracy"),
        ({"accuracy": [9, 8], "clarity": [9]}, "every column needs one dimension and 2 rows"),
        ({"accuracy": [[9], [8]]}, "every column needs one dimension"),
        ({"accuracy": 9}, "every column needs one dimension"),
        ({"accuracy": ["9", "8"]}, "the column 'accuracy' must hold numbers"),
        ({"accuracy": [9, None]}, "the column 'accuracy' must hold numbers"),
        ({"accuracy": np.array(["2026-01-01"], "datetime64[D]")}, "must hold numbers"),
    ],
)
def test_columns_that_do_not_fit_are_refused(table: dict[str, Any], said: str) -> None:
    """A clear reason, not a broadcast."""
    with pytest.raises(InputError, match=said):
        score_columns(load_rubric("council"), table)


@pytest.mark.parametrize("flags", [["False", "x"], [0.0, 1.0], np.ma.MaskedArray([True, False], [True, False])])
def test_statements_are_true_or_false(flags: Any) -> None:
    """NaN, words and gaps would all count as found."""
    rubric = load_rubric({"method": "judge-skill", "red_flags": ["slow"]})

    with pytest.raises(InputError, match="must hold true and false without gaps"):
        score_columns(rubric, {"safety": [1, 2]}, red_flags={"slow": flags})


@pytest.mark.parametrize("column", [[True, False], [np.inf, -np.inf], [1e300, -1e300], [2**62, -(2**62)]])
def test_what_is_no_number_on_the_scale_is_masked(column: list[Any]) -> None:
    """As in the exact path."""
    rubric = load_rubric({"method": "judge-skill", "criteria": [{"id": "a", "asks": "?", "weight": 1}]})

    assert score_columns(rubric, {"a": column}).score.mask.tolist() == [True, True]


def test_yes_is_no_number_on_any_scale_but_the_share() -> None:
    """Also where −1 would be an answer."""
    rubric = load_rubric({"criteria": [{"id": "a", "asks": "?", "scale": {"min": -5, "max": 5}}]})

    assert score_columns(rubric, {"a": [True, False]}).score.mask.tolist() == [True, True]
    assert score_columns(rubric, {"a": [np.inf, 4.5555]}).score.mask.tolist() == [True, False]


def test_a_half_point_where_whole_ones_are_asked_is_masked() -> None:
    """And the whole one beside it is not."""
    rubric = load_rubric({"criteria": [{"id": "a", "score_ranges": {"0": "no", "5": "yes"}}]})

    result = score_columns(rubric, {"a": [2.5, 3.0, 10.0]})

    assert result.score.mask.tolist() == [True, False, False]
    assert result.score.tolist() == [None, 0.3, 1.0]


def test_a_gate_on_an_absent_layer_is_not_passed() -> None:
    """Incomplete in columns too."""
    rubric = load_rubric({"method": "layered", "gates": [{"criterion": "fact", "min": 0.5}]})

    result = score_columns(rubric, {"judge": [4, 5]})

    assert result.score.mask.tolist() == [True, True]
    assert result.verdict is not None
    assert result.verdict.tolist() == ["incomplete", "incomplete"]


def _with_band(rubric: Rubric, id: str, value: Any) -> Any:
    scale = rubric.leaves[id].scale
    if not scale.bands or value is None:
        return value
    band = next((band.id for band in scale.bands if band.min <= value <= band.max), "A")
    return {"band": band, "score": value}
