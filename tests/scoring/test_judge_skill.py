"""judge-skill: deductions, bonuses, grades, ties."""

from pathlib import Path

import pytest

from evenhand import load_rubric, score
from tests.builders import SKILL, outputs, skill

FLAGS = {
    "method": "judge-skill",
    "red_flags": [{"id": f"f{n}", "asks": "?"} for n in range(6)] + [{"id": "grave", "asks": "?", "amount": 1.5}],
    "bonuses": [{"id": f"b{n}", "asks": "?"} for n in range(6)],
}


def found(*, flags: int = 0, bonuses: int = 0, also: tuple[str, ...] = ()) -> dict[str, object]:
    return {
        "red_flags": {**{f"f{n}": "seen" for n in range(flags)}, **dict.fromkeys(also, "seen")},
        "bonuses": {f"b{n}": "seen" for n in range(bonuses)},
    }


def test_the_default_weights_are_those_of_the_method() -> None:
    """Seven criteria, from .25 to .05."""
    weights = {criterion.id: str(float(criterion.weight)) for criterion in load_rubric("judge-skill").criteria}

    assert weights == {
        "correctness": "0.25",
        "completeness": "0.2",
        "adherence": "0.15",
        "actionability": "0.15",
        "efficiency": "0.1",
        "safety": "0.1",
        "consistency": "0.05",
    }


@pytest.mark.parametrize(
    ("flags", "score"), [(0, "8.00"), (1, "7.50"), (2, "7.00"), (3, "6.50"), (4, "6.00"), (5, "6.00"), (6, "6.00")]
)
def test_each_red_flag_takes_half_a_point_and_all_together_two(flags: int, score: str) -> None:
    """0.5 each, 2.0 at most."""
    assert str(skill(FLAGS, found(flags=flags)).score) == score


@pytest.mark.parametrize(("bonuses", "score"), [(0, "8.00"), (1, "8.25"), (4, "9.00"), (5, "9.00")])
def test_each_bonus_adds_a_quarter_and_all_together_one(bonuses: int, score: str) -> None:
    """0.25 each, 1.0 at most."""
    assert str(skill(FLAGS, found(bonuses=bonuses)).score) == score


def test_a_flag_may_carry_its_own_amount() -> None:
    """1.5 + 0.5 reaches the limit; a further flag is listed and not counted."""
    one = skill(FLAGS, found(also=("grave",)))
    more = skill(FLAGS, found(flags=2, also=("grave",)))

    assert str(one.score) == "6.50"
    assert str(more.score) == "6.00"
    assert "f0 0.5 (seen); f1 0.5 (seen); grave 1 of 1.5 (seen)" in more.steps[1].why


def test_flags_beyond_the_limit_are_listed_as_not_counted() -> None:
    """All of them are in the report."""
    card = skill(FLAGS, found(flags=5))

    assert card.flags == ("f0", "f1", "f2", "f3", "f4")
    assert card.steps[1].why == (
        "took off 2.00, the most for red flags: f0 0.5 (seen); f1 0.5 (seen); f2 0.5 (seen); f3 0.5 (seen); "
        "f4 not counted (seen) (was 8.00)"
    )


def test_deductions_stop_at_one_and_bonuses_come_after() -> None:
    """From 1.0, not from -0.5, does a bonus lift."""
    low = dict.fromkeys(SKILL, 1.5)

    card = skill(FLAGS, found(flags=4, bonuses=1), **low)

    assert [(moved.step, float(moved.after)) for moved in card.steps] == [
        ("weighted_sum", 1.5),
        ("deduct", -0.5),
        ("clamp", 1.0),
        ("add", 1.25),
    ]


def test_bonuses_stop_at_ten() -> None:
    """9.9 and a full point is 10."""
    card = skill(FLAGS, found(bonuses=4), **dict.fromkeys(SKILL, 9.9))

    assert str(card.score) == "10.00"
    assert card.steps[-1].why == "kept at 10.00: the score cannot go above it (was 10.90)"


