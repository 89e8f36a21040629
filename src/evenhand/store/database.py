"""Where a store is, how it is opened and brought to the schema of this version, and what its failures mean."""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache, partial
from pathlib import Path
from sqlite3 import Connection as SQLiteConnection
from sqlite3 import Error as SQLiteError
from time import monotonic, sleep
from typing import Any
from urllib.parse import parse_qsl, quote

from sqlalchemy import Connection, Engine, create_engine, event, func, insert, inspect, make_url, select
from sqlalchemy.dialects import postgresql, sqlite
from sqlalchemy.engine import URL
from sqlalchemy.exc import ArgumentError, DBAPIError, SQLAlchemyError
from sqlalchemy.schema import CreateIndex, CreateTable

from evenhand.errors import Fault, StoreError
from evenhand.store.tables import METADATA, SCHEMA_VERSION, VERSIONS

DATABASE_VARIABLE = "EVENHAND_DATABASE_URL"
STORE_FOLDER = ".evenhand"
STORE_FILE = "store.sqlite"
ADDRESS_HINT = (
    "as in postgresql://user:password@host:5432/database; in a password write @ as %40, / as %2F, ? as %3F, # as %23"
)
_SERVER_SCHEMES = ("postgresql", "postgres", "postgresql+psycopg")
_SCHEME = re.compile(r"[a-z][a-z0-9+]{0,30}")
# A scheme, a user with a password, or the words by which PostgreSQL takes them; a single letter is a drive.
_BROKEN_ADDRESS = re.compile(
    r"^\s*[a-z][a-z0-9+.-]+:|:[^/]*@|@.*:|^\s*(?:postgres|sqlite|mysql|mariadb)\w*[/\\]{2}|\b(?:host|user|password|dbname)=",
    re.IGNORECASE,
)
_HOST_LABEL = r"[^\W_](?:[\w-]*[^\W_])?"  # Containers have names with `_`, but not at an end.
# What any reader takes apart in the same way. Of an @ too many, or a / or a ? before it, one reader would look up as a
# host, or show as a database, what another knows to be the rest of a password.
_SERVER_ADDRESS = re.compile(
    r"""[a-z0-9+]+:// (?:[^@/?\#\[\]\s]*@)?
    (?: \[[0-9a-f:.]+(?:%[\w.-]+)?\] | (?:LABEL(?:[.,]LABEL)*\.?)? ) (?: :(?P<port>[0-9]{1,5})? )?
    (?:/[^@?\#\s]*)? (?:\?[^@\#\s;]*)?""".replace("LABEL", _HOST_LABEL),
    re.VERBOSE | re.IGNORECASE,
)
_BROKEN_OPTION = (
    "an option behind the ? of its address is not known, or has a value that is not"  # It may be a password.
)
_LARGEST_PORT = 65535
_OTHER_NAMES = {"database": "dbname"}  # Of fields in the query of an address.
# One that is none is taken as it stands by some and refused by others; behind a zero byte, a driver reads no further.
_BROKEN_ESCAPE = re.compile(r"%(?![0-9a-fA-F]{2})(?![\w.-]*\])|%00(?![\w.-]*\])")  # A host in brackets may have a zone.
LOCK_TIMEOUT = 60  # Seconds to wait while another process writes.
_SQLITE_PRAGMAS = (
    "synchronous=NORMAL", "foreign_keys=ON", "secure_delete=ON", "cache_size=-2000", "wal_autocheckpoint=4000",
)  # fmt: skip
# For transactions that write: they see what others have written when it is their turn.
WRITE_OPTIONS: dict[str, dict[str, Any]] = {
    "sqlite": {"writes": True},
    "postgresql": {"isolation_level": "READ COMMITTED"},
}

