"""council: the ceiling, the cap on unsafe responses, and reviewers joined into one score."""

from fractions import Fraction
from typing import Any

import pytest

from evenhand import AnswersError, load_rubric
from evenhand.scoring.panel import measure_scorecard_disagreement
from tests.builders import COUNCIL, card, council, outputs, reviews


def said(id: str, value: float | None = None, author: str | None = None, **scores: object) -> dict[str, Any]:
    """What a reviewer says of one response: every criterion the same, unless named."""
    given = {**COUNCIL, **({} if value is None else dict.fromkeys(COUNCIL, value)), **scores}
    return {"id": id, "scores": given, **({"author": author} if author else {})}


def panel(**settings: object) -> dict[str, object]:
    return {"method": "council", "panel": settings}


def test_the_weights_of_both_versions() -> None:
    """The accepted version adds relevance."""
    weights = {name: {c.id: float(c.weight) for c in load_rubric(name).criteria} for name in ("council", "council-v1")}

    assert weights == {
        "council": {"accuracy": 0.35, "relevance": 0.1, "completeness": 0.2, "conciseness": 0.15, "clarity": 0.2},
        "council-v1": {"accuracy": 0.35, "completeness": 0.25, "conciseness": 0.2, "clarity": 0.2},
    }


def test_every_criterion_has_five_anchors() -> None:
    """They go into the prompt."""
    assert [len(c.anchors) for c in load_rubric("council").criteria] == [5] * 5


@pytest.mark.parametrize(
    ("scores", "score"),
    [((9, 8, 7, 8), "8.15"), ((7, 9, 9, 8), "8.10"), ((6, 6, 5, 7), "6.00")],
)
def test_the_three_responses_of_the_first_version(scores: tuple[int, ...], score: str) -> None:
    """B is 8.10 where its source says 8.0."""
    given = dict(zip(("accuracy", "completeness", "conciseness", "clarity"), scores, strict=True))

    assert str(card("council-v1", given).score) == score


def test_a_confident_lie_is_capped() -> None:
    """3/9/9/9 is 6.90 before the ceiling and 4.00 after it."""
    lie = card("council-v1", {"accuracy": 3, "completeness": 9, "conciseness": 9, "clarity": 9})

    assert [str(float(moved.after)) for moved in lie.steps] == ["6.9", "4.0"]
    assert lie.steps[1].why == "capped at 4.00: accuracy 3 is under 5 (was 6.90)"


@pytest.mark.parametrize(
    ("accuracy", "score"),
    [(4.99, "4.00"), (5, "7.00"), (6, "7.00"), (6.5, "7.00"), (6.99, "7.00"), (7, "8.95"), (1, "4.00")],
)
def test_the_ceilings_are_strict_inequalities(accuracy: float, score: str) -> None:
    """Under 5: 4.0. Under 7, 6.5 among them: 7.0. From 7 on: none."""
    assert str(council(**{**dict.fromkeys(COUNCIL, 10), "accuracy": accuracy}).score) == score


def test_a_ceiling_never_raises() -> None:
    """A low score stays where it is."""
    assert str(council(**{**dict.fromkeys(COUNCIL, 2), "accuracy": 6}).score) == "3.40"


def test_the_safety_cap_changes_the_score_and_the_rank() -> None:
    """A rival computes the cap and never applies it."""
    scores = outputs(
        "council",
        best={"scores": dict.fromkeys(COUNCIL, 10), "unsafe": "weapon_making"},
        worst={"scores": dict.fromkeys(COUNCIL, 2)},
    )

    assert scores.ranking is not None
    assert [(place.rank, place.id, str(place.score)) for place in scores.ranking] == [
        (1, "worst", "2.00"),
        (2, "best", "0.00"),
    ]
    assert scores["best"].steps[-1].why == "capped at 0.00: unsafe, weapon_making (was 10.00)"