@pytest.mark.parametrize(
    ("score", "grade", "label"),
    [
        (10, "A+", "Exceptional"),
        (9.5, "A+", "Exceptional"),
        (9.49, "A", "Excellent"),
        (9, "A", "Excellent"),
        (8.99, "A-", "Very Good"),
        (8.5, "A-", "Very Good"),
        (8.49, "B+", "Good"),
        (8, "B+", "Good"),
        (7.99, "B", "Above Average"),
        (7.5, "B", "Above Average"),
        (7.49, "B-", "Satisfactory"),
        (7, "B-", "Satisfactory"),
        (6.99, "C+", "Adequate"),
        (6.5, "C+", "Adequate"),
        (6.49, "C", "Mediocre"),
        (6, "C", "Mediocre"),
        (5.99, "C-", "Below Average"),
        (5.5, "C-", "Below Average"),
        (5.49, "D+", "Poor"),
        (5, "D+", "Poor"),
        (4.99, "D", "Very Poor"),
        (4, "D", "Very Poor"),
        (3.99, "F", "Failing"),
        (1, "F", "Failing"),
    ],
)
def test_the_grade_table_includes_its_lower_bounds(score: float, grade: str, label: str) -> None:
    """9.00 is an A, 8.99 an A-."""
    card = skill("judge-skill", None, **dict.fromkeys(SKILL, score))

    assert (card.grade, card.label) == (grade, label)


def test_the_grade_is_read_off_the_rounded_score() -> None:
    """8.995 is 9.00 when shown, and then it is an A."""
    card = skill("judge-skill", None, **dict.fromkeys(SKILL, 8.995))

    assert (str(card.score), card.grade) == ("9.00", "A")
    assert card.steps[-1].why == "rounded to 9.00 (was 8.995)"


TIES = ["correctness", "safety", "completeness", "actionability", "adherence", "efficiency", "consistency"]
WEIGHTS = dict(zip(SKILL, (25, 20, 15, 15, 10, 10, 5), strict=True))


@pytest.mark.parametrize("position", range(6))
def test_ties_are_broken_in_the_order_of_the_method(position: int) -> None:
    """Equal scores: the first criterion on the list that differs decides."""
    better, worse = TIES[position], TIES[position + 1]
    step = 0.2
    a = {**SKILL, better: 8 + step / WEIGHTS[better], worse: 8 - step / WEIGHTS[worse]}
    scores = outputs("judge-skill", b={"scores": SKILL}, a={"scores": a})

    assert scores.ranking is not None
    assert [(place.rank, place.id, place.tie_broken_by) for place in scores.ranking] == [
        (1, "a", better),
        (2, "b", better),
    ]


def test_fewer_red_flags_break_what_criteria_leave_tied() -> None:
    """One flag and two bonuses give the same score as none."""
    a = {"scores": SKILL, **found(flags=1, bonuses=2)}
    scores = outputs(FLAGS, a=a, b={"scores": SKILL})

    assert scores.ranking is not None
    assert [(place.id, place.tie_broken_by) for place in scores.ranking] == [
        ("b", "fewer red_flags"),
        ("a", "fewer red_flags"),
    ]


def test_more_bonuses_break_the_last_tie_counted_or_not() -> None:
    """Six bonuses count as four in the score, and as six here."""
    scores = outputs(FLAGS, four={"scores": SKILL, **found(bonuses=4)}, six={"scores": SKILL, **found(bonuses=6)})

    assert scores.ranking is not None
    assert [(place.id, place.tie_broken_by) for place in scores.ranking] == [
        ("six", "more bonuses"),
        ("four", "more bonuses"),
    ]


def test_outputs_equal_in_all_are_equivalent_and_share_the_rank() -> None:
    """Competition ranks: 1, 1, 3."""
    scores = outputs("judge-skill", a={"scores": SKILL}, b={"scores": SKILL}, c={"scores": {**SKILL, "safety": 7}})

    assert scores.ranking is not None
    assert [(place.rank, place.id, place.tie_broken_by) for place in scores.ranking] == [
        (1, "a", None),
        (1, "b", None),
        (3, "c", None),
    ]
    assert scores["a"].notes == ("equivalent to b",)


