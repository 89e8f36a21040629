"""A server on loopback with the batch endpoints of OpenAI and of Anthropic, late, partial, out of order or broken as it
is told to be; it remembers which questions were paid for.
"""

import asyncio
import hashlib
import json
import random
import signal
import threading
from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from aiohttp import web

from tests.runs.chaos.evals import Kept, write_eval
from tests.runs.chaos.judges import Judges, marks_in, reply_to
from tests.warm.processes import Done, run

Json = dict[str, Any]
Trouble = Callable[[int, str], str]  # By number and name of a request: "", a status, "drop" or "drop after".
EXPIRES = "expires"
CANCELLED = "cancelled"
JUDGES = {"first": "openai/first", "second": "anthropic/second"}


class Names(Judges):
    """Judges that nobody serves: one of each provider."""

    def name(self, judge: str) -> str:
        """As an eval names it."""
        return JUDGES.get(judge, f"openai/{judge}")


def write_batch_eval(folder: Path, samples: int = 2, **changes: Any) -> None:
    """An eval of two judges, each output asked about once, at a known price of batches."""
    whole = {**write_eval(folder, Names(), samples), "repeats": 1, **changes}
    (folder / "eval.yaml").write_text(json.dumps(whole), "utf-8")
    price = {"input": 10_000, "output": 0, "batch": 0.5}
    prices = {"as_of": "2026-01-01", "models": dict.fromkeys(JUDGES.values(), price)}
    (folder / "prices.json").write_text(json.dumps(prices), "utf-8")


def run_in_peace(folder: Path, server: "BatchServer", **changes: Any) -> Done:
    """What a plain run comes to; the server forgets that it was asked."""
    write_batch_eval(folder, **changes)
    done = run(folder, "run", "eval.yaml", "--json", environ=server.environ)
    server.paid.clear()
    server.requests.clear()
    server.direct = 0
    return done


def list_results(place: str | Path) -> Any:
    """What the newest run of a store says of each output, without the keys of its calls, which name this server."""
    return {unit: {**one, "calls": len(one["calls"])} for unit, one in Kept(place).results().items()}


@dataclass
class Batch:
    """A batch as the server has it."""

    id: str
    lines: list[Json]  # custom_id and body.
    metadata: Json | None
    looks: int
    created: datetime = field(default_factory=lambda: datetime.now(UTC))
    fates: list[str] = field(default_factory=list)


