"""What users' own tests are made of: fakes behind the real doors, and objects that are valid by default."""

import asyncio
import json
import urllib.error
import urllib.request
from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand import InputError, JudgedSample, Rubric, judge, score
from evenhand.model.sample import ToolCall
from evenhand.model.scale import Missing
from evenhand.testing import FakeServer, answers, made, rubric, sample, scripted_judge

SKILL = rubric(method="judge-skill")
COUNCIL = rubric(method="council")
ORACLE = rubric({"id": "depth", "asks": "Is it deep?", "fixed": True}, method="oracle")


@given(st.fixed_dictionaries({id: st.integers(2, 20).map(lambda half: half / 2) for id in SKILL.leaves}))
def test_a_scripted_judge_says_the_scores_it_was_given(scores: dict[str, float]) -> None:
    """Through the same prompts, readers and arithmetic as any judge; the score is that of the answers."""
    said = _judged(SKILL, scripted_judge(scores)).scores["output"]

    assert said.exact == score(SKILL, [answers(**scores)])["output"].exact
    assert {id: float(one.value) for id, one in said.criteria.items() if not isinstance(one, Missing)} == scores


@pytest.mark.parametrize(
    ("chosen", "scores", "expected"),
    [
        (rubric("polite", "short"), {"polite": True, "short": 1}, 1),
        (COUNCIL, dict.fromkeys(COUNCIL.leaves, 8), 8),
        (ORACLE, {"depth": 80}, 80),
    ],
    ids=["checklist", "council", "oracle"],
)
def test_scores_are_written_in_the_form_each_dialogue_asks_for(
    chosen: Rubric, scores: dict[str, int], expected: int
) -> None:
    """Without a repair: one question, one reply."""
    scripted = scripted_judge(scores)

    card = _judged(chosen, scripted).scores["output"]

    assert card.exact == expected
    assert len(scripted.asked) == 1


def test_what_is_not_scripted_is_left_open() -> None:
    """Missing is not zero, in fakes as well."""
    card = _judged(rubric("polite", "short"), scripted_judge({"polite": True})).scores["output"]

    assert card.exact is None
    assert [(one.criterion, one.why) for one in card.missing] == [("short", "abstained: nothing was scripted")]


def test_texts_come_one_after_the_other_and_then_no_more() -> None:
    """A raw reply is read as it is: an unreadable one is repaired once, and a third question is one too many."""
    scripted = scripted_judge("I would say yes.", "Really yes.")
    first = _judged(rubric("polite"), scripted)

    second = _judged(rubric("polite"), scripted)

    assert [call.reply.text for call in first.calls if hasattr(call.reply, "text")] == [
        "I would say yes.",
        "Really yes.",
    ]
    assert second.scores["output"].missing[0].why.endswith("scripted: asked 3 times, and 2 replies were scripted")


def test_scores_that_come_last_answer_all_that_follows() -> None:
    """A first reply that is unreadable, then sense: how a repair is tested."""
    scripted = scripted_judge("hm", {"polite": True}, name="second thoughts")

    cards = [_judged(rubric("polite"), scripted).scores["output"].exact for _ in range(2)]

    assert cards == [1, 1]
    assert len(scripted.asked) == 3


def test_a_judge_without_replies_is_refused() -> None:
    """At birth, not at the first question."""
    with pytest.raises(InputError, match="a scripted judge needs a reply"):
        scripted_judge()


def test_builders_give_valid_objects_and_take_what_a_test_is_about() -> None:
    """A test names only what it is about."""
    built = made(trace=["search", ToolCall("book", {"seat": 7})], cost=0.1)

    assert built.trace == (ToolCall("search"), ToolCall("book", {"seat": 7}))
    assert (built.text, built.cost, built.turns) == ("An answer.", Decimal("0.1"), None)
    assert sample(reference="Yes.").outputs == {"output": "An answer."}
    assert [leaf.asks for leaf in rubric("polite").leaves.values()] == ["Is it polite?"]
    assert answers("a", polite=True, short=None).scores["short"] == Missing("failed", "not answered")
    with pytest.raises(InputError, match="a trace is a list of calls"):
        made(trace="search")


def test_a_fake_server_is_asked_as_a_judge_over_http() -> None:
    """The whole way: request, wire format, reply, score."""
    answer = {"criteria": {"polite": {"evidence": ["An answer."], "reason": "It is.", "answer": "yes"}}}

    with FakeServer(lambda _: json.dumps(answer)) as server:
        judged = _judged(rubric("polite"), server.judge)

    assert judged.scores["output"].exact == 1
    assert [body["model"] for body in server.asked] == ["fake"]
    assert "An answer." in server.asked[0]["messages"][-1]["content"]


def test_a_fake_server_answers_as_the_api_does() -> None:
    """Clients read choices, finish reasons and usage; words count as tokens."""
    with FakeServer(lambda body: f"you said {body['messages'][0]['content']}") as server:
        data = _posted(server, {"messages": [{"role": "user", "content": "hello there"}]})
        listed = json.load(urllib.request.urlopen(f"{server.url}/models"))

    assert data["choices"][0]["message"] == {"role": "assistant", "content": "you said hello there"}
    assert data["usage"] == {"prompt_tokens": 2, "completion_tokens": 4, "total_tokens": 6}
    assert [one["id"] for one in listed["data"]] == ["fake"]


@pytest.mark.parametrize(
    ("body", "status", "says"),
    [({"messages": []}, 429, "status 429"), ({"stream": True}, 400, "does not stream"), ([], 400, "not a JSON object")],
)
def test_a_number_is_the_status_of_the_answer(body: object, status: int, says: str) -> None:
    """How code under test bears refusals is a test too; what the server cannot do it says."""
    with FakeServer(lambda _: 429) as server, pytest.raises(urllib.error.HTTPError) as caught:
        _posted(server, body)

    assert caught.value.code == status
    assert says in json.load(caught.value)["error"]["message"]
    caught.value.close()


@pytest.mark.parametrize("wrong", [lambda _: 1 / 0, lambda _: None])
def test_what_goes_wrong_inside_the_fake_comes_out_of_the_block(wrong: Any) -> None:
    """A test whose fake has failed must not pass because the code under test was patient."""
    with pytest.raises((ZeroDivisionError, TypeError)), FakeServer(wrong) as server:
        try:
            _posted(server, {"messages": []})
        except urllib.error.HTTPError as error:
            assert error.code == 500
            error.close()


def _judged(chosen: Rubric, by: Any) -> JudgedSample:
    return asyncio.run(judge(chosen, sample(), judges=by))


def _posted(server: FakeServer, body: object) -> Any:
    head = {"Content-Type": "application/json"}
    request = urllib.request.Request(f"{server.url}/chat/completions", json.dumps(body).encode(), head)
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)
