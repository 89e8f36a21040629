"""Prose that says more about its number than that: what it counts, that it is none, or another one."""

import pytest

from evenhand.judging.reading.reply_reader import read_reply_score
from evenhand.model.scale import Scored
from tests.judging.reading.asked import ONE_TO_TEN

TAKEN_BACK = [
    "9 (lowered to 3)", "9 (revised to 3)", "9 (corrected: 3)", "9, I mean 3", "9 (should be 3)",
    "9 (maybe)", "9, perhaps", "9 (?)", "9. Sorry, I meant 3.",
    "9. Correction: 5.", "9, no, 5.", "9. Wait, actually five.", "9/10 minus 4.", "9/10, less 4 for the ending.",
    "3 points below 9/10.", "9 (not sure)", "9, though I am unsure", "9 at best", "hardly 9/10.", "9/10 is too high.",
    "9/10 would be too generous.", "a 9/10 it is not.", "I almost gave 9/10", "9 of the 12 paragraphs are unclear.",
    "1. It is too long. 2. It is dull.", "1) too long; 2) dull",
    "My confidence in this is 9/10. So I give it a low mark.",
    "9 errors found.", "9 out of 10 sentences are unclear.", "9/10 of the text is unclear.", "ten readers got lost",
    "one gets lost", "9 a.m. is not explained.", "9 lines too long", "the reference got 9/10, this one less.",
    "it was 9/10 in the last version, and it has gotten worse.",
]  # fmt: skip
MEANT = [
    "9",
    "9/10",
    "9/10 - it is clear.",
    "9. No line is too long.",
    "9, as 3 of 4 parts are clear",
    "9 because it is plain",
]


@pytest.mark.parametrize("said", TAKEN_BACK)
def test_a_number_that_is_doubted_counted_or_corrected_is_no_score(said: str) -> None:
    """It never guesses: the judge is asked for the answer alone."""
    assert not isinstance(read_reply_score(f"Clarity: {said}", ONE_TO_TEN, "clarity"), Scored)


@pytest.mark.parametrize("said", MEANT)
def test_a_number_with_its_reason_is_one(said: str) -> None:
    """Numbers in a reason take nothing back."""
    score = read_reply_score(f"Clarity: {said}", ONE_TO_TEN, "clarity")

    assert isinstance(score, Scored) and score.value == 9
