"""Models that run in this process: Python functions, and GGUF files through llama.cpp."""

from __future__ import annotations

import asyncio
import hashlib
import importlib.util
import inspect
import os
import secrets
import sys
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from evenhand.errors import BudgetError, BusyError, CircuitOpenError, Fault, JudgeError, ModelError, RefusedError
from evenhand.files.python_functions import import_by_python_path
from evenhand.models.hidden_keys import ModelSecrets, hide_api_keys_in_reply
from evenhand.models.limits import Limits
from evenhand.models.model_names import FunctionPath
from evenhand.models.openai_format import build_request_body, parse_model_reply_body
from evenhand.models.requests import Reply, Request, read_provider_object, read_provider_text
from evenhand.models.server_answers import AcceptedParameters

ModelFunction = Callable[[Request], object]
QUICK_TEXT = 20_000  # Characters that are looked through at once; more in a thread.


@dataclass(slots=True)
class FunctionModel:
    """A model that is a function: it gets the request and returns the text of the reply, or a Reply."""

    name: str
    _call: ModelFunction
    _limits: Limits
    _secrets: ModelSecrets
    source: str = ""  # A hash of its code, where that is known.
    version: str = ""  # As it states it itself.

    async def ask(self, request: Request) -> Reply:
        """What the function returns; the time it took does not include waiting for its turn."""
        began = time.monotonic()
        try:
            async with asyncio.timeout(self._limits.attempt_seconds) as limit:
                # A plain function runs in a thread, so that it holds nobody else up.
                call = self._call
                if inspect.iscoroutinefunction(call) or inspect.iscoroutinefunction(type(call).__call__):
                    answer = call(request)
                else:
                    answer = await call_model_in_thread(call, request)
                answer = await answer if inspect.isawaitable(answer) else answer
        except ModelError as problem:
            raise _hide_keys_in_model_error(problem, self._secrets) from None
        except (Exception, SystemExit, asyncio.CancelledError) as problem:
            if isinstance(problem, TimeoutError) and limit.expired():
                raise BusyError(f"{self.name}: no reply within {self._limits.attempt_seconds:g} s", late=True) from None
            task = asyncio.current_task()
            if isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling() > 0:
                raise  # We are being stopped: it is not the function that says so of itself.
            kind = "" if isinstance(problem, UnraisableError) else type(problem).__name__
            said = self._secrets.hide_keys(": ".join(filter(None, (kind, str(problem).strip(": ")))))
            why = f"{self.name}: the function raised {said}"
            # A server behind the function that is down may be up again; a fault in the function stays one until mended.
            raise (BusyError(why) if isinstance(problem, OSError) else RefusedError(why, always=True)) from None
        took = time.monotonic() - began
        told = answer.text if isinstance(answer, Reply) else answer
        if isinstance(told, str) and len(told) > self._limits.largest_reply:
            most = self._limits.largest_reply
            raise RefusedError(f"{self.name}: the reply is longer than the {most:,} characters allowed")
        if isinstance(answer, str):
            answer = Reply(text=answer, stop="end", model=self.name, seconds=took)
        if isinstance(answer, Reply) and isinstance(answer.text, str):
            reply = answer if answer.seconds or answer.recorded else replace(answer, seconds=took)
            if len(reply.text) > QUICK_TEXT:
                return await asyncio.to_thread(hide_api_keys_in_reply, reply, self._secrets)
            return hide_api_keys_in_reply(reply, self._secrets)
        why = f"{self.name}: the function returned {type(answer).__name__}, not a text or a Reply"
        raise RefusedError(why, always=True)


_MODEL_ERRORS = (CircuitOpenError, BusyError, RefusedError, BudgetError, ModelError)  # The narrower ones first.
_SAID_BY_MODEL_ERRORS = ("attempts", "late", "always")


def _hide_keys_in_model_error(problem: ModelError, secrets: ModelSecrets) -> ModelError:
    """The same kind of error without keys in its message, nor anything else that a class of others may show."""
    kind = next(one for one in _MODEL_ERRORS if isinstance(problem, one))
    hidden = kind(secrets.hide_keys(str(problem)))
    vars(hidden).update({name: said for name, said in vars(problem).items() if name in _SAID_BY_MODEL_ERRORS})
    return hidden


def name_function_model(judge: object) -> str | None:
    """What a judge of one's own is called: its `name`, its class, or its function; None where it is no judge."""
    if isinstance(judge, type):
        return None
    name = getattr(judge, "name", None)
    if callable(getattr(judge, "ask", None)):
        return name if isinstance(name, str) and name else type(judge).__name__
    own = getattr(judge, "__name__", None)
    return own if callable(judge) and isinstance(own, str) else None


