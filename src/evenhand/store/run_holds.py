"""Which process works on a run or a contest: it beats while it lives, and a token refuses the writes of one that
lost its run to another.
"""

from __future__ import annotations

import hashlib
import os
import re
import socket
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from math import inf
from pathlib import Path
from typing import Any
from uuid import uuid4

from sqlalchemy import ColumnElement, Connection, Dialect, bindparam, delete, insert, literal_column, select, update

from evenhand.errors import Fault, RunLostError, StoreError
from evenhand.store.queries import RUN_KIND, StoredKind
from evenhand.store.rows import ALLOWED_VALUES, Row, run_driver_sql, share_dialect
from evenhand.store.tables import CLAIMS, HOLDS, RUNS

BEAT_SECONDS = 10.0
_PROCESS_NUMBER = re.compile(r"[1-9][0-9]{0,8}")  # More digits are none that a system can be asked about.
PLAYER_SIGN = "#"  # In the name of a holder: what follows tells players of one process apart.
HOLDER_TIMEOUT = 60.0  # Seconds without a beat after which a process of another machine counts as dead.
# The clock of the database, in seconds: those of two machines may differ. With SQLite it is that of this machine.
DATABASE_CLOCKS: dict[str, ColumnElement[float]] = {
    "postgresql": literal_column("CAST(extract(epoch FROM clock_timestamp()) AS double precision)"),
    "sqlite": literal_column("((julianday('now') - 2440587.5) * 86400.0)"),
}


@dataclass(frozen=True, slots=True)
class RunHold:
    """That a process holds a run. Whoever takes the run over gets a higher token, and this one is worth nothing."""

    run: str
    token: int


def insert_run_hold(connection: Connection, run: str) -> RunHold:
    """The first hold on a run that has just been written down."""
    connection.execute(insert(HOLDS).values(run=run, token=1, beat=DATABASE_CLOCKS[connection.dialect.name]))
    return RunHold(run, 1)


def take_run_hold(connection: Connection, id: str, holder: str, where: str, setup: str | None = None) -> RunHold:
    """Hold a run and set it running, with another setup if one is given; refused while another process works on it."""
    lock_run_hold(connection, id)
    hold_stored_row(connection, RUN_KIND, id, holder, lambda run: is_run_row_held(connection, run), where)
    if setup is not None:
        connection.execute(update(RUNS).where(RUNS.c.id == id).values(setup=setup))
    connection.execute(delete(CLAIMS).where(CLAIMS.c.run == id))  # Who made them asks no more.
    beat = {"token": HOLDS.c.token + 1, "beat": DATABASE_CLOCKS[connection.dialect.name]}
    if not connection.execute(update(HOLDS).where(HOLDS.c.run == id).values(**beat)).rowcount:
        return insert_run_hold(connection, id)
    return RunHold(id, connection.execute(select(HOLDS.c.token).where(HOLDS.c.run == id)).scalar_one())


def lock_run_hold(connection: Connection, run: str) -> None:
    """Let nobody write to a run, hold it or beat for it until the transaction is over.

    Before anything else of a run is locked: whoever writes takes them in this order too.
    """
    connection.execute(select(HOLDS.c.token).where(HOLDS.c.run == run).with_for_update())


def beat_run_hold(connection: Connection, hold: RunHold, where: str) -> None:
    """Note that the process that holds a run lives; a RunLostError where it holds it no more."""
    beat = update(HOLDS).where(HOLDS.c.run == hold.run, HOLDS.c.token == hold.token)
    if not connection.execute(beat.values(beat=DATABASE_CLOCKS[connection.dialect.name])).rowcount:
        raise RunLostError(
            explain_lost_run_hold(connection, hold, where) or Fault(f"run {hold.run} is lost", where=where)
        )


def explain_lost_run_hold(connection: Connection, hold: RunHold, where: str) -> Fault | None:
    """Why a hold is worth nothing any more; None where it is still good, and stays so until the transaction is over."""
    query = _compile_token_query(share_dialect(connection))
    found = run_driver_sql(connection, query, {"of_run": hold.run}).fetchone()
    token = None if found is None else found[0]
    if token == hold.token:
        return None
    if token is None:
        hint = f"it was deleted while this process gave no sign of life for more than {HOLDER_TIMEOUT:g} s; run it anew"
        return Fault(f"run {hold.run} is gone", hint, where=where)
    holder = connection.execute(select(RUNS.c.holder).where(RUNS.c.id == hold.run)).scalar()
    hint = "the replies that were paid for here are kept; evenhand run EVAL --resume goes on once the other has ended"
    return Fault(f"another process has taken over run {hold.run} ({holder or 'and has let it go'})", hint, where=where)


