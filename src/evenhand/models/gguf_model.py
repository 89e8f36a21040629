"""GGUF files as models: they run in this process, through llama.cpp."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import os
import secrets
import threading
import time
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.errors import Fault, JudgeError, ModelError, RefusedError
from evenhand.models.function_model import call_model_in_thread
from evenhand.models.openai_format import build_request_body, parse_reply_body
from evenhand.models.requests import Reply, Request, read_provider_object, read_provider_text
from evenhand.models.server_answers import AcceptedParameters

MAGIC = b"GGUF"
RUNTIME = "xllamacpp"
CONTEXT = 16_384  # Tokens of prompt and reply; a model that was trained on fewer has fewer.
STEP = 128  # Tokens of a prompt that are read at once; between two such steps a reply can be stopped.
CLOSING_SECONDS = 10.0  # More than a step takes: a process that ends in the middle of one may hang.
KEPT = 256  # Answers of one token that are remembered: the first ones.
_ACCEPTED = AcceptedParameters(formats=("json_schema",))


@dataclass(slots=True)
class _GgufCall:
    """One question to the runtime: what came so far, and whether anybody still waits for it."""

    body: dict[str, object]
    chunks: list[object] = field(default_factory=list)
    dropped: bool = False

    def take(self, chunk: object) -> bool:
        """Keep a part of the reply; true ends it."""
        self.chunks.append(chunk)
        return self.dropped


class GgufModel:
    """A model in a file. It is loaded once; a JudgeError says at once where it never could be."""

    def __init__(self, name: str, path: Path) -> None:
        try:
            with path.open("rb") as file:
                beginning = file.read(len(MAGIC))
        except OSError as problem:
            why = (problem.strerror or str(problem)).lower()
            raise JudgeError(Fault(f"the file cannot be read: {why}", where=name)) from None
        if beginning != MAGIC:
            raise JudgeError(Fault("this is not a GGUF file", "one begins with the letters GGUF", where=name))
        if importlib.util.find_spec(RUNTIME) is None:
            raise JudgeError(Fault("needs the extra local: pip install 'evenhand[local]'", where="gguf"))
        self.name = name
        self._path = path
        self._turn = asyncio.Lock()
        self._loading = threading.Lock()
        self._server: Any = None
        self._why_not = ""
        self._running: list[_GgufCall] = []
        self._kept: dict[str, Reply] = {}

    @cached_property
    def version(self) -> str:
        """The content of the file: another one of that name is another judge."""
        with self._path.open("rb") as file:
            return hashlib.file_digest(file, "blake2b").hexdigest()[:16]

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""
        # One after another: the questions about one output begin alike, and only the last prompt is kept.
        async with self._turn:
            settings = request.settings
            # What calibrates a judge is answered with one token, asked about every output, and never changes.
            key = request.key(self.name) if settings.max_tokens == 1 and not settings.temperature else ""
            kept = self._kept.get(key)
            if kept is None:
                reply = await self._answer(request)
                if key and len(self._kept) < KEPT:
                    self._kept[key] = reply
                return reply
        return replace(kept, seconds=0.0, usage=replace(kept.usage, cached=kept.usage.input))

    async def close(self) -> None:
        """Stop what is under way and let go of the model."""
        until = time.monotonic() + CLOSING_SECONDS
        for call in list(self._running):
            call.dropped = True
        while self._running and time.monotonic() < until:
            await asyncio.sleep(0.01)
        self._server = None

    async def _answer(self, request: Request) -> Reply:
        # Without a temperature the runtime would take one of its own.
        body = {"temperature": 0.0, **build_request_body(self._path.name, request, _ACCEPTED), **_ALWAYS}
        call, began = _GgufCall(body), time.monotonic()
        try:
            await call_model_in_thread(lambda _: self._run(call), request)
        except ModelError:
            raise
        except Exception as problem:
            raise RefusedError(f"{self.name}: {_shorten_gguf_error(str(problem))}") from None
        finally:
            call.dropped = True
        return self._reply(call.chunks, time.monotonic() - began)

    def _run(self, call: _GgufCall) -> None:
        """In a thread: load the model where that is still to be done, and let it answer."""
        with self._loading:
            if self._server is None and not self._why_not:
                try:
                    self._server = load_gguf_runtime(self.name, self._path)
                except RefusedError as problem:
                    self._why_not = str(problem)  # Trying again would take as long and fail again.
            if self._why_not:
                raise RefusedError(self._why_not, always=True)
            server = self._server
        if call.dropped:
            return
        self._running.append(call)
        try:
            server.handle_chat_completions(call.body, call.take)
        finally:
            self._running.remove(call)

    def _reply(self, chunks: list[object], seconds: float) -> Reply:
        whole = join_reply_chunks(chunks)
        error = read_provider_object(whole.get("error"))
        if error.get("type") == "exceed_context_size_error":
            long, most = error.get("n_prompt_tokens"), error.get("n_ctx")
            raise RefusedError(f"{self.name}: the prompt has {long} tokens, and this model reads {most} at most")
        if error:
            raise RefusedError(f"{self.name}: {_shorten_gguf_error(read_provider_text(error.get('message')))}")
        reply = parse_reply_body(whole, None, 1, seconds)
        if isinstance(reply, str):
            raise RefusedError(f"{self.name}: the answer cannot be read: {reply}")
        return replace(reply, model=f"{self.name} {self.version}")


# A model that could think first is asked not to. Progress is told so that a reply can be stopped at every step of it.
_ALWAYS: dict[str, object] = {
    "stream": True,
    "stream_options": {"include_usage": True},
    "return_progress": True,
    "chat_template_kwargs": {"enable_thinking": False},
}


def load_gguf_runtime(name: str, path: Path) -> Any:
    """The runtime with the model in it; a RefusedError where it cannot hold it."""
    runtime = importlib.import_module(RUNTIME)
    params = runtime.CommonParams()
    params.model.path = str(path)
    params.model_alias = {path.name}
    params.n_ctx = CONTEXT
    params.n_batch = params.n_ubatch = STEP
    params.n_parallel = 1
    # Its threads wait for each other hundreds of times a token: one that has to share its core holds up all.
    params.cpuparams.n_threads = params.cpuparams_batch.n_threads = max(1, (os.cpu_count() or 1) - 1)
    params.cache_ram_mib = 0  # Prompts that are not the last are not kept: they would take gigabytes.
    params.verbosity = -1
    # The runtime also listens on a port of this machine. Nobody knows this key, so nobody is answered there.
    params.api_keys = [secrets.token_hex(32)]
    params.ui = False
    try:
        return runtime.Server(params)
    except (RuntimeError, ValueError):
        raise RefusedError(
            f"{name}: llama.cpp cannot load this file: it is damaged, needs more memory than there is, or is of a kind "
            "that it does not know"
        ) from None


def join_reply_chunks(chunks: list[object]) -> dict[str, object]:
    """The parts of a reply as the one answer that it would have been in one piece."""
    text, reason = "", None
    whole: dict[str, object] = {}
    places: list[object] = []
    for chunk in map(read_provider_object, chunks):
        whole |= {key: chunk[key] for key in ("error", "usage", "model") if key in chunk}
        choices = chunk.get("choices")
        choice = read_provider_object(choices[0]) if isinstance(choices, list) and choices else {}
        text += read_provider_text(read_provider_object(choice.get("delta")).get("content"))
        content = read_provider_object(choice.get("logprobs")).get("content")
        places += content if isinstance(content, list) else []
        reason = choice.get("finish_reason") or reason
    answer = {"message": {"content": text}, "finish_reason": reason, "logprobs": {"content": places}}
    return {**whole, "choices": [answer] if chunks else []}


def _shorten_gguf_error(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:299] + "…"
