"""The small real model answers in both wire formats, obeys schemas, and refuses what the real servers refuse."""

import asyncio
import json
import subprocess
import sys
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from aiohttp import ClientSession
from jsonschema import validate

from tests.judging.llama import MODEL
from tests.judging.messages_api import KEY, newer
from tests.judging.servers import ROOT, Servers

ANSWER: dict[str, Any] = {
    "type": "object",
    "properties": {
        "reason": {"type": "string", "maxLength": 30},
        "score": {"type": "integer", "minimum": 1, "maximum": 5},
        "verdict": {"enum": ["pass", "fail"]},
    },
    "required": ["reason", "score", "verdict"],
    "additionalProperties": False,
}
STRICT_ANSWER: dict[str, Any] = {
    **ANSWER,
    "properties": {"score": {"enum": [1, 2, 3, 4, 5]}, "verdict": {"enum": ["pass", "fail"]}},
    "required": ["score", "verdict"],
}
HEADERS = {"x-api-key": KEY, "anthropic-version": "2023-06-01"}
QUESTION = {"role": "user", "content": "Rate this answer as JSON: 'Water boils at 100 degrees.'"}
TOOL = {"name": "answer", "input_schema": ANSWER}


def sent(method: str, url: str, body: object = None, headers: dict[str, str] | None = None) -> tuple[int, Any]:
    async def send() -> tuple[int, Any]:
        async with ClientSession() as session:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            async with session.request(method, url, data=data, headers=headers) as response:
                return response.status, await response.json()

    return asyncio.run(send())


def chat(url: str, **changes: object) -> tuple[int, Any]:
    body = {"model": MODEL, "messages": [QUESTION], "max_tokens": 60, "temperature": 0, **changes}
    return sent("POST", f"{url}/chat/completions", body)


def message(url: str, headers: dict[str, str] = HEADERS, **changes: object) -> tuple[int, Any]:
    """Send a right request with these changes; a field changed to None is left out."""
    body = {"model": MODEL, "messages": [QUESTION], "max_tokens": 60, **changes}
    return sent("POST", f"{url}/v1/messages", {k: v for k, v in body.items() if v is not None}, headers)


def structured(schema: object) -> dict[str, object]:
    return {"type": "json_schema", "json_schema": {"name": "answer", "strict": True, "schema": schema}}


def test_a_chat_completion_has_text_and_usage(openai_url: str) -> None:
    """The door that every OpenAI-compatible judge goes through."""
    status, reply = chat(openai_url, max_tokens=5)

    assert status == 200
    assert reply["choices"][0]["message"]["content"]
    assert reply["choices"][0]["finish_reason"] == "length"
    assert reply["usage"]["completion_tokens"] == 5
    assert reply["model"] == MODEL


def test_a_structured_answer_obeys_its_schema(openai_url: str) -> None:
    """Even a model too small to judge must give a whole answer, in the order asked."""
    status, reply = chat(openai_url, response_format=structured(ANSWER))

    answer = json.loads(reply["choices"][0]["message"]["content"])
    assert status == 200
    validate(answer, ANSWER)
    assert list(answer) == ["reason", "score", "verdict"]


def test_a_schema_that_cannot_be_read_is_refused(openai_url: str) -> None:
    """An error of a real server, with the place in the schema."""
    status, reply = chat(openai_url, response_format=structured({"type": "colour"}))

    assert status == 400
    assert reply["error"]["type"] == "invalid_request_error"
    assert "unrecognized type colour" in reply["error"]["message"]


def test_likely_tokens_come_with_every_place(openai_url: str) -> None:
    """An expected score is read off them."""
    _, reply = chat(openai_url, max_tokens=4, logprobs=True, top_logprobs=3)

    places = reply["choices"][0]["logprobs"]["content"]
    assert len(places) == 4
    assert all(len(place["top_logprobs"]) == 3 for place in places)
    assert all(likely["logprob"] <= 0 for place in places for likely in place["top_logprobs"])


def test_a_seed_is_taken(openai_url: str) -> None:
    """What it makes of one depends on what it has kept of earlier prompts; that is not ours to claim."""
    status, data = chat(openai_url, max_tokens=12, temperature=1, seed=7)

    assert status == 200
    assert data["choices"][0]["message"]["content"]


def test_a_prompt_beyond_the_context_is_refused(servers: Servers) -> None:
    """Never cut in silence, whichever door it comes through."""
    long = [{"role": "user", "content": "word " * 9000}]

    status, reply = chat(servers.openai, messages=long)
    other_status, other_reply = message(servers.anthropic, messages=long)

    assert (status, reply["error"]["type"]) == (400, "exceed_context_size_error")
    assert (other_status, other_reply["error"]["type"]) == (400, "invalid_request_error")
    assert other_reply["error"]["message"].startswith("prompt is too long: ")


def test_a_message_has_anthropics_shape(anthropic_url: str) -> None:
    """What a reader of the format may rely on."""
    system = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]

    status, reply = message(anthropic_url, system=system, max_tokens=5, temperature=0)

    assert status == 200
    assert reply["id"].startswith("msg_")
    assert (reply["type"], reply["role"], reply["model"]) == ("message", "assistant", MODEL)
    assert [block["type"] for block in reply["content"]] == ["text"]
    assert reply["stop_reason"] == "max_tokens"
    assert reply["usage"]["output_tokens"] == 5


