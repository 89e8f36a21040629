"""Maps to people's scale: exact between their points, level beyond them, and only for what they were made for."""

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import InputError, JudgeError
from evenhand.judging.results import OutputReview, map_review_to_people, refuse_foreign_score_maps
from evenhand.judging.single_judge import Cascade, JudgeOptions
from evenhand.model.scale import CriterionScore, Missing, Scored
from evenhand.model.scorecard import Answers, Judgment, ScoreMap

POINTS = tuple((Fraction(said), Fraction(people)) for said, people in ((1, 1), (3, "2.5"), (5, 4)))
MAP = ScoreMap(judge="j", criterion="tone", fingerprint="f" * 16, points=POINTS)


def test_scores_by_hand() -> None:
    """Half-way between two points is half-way on people's scale; thirds are rounded to four decimals."""
    told = [MAP.map_score(Fraction(score)) for score in ("0", "1", "2", "3", "4", "5", "7", "1.3333")]

    assert told == [Fraction(one) for one in ("1", "1", "1.75", "2.5", "3.25", "4", "4", "1.25")]


@given(st.fractions(0, 6), st.fractions(0, 6))
def test_a_map_never_falls(one: Fraction, other: Fraction) -> None:
    """Who is better by the judge is not worse on people's scale."""
    low, high = sorted((one, other))

    assert MAP.map_score(low) <= MAP.map_score(high)


@pytest.mark.parametrize("points", [(), ((1, 1), (1, 2)), ((2, 1), (1, 2)), ((1, 3), (2, 2))])
def test_what_is_no_map_is_refused(points: tuple[tuple[int, int], ...]) -> None:
    """No points, one score twice, scores out of order, or people who say less where the judge says more."""
    with pytest.raises(InputError, match="must rise"):
        ScoreMap(judge="j", criterion="tone", fingerprint="f", points=points)  # type: ignore[arg-type]


def test_a_mapped_score_keeps_what_the_judge_said() -> None:
    """Answers and judgments are mapped; a criterion without a map, and one without a score, stay as they are."""
    scores: dict[str, CriterionScore] = {
        "tone": Scored(Fraction(4), why="kind"),
        "facts": Scored(Fraction(4)),
        "depth": Missing("failed", "no"),
    }
    judgments = tuple(Judgment(judge="j", output="o", criterion=id, score=score) for id, score in scores.items())

    mapped = map_review_to_people(
        OutputReview(answers=Answers(id="o", scores=scores), judgments=judgments), {"tone": MAP, "depth": MAP}
    )

    assert mapped.answers.scores == {**scores, "tone": Scored(Fraction("3.25"), why="kind")}
    assert [(one.criterion, one.raw) for one in mapped.judgments] == [("tone", 4), ("facts", None), ("depth", None)]
    assert mapped.judgments[0].score == Scored(Fraction("3.25"), why="kind")


def test_a_map_for_another_way_of_asking_is_refused() -> None:
    """Another judge, another fingerprint; and a cascade, which goes by what a judge said itself."""
    refuse_foreign_score_maps([MAP], {"j": ["a" * 16, "f" * 16]})
    with pytest.raises(JudgeError, match="is for fingerprint ffffffffffffffff, and it is aaaaaaaaaaaaaaaa now"):
        refuse_foreign_score_maps([MAP], {"j": ["a" * 16]})
    with pytest.raises(JudgeError, match="a map for 'j', which is not a judge here"):
        refuse_foreign_score_maps([MAP], {"k": []})
    with pytest.raises(JudgeError, match="a cascade takes no maps"):
        JudgeOptions(maps=(MAP,), cascade=Cascade())