StoreClock = Callable[[], datetime]
read_store_clock: StoreClock = partial(datetime.now, UTC)  # What a store goes by unless it is given another clock.


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreLocation:
    """One store: its address, its file if it is one, and how messages name it."""

    url: URL
    shown: str
    file: Path | None = None
    read_only: bool = False

    @property
    def options(self) -> frozenset[str]:
        """What the query of the address of a server sets, by name."""
        return frozenset(self.url.query) if self.file is None else frozenset()

    def for_reading(self) -> StoreLocation:
        """The same store; a file that may only be read is opened so, where nothing waits beside it to be written."""
        file = self.file
        if file is None or not file.is_file() or (os.access(file, os.W_OK) and os.access(file.parent, os.W_OK)):
            return self
        waiting = file.with_name(f"{file.name}-wal")
        if waiting.exists() and waiting.stat().st_size:
            return self
        query = {"uri": "true", "mode": "ro", "immutable": "1"}
        url = URL.create("sqlite", database=f"file:{quote(str(file.absolute()))}", query=query)
        return replace(self, url=url, read_only=True)

    @contextmanager
    def wrap_errors(self) -> Iterator[None]:
        """Whatever goes wrong with a file or a database becomes one StoreError that names the store."""
        try:
            yield
        except (SQLAlchemyError, SQLiteError, OSError, UnicodeError, OverflowError) as error:
            fault = explain_database_error(error, self.shown, str(self.url.password or ""), options=self.options)
            raise StoreError(fault) from error


def locate_store_database(given: str | Path | None, environ: Mapping[str, str]) -> StoreLocation:
    """The store that is meant: what is given, else what the environment names, else the folder .evenhand."""
    if given is None:
        given = environ.get(DATABASE_VARIABLE) or STORE_FOLDER
    if isinstance(given, str) and "://" in given:
        scheme = given.partition("://")[0]
        scheme = scheme if _SCHEME.fullmatch(scheme) else "…"  # It may hold what stands before an @ elsewhere.
        if scheme not in _SERVER_SCHEMES and not re.match("sqlite:///[^?]", given):
            hint = "a store is a folder or postgresql://user:password@host:5432/database"
            raise StoreError(Fault("is no database that Evenhand knows", hint, where=f"{scheme}://…"))
        url = _read_server_address(given) if scheme in _SERVER_SCHEMES else make_url(given)
        if url is None:
            raise StoreError(Fault("cannot be read as an address", ADDRESS_HINT, where=f"{scheme}://…"))
        if scheme in _SERVER_SCHEMES:
            shown = url.set(drivername="postgresql", query={}).render_as_string(hide_password=True)
            return StoreLocation(url=url.set(drivername="postgresql+psycopg"), shown=shown)
        file = Path(str(url.database))
    elif _BROKEN_ADDRESS.search(str(given)) and not Path(given).exists():
        # What looks like an address and is none is no folder either: its name would show the password.
        hint = f"{ADDRESS_HINT}; a folder that is called so must be there"
        raise StoreError(Fault("cannot be read as an address", hint, where="the address of the store"))
    else:
        file = Path(given) if Path(given).suffix == ".sqlite" else Path(given) / STORE_FILE
    return StoreLocation(url=URL.create("sqlite", database=str(file.absolute())), shown=str(file), file=file)


def _read_server_address(given: str) -> URL | None:
    """None where readers would differ on it. What SQLAlchemy says of one may quote it, password and all."""
    found = _SERVER_ADDRESS.fullmatch(given)
    if found is None or int(found["port"] or 1) not in range(1, _LARGEST_PORT + 1) or _BROKEN_ESCAPE.search(given):
        return None
    with suppress(ArgumentError, ValueError):
        url = make_url(given)
        stated = {"host": url.host, "hostaddr": url.host, "port": url.port}
        stated |= {"user": url.username, "password": url.password, "dbname": url.database}
        query = given.partition("?")[2]
        fields = parse_qsl(query, keep_blank_values=True)  # SQLAlchemy drops those that are empty.
        is_cut = bool(query) and any("=" not in part for part in query.split("&"))  # A password with an &.
        names = [_OTHER_NAMES.get(name.lower(), name.lower()) for name, _ in fields]
        # Who says it twice, or names another place to look it up, would be sent elsewhere than a message says.
        is_twice = len({*names}) < len(names) or any(stated.get(name, name == "service") for name in names)
        # One port after several hosts is that of the last one, or of all of them.
        return None if is_cut or is_twice or ("," in (url.host or "") and url.port) else url
    return None