async def call_model_in_thread(call: ModelFunction, request: Request) -> object:
    """What a plain function returns. The thread is a daemon: one that never returns keeps no process alive."""
    loop = asyncio.get_running_loop()
    done: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()

    def finish(value: object, problem: BaseException | None) -> None:
        if not done.done():
            done.set_result((value, problem))

    def run() -> None:
        value: object = None
        problem: BaseException | None = None
        try:
            value = call(request)
        except BaseException as error:
            # No coroutine can pass a StopIteration on, and whoever leaves a thread does not leave the process.
            passes = isinstance(error, Exception) and not isinstance(error, StopIteration)
            problem = error if passes else UnraisableError(f"{type(error).__name__}: {error}")
        with suppress(RuntimeError):  # Nobody waits any more.
            loop.call_soon_threadsafe(finish, value, problem)

    threading.Thread(target=run, daemon=True).start()
    value, problem = await done
    if problem is not None:
        raise problem
    return value


class UnraisableError(Exception):
    """Something a function raised that cannot travel as it is."""


def load_model_function(name: str, meant: FunctionPath, secrets: ModelSecrets) -> ModelFunction:
    """The function of that name, looked for from the working directory."""
    try:
        thing = import_by_python_path(f"{meant.module}:{meant.function}", Path())
    except (Exception, SystemExit) as problem:
        why = f"cannot be loaded: {secrets.hide_keys(f'{type(problem).__name__}: {problem}')}"
        hint = "as in python:my_judges:strict, for strict() in my_judges.py"
        if isinstance(problem, ModuleNotFoundError) and problem.name == meant.module.partition(".")[0]:
            hint = f"it is looked for from the working directory: run this where {problem.name}.py is"
        raise JudgeError(Fault(why, hint, where=name)) from None
    if not callable(thing):
        raise JudgeError(Fault(f"{meant.function} is not a function", where=name))
    return thing


def hash_model_function_source(meant: FunctionPath) -> str:
    """A hash of the file that a function which was found is in; empty where there is no such file."""
    file = getattr(sys.modules.get(meant.module), "__file__", None)
    try:
        return hashlib.sha256(Path(file).read_bytes()).hexdigest() if file else ""
    except OSError:
        return ""


MAGIC = b"GGUF"
RUNTIME = "xllamacpp"
CONTEXT = 16_384  # Tokens of prompt and reply; a model that was trained on fewer has fewer.
STEP = 128  # Tokens of a prompt that are read at once; between two such steps a reply can be stopped.
CLOSING_SECONDS = 10.0  # More than a step takes: a process that ends in the middle of one may hang.
KEPT = 256  # Answers of one token that are remembered: the first ones.
_ACCEPTED = AcceptedParameters(formats=("json_schema",))


@dataclass(slots=True)
class _GgufModelCall:
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
            raise JudgeError(Fault("needs the extra local: pip install '/path/to/evenhand[local]'", where="gguf"))
        self.name = name
        self._path = path
        self._turn = asyncio.Lock()
        self._loading = threading.Lock()
        self._server: Any = None
        self._why_not = ""
        self._running: list[_GgufModelCall] = []
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
        call, began = _GgufModelCall(body), time.monotonic()
        try:
            await call_model_in_thread(lambda _: self._run(call), request)
        except ModelError:
            raise
        except Exception as problem:
            raise RefusedError(f"{self.name}: {_shorten_gguf_model_error(str(problem))}", always=True) from None
        finally:
            call.dropped = True
        return self._reply(call.chunks, time.monotonic() - began)

    def _run(self, call: _GgufModelCall) -> None:
        """In a thread: load the model where that is still to be done, and let it answer."""
        with self._loading:
            if self._server is None and not self._why_not:
                try:
                    self._server = load_gguf_model_runtime(self.name, self._path)
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
        whole = join_model_reply_chunks(chunks)
        error = read_provider_object(whole.get("error"))
        if error.get("type") == "exceed_context_size_error":
            long, most = error.get("n_prompt_tokens"), error.get("n_ctx")
            raise RefusedError(f"{self.name}: the prompt has {long} tokens, and this model reads {most} at most")
        if error:
            raise RefusedError(f"{self.name}: {_shorten_gguf_model_error(read_provider_text(error.get('message')))}")
        reply = parse_model_reply_body(whole, None, 1, seconds)
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


def load_gguf_model_runtime(name: str, path: Path) -> Any:
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


def join_model_reply_chunks(chunks: list[object]) -> dict[str, object]:
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


def _shorten_gguf_model_error(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= 300 else line[:299] + "…"
