"""Odds: answers out of how likely yes and no are, measured against questions whose answers are known."""

import asyncio
import math
from collections.abc import Callable, Mapping
from fractions import Fraction
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import JudgedSample, JudgeOptions, Missing, Rubric, Sample, Scored, load_rubric
from evenhand.judging.dialogues.token_odds import (
    NOISE,
    YesNoReplyRule,
    ask_judge_by_odds,
    find_yes_no_reply_rule,
    load_known_judge_questions,
    pool_judge_odds,
    read_yes_leaning_of_reply,
)
from evenhand.judging.judge import ask_judges_for_reviews
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.models.requests import NoReply, Reply, Request, TokenLogprobs
from tests.judging.scripted import MANNER, Answer, Scripted, converse, fitting

SAMPLE = Sample(input="When does it open?", outputs={"a": "The museum opens at ten."})
TWO = Sample(input="When?", outputs={"a": "At ten.", "b": "At nine."})
RUBRIC = load_rubric({"criteria": [{"id": "hour", "expected_outcome": "Names the hour of opening"}]})
LEVELS = load_rubric(
    {
        "method": "tree",
        "criteria": [
            {
                "id": "depth",
                "asks": "How deep does it go?",
                "scale": {"min": 1, "max": 10},
                "anchors": {"1-2": "Nothing.", "5-6": "Some of it.", "9-10": "All of it."},
            }
        ],
    }
)


def _reply(leaning: float, mass: float = 1.0, words: tuple[str, str] = ("Yes", "No")) -> Reply:
    """A reply of one token in which yes and no have these log-odds, and that mass together."""
    yes = mass / (1 + math.exp(-leaning))
    likely = ((words[0], math.log(yes)), (words[1], math.log(mass - yes)), ("The", math.log(max(1 - mass, 1e-9))))
    return Reply(text="Yes", stop="length", places=(TokenLogprobs(max(likely, key=lambda one: one[1])[0], likely),))


def _model(
    answers: Mapping[str, Any], known: tuple[float, float] = (2.0, -2.0), prompts: Any = MANNER.prompts
) -> Callable[[Request], Answer]:
    """A model with these leanings by question, in the order asked, and these on what is known to be yes and no."""
    left = {id: list(leanings) for id, leanings in answers.items()}
    by_text = {one.asks: one.answer for one in load_known_judge_questions(prompts)}

    def answer(request: Request) -> Answer:
        if request.ids:
            said = left[request.ids[0]].pop(0)
            return _reply(said) if isinstance(said, float) else said
        return _reply(known[0] if next(by_text[asks] for asks in by_text if asks in _asked(request)) else known[1])

    return answer


def _asked(request: Request) -> str:
    return request.messages[-1].text.rpartition("</output-")[2]


def _hour(*leanings: Any, known: tuple[float, float] = (2.0, -2.0)) -> Any:
    told, _ = converse(ask_judge_by_odds(RUBRIC, SAMPLE, "a", MANNER), _model({"hour": leanings}, known))
    return told.judgments[0]


def test_yes_is_what_is_likelier_than_no() -> None:
    """Log-odds of 1.95 are 7 to 1; the reason says so and the spread tells the rest of the chance."""
    judgment = _hour(1.95)

    assert isinstance(judgment.score, Scored) and judgment.score.value == 1
    assert judgment.reason.startswith("yes: yes is 7 times as likely as no (log-odds +1.95; this model means yes")
    assert judgment.score.why == judgment.reason
    assert judgment.spread.how == "logprobs" and judgment.spread.n == 1
    assert judgment.spread.sd == pytest.approx(math.sqrt(7 / 64), abs=0.01)


def test_a_model_that_likes_to_say_yes_must_say_it_louder() -> None:
    """Known yeses get +5 and known noes +1: half way is +3, and +2 is a no."""
    judgment = _hour(2.0, known=(5.0, 1.0))

    assert isinstance(judgment.score, Scored) and judgment.score.value == 0
    assert judgment.reason == "no: yes is 7.4 times as likely as no (log-odds +2.00; this model means yes above +3.00)"


