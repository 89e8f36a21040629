"""Whatever happens to the disk or the server, one sentence says it, and nothing that was written is lost."""

import os
import sqlite3
import stat
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from sqlalchemy import event

from evenhand.errors import StoreError
from evenhand.store import database as _places
from evenhand.store.rows import RowBatch
from evenhand.store.store import Store
from evenhand.workflows.run import RunOptions
from tests.store.databases import PASSWORD, free_port, new_database, told
from tests.store.rows import RUN, call_row, run_row

LONG = '"' + "x" * 4000 + '"'


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    """A file stands where the folder should be."""
    tmp_path.joinpath("file").write_text("", "utf-8")

    with pytest.raises(StoreError, match=r"file/below/store\.sqlite: cannot be opened: .*Not a directory"):
        Store.open(tmp_path / "file" / "below", {})


@pytest.mark.parametrize("content", [b"not a database, but long enough to be one" * 30, b"\0" * 5000])
def test_a_file_that_is_no_database_is_left_alone(content: bytes, tmp_path: Path) -> None:
    """It may be anybody's."""
    file = tmp_path / "store.sqlite"
    file.write_bytes(content)

    with pytest.raises(StoreError, match="is not a store of Evenhand, or damaged"):
        Store.open(tmp_path, {})

    assert file.read_bytes() == content


def test_a_store_that_may_not_be_written_is_told(read_only: Path) -> None:
    """By permission: the folder and the file belong to somebody else."""
    says = r"store\.sqlite: cannot be (written|opened): "

    with pytest.raises(StoreError, match=says), Store.open(read_only, {}) as store:
        store.write_rows(RowBatch(calls=[call_row(0)]))


def test_a_folder_that_may_not_be_written_is_told(read_only: Path) -> None:
    """No store there, and none can be made."""
    with pytest.raises(StoreError, match=r"new/store\.sqlite: cannot be written: .*Permission denied"):
        Store.open(read_only / "new", {})


def test_a_server_that_only_reads_is_told(postgresql_server: str) -> None:
    """A replica, or a server in the hands of its keepers."""
    with new_database(postgresql_server) as address:
        Store.open(address, {}).close()
        told(address, f"ALTER DATABASE {address.rpartition('/')[2]} SET default_transaction_read_only = on")

        with Store.open(address, {}) as store, pytest.raises(StoreError, match=r"cannot be written: .*read-only"):
            store.begin_run(run_row())


def test_a_full_disk_is_told_and_what_was_written_stays(tmp_path: Path) -> None:
    """SQLite says that it is full; every batch before is whole, of the last nothing is there."""
    with Store.open(tmp_path, {}) as store:
        store.begin_run(run_row())
        store.write_rows(RowBatch(calls=[call_row(n, reply=LONG) for n in range(10)]))
        event.listen(store._engine, "begin", lambda connection: connection.exec_driver_sql("PRAGMA max_page_count=40"))

        with pytest.raises(StoreError, match=r"store\.sqlite: the disk is full: .*what was written before is kept"):
            store.write_rows(RowBatch(calls=[call_row(n, reply=LONG) for n in range(10, 60)]))

    with Store.open(tmp_path, {}) as store:
        assert [row["position"] for row in store.calls(RUN)] == list(range(10))


def test_a_limit_of_the_system_is_told_and_every_confirmed_row_is_there(tmp_path: Path) -> None:
    """A process that may write no more than a megabyte to a file, as under a quota."""
    code = """
import asyncio, resource, signal, sys
from evenhand.errors import StoreError
from evenhand.store.store import Store
from evenhand.store.rows import StoreWriter
from tests.store.rows import call_row, run_row

async def write():
    writer = StoreWriter(store.write_rows)
    try:
        for n in range(10_000):
            rows = [call_row(position, reply='"' + "x" * 4000 + '"') for position in range(20 * n, 20 * n + 20)]
            await asyncio.gather(*(writer.put("calls", row) for row in rows))
            print("confirmed", 20 * n + 20)
    finally:
        writer.close()

signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
store = Store.open(sys.argv[1], {})
store.begin_run(run_row())
resource.setrlimit(resource.RLIMIT_FSIZE, (1 << 20, 1 << 20))
try:
    asyncio.run(write())
except StoreError as error:
    print(error)
"""

    done = subprocess.run([sys.executable, "-c", code, tmp_path], capture_output=True, text=True, check=True)

    confirmed = [int(line.split()[1]) for line in done.stdout.splitlines() if line.startswith("confirmed")]
    assert "cannot be read or written: disk I/O error" in done.stdout.splitlines()[-1]
    with Store.open(tmp_path, {}) as store:
        assert [row["position"] for row in store.calls(RUN)][: confirmed[-1]] == list(range(confirmed[-1]))


