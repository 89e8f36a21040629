"""checklist and score-ranges: shares of weight, gates, verdicts on exact thresholds."""

import pytest

from evenhand import load_rubric
from tests.builders import card, checklist

RANGES = {"0": "bad", "3": "poor", "6": "fair", "9": "good"}


def item(id: str, weight: float = 1, **more: object) -> dict[str, object]:
    return {"id": id, "expected_outcome": "does it", "weight": weight, **more}


def test_a_score_on_the_threshold_is_on_it() -> None:
    """(9·2 + 6·1) / 30 is 0.8; floating point makes it 0.7999999999999999 and fails it."""
    rubric = checklist(item("a", 2, score_ranges=RANGES), item("b", 1, score_ranges=RANGES))

    result = card(rubric, {"a": 9, "b": 6})

    assert (result.score, result.verdict) == (0.8, "pass")


@pytest.mark.parametrize(
    ("met", "verdict"), [(10, "pass"), (8, "pass"), (7, "borderline"), (6, "borderline"), (5, "fail"), (0, "fail")]
)
def test_the_thresholds_are_inclusive(met: int, verdict: str) -> None:
    """pass from 0.8, borderline from 0.6."""
    rubric = checklist(*(item(f"c{n}", 0.1, required=False) for n in range(10)))

    assert card(rubric, {f"c{n}": n < met for n in range(10)}).verdict == verdict


def test_a_failed_required_item_fails_whatever_the_score() -> None:
    """A rival prints "90 % PASS" and exits 0."""
    rubric = checklist(item("must", 1, required=True), item("rest", 9, required=False))

    result = card(rubric, {"must": False, "rest": True})

    assert (result.score, result.verdict, result.gates_failed) == (0.9, "fail", ("must",))


@pytest.mark.parametrize(("score", "verdict"), [(7, "pass"), (6, "fail")])
def test_a_least_score_gates(score: int, verdict: str) -> None:
    """required_min_score: 7 lets 7 through."""
    rubric = checklist(item("a", 1, score_ranges=RANGES, required_min_score=7), item("b", 9, required=False))

    assert card(rubric, {"a": score, "b": True}).verdict == verdict


def test_required_alone_gates_nothing_on_score_ranges() -> None:
    """There is no level it could mean."""
    rubric = checklist(item("a", 1, score_ranges=RANGES, required=True), item("b", 9, required=False))

    assert card(rubric, {"a": 0, "b": True}).verdict == "pass"


def test_both_kinds_mix() -> None:
    """A satisfied item counts as 1: (2·1 + 3·0.5) / 5."""
    rubric = checklist(item("yes", 2), item("scale", 3, score_ranges=RANGES))

    assert card(rubric, {"yes": True, "scale": 5}).score == 0.7
    assert rubric.method.name == "score-ranges"


def test_a_left_out_item_is_not_a_pass() -> None:
    """A rival scores 1.0 when the judge leaves a required item out."""
    result = card(checklist(item("a"), item("b")), {"a": True})

    assert (result.score, result.verdict) == (None, "incomplete")
    assert [(gap.criterion, gap.why) for gap in result.missing] == [("b", "not asked")]


def test_a_gate_known_to_have_failed_fails_an_incomplete_scorecard() -> None:
    """Still without a score."""
    result = card(checklist(item("a"), item("b")), {"a": False})

    assert (result.score, result.verdict, result.gates_failed) == (None, "fail", ("a",))


def test_a_string_is_a_required_criterion_of_weight_one() -> None:
    """The short form of the file."""
    rubric = load_rubric(
        {"rubrics": ["Mentions divide-and-conquer", item("complexity", 2), item("examples", 1, required=False)]}
    )

    assert [(c.id, float(c.weight), c.required) for c in rubric.criteria] == [
        ("rubric-1", 1.0, True),
        ("complexity", 2.0, True),
        ("examples", 1.0, False),
    ]
    assert card(rubric, {"rubric-1": True, "complexity": True, "examples": False}).score == 0.75


def test_an_exact_third_is_the_nearest_float() -> None:
    """0–1 methods show the exact value."""
    assert (
        card(checklist(item("a"), item("b"), item("c", required=False)), {"a": True, "b": True, "c": False}).score
        == 2 / 3
    )