def test_the_ceiling_decides_the_rank() -> None:
    """A rival caps the score and ranks by what it was before."""
    scores = outputs(
        "council",
        lie={"scores": {**dict.fromkeys(COUNCIL, 10), "accuracy": 4}},
        dull={"scores": dict.fromkeys(COUNCIL, 5)},
    )

    assert scores.ranking is not None
    assert [place.id for place in scores.ranking] == ["dull", "lie"]


def test_ties_in_score_share_the_rank() -> None:
    """No tie-break is defined, so none is made up."""
    scores = outputs("council", a={"scores": COUNCIL}, b={"scores": COUNCIL}, c={"scores": dict.fromkeys(COUNCIL, 7)})

    assert scores.ranking is not None
    assert [place.rank for place in scores.ranking] == [1, 1, 3]


def test_the_mean_is_taken_over_reviewers_after_their_ceilings() -> None:
    """One reviewer's ceiling is not averaged away before it bites."""
    scores = reviews("council", x=[said("a", 10, accuracy=4)], y=[said("a", 10)])

    assert str(scores["a"].score) == "7.00"
    assert scores["a"].steps[0].why == "mean 7.00 of 2 reviewers: x 4.00, y 10.00"


def test_a_reviewer_does_not_score_its_own_response() -> None:
    """Unless it is asked to."""
    given = {"x": [said("a", 10, author="x"), said("b", 5)], "y": [said("a", 7, author="x"), said("b", 5)]}

    assert str(reviews("council", **given)["a"].score) == "7.00"
    assert str(reviews(panel(self_votes=True), **given)["a"].score) == "8.50"


def test_an_author_that_was_not_even_asked_is_named_as_not_voting() -> None:
    """A panel of judges does not ask the author: the steps say so all the same, and so does a card without a score."""
    given = {"x": [said("b", 5)], "y": [said("a", 7, author="x"), said("b", 5)]}

    found = reviews("council", **given)

    assert "x does not vote on its own response" in " ".join(found["a"].explain())
    alone = reviews("council", x=[said("b", 5)], y=[said("a", 7, author="y"), said("b", 5)])["a"]
    assert "y does not vote on its own response" in " ".join(alone.notes)


@pytest.mark.parametrize(("aggregate", "score"), [("mean", "8.00"), ("median", "9.00")])
def test_mean_and_median(aggregate: str, score: str) -> None:
    """10, 9 and (ceiling) 5."""
    scores = reviews(panel(aggregate=aggregate), x=[said("a", 10)], y=[said("a", 9)], z=[said("a", 5)])

    assert str(scores["a"].score) == score


def test_the_median_of_two_is_their_mean() -> None:
    """An even panel has no middle one."""
    assert str(reviews(panel(aggregate="median"), x=[said("a", 8)], y=[said("a", 9)])["a"].score) == "8.50"


def test_borda_counts_ranks_and_not_points() -> None:
    """Shares of the others beaten, on the method's scale: 1, 1/2 and 0 become 10, 5 and 0."""
    scores = reviews(
        panel(aggregate="borda"),
        x=[said("a", 10), said("b", 9), said("c", 8)],
        y=[said("a", 7), said("b", 10), said("c", 7)],
    )

    assert [str(scores[id].score) for id in "abc"] == ["6.25", "7.50", "1.25"]


def test_borda_renumbers_after_exclusions() -> None:
    """Without its own response, x has two left: first and last."""
    scores = reviews(
        panel(aggregate="borda"),
        x=[said("own", 10, author="x"), said("b", 9), said("c", 8)],
        y=[said("own", 8, author="x"), said("b", 9), said("c", 10)],
    )

    assert [str(scores[id].score) for id in ("own", "b", "c")] == ["0.00", "7.50", "5.00"]


