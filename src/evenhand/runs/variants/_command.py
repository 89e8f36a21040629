"""A program per sample: bounded in time and in what it may write, and gone with all its children when it is over."""

from __future__ import annotations

import asyncio
import json
import os
import shutil
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from typing import cast

from evenhand.errors import EvalError, Fault, OutputError
from evenhand.judging.models._secrets import KEY_VARIABLES, Secrets
from evenhand.model import Made
from evenhand.runs._sample import RunSample
from evenhand.runs.variants._made import made_from_text
from evenhand.runs.variants._places import Places
from evenhand.runs.variants._variant import Command

LARGEST = 10_000_000
_TAIL = 4_000
_GRACE = 5.0  # Seconds for a killed process to be gone.


class Program:
    """Starts the program of a variant, so many at once."""

    def __init__(self, variant: Command, environ: Mapping[str, str], places: Places) -> None:
        self._variant = variant
        self._environ = environ
        self._program = _found(variant, environ)
        self._places = places
        self._secrets = Secrets(environ.get(variable, "") for variable in KEY_VARIABLES)

    async def make(self, sample: RunSample, repeat: int) -> Made:
        """What the program writes, or an OutputError that says what became of it."""
        sent = json.dumps(sample.sent(repeat)).encode()
        async with self._places:
            began = time.perf_counter()
            exchange = await self._started()
            try:
                async with asyncio.timeout(self._variant.seconds):
                    code = await exchange.over(sent)
            except TimeoutError:
                raise OutputError(f"no output within {self._variant.seconds:g} s: it was stopped") from None
            finally:
                await exchange.end()
            took = (time.perf_counter() - began) * 1000
        if exchange.size > LARGEST:
            raise OutputError(f"it wrote more than the {LARGEST:,} bytes allowed")
        if code:
            raise OutputError(self._failure(code, exchange.said))
        try:
            return made_from_text(exchange.written.decode(), took)
        except UnicodeDecodeError:
            raise OutputError("it wrote something that is not UTF-8 text") from None

    async def _started(self) -> _Exchange:
        try:
            _, exchange = await asyncio.get_running_loop().subprocess_exec(
                _Exchange,
                self._program,
                *self._variant.argv[1:],
                cwd=self._variant.folder,
                env=dict(self._environ),
                start_new_session=True,  # A group of its own, so that all of it can be ended.
            )
        except (OSError, ValueError) as problem:
            why = getattr(problem, "strerror", None) or str(problem)
            raise OutputError(f"{self._variant.argv[0]} cannot be started: {why.lower()}") from None
        return exchange

    def _failure(self, code: int, said: bytearray) -> str:
        """How it ended and the last line that it said, without keys."""
        lines = said.decode("utf-8", "replace").strip().splitlines()
        last = self._secrets.hidden(lines[-1]) if lines else ""
        how = f"exit code {code}" if code > 0 else f"ended by {_signal_name(-code)}"
        return f"{how}: {last}" if last else how


def _found(variant: Command, environ: Mapping[str, str]) -> str:
    """The program, looked for from the folder of the eval file where its name has a path."""
    name = variant.argv[0]
    meant = str((variant.folder / name).absolute()) if os.sep in name else name
    found = shutil.which(meant, path=environ.get("PATH"))
    if found is None:
        raise EvalError(Fault(f"no program {name!r} can be started", "is it there, and may it be executed?"))
    return found


class _Exchange(asyncio.SubprocessProtocol):
    """What goes to a process and comes from it; more than is allowed is counted and dropped, so that it never waits."""

    def __init__(self) -> None:
        self.written = bytearray()
        self.said = bytearray()
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
            self.written += data if self.size <= LARGEST else b""
        else:
            self.said += data
            del self.said[:-_TAIL]

    def pipe_connection_lost(self, fd: int, exc: Exception | None) -> None:
        """Called by the loop: nothing more comes from that side."""
        self._streams.discard(fd)
        self._look()

    def process_exited(self) -> None:
        """Called by the loop."""
        self._exited.set()
        self._look()

    async def over(self, sent: bytes) -> int:
        """Send it all, wait for the end of everything, and give the exit code."""
        stdin = cast(asyncio.WriteTransport, self._process.get_pipe_transport(0))
        stdin.write(sent)
        stdin.close()
        await self._finished.wait()
        return self._process.get_returncode() or 0

    async def end(self) -> None:
        """Where it is not over yet, end it with all its children."""
        if not self._finished.is_set():
            with suppress(ProcessLookupError, PermissionError):
                os.killpg(self._process.get_pid(), signal.SIGKILL)
        self._process.close()
        with suppress(TimeoutError):
            async with asyncio.timeout(_GRACE):
                await self._exited.wait()

    def _look(self) -> None:
        if self._exited.is_set() and not self._streams:
            self._finished.set()


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"