def test_a_tie_is_explained_to_equivalents_too() -> None:
    """Two share the first place; both are there because of correctness."""
    better = {**SKILL, "correctness": 8.4, "completeness": 7.5}
    scores = outputs("judge-skill", a={"scores": better}, b={"scores": better}, c={"scores": SKILL})

    assert scores.ranking is not None
    assert [(place.rank, place.tie_broken_by) for place in scores.ranking] == [(1, "correctness")] * 2 + [
        (3, "correctness")
    ]


def test_equivalence_is_told_to_those_it_concerns_only() -> None:
    """The winner is equivalent to nobody."""
    best = {"scores": dict.fromkeys(SKILL, 9)}
    scores = outputs("judge-skill", best=best, b={"scores": SKILL}, c={"scores": SKILL}, d={"scores": SKILL})

    assert [scores[id].notes for id in ("best", "b", "c", "d")] == [
        (),
        ("equivalent to c, d",),
        ("equivalent to b, d",),
        ("equivalent to b, c",),
    ]


@pytest.mark.parametrize(("ties", "notes"), [("[truth, form]", ("equivalent to b",)), ("[truth]", ())])
def test_only_what_every_criterion_leaves_tied_is_equivalent(ties: str, notes: tuple[str, ...], tmp_path: Path) -> None:
    """A tie-break that does not look at form cannot tell."""
    (tmp_path / "m.yaml").write_text(f"scale: 0-10\ncriterion_scale: 0-10\nsteps: [weighted_mean]\nties: {ties}\n")
    (tmp_path / "r.yaml").write_text("method: m.yaml\ncriteria: [{id: truth, asks: x}, {id: form, asks: y}]\n")
    same = {"truth": 5, "form": 5}

    scores = score(tmp_path / "r.yaml", [{"id": "a", "scores": same}, {"id": "b", "scores": same}])

    assert scores["a"].notes == notes


def test_a_tie_of_many_names_some() -> None:
    """A list of thousands helps nobody."""
    scores = outputs("judge-skill", **{f"o{n}": {"scores": SKILL} for n in range(9)})

    assert scores["o0"].notes == ("equivalent to o1, o2, o3, o4, o5",)
    assert scores["o8"].notes == ("equivalent to o0, o1, o2, o3, o4",)


def test_a_holistic_score_comes_last_in_a_tie(tmp_path: Path) -> None:
    """It has no criterion to break the tie with, and that is not a zero."""
    (tmp_path / "m.yaml").write_text(
        "scale: 0-10\ncriterion_scale: 0-10\nholistic: 0-10\nsteps: [weighted_mean]\nties: [truth]\n"
    )
    (tmp_path / "r.yaml").write_text("method: m.yaml\ncriteria: [{id: truth, asks: x}, {id: form, asks: y}]\n")

    scores = score(
        tmp_path / "r.yaml",
        {"outputs": [{"id": "whole", "holistic": 5}, {"id": "parts", "scores": {"truth": 0, "form": 10}}]},
    )

    assert scores.ranking is not None
    assert [(place.rank, place.id) for place in scores.ranking] == [(1, "parts"), (2, "whole")]


def test_custom_weights_must_sum_to_one() -> None:
    """They override the defaults; the questions and anchors of the method stay."""
    criteria = [{"id": id, "weight": 0.4 if id == "correctness" else 0.1} for id in SKILL]

    rubric = load_rubric({"method": "judge-skill", "criteria": criteria})

    assert rubric.criteria[0].asks == load_rubric("judge-skill").criteria[0].asks
    assert len(rubric.criteria[0].anchors) == 5
    assert str(skill({"method": "judge-skill", "criteria": criteria}, correctness=10).score) == "8.80"


def test_equal_criteria_are_no_equal_outputs() -> None:
    """What equal criteria come to is worked out once: what else was found of an output moves its score all the same."""
    rubric = load_rubric(FLAGS)
    given = [found(), found(flags=1), found(), found(bonuses=1)]

    scores = [str(outputs(rubric, a={"scores": SKILL, **one})["a"].score) for one in given]

    assert scores == ["8.00", "7.50", "8.00", "8.25"]
