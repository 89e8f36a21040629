"""A parent that has Evenhand imported and forks a process for every command: a start takes milliseconds, not seconds.

Orders are lines of JSON on standard input: a command to start, or the id of a process that may have ended.
"""

import ctypes
import gc
import json
import os
import resource
import signal
import struct
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

LOADED = (
    "evenhand.cli.app", "evenhand.cli.run", "evenhand.cli.progress", "evenhand.cli.run_tables",
    "evenhand.workflows.run", "evenhand.workflows.judge", "evenhand.workflows.audit", "evenhand.workflows.calibrate",
    "evenhand.workflows.compare", "evenhand.workflows.contest", "evenhand.workflows.rescore",
    "evenhand.compare.facts", "evenhand.compare.conclude", "evenhand.models.http_client",
    "evenhand.store.database", "alembic.command", "sqlalchemy.dialects.sqlite", "psycopg", "numpy.random",
    "evenhand.report.html.page_file", "evenhand.judging.embedded", "numpy.ma", "rich.table", "wordllama",
)  # fmt: skip

started: set[int] = set()


def main() -> None:
    """Carry orders out until there are no more, then end what is left."""
    for name in LOADED:
        import_module(name)
    gc.freeze()  # What is shared is not looked through again, nor copied for it, in every process.
    for line in sys.stdin:
        order = json.loads(line)
        sys.stdout.write(f"{json.dumps(_start(order) if 'argv' in order else _ended(order['pid']))}\n")
        sys.stdout.flush()
    for pid in started:
        os.kill(pid, signal.SIGKILL)


def _start(order: dict[str, Any]) -> int:
    """A process of Evenhand; it reads from a file, and what it prints goes into two more."""
    pid = os.fork()
    if pid:
        started.add(pid)
        return pid
    started.clear()
    os.setsid()
    os.chdir(order["folder"])
    os.dup2(os.open(order["stdin"], os.O_RDONLY), 0)
    for number, name in ((1, order["out"]), (2, order["err"])):
        os.dup2(os.open(name, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666), number)
    os.environ.clear()
    os.environ.update(order["environ"])
    if order["largest_file"] is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (order["largest_file"], order["largest_file"]))
    if order["obeys_permissions"]:
        _give_up_privileges()
    sys.argv = ["evenhand", *order["argv"]]
    import_module("evenhand.cli.entry").main()
    raise SystemExit(0)


def _give_up_privileges() -> None:
    """Be bound by the permissions of files, also as root: a process without capabilities is."""
    version = 0x20080522
    assert ctypes.CDLL(None).capset(struct.pack("Ii", version, 0), bytes(24)) == 0


def _ended(pid: int) -> int | None:
    """The exit code of a process, below zero for the signal that ended it; None while it lives."""
    found, status = os.waitpid(pid, os.WNOHANG)
    if not found:
        return None
    started.discard(pid)
    return os.waitstatus_to_exitcode(status)


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[3]))
    main()
