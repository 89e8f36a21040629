"""Starts the small real model in a process of its own and waits until both of its doors answer."""

import json
import os
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
def started() -> Iterator[Servers]:
    """Both servers, for as long as the block lasts."""
    # Threads of OpenMP that wait by spinning would take the cores from the tests.
    environ = {**os.environ, "OMP_WAIT_POLICY": "passive", "GOMP_SPINCOUNT": "0"}
    with subprocess.Popen(
        [sys.executable, "-m", "tests.judging.llama"],
        cwd=ROOT,
        env=environ,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        start_new_session=True,  # Ctrl-C is for the tests; the server ends after them.
    ) as process:  # Leaving closes stdin, and with that the process ends.
        servers = Servers(**json.loads(_first_line(process)))
        _wait_for(servers.openai.removesuffix("/v1") + "/health")
        yield servers


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