def test_kept_tokens_are_counted_apart_and_only_where_marked(anthropic_url: str) -> None:
    """Cost is the sum of both, at two prices; without a mark the real API keeps nothing."""
    marked = [{"type": "text", "text": "Be brief.", "cache_control": {"type": "ephemeral"}}]
    plain = [{"type": "text", "text": "Be brief."}]

    usages = [message(anthropic_url, system=system, max_tokens=1)[1]["usage"] for system in (marked, marked, plain)]

    sums = {usage["input_tokens"] + usage["cache_read_input_tokens"] for usage in usages}
    assert len(sums) == 1
    assert usages[1]["cache_read_input_tokens"] > 0
    assert usages[2]["cache_read_input_tokens"] == 0


def test_a_forced_tool_gets_an_input_that_obeys_its_schema(anthropic_url: str) -> None:
    """The older of the two ways to a structured answer."""
    status, reply = message(anthropic_url, tools=[TOOL], tool_choice={"type": "tool", "name": "answer"}, temperature=0)

    (block,) = reply["content"]
    assert status == 200
    assert reply["stop_reason"] == "tool_use"
    assert (block["type"], block["name"]) == ("tool_use", "answer")
    validate(block["input"], ANSWER)


@pytest.mark.parametrize(
    ("beta", "changes"),
    [
        ("", {"output_config": {"format": {"type": "json_schema", "schema": STRICT_ANSWER}}}),
        ("structured-outputs-2025-11-13", {"output_format": {"type": "json_schema", "schema": STRICT_ANSWER}}),
    ],
)
def test_an_output_format_is_obeyed(anthropic_url: str, beta: str, changes: dict[str, object]) -> None:
    """The newer way, under its present name and the one it had in beta."""
    status, reply = message(anthropic_url, {**HEADERS, "anthropic-beta": beta}, model=newer(MODEL), **changes)

    assert status == 200
    assert reply["stop_reason"] == "end_turn"
    validate(json.loads(reply["content"][0]["text"]), STRICT_ANSWER)


def test_models_are_listed_in_both_formats(servers: Servers) -> None:
    """A misspelt name is answered with those there are."""
    _, of_openai = sent("GET", f"{servers.openai}/models")
    _, of_anthropic = sent("GET", f"{servers.anthropic}/v1/models", headers=HEADERS)

    assert [model["id"] for model in of_openai["data"]] == [MODEL]
    assert [model["id"] for model in of_anthropic["data"]] == [MODEL, newer(MODEL)]


@pytest.mark.parametrize(
    ("headers", "status", "kind", "what"),
    [
        ({}, 401, "authentication_error", "x-api-key header is required"),
        ({**HEADERS, "x-api-key": "sk-ant-other"}, 401, "authentication_error", "invalid x-api-key"),
        ({"authorization": f"Bearer {KEY}"}, 401, "authentication_error", "x-api-key header is required"),
        ({"x-api-key": KEY}, 400, "invalid_request_error", "anthropic-version: header is required"),
        ({**HEADERS, "anthropic-version": "2024"}, 400, "invalid_request_error", "is not a valid version"),
    ],
)
def test_headers_are_checked(anthropic_url: str, headers: dict[str, str], status: int, kind: str, what: str) -> None:
    """A client that leaves one out must notice here, not at the real API."""
    found, reply = message(anthropic_url, headers)

    assert (found, reply["type"], reply["error"]["type"]) == (status, "error", kind)
    assert what in reply["error"]["message"]


def test_unknown_models_and_paths_are_not_found(anthropic_url: str) -> None:
    """Both are 404 with a body in the shape of an error."""
    of_model = message(anthropic_url, model="smollm3")
    of_path = sent("GET", f"{anthropic_url}/v1/nowhere", headers=HEADERS)

    assert [(status, reply["error"]["type"]) for status, reply in (of_model, of_path)] == [(404, "not_found_error")] * 2
    assert of_model[1]["error"]["message"] == "model: smollm3"


def test_a_body_that_is_not_json_is_refused(anthropic_url: str) -> None:
    """The error is in the shape of every other."""
    status, reply = sent("POST", f"{anthropic_url}/v1/messages", b"{", HEADERS)

    assert (status, reply["type"], reply["error"]["type"]) == (400, "error", "invalid_request_error")


def test_a_prefill_is_gone_on_from_and_not_repeated(anthropic_url: str) -> None:
    """What comes back is what was added, as the real API has it."""
    prefill = {"role": "assistant", "content": "The score is"}

    status, reply = message(anthropic_url, messages=[QUESTION, prefill], max_tokens=4, temperature=0)

    assert status == 200
    assert not reply["content"][0]["text"].startswith("The score is")


KILLED = """
import sys
from pathlib import Path
from tests.judging.servers import shared
with shared(Path(sys.argv[1])) as servers:
    print(servers.openai, flush=True)
    sys.stdin.read()
"""


def test_a_killed_run_leaves_no_server_behind(servers: Servers, tmp_path: Path) -> None:
    """A killed process cleans nothing up: the server must notice by itself, even in the middle of a reply."""
    command = [sys.executable, "-c", KILLED, str(tmp_path)]
    with subprocess.Popen(
        command, cwd=ROOT, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as run:
        assert run.stdout is not None
        url = run.stdout.readline().strip()

        with a_reply_under_way(url):
            run.kill()
            _, errors = run.communicate(timeout=30)  # The server shares stderr: its end is the end of that.

    assert url.startswith("http://127.0.0.1:")
    assert errors == ""


@contextmanager
def a_reply_under_way(url: str) -> Iterator[None]:
    body = {"messages": [QUESTION], "max_tokens": 2000, "ignore_eos": True, "stream": True}
    request = urllib.request.Request(f"{url}/chat/completions", json.dumps(body).encode())
    with urllib.request.urlopen(request, timeout=30) as response:
        response.readline()
        yield
