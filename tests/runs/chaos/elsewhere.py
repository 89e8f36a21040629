"""Evenhand as on another machine, beating fast: python -m tests.runs.chaos.elsewhere ARGV."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from evenhand.cli.app import run_cli
from evenhand.store import run_holds

ROOT = Path(__file__).parents[3]


@contextmanager
def started_elsewhere(folder: Path, *argv: str, place: str) -> Iterator["subprocess.Popen[str]"]:
    """`evenhand ARGV` in a folder on another machine; it does not outlive the block."""
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.runs.chaos.elsewhere", *argv],
        cwd=folder,
        env={**os.environ, "PYTHONPATH": str(ROOT), "EVENHAND_DATABASE_URL": place},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


if __name__ == "__main__":
    socket.gethostname = lambda: "elsewhere"
    run_holds.BEAT_SECONDS = 0.05
    run_cli()