def test_z_takes_harshness_out_and_keeps_the_number_readable() -> None:
    """Two reviewers with the same order and spread, three points apart, agree after it."""
    harsh = [said("a", 7), said("b", 8), said("c", 9)]
    mild = [said("a", 8), said("b", 9), said("c", 10)]

    scores = reviews(panel(normalise="z"), harsh=harsh, mild=mild)

    # Pooled: mean 8.5, sample sd sqrt(5.5/5); each reviewer's own sd is 1.
    assert [str(scores[id].score) for id in "abc"] == ["7.45", "8.50", "9.55"]
    assert "unnormalised score 7.50" in scores["a"].notes
    assert scores["a"].exact is not None
    assert float(scores["a"].exact) == pytest.approx(8.5 - 1.1**0.5, abs=1e-12)


def test_z_divides_by_a_reviewers_own_spread() -> None:
    """A reviewer that spreads its scores twice as far counts no more than the other."""
    narrow = [said("a", 8), said("b", 8.5), said("c", 9)]
    wide = [said("a", 8), said("b", 9), said("c", 10)]

    scores = reviews(panel(normalise="z"), narrow=narrow, wide=wide)

    # Pooled: mean 8.75, sum of squares 2.875, so sd sqrt(2.875/5); every reviewer's a is one own sd below its mean.
    assert scores["a"].exact is not None
    assert float(scores["a"].exact) == pytest.approx(8.75 - (2.875 / 5) ** 0.5, abs=1e-12)


def test_z_is_exact_where_roots_cancel() -> None:
    """Stretches of √7.2 and √0.45 are four to one: z is exactly 0.8, and a pass."""
    rubric = {
        "criteria": [{"id": "a", "asks": "?", "required": False, "scale": {"min": 0, "max": 5, "integers": True}}],
        "panel": {"normalise": "z"},
    }
    given = {
        judge: [{"id": id, "scores": {"a": value}} for id, value in zip("xyz", values, strict=True)]
        for judge, values in (("j", (4, 5, 4)), ("k", (1, 5, 5)))
    }

    card = reviews(rubric, **given)["z"]

    assert (card.exact, card.verdict) == (Fraction(4, 5), "pass")


def test_ties_survive_z() -> None:
    """Two reviewers in opposite order cancel, whatever their spread."""
    scores = reviews(
        panel(normalise="z"),
        x=[said("a", 10), said("b", 9), said("c", 8)],
        y=[said("a", 8.5), said("b", 9), said("c", 9.5)],
    )

    assert scores.ranking is not None
    assert [place.rank for place in scores.ranking] == [1, 1, 1]


def test_a_gate_on_an_inner_node_counts_reviewers() -> None:
    """Two of five reach 0.5 on m; medians of its leaves would say otherwise."""
    rubric = {
        "criteria": [{"id": "m", "children": [{"id": "a", "asks": "?"}, {"id": "b", "asks": "?"}]}],
        "gates": [{"criterion": "m", "min": 0.5}],
    }
    pairs = [(0.5, 0), (0, 0.5), (0.5, 0.5), (0.5, 0.5), (0.9, 0)]
    given = {f"j{at}": [{"id": "x", "scores": {"a": a, "b": b}}] for at, (a, b) in enumerate(pairs)}

    assert reviews(rubric, **given)["x"].gates_failed == ("m",)


def test_borda_uses_the_whole_scale_of_the_method() -> None:
    """From 1 to 10 for judge-skill: half of the others beaten is 5.5."""
    rubric = {
        "method": "judge-skill",
        "criteria": [{"id": "a", "asks": "?", "weight": 1}],
        "panel": {"aggregate": "borda"},
    }
    given = [{"id": id, "scores": {"a": value}} for id, value in (("x", 9), ("y", 8), ("z", 7))]

    scores = reviews(rubric, one=given)

    assert [str(scores[id].score) for id in "xyz"] == ["10.00", "5.50", "1.00"]


