"""Real databases for tests: SQLite in a folder, and a PostgreSQL server of its own for every process of tests."""

import os
import pwd
import shutil
import socket
import sqlite3
import subprocess
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit
from uuid import uuid4

import psycopg
import pytest

from evenhand.store.store import Store

USER, PASSWORD = "evenhand", "not-a-secret"
DATABASES = ("sqlite", "postgresql")
SERVER = pytest.StashKey[str]()
MEMORY = Path("/dev/shm")
MEMORY_NEEDED = 2 << 30  # Containers often have 64 MB.


@pytest.fixture(scope="session")
def postgresql_server(pytestconfig: pytest.Config) -> str:
    """The address of a server without a database's name; it is started for these tests and stopped after them.

    Every folder of tests that imports this has a fixture of its own, and all of them have one server.
    """
    if SERVER not in pytestconfig.stash:
        programs = _programs()
        if programs is None:
            pytest.skip("PostgreSQL is not installed (scripts/install-debian installs it): it is not tested")
        running = ExitStack()
        pytestconfig.stash[SERVER] = running.enter_context(_server(programs))
        pytestconfig.add_cleanup(running.close)
    return pytestconfig.stash[SERVER]


@pytest.fixture(params=DATABASES)
def database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """A place for a store with nothing in it: a folder that is not there yet, or the address of a new database.

    The tables are there already in the database: making them takes four times as long as copying them.
    """
    if request.param == "sqlite":
        yield str(tmp_path / "store")
        return
    server = request.getfixturevalue("postgresql_server")
    with new_database(server, template=_made_tables(server)) as address:
        yield address


@pytest.fixture(params=DATABASES)
def empty_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[str]:
    """The same without tables, for tests of how they are made."""
    if request.param == "sqlite":
        yield str(tmp_path / "store")
        return
    with new_database(request.getfixturevalue("postgresql_server")) as address:
        yield address


@cache
def _made_tables(server: str) -> str:
    """The name of a database that Evenhand has made its tables in."""
    told(f"{server}/postgres", "CREATE DATABASE made_tables")
    Store.open(f"{server}/made_tables", {}).close()
    return "made_tables"


@contextmanager
def new_database(server: str, template: str = "template1") -> Iterator[str]:
    """A database on a server, removed afterwards with whoever is still connected."""
    name = f"test_{uuid4().hex}"
    told(f"{server}/postgres", f"CREATE DATABASE {name} TEMPLATE {template}")
    try:
        yield f"{server}/{name}"
    finally:
        told(f"{server}/postgres", f"DROP DATABASE {name} WITH (FORCE)")


@contextmanager
def cut_commit(
    address: str, sign: bytes, *, is_forwarded: bool, is_final: bool = False, refused: int = 0
) -> Iterator[str]:
    """The address of a server that is cut off once, or for good, at the commit after `sign` or before its answer.

    With `refused`, so many connections after that fail before it is back.
    """
    where, armed, missing = urlsplit(address), threading.Event(), iter(range(refused))
    armed.set()

    def carry_up(client: socket.socket, server: socket.socket, muted: threading.Event, done: threading.Event) -> None:
        seen = False
        with suppress(OSError), client, server:
            while said := client.recv(65536):
                seen = seen or sign in said
                if seen and b"COMMIT" in said and armed.is_set():
                    armed.clear()
                    muted.set()
                    if is_forwarded:
                        server.sendall(said)
                        done.wait(20)
                    server.shutdown(socket.SHUT_RDWR)
                    client.shutdown(socket.SHUT_RDWR)
                    return
                server.sendall(said)
            server.shutdown(socket.SHUT_RDWR)

    def carry_down(client: socket.socket, server: socket.socket, muted: threading.Event, done: threading.Event) -> None:
        with suppress(OSError):
            while heard := server.recv(65536):
                if muted.is_set():
                    done.set()
                else:
                    client.sendall(heard)

    def accept_all() -> None:
        with suppress(OSError):
            while True:
                client, _ = listening.accept()
                if not armed.is_set() and (is_final or next(missing, None) is not None):
                    client.close()
                    continue
                server = socket.create_connection((str(where.hostname), int(where.port or 5432)))
                ends = client, server, threading.Event(), threading.Event()
                for carry in (carry_up, carry_down):
                    threading.Thread(target=carry, args=ends, daemon=True).start()

    with socket.create_server(("127.0.0.1", 0)) as listening:
        threading.Thread(target=accept_all, daemon=True).start()
        yield address.replace(f":{where.port}/", f":{listening.getsockname()[1]}/")
        listening.shutdown(socket.SHUT_RDWR)
    assert not armed.is_set(), "nothing was cut"


