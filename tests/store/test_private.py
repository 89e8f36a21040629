"""What is kept is for its owner: modes of files and folders, addresses that are none, and stores that are only read."""

import os
import shutil
import stat
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from evenhand import StoreError
from evenhand.store.database import locate_store_database
from evenhand.store.store import Store
from tests.cli.command import evenhand
from tests.store.rows import RUN, call_row, run_row
from tests.store.test_portable import filled

EVAL = "samples: [{id: a, input: Hi, output: Hello}]\nassertions: [{contains: Hello}]\nname: desk\n"


def mode(path: Path) -> str:
    return oct(stat.S_IMODE(path.stat().st_mode))


@pytest.fixture(params=[0o022, 0o000], ids=["usual", "open"])
def _umask(request: pytest.FixtureRequest) -> Iterator[None]:
    """What a user lets others do with new files, if nobody says otherwise."""
    before = os.umask(request.param)
    yield
    os.umask(before)


@pytest.mark.usefixtures("_umask")
def test_all_that_a_run_leaves_is_for_its_owner(tmp_path: Path) -> None:
    """The store and what SQLite puts beside it while it is open, exports, reports and records."""
    (tmp_path / "eval.yaml").write_text(EVAL, "utf-8")
    evenhand("run", "eval.yaml", folder=tmp_path)
    evenhand("runs", "export", "latest", "-o", "run.evenhand", folder=tmp_path)
    for option, file in (("--html", "a.html"), ("--csv", "a.csv"), ("--json", "a.json"), ("--parquet", "a.parquet")):
        evenhand("report", "latest", option, "-o", file, folder=tmp_path)
    evenhand("judge", "eval.yaml", "--rubric", "summary", "--record", "record.jsonl", folder=tmp_path)

    with Store.open(tmp_path / ".evenhand", {}) as store:
        store.list_runs()
        beside = {file.name: mode(file) for file in (tmp_path / ".evenhand").iterdir() if "sqlite" in file.name}

    made = ("run.evenhand", "a.html", "a.csv", "a.json", "a.parquet", "record.jsonl")
    assert {name: mode(tmp_path / name) for name in made} == dict.fromkeys(made, "0o600")
    assert set(beside.values()) == {"0o600"}
    assert mode(tmp_path / ".evenhand") == "0o700"
    assert (tmp_path / ".evenhand/.gitignore").read_text("utf-8") == "*\n"
    assert mode(tmp_path / ".evenhand/.gitignore") == "0o600"


def test_what_is_there_keeps_its_mode(tmp_path: Path) -> None:
    """A report that a server shows is still shown when it is written anew, and a folder of a team stays one."""
    (tmp_path / "eval.yaml").write_text(EVAL, "utf-8")
    (tmp_path / ".evenhand").mkdir(mode=0o750)
    (tmp_path / "a.html").write_text("", "utf-8")
    (tmp_path / "a.html").chmod(0o644)
    evenhand("run", "eval.yaml", folder=tmp_path)
    evenhand("report", "latest", "--html", "-o", "a.html", folder=tmp_path)

    assert (mode(tmp_path / "a.html"), mode(tmp_path / ".evenhand")) == ("0o644", "0o750")
    assert not (tmp_path / ".evenhand/.gitignore").exists()


@pytest.mark.parametrize("place", ["made", "made/team.sqlite", "sqlite:///{folder}/made/team.sqlite"])
def test_git_leaves_out_every_folder_that_is_made_for_a_store(tmp_path: Path, place: str) -> None:
    """Whatever the store is called in it, texts and scores of others are kept there."""
    where = place.format(folder=tmp_path) if ":" in place else tmp_path / place
    with Store.open(where, {}):
        pass

    assert (tmp_path / "made/.gitignore").read_text("utf-8") == "*\n"


BROKEN = [
    "postgresql:/ann:hunter2-word@host/db", "postgresql:ann:hunter2-word@host/db",
    "postgresql//ann:hunter2-word@host/db", "//ann:hunter2-word@host/db",
    "ann:hunter2-word@host/db", "ann:hunter2-word@host:5432/db",
    "host=h user=ann password=hunter2-word dbname=d", "password=hunter2-word", "postgresql;//ann:hunter2-word@host",
    "postgresql:\\\\ann:hunter2-word@host", "Postgres:hunter2-word", "ann:hunter2-word@postgresql://host/db",
    "hunter2-word://ann@host/db", "postgresql://ann:hunter2-word@host:port/db", "mysql://ann:hunter2-word@host/db",
]  # fmt: skip


@pytest.mark.parametrize("address", BROKEN)
def test_a_broken_address_is_refused_without_repeating_it(address: str) -> None:
    """In a message it would be in every log."""
    for place, environ in ((None, {"EVENHAND_DATABASE_URL": address}), (address, {})):
        with pytest.raises(StoreError) as refused:
            locate_store_database(place, environ)

        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("command", [("run", "eval.yaml"), ("runs", "list"), ("contest", "list")])