@cache
def _compile_token_query(dialect: Dialect) -> str:
    """The token of a run that stays what it is until the transaction is over: every batch of rows asks for it."""
    query = select(HOLDS.c.token).where(HOLDS.c.run == bindparam("of_run")).with_for_update(read=True)
    return str(query.compile(dialect=dialect))


def is_run_row_held(connection: Connection, run: Mapping[str, Any]) -> bool:
    """Whether a process that may still live works on a run."""
    since = select(DATABASE_CLOCKS[connection.dialect.name] - HOLDS.c.beat).where(HOLDS.c.run == run["id"])
    return is_lock_holder_alive(run, lambda: connection.execute(since).scalar())


def is_lock_holder_alive(row: Mapping[str, Any], read_silence: Callable[[], float | None]) -> bool:
    """Whether the holder of a row may still live; for how many seconds it was silent is asked of other machines only.

    None is a process that never gave a sign of life.
    """
    if not row["holder"] or row["state"] != "running":
        return False
    process, _, player = str(row["holder"]).partition(PLAYER_SIGN)
    lives = _is_lock_process_alive_here(process)
    if lives is None or (lives and player):  # A process may live on when one of its players does not.
        silence = read_silence()
        return (inf if silence is None else silence) < HOLDER_TIMEOUT
    return lives


def _is_lock_process_alive_here(name: str) -> bool | None:
    """Whether a process of this machine lives; None for one of another machine, which cannot be seen from here, and
    for what is no number of a process: its last sign of life tells then, so that one that lives loses nothing.
    """
    host, number, began = f"::{name}".rsplit(":", 2)
    here = host.removeprefix("::") in (socket.gethostname(), f"{socket.gethostname()}:{_mark_lock_process_space()}")
    if not here or os.name != "posix" or _PROCESS_NUMBER.fullmatch(number) is None:
        return None
    pid = int(number)
    try:
        os.kill(pid, 0)  # Asks only whether the process is there.
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return _row_holder_start_ticks(pid) == began  # The number of a dead process is given out again.


def name_lock_process() -> str:
    """The name under which this process holds a run: host, where its number counts, the number, when it began."""
    mark = _mark_lock_process_space()
    host = f"{socket.gethostname()}:{mark}" if mark else socket.gethostname()
    return f"{host}:{os.getpid()}:{_row_holder_start_ticks(os.getpid())}"


def name_lock_holder_of_contest() -> str:
    """A new name below that of this process, which may do several things at once."""
    return f"{name_lock_process()}{PLAYER_SIGN}{uuid4().hex}"


@cache
def _mark_lock_process_space() -> str:
    """Where the numbers of processes count: two containers may share a name, and do not see each other's processes."""
    try:
        boot = Path("/proc/sys/kernel/random/boot_id").read_text("utf-8")
        return hashlib.sha256(f"{boot}{Path('/proc/self/ns/pid').readlink()}".encode()).hexdigest()[:6]
    except OSError:
        return ""


def _row_holder_start_ticks(pid: int) -> str:
    """When a process began, in ticks since the machine did; "" where the system does not say, "dead" for a zombie."""
    try:
        told = Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(")")[2].split()
    except OSError:
        return ""
    return "dead" if told[0] in "ZX" else told[19]


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


@contextmanager
def keep_run_hold_beating(beat: Callable[[], None], on_lost: Callable[[], object]) -> Iterator[None]:
    """A context in which a thread beats again and again."""
    over = threading.Event()
    thread = threading.Thread(
        target=_beat_run_hold_until, args=(over, beat, on_lost), name="evenhand-heartbeat", daemon=True
    )
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def _beat_run_hold_until(over: threading.Event, beat: Callable[[], None], on_lost: Callable[[], object]) -> None:
    """Beat for a run until that is over, or another process has the run: then `on_lost` is called."""
    while not over.wait(BEAT_SECONDS):
        try:
            beat()
        except RunLostError:
            on_lost()
            return
        except StoreError:
            continue  # A database that cannot be reached for a moment: the next beat tells.
