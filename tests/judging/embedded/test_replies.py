"""Replies: whatever the dialogue, the embedded judge answers in the form that the project's own reader takes."""

import asyncio
from collections.abc import Iterable
from typing import Any

import pytest

from evenhand import JudgedSample, JudgeOptions, Missing, Rubric, Sample, Scored, load_rubric
from evenhand.errors import JudgeError, RefusedError
from evenhand.files.methods import list_method_yaml_names
from evenhand.judging.dialogues.contest_dialogues import ask_judge_gate_check
from evenhand.judging.embedded.replies import EmbeddedReplier
from evenhand.judging.judge import ask_judges_for_preferences, ask_judges_for_reviews
from evenhand.judging.open_judge import EmbeddedModel
from evenhand.judging.single_judge import DialogueDriver
from evenhand.models.requests import Message, Request
from tests.judging.scripted import MANNER

OUTPUT = "The shop opens at nine. Bread costs 3 euros. We do not sell milk.\n\nCome and see."
OTHER = "The shop opens at ten. Bread is sold out."
SAMPLE = Sample(
    input="When does the shop open, and what is bread?",
    outputs={"a": OUTPUT},
    reference="The shop opens at nine. Bread costs 3 euros. Milk is not sold. Visitors are welcome there.",
)
TWO = Sample(input=SAMPLE.input, outputs={"a": OUTPUT, "b": OTHER}, reference=SAMPLE.reference)
ASKS = {
    "bread": "Does it say that bread costs 3 euros?",
    "milk": "Does it say that milk is sold?",
    "tone": "Is the tone friendly?",
}
YES_NO = [{"id": id, "asks": asks, "scale": "yes/no"} for id, asks in ASKS.items()]
BANDS = {0: "Bread is not named.", 5: "Bread is named.", 9: "Bread is named with its price of 3 euros."}
RUBRICS: dict[str, dict[str, Any]] = {
    "checklist": {"criteria": [{"id": id, "expected_outcome": asks} for id, asks in ASKS.items()]},
    "council": {},
    "council-v1": {},
    "judge-skill": {},
    "layered": {},
    "oracle": {
        "criteria": [
            {"id": "credibility", "asks": "Are the facts correct?", "weight": 0.5, "fixed": True},
            {"id": "completeness", "asks": "Is it complete?", "weight": 0.5},
        ]
    },
    "points": {"criteria": [{"id": id, "asks": asks, "points": 2} for id, asks in ASKS.items()]},
    "score-ranges": {"criteria": [{"id": "bread", "asks": ASKS["bread"], "score_ranges": BANDS}, *YES_NO[1:]]},
    "tree": {"criteria": [{"id": "all", "children": YES_NO}]},
}


def rubric_of(method: str) -> Rubric:
    return load_rubric({"method": method, **RUBRICS[method]}) if RUBRICS[method] else load_rubric(method)


def judged(rubric: Rubric, sample: Sample = SAMPLE, how: JudgeOptions | None = None) -> JudgedSample:
    return asyncio.run(ask_judges_for_reviews(rubric, sample, [EmbeddedModel()], how or JudgeOptions()))


def faults(result: JudgedSample) -> list[str]:
    """What the reader found wrong, beside what the judge itself leaves open."""
    scores = [judgment.score for judgment in result.judgments]
    return [score.text for score in scores if isinstance(score, Missing) and score.kind != "abstained"]


def answers(result: JudgedSample) -> dict[str, object]:
    return {
        one.criterion: one.score.value if isinstance(one.score, Scored) else None
        for one in result.judgments
        if one.output == "a"
    }


def test_every_method_has_its_rubric_here() -> None:
    """A new method needs a reply that can be read."""
    assert set(RUBRICS) == set(list_method_yaml_names())


@pytest.mark.parametrize("each", [False, True])
@pytest.mark.parametrize("method", RUBRICS)
def test_the_reply_is_read_whatever_the_method(method: str, each: bool) -> None:
    """At the first try, and every quotation is found in the output."""
    result = judged(rubric_of(method), how=JudgeOptions(each=each))

    assert result.judgments
    assert faults(result) == []
    assert all(call.reply.attempts == 1 for call in result.calls)
    assert all("again" not in call.request.dialogue for call in result.calls)
    assert all(OUTPUT[piece.start : piece.end] for one in result.judgments for piece in one.evidence)


@pytest.mark.parametrize("method", ["checklist", "points", "score-ranges", "tree"])
def test_what_the_words_show_is_scored(method: str) -> None:
    """Milk is denied, tone is left open; both come through as such."""
    result = judged(rubric_of(method))

    found = answers(result)
    assert found["milk"] == 0
    assert found["tone"] is None
    assert method == "score-ranges" or found["bread"] == 1