def test_a_broken_address_is_an_error_and_no_folder(tmp_path: Path, command: tuple[str, ...]) -> None:
    """A folder named after a password would be there for everybody."""
    (tmp_path / "eval.yaml").write_text(EVAL, "utf-8")

    done = evenhand(*command, folder=tmp_path, EVENHAND_DATABASE_URL=BROKEN[0])

    assert done.returncode == 2
    assert "hunter2" not in done.stdout + done.stderr
    assert [file.name for file in tmp_path.iterdir()] == ["eval.yaml"]


@pytest.mark.parametrize("folder", ["store", "a b/c", "data.v1", "x@y", "C:/runs", "kept=all", "runs.sqlite"])
def test_a_folder_stays_a_folder(folder: str) -> None:
    """Only what looks like an address with a user is refused."""
    assert locate_store_database(folder, {}).file is not None


def test_a_folder_that_is_called_like_an_address_can_be_used(tmp_path: Path) -> None:
    """If it is there, it was meant."""
    (tmp_path / "a:b@c").mkdir()

    assert locate_store_database(str(tmp_path / "a:b@c"), {}).file is not None


@pytest.fixture
def shared() -> Iterator[Path]:
    """A store in a folder that everybody may read and nobody write; root may do all, and so becomes somebody else."""
    folder = Path(tempfile.mkdtemp())
    with Store.open(folder / "store", {}) as store:
        filled(store)
    for path in (folder, folder / "store"):
        path.chmod(0o755)
    (folder / "store/store.sqlite").chmod(0o444)
    (folder / "store").chmod(0o555)
    yield folder / "store"
    (folder / "store").chmod(0o755)
    shutil.rmtree(folder)


def as_nobody(act: Callable[[], None]) -> int:
    """What a process of another user, or of this one where it is not root, ends with."""
    child = os.fork()
    if child == 0:
        try:
            if os.getuid() == 0:
                os.setgid(65534)
                os.setuid(65534)
            act()
        except BaseException as problem:
            sys.stderr.write(f"{problem!r}\n")
            os._exit(1)
        os._exit(0)
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])


def test_a_store_that_may_only_be_read_is_read(shared: Path) -> None:
    """As an archive, a mounted copy, or the store of somebody else."""

    def read() -> None:
        with Store.open(shared, {}, create=False) as store:
            assert [row["id"] for row in store.list_runs()] == [RUN]
            assert len([*store.results(RUN)]) == 2
            assert store.find_cached_replies([call_row(0)["key"]])
            assert store.find_run("latest")["id"] == RUN

    assert as_nobody(read) == 0
    assert sorted(file.name for file in shared.iterdir()) == [".gitignore", "store.sqlite"]


def test_a_store_that_may_only_be_read_is_not_written(shared: Path) -> None:
    """With a sentence that says so."""

    def write() -> None:
        with Store.open(shared, {}, create=False) as store, pytest.raises(StoreError, match="cannot be written"):
            store.begin_run(run_row(id="20261116-051233-ab12ce"))
        with Store.open(shared, {}, create=False) as store, pytest.raises(StoreError, match="cannot be written"):
            store.delete_run(RUN)

    assert as_nobody(write) == 0


def read_store_files(folder: Path) -> bytes:
    return b"".join(path.read_bytes() for path in sorted(folder.glob("store.sqlite*")))


def test_a_deleted_run_is_in_no_file_while_others_have_the_store_open(tmp_path: Path) -> None:
    """SQLite empties its log when the last one leaves, and a service does not leave."""
    with Store.open(tmp_path, {}) as service, Store.open(tmp_path, {}) as store:
        service.list_runs()
        store.begin_run(run_row(source="Heronsong" * 20, holder=None, state="finished"))
        assert b"Heronsong" in read_store_files(tmp_path)

        store.delete_run(RUN)

        assert b"Heronsong" not in read_store_files(tmp_path)


def test_what_somebody_still_reads_is_overwritten_as_soon_as_they_have_done(tmp_path: Path) -> None:
    """Nobody waits long for a reader: the next look has it, as a service takes it every minute."""
    with Store.open(tmp_path, {}) as service, Store.open(tmp_path, {}) as store:
        store.begin_run(run_row(source="Heronsong" * 20, holder=None, state="finished"))
        with service._connect() as connection:
            connection.exec_driver_sql("SELECT count(*) FROM runs").fetchall()
            store.delete_run(RUN)
            assert not store.overwrite_removed()
            assert b"Heronsong" in read_store_files(tmp_path)

        assert service.overwrite_removed()
        assert b"Heronsong" not in read_store_files(tmp_path)
        store.begin_run(run_row())  # It waits for others again as long as before.
