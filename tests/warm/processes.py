"""Evenhand in processes of its own, to be watched, signalled and killed; `server` starts them."""

import atexit
import fcntl
import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any
from uuid import uuid4

from tests.warm import server, shim

PATIENCE = 60.0  # Seconds until a process that should have ended is taken to hang.
ROOT = Path(__file__).parent.parent.parent
KEPT = ("PATH", "HOME", "LANG", "TMPDIR")


@dataclass(frozen=True)
class Done:
    """How a process ended and what it said."""

    code: int
    out: str
    err: str

    @property
    def head(self) -> Any:
        """What --json printed."""
        assert self.out, self.err
        return json.loads(self.out)


class Process:
    """A process under way."""

    def __init__(self, pid: int, out: Path, err: Path) -> None:
        self.pid = pid
        self._out = out
        self._err = err
        self._code: int | None = None
        self._handle = os.pidfd_open(pid)  # Can be read once the process has ended.

    @property
    def said(self) -> str:
        """What it wrote to standard error so far."""
        return self._err.read_text("utf-8")

    @property
    def printed(self) -> str:
        """What it wrote to standard output so far."""
        return self._out.read_text("utf-8")

    def signal(self, number: int) -> None:
        """Send it a signal; one that has ended is not reaped before we look, so its number is still its own."""
        if not self.over():
            os.kill(self.pid, number)

    def over(self) -> bool:
        """Whether it has ended."""
        return self._over(within=0)

    def _over(self, within: float) -> bool:
        if self._code is None and select.select([self._handle], [], [], within)[0]:
            self._code = ask({"pid": self.pid})
            os.close(self._handle)
        return self._code is not None

    def done(self, within: float = PATIENCE) -> Done:
        """How it ended; it is an error if it has not after so many seconds."""
        assert self._over(within), f"not over within {within:g} s"
        assert self._code is not None
        return Done(self._code, self._out.read_text("utf-8"), self.said)


@contextmanager
def started(
    folder: Path,
    *argv: str,
    environ: dict[str, str] | None = None,
    aside: Path | None = None,
    stdin: str = "",
    largest_file: int | None = None,
    obeys_permissions: bool = False,
    stdout: int | None = None,
) -> Iterator[Process]:
    """`evenhand ARGV` in a folder; it does not outlive the block.

    What it reads and prints is kept there, or aside; what it prints may be sent to an open file instead.
    """
    kept = (aside or folder) / uuid4().hex[:8]
    given, out, err = (kept.with_suffix(suffix) for suffix in (".in", ".out", ".err"))
    if stdin:
        given.write_text(stdin, "utf-8")
    order = {
        "argv": ["evenhand", *argv],
        "folder": str(folder),
        "environ": {**{name: os.environ[name] for name in KEPT if name in os.environ}, **(environ or {})},
        "largest_file": largest_file,
        "obeys_permissions": obeys_permissions,
        "streams": [0, 1, 2],
    }
    with (
        (given if stdin else Path("/dev/null")).open("rb") as read,
        out.open("wb") as said,
        err.open("wb") as complained,
    ):
        pid = ask(order, (read.fileno(), said.fileno() if stdout is None else stdout, complained.fileno()))
    process = Process(pid, out, err)
    try:
        yield process
    finally:
        process.signal(signal.SIGKILL)
        wait_until(process.over)


def run(folder: Path, *argv: str, **options: Any) -> Done:
    """The same, waited for."""
    with started(folder, *argv, **options) as process:
        return process.done()


def command_line(program: str, *argv: str) -> list[str]:
    """What a shell runs to have `evenhand ARGV`, or `python ARGV CODE`, in a forked process with the shell's streams.

    It has them as Python would: those that the shell closed are not there. A signal reaches only the one that waits.
    """
    return [sys.executable, "-I", "-S", shim.__file__, address(), program, *argv]


def module_command(name: str, *argv: str) -> list[str]:
    """The same for `python -m NAME ARGV` with a module of these tests."""
    code = f"import sys, runpy; sys.path.insert(0, {str(ROOT)!r}); runpy.run_module({name!r}, run_name='__main__')"
    return command_line("python", *argv, code)


def wait_until(reached: Callable[[], bool], within: float = PATIENCE) -> None:
    """Look again and again until something is so; it is an error if it is not so in time."""
    give_up = time.monotonic() + within
    while not reached():
        assert time.monotonic() < give_up, f"not reached within {within:g} s"
        time.sleep(0.005)


def ask(order: dict[str, Any], streams: tuple[int, ...] = ()) -> Any:
    """Give the parent of all processes an order, and take its reply."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET) as parent:
        parent.connect(address())
        socket.send_fds(parent, [json.dumps(order).encode()], streams)
        return json.loads(parent.recv(server.ORDER_BYTES))


@cache
def address() -> str:
    """Where the parent listens: one for all processes of these tests, and gone with the last of them."""
    run, prefix = os.environ.get("PYTEST_XDIST_TESTRUNUID"), "evenhand-warm-"
    folder = Path(tempfile.gettempdir(), prefix + run) if run else Path(tempfile.mkdtemp(prefix=prefix))
    folder.mkdir(mode=0o700, exist_ok=True)
    path, held, parent = folder / "socket", folder / "held", None
    with (folder / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            holding = os.open(held, os.O_WRONLY | os.O_NONBLOCK)  # The parent ends when nobody holds it any more.
        except OSError:  # Nobody has started one, or it has ended.
            holding, parent = _start(path, held)
    atexit.register(_end, holding, parent, folder)
    return str(path)


def _start(path: Path, held: Path) -> "tuple[int, subprocess.Popen[bytes]]":
    for old in (path, held):
        old.unlink(missing_ok=True)
    os.mkfifo(held)
    reading = os.open(held, os.O_RDONLY | os.O_NONBLOCK)
    holding = os.open(held, os.O_WRONLY)
    parent = subprocess.Popen(
        [sys.executable, server.__file__, str(path)],
        stdin=reading,
        stdout=subprocess.PIPE,
        env={**os.environ, "OPENBLAS_NUM_THREADS": "1"},  # A process with threads cannot be forked safely.
        start_new_session=True,  # Ctrl-C is for the tests.
    )
    os.close(reading)
    assert parent.stdout is not None
    assert parent.stdout.readline() == b"ready\n"
    return holding, parent


def _end(holding: int, parent: "subprocess.Popen[bytes] | None", folder: Path) -> None:
    os.close(holding)
    if parent:
        parent.communicate()
        shutil.rmtree(folder)