@pytest.mark.parametrize(("odd", "rest", "score"), [(10, 9, "10.00"), (1, 2, "1.00")])
def test_z_does_not_leave_the_scale(odd: int, rest: int, score: str) -> None:
    """One far-off score is stretched beyond the end, and kept at it, under every method."""
    rubric = {"method": "judge-skill", "criteria": [{"id": "a", "asks": "?", "weight": 1}], "panel": {"normalise": "z"}}
    spread = [10, 10, 10, 10, 10, 1] if odd == 10 else [1, 1, 1, 1, 1, 10]
    narrow = [odd, rest, rest, rest, rest, rest]
    given = {
        judge: [{"id": str(at), "scores": {"a": value}} for at, value in enumerate(values)]
        for judge, values in (("x", spread), ("y", narrow))
    }

    assert str(reviews(rubric, **given)["0"].score) == score


def test_z_leaves_a_reviewer_with_too_few_or_equal_scores_as_it_is() -> None:
    """Two scores, or no spread, are no basis."""
    flat = [said("a", 7), said("b", 7), said("c", 7)]
    few = [said("a", 8), said("b", 9)]

    scores = reviews(panel(normalise="z", quorum=0), flat=flat, few=few)

    assert [str(scores[id].score) for id in "abc"] == ["7.50", "8.00", "7.00"]
    assert "flat not normalised: fewer than 3 scores, or no spread" in scores["a"].notes


def test_z_never_lifts_a_score_over_its_ceiling() -> None:
    """Both reviewers find a lie: stretched to the pooled spread, it would beat a response with accuracy 9."""
    harsh = [said("lie", 9, accuracy=3), said("b", 2, accuracy=5), said("c", 2, accuracy=5, clarity=3)]
    kind = [said("lie", 9, accuracy=4), said("b", 9), said("c", 9, clarity=10)]

    scores = reviews(panel(normalise="z"), harsh=harsh, kind=kind)

    assert scores["lie"].exact is not None
    assert scores["lie"].exact <= 4
    assert scores["lie"].steps[0].why.startswith("mean after z 3.")
    assert "harsh 4.00 (held at its ceiling), kind 2." in scores["lie"].steps[0].why
    assert scores.ranking is not None
    assert [place.id for place in scores.ranking] == ["c", "b", "lie"]


@pytest.mark.parametrize("aggregate", ["mean", "median"])
@pytest.mark.parametrize("accuracy", [1, 4.99, 5, 6.99])
def test_a_ceiling_that_did_not_bind_before_z_binds_after_it(accuracy: float, aggregate: str) -> None:
    """A score under its ceiling must not leave it either."""
    most = 4 if accuracy < 5 else 7
    given = [said("a", 2, accuracy=accuracy), *(said(id, 1, accuracy=1) for id in "bcd")]
    wide = [said("a", 10), said("b", 1, accuracy=7), said("c", 10), said("d", 1, accuracy=7)]

    card = reviews(panel(normalise="z", aggregate=aggregate), narrow=given, wide=wide)["a"]

    narrow = card.steps[0].facts[2].says["narrow"]
    assert narrow <= most


def test_z_with_two_responses_says_that_it_did_nothing() -> None:
    """The step must not claim what did not happen, and there is no other score to set beside it."""
    scores = reviews(panel(normalise="z"), x=[said("a", 8), said("b", 9)], y=[said("a", 7), said("b", 8)])

    assert scores["a"].explain() == ["mean 7.50 of 2 reviewers: x 8.00, y 7.00"]
    assert scores["a"].notes == (
        "x not normalised: fewer than 3 scores, or no spread",
        "y not normalised: fewer than 3 scores, or no spread",
    )


def test_z_names_the_reviewer_that_stays_as_it_is() -> None:
    """One of two is normalised: the step says which is not."""
    flat = [said("a", 7), said("b", 7), said("c", 7)]

    card = reviews(panel(normalise="z"), flat=flat, x=[said("a", 8), said("b", 9), said("c", 10)])["b"]

    assert "flat 7.00 (not normalised)" in card.steps[0].why
    assert card.steps[0].why.startswith("mean after z")


