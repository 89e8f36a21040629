"""Who works on a run: one process at a time, and a dead one holds nothing."""

from __future__ import annotations

import os
import socket
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select

from evenhand.runs.store._tables import CALLS, RESULTS

RECENT = timedelta(seconds=60)


def this_process() -> str:
    """The name under which this process holds a run: host, process id, and when the process began."""
    return f"{socket.gethostname()}:{os.getpid()}:{_began(os.getpid())}"


def is_held(connection: Connection, run: Mapping[str, Any], now: datetime) -> bool:
    """Whether a process that may still live works on a run."""
    if not run["holder"] or run["state"] != "running":
        return False
    host, pid, began = (run["holder"] + "::").split(":")[:3]
    if host == socket.gethostname() and os.name == "posix" and pid.isdecimal():
        return _lives(int(pid), began)
    return now - last_seen(connection, run) < RECENT


def last_seen(connection: Connection, run: Mapping[str, Any]) -> datetime:
    """When a run last wrote something."""
    times = [run["started"], run["ended"]]
    for table in (CALLS, RESULTS):
        times.append(connection.execute(select(func.max(table.c.at)).where(table.c.run == run["id"])).scalar())
    return max(_moment(time) for time in times if time)


def _lives(pid: int, began: str) -> bool:
    try:
        os.kill(pid, 0)  # Asks only whether the process is there.
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _began(pid) == began  # The number of a dead process is given out again.


def _began(pid: int) -> str:
    """When a process began, in ticks since the machine did; "" where the system does not say, "dead" for a zombie."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "dead" if told[0] in "ZX" else told[19]


def _moment(text: str) -> datetime:
    moment = datetime.fromisoformat(text)
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