def test_a_store_that_stays_locked_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Another process writes, and does not end."""
    monkeypatch.setattr(_places, "LOCK_TIMEOUT", 0.01)
    with Store.open(tmp_path, {}) as store:
        other = sqlite3.connect(tmp_path / "store.sqlite", isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(StoreError, match="another process keeps it locked"):
            store.begin_run(run_row())

        other.execute("ROLLBACK")
        other.close()
        store.begin_run(run_row())


def test_a_server_that_is_away_is_told_without_the_password() -> None:
    """Nobody listens there."""
    address = f"postgresql://someone:{PASSWORD}@127.0.0.1:{free_port()}/runs?application_name={PASSWORD}"

    with pytest.raises(StoreError) as caught:
        Store.open(address, {})

    said = str(caught.value)
    assert said.startswith("postgresql://someone:***@127.0.0.1:")
    assert "cannot be reached: " in said
    assert PASSWORD not in said


def test_a_wrong_password_is_told_and_not_shown(postgresql_server: str) -> None:
    """Messages are copied into tickets."""
    address = postgresql_server.replace(PASSWORD, "wrong-words")

    with pytest.raises(StoreError, match="does not accept the user or the password") as caught:
        Store.open(f"{address}/postgres", {})

    assert "wrong-words" not in str(caught.value)


def test_a_database_that_is_not_there_is_told(postgresql_server: str) -> None:
    """The server says which."""
    with pytest.raises(StoreError, match='database "nowhere" does not exist'):
        Store.open(f"{postgresql_server}/nowhere", {})


def test_a_server_that_goes_away_is_told_and_found_again(postgresql_server: str) -> None:
    """The connection is cut in the middle of a run; what was written is there afterwards."""
    with new_database(postgresql_server) as address, Store.open(address, {}) as store:
        store.begin_run(run_row())
        store.find_cached_replies(["k"])
        store.list_runs()
        told(address, "SELECT pg_terminate_backend(pid, 9999) FROM pg_stat_activity WHERE pid <> pg_backend_pid()"
                      " AND datname = current_database()")  # fmt: skip

        with pytest.raises(StoreError, match="cannot be reached"):
            store.list_runs()
        with pytest.raises(StoreError, match="cannot be reached"):
            store.find_cached_replies(["k"])

        assert [row["id"] for row in store.list_runs()] == [RUN]
        assert store.find_cached_replies(["k"]) == {}


@pytest.mark.parametrize(
    ("address", "says"),
    [
        ("mysql://u:pass-word@h/d", "mysql://…: is no database that Evenhand knows"),
        ("postgresql://u:pass-word@h:port/d", "postgresql://…: cannot be read as an address"),
        ("sqlite://", "sqlite://…: is no database that Evenhand knows"),
    ],
)  # fmt: skip
def test_an_address_that_cannot_be_is_told_without_the_password(address: str, says: str) -> None:
    """Not even in part."""
    with pytest.raises(StoreError) as caught:
        Store.open(None, {"EVENHAND_DATABASE_URL": address})

    assert str(caught.value).startswith(says)
    assert "pass-word" not in str(caught.value)


@pytest.mark.parametrize(
    "rest",
    ["u:S3cret@Pw-123@127.0.0.1:1/db", "u:S3cret@Pw-123/x@127.0.0.1:1/db", "u:S3cret/Pw-123@127.0.0.1:1/db",
     "u:S3cret?Pw-123@127.0.0.1:1/db", "u:S3cret@Pw-123?x@127.0.0.1/db", "u:S3cret#Pw-123@127.0.0.1:1/db",
     "u:S3cret[Pw-123@127.0.0.1:1/db", "u:S3cret Pw-123@127.0.0.1:1/db", "S3cret@Pw-123@127.0.0.1:1/db",
     "127.0.0.1:1/db?password=S3cret@Pw-123", "127.0.0.1:1/db@Pw-123", "u:S3cret@[Pw-123/db", "[Pw-123", "[Pw-123]/db",
     "u:S3cret@127.0.0.1]:1/db", "u:S3cret@127.0.0.1:Pw-123/db", "u:S3cret@127.0.0.1:99999/db",
     "u:S3cret@127.0.0.1_/db", "u:S3cret@-h/db", "u:S3cret@my_db_.example.org:1/db",
     "u:S3cret@127.0.0.1:65536/db", "u:S3cret@127.0.0.1:0/db", "u:S3cret@127.0.0.1:1:Pw-123/db",
     "u:S3cret@127.0.0.1:-1/db", "u:S3cret@127.0.0.1:1/db#Pw-123", "u:S3cret@Pw-123%40127.0.0.1:1/db",
     "u:S3cret%00Pw-123@127.0.0.1:1/db", "u%00:S3cret@127.0.0.1:1/db", "u:S3cret@127.0.0.1:1/db%00Pw-123",
     "u:S3cret%zz@127.0.0.1:1/db", "u:S3cret@127.0.0.1:1/db?port=2", "u:S3cret@127.0.0.1:1/db?host=127.0.0.2",
     "u:S3cret@127.0.0.1:1/db?hostaddr=127.0.0.2", "u:S3cret@127.0.0.1:1/db?user=Pw-123", "127.0.0.1/db?service=Pw-123",
     "u:S3cret@127.0.0.1:1/db?dbname=Pw-123", "u:S3cret@127.0.0.1:1/db?password=x&port=2",
     "u:S3cret@Pw-123\\127.0.0.1/db", "u:S3cret@Pw-123!127.0.0.1/db", "u:S3cret\n@127.0.0.1:1/db",
     "127.0.0.1:1/db?user=u&user=Pw-123", "127.0.0.1:1/db?user=u&us%65r=Pw-123", "127.0.0.1:1/db?user=u&USER=",
     "127.0.0.1:1?dbname=a&dbname=b", "127.0.0.1:1?dbname=a&database=b", "127.0.0.1:1/db?database=b",
     "/db?host=127.0.0.1&host=127.0.0.2", "127.0.0.1:1/db?HOST=127.0.0.2", "127.0.0.1/db?port=1&Port=2",
     "u@127.0.0.1/db?password=S3cret&password=Pw-123", "u:S3cret@127.0.0.1/db?password=Pw-123",
     "u@127.0.0.1/db?user=", "u:S3cret@127.0.0.1,127.0.0.2:1/db", "u:S3cret@127.0.0.1:1,127.0.0.2/db",
     "u:S3cret@127.0.0.1:1,127.0.0.2:2/db", "u@127.0.0.1:1/db?sslmode=disable;password=S3cretPw-123",
     "u@127.0.0.1:1/db?password=S3cret&Pw-123"],
)  # fmt: skip
@pytest.mark.parametrize("scheme", ["postgresql", "postgres", "postgresql+psycopg"])
def test_an_address_that_can_be_read_in_two_ways_is_refused_before_anybody_is_asked(
    scheme: str, rest: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Half of a password would be looked up as a host, and shown as one."""
    asked: list[object] = []
    monkeypatch.setattr("psycopg.connect", lambda *given, **named: asked.append((given, named)))
    monkeypatch.setattr("psycopg.Connection.connect", lambda *given, **named: asked.append((given, named)))

    with pytest.raises(StoreError) as caught:
        Store.open(None, {"EVENHAND_DATABASE_URL": f"{scheme}://{rest}"})

    assert str(caught.value) == f"{scheme}://…: cannot be read as an address ({_places.ADDRESS_HINT})"
    assert "write @ as %40" in _places.ADDRESS_HINT
    assert caught.value.__cause__ is caught.value.__context__ is None
    assert asked == []