CLOCK_KEPT = 10.0  # Seconds until the clock of a server is read again.


@dataclass(slots=True)
class ServerClock:
    """The clock of a database that is a server: all who work on it share it, whatever their own clocks say.

    Between two readings only the time that passes counts, which no setting of a clock changes.
    """

    _engine: Engine
    _place: StoreLocation
    _known: tuple[float, datetime] | None = None

    def __call__(self) -> datetime:
        """The time."""
        known = self._known
        if known is None or monotonic() - known[0] > CLOCK_KEPT:
            with self._place.wrap_errors(), self._engine.connect() as connection:
                moment = read_store_moment(connection, self)
                known = self._known = monotonic(), moment  # In this order: it is never ahead of the server's.
        return known[1] + timedelta(seconds=monotonic() - known[0])


def read_store_moment(connection: Connection, clock: StoreClock) -> datetime:
    """The time by the clock of a store; a server is asked inside the transaction, after whatever it waited for."""
    if isinstance(clock, ServerClock):
        moment: datetime = connection.execute(select(func.clock_timestamp())).scalar_one()
        return moment.astimezone(UTC)
    return clock()


def create_store_engine(place: StoreLocation) -> Engine:
    """The engine of a store. A transaction that only reads sees one state of the store from beginning to end."""
    if place.file is not None:
        waiting = {"timeout": LOCK_TIMEOUT}
        # Parameters by name, as in PostgreSQL: rows go to the driver as the dictionaries that they are.
        engine = create_engine(place.url, hide_parameters=True, paramstyle="named", connect_args=waiting)
        if place.read_only:
            event.listen(engine, "connect", _prepare_read_only_connection)
        else:
            event.listen(engine, "connect", _prepare_sqlite_connection)
        event.listen(engine, "begin", _begin_sqlite_transaction)
        return engine
    try:
        _refuse_unknown_options(place)
        waiting = {"connect_timeout": 10}
        engine = create_engine(place.url, hide_parameters=True, isolation_level="REPEATABLE READ", connect_args=waiting)
    except ImportError:
        hint = "pip install '/path/to/evenhand[postgres]'"
        raise StoreError(Fault("PostgreSQL needs the package psycopg", hint, where=place.shown)) from None
    event.listen(engine, "connect", _wait_for_disk)
    return engine


def _wait_for_disk(connection: Any, _record: Any) -> None:
    """What is committed is on the disk of the server, also where it is set up to answer before: payments rest on it."""
    off = "current_setting('synchronous_commit') = 'off'"
    connection.execute(f"SELECT set_config('synchronous_commit', 'on', false) WHERE {off}")
    connection.commit()


def _refuse_unknown_options(place: StoreLocation) -> None:
    """Those that PostgreSQL does not know: SQLAlchemy and psycopg, who read the address too, have some of their own."""
    from psycopg.pq import Conninfo

    if not place.options <= {one.keyword.decode() for one in Conninfo.get_defaults()}:
        raise StoreError(Fault(_BROKEN_OPTION, ADDRESS_HINT, where=place.shown))


def _prepare_read_only_connection(connection: SQLiteConnection, _record: Any) -> None:
    connection.isolation_level = None


def _prepare_sqlite_connection(connection: SQLiteConnection, _record: Any) -> None:
    connection.isolation_level = None  # Transactions begin where we say so, not where the driver guesses.
    give_up = monotonic() + LOCK_TIMEOUT  # SQLite does not wait for others in this one case, whatever its timeout.
    while connection.execute("PRAGMA journal_mode").fetchone() != ("wal",):
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except connection.OperationalError as error:
            if error.sqlite_errorname != "SQLITE_BUSY" or monotonic() > give_up:
                raise
            sleep(0.02)
    for pragma in _SQLITE_PRAGMAS:
        connection.execute(f"PRAGMA {pragma}")


