"""Missing is not a number, claims are not trusted, unknown ids are noted, history only flags."""

import re
from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis.strategies import fractions, lists

from evenhand import load_rubric
from evenhand.files.methods import list_rubric_file_names
from evenhand.scoring.scores import PastScores, ScoreHistory, check_score_consistency, compute_fingerprint
from tests.builders import COUNCIL, card, council, outputs, reviews


def test_a_missing_criterion_is_never_a_number() -> None:
    """Not 0, not 5, not 10."""
    scores = {id: value for id, value in COUNCIL.items() if id != "clarity"}

    result = card("council", scores)

    assert (result.score, result.exact, result.verdict) == (None, None, "incomplete")
    assert [(gap.criterion, gap.why) for gap in result.missing] == [("clarity", "not asked")]


def test_an_answer_off_the_scale_is_missing_with_the_reason() -> None:
    """95 on 1–10 is not clamped to 10."""
    result = council(accuracy=95)

    assert result.missing[0].why == "unreadable: 95 is outside 1–10"


def test_a_gate_nobody_answered_has_not_passed() -> None:
    """A holistic score says nothing about accuracy; an absent layer nothing about facts."""
    council = {"method": "council", "gates": [{"criterion": "accuracy", "min": 5}]}
    layered = {"method": "layered", "gates": [{"criterion": "fact", "min": 0.5}]}

    whole = outputs(council, a={"holistic": 9})["a"]
    absent = card(layered, {"judge": 4})
    panel = reviews(council, x=[{"id": "a", "holistic": 9}])["a"]

    assert [(one.score, one.verdict) for one in (whole, absent, panel)] == [(None, "incomplete")] * 3
    assert [one.missing[0].criterion for one in (whole, absent, panel)] == ["accuracy", "fact", "accuracy"]


def test_a_gate_on_an_absent_layer_is_unknown_beside_a_layer_with_children() -> None:
    """However many values the other layer brings along."""
    fact = {"id": "fact", "children": [{"id": "a", "asks": "?"}, {"id": "b", "asks": "?"}]}
    rubric = {
        "steps": ["layer_mean"],
        "criteria": [fact, {"id": "judge", "asks": "?"}],
        "gates": [{"criterion": "judge"}],
    }

    assert card(rubric, {"a": True, "b": True}).verdict == "incomplete"


def test_a_ceiling_on_what_nobody_answered_leaves_no_score() -> None:
    """It can neither be applied nor be left out."""
    steps = ["layer_mean", {"ceiling": {"criterion": "fact", "below": 0.5, "at": 0.5}}]
    rubric = {"steps": steps, "criteria": [{"id": "fact", "asks": "?"}, {"id": "form", "asks": "?"}]}

    assert card(rubric, {"form": True}).missing[0].criterion == "fact"
    assert card(rubric, {"form": True, "fact": True}).score == 1.0


def test_a_failed_layer_does_not_make_absent_ones_missing() -> None:
    """Only what was configured can be missing."""
    assert [gap.criterion for gap in card("layered", {"judge": None}).missing] == ["judge"]


def test_an_incomplete_panel_says_what_is_missing() -> None:
    """Also where nobody may vote, or there is nothing to rank."""
    own = reviews("council", x=[{"id": "a", "author": "x", "scores": COUNCIL}])["a"]
    alone = reviews({"method": "council", "panel": {"aggregate": "borda"}}, x=[{"id": "a", "scores": COUNCIL}])["a"]

    assert [len(one.missing) for one in (own, alone)] == [5, 5]
    assert own.missing[0].why == "the panel gave no score"


def test_a_review_that_does_not_count_breaks_no_tie() -> None:
    """Its answers are shown nowhere either."""
    scores = {c.id: 8 for c in load_rubric("judge-skill").criteria}
    rubric = {"method": "judge-skill", "panel": {"quorum": 0}}

    result = reviews(
        rubric,
        x=[{"id": "a", "scores": scores}, {"id": "b", "scores": scores}],
        y=[{"id": "a", "scores": {"correctness": 2}}, {"id": "b", "scores": {"correctness": 9}}],
    )

    assert result.ranking is not None
    assert [place.rank for place in result.ranking] == [1, 1]


def test_the_unnormalised_score_is_aggregated_in_the_same_way() -> None:
    """A median beside a median."""
    nine, eight = dict.fromkeys(COUNCIL, 9), COUNCIL
    low = dict.fromkeys(COUNCIL, 7.5)
    said = [[nine, eight, low], [nine, eight, low], [low, eight, nine]]
    given = {
        f"j{n}": [{"id": id, "scores": scores} for id, scores in zip("abc", each, strict=True)]
        for n, each in enumerate(said)
    }

    card = reviews({"method": "council", "panel": {"aggregate": "median", "normalise": "z"}}, **given)["a"]

    assert "unnormalised score 9.00" in card.notes


