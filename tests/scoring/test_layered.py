"""layered, points and tree: the layers that are present, points met, means of means."""

import pytest

from tests.builders import card, outputs, reviews


@pytest.mark.parametrize(
    ("scores", "composite"),
    [
        ({"fact": 1, "behavior": 1, "judge": 5}, "5.00"),
        ({"fact": 0, "behavior": 0, "judge": 1}, "1.00"),
        ({"fact": 0.8, "behavior": 0.75, "judge": 4}, "4.07"),
        ({"fact": {"passed": 2, "total": 3}, "judge": 4}, "3.83"),
        ({"judge": 4.33}, "4.33"),
        ({"fact": 0.875, "behavior": 0.75, "judge": 4.5}, "4.33"),
    ],
)
def test_the_composite_is_the_mean_of_the_layers_that_are_present(scores: dict[str, object], composite: str) -> None:
    """A pass rate of 80% is 4.2; the judge's number stays as it is."""
    assert str(card("layered", scores).score) == composite


def test_the_composite_says_which_layers_it_was_computed_from() -> None:
    """Two equal numbers from different layers are not the same thing."""
    assert card("layered", {"fact": 0.5, "judge": 4}).notes == ("computed from fact, rubric",)


def test_a_layer_that_failed_leaves_no_composite() -> None:
    """Configured and failed is not absent."""
    result = card("layered", {"fact": 1, "judge": {"missing": "judge failed"}})

    assert (result.score, result.verdict) == (None, "incomplete")
    assert [(gap.criterion, gap.why) for gap in result.missing] == [("judge", "judge failed")]


def test_no_layer_at_all_fails_the_gate() -> None:
    """There is no composite to decide by."""
    result = card("layered", {})

    assert (result.score, result.verdict) == (None, "fail")
    assert result.gates_failed == ("fact", "behavior", "judge")


def test_no_layer_at_all_fails_the_gate_of_a_panel_too() -> None:
    """The same in the reviews form."""
    assert reviews("layered", x=[{"id": "a", "scores": {}}])["a"].verdict == "fail"


def test_different_layers_are_not_ranked() -> None:
    """Apples and oranges, and it says so."""
    scores = outputs("layered", a={"scores": {"fact": 1, "judge": 4}}, b={"scores": {"judge": 4}})

    assert scores.ranking is None
    assert scores.notes == ("not ranked: computed from different layers (fact + rubric; rubric)",)


def test_an_output_without_a_composite_does_not_stop_the_others_from_being_ranked() -> None:
    """Nothing was computed for it, so it differs from nobody in its layers."""
    scores = outputs(
        "layered", a={"scores": {}}, b={"scores": {"fact": 1, "judge": 4}}, c={"scores": {"fact": 1, "judge": 5}}
    )

    assert scores.notes == ()
    assert [(one.id, one.rank) for one in scores.ranking or ()] == [("c", 1), ("b", 2), ("a", None)]


@pytest.mark.parametrize(
    ("given", "says"),
    [
        (4.5, ("fact is a share from 0 to 1: 0.875 for 4.5 on 1–5",)),
        (80, ("fact is a share from 0 to 1: 0.8 for 80%",)),
        (-1, ()),
    ],
)
def test_a_number_that_is_no_share_says_what_it_would_be_as_one(given: float, says: tuple[str, ...]) -> None:
    """Layers are shown on 1–5 and given as shares."""
    assert card("layered", {"fact": given, "judge": 4}).notes == says


def test_the_set_of_layers_enters_the_fingerprint() -> None:
    """Scores over different sets must not look comparable."""
    two = outputs("layered", a={"scores": {"fact": 1, "judge": 4}})
    one = outputs("layered", a={"scores": {"judge": 4}})

    both = outputs("layered", a={"scores": {"fact": 1, "judge": 4}}, b={"scores": {"judge": 4}})

    assert len({two.fingerprint, one.fingerprint, both.fingerprint}) == 3


def test_reviewers_that_saw_different_layers_are_not_averaged() -> None:
    """A fact layer and a judge layer have no mean."""
    scores = reviews("layered", x=[{"id": "a", "scores": {"fact": 1}}], y=[{"id": "a", "scores": {"judge": 4}}])

    assert scores["a"].score is None
    assert "the reviewers scored different layers: not comparable" in scores["a"].notes


POINTS = {
    "criteria": [
        {"id": "greeting", "asks": "Greets?", "points": 1},
        {"id": "diagnosis", "asks": "Names the cause?", "points": 5},
        {"id": "fix", "asks": "Gives a fix?", "points": 3},
        {"id": "harm", "asks": "Advises something harmful?", "points": -4},
    ]
}


@pytest.mark.parametrize(
    ("met", "score"),
    [
        ((True, True, True, False), 1.0),
        ((False, True, False, False), 5 / 9),
        ((True, True, True, True), 5 / 9),
        ((False, False, True, True), 0.0),
        ((False, False, False, False), 0.0),
        ((True, False, False, False), 1 / 9),
    ],
)
def test_points_met_over_positive_points(met: tuple[bool, ...], score: float) -> None:
    """Negative points count against the sum, which stays between 0 and 1."""
    result = card(POINTS, dict(zip(("greeting", "diagnosis", "fix", "harm"), met, strict=True)))

    assert result.score == score


def test_points_are_explained() -> None:
    """Each criterion with what it earned of what it is worth."""
    result = card(POINTS, {"greeting": True, "diagnosis": True, "fix": False, "harm": True})

    assert result.explain() == ["2 of 9 points: greeting 1 of 1, diagnosis 5 of 5, fix 0 of 3, harm -4 of -4"]


def test_an_inner_node_is_the_weighted_mean_of_its_children() -> None:
    """(3·(1·1 + 3·0)/4 + 1·0.5) / 4."""
    rubric = {
        "criteria": [
            {
                "id": "code",
                "weight": 3,
                "children": [{"asks": "Runs?", "weight": 1}, {"asks": "Is tested?", "weight": 3}],
            },
            {"id": "text", "asks": "Explained?", "weight": 1},
        ]
    }

    result = card(rubric, {"code-1": True, "code-2": False, "text": 0.5})

    assert result.score == 0.3125
    assert result.explain() == ["weighted mean 0.3125: code 0.25 [code-1 1, code-2 0 (weight 3)] (weight 3), text 0.5"]


def test_a_tree_under_a_summing_method_keeps_the_scale_of_its_leaves() -> None:
    """Children on 1–10 make a node on 1–10."""
    rubric = {
        "method": "council",
        "criteria": [
            {"id": "accuracy", "weight": 0.6},
            {
                "id": "form",
                "weight": 0.4,
                "children": [{"asks": "Clear?", "weight": 1}, {"asks": "Short?", "weight": 1}],
            },
        ],
    }

    assert str(card(rubric, {"accuracy": 9, "form-1": 10, "form-2": 5}).score) == "8.40"