def _begin_sqlite_transaction(connection: Connection) -> None:
    # A transaction that reads first and writes later fails as soon as another has written in between.
    writes = connection.get_execution_options().get("writes")
    # Otherwise the log is put on the disk when a store is closed, and now and then: a power cut takes the last writes.
    connection.exec_driver_sql(f"PRAGMA synchronous={'FULL' if writes == 'durably' else 'NORMAL'}")
    connection.exec_driver_sql("BEGIN IMMEDIATE" if writes else "BEGIN")


NO_RUNS = "no runs yet: evenhand run eval.yaml starts one"
NO_HISTORY = "no history yet: evenhand run eval.yaml starts one, or evenhand score or judge with --subject NAME"
NO_CONTESTS = (
    "no contests yet: evenhand contest create task.yaml starts one that takes submissions, "
    "evenhand contest run task.yaml submissions/ one from files"
)
_MIGRATION_LOCK = 0x6576656E  # Any number, as long as every Evenhand takes the same.
_MIGRATIONS = Path(__file__).parent / "migrations"


def prepare_store_tables(engine: Engine, place: StoreLocation, *, create: bool, empty: str = NO_RUNS) -> None:
    """See that the tables are there and of this version; where `create` is false and nothing is, `empty` is said."""
    with engine.connect() as connection:
        if _read_schema_version(connection, place) == SCHEMA_VERSION:
            return
    with engine.execution_options(**WRITE_OPTIONS[engine.dialect.name]).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_MIGRATION_LOCK)))
        version = _read_schema_version(connection, place)  # Another process may have been faster.
        if version is None and not create:
            raise StoreError(Fault(empty, where=place.shown))
        if version is None:
            for statement in _compile_schema_statements(connection.dialect.name):
                connection.exec_driver_sql(statement)
            connection.execute(insert(VERSIONS).values(version_num=SCHEMA_VERSION))
        elif version < SCHEMA_VERSION:
            run_migrations(connection)


@cache
def _compile_schema_statements(dialect: str) -> tuple[str, ...]:
    """What makes all tables and indexes, in the SQL of a database. Building it takes longer than running it."""
    tables = [*METADATA.sorted_tables, VERSIONS]
    made: list[CreateTable | CreateIndex] = [CreateTable(one) for one in tables]
    made += [CreateIndex(index) for one in tables for index in sorted(one.indexes, key=lambda index: str(index.name))]
    spoken = (postgresql if dialect == "postgresql" else sqlite).dialect()
    return tuple(str(one.compile(dialect=spoken)) for one in made)


def run_migrations(connection: Connection, to: str = "head") -> None:
    """Run the migrations that a store lacks, inside the transaction that is open."""
    from alembic import command  # half a second, for what happens once in the life of a store
    from alembic.config import Config

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    command.upgrade(config, to)


def _read_schema_version(connection: Connection, place: StoreLocation) -> str | None:
    """The schema that a store has; None where it has none yet."""
    there = set(inspect(connection).get_table_names())
    if VERSIONS.name not in there:
        foreign = sorted(there & set(METADATA.tables))
        if foreign:
            what = f"has a table {foreign[0]!r} that is not of Evenhand"
            raise StoreError(Fault(what, "give Evenhand a database of its own", where=place.shown))
        return None
    version: str | None = connection.execute(select(VERSIONS.c.version_num)).scalar_one_or_none()
    if version is None or version > SCHEMA_VERSION:
        what = f"was written by a newer Evenhand (schema {version}, this one knows {SCHEMA_VERSION})"
        raise StoreError(Fault(what, "upgrade Evenhand, or use another store", where=place.shown))
    return version


