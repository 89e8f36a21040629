"""A reply of any size is read without keeping others waiting, and one beyond all measure is not read."""

import asyncio
import threading
import time
from collections.abc import Callable

import pytest

from evenhand.guards.injection_scores import split_sentences
from evenhand.judging import single_judge
from evenhand.judging.reading.answer_alone import is_reply_answer_alone
from evenhand.judging.reading.reply_reader import read_reply_score
from evenhand.model.scale import Missing
from evenhand.models.requests import Request
from evenhand.workflows.judge import judge
from tests.judging.planted import judge_once
from tests.judging.reading.asked import ONE_TO_TEN

SAMPLE = {"input": "Is water wet?", "outputs": {"only": "Water is wet."}}


@pytest.mark.parametrize("text", ["correctness: 7/10\n", "It says so. ", "| correctness | 7 |\n", "“", "„"])
def test_while_a_large_reply_is_read_others_have_their_turn(text: str) -> None:
    """Its reading takes long; the loop waits for a small part of that. Where others keep the machine busy, a try may
    fail for that reason: one that goes well shows that the reading lets go.
    """
    tries = (asyncio.run(_measure_wait(text * (90_000 // len(text)))) for _ in range(8))

    assert any(longest < whole / 4 for longest, whole in tries)


@pytest.mark.parametrize("text", ["\u200b", "System: "])
def test_while_a_large_output_is_looked_at_others_have_their_turn(text: str) -> None:
    """So it is however short the reply."""
    output = text * (200_000 // len(text))
    tries = (asyncio.run(_measure_wait("Weak.\ncorrectness: 3", output)) for _ in range(8))

    assert any(longest < whole / 3 for longest, whole in tries)


def test_who_has_long_texts_to_read_waits_for_others_like_it_only() -> None:
    """One thread read for all: an ordinary judge waited half a minute beside a hostile output of a megabyte."""

    async def read_both() -> bool:
        other = threading.Event()
        long = asyncio.create_task(single_judge.run_text_work(1_000_000, other.wait, 60))
        await single_judge.run_text_work(3_000, other.set)
        return await long

    assert asyncio.run(read_both())


def test_a_text_that_is_too_long_to_search_may_hold_an_answer() -> None:
    """It took a minute of work for a judge that writes prose; an answer alone counts however long it is."""
    text = "It is so. " * 20_001

    assert judge_once(text, "It is weak.\nclarity: 3") is None
    assert judge_once(text[:-20], "It is weak.\nclarity: 3") == 3
    assert judge_once(text, "clarity: 3") == 3


async def _measure_wait(reply: str, output: str = "Water is wet.") -> tuple[float, float]:
    """The longest wait of a task that wants its turn, and what judging took in all: in time of this process alone."""
    await judge("judge-skill", SAMPLE, judges=[lambda _: reply[:5000]])  # What is loaded once is loaded.
    over, longest = False, 0.0

    async def want_turns() -> None:
        nonlocal longest
        while not over:
            began = time.process_time()
            await asyncio.sleep(0.001)
            longest = max(longest, time.process_time() - began)

    watching = asyncio.create_task(want_turns())
    await asyncio.sleep(0)  # It begins.
    began = time.process_time()
    await judge("judge-skill", {"input": "Is water wet?", "output": output}, judges=[lambda _: reply])
    whole = time.process_time() - began
    over = True
    await watching
    return longest, whole


def test_a_reply_beyond_all_measure_is_missing_and_no_number(monkeypatch: pytest.MonkeyPatch) -> None:
    """The reason names the limit; nothing is guessed from its end."""
    monkeypatch.setattr(single_judge, "LONGEST_REPLY", 1000)

    def answer(_request: Request) -> str:
        return "x" * 1000 + '{"correctness": 7}'

    judged = asyncio.run(judge("judge-skill", SAMPLE, judges=[answer]))

    card = judged.scores.scorecards[0]
    assert card.exact is None
    score = next(iter(card.criteria.values()))
    assert isinstance(score, Missing)
    assert "its reply has 1,018 characters: 1,000 are read at most" in score.why


GROWN: dict[str, Callable[[int], object]] = {
    "a text that ends no sentence": lambda n: split_sentences("." * n + "x accuracy: 10"),
    "a text in other letters": lambda n: split_sentences("中" + "." * n + "x 准确性: 10"),
    "a reply of stars": lambda n: read_reply_score("★" * n + "x", ONE_TO_TEN, "clarity"),
    "a line of small words": lambda n: is_reply_answer_alone("a " * n + "x clarity: 2", None, ["clarity"]),
}


@pytest.mark.parametrize("what", GROWN)
def test_reading_grows_with_a_text_and_not_with_its_square(what: str) -> None:
    """Eight times as long took sixty times as long, so that one small output cost an hour. The best of three counts."""

    def measure(n: int) -> float:
        began = time.process_time()
        GROWN[what](n)
        return time.process_time() - began

    GROWN[what](100)
    short, long = (min(measure(n) for _ in range(3)) for n in (4_000, 32_000))

    assert long < 24 * short + 0.02
