"""A model on loopback that speaks both wire formats, answers by rule, and keeps what it was asked.

The name of a model says how it behaves:

- `plain` answers whatever the schema asks for, by a hash of what it reads; other names answer by another hash.
- `kind` says yes to whatever can be answered so, and gives many points.
- `first-broken` answers the first time with what cannot be read, and after a request to repair it as it should.
- `careless` quotes at first what nobody wrote, `boundless` gives at first scores that no scale has.
- `broken` never answers with anything readable; `refuses` refuses.
- `prose` is on a server without structured output.
- `likely` tells how likely tokens were.
- `unknown` and `locked` are refused by the server with 404 and 401.
"""

import hashlib
import json
import re
import threading
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any, Self

Json = dict[str, Any]
TELLING = ("accept", "anthropic-beta", "anthropic-version", "authorization", "content-type", "x-api-key")
REPAIR = ("An answer to this was not accepted", "对此的一次回答未被接受")
CANNOT = {"cannot assess", "无法判断"}
OPPOSITES = {"yes": "no", "no": "yes", "是": "否", "否": "是"}
BANDS = (("A", 90), ("B", 70), ("C", 50), ("D", 30), ("E", 0))
DIMENSIONS = [
    {"id": "substantiveness", "asks": "Is the content of value?", "weight": 0.3},
    {"id": "credibility", "asks": "Can it be trusted?", "weight": 0.25},
    {"id": "completeness", "asks": "Does it cover the task?", "weight": 0.25},
    {"id": "plain-words", "asks": "Is it written in plain words?", "weight": 0.2},
]


class ModelServer:
    """`with ModelServer() as server:` listens until the block ends.

    `asked` are the requests so far: path, headers and body.
    """

    def __init__(self) -> None:
        self.asked: list[tuple[str, Json, Json]] = []
        self.failed: list[Exception] = []
        self._lock = threading.Lock()
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), _handler_of(self))
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.02,), daemon=True)

    @property
    def port(self) -> int:
        return self._server.server_port

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._server.server_close()
        if self.failed:
            raise self.failed[0]

    def answer(self, path: str, headers: Json, body: Json) -> tuple[int, Json]:
        with self._lock:
            self.asked.append((path, headers, body))
        model = body["model"]
        if model == "unknown":
            return 404, _error("The model `unknown` does not exist", "model_not_found")
        if model == "locked":
            return 401, _error("Incorrect API key provided", "invalid_api_key")
        if model == "prose" and "response_format" in body:
            return 400, _error("response_format is not supported", "unsupported_parameter")
        text = reply_to(body)
        return 200, _message(body, text) if path.endswith("/messages") else _completion(body, text)


def reply_to(body: Json) -> str:
    """What the model says: by the schema where there is one, else as sampled prose."""
    model, turns = body["model"], [_text(turn["content"]) for turn in body["messages"]]
    material = "\n".join(turns)
    repaired = any(mark in material for mark in REPAIR)
    if model == "broken" or (model == "first-broken" and not repaired):
        return "Let me think about it. It looks quite good to me."
    if model == "refuses":
        return "I'm sorry, but I can't help with that."
    if model in ("careless", "boundless") and repaired:
        model = "mended"
    schema = _schema(body)
    if schema is None and model == "prose":
        return f"It reads well: 7 out of 10.\n\nScore: {3 + int(6 * _share(model, material))}"
    if schema is None:
        return f"It reads well.\n{_line(body, material)}"
    return json.dumps(_fitting(schema, "", "", material, model), ensure_ascii=False)


def _line(body: Json, material: str) -> str:
    """A last line in the form that was asked for: a number, yes or no, or the first word of several."""
    told = "\n".join([_text(body.get("system", "")), material])
    form = re.search(r"^(\S+[:：]) <(.*)>$", told, re.MULTILINE)
    start, scale = form.groups() if form else ("Score:", "a number from 1 to 9")
    words = re.findall(r"yes|no|是|否", scale.partition("|")[0])
    lot = _share(body["model"], material)
    if words:
        return f"{start} {words[int(len(words) * lot)]}"
    numbers = re.findall(r"\d+", scale)
    if not numbers:
        return f"{start} {(re.findall(r'[a-zA-Z]+', scale) or ['无法判断'])[0]}"
    low, high = map(int, numbers[:2])
    return f"{start} {low + int((high - low + 1) * lot)}"


def _fitting(schema: Mapping[str, Any], name: str, near: str, material: str, model: str) -> Any:
    """Something that fits; `near` is the id of the criterion or the letter that it stands below."""
    if "anyOf" in schema:
        options = [one for one in schema["anyOf"] if not CANNOT & set(one.get("enum", []))]
        return _fitting((options or schema["anyOf"])[0], name, near, material, model)
    text = _quoted(near, material)
    if name == "dimensions":
        return DIMENSIONS
    if name == "evidence":
        return ["Nobody wrote this." if model == "careless" else text.strip().split("\n")[0][:40].rstrip()]
    if "enum" in schema:
        options = [one for one in schema["enum"] if one not in CANNOT]
        lot = options[int(len(options) * _share(model, near, name, text))]
        kind = next((word for word in ("yes", "是") if model == "kind" and word in options), None)
        return kind or lot
    kind = schema.get("type")
    if kind == "object":
        below = {
            key: _fitting(value, key, _nearer(near, key), material, model)
            for key, value in _bounded(schema["properties"]).items()
        }
        if "band" in below and isinstance(below.get("score"), (int, float)):
            below["band"] = next(band for band, least in BANDS if below["score"] >= least)
        return below
    if kind == "array":
        count = schema.get("minItems", 1)
        return [_fitting(schema["items"], name, f"{near}{number}", material, model) for number in range(count)]
    if kind in ("integer", "number"):
        low, high = schema.get("minimum", 1), schema.get("maximum", 10)
        low += (high - low) * 7 // 10 if model == "kind" else 0
        lot = low + int((high - low + 1) * _share(model, near, text)) if high > low else low
        return 999 if model == "boundless" else lot
    return f"Because of {near or name}."