def test_a_claimed_pass_is_held_against_a_known_failure() -> None:
    """Also where the score is missing."""
    result = card({"criteria": ["x", "y"]}, {"rubric-1": False}, overall_passed=True)

    assert (result.verdict, result.notes) == ("fail", ("claimed a pass, computed fail",))


@pytest.mark.parametrize(
    ("steps", "score"),
    [
        (["weighted_mean", "panel", {"deduct": {"each": 5, "most": 20}}], 0.0),
        (
            [
                "weighted_mean",
                "panel",
                {"clamp": {"min": 0, "max": 10}},
                {"add": {"each": 9, "most": 9, "for": "red_flags"}},
            ],
            10.0,
        ),
        (["weighted_mean", "panel", {"clamp": {"min": -9, "max": 99}}, {"deduct": {"each": 5, "most": 20}}], 0.0),
    ],
)
def test_no_method_leaves_its_scale(steps: list[object], score: float) -> None:
    """Whatever comes after the panel."""
    flags = ["one", "two", "three"]
    rubric = {"scale": "0-10", "steps": steps, "criteria": [{"id": "a", "asks": "?"}], "red_flags": flags}

    assert card(rubric, {"a": 4}, red_flags=flags).score == score


def test_incomplete_scorecards_stand_in_the_ranking_without_a_rank() -> None:
    """They never drop out silently."""
    scores = outputs("council", a={"scores": {}}, b={"scores": COUNCIL}, c={"scores": dict.fromkeys(COUNCIL, 9)})

    assert scores.ranking is not None
    assert [(place.rank, place.id) for place in scores.ranking] == [(1, "c"), (2, "b"), (None, "a")]


def test_an_unknown_criterion_is_noted_and_ignored() -> None:
    """Nothing is dropped without a word."""
    result = card("council", {**COUNCIL, "humour": 10})

    assert str(result.score) == "8.00"
    assert result.notes == ("'humour' is not a criterion of this rubric: ignored",)


def test_unknown_flags_and_bonuses_are_noted_and_ignored() -> None:
    """They cannot move the score."""
    rubric = {"method": "judge-skill", "red_flags": ["slow"]}
    scores = {c.id: 8 for c in load_rubric("judge-skill").criteria}

    result = card(rubric, scores, red_flags={"slwo": "typo"}, bonuses=["neat", "neat"])

    assert str(result.score) == "8.00"
    assert result.notes == (
        "'slwo' is not a red flag of this rubric: ignored (did you mean 'slow'?)",
        "'neat' is not a bonus of this rubric: ignored",
    )


def test_a_flag_named_twice_counts_once() -> None:
    """Distinct flags are counted."""
    rubric = {"method": "judge-skill", "red_flags": ["slow", "wrong"]}
    scores = {c.id: 8 for c in load_rubric("judge-skill").criteria}

    assert str(card(rubric, scores, red_flags=["slow", "slow"]).score) == "7.50"


@pytest.mark.parametrize(
    ("claim", "notes"),
    [
        (8.05, ()),
        (8.06, ("claimed score 8.06 differs from 8.00 computed from the criteria",)),
        (7.9, ("claimed score 7.9 differs from 8.00 computed from the criteria",)),
        ("high", ("claimed score 'high' is not a number",)),
    ],
)
def test_a_judges_own_arithmetic_is_a_claim(claim: object, notes: tuple[str, ...]) -> None:
    """More than 0.05 points off is noted; the score is ours either way."""
    result = card("council", COUNCIL, overall=claim)

    assert (str(result.score), result.notes) == ("8.00", notes)


def test_a_claim_is_compared_before_ceilings() -> None:
    """A judge that knows no ceiling has added up rightly."""
    assert card("council", {**COUNCIL, "accuracy": 4}, overall=6.6).notes == ()


@pytest.mark.parametrize(
    ("accuracy", "says"),
    [
        ("7.13", "weighted sum 7.70, rounded from 7.6955: accuracy 7.13 × 0.35 + "),
        ("7.99", "weighted sum 8.00, rounded from 7.9965: accuracy 7.99 × 0.35 + "),
        ("8", "weighted sum 8.00: accuracy 8 × 0.35 + "),
    ],
)
def test_a_sum_that_is_shown_rounded_says_so(accuracy: str, says: str) -> None:
    """Whoever adds up the terms comes to another number."""
    result = card("council", {**COUNCIL, "accuracy": float(accuracy)})

    assert result.steps[0].why.startswith(says)