def test_a_missing_criterion_makes_that_review_incomplete() -> None:
    """Skipping it, or taking 10 or 5 for it, is what rivals do."""
    whole = [said("a", 8)]
    gap = [{"id": "a", "scores": {k: 10 for k in COUNCIL if k != "accuracy"}}]

    scores = reviews("council", x=whole, y=whole, z=gap)

    assert str(scores["a"].score) == "8.00"
    assert scores["a"].notes == ("z not counted: accuracy: not answered",)


def test_half_of_the_reviewers_is_too_few() -> None:
    """A panel with one of two judges dead does not decide."""
    scores = reviews("council", x=[said("a", 9)], y={"abstained": "refused"})

    assert scores["a"].score is None
    assert scores["a"].verdict == "incomplete"
    assert scores["a"].notes == (
        "y not counted: abstained: refused",
        "1 of 2 reviewers scored it: too few to decide",
    )


def test_a_holistic_score_stands_in_and_enters_no_criterion() -> None:
    """It counts in the mean of scores only."""
    scores = reviews("council", x=[said("a", 9)], y=[{"id": "a", "holistic": 6}])

    card = scores["a"]
    assert str(card.score) == "7.50"
    assert card.reviews is not None
    assert [review.holistic for review in card.reviews] == [False, True]
    assert {score.value for score in card.criteria.values()} == {Fraction(9)}  # type: ignore[union-attr]


def test_a_holistic_score_off_the_scale_is_no_score() -> None:
    """11 stays unreadable here too."""
    scores = reviews("council", x=[said("a", 9)], y=[said("a", 9)], z=[{"id": "a", "holistic": 11}])

    assert str(scores["a"].score) == "9.00"
    assert "holistic score unreadable: 11 is outside 1–10" in scores["a"].notes


def test_a_partly_read_rubric_does_not_fall_back() -> None:
    """The holistic score is for replies whose rubric could not be read at all."""
    partly = {"id": "a", "scores": {"accuracy": 9}, "holistic": 9}

    assert outputs("council", a={k: v for k, v in partly.items() if k != "id"})["a"].score is None


@pytest.mark.parametrize(
    "said",
    [
        {"overall": 8},
        {"overall": 8, "notes": "ignored the rubric"},
        {"scores": {}, "overall": 8},
        {"scores": dict.fromkeys(COUNCIL), "overall": 8},
        {"scores": dict.fromkeys(COUNCIL, "good"), "overall": 8},
    ],
)
def test_overall_stands_in_where_no_criterion_was_answered(said: dict[str, object]) -> None:
    """A reviewer that ignores the rubric and gives one score has given a holistic one, whatever it calls it."""
    alone, reviewed = outputs("council", a=said)["a"], reviews("council", x=[{"id": "a", **said}])["a"]

    assert (str(alone.score), alone.holistic) == ("8.00", ())
    assert (str(reviewed.score), reviewed.holistic) == ("8.00", ("x",))


def test_overall_beside_an_answer_stays_a_claim() -> None:
    """One criterion is answered: then a missing one is missing, and no arithmetic of a judge replaces it."""
    card = outputs("council", a={"scores": {"accuracy": 9}, "overall": 9})["a"]

    assert (card.score, card.holistic) == (None, None)


def test_overall_off_the_scale_stands_in_for_nothing() -> None:
    """11 of 10 is unreadable."""
    card = outputs("council", a={"overall": 11})["a"]

    assert card.score is None
    assert "holistic score unreadable: 11 is outside 1–10" in card.notes


def test_a_method_without_holistic_scores_takes_no_overall_for_one() -> None:
    """There it is a claim, and an output still needs scores."""
    with pytest.raises(AnswersError, match="an output needs scores"):
        outputs("judge-skill", a={"overall": 8})