def _bounded(properties: Mapping[str, Any]) -> Mapping[str, Any]:
    """Schemas of Anthropic name no bounds; beside a band, scores go to 100."""
    if "band" not in properties or "type" not in properties["score"]:
        return properties
    return {**properties, "score": {"minimum": 0, "maximum": 100, **properties["score"]}}


def _nearer(near: str, key: str) -> str:
    plain = ("criteria", "red_flags", "bonuses", "responses", "submissions", "score", "band", "answer", "evidence")
    words = ("reason", "feedback", "revision_hint", "winner", "problem", "suggestion", "severity")
    return near if key in plain or key in words else f"{near}/{key}" if near else key


def _quoted(near: str, material: str) -> str:
    """The text that an answer is about: that under its letter, else the output or submission."""
    letter = near.partition("/")[0]
    for tag in (f"response-{letter}", f"submission-{letter}", "output", "submission", "response-A", "output-A"):
        found = re.search(rf"<{tag}-\w+>\n(.*?)\n</{tag}-\w+>", material, re.DOTALL)
        if found:
            return found[1]
    return ""


def _share(*parts: str) -> float:
    """A number from 0 to 1, below 1."""
    return int(hashlib.sha256("|".join(parts).encode()).hexdigest()[:8], 16) / 2**32


def _schema(body: Json) -> Mapping[str, Any] | None:
    form = body.get("response_format", {}).get("json_schema") or body.get("output_config", {}).get("format")
    if form:
        schema: Mapping[str, Any] = form["schema"]
        return schema
    tools = body.get("tools")
    return tools[0]["input_schema"] if tools else None


def _text(content: str | list[Json]) -> str:
    return content if isinstance(content, str) else "".join(block["text"] for block in content)


def _completion(body: Json, text: str) -> Json:
    read = sum(len(_text(turn["content"]).split()) for turn in body["messages"])
    choice: Json = {"index": 0, "message": {"role": "assistant", "content": text}, "finish_reason": "stop"}
    if body.get("logprobs") and body["model"] == "likely":
        choice["logprobs"] = {"content": _places(text)}
    return {
        "id": f"golden-{hashlib.sha256(json.dumps(body).encode()).hexdigest()[:8]}",
        "object": "chat.completion",
        "created": 0,
        "model": body["model"],
        "choices": [choice],
        "usage": {"prompt_tokens": read, "completion_tokens": len(text.split()), "total_tokens": read},
    }


def _places(text: str) -> list[Json]:
    """Each word a token, with numbers near it, or the opposite, as the next likely ones."""
    places = []
    for token in re.findall(r"\s*\S+", text):
        likely = [(token, -0.4)]
        if token.strip().isdigit():
            lead = token[: len(token) - len(token.strip())]
            likely += [(lead + str(int(token) - 1), -1.6), (lead + "10", -2.8)]
        elif token.strip() in OPPOSITES:
            likely += [(token.replace(token.strip(), OPPOSITES[token.strip()]), -1.2)]
        places.append({"token": token, "top_logprobs": [{"token": one, "logprob": chance} for one, chance in likely]})
    return places


def _message(body: Json, text: str) -> Json:
    tool = {"type": "tool_use", "id": "t", "name": "answer"}
    content = {**tool, "input": json.loads(text)} if body.get("tools") else {"type": "text", "text": text}
    return {
        "id": f"golden-{hashlib.sha256(json.dumps(body).encode()).hexdigest()[:8]}",
        "type": "message",
        "model": body["model"],
        "content": [content],
        "stop_reason": "end_turn",
        "usage": {"input_tokens": 900, "output_tokens": len(text.split()), "cache_read_input_tokens": 100},
    }


def _error(message: str, code: str) -> Json:
    return {"error": {"message": message, "type": "invalid_request_error", "code": code, "param": None}}


def _handler_of(server: ModelServer) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"
        wbufsize = -1

        def do_GET(self) -> None:
            self._send(200, {"object": "list", "data": [{"id": "plain", "object": "model"}]})

        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            told = {name.lower(): value for name, value in self.headers.items() if name.lower() in TELLING}
            try:
                self._send(*server.answer(self.path, told, body))
            except Exception as problem:  # Said when the session ends: here nobody would see it.
                server.failed.append(problem)
                self._send(400, _error("The server of the session failed", "failed"))

        def log_message(self, format: str, *args: object) -> None:
            """Say nothing."""

        def _send(self, status: int, data: Json) -> None:
            text = json.dumps(data).encode()
            self.send_response(status)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(text)))
            self.end_headers()
            self.wfile.write(text)
            self.wfile.flush()

    return Handler
