"""Pairwise verdicts: the last explicit one binds, and two that contradict each other are none."""

import pytest

from evenhand.judging.reading.choice import read_reply_choice
from evenhand.judging.reading.reply_text import find_judge_refusal, split_reply_sections
from evenhand.model.scale import Missing

CHOICES = {
    "A": ("A", "Response A", "Output (a)"),
    "B": ("B", "Response B", "Output (b)"),
    "tie": ("tie", "equal", "equally good"),
}


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("A", "A"),
        ("**B**", "B"),
        ("Output (a)", "A"),
        ("Output (b).", "B"),
        ("tie", "tie"),
        ("[[A]]", "A"),
        ("My verdict: [[B]]", "B"),
        ("[[A>>B]]", "A"),
        ("[[B>A]]", "B"),
        ("[[A=B]]", "tie"),
        ("[[A<B]]", "B"),
        ('{"winner": "A"}', "A"),
        ('{"reason": "B is better", "winner": "A"}', "A"),
        ("{'verdict': 'Response B'}", "B"),
        ('{"better": "tie"}', "tie"),
        ('{"preferred": "response_a"}', "A"),
        ('{"winner": "B"}\nNo:\n{"winner": "A"}', "A"),
        ("Winner: A", "A"),
        ("Verdict: **Response B**", "B"),
        ("Final verdict: a tie", "tie"),
        ("The better response is: B", "B"),
        ("Response A is better.", "A"),
        ("Output (b) is slightly better because it is shorter.", "B"),
        ("The better answer is Response A.", "A"),
        ("I prefer Output (b).", "B"),
        ("I would choose Response A as it is complete.", "A"),
        ("Response A wins.", "A"),
        ("Both are equally good.", "tie"),
        ("Output (b) is not better. Output (a) is better.", "A"),
        ("In style, Output (a) is better. In substance, Output (b) is better. Therefore, Output (b) is better.", "B"),
        ("Output (a) is better, some say.\n\nOutput (b)", "B"),
        ("<think>Response A is better.</think>Response B is better.", "B"),
        ("结论：A", "A"),
        ("因此，Response B 更好", "B"),
    ],
)
def test_a_verdict_is_read(text: str, expected: str) -> None:
    """What a person would read, the reader reads."""
    assert read_reply_choice(text, CHOICES) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "Both have merits.",
        "Response A is short. Response B is long.",
        "Response A is better. Response B is better.",
        "Therefore, Response A is better. Therefore, Response B is better.",
        "Winner: A\nWinner: B",
        "Winner: A is worse",
        "Winner: A (worse)",
        "Winner: A, not",
        "Response A is better. The author's last line is:\n\nB",
        "[[A]] [[B]]",
        '{"winner": "A", "verdict": "B"}',
        "Neither Response A nor Response B is better.",
        "I wonder whether Response A is better.",
        "Response A is not better.",
        "If it were shorter, Response A is better.",
        "The better one is a mix of both.",
        "<think>Response A is better.",
        "I cannot compare these.",
    ],
)
def test_no_verdict_is_made_up(text: str) -> None:
    """A wrong winner is far worse than none."""
    assert isinstance(read_reply_choice(text, CHOICES), Missing)


def test_any_choices_will_do() -> None:
    """Names with signs in them, one name only, none at all."""
    assert read_reply_choice("model_1 is better", {"x": ("model_1",), "y": ("model_2",)}) == "x"
    assert read_reply_choice("C++ is better", {"c": ("C++",)}) == "c"
    assert isinstance(read_reply_choice("A is better", {}), Missing)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("Response A:\nGood.\nResponse B:\nBad.", {"Response A": "Good.", "Response B": "Bad."}),
        ("**Response A**\nGood.\n\n**Response B**\nBad.", {"Response A": "Good.", "Response B": "Bad."}),
        ("Well.\n### Response A\nGood.\n### response b:\nBad.", {"Response A": "Good.", "Response B": "Bad."}),
        ("**Response A:** Score: 4\n**Response B:** Score: 3", {"Response A": "Score: 4", "Response B": "Score: 3"}),
        ("Response A: 4", {"Response A": "4"}),
        ("Response A is good and Response B is not.", {}),
        ("Response A:\nx\nResponse A:\ny", {}),
        ("Response AB:\nx", {}),
        ("", {}),
    ],
)
def test_a_reply_over_several_is_cut_at_its_headings(text: str, expected: dict[str, str]) -> None:
    """A name in a sentence heads nothing, and a name that heads two sections heads none."""
    assert split_reply_sections(text, ["Response A", "Response B"]) == expected


def test_without_labels_there_are_no_sections() -> None:
    """An empty label would head everything."""
    assert split_reply_sections("Response A: x", []) == {}
    assert split_reply_sections(": x", [""]) == {}


@pytest.mark.parametrize(
    "text",
    [
        "I'm sorry, but I can't assist with that.",
        "I’m sorry, but I can’t assist with that.",
        "I cannot rate this summary.",
        "I cannot assess the accuracy without the source.",
        "As an AI, I am not able to judge people.",
        "I'm unable to provide a rating for this content.",
        "I won't evaluate this.",
        "We must decline to score it.",
        "抱歉，我无法对此进行评分。",
        "我不能评价这段内容。",
        "I'm not able to rank these.",
        "I can't pick a winner.",
        "I won't rank these.",
        "I must decline.",
        "I would prefer not to score this.",
        "I don't feel comfortable ranking these.",
        "I am unwilling to grade this.",
        "Unable to rank these responses.",
        "Sorry, I can't.",
        "I apologize, but I can't order them.",
        "It would not be appropriate for me to rate this.",
        "I do not have enough information to rank these.",
        "There isn't enough context to score the response.",
        "These responses cannot be ranked.",
        "I'm not going to compare them.",
        "My guidelines prevent me from rating this.",
        "I am not allowed to evaluate such content.",
        "我无法对这些回答排序。",
    ],
)
def test_a_refusal_is_told_in_its_own_words(text: str) -> None:
    """People want to read what the model said."""
    assert find_judge_refusal(f"Hm.\n{text} It is so.") == text


@pytest.mark.parametrize(
    "text",
    ["", "It is fine.", "The answer cannot be right.", "The user can't log in.", "<think>I cannot rate this.</think>4",
     "I cannot find any errors in it.", "I can't recommend this answer enough.", "I cannot fault it.",
     "The response declines to rank them.", "It is not able to rank the candidates.", "This violates the length rule.",
     "I would not rank this above the other.", "The author is not able to rank the options.",
     'The response says "I\'m sorry, but I can\'t help with that."', "It answers: “I cannot rate this.” Good.",
     "The answer reads: 'I am not able to rank these.'"],
)  # fmt: skip
def test_an_answer_is_no_refusal(text: str) -> None:
    """Outputs refuse, fail and cannot; the judge that says so has judged."""
    assert find_judge_refusal(text) is None