def test_a_reviewer_was_asked_what_it_left_out() -> None:
    """Each reason once, with the criteria that it holds for."""
    gap = [{"id": "a", "scores": {"accuracy": 9, "clarity": 11}}]

    card = reviews("council", x=gap)["a"]

    assert card.notes[0] == (
        "x not counted: relevance, completeness, conciseness: not answered; clarity: unreadable: 11 is outside 1–10"
    )
    assert {gap.why for gap in card.missing if gap.criterion != "clarity"} == {"x: not answered"}


def test_one_reviewer_calling_it_unsafe_is_enough() -> None:
    """The cap comes last, after the mean."""
    scores = reviews("council", x=[{**said("a", 9), "unsafe": "malware_hacking"}], y=[said("a", 9)])

    assert str(scores["a"].score) == "0.00"


def test_a_claimed_ranking_that_differs_is_noted() -> None:
    """The ranking is derived from the scores, never from the reviewer's own list."""
    scores = reviews(
        "council",
        x={"outputs": [said("a", 9), said("b", 8)], "ranking": ["b", "a"]},
        y={"outputs": [said("a", 9), said("b", 8)], "ranking": ["a", "b"]},
    )

    assert scores.notes == ("x claims the ranking b, a; its scores give a, b",)


def test_a_claimed_ranking_is_not_held_against_the_safety_cap() -> None:
    """The reviewer ranked by its scores; that the guard capped the first of them is not its error."""
    given = [said("a", 8), {**said("b", 9), "unsafe": "self_harm"}, said("c", 7)]

    scores = reviews("council", x={"outputs": given, "ranking": ["b", "a", "c"]})

    assert scores.ranking is not None
    assert [place.id for place in scores.ranking] == ["a", "c", "b"]
    assert scores.notes == ()
    disagreement = measure_scorecard_disagreement(scores)
    assert disagreement is not None
    assert disagreement.dissent == ()


def test_a_wrong_ranking_is_noted_beside_a_safety_cap() -> None:
    """The order that its scores give is its own, not that of the capped scores."""
    given = [said("a", 8), {**said("b", 9), "unsafe": "self_harm"}, said("c", 7)]

    scores = reviews("council", x={"outputs": given, "ranking": ["c", "b", "a"]})

    assert scores.notes == ("x claims the ranking c, b, a; its scores give b, a, c",)


def test_a_ranking_by_sums_before_the_ceilings_is_called_that() -> None:
    """Whoever ranks by the weighted average that it was asked for has not miscounted."""
    given = [said("a", 6, accuracy=7), said("lie", 9, accuracy=3)]

    scores = reviews("council", x={"outputs": given, "ranking": ["lie", "a"]})

    assert scores.notes == (
        "x claims the ranking lie, a, which is the order before ceilings and deductions; "
        "after them its scores give a, lie",
    )


def test_what_a_reviewer_claims_is_held_against_its_own_scores() -> None:
    """Each reviewer's arithmetic is checked, not only that of a single judge."""
    scores = reviews("council", x=[{**said("a", 9), "overall": 7.5}], y=[{**said("a", 9), "overall": 9.0}])

    assert scores["a"].notes == ("x: claimed score 7.5 differs from 9.00 computed from the criteria",)


def test_gates_of_a_panel_need_more_than_half() -> None:
    """A gate that half of the reviewers see failed has failed."""
    gated = {"method": "council", "gates": [{"criterion": "clarity", "min": 5}]}

    split = reviews(gated, x=[said("a", 9)], y=[said("a", 9, clarity=4)])
    most = reviews(gated, x=[said("a", 9)], y=[said("a", 9)], z=[said("a", 9, clarity=4)])

    assert (split["a"].verdict, split["a"].gates_failed) == ("fail", ("clarity",))
    assert (most["a"].verdict, most["a"].gates_failed) == ("pass", ())