def told(address: str, statement: str) -> None:
    """Run one statement on a server, past everything that is tested."""
    with psycopg.connect(address, autocommit=True) as connection:
        connection.execute(statement.encode())


def execute_statement(database: str, statement: str) -> None:
    """Run one statement on a store of either kind; whoever holds a lock is waited for no more than two seconds."""
    if "://" in database:
        told(database, f"SET lock_timeout = '2s'; {statement}")
        return
    with closing(sqlite3.connect(Path(database) / "store.sqlite", timeout=2)) as connection, connection:
        connection.execute(statement)


def silence_run(database: str, seconds: float) -> None:
    """Have the holders of all runs be silent for so long already."""
    execute_statement(database, f"UPDATE run_holds SET beat = beat - {seconds}")


def free_port() -> int:
    """A port of this machine that nobody listens on."""
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        return int(held.getsockname()[1])


def _programs() -> Path | None:
    """The folder with the newest initdb and postgres."""
    found = [Path(path).resolve() for path in (shutil.which("initdb"),) if path]
    found += Path("/usr/lib/postgresql").glob("*/bin/initdb")
    return max(found, key=lambda path: path.parts, default=Path()).parent if found else None


@contextmanager
def _server(programs: Path) -> Iterator[str]:
    # Not in pytest's folder: a server started by root runs as another user, who may not look into it.
    folder = Path(tempfile.mkdtemp(prefix="evenhand-pg-", dir=_memory()))
    user = _user()
    if user is not None:
        shutil.chown(folder, user)
    try:
        _initialise(programs, folder, user)
        port = free_port()
        settings = {"port": port, "listen_addresses": "127.0.0.1", "unix_socket_directories": folder, "fsync": "off",
                    "max_connections": 40, "shared_buffers": "16MB", "max_wal_size": "128MB"}  # fmt: skip
        options = [part for name, value in settings.items() for part in ("-c", f"{name}={value}")]
        with (folder / "log").open("wb") as log:
            process = subprocess.Popen(
                [programs / "postgres", "-D", folder / "data", *options], stdout=log, stderr=log, **_as(user)
            )
        try:
            address = f"postgresql://{USER}:{PASSWORD}@127.0.0.1:{port}"
            _wait_for(f"{address}/postgres", process, folder / "log")
            yield address
        finally:
            process.send_signal(3)  # SIGQUIT: at once; nothing here is worth saving.
            process.wait()
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _memory() -> Path | None:
    """Where files are kept in memory, if there is room: copying a database on a disk takes the system much longer."""
    return MEMORY if MEMORY.is_dir() and shutil.disk_usage(MEMORY).free > MEMORY_NEEDED else None


def _user() -> str | None:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return None
    known = Path("/etc/passwd").read_text("utf-8")
    return "postgres" if "\npostgres:" in known else "nobody"


def _as(user: str | None) -> dict[str, Any]:
    return {} if user is None else {"user": user, "group": _group(user), "extra_groups": []}


def _group(user: str) -> int:
    return pwd.getpwnam(user).pw_gid


def _initialise(programs: Path, folder: Path, user: str | None) -> None:
    password = folder / "password"
    password.write_text(PASSWORD, "utf-8")
    password.chmod(0o644)
    options = ("--auth=scram-sha-256", "--no-sync", "--encoding=UTF8", "--locale=C.UTF-8")
    command = (programs / "initdb", "-D", folder / "data", "-U", USER, "--pwfile", password, *options)
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder, **_as(user))
    assert done.returncode == 0, done.stderr


def _wait_for(address: str, process: "subprocess.Popen[bytes]", log: Path) -> None:
    give_up = time.monotonic() + 60
    while True:
        try:
            psycopg.connect(address).close()
        except psycopg.OperationalError:
            assert process.poll() is None, log.read_text("utf-8", "replace")
            assert time.monotonic() < give_up, log.read_text("utf-8", "replace")
            time.sleep(0.05)
        else:
            return
