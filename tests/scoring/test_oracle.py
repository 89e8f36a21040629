"""oracle: fixed criteria under 60 pull the whole score down."""

import pytest

from evenhand import Scorecard
from tests.builders import card

BANDS = [("A", 90), ("B", 70), ("C", 50), ("D", 30), ("E", 0)]


def banded(score: int) -> dict[str, object]:
    return {"band": next(band for band, least in BANDS if score >= least), "score": score}


def oracle(weights: tuple[float, ...], *scores: int) -> Scorecard:
    """Three fixed criteria, then dynamic ones."""
    names = ("substantiveness", "credibility", "completeness", "novelty", "fit", "style")
    criteria = [
        {"id": name, "asks": "?", "weight": weight, "fixed": at < 3}
        for at, (name, weight) in enumerate(zip(names, weights, strict=False))
    ]
    given = {name: banded(score) for name, score in zip(names, scores, strict=False)}
    return card({"method": "oracle", "criteria": criteria}, given)


@pytest.mark.parametrize(
    ("scores", "base", "score"),
    [
        ((78, 78, 78, 78), 78.0, "78.00"),
        ((89, 45, 89, 89), 78.0, "58.50"),
        ((40, 45, 100, 100), 71.25, "35.63"),
    ],
)
def test_the_penalty_multiplies_by_the_shortfall(scores: tuple[int, ...], base: float, score: str) -> None:
    """Credibility 45 costs a quarter; with substantiveness 40 as well, half."""
    result = oracle((0.25, 0.25, 0.25, 0.25), *scores)

    assert float(result.steps[0].after) == base
    assert str(result.score) == score


def test_the_worked_table_of_penalties() -> None:
    """78 × 0.75 = 58.5 and 72 × 0.5 = 36.0."""
    one = oracle((0.25, 0.25, 0.25, 0.25), 89, 45, 89, 89)
    two = oracle((0.2, 0.2, 0.1, 0.5), 40, 45, 100, 90)

    assert (float(one.steps[0].after), str(one.score)) == (78.0, "58.50")
    assert (float(two.steps[0].after), str(two.score)) == (72.0, "36.00")
    assert two.steps[1].why == (
        "times 0.5: substantiveness 40 is under 60 (40/60), credibility 45 is under 60 (45/60) (was 72.00)"
    )


def test_weights_a_hair_above_one_do_not_leave_the_scale() -> None:
    """Accepted as they are, and 100 stays the top."""
    assert str(oracle((0.2505, 0.25, 0.25, 0.25), 100, 100, 100, 100).score) == "100.00"


def test_sixty_is_expected_and_fifty_nine_is_flagged() -> None:
    """The type decides, not the name: a dynamic criterion under 60 costs its weight only."""
    result = oracle((0.25, 0.25, 0.25, 0.25), 60, 59, 60, 10)

    assert result.flags == ("credibility",)
    assert str(result.score) == "46.46"


def test_the_overall_band_is_that_of_the_penalised_total() -> None:
    """Every criterion in B, the total in C."""
    result = oracle((0.25, 0.25, 0.25, 0.25), 89, 45, 89, 89)

    assert result.grade == "C"


@pytest.mark.parametrize(
    ("total", "band"),
    [(100, "A"), (90, "A"), (89, "B"), (70, "B"), (69, "C"), (50, "C"), (49, "D"), (30, "D"), (29, "E")],
)
def test_bands_begin_at_their_lower_bound(total: int, band: str) -> None:
    """Read off the total of a rubric in which the fixed criteria weigh next to nothing and are not short."""
    criteria = [
        {"id": "free", "asks": "?", "weight": 0.9999},
        {"id": "fixed", "asks": "?", "weight": 0.0001, "fixed": True},
    ]

    result = card({"method": "oracle", "criteria": criteria}, {"free": banded(total), "fixed": banded(max(total, 60))})

    assert result.grade == band


def test_a_score_outside_its_band_is_missing() -> None:
    """Band first: B and 69 contradict each other."""
    criteria = [{"id": "a", "asks": "?", "weight": 1, "fixed": True}]

    result = card({"method": "oracle", "criteria": criteria}, {"a": {"band": "B", "score": 69}})

    assert result.verdict == "incomplete"
    assert result.missing[0].why == "unreadable: 69 is outside band B (70–89)"
