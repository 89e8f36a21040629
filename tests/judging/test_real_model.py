"""Every dialogue end to end against a real model, over both wire formats: its opinions are nothing, its form is."""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from evenhand import Connections, JudgeOptions, Missing, ModelSettings, Sample, Scored, judge, load_rubric, prefer
from evenhand.files.methods import load_shipped_method_file
from evenhand.judging.dialogues.contest_dialogues import (
    AnchoredSubmission,
    ask_judge_for_dimensions,
    ask_judge_gate_check,
    ask_judge_horizontal_scores,
)
from evenhand.judging.dialogues.listwise import ask_judge_listwise, ask_judge_pairwise
from evenhand.judging.dialogues.pointwise import ask_judge_pointwise, ask_judge_sampled
from evenhand.judging.dialogues.token_odds import ask_judge_by_logprobs
from evenhand.judging.prompts import JudgeSetup, load_prompts
from evenhand.judging.questions import Dialogue
from evenhand.judging.single_judge import DialogueDriver
from evenhand.models.requests import Model, NoReply, Reply
from tests.judging.llama import MODEL
from tests.judging.messages_api import KEY
from tests.judging.servers import Servers
from tests.soak import SOAK

# Reading takes a small model longest, and the marks around a reference are longer than it: one sample has one.
SAMPLE = Sample(input="Capital of France?", outputs={"a": "Paris is.", "b": "Lyon."})
ONE = Sample(input=SAMPLE.input, reference="Paris", outputs={"a": SAMPLE.outputs["a"]})
LIST = load_rubric({"criteria": [{"id": "names-it", "expected_outcome": "Names Paris"}]})
RANGES = load_rubric({"criteria": [{"id": "depth", "score_ranges": {0: "Says nothing", 5: "Says it", 8: "Says why"}}]})
FLAGGED = load_rubric(
    {
        "method": "council",
        "criteria": [{"id": "accuracy", "asks": "Is it so?", "weight": 1, "anchors": {"6-10": "Yes.", "1-5": "No."}}],
        "red_flags": [{"id": "rude", "asks": "It is rude."}],
    }
)
TASK = load_rubric(
    {
        "method": "oracle",
        "criteria": [
            {"id": "credibility", "asks": "Is it true?", "weight": 0.5, "fixed": True},
            {"id": "depth", "asks": "Is it deep?", "weight": 0.5},
        ],
    }
)
WIRES = ("openai", "anthropic")
# Short replies keep a small machine quick; one that is cut off is part of what must be survived. Where this model has
# been seen to come to an end there is room for it; elsewhere it is cut off at any length, so at a short one.
SETTINGS = ModelSettings(max_tokens=50, seed=1)
ROOM = dict.fromkeys(("checklist", "pairwise", "score-ranges"), 120) | {"gate": 80}
ROOM |= dict.fromkeys(("each", "sampled", "likely"), 50)
CUT_OFF = 12


def _anchored() -> list[AnchoredSubmission]:
    return [AnchoredSubmission(id=id, text=text, judgments={}) for id, text in SAMPLE.outputs.items()]


DIALOGUES: dict[str, Callable[[JudgeSetup], Dialogue[Any]]] = {
    "pointwise": lambda manner: ask_judge_pointwise(FLAGGED, SAMPLE, "a", manner),
    "each": lambda manner: ask_judge_pointwise(FLAGGED, SAMPLE, "a", manner, each=True),
    "checklist": lambda manner: ask_judge_pointwise(LIST, ONE, "a", manner),
    "score-ranges": lambda manner: ask_judge_pointwise(RANGES, SAMPLE, "a", manner),
    "individual": lambda manner: ask_judge_pointwise(TASK, SAMPLE, "a", manner),
    "listwise": lambda manner: ask_judge_listwise(FLAGGED, SAMPLE, ["a", "b"], manner),
    "pairwise": lambda manner: ask_judge_pairwise(FLAGGED, SAMPLE, "a", "b", manner),
    "sampled": lambda manner: ask_judge_sampled(RANGES, SAMPLE, "a", manner, replies=2),
    "likely": lambda manner: ask_judge_by_logprobs(RANGES, SAMPLE, "a", manner, replies=2),
    "dimensions": lambda manner: ask_judge_for_dimensions(
        "Write a report on bread.", load_shipped_method_file("oracle"), manner
    ),
    "gate": lambda manner: ask_judge_gate_check(
        "Name the capital.", ["Names Paris"], ("a", SAMPLE.outputs["a"]), manner
    ),
    "horizontal": lambda manner: ask_judge_horizontal_scores(TASK, "Name the capital.", _anchored(), manner),
}