@given(st.floats(-8, 8), st.floats(-3, 3))
def test_a_leaning_that_all_answers_share_changes_nothing(leaning: float, shift: float) -> None:
    """A model that is readier with yes by the same measure everywhere gives the same answers."""
    plain, shifted = _hour(leaning), _hour(leaning + shift, known=(2.0 + shift, -2.0 + shift))

    near = min(abs(abs(leaning) - 0.2), abs(leaning)) < 1e-6
    assert near or type(plain.score) is type(shifted.score)
    assert near or getattr(plain.score, "value", None) == getattr(shifted.score, "value", None)


def test_near_the_threshold_nothing_is_said() -> None:
    """A coin toss is not an answer."""
    score = _hour(0.05).score

    assert isinstance(score, Missing)
    assert score.text.startswith("abstained: cannot assess: yes is 1.1 times as likely as no")
    assert score.text.endswith("too near to call")


def test_a_model_that_cannot_tell_known_answers_apart_is_not_believed() -> None:
    """However sure it is."""
    score = _hour(6.0, known=(2.9, 3.0)).score

    assert score == Missing("abstained", "cannot assess: this model cannot tell known yeses from known noes")


def test_a_model_that_says_something_else_is_unreadable() -> None:
    """One part in ten for yes and no together is not an answer."""
    score = _hour(_reply(3.0, mass=0.1)).score

    assert score == Missing("unreadable", "'The' where yes or no was asked for (10% of the chances)")


@pytest.mark.parametrize(
    ("reply", "why"),
    [
        (Reply(text="Yes"), "unreadable: the reply does not say how likely its words were"),
        (Reply(text="", places=(TokenLogprobs(" ", ((" ", 0.0),)),)), "unreadable: the reply does not say how likely"),
        (NoReply(why="too slow"), "judge failed: too slow"),
    ],
)
def test_a_reply_without_chances_has_no_leaning(reply: Reply | NoReply, why: str) -> None:
    """Nothing is guessed from the word alone."""
    score = _hour(reply).score

    assert isinstance(score, Missing) and score.text.startswith(why)


def test_all_spellings_of_yes_and_no_count() -> None:
    """Tokens differ in spaces, letters, marks and language."""
    likely = ((" Yes", 0.3), ("yes", 0.2), ("YES.", 0.1), ("是", 0.1), ("**No", 0.1), ("不是", 0.1), ("Maybe", 0.1))
    place = TokenLogprobs(" Yes", tuple((token, math.log(chance)) for token, chance in likely))

    assert read_yes_leaning_of_reply(Reply(text=" Yes", places=(place,))) == pytest.approx(math.log(0.7 / 0.2))


def test_a_word_that_is_not_shown_is_at_most_as_likely_as_the_last_one_shown() -> None:
    """Else a short list of tokens would make a model infinitely sure."""
    place = TokenLogprobs("Yes", (("Yes", math.log(0.9)), ("Maybe", math.log(0.01))))

    assert read_yes_leaning_of_reply(Reply(text="Yes", places=(place,))) == pytest.approx(math.log(90))


def test_a_scale_is_asked_by_its_anchors_from_low_to_high() -> None:
    """Some of it, surely; all of it, surely not: 5.5, the middle of the anchor between."""
    told, asked = converse(ask_judge_by_odds(LEVELS, SAMPLE, "a", MANNER), _model({"depth": [9.0, -9.0]}))

    (judgment,) = told.judgments
    own = [_asked(request) for request in asked if request.ids]
    assert ["Some of it." in own[0], "All of it." in own[1], len(own)] == [True, True, 2]
    assert isinstance(judgment.score, Scored)
    assert float(judgment.score.value) == pytest.approx(5.5, abs=0.01)
    assert judgment.reason == (
        "at least 5: yes is 8,103 times as likely as no; at least 9: no is 8,103 times as likely as yes "
        "(this model means yes above +0.00)"
    )
    assert judgment.spread is not None and judgment.spread.sd < 0.1


def test_levels_that_contradict_each_other_are_made_to_fall() -> None:
    """Whoever reaches the top has reached the middle: a no below a yes is evened out to half a chance of both."""
    told, _ = converse(ask_judge_by_odds(LEVELS, SAMPLE, "a", MANNER), _model({"depth": [-9.0, 9.0]}))

    (judgment,) = told.judgments
    assert isinstance(judgment.score, Scored)
    assert float(judgment.score.value) == pytest.approx((1.5 + 9.5) / 2, abs=0.01)
    assert judgment.spread is not None and judgment.spread.sd == pytest.approx(4.0, abs=0.01)


