"""Running a command with an end to it: limits on time and output, and nothing of it left running."""

from __future__ import annotations

import os
import signal
import subprocess
import threading
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from time import monotonic
from typing import IO

MOST_PRINTED = 1_000_000  # Bytes.


@dataclass(frozen=True, slots=True, kw_only=True)
class Ended:
    """How a command ended; `cut_short` says why it was not let run on."""

    code: int
    stdout: bytes
    stderr: bytes
    cut_short: str = ""


def run_command(command: Sequence[str], stdin: bytes, seconds: float, folder: Path) -> Ended:
    """Run a command without a shell, in a process group of its own that ends with it."""
    until = monotonic() + seconds
    pipe = subprocess.PIPE
    process = subprocess.Popen(command, stdin=pipe, stdout=pipe, stderr=pipe, cwd=folder, start_new_session=True)
    assert process.stdin and process.stdout and process.stderr
    stdout, stderr = _Reader(process.stdout, process.pid), _Reader(process.stderr, process.pid)
    writer = threading.Thread(target=_write, args=(process.stdin, stdin), daemon=True)
    writer.start()
    cut_short = ""
    try:
        process.wait(max(0.0, until - monotonic()))
    except subprocess.TimeoutExpired:
        cut_short = f"gave no answer within {seconds:g} s"
    finally:
        _end_group(process.pid)
        process.wait()
    for thread in (writer, stdout.thread, stderr.thread):
        thread.join(1)  # A child that left the group may hold a pipe open for ever.
    if stdout.full or stderr.full:
        cut_short = f"printed more than {MOST_PRINTED:,} bytes"
    return Ended(code=process.returncode, stdout=bytes(stdout.read), stderr=bytes(stderr.read), cut_short=cut_short)


class _Reader:
    """Reads what a command prints, and ends the command when that is too much."""

    def __init__(self, stream: IO[bytes], group: int) -> None:
        self.read = bytearray()
        self.full = False
        self._stream = stream
        self._group = group
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def _run(self) -> None:
        with self._stream:
            while chunk := os.read(self._stream.fileno(), 65536):
                self.read += chunk
                if len(self.read) > MOST_PRINTED:
                    self.full = True
                    _end_group(self._group)
                    return


def _write(stream: IO[bytes], content: bytes) -> None:
    with suppress(OSError), stream:  # A command need not read what it is told.
        stream.write(content)


def _end_group(group: int) -> None:
    with suppress(ProcessLookupError, PermissionError):
        os.killpg(group, signal.SIGKILL)
