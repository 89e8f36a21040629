"""Which process works on a run or a contest: one at a time, and a dead one holds nothing."""

from __future__ import annotations

import os
import socket
from collections.abc import Callable, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from sqlalchemy import Connection, func, select, update

from evenhand.errors import Fault, StoreError
from evenhand.store.queries import StoredKind
from evenhand.store.rows import ALLOWED_VALUES, Row
from evenhand.store.tables import CALLS, RESULTS

HOLDER_TIMEOUT = timedelta(seconds=60)


def process_holder_name() -> str:
    """The name under which this process holds a run: host, process id, and when the process began."""
    return f"{socket.gethostname()}:{os.getpid()}:{_row_holder_start_ticks(os.getpid())}"


def hold_stored_row(
    connection: Connection, kind: StoredKind, id: str, holder: str, held: Callable[[Row], bool], where: str
) -> None:
    """Hold one of a kind and set it running; refused while another process works on it."""
    query = select(kind.table).where(kind.table.c.id == id).with_for_update()
    row = connection.execute(query).mappings().first()
    if row is None:
        raise StoreError(Fault(f"no {kind.word} {id!r}", where=where))
    if row["holder"] != holder and held(dict(row)):
        hint = f"wait for it, or stop it ({row['holder']})"
        raise StoreError(Fault(f"another process is at work on {kind.word} {id}", hint, where=where))
    values = {"holder": holder, "state": "running", "ended": None}
    connection.execute(update(kind.table).where(kind.table.c.id == id).values(**values))


def release_stored_row(
    connection: Connection, kind: StoredKind, id: str, state: str, ended: str, summary: str | None
) -> None:
    """Let go of one of a kind: stopped or finished, with its summary as JSON."""
    states = ALLOWED_VALUES[kind.table.name]["state"]
    if state not in states:
        raise StoreError(Fault(f"a {kind.word} cannot be {state!r}", f"one of {', '.join(states)}"))
    values = {"holder": None, "state": state, "ended": ended, "summary": summary}
    connection.execute(update(kind.table).where(kind.table.c.id == id).values(**values))


def is_run_row_held(connection: Connection, run: Mapping[str, Any], now: datetime) -> bool:
    """Whether a process that may still live works on a run."""
    return is_holder_alive(run, now, lambda: run_last_written(connection, run))


def is_holder_alive(row: Mapping[str, Any], now: datetime, seen: Callable[[], datetime]) -> bool:
    """Whether the holder of a row may still live; `seen`, when it last wrote, is asked of other machines only."""
    if not row["holder"] or row["state"] != "running":
        return False
    host, pid, began = f"{row['holder']}::".split(":")[:3]
    if host != socket.gethostname() or os.name != "posix" or not pid.isdecimal():
        return now - seen() < HOLDER_TIMEOUT
    try:
        os.kill(int(pid), 0)  # Asks only whether the process is there.
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _row_holder_start_ticks(int(pid)) == began  # The number of a dead process is given out again.


def run_last_written(connection: Connection, run: Mapping[str, Any]) -> datetime:
    """When a run last wrote something."""
    times = [run["started"], run["ended"]]
    for table in (CALLS, RESULTS):
        times.append(connection.execute(select(func.max(table.c.at)).where(table.c.run == run["id"])).scalar())
    return max(parse_stored_time(time) for time in times if time)


def parse_stored_time(text: str) -> datetime:
    """A time as the store keeps it; one without a zone is UTC."""
    time = datetime.fromisoformat(text)
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _row_holder_start_ticks(pid: int) -> str:
    """When a process began, in ticks since the machine did; "" where the system does not say, "dead" for a zombie."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "dead" if told[0] in "ZX" else told[19]
