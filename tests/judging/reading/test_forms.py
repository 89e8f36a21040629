"""Every form by hand: the number it means, or none."""

from fractions import Fraction

import pytest

from evenhand.judging.reading.reply_reader import read_reply_answers, read_reply_score
from evenhand.model.scale import Scale, Scored
from tests.judging.reading.asked import ASKED
from tests.judging.reading.scored_json import JSON
from tests.judging.reading.scored_prose import PROSE
from tests.judging.reading.several import SEVERAL
from tests.judging.reading.unscored import UNSCORED


@pytest.mark.parametrize(("scale", "text", "expected"), [*PROSE, *JSON])
def test_a_score_is_read_as_it_is_meant(scale: Scale, text: str, expected: str) -> None:
    """What a person would read, the reader reads."""
    score = read_reply_score(text, scale, "coherence")

    assert isinstance(score, Scored), score
    assert score.value == Fraction(expected)


@pytest.mark.parametrize(("scale", "text"), UNSCORED)
def test_no_score_is_made_up(scale: Scale, text: str) -> None:
    """A wrong number is far worse than none."""
    score = read_reply_score(text, scale, "coherence")

    assert not isinstance(score, Scored), score


@pytest.mark.parametrize(("text", "expected"), SEVERAL)
def test_several_criteria_are_told_apart(text: str, expected: str) -> None:
    """Each gets its own answer, or none, and never that of another."""
    answers = read_reply_answers(text, ASKED).answers

    told = []
    for one in ASKED:
        score = answers[one.id].score if one.id in answers else None
        told.append("-" if score is None else str(score.value) if isinstance(score, Scored) else "?")
    assert " ".join(told) == expected