@given(st.lists(st.floats(0, 1), max_size=8))
def test_falling_chances_never_rise_and_keep_their_sum(chances: list[float]) -> None:
    """The nearest such list; one that falls already stays as it is."""
    fallen = pool_judge_odds(chances)

    assert all(here >= above - 1e-12 for here, above in pairwise(fallen))
    assert sum(fallen) == pytest.approx(sum(chances))
    assert pool_judge_odds(sorted(chances, reverse=True)) == pytest.approx(sorted(chances, reverse=True))


@given(st.lists(st.floats(-6, 6), min_size=2, max_size=2), st.integers(0, 1), st.floats(0.5, 6))
def test_a_surer_yes_to_any_level_never_lowers_the_score(leanings: list[float], which: int, more: float) -> None:
    """Scores rise with what speaks for them."""
    raised = [one + more * (place == which) for place, one in enumerate(leanings)]

    scores = [
        converse(ask_judge_by_odds(LEVELS, SAMPLE, "a", MANNER), _model({"depth": each}))[0].judgments[0].score
        for each in (leanings, raised)
    ]

    values = [float(score.value) for score in scores if isinstance(score, Scored)]
    assert len(values) < 2 or values[1] >= values[0] - 1e-6


def test_a_scale_without_anchors_cannot_be_asked() -> None:
    """A number out of the air would be a guess."""
    rubric = load_rubric({"method": "tree", "criteria": [{"id": "x", "asks": "Good?", "scale": {"min": 1, "max": 5}}]})

    told, asked = converse(ask_judge_by_odds(rubric, SAMPLE, "a", MANNER), _model({}))

    score = told.judgments[0].score
    assert isinstance(score, Missing) and score.text.startswith("abstained: cannot assess: a scale without anchors")
    assert asked == []


def test_bands_are_found_by_their_anchors() -> None:
    """A whole number inside the band, as the method wants it; without anchors nothing."""
    anchors = {"0-29": "Useless.", "50-68": "Fair.", "90-100": "Superb."}
    rubric = load_rubric(
        {
            "method": "oracle",
            "criteria": [
                {"id": "depth", "asks": "Deep?", "weight": 0.5, "anchors": anchors},
                {"id": "care", "asks": "Careful?", "weight": 0.5, "fixed": True},
            ],
        }
    )

    told, _ = converse(ask_judge_by_odds(rubric, SAMPLE, "a", MANNER), _model({"depth": [9.0, -9.0]}))

    depth, care = (judgment.score for judgment in told.judgments)
    assert isinstance(depth, Scored) and (depth.value, depth.band) == (Fraction(59), "C")
    assert isinstance(care, Missing)


def test_red_flags_and_bonuses_are_yes_or_no() -> None:
    """What is true of the output is found; what cannot be told is left open."""
    rubric = load_rubric(
        {
            "criteria": [{"id": "hour", "expected_outcome": "Names the hour"}],
            "red_flags": [{"id": "rude", "asks": "It is rude."}, {"id": "wordy", "asks": "It is wordy."}],
            "bonuses": [{"id": "kind", "asks": "It is kind."}],
        }
    )

    told, _ = converse(
        ask_judge_by_odds(rubric, SAMPLE, "a", MANNER),
        _model({"hour": [3.0], "rude": [3.0], "wordy": [0.0], "kind": [-3.0]}),
    )

    assert list(told.answers.red_flags) == ["rude"]
    assert told.answers.bonuses == {}
    assert list(told.answers.unanswered) == ["wordy"]
    assert told.answers.scores["hour"] == told.judgments[0].score