@dataclass
class BatchServer:
    """Both APIs. What a line comes to is decided when its batch is created: that is when it is paid for."""

    looks: int = 1  # How often a batch is told of before it is over, its creation included.
    fate: Callable[[Json, int], str] = lambda body, batch: ""  # "" or an error's status, EXPIRES, CANCELLED, "missing".
    whole: Callable[[int], Json | None] = lambda batch: None  # An error that refuses a batch as a whole.
    trouble: Trouble = lambda number, name: ""
    reply: Callable[[Json], str | None] = lambda body: None  # A text in place of the fitting one.
    # The number of a request, and "before" or "after" it was worked on, or soon after it was "answered".
    kill_at: tuple[int, str] | None = None
    victim: int | None = None  # A handle of the process, which cannot come to mean another one.
    keeps_metadata: bool = True
    has_batches: bool = True
    paid: Counter[str] = field(default_factory=Counter)  # Questions, by what was asked of whom.
    direct: int = 0
    requests: list[str] = field(default_factory=list)
    batches: dict[str, Batch] = field(default_factory=dict)
    files: dict[str, list[Json]] = field(default_factory=dict)

    def __enter__(self) -> Self:
        ready, self._chance = threading.Event(), random.Random(7)
        self._thread = threading.Thread(target=lambda: asyncio.run(self._serve(ready)))
        self._thread.start()
        assert ready.wait(30)
        return self

    def __exit__(self, *_: object) -> None:
        self._loop.call_soon_threadsafe(self._over.set)
        self._thread.join()

    @property
    def environ(self) -> dict[str, str]:
        """What a process needs to ask it."""
        return {
            "OPENAI_API_KEY": "sk-test-key-of-openai",
            "ANTHROPIC_API_KEY": "sk-test-key-of-anthropic",
            "OPENAI_BASE_URL": f"http://127.0.0.1:{self.port}/v1",
            "ANTHROPIC_BASE_URL": f"http://127.0.0.1:{self.port}",
            "EVENHAND_BATCH_SECONDS": "0.02",
        }

    def twice(self) -> dict[str, int]:
        """The questions that were paid for more than once."""
        return {question: times for question, times in self.paid.items() if times > 1}

    async def _serve(self, ready: threading.Event) -> None:
        self._loop, self._over = asyncio.get_running_loop(), asyncio.Event()
        app = web.Application(middlewares=[self._misbehave], client_max_size=2**28)
        app.router.add_post("/v1/chat/completions", self._chat)
        app.router.add_post("/v1/messages", self._message)
        if self.has_batches:
            app.router.add_post("/v1/files", self._upload)
            app.router.add_get("/v1/files/{id}/content", self._content)
            for base, create in (
                ("/v1/batches", self._create_openai),
                ("/v1/messages/batches", self._create_anthropic),
            ):
                app.router.add_post(base, create)
                app.router.add_get(base, self._list)
                app.router.add_get(base + "/{id}", self._look)
            app.router.add_get("/v1/messages/batches/{id}/results", self._results)
        runner = web.AppRunner(app, handle_signals=False, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        self.port = runner.addresses[0][1]
        ready.set()
        await self._over.wait()
        await runner.cleanup()

    @web.middleware
    async def _misbehave(self, request: web.Request, handler: Any) -> web.StreamResponse:
        name = f"{request.method} {request.path.removeprefix('/v1')}"
        self.requests.append(name)
        number = len(self.requests)
        self._kill(number, "before", request)
        trouble = self.trouble(number, name)
        if trouble.isdecimal():
            return web.json_response({"error": {"message": "no"}}, status=int(trouble), headers={"Retry-After": "0"})
        if trouble == "drop":
            _drop(request)
        answer: web.StreamResponse = await handler(request)
        self._kill(number, "after", request)
        if trouble == "drop after":
            _drop(request)
        return answer

    def _kill(self, number: int, when: str, request: web.Request) -> None:
        if self.kill_at == (number, "answered") and when == "after" and self.victim is not None:
            self._loop.call_later(self._chance.uniform(0, 0.05), _strike, self.victim)
            self.kill_at = None
        if self.kill_at == (number, when) and self.victim is not None:
            _strike(self.victim)
            self.kill_at = None
            _drop(request)

    async def _chat(self, request: web.Request) -> web.Response:
        self.direct += 1
        return web.json_response(self._pay(await request.json(), openai=True))

    async def _message(self, request: web.Request) -> web.Response:
        self.direct += 1
        return web.json_response(self._pay(await request.json(), openai=False))

    async def _upload(self, request: web.Request) -> web.Response:
        form = await request.post()
        file = form["file"]
        assert form["purpose"] == "batch"
        assert isinstance(file, web.FileField)
        with file.file as content:
            lines = [json.loads(line) for line in content.read().decode().splitlines()]
        for line in lines:
            assert line.keys() == {"custom_id", "method", "url", "body"}
            assert (line["method"], line["url"]) == ("POST", "/v1/chat/completions")
        id = f"file-{len(self.files) + 1}"
        self.files[id] = lines
        return web.json_response({"id": id, "object": "file", "purpose": "batch", "bytes": 1, "filename": "x.jsonl"})

    async def _create_openai(self, request: web.Request) -> web.Response:
        told = await request.json()
        assert told["endpoint"] == "/v1/chat/completions"
        assert told["completion_window"] == "24h"
        lines = [{"custom_id": line["custom_id"], "body": line["body"]} for line in self.files[told["input_file_id"]]]
        return self._create(lines, told.get("metadata") if self.keeps_metadata else None, openai=True)

    async def _create_anthropic(self, request: web.Request) -> web.Response:
        told = await request.json()
        assert told.keys() == {"requests"}
        lines = [{"custom_id": one["custom_id"], "body": one["params"]} for one in told["requests"]]
        return self._create(lines, None, openai=False)

    def _create(self, lines: list[Json], metadata: Json | None, *, openai: bool) -> web.Response:
        ids = [line["custom_id"] for line in lines]
        assert len(set(ids)) == len(ids) and all(len(id) <= 64 for id in ids)
        number = len(self.batches) + 1
        batch = Batch(f"{'batch' if openai else 'msgbatch'}_{number}", lines, metadata, self.looks)
        refused = self.whole(number) is not None
        batch.fates = ["refused" if refused else self.fate(line["body"], number) for line in lines]
        for line, fate in zip(lines, batch.fates, strict=True):
            line["reply"] = None if fate else self._pay(line["body"], openai=openai)
        self.batches[batch.id] = batch
        return web.json_response(self._told(batch))

    def _pay(self, body: Json, *, openai: bool) -> Json:
        """A good answer, which somebody pays for."""
        text = self.reply(body) or _fitting_reply(body)
        asked = json.dumps([body["model"], body.get("system"), body["messages"]])
        self.paid[f"{body['model']} {_marks(body)} {hashlib.sha256(asked.encode()).hexdigest()[:8]}"] += 1
        if openai:
            choice = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
            usage = {"prompt_tokens": 100, "completion_tokens": 10, "total_tokens": 110}
            return {"id": "c1", "model": body["model"], "choices": [choice], "usage": usage}
        content = [{"type": "text", "text": text}]
        usage = {"input_tokens": 100, "output_tokens": 10}
        return {"id": "m1", "model": body["model"], "content": content, "stop_reason": "end_turn", "usage": usage}

    async def _list(self, request: web.Request) -> web.Response:
        openai = request.path.endswith("/v1/batches")
        own = [one for one in reversed(self.batches.values()) if one.id.startswith("batch_") == openai]
        after = request.query.get("after" if openai else "after_id")
        ids = [one.id for one in own]
        own = own[ids.index(after) + 1 :] if after else own
        limit = min(int(request.query["limit"]), 2)  # Small pages, so that they are turned.
        page = own[:limit]
        told = {"data": [self._told(one) for one in page], "has_more": len(own) > limit}
        return web.json_response({"object": "list", **told})

    async def _look(self, request: web.Request) -> web.Response:
        return web.json_response(self._told(self.batches[request.match_info["id"]]))

    def _told(self, batch: Batch) -> Json:
        """The batch as it is looked at, alone or in a list: that is how its time passes."""
        batch.looks -= 1
        over = batch.looks < 0
        return _tell_openai(self, batch, over) if batch.id.startswith("batch_") else _tell_anthropic(batch, over)

    async def _content(self, request: web.Request) -> web.Response:
        kind, _, id = request.match_info["id"].partition("-of-")
        lines = [
            _line_openai(line, fate) for line, fate in _list_fates(self.batches[id]) if bool(fate) == (kind == "err")
        ]
        return web.Response(text="".join(f"{json.dumps(line)}\n" for line in lines))

    async def _results(self, request: web.Request) -> web.Response:
        lines = [_line_anthropic(line, fate) for line, fate in _list_fates(self.batches[request.match_info["id"]])]
        return web.Response(text="".join(f"{json.dumps(line)}\n" for line in lines))


def is_repair(body: Json) -> bool:
    """Whether a question is one that is asked again because the first answer could not be read."""
    return "was not accepted" in json.dumps(body["messages"])


def _strike(victim: int) -> None:
    """Kill a process, unless it is gone."""
    with suppress(ProcessLookupError, OSError):
        signal.pidfd_send_signal(victim, signal.SIGKILL)


def _drop(request: web.Request) -> None:
    """Let the connection go without an answer."""
    if request.transport is not None:
        request.transport.abort()
    raise asyncio.CancelledError


def _marks(body: Json) -> str:
    plain = {**body, "messages": [{"content": json.dumps(body["messages"])}]}
    return marks_in(plain)


def _fitting_reply(body: Json) -> str:
    schema = body.get("output_config", {}).get("format", {}).get("schema")
    if schema is None:
        schema = body["response_format"]["json_schema"]["schema"]
    schema = _with_bounds(schema)
    return reply_to({**body, "response_format": {"json_schema": {"schema": schema}}}, _marks(body))


def _with_bounds(schema: Any) -> Any:
    """Anthropic's structured output takes no bounds; answers are given within them all the same."""
    if isinstance(schema, list):
        return [_with_bounds(one) for one in schema]
    if not isinstance(schema, dict):
        return schema
    less = {name: _with_bounds(one) for name, one in schema.items()}
    if less.get("type") in ("integer", "number") and "minimum" not in less:
        less |= {"minimum": 1, "maximum": 10}
    return less


def _list_fates(batch: Batch) -> list[tuple[Json, str]]:
    """The lines with what becomes of them, out of order, without those that are left out."""
    whole = [(line, fate) for line, fate in zip(batch.lines, batch.fates, strict=True) if fate != "missing"]
    return whole[::-1]


def _tell_openai(server: BatchServer, batch: Batch, over: bool) -> Json:
    fates = Counter("failed" if fate else "completed" for fate in batch.fates)
    error = server.whole(int(batch.id.partition("_")[2]))
    expired = EXPIRES in batch.fates
    status = "failed" if error else "cancelled" if CANCELLED in batch.fates else "expired" if expired else "completed"
    files = over and not error
    counts = {name: fates[name] if over else 0 for name in ("completed", "failed")}
    return {
        "id": batch.id,
        "object": "batch",
        "endpoint": "/v1/chat/completions",
        "status": status if over else "in_progress",
        "created_at": int(batch.created.timestamp()),
        "request_counts": {"total": len(batch.lines), **counts},
        "metadata": batch.metadata,
        "errors": {"object": "list", "data": [error]} if error and over else None,
        "output_file_id": f"out-of-{batch.id}" if files and fates["completed"] else None,
        "error_file_id": f"err-of-{batch.id}" if files and fates["failed"] else None,
    }


def _tell_anthropic(batch: Batch, over: bool) -> Json:
    names = {"": "succeeded", EXPIRES: "expired", CANCELLED: "canceled"}
    counts = (
        Counter(names.get(fate, "errored") for fate in batch.fates) if over else Counter(processing=len(batch.lines))
    )
    kinds = ("processing", "succeeded", "errored", "canceled", "expired")
    return {
        "id": batch.id,
        "type": "message_batch",
        "processing_status": "ended" if over else "in_progress",
        "request_counts": {name: counts[name] for name in kinds},
        "created_at": batch.created.isoformat().replace("+00:00", "Z"),
        "ended_at": batch.created.isoformat() if over else None,
        "results_url": f"https://elsewhere.invalid/v1/messages/batches/{batch.id}/results" if over else None,
    }


def _line_openai(line: Json, fate: str) -> Json:
    told: Json = {"id": "batch_req_1", "custom_id": line["custom_id"], "response": None, "error": None}
    if fate in (EXPIRES, CANCELLED):
        return {**told, "error": {"code": f"batch_{'expired' if fate == EXPIRES else fate}", "message": "too late"}}
    body = line["reply"] if not fate else {"error": {"message": f"failed with {fate}", "param": None}}
    if fate == "unaccepted":
        body = {"error": {"message": "temperature is not supported", "param": "temperature"}}
    status = 200 if not fate else 400 if fate == "unaccepted" else int(fate)
    return {**told, "response": {"status_code": status, "request_id": "r1", "body": body}}


def _line_anthropic(line: Json, fate: str) -> Json:
    kinds = {"": "succeeded", EXPIRES: "expired", CANCELLED: "canceled"}
    result: Json = {"type": kinds.get(fate, "errored")}
    if not fate:
        result["message"] = line["reply"]
    elif result["type"] == "errored":
        kind = "invalid_request_error" if fate in ("400", "unaccepted") else "api_error"
        result["error"] = {"type": "error", "error": {"type": kind, "message": f"failed with {fate}"}}
    return {"custom_id": line["custom_id"], "result": result}
