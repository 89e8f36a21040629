"""Programs and Python functions as variants: bounded in time and size, every failure an error that says why."""

from __future__ import annotations

import asyncio
import inspect
import json
import os
import shutil
import signal
import threading
import time
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from contextlib import suppress
from functools import partial
from typing import cast

from evenhand.errors import EvalError, Fault, OutputError
from evenhand.evals.output_data import clean_variant_text, read_variant_output_facts, read_variant_text
from evenhand.evals.sample import EvalSample, write_sample_output_entry
from evenhand.evals.variants.variant import (
    CommandVariant,
    FunctionVariant,
    OutputSlots,
    VariantFunction,
)
from evenhand.files.python_functions import build_program_environment, import_by_python_path
from evenhand.model.sample import VariantOutput
from evenhand.models.hidden_keys import CUT_MARGIN, ModelSecrets

LARGEST_COMMAND_OUTPUT = 10_000_000
_STDERR_TAIL = 2 * CUT_MARGIN  # Bytes; of those that come after a cut, the first may be half a key.
_KILL_GRACE = 5.0  # Seconds for a killed process to be gone.


class CommandVariantOutputs:
    """Starts the program of a variant, so many at once."""

    def __init__(
        self, variant: CommandVariant, environ: Mapping[str, str], secrets: ModelSecrets, places: OutputSlots
    ) -> None:
        self._variant = variant
        unset = [name for name in variant.env if name not in environ]
        if unset:
            raise EvalError(
                *(Fault(f"the environment variable {name} is not set", f"export {name}=…") for name in unset)
            )
        self._environ = build_program_environment(environ, variant.env)
        self._program = _find_variant_program(variant, environ)
        self._places = places
        self._secrets = secrets

    async def make(self, sample: EvalSample, repeat: int) -> VariantOutput:
        """What the program writes, or an OutputError that says what became of it."""
        sent = json.dumps(sample.variant_input(repeat)).encode()
        async with self._places:
            began = time.perf_counter()
            exchange = await self._start_process()
            try:
                async with asyncio.timeout(self._variant.seconds):
                    code = await exchange.send_and_wait(sent)
            except TimeoutError:
                raise OutputError(f"no output within {self._variant.seconds:g} s: it was stopped") from None
            finally:
                await exchange.kill_process()
            took = (time.perf_counter() - began) * 1000
        if exchange.size > LARGEST_COMMAND_OUTPUT:
            raise OutputError(f"it wrote more than the {LARGEST_COMMAND_OUTPUT:,} bytes allowed")
        if code:
            raise OutputError(self._describe_failure(code, exchange))
        try:
            return read_variant_text(exchange.written.decode(), took)
        except UnicodeDecodeError:
            raise OutputError("it wrote something that is not UTF-8 text") from None

    async def _start_process(self) -> _VariantProcessExchange:
        try:
            _, exchange = await asyncio.get_running_loop().subprocess_exec(
                _VariantProcessExchange,
                self._program,
                *self._variant.argv[1:],
                cwd=self._variant.folder,
                env=self._environ,
                start_new_session=True,  # A group of its own, so that all of it can be ended.
            )
        except (OSError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or str(problem)
            raise OutputError(f"{self._variant.argv[0]} cannot be started: {why.lower()}") from None
        return exchange

    def _describe_failure(self, code: int, exchange: _VariantProcessExchange) -> str:
        """How it ended and the last line that it said, without keys."""
        said = self._secrets.remove_keys(exchange.said.decode("utf-8", "replace"))
        lines = said[CUT_MARGIN if exchange.said_more else 0 :].strip().splitlines()
        last = self._secrets.hide_keys(lines[-1]) if lines else ""
        signals = {one.value: one.name for one in signal.Signals}
        how = f"exit code {code}" if code > 0 else f"ended by {signals.get(-code, f'signal {-code}')}"
        return f"{how}: {last}" if last else how


def _find_variant_program(variant: CommandVariant, environ: Mapping[str, str]) -> str:
    """The program, looked for from the folder of the eval file where its name has a path."""
    name = variant.argv[0]
    meant = str((variant.folder / name).absolute()) if os.sep in name else name
    found = shutil.which(meant, path=environ.get("PATH"))
    if found is None:
        raise EvalError(Fault(f"no program {name!r} can be started", "is it there, and may it be executed?"))
    return found


class _VariantProcessExchange(asyncio.SubprocessProtocol):
    """What goes to a process and comes from it; more than is allowed is counted and dropped, so that it never waits."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.said = bytearray()
        self.said_more = False  # Before that.
        self.size = 0
        self._streams = {1, 2}
        self._exited = asyncio.Event()
        self._finished = asyncio.Event()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Called by the loop: the process has been started."""
        self._process = cast(asyncio.SubprocessTransport, transport)

    def pipe_data_received(self, fd: int, data: bytes) -> None:
        """Called by the loop: the process has written something."""
        if fd == 1:
            self.size += len(data)
            self.written += data if self.size <= LARGEST_COMMAND_OUTPUT else b""
        else:
            self.said += data
            self.said_more = self.said_more or len(self.said) > _STDERR_TAIL
            del self.said[:-_STDERR_TAIL]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Called by the loop: nothing more comes from that side."""
        self._streams.discard(fd)
        self._notice_finished()

    def process_exited(self) -> None:
        """Called by the loop."""
        self._exited.set()
        self._notice_finished()

    async def send_and_wait(self, sent: bytes) -> int:
        """Send it all, wait for the end of everything, and give the exit code."""
        stdin = cast(asyncio.WriteTransport, self._process.get_pipe_transport(0))
        stdin.write(sent)
        stdin.close()
        await self._finished.wait()
        return self._process.get_returncode() or 0

    async def kill_process(self) -> None:
        """Where it is not over yet, end it with all its children."""
        if not self._finished.is_set():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.get_pid(), signal.SIGKILL)
        self._process.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_KILL_GRACE):
                await self._exited.wait()

    def _notice_finished(self) -> None:
        if self._exited.is_set() and not self._streams:
            self._finished.set()


GIVEN_A_DICT = "it gets the sample as a dict; a parameter annotated as str gets the input"


class FunctionVariantOutputs:
    """Calls the function of a variant, so often at once."""

    def __init__(self, variant: FunctionVariant, secrets: ModelSecrets, places: OutputSlots) -> None:
        self._variant = variant
        self._call = variant.call or _import_variant_function(variant, secrets)
        self._takes_text = _does_variant_take_text(self._call)
        self._secrets = secrets
        self._places = places

    async def make(self, sample: EvalSample, repeat: int) -> VariantOutput:
        """What the function returns, or an OutputError that says what it did in place of that."""
        async with self._places:
            try:
                async with asyncio.timeout(self._variant.seconds) as limit:
                    value, seconds = await self._call_function(sample.variant_input(repeat))
            except (Exception, SystemExit, asyncio.CancelledError) as problem:
                raise self._describe_failure(problem, limit) from None
        return _read_variant_function_output(value, seconds * 1000)

    async def _call_function(self, sample: dict[str, object]) -> tuple[object, float]:
        """What it returns, and the seconds it took from its start: without waiting for a thread or for the loop."""
        waits = inspect.iscoroutinefunction(self._call) or inspect.iscoroutinefunction(type(self._call).__call__)
        given = sample["input"] if self._takes_text else sample
        call = partial(_time_variant_call, self._call, given)
        answer, seconds = call() if waits else await _call_variant_in_daemon_thread(call)
        if inspect.isawaitable(answer):
            began = time.perf_counter()
            answer = await answer
            seconds += time.perf_counter() - began
        return answer, seconds

    def _describe_failure(self, problem: BaseException, limit: asyncio.Timeout) -> BaseException:
        if isinstance(problem, TimeoutError) and limit.expired():
            return OutputError(f"no output within {self._variant.seconds:g} s")
        task = asyncio.current_task()
        if isinstance(problem, asyncio.CancelledError) and task is not None and task.cancelling():
            return problem
        why = f"the function raised {self._secrets.hide_keys(f'{type(problem).__name__}: {problem}')}"
        return OutputError(f"{why} ({GIVEN_A_DICT})" if "dict" in str(problem) and not self._takes_text else why)


def _read_variant_function_output(value: object, took: float) -> VariantOutput:
    """What the function returned, read as strictly as what comes from a file: it is stored."""
    text = value.get("text") if isinstance(value, dict) else getattr(value, "text", value)
    if isinstance(text, str) and len(text) > LARGEST_COMMAND_OUTPUT:
        raise OutputError(f"the function returned more than the {LARGEST_COMMAND_OUTPUT:,} characters allowed")
    if isinstance(value, str):
        return VariantOutput(text=clean_variant_text(value), latency_ms=took)
    if isinstance(value, VariantOutput):
        try:
            value = write_sample_output_entry(value)
        except (AttributeError, TypeError):
            raise OutputError("the function returned a VariantOutput whose trace is not made of ToolCall") from None
    if isinstance(value, dict):
        return read_variant_output_facts(value, took)
    kind = "None" if value is None else type(value).__name__
    raise OutputError(f"the function returned {kind}, not a text, a dict or a VariantOutput")


def _does_variant_take_text(call: VariantFunction) -> bool:
    """Whether the first parameter of a function is annotated as a text."""
    try:
        first = next(iter(inspect.signature(call).parameters.values()), None)
    except (TypeError, ValueError):  # Some functions that are not written in Python do not say.
        return False
    return first is not None and first.annotation in (str, "str")


def _time_variant_call(call: VariantFunction, given: object) -> tuple[object, float]:
    began = time.perf_counter()
    answer = call(given)
    return answer, time.perf_counter() - began


async def _call_variant_in_daemon_thread(call: Callable[[], tuple[object, float]]) -> tuple[object, float]:
    """The thread is a daemon: a function that never returns keeps no process alive."""
    done: Future[tuple[object, float]] = Future()

    def run() -> None:
        done.set_running_or_notify_cancel()  # From now on nobody can cancel it, and a late result is no error.
        try:
            result = call()
        except BaseException as problem:
            # No coroutine can pass a StopIteration on, and whoever leaves a thread does not leave the process.
            passes = isinstance(problem, Exception) and not isinstance(problem, StopIteration)
            done.set_exception(problem if passes else OutputError(f"{type(problem).__name__}: {problem}"))
        else:
            done.set_result(result)

    threading.Thread(target=run, daemon=True).start()
    return await asyncio.wrap_future(done)


def _import_variant_function(variant: FunctionVariant, secrets: ModelSecrets) -> VariantFunction:
    """The function of that name, looked for from the folder of the eval file too."""
    try:
        thing = import_by_python_path(variant.name, variant.folder)
    except (Exception, SystemExit) as problem:
        said = secrets.hide_keys(f"{type(problem).__name__}: {problem}")
        what = f"python:{variant.name} cannot be loaded: {said}"
        raise EvalError(Fault(what, "as in python: my_bot:answer, for answer() in my_bot.py")) from None
    if not callable(thing):
        raise EvalError(Fault(f"python:{variant.name} is not a function"))
    return thing