def test_all_questions_about_an_output_begin_alike() -> None:
    """The material is read once: marker and all, up to the question."""
    rubric = load_rubric({"criteria": [{"id": id, "expected_outcome": f"Says {id}"} for id in ("one", "two")]})

    _, asked = converse(ask_judge_by_odds(rubric, SAMPLE, "a", MANNER), _model({"one": [3.0], "two": [3.0]}))

    first, second = (request.messages for request in asked if request.ids)
    beginnings = [messages[-1].text.rpartition(_end(messages[-1].text))[0] for messages in (first, second)]
    assert first[0] == second[0]
    assert beginnings[0] == beginnings[1] and SAMPLE.outputs["a"] in beginnings[0]
    assert [request.settings.max_tokens for request in asked] == [1] * len(asked)


def _end(text: str) -> str:
    return "</output-" + text.rpartition("</output-")[2].partition(">")[0] + ">"


@pytest.mark.parametrize("language", ["en", "zh"])
def test_known_questions_are_balanced_in_every_language(language: str) -> None:
    """Half yes, half no, or the threshold would lean; the same ones first in every dialogue, whatever is judged."""
    prompts = load_prompts(language)
    known = load_known_judge_questions(prompts)

    told, asked = converse(
        ask_judge_by_odds(RUBRIC, SAMPLE, "a", JudgeSetup(judge="j", prompts=prompts)),
        _model({"hour": [3.0]}, prompts=prompts),
    )

    assert [one.answer for one in known] == [True, False] * 8
    assert [request.ids for request in asked] == [()] * len(known) + [("hour",)]
    assert isinstance(told.judgments[0].score, Scored)


def test_a_threshold_lies_half_way_between_the_faintest_known_answers() -> None:
    """The faintest yes is 2, the faintest no 0: the threshold is 1. Means of 4 and −1: ±0.25 is too near to it."""
    found = find_yes_no_reply_rule([True, False, True, False], [6.0, 0.0, 2.0, -2.0])

    assert isinstance(found, YesNoReplyRule)
    assert (found.threshold, found.band) == pytest.approx((1.0, 0.25))


def test_a_model_is_known_by_how_it_orders_known_answers() -> None:
    """However near to each other all its answers are; three of four pairs in order are what a guesser gets."""
    right = [True, False, True, False]

    assert find_yes_no_reply_rule(right, [0.02, -0.01, 0.01, -0.02]) == YesNoReplyRule(0.0, NOISE)
    assert find_yes_no_reply_rule(right, [9.0, 5.0, 4.0, -9.0]) == "this model cannot tell known yeses from known noes"


def test_too_few_known_answers_are_no_measure() -> None:
    """Half of them unread: what is left may lean either way."""
    found = find_yes_no_reply_rule([True, False, True, False], [4.0, Missing("unreadable", "x"), 2.0, -2.0])

    assert found == "this model does not answer known questions with yes or no (unreadable: x)"


def _judged(name: str, rubric: Rubric, **how: Any) -> tuple[JudgedSample, list[Request]]:
    model = Scripted(lambda request: _reply(3.0) if request.dialogue == "odds" else fitting()(request), name)
    return asyncio.run(ask_judges_for_reviews(rubric, TWO, [model], JudgeOptions(**how))), model.asked


@pytest.mark.parametrize("rubric", [RUBRIC, load_rubric({"method": "council"})])
def test_a_model_in_a_file_is_asked_by_odds(rubric: Rubric) -> None:
    """One output at a time even where others would be shown all at once."""
    _, asked = _judged("gguf:small.gguf", rubric)
    _, others = _judged("house", rubric)

    assert {request.dialogue for request in asked} == {"odds"}
    assert "odds" not in {request.dialogue for request in others}


@pytest.mark.parametrize("how", [{"each": True}, {"samples": 2}])
def test_another_way_of_asking_is_kept_to(how: dict[str, Any]) -> None:
    """Whoever asks for prose or for several replies gets them from any model."""
    _, asked = _judged("gguf:small.gguf", RUBRIC, **how)

    assert {request.dialogue for request in asked} == {"checklist"}


def test_the_fingerprint_knows_that_odds_were_asked_for() -> None:
    """Other texts, other meaning: known questions included."""
    with_texts = {name: load_prompts("en").used(name) for name in ("odds", "checklist")}
    prints = [_judged("gguf:small.gguf", RUBRIC, each=each)[0].scores.fingerprint for each in (False, True)]

    assert "odds-known" in with_texts["odds"] and "odds-known" not in with_texts["checklist"]
    assert prints[0] != prints[1]