def _name(wire: str, servers: Servers) -> str:
    return f"openai-compatible:{servers.openai}/{MODEL}" if wire == "openai" else f"anthropic/{MODEL}"


def _environ(servers: Servers) -> dict[str, str]:
    return {"ANTHROPIC_API_KEY": KEY, "ANTHROPIC_BASE_URL": servers.anthropic}


# A dialogue does not know the wire: all of them go over one, and over the other one reply and one with two outputs.
OVER_BOTH = ("checklist", "listwise")
ASKED = [(name, wire) for name in DIALOGUES for wire in WIRES if SOAK or wire == "openai" or name in OVER_BOTH]


@pytest.mark.parametrize(("name", "wire"), ASKED)
def test_a_dialogue_runs_to_its_end_against_a_real_model(name: str, wire: str, servers: Servers, language: str) -> None:
    """Whatever the model writes: a result, every call answered, every token counted."""

    async def run() -> tuple[Any, DialogueDriver]:
        async with Connections(_environ(servers)) as connections:
            driver = DialogueDriver(connections.open(_name(wire, servers)))
            manner = JudgeSetup(
                judge="real",
                prompts=load_prompts(language),
                settings=replace(SETTINGS, max_tokens=ROOM.get(name, CUT_OFF)),
            )
            return await driver.run(DIALOGUES[name](manner)), driver

    result, driver = asyncio.run(run())

    assert result is not None
    replies = [call.reply for call in driver.calls]
    assert all(isinstance(reply, Reply) for reply in replies), [r.why for r in replies if isinstance(r, NoReply)]
    assert all(reply.usage.input and reply.usage.output for reply in replies if isinstance(reply, Reply))
    judgments = getattr(result, "judgments", ())
    assert all(isinstance(one.score, (Scored, Missing)) for one in judgments)


def test_a_panel_of_both_wire_formats_is_recorded_and_repeated_offline(
    servers: Servers, language: str, tmp_path: Any
) -> None:
    """The same scores, the same reasons, byte for byte, with no server and no key."""
    names = [_name(wire, servers) for wire in WIRES]
    how = JudgeOptions(settings=SETTINGS, language=language)

    async def ask(**where: Any) -> tuple[Any, int]:
        environ = _environ(servers) if "record" in where else {}
        async with Connections(environ, **where) as connections:
            judged = await judge(LIST, ONE, judges=names, how=how, connections=connections)
            return judged, connections.spent.requests

    live, paid = asyncio.run(ask(record=tmp_path / "replies.jsonl"))
    again, unpaid = asyncio.run(ask(replay=tmp_path / "replies.jsonl"))

    assert paid >= 2 and unpaid == 0
    assert again.scores.fingerprint == live.scores.fingerprint
    assert again.judgments == live.judgments
    assert [call.reply.text for call in again.calls] == [call.reply.text for call in live.calls]


def test_a_preference_is_asked_in_both_orders_of_a_real_model(servers: Servers, language: str) -> None:
    """From Python, with names, as a user would."""

    async def ask() -> Any:
        async with Connections(_environ(servers)) as connections:
            model: Model = connections.open(_name("openai", servers))
            how = JudgeOptions(settings=SETTINGS, language=language)
            return await prefer(FLAGGED, SAMPLE, judges=model, how=how, connections=connections)

    preferred = asyncio.run(ask())

    (preference,) = preferred.preferences
    assert preference.winner in ("a", "b", None)
    assert preferred.standings[0].won + preferred.standings[1].won <= 1