@pytest.mark.parametrize(
    "query",
    ["user=u&password=S3cret&Pw-123=12", "sslmode=Pw-123", "require_auth=Pw-123",
     "user=u&plugin=Pw-123", "user=u&row_factory=Pw-123", "conninfo=Pw-123", "sslmode=disable%3Bpassword=Pw-123"],
)  # fmt: skip
def test_an_option_that_cannot_be_read_is_told_without_its_name_and_value(query: str) -> None:
    """It may be the rest of a password. What PostgreSQL's library says of it quotes it."""
    with pytest.raises(StoreError) as caught:
        Store.open(f"postgresql://127.0.0.1:1/db?{query}", {})

    what = "an option behind the ? of its address is not known, or has a value that is not"
    assert str(caught.value) == f"postgresql://127.0.0.1:1/db: {what} ({_places.ADDRESS_HINT})"


@pytest.mark.parametrize(
    ("rest", "shown", "password"),
    [
        ("u:S3cret%40Pw-123@127.0.0.1:1/db", "u:***@127.0.0.1:1/db", "S3cret@Pw-123"),
        ("u:S3:cr!et$&'()*+,;=%2F@db_1.example-x:65535/db", "u:***@db_1.example-x:65535/db", "S3:cr!et$&'()*+,;=/"),
        ("u:S3cret@[::1]:5432/db?sslmode=require", "u:***@[::1]:5432/db", "S3cret"),
        ("u@one,two/db", "u@one,two/db", None),
        ("/db?host=/var/run/postgresql", "/db", None),
        ("bücher.example", "bücher.example", None),
    ],
)
def test_an_address_that_is_well_formed_is_taken_apart_as_it_is_written(
    rest: str, shown: str, password: str | None
) -> None:
    """Nothing is connected to: only what would be is looked at."""
    place = _places.locate_store_database(f"postgresql://{rest}", {})

    assert place.shown == f"postgresql://{shown}"
    assert place.url.password == password


