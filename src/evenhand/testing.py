"""Fakes and builders for the tests of those who use Evenhand: they stand behind the same doors as the real ones."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from decimal import Decimal
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

from evenhand.errors import Fault, InputError, RefusedError
from evenhand.files.rubrics import load_rubric
from evenhand.judging.answer_form import CANNOT_ASSESS
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample, ToolCall, VariantOutput
from evenhand.model.scale import NOT_ANSWERED, Criterion, CriterionScore, Number, Scored, to_exact_fraction
from evenhand.model.scorecard import Answers
from evenhand.models.requests import Reply, Request, RequestSubject
from evenhand.wording import format_number_for_json

__all__ = ["FakeServer", "ScriptedJudge", "answers", "made", "rubric", "sample", "scripted_judge"]

ScriptedScores = Mapping[str, Number | bool | None]
LONGEST_QUOTE = 80
SCRIPTED_ADVICE = [
    {"problem": f"no {which} problem was scripted", "suggestion": "nothing was scripted", "severity": "low"}
    for which in ("first", "second")
]


def scripted_judge(*replies: str | ScriptedScores, name: str = "scripted") -> ScriptedJudge:
    """A judge that gives these replies one after the other; scores that come last answer all that follows.

    A text is a raw reply. A mapping of scores by criterion becomes a reply in the form that is asked for, with the
    beginning of the output as evidence; on a criterion that it does not name the judge abstains.
    """
    return ScriptedJudge(replies, name)


class ScriptedJudge:
    """What `scripted_judge` gives: it goes wherever a judge goes. `asked` holds its requests in order."""

    def __init__(self, replies: Sequence[str | ScriptedScores], name: str) -> None:
        if not replies:
            raise InputError(Fault("a scripted judge needs a reply", "as in scripted_judge({'polite': 1})"))
        self.name = name
        self.asked: list[Request] = []
        self._replies = tuple(replies)

    async def ask(self, request: Request) -> Reply:
        """The next reply; a RefusedError where none is left."""
        self.asked.append(request)
        at, last = len(self.asked) - 1, len(self._replies) - 1
        reply = self._replies[min(at, last)]
        if isinstance(reply, str) and at > last:
            raise RefusedError(f"{self.name}: asked {at + 1} times, and {last + 1} replies were scripted")
        text = reply if isinstance(reply, str) else _write_scripted_reply(reply, request, self.name)
        return Reply(text=text, stop="end", model=self.name)


def _write_scripted_reply(scores: ScriptedScores, request: Request, name: str) -> str:
    about = request.about
    if about is None or not about.asked:
        raise RefusedError(f"{name}: scores do not answer the dialogue {request.dialogue}: script its replies as texts")
    if request.labels:
        return json.dumps(
            {"responses": {label: _script_fake_answers(scores, about, f"response-{label}") for label in request.labels}}
        )
    tag = "submission" if "submission" in about.texts else "output"
    answers = _script_fake_answers(scores, about, tag)
    return json.dumps(
        {**answers, "revision_suggestions": SCRIPTED_ADVICE} if request.dialogue == "individual" else answers
    )


def _script_fake_answers(scores: ScriptedScores, about: RequestSubject, tag: str) -> dict[str, dict[str, object]]:
    quote = about.texts[tag].strip()[:LONGEST_QUOTE]
    groups: dict[str, dict[str, object]] = {}
    for key, criterion in about.asked:
        value = scores.get(criterion.id)
        reason = "as scripted" if value is not None else "nothing was scripted"
        said = {"evidence": [quote] if value is not None else [], "reason": reason}
        groups.setdefault(key, {})[criterion.id] = {**said, **_script_fake_answer(criterion, value)}
    return groups


def _script_fake_answer(criterion: Criterion, value: Number | bool | None) -> dict[str, object]:
    scale = criterion.scale
    if scale.yes_no:
        return {"answer": CANNOT_ASSESS if value is None else "yes" if value else "no"}
    if value is None:
        return {"band": CANNOT_ASSESS, "score": CANNOT_ASSESS} if scale.bands else {"score": CANNOT_ASSESS}
    number = to_exact_fraction(int(value) if isinstance(value, bool) else value)
    bands = [band.id for band in scale.bands if band.min <= number <= band.max]
    return {**({"band": (*bands, CANNOT_ASSESS)[0]} if scale.bands else {}), "score": format_number_for_json(number)}


FakeServerJson = dict[str, Any]
FakeAnswer = Callable[[FakeServerJson], str | int]
FAKE_MODEL = "fake"


class FakeServer:
    """`with FakeServer(answer) as server:` has code under test talk to a model that is a function.

    The function gets the body of each request and returns the text of the reply, or a number for an answer of that
    HTTP status. What it raises is answered with 500 and raised again when the block ends.
    """

    def __init__(self, answer: FakeAnswer) -> None:
        self.asked: list[FakeServerJson] = []  # The bodies of all requests, in order.
        self._answer = answer
        self._problem: Exception | None = None
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _build_fake_handler(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def url(self) -> str:
        """The base URL, as clients of OpenAI's format take it: http://127.0.0.1:PORT/v1."""
        return f"http://127.0.0.1:{self._server.server_port}/v1"

    @property
    def judge(self) -> str:
        """The name under which Evenhand asks it as a judge."""
        return f"openai-compatible:{self.url}/{FAKE_MODEL}"

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self._problem is not None and kind is None:
            raise self._problem

    def complete_request(self, body: FakeServerJson) -> tuple[int, FakeServerJson]:
        """The status and the answer to the body of a request."""
        with self._lock:  # Many may ask at once; the function is called by one at a time.
            self.asked.append(body)
            try:
                said = _check_fake_reply(self._answer(body))
            except Exception as problem:
                self._problem = self._problem or problem
                return 500, _build_fake_error(f"the function raised {type(problem).__name__}: {problem}")
            number = len(self.asked)
        if isinstance(said, int):
            return said, _build_fake_error(f"status {said}")
        return 200, _build_fake_chat_completion(number, body, said)