def test_a_wrong_claim_says_what_it_is_held_against() -> None:
    """The score that is shown is another, where the method lowered it after the sum."""
    low = {**COUNCIL, "accuracy": 4}
    rubric = {"method": "judge-skill", "red_flags": ["slow"]}
    skill = {c.id: 8 for c in load_rubric("judge-skill").criteria}

    ceiling = card("council", low, overall=7)
    deducted = card(rubric, skill, red_flags=["slow"], overall=9)

    assert ceiling.notes == ("claimed score 7 differs from 6.60 computed from the criteria, before the ceiling",)
    assert deducted.notes == ("claimed score 9 differs from 8.00 computed from the criteria, before deductions",)


@pytest.mark.parametrize(("claim", "noted"), [(0.505, False), (0.506, True)])
def test_the_tolerance_follows_the_scale(claim: float, noted: bool) -> None:
    """0.005 on 0–1."""
    rubric = {"criteria": [{"id": "a", "asks": "?"}, {"id": "b", "asks": "?", "required": False}]}

    assert bool(card(rubric, {"a": True, "b": False}, overall=claim).notes) is noted


@pytest.mark.parametrize(("claim", "noted"), [(50.5, False), (50.51, True)])
def test_the_tolerance_is_half_a_point_of_a_hundred(claim: float, noted: bool) -> None:
    """Compared before penalties: 50 is penalised, and was rightly added up."""
    rubric = {"method": "oracle", "criteria": [{"id": "a", "asks": "?", "weight": 1, "fixed": True}]}

    assert bool(card(rubric, {"a": {"band": "C", "score": 50}}, overall=claim).notes) is noted


def test_a_claimed_pass_or_band_that_differs_is_noted() -> None:
    """Kept as a claim, overruled by the arithmetic."""
    passed = card(
        {"criteria": ["x", "y", "z"]}, {"rubric-1": True, "rubric-2": True, "rubric-3": False}, overall_passed=True
    )
    oracle = {"method": "oracle", "criteria": [{"id": "a", "asks": "?", "weight": 1, "fixed": True}]}
    band = card(oracle, {"a": {"band": "C", "score": 50}}, overall_band="B")

    assert passed.notes == ("claimed a pass, computed fail",)
    assert band.notes == ("the judge said band B; the scores give D",)


FROZEN = {
    "council": "7c6bcb337f7d99b3",
    "council-v1": "00ee99e8ad519766",
    "judge-skill": "665d80170a5e6ad0",
    "layered": "4ca63ec323346a1f",
    "agent-trajectory": "ff8603c5dd9e3344",
    "code-review": "a848c474b4445888",
    "customer-support": "f53515e1698be122",
    "rag-answer": "5fd7af3a6b29b425",
    "research-report": "07ac95acbd6b606d",
    "summary": "ba5d8c1f0019d9c7",
    "technical-writing": "33e63088e4c1788e",
    "skill-review": "6cf1116af81d544c",
    "code-change": "a5218941d59f620b",
    "runbook": "5238d3f2e37c68cf",
}


def past(*scores: float, mark: str = "same") -> list[PastScores]:
    return [PastScores(fingerprint=mark, scores={"safety": Fraction(str(score))}) for score in scores]


def judged(score: float, *earlier: PastScores) -> str:
    return str(check_score_consistency("same", {"safety": Fraction(str(score))}, earlier))


def test_a_first_evaluation_has_no_history() -> None:
    """And says so."""
    assert judged(9) == "no history yet"
    assert judged(9, *past(8)) == "one earlier evaluation: too few to flag"


def test_two_sample_standard_deviations_are_the_limit() -> None:
    """8, 9, 10: mean 9, sd 1 (n − 1). 11 is at the limit, 11.01 beyond it."""
    earlier = past(8, 9, 10)

    assert judged(11, *earlier) == "consistent with the last 3"
    assert judged(11.01, *earlier) == (
        "safety 11.01 is more than 2 standard deviations from its mean 9.00 (sd 1.00, last 3)"
    )
    assert judged(6.99, *earlier).startswith("safety 6.99")


def test_without_spread_any_change_is_flagged() -> None:
    """sd = 0."""
    assert judged(8, *past(8, 8)) == "consistent with the last 2"
    assert judged(8.01, *past(8, 8)).startswith("safety 8.01")


def test_printed_numbers_carry_the_claim() -> None:
    """With as many decimals as the reader needs to check it, and no standard deviation where there is none."""
    near = past(0.3751, 0.3753, 0.3752)

    assert judged(0.375, *past(0.38, 0.38)) == (
        "safety 0.375 differs from the 0.380 that each of the last 2 evaluations scored"
    )
    assert judged(0.3333, *past(1, 1)) == (
        "safety 0.33 differs from the 1.00 that each of the last 2 evaluations scored"
    )
    assert judged(0.3749, *near) == (
        "safety 0.3749 is more than 2 standard deviations from its mean 0.3752 (sd 0.0001, last 3)"
    )


