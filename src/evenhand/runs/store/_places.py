"""Where a store is: a file in a folder, or a server; and how each is opened."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from sqlite3 import Connection as SQLiteConnection
from sqlite3 import Error as SQLiteError
from time import monotonic, sleep
from typing import Any

from sqlalchemy import Connection, Engine, create_engine, event, make_url
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, SQLAlchemyError

from evenhand.errors import Fault, StoreError
from evenhand.runs.store._faults import fault_of

VARIABLE = "EVENHAND_DATABASE_URL"
FOLDER = ".evenhand"
FILE = "store.sqlite"
PATIENCE = 60  # Seconds to wait while another process writes.
_PRAGMAS = ("synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON", "cache_size=-2000", "wal_autocheckpoint=4000")


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """One store: its address, its file if it is one, and how messages name it."""

    url: URL
    shown: str
    file: Path | None = None

    @contextmanager
    def told(self) -> Iterator[None]:
        """Whatever goes wrong with a file or a database becomes one StoreError that names the store."""
        try:
            yield
        except (SQLAlchemyError, SQLiteError, OSError, UnicodeError, OverflowError) as error:
            raise StoreError(fault_of(error, self.shown, str(self.url.password or ""))) from error


def place_of(given: str | Path | None, environ: Mapping[str, str]) -> Place:
    """The store that is meant: what is given, else what the environment names, else the folder .evenhand."""
    if given is None:
        given = environ.get(VARIABLE) or FOLDER
    if isinstance(given, str) and "://" in given:
        return _by_url(given)
    return _in_file(Path(given) if Path(given).suffix == ".sqlite" else Path(given) / FILE)


def engine_of(place: Place) -> Engine:
    """The way to a store; `reading` and `writing` make transactions of it."""
    if place.file is not None:
        engine = create_engine(place.url, hide_parameters=True, connect_args={"timeout": PATIENCE})
        event.listen(engine, "connect", _prepare)
        event.listen(engine, "begin", _begin)
        return engine
    try:
        return create_engine(place.url, hide_parameters=True, connect_args={"connect_timeout": 10})
    except ImportError:
        hint = "pip install 'evenhand[postgres]'"
        raise StoreError(Fault("PostgreSQL needs the package psycopg", hint, where=place.shown)) from None


def reading(engine: Engine) -> Engine:
    """The same engine, for transactions that see one state of the store from beginning to end."""
    if engine.dialect.name == "sqlite":
        return engine
    return engine.execution_options(isolation_level="REPEATABLE READ")


def writing(engine: Engine) -> Engine:
    """The same engine, for transactions that write, and see what others have written when it is their turn."""
    if engine.dialect.name == "sqlite":
        return engine.execution_options(writes=True)
    return engine.execution_options(isolation_level="READ COMMITTED")


def _by_url(text: str) -> Place:
    scheme = text.partition("://")[0]
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):  # Its message may quote the address, password and all.
        hint = "as in postgresql://user:password@host:5432/database"
        raise StoreError(Fault("cannot be read as an address", hint, where=f"{scheme}://…")) from None
    if scheme == "sqlite" and url.database:
        return _in_file(Path(url.database))
    if scheme not in ("postgresql", "postgres", "postgresql+psycopg"):
        hint = "a store is a folder or postgresql://user:password@host:5432/database"
        raise StoreError(Fault("is no database that Evenhand knows", hint, where=f"{scheme}://…"))
    shown = url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
    return Place(url=url.set(drivername="postgresql+psycopg"), shown=shown)


def _in_file(file: Path) -> Place:
    return Place(url=URL.create("sqlite", database=str(file.absolute())), shown=str(file), file=file)


def _prepare(connection: SQLiteConnection, _record: Any) -> None:
    connection.isolation_level = None  # Transactions begin where we say so, not where the driver guesses.
    _log_ahead(connection)
    for pragma in _PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _log_ahead(connection: SQLiteConnection) -> None:
    """Switch to WAL; SQLite does not wait for others here, however patient it was told to be."""
    give_up = monotonic() + PATIENCE
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except connection.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or monotonic() > give_up:
                raise
            sleep(0.02)


def _begin(connection: Connection) -> None:
    # A transaction that reads first and writes later fails as soon as another has written in between.
    writes = connection.get_execution_options().get("writes")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")