def test_evidence_is_the_sentence_that_decided() -> None:
    """With its reason."""
    result = judged(rubric_of("checklist"))

    (bread,) = [one for one in result.judgments if one.criterion == "bread"]
    assert [piece.text for piece in bread.evidence] == ["Bread costs 3 euros."]
    assert bread.reason.startswith("the passage says it")


@pytest.mark.parametrize("method", ["council", "council-v1"])
def test_several_outputs_are_answered_each_for_itself(method: str) -> None:
    """A listwise dialogue shows both at once under letters; what one leaves out does not count against the other."""
    facts = [
        "The hall closes on 3 May.",
        "The seats cost 12 euros.",
        "The stage has 14 lamps.",
        "The garage holds 200 cars.",
    ]
    whole, part = " ".join(facts), " ".join(facts[:2])
    sample = Sample(input="What is known?", outputs={"a": whole, "b": part}, reference=whole)

    result = judged(rubric_of(method), sample)

    complete = {one.output: one.score for one in result.judgments if one.criterion == "completeness"}
    assert faults(result) == []
    assert isinstance(complete["a"], Scored) and isinstance(complete["b"], Scored)
    assert complete["a"].value > complete["b"].value


def test_a_contest_gets_its_suggestions() -> None:
    """Two of them, what is lacking first, and feedback on every criterion."""
    result = judged(rubric_of("oracle"))

    assert faults(result) == []
    assert len(result.suggestions["a"]) == 2
    assert all(one.feedback for one in result.judgments)


def test_the_gate_is_answered_with_hints() -> None:
    """Met, not met, and open: one that is not met fails it."""
    dialogue = ask_judge_gate_check("Say what bread costs.", list(ASKS.values()), ("a", OUTPUT), MANNER)

    result = asyncio.run(DialogueDriver(EmbeddedModel()).run(dialogue))

    scores = [check.judgment.score for check in result.checks]
    assert [score.value if isinstance(score, Scored) else None for score in scores] == [1, 0, None]
    assert result.checks[1].revision_hint
    assert result.passed is False


@pytest.mark.parametrize("how", [JudgeOptions(samples=3), JudgeOptions(logprobs=True)])
def test_what_only_a_model_can_do_is_refused(how: JudgeOptions) -> None:
    """The same answer three times says nothing of its spread."""
    with pytest.raises(JudgeError, match="embedded gives the same answer each time"):
        judged(rubric_of("checklist"), how=how)


def test_pairs_are_refused() -> None:
    """It reads one output at a time."""
    with pytest.raises(JudgeError, match="embedded cannot compare outputs"):
        asyncio.run(ask_judges_for_preferences(rubric_of("checklist"), TWO, [EmbeddedModel()]))


@pytest.mark.parametrize("dialogue", ["dimensions", "sampled", "likely"])
def test_a_request_for_anything_else_is_refused(dialogue: str) -> None:
    """By name, and before anything is read."""
    request = Request(dialogue=dialogue, messages=(Message("user", "?"),))

    with pytest.raises(RefusedError, match=f"it cannot do {dialogue}"):
        EmbeddedReplier().reply(request)


def test_texts_are_made_ready_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """One request for each criterion, and one text of the output for all of them."""
    made: list[str] = []
    ready = EmbeddedReplier.__init__.__globals__["JudgedText"]

    def counting(text: str) -> Any:
        made.append(text)
        return ready(text)

    monkeypatch.setitem(EmbeddedReplier.__init__.__globals__, "JudgedText", counting)

    judged(rubric_of("checklist"), how=JudgeOptions(each=True))

    assert sorted(made) == sorted([OUTPUT, SAMPLE.reference])


def test_no_more_texts_are_kept_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    """A run over a thousand outputs does not hold them all."""
    monkeypatch.setitem(EmbeddedReplier.__init__.__globals__, "MOST_TEXTS", 2)
    replier = EmbeddedReplier()

    _ask(replier, ["One.", "Two.", "Three."])

    assert len(replier._texts) == 2


def _ask(replier: EmbeddedReplier, texts: Iterable[str]) -> None:
    for text in texts:
        replier._prepare_text(text)


@pytest.mark.parametrize("asks", ["Does it avoid mentioning cheese?", "Contains no placeholders", "Has no code"])
def test_what_is_absent_has_no_quotation(asks: str) -> None:
    """A yes that rests on absence shows no sentence that has nothing to do with it."""
    result = judged(load_rubric({"method": "checklist", "criteria": [{"id": "absent", "expected_outcome": asks}]}))

    assert answers(result) == {"absent": 1}
    assert [one.evidence for one in result.judgments] == [()]
