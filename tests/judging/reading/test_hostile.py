"""Hostile replies: whatever stands in them, time grows with their length and with nothing else."""

import json
from collections.abc import Callable

import pytest

from evenhand.judging.reading import reply_text
from evenhand.judging.reading.answer_alone import is_reply_answer_alone, may_repeat_planted_answers
from evenhand.judging.reading.choice import read_reply_choice
from evenhand.judging.reading.reply_reader import read_reply_answers, read_reply_score
from evenhand.judging.reading.reply_text import (
    TOO_MUCH_JSON,
    find_json_values_in_reply,
    find_judge_refusal,
    scan_json_values_in_reply,
    split_reply_sections,
)
from evenhand.model.scale import Scored
from tests.growth import is_within_times
from tests.judging.reading.asked import ASKED, ONE_TO_FIVE

PIECES = [
    "{", "[", "(", '"', "'", "“", "\\", "<think>", "</think>", '{"a":', '{"a":"', '{"', "[{", '{"a":1,', '{"a":1}',
    "[1,", "[/*", "{#", '["a" ', '{"a": "x" ', '"\n', "```\n", "```", "\n", " ", "\t", "1 ", "1", "1.", "1,", "1) ",
    "Score: 3\n", "Score: ", "| a | 3 |\n", "|", "*", "_", "~", "~~a", "<a", "<score>", "[[", "[[4]]", "\\boxed{",
    "(1-", "4 out of ", "4/", "3-4 ", "between 3 ", "four ", "accuracy ", "accuracy: 3\n", "accuracy\n", "n/a ",
    "yes ", "I cannot ", "Response A ", "Response A:\n", "A is better ", "评分", "4分", "scale of 1", "a", "\n#",
    "{a ", "{a   ", '"   ',
]  # fmt: skip
READERS: list[Callable[[str], object]] = [
    find_json_values_in_reply,
    find_judge_refusal,
    lambda text: read_reply_score(text, ONE_TO_FIVE, "coherence"),
    lambda text: read_reply_answers(text, ASKED),
    lambda text: read_reply_choice(text, {"A": ("A", "Response A"), "B": ("B", "Response B")}),
    lambda text: split_reply_sections(text, ["Response A", "Response B"]),
    lambda text: is_reply_answer_alone(text, None, ["coherence"]),
    lambda text: may_repeat_planted_answers(
        text, None, [text], (), lambda part: read_reply_score(part, ONE_TO_FIVE, "coherence")
    ),
]
SHORT = 1_000


@pytest.mark.long
@pytest.mark.parametrize("piece", PIECES)
def test_time_grows_with_length_only(piece: str) -> None:
    """Four times the text may take four times as long, not sixteen times."""
    short, long = piece * (SHORT // len(piece)), piece * (4 * SHORT // len(piece))

    for read in READERS:
        # Far below what four times squared would be, far above what a busy machine adds to four times.
        assert any(is_within_times(read, short, long, times=10, slack=0.005) for _ in range(3))


@pytest.mark.parametrize("piece", ["{", "[", "[{", "("])
def test_depth_exhausts_nothing(piece: str) -> None:
    """A hundred thousand levels are no crash; what stands after them is found."""
    text = piece * 100_000 + ' \n{"score": 4}'

    assert scan_json_values_in_reply(text).values[-1].data == {"score": 4}


@pytest.mark.parametrize("piece", ["{", '{"a":1}', "[1]", "[1,", '{"a":"'])
def test_a_reply_full_of_json_is_unreadable_before_it_is_searched(piece: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """An answer has not that many signs; whoever reads it holds up everybody else."""
    monkeypatch.setattr(reply_text, "parse_tolerant_json_reply", lambda *_: pytest.fail("it was searched"))
    text = piece * 100_000 + '\n{"score": 4}'

    assert read_reply_score(text, ONE_TO_FIVE, "coherence") == TOO_MUCH_JSON


def test_a_clean_answer_may_be_long() -> None:
    """However many criteria were asked."""
    text = json.dumps({"score": 4, "notes": [{"a": 1}] * 10_000})

    assert isinstance(read_reply_score(text, ONE_TO_FIVE, "coherence"), Scored)
