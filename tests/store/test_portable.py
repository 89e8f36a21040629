"""A run goes from one store to another unchanged; a file that is not whole changes nothing."""

import gzip
import io
import json
from collections.abc import Callable, Iterator
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import StoreError
from evenhand.store.rows import RowBatch
from evenhand.store.store import Store
from tests.store.rows import RUN, call_row, key, label_row, made_row, result_row, run_row, sample_row

Lines = list[str]


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a run with two of everything."""
    with Store.open(tmp_path_factory.mktemp("source"), {}) as store:
        filled(store)
        return file_of(store)


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store.open(database, {}) as opened:
        yield opened


def filled(store: Store) -> None:
    store.begin_run(run_row(state="finished", holder=None, summary='{"mean":"7/3"}', source="name: «é»\n"))
    store.write_rows(
        RowBatch(
            samples=[sample_row(0), sample_row(1, content='{"x":"\\ud83d \u2028"}')],
            results=[result_row(0), result_row(1, state="failed", score=None, number=None)],
            calls=[call_row(0, seconds=0.1 + 0.2), call_row(1, failed="busy", reply=None, kept="none")],
            made=[made_row(0), made_row(1)],
        )
    )


def file_of(store: Store, run: str = RUN) -> bytes:
    stream = io.BytesIO()
    store.export_run(run, stream)
    return stream.getvalue()


def content_of(store: Store) -> list[object]:
    made = store.rows.find_outputs([key("made", 0), key("made", 1)], [RUN])
    run = {name: value for name, value in store.find_run(RUN).items() if name != "imported"}
    return [run, [*store.samples(RUN)], [*store.results(RUN)], [*store.calls(RUN)], made]


def test_a_run_arrives_as_it_left(store: Store, exported: bytes, tmp_path: Path) -> None:
    """Every column of every row, and its file made there is the same to the byte."""
    id = store.import_run(io.BytesIO(exported))

    with Store.open(tmp_path / "again", {}) as source:
        filled(source)
        assert content_of(store) == content_of(source)
    assert id == RUN
    assert file_of(store) == exported


def test_a_run_brings_its_labels(store: Store, tmp_path: Path) -> None:
    """They belong to its outputs; the names it is pinned under belong to the store."""
    with Store.open(tmp_path / "source", {}) as source:
        filled(source)
        source.labelling.replace_labels(RUN, [label_row("s0"), label_row("s1", variant="", score="7/3")])
        source.set_baseline("main", RUN)
        labelled = file_of(source)
    store.import_run(io.BytesIO(labelled))

    assert [*store.labels(RUN)] == [label_row("s0"), label_row("s1", variant="", score="7/3")]
    assert store.rows.list_baselines() == []
    assert file_of(store) == labelled


def test_a_run_brings_what_its_labels_are_about(store: Store, tmp_path: Path) -> None:
    """The third format; labels that say nothing of it are still written as the second, for whoever reads no other."""
    bound = label_row("s0", output="0123456789abcdef", chance="1/8", batch=1, schema=2)
    formats = []
    with Store.open(tmp_path / "source", {}) as source:
        filled(source)
        for labels in ([label_row("s0")], [bound, label_row("s1")]):
            source.labelling.replace_labels(RUN, labels)
            labelled = file_of(source)
            formats.append(json.loads(gzip.decompress(labelled).splitlines()[0])["format"])
    store.import_run(io.BytesIO(labelled))

    assert formats == [2, 3]
    assert [*store.labels(RUN)] == [bound, label_row("s1")]


def test_a_run_without_labels_is_written_as_before_there_were_any(exported: bytes) -> None:
    """An Evenhand that knows no labels takes it in."""
    first = json.loads(gzip.decompress(exported).splitlines()[0])

    assert first["format"] == 1
    assert sorted(first["counts"]) == ["calls", "made", "results", "samples"]


def test_nobody_holds_a_run_that_arrives(store: Store, tmp_path: Path) -> None:
    """Whoever worked on it there does not work on it here."""
    with Store.open(tmp_path / "source", {}) as source:
        source.begin_run(run_row(holder="elsewhere:1:1"))
        store.import_run(io.BytesIO(file_of(source, "latest")))

    assert store.find_run(RUN) == run_row(holder=None, imported="guest")


def test_a_run_that_is_here_is_not_imported_again(store: Store, exported: bytes) -> None:
    """The same one is here already; another one of that name is left as it is."""
    store.import_run(io.BytesIO(exported))

    with pytest.raises(StoreError, match=f"run {RUN} is here already"):
        store.import_run(io.BytesIO(exported))
    store.write_rows(RowBatch(results=[result_row(0, state="incomplete")]))
    with pytest.raises(StoreError, match=f"a different run {RUN} is here"):
        store.import_run(io.BytesIO(exported))

    assert [row["state"] for row in store.results(RUN)] == ["incomplete", "failed"]


def test_a_run_of_many_rows_arrives_whole(store: Store, tmp_path: Path) -> None:
    """More than are written at once."""
    with Store.open(tmp_path / "source", {}) as source:
        source.begin_run(run_row())
        source.write_rows(RowBatch(calls=[call_row(position) for position in range(1203)]))
        store.import_run(io.BytesIO(file_of(source)))

    assert [row["position"] for row in store.calls(RUN)] == list(range(1203))


def test_a_file_that_is_cut_off_anywhere_is_refused(exported: bytes, tmp_path: Path) -> None:
    """Packed or unpacked: no beginning of a run passes for a run."""
    lines = gzip.decompress(exported).splitlines(keepends=True)
    cut = [exported[:size] for size in range(0, len(exported), 7)]
    cut += [gzip.compress(b"".join(lines[:count]), mtime=0) for count in range(len(lines))]

    with Store.open(tmp_path, {}) as store:
        for file in cut:
            with pytest.raises(StoreError, match="the file: "):
                store.import_run(io.BytesIO(file))
        assert store.list_runs() == []


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow])
@given(data=st.data())
def test_a_file_with_a_changed_byte_is_refused(exported: bytes, tmp_path: Path, data: st.DataObject) -> None:
    """Anywhere in the unpacked text."""
    text = bytearray(gzip.decompress(exported))
    place = data.draw(st.integers(0, len(text) - 1))
    text[place] ^= data.draw(st.integers(1, 255))

    with Store.open(tmp_path, {}) as store:
        with pytest.raises(StoreError, match="the file: "):
            store.import_run(io.BytesIO(gzip.compress(bytes(text))))
        assert store.list_runs() == []


def _sealed(lines: Lines) -> bytes:
    """A file whose checksum is right, whatever its lines say."""
    text = "".join(line + "\n" for line in lines).encode()
    return gzip.compress(text + json.dumps({"sha256": sha256(text).hexdigest()}).encode() + b"\n")


def _with(line: int, *path: str, to: object) -> Callable[[Lines], Lines]:
    def change(lines: Lines) -> Lines:
        entry = json.loads(lines[line])
        inner = entry
        for name in path[:-1]:
            inner = inner[name]
        inner[path[-1]] = to
        return [*lines[:line], json.dumps(entry), *lines[line + 1 :]]

    return change


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (_with(0, "format", to=4), "written by a newer Evenhand .format 4, this one knows 3"),
        (_with(0, "format", to=True), "written by a newer Evenhand .format True"),
        (_with(0, "format", to=2), "does not say what is in it"),
        (_with(0, "evenhand", to="rubric"), "is not a run that Evenhand exported"),
        (_with(0, "counts", "calls", to=-1), "does not say what is in it"),
        (_with(0, "counts", "calls", to=1), "has no 'made' where they should be"),
        (_with(0, "counts", to=[]), "does not say what is in it"),
        (_with(1, "runs", "id", to="latest"), "has a run with the id 'latest'"),
        (_with(1, "runs", "id", to="\x1b[2J"), "has a run with the id"),
        (_with(1, "runs", "seed", to=True), "has a seed in its runs that cannot be"),
        (_with(1, "runs", "state", to="won"), "state of runs cannot be 'won'"),
        (_with(1, "runs", "started", to="yesterday"), "has a time 'yesterday'"),
        (_with(1, "runs", "setup", to="{"), "has a line that is not JSON"),
        (_with(1, "runs", "holder", to="h:1:1"), "has other fields in its runs"),
        (_with(2, "samples", "position", to=1), "has the same twice in its samples"),
        (_with(4, "results", "number", to="1"), "has a number in its results that cannot be"),
        (_with(4, "results", "variant", to=None), "has a variant in its results that cannot be"),
        (lambda lines: [*lines, "{}"], "does not match its checksum"),
        (lambda lines: ["[" * 100_000, *lines], "has a line that is not JSON"),
        (lambda lines: ["[]", *lines], "has a line that is not an entry"),
    ],
)  # fmt: skip
def test_a_file_that_was_made_up_is_refused(
    tmp_path: Path, exported: bytes, change: Callable[[Lines], Lines], says: str
) -> None:
    """A checksum is no signature: what is in the lines is looked at too."""
    lines = gzip.decompress(exported).decode().split("\n")[:-2]

    with Store.open(tmp_path, {}) as store:
        with pytest.raises(StoreError, match=says):
            store.import_run(io.BytesIO(_sealed(change(lines))))
        assert store.list_runs() == []


@pytest.mark.parametrize(
    ("line", "table", "column", "number", "bits"),
    [
        (1, "runs", "seed", 2**63, 63),
        (1, "runs", "seed", 2**80, 63),
        (1, "runs", "seed", -(2**63) - 1, 63),
        (4, "results", "number", 10**400, 1023),
        (2, "samples", "position", 2**31, 31),
    ],
)
def test_a_number_that_a_database_cannot_hold_is_refused(
    store: Store, exported: bytes, line: int, table: str, column: str, number: int, bits: int
) -> None:
    """In one sentence for every database: where, what, and what would work."""
    lines = gzip.decompress(exported).decode().split("\n")[:-2]
    file = _sealed(_with(line, table, column, to=number)(lines))

    says = (
        rf"^the file: has a {column} in its {table} that no database holds: .* to 2\*\*{bits} - 1; nothing was changed"
    )
    with pytest.raises(StoreError, match=says):
        store.import_run(io.BytesIO(file))

    assert store.list_runs() == []


def test_the_largest_seed_that_a_database_holds_arrives(store: Store, exported: bytes) -> None:
    """Only what lies beyond is refused."""
    lines = gzip.decompress(exported).decode().split("\n")[:-2]

    id = store.import_run(io.BytesIO(_sealed(_with(1, "runs", "seed", to=2**63 - 1)(lines))))

    assert store.find_run(id)["seed"] == 2**63 - 1


@pytest.mark.parametrize(
    "file", [b"", b"run", b"\x1f\x8b", gzip.compress(b"", mtime=0), gzip.compress(b"\xff\n", mtime=0)]
)
def test_a_file_of_another_kind_is_refused(file: bytes, tmp_path: Path) -> None:
    """With a sentence, not a traceback."""
    with Store.open(tmp_path, {}) as store, pytest.raises(StoreError, match="the file: "):
        store.import_run(io.BytesIO(file))


def test_what_follows_the_end_is_refused(exported: bytes, tmp_path: Path) -> None:
    """Two files in one, or something hidden behind the first."""
    with Store.open(tmp_path, {}) as store, pytest.raises(StoreError, match="goes on after its end"):
        store.import_run(io.BytesIO(exported + exported))


class Full(io.BytesIO):
    """A file on a disk that is full."""

    def write(self, _: object) -> int:
        raise OSError(28, "No space left on device")


def test_a_failure_of_the_target_is_not_blamed_on_the_store(tmp_path: Path) -> None:
    """Whoever opened the file can say which one it is."""
    with Store.open(tmp_path, {}) as store:
        filled(store)

        with pytest.raises(OSError, match="No space left on device"):
            store.export_run(RUN, Full())