def vacuum_store(engine: Engine, file: Path | None) -> int | None:
    """Give back the room of what was removed, and say how many bytes a file has become smaller."""
    if file is None:
        with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
            connection.exec_driver_sql(f"VACUUM {', '.join(METADATA.tables)}")
        return None
    parts = (file, file.with_name(file.name + "-wal"))
    before = sum(part.stat().st_size for part in parts if part.exists())
    raw = engine.raw_connection()  # SQLite compacts outside of transactions only.
    try:
        raw.cursor().execute("VACUUM")
        raw.cursor().execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        raw.close()
    return before - sum(part.stat().st_size for part in parts if part.exists())


_OVERWRITE_TRIES = 4
_OVERWRITE_WAIT = 250  # Milliseconds for each.


def overwrite_removed_texts(engine: Engine, file: Path) -> bool:
    """Empty the log beside a file, where texts stand until it begins anew; False where others read or write just now.

    What was removed is overwritten in the file itself, but the pages as they were stay in the log.
    """
    log = file.with_name(file.name + "-wal")
    if not log.exists() or not log.stat().st_size:
        return True
    raw = engine.raw_connection()
    try:
        cursor = raw.cursor()
        cursor.execute(f"PRAGMA busy_timeout={_OVERWRITE_WAIT}")
        try:
            return any(
                cursor.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0] == 0 for _ in range(_OVERWRITE_TRIES)
            )
        finally:
            cursor.execute(f"PRAGMA busy_timeout={LOCK_TIMEOUT * 1000}")
    finally:
        raw.close()


_ANOTHER_FOLDER = "EVENHAND_DATABASE_URL names another folder, in Python RunOptions(place=…)"
# By SQLite's own name for it, and by a part of what PostgreSQL or the system says; the first that fits counts.
_KNOWN_DATABASE_FAILURES = (
    (("READONLY", "PERM", "read-only", "permission denied"), "cannot be written",
     f"write access is needed; {_ANOTHER_FOLDER}"),
    (("CANTOPEN", "not a directory", "file exists", "no such file"), "cannot be opened",
     f"is it a file in a folder that can be written? {_ANOTHER_FOLDER}"),
    (("FULL", "no space left", "disk full"), "the disk is full", "make room; what was written before is kept"),
    (("IOERR",), "cannot be read or written", "is the disk full or failing? What was written before is kept"),
    (("BUSY", "LOCKED", "lock timeout"), "another process keeps it locked", "wait until it has finished"),
    (("NOTADB", "CORRUPT"), "is not a store of Evenhand, or damaged", "move the file away, or restore a copy"),
    (("password authentication", "no password"), "does not accept the user or the password", "check the address"),
    (("connection failed", "could not translate", "failed to resolve", "connection timeout", "server closed",
      "terminating connection", "connection is closed", "connection is lost"), "cannot be reached",
     "is the server running?"),
    (("CONSTRAINT", "unique constraint", "foreign key"), "does not fit what is there", "is the run still in it?"),
)  # fmt: skip


def explain_database_error(
    error: Exception, where: str, password: str = "", *, options: frozenset[str] = frozenset()
) -> Fault:
    """One sentence for a failure: what it means, what would help, and the first line of what was said.

    But for what is said of `options` before any server is asked: it repeats their values.
    """
    cause = error.orig if isinstance(error, DBAPIError) and error.orig is not None else error
    said = (str(cause).strip().splitlines() or [type(cause).__name__])[0]
    if password:
        said = said.replace(password, "***")
    code = getattr(cause, "sqlite_errorname", "").removeprefix("SQLITE_").partition("_")[0]
    text = str(cause).lower()
    for signs, what, hint in _KNOWN_DATABASE_FAILURES:
        if any(sign == code or (sign.islower() and sign in text) for sign in signs):
            return Fault(f"{what}: {said}", hint, where=where)
    if options and "connection is bad" in text and getattr(cause, "sqlstate", None) is None:
        return Fault(_BROKEN_OPTION, ADDRESS_HINT, where=where)
    return Fault(f"failed: {said}", where=where)