def test_options_of_a_run_do_not_show_the_address_of_its_store() -> None:
    """Objects are printed and logged."""
    assert "S3cret" not in repr(RunOptions(place="postgresql://u:S3cret@127.0.0.1:1/db"))


@pytest.mark.parametrize("rest", ["u:S3cret@Pw-123@h/db", "h/db", "/?x"])
def test_a_file_has_no_host(rest: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A password before it belongs to another kind of database."""
    monkeypatch.chdir(tmp_path)

    with pytest.raises(StoreError, match=r"\Asqlite://…: is no database that Evenhand knows"):
        Store.open(f"sqlite://{rest}", {})

    assert list(tmp_path.iterdir()) == []


def test_a_missing_driver_is_told_with_what_installs_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """PostgreSQL is an extra."""
    monkeypatch.setitem(sys.modules, "psycopg", None)

    with pytest.raises(StoreError, match=r"pip install '/path/to/evenhand\[postgres\]'"):
        Store.open("postgresql://u:p@h/d", {})


@pytest.mark.parametrize("prefix", ["postgres", "postgresql", "postgresql+psycopg"])
def test_every_spelling_of_an_address_reaches_the_server(postgresql_server: str, prefix: str) -> None:
    """Hosting companies write it their own way."""
    with new_database(postgresql_server) as address, Store.open(address.replace("postgresql", prefix, 1), {}) as store:
        assert store.shown == address.replace(PASSWORD, "***")


def test_a_file_by_address_is_the_same_file(tmp_path: Path) -> None:
    """As other tools write it."""
    with Store.open(tmp_path, {}) as store:
        store.begin_run(run_row())

    with Store.open(f"sqlite:///{tmp_path}/store.sqlite", {}) as by_address:
        assert len(by_address.list_runs()) == 1


@pytest.fixture
def read_only() -> Iterator[Path]:
    """A store of somebody else; root, whom no permission binds, becomes nobody for as long as it is used."""
    with tempfile.TemporaryDirectory(prefix="evenhand-ro-") as name:
        folder = Path(name)
        folder.chmod(0o755)
        with Store.open(folder, {}) as store:
            store.begin_run(run_row())
        for path in (*folder.iterdir(), folder):
            path.chmod(path.stat().st_mode & ~(stat.S_IWUSR | stat.S_IWGRP | stat.S_IWOTH))
        with _as_nobody():
            yield folder
        folder.chmod(0o755)


@contextmanager
def _as_nobody() -> Iterator[None]:
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)
