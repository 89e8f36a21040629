"""Starts the small real model in a process of its own, once, and waits until both of its doors answer."""

import fcntl
import json
import os
import shlex
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
SECONDS_TO_START = 60
TRIES = 100


@dataclass(frozen=True, slots=True)
class Servers:
    """Where the model answers: OpenAI's format below `openai` (…/v1), Anthropic's below `anthropic`."""

    openai: str
    anthropic: str


@contextmanager
def shared(folder: Path) -> Iterator[Servers]:
    """Both servers, one pair for all processes that name this folder, for as long as any of them is in the block."""
    said, stdin = folder / "model-servers.json", folder / "model-servers.stdin"
    process = None
    with (folder / "model-servers.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            held = os.open(stdin, os.O_WRONLY | os.O_NONBLOCK)  # The server ends when nobody holds this any more.
        except OSError:  # Nobody has started one, or it has ended.
            process = _start(stdin)
            held = os.open(stdin, os.O_WRONLY)
            said.write_text(_first_line(process), "utf-8")
    servers = Servers(**json.loads(said.read_text("utf-8")))
    try:
        _wait_for(servers.openai.removesuffix("/v1") + "/health")
        yield servers
    finally:
        os.close(held)
        if process:
            process.communicate()


def _start(stdin: Path) -> "subprocess.Popen[str]":
    if not stdin.exists():
        os.mkfifo(stdin)
    # Threads of OpenMP that wait by spinning would take the cores from the tests.
    environ = {**os.environ, "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
    command = shlex.join([sys.executable, "-m", "tests.judging.llama"])
    return subprocess.Popen(
        ["sh", "-c", f"exec {command} < {shlex.quote(str(stdin))}"],  # Here it would wait for a writer.
        cwd=ROOT,
        env=environ,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the tests; the server ends after them.
    )


def _first_line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    too_late = threading.Timer(SECONDS_TO_START, process.kill)
    too_late.start()
    line = process.stdout.readline()
    too_late.cancel()
    if not line:
        raise RuntimeError(f"the model server did not start within {SECONDS_TO_START} seconds: see its stderr")
    return line


def _wait_for(url: str) -> None:
    for _ in range(TRIES):
        try:
            with urllib.request.urlopen(url, timeout=5):
                return
        except OSError:  # Not listening yet, or 503 while the model loads.
            time.sleep(0.1)
    raise RuntimeError(f"the model server does not answer at {url}")