@given(lists(fractions(0, 1, max_denominator=50), min_size=2, max_size=10), fractions(0, 1, max_denominator=50))
def test_whoever_checks_the_printed_numbers_finds_the_claim(scores: list[Fraction], now: Fraction) -> None:
    """The printed score is more than two printed standard deviations from the printed mean."""
    earlier = [PastScores(fingerprint="same", scores={"x": score}) for score in scores]
    for one in check_score_consistency("same", {"x": now}, earlier).strayed:
        score, mean, *sd = map(Fraction, re.findall(r"(?<=[xned] )\d+(?:\.\d+)?", str(one).replace("the last", "")))
        assert abs(score - mean) > 2 * sum(sd)
        assert bool(sd) == (one.sd > 0) == any(sd)


def test_only_the_last_ten_of_the_same_fingerprint_count() -> None:
    """Ten eights hide an older one and another rubric's three."""
    earlier = [*past(1), *past(8, 8, 8, 8, 8, 8, 8, 8, 8, 8), *past(3, mark="other")]

    assert check_score_consistency("same", {"safety": Fraction(8)}, earlier).strayed == ()
    assert check_score_consistency("same", {"safety": Fraction(8)}, earlier).n == 10
    assert judged(7, *earlier).startswith("safety 7")


def test_renaming_changes_no_fingerprint_and_everything_else_does() -> None:
    """Scores with different fingerprints are not comparable."""
    base: dict[str, object] = {"name": "x", "criteria": [{"id": "a", "asks": "?", "weight": 1}]}
    same: list[dict[str, object]] = [
        {**base, "name": "y"},
        {**base, "tags": ["coding"]},
        {"criteria": [{"id": "a", "asks": "?", "weight": 1.0}]},
    ]
    changed: list[dict[str, object]] = [
        {"criteria": [{"id": "a", "asks": "?", "weight": 2}]},
        {"criteria": [{"id": "b", "asks": "?", "weight": 1}]},
        {"criteria": [{"id": "a", "asks": "!", "weight": 1}]},
        {"criteria": [{"id": "a", "asks": "?", "weight": 1, "required": False}]},
        {"criteria": [{"id": "a", "asks": "?", "weight": 1, "scale": "1-5"}]},
        {"criteria": [{"id": "a", "asks": "?", "weight": 1, "anchors": {"yes": "there"}}]},
        {**base, "gates": [{"criterion": "a"}]},
        {**base, "red_flags": ["slow"]},
        {**base, "bonuses": ["fast"]},
        {**base, "panel": {"aggregate": "median"}},
        {**base, "steps": ["weighted_mean"]},
    ]
    marks = [compute_fingerprint(load_rubric(rubric)) for rubric in (base, *same, *changed)]

    assert len(set(marks[:4])) == 1
    assert len(set(marks[3:])) == len(changed) + 1


def test_prompts_judges_and_layers_enter_the_fingerprint() -> None:
    """What the judge was asked, and who was asked, belongs to the score."""
    rubric = load_rubric("council")

    marks = {
        compute_fingerprint(rubric),
        compute_fingerprint(rubric, prompts={"pointwise": "v1"}),
        compute_fingerprint(rubric, judges=[{"model": "x", "temperature": 0}]),
        compute_fingerprint(rubric, judges=[{"model": "x", "temperature": 1}]),
        compute_fingerprint(rubric, layers=["fact"]),
    }

    assert len(marks) == 5


def test_the_fingerprint_of_the_shipped_rubrics_is_frozen() -> None:
    """A change of a shipped rubric is a new fingerprint, and so a decision."""
    assert {name: compute_fingerprint(load_rubric(name)) for name in list_rubric_file_names()} == FROZEN


def test_a_repeated_evaluation_counts_once_and_is_not_held_against_itself() -> None:
    """The same output with the same answers says nothing new about the subject, however often it is scored."""
    history = ScoreHistory()
    first, second, other = past(8, 8, 9)

    told = [
        history.add_scores("a", first, "digest"),
        history.add_scores("b", second, "digest"),
        history.add_scores("c", other, "another"),
        history.add_scores("d", first, "digest"),
    ]

    assert [(consistency.n, same_as) for consistency, same_as in told] == [(0, None), (0, "a"), (1, None), (1, "a")]


def test_what_does_not_count_is_compared_with_others_and_none_with_it() -> None:
    """A guest, and an evaluation in which nothing was answered."""
    history = ScoreHistory()
    one, two, three = past(8, 8, 8)

    told = [
        history.add_scores("a", one, None),
        history.add_scores("b", two, "digest", guest=True),
        history.add_scores("c", three, None, counts=False),
        history.add_scores("d", two, "digest"),
    ]

    assert [(consistency.n, same_as) for consistency, same_as in told] == [(0, None), (1, None), (1, None), (1, None)]