def _build_fake_handler(fake: FakeServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1  # Head and body leave in one packet; apart, the second would wait for the first.

        def do_GET(self) -> None:
            if self.path == "/v1/models":
                self._send(200, {"object": "list", "data": [{"id": FAKE_MODEL, "object": "model"}]})
            else:
                self._send(404, _build_fake_error(f"there is nothing at {self.path}"))

        def do_POST(self) -> None:
            sent = self.rfile.read(int(self.headers.get("Content-Length") or 0))
            if self.path != "/v1/chat/completions":
                self._send(404, _build_fake_error(f"there is nothing at {self.path}: post to /v1/chat/completions"))
                return
            try:
                body = json.loads(sent)
            except ValueError:
                body = None
            if not isinstance(body, dict):
                self._send(400, _build_fake_error("the body is not a JSON object"))
            elif body.get("stream"):
                self._send(400, _build_fake_error("this server does not stream: leave stream out"))
            else:
                self._send(*fake.complete_request(body))

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing: a test's output is the test's."""

        def _send(self, status: int, data: FakeServerJson) -> None:
            text = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            self.wfile.flush()

    return Handler


def _check_fake_reply(said: str | int) -> str | int:
    if isinstance(said, (str, int)):
        return said
    raise TypeError(f"a reply is a text or the number of a status, got {type(said).__name__}")


def _build_fake_chat_completion(number: int, body: FakeServerJson, text: str) -> FakeServerJson:
    """As the API answers; what counts as a token here is a word."""
    read = sum(len(str(message.get("content", "")).split()) for message in body.get("messages", []))
    wrote = len(text.split())
    return {
        "id": f"fake-{number}",
        "object": "chat.completion",
        "created": 0,
        "model": body.get("model", FAKE_MODEL),
        "choices": [{"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": read, "completion_tokens": wrote, "total_tokens": read + wrote},
    }


def _build_fake_error(message: str) -> FakeServerJson:
    return {"error": {"message": message, "type": "fake", "code": None}}


DEFAULT_OUTPUT = "An answer."


def rubric(*criteria: str | Mapping[str, object], **more: object) -> Rubric:
    """A rubric of these criteria, each a mapping as in a file, or an id that is asked about with yes or no.

    A keyword is a field of the rubric file, as in method="judge-skill".
    """
    listed = [{"id": one, "asks": f"Is it {one}?"} if isinstance(one, str) else one for one in criteria]
    return load_rubric({"name": "test", **({"criteria": listed} if listed else {}), **more})


def sample(
    output: str = DEFAULT_OUTPUT,
    *,
    input: str = "A question?",
    reference: str = "",
    context: str = "",
    id: str = "sample",
) -> Sample:
    """A sample with one output, called "output"."""
    return Sample(outputs={"output": output}, input=input, reference=reference, context=context, id=id)


def made(
    text: str = DEFAULT_OUTPUT,
    *,
    trace: Iterable[str | ToolCall] | None = None,
    cost: Number | None = None,
    latency_ms: float | None = None,
    turns: int | None = None,
    author: str | None = None,
) -> VariantOutput:
    """An output with how it came about; in a trace, a text is a call of the tool of that name."""
    if isinstance(trace, str):
        raise InputError(Fault("a trace is a list of calls", f"as in trace=[{trace!r}]"))
    calls = None if trace is None else tuple(ToolCall(one) if isinstance(one, str) else one for one in trace)
    price = None if cost is None else Decimal(str(cost))
    return VariantOutput(text=text, trace=calls, cost=price, latency_ms=latency_ms, turns=turns, author=author)


def answers(id: str = "output", /, **scores: Number | bool | None) -> Answers:
    """What a judge says about one output, criterion by criterion; None is a criterion that it left open."""
    given: dict[str, CriterionScore] = {
        criterion: NOT_ANSWERED if value is None else Scored(to_exact_fraction(+value))  # A bool becomes a number.
        for criterion, value in scores.items()
    }
    return Answers(id=id, scores=given)
