"""What rules cannot see is said to be so, with the reason."""

import pytest

from evenhand.judging.embedded.claims import extract_claim
from evenhand.judging.embedded.decisions import explain_unjudgeable_claim, judge_criterion_claim
from evenhand.judging.embedded.texts import JudgedText


@pytest.mark.parametrize(
    ("asks", "why"),
    [
        ("Is the tone friendly?", "rules cannot weigh what is “tone”"),
        ("The reply sounds sincere.", "rules cannot weigh what is “sounds”"),
        ("Is the argument convincing?", "rules cannot weigh what is “convincing”"),
        ("The answer is politely written.", "rules cannot weigh what is “politely”"),
        ("Does it keep to what the policy allows?", "it depends on more than the words of the output"),
        ("The patch would not compile.", "it depends on more than the words of the output"),
        ("Are there statements that contradict each other?", "it depends on more than the words of the output"),
        ("Is every claim backed by a source?", "it speaks of all of something, and rules see single passages"),
        ("Each step names its tool.", "it speaks of all of something, and rules see single passages"),
    ],
)
def test_an_abstention_has_its_reason(asks: str, why: str) -> None:
    """Tone, truth, what lies outside the output, and all of something."""
    decision = judge_criterion_claim(asks, JudgedText("Thank you for asking. The shop opens at nine."))

    assert explain_unjudgeable_claim(asks, extract_claim(asks)) == why
    assert decision.holds is None
    assert decision.reason == why


@pytest.mark.parametrize(
    "asks",
    [
        "It makes up an API.",
        "Does it make up an API?",
        "It invents an API.",
        "Does it invent an API?",
        "It fabricates an API.",
        "The API is a fabrication.",
        "It hallucinates an API.",
        "It names a non-existent API.",
    ],
)
def test_what_is_made_up_takes_a_reference_to_tell(asks: str) -> None:
    """A text that names an API need not have made it up."""
    decision = judge_criterion_claim(asks, JudgedText("Watch the error rate of the billing API for ten minutes."))

    assert decision.holds is None
    assert decision.reason == "it depends on more than the words of the output"


@pytest.mark.parametrize(
    "asks",
    [
        "Does the reply say that the shop opens at nine?",
        "Mentions that the safe was found open in the cellar",  # A safe is no quality here.
        "The reply names the manager.",
    ],
)
def test_what_is_in_the_words_may_be_tried(asks: str) -> None:
    """A word of quality alone, inside something that is to be said, is no reason to give up."""
    assert explain_unjudgeable_claim(asks, extract_claim(asks)) == ""
