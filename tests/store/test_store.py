"""What is written to a store is read back, the same from a file and from a server."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand.errors import StoreError
from evenhand.store.rows import RowBatch, to_stored_json
from evenhand.store.store import Store
from tests.cli.command import evenhand
from tests.store.rows import RUN, call_row, key, made_row, result_row, run_row, sample_row

OTHER = "20261117-101010-ffffff"


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store.open(database, {}) as opened:
        yield opened


def test_what_is_written_is_read_back(store: Store) -> None:
    """Every column, also after the store was closed and opened again."""
    batch = RowBatch(samples=[sample_row()], results=[result_row()], calls=[call_row()], made=[made_row()])

    store.begin_run(run_row())
    store.write_rows(batch)

    assert store.find_run(RUN) == run_row()
    assert list(store.samples(RUN)) == [sample_row()]
    assert list(store.results(RUN)) == [result_row()]
    assert list(store.calls(RUN)) == [call_row()]
    assert store.rows.find_outputs([key("made", 0)], [RUN]) == {key("made", 0): made_row()}


def test_a_store_is_opened_again_with_all_that_was_in_it(database: str) -> None:
    """A run outlives the process that made it."""
    with Store.open(database, {}) as first:
        first.begin_run(run_row())

    with Store.open(database, {}, create=False) as second:
        rows = second.list_runs()

    assert rows == [run_row()]


def test_a_command_that_only_reads_makes_no_store(empty_database: str) -> None:
    """An empty list would hide that the folder is the wrong one."""
    for _ in range(2):
        with pytest.raises(StoreError, match=r"no runs yet: evenhand run eval\.yaml starts one"):
            Store.open(empty_database, {}, create=False)


def test_the_environment_names_the_store_unless_a_place_is_given(
    database: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A team sets one variable; an empty one counts as not set."""
    monkeypatch.chdir(tmp_path)
    environ = {"EVENHAND_DATABASE_URL": database}

    with Store.open(None, environ) as named, Store.open(None, {"EVENHAND_DATABASE_URL": ""}) as at_home:
        named.begin_run(run_row())
        seen = [len(named.list_runs()), len(at_home.list_runs())]

    assert seen == [1, 0]
    assert at_home.shown == ".evenhand/store.sqlite"


def test_a_run_id_is_given_once(store: Store) -> None:
    """Two runs of one name would be one run to everybody else."""
    store.begin_run(run_row())

    with pytest.raises(StoreError, match=f"there is a run '{RUN}' already"):
        store.begin_run(run_row(name="other"))


def test_a_resumed_piece_of_work_writes_over_its_own_row(store: Store) -> None:
    """Exactly one result per sample, variant and repeat, and one call per key."""
    store.begin_run(run_row())
    store.write_rows(
        RowBatch(results=[result_row(state="failed", score=None, number=None)], calls=[call_row(failed="busy")])
    )

    store.write_rows(RowBatch(results=[result_row()], calls=[call_row(attempts=2)], made=[made_row(), made_row()]))

    assert list(store.results(RUN)) == [result_row()]
    assert list(store.calls(RUN)) == [call_row(attempts=2)]


def test_a_batch_is_written_whole_or_not_at_all(store: Store) -> None:
    """The last row belongs to a run that is not there."""
    store.begin_run(run_row())

    with pytest.raises(StoreError, match="does not fit what is there"):
        store.write_rows(RowBatch(samples=[sample_row()], calls=[call_row(0), call_row(1, run="nowhere")]))

    assert list(store.samples(RUN)) == []
    assert list(store.calls(RUN)) == []


@pytest.mark.parametrize(
    ("batch", "says"),
    [
        (RowBatch(results=[result_row(state="done")]), "state of results cannot be 'done'"),
        (RowBatch(calls=[call_row(faild="x")]), "calls have no 'faild' .did you mean 'failed'"),
        (RowBatch(results=[result_row(number=float("nan"))]), "finite or missing"),
    ],
)  # fmt: skip
def test_a_row_that_cannot_be_is_refused(tmp_path: Path, batch: RowBatch, says: str) -> None:
    """A misspelt column would be a value lost without a word."""
    with Store.open(tmp_path, {}) as store:
        store.begin_run(run_row())

        with pytest.raises(StoreError, match=says):
            store.write_rows(batch)


def test_any_text_can_be_stored(store: Store) -> None:
    """Zero bytes and halves of characters come from outside; PostgreSQL takes neither."""
    store.begin_run(run_row())
    half = '{"text":"cut \ud83d"}'

    store.write_rows(RowBatch(samples=[sample_row(id="a\0b")], calls=[call_row(reply=half, failed="bad \udcff")]))

    assert next(store.samples(RUN))["id"] == "a\\x00b"
    assert next(store.calls(RUN))["reply"] == '{"text":"cut \\ud83d"}' == to_stored_json({"text": "cut \ud83d"})
    assert next(store.calls(RUN))["failed"] == "bad \\udcff"


def test_a_reply_that_may_not_stay_is_replaced_in_its_own_run(store: Store) -> None:
    """Another run may have asked the same and keep its reply."""
    store.begin_run(run_row())
    store.begin_run(run_row(id=OTHER))
    store.write_rows(RowBatch(calls=[call_row(0), call_row(1), call_row(0, run=OTHER)]))

    nothing = {"run": RUN, "key": key("call", 0), "reply": None, "kept": "none", "at": "now"}
    masked = {"run": RUN, "key": key("call", 1), "reply": '{"text":"•"}', "kept": "masked"}

    store.write_rows(RowBatch(drop=[nothing, masked]))

    assert [(row["reply"], row["kept"]) for row in store.calls(RUN)] == [(None, "none"), ('{"text":"•"}', "masked")]
    assert list(store.calls(OTHER)) == [call_row(0, run=OTHER)]


def test_results_come_in_one_order(store: Store) -> None:
    """By position, variant and repeat; letters by their code, whatever language the server speaks."""
    units = [(1, "a", 0), (1, "Z", 0), (0, "a", 1), (0, "a", 0), (10, "é", 0), (2, "a_b", 0), (2, "ab", 0)]
    store.begin_run(run_row())
    store.write_rows(RowBatch(results=[result_row(*unit) for unit in units]))

    seen = [(row["position"], row["variant"], row["repeat"]) for row in store.results(RUN)]

    assert seen == sorted(units)


def test_calls_come_in_one_order(store: Store) -> None:
    """By sample, variant, judge and key: a report looks at one sample at a time."""
    store.begin_run(run_row())
    rows = [call_row(1), call_row(0), call_row(0, key="k2", variant="b"), call_row(0, key="k1", judge="a")]
    store.write_rows(RowBatch(calls=rows))

    assert list(store.calls(RUN)) == [rows[2], rows[3], rows[1], rows[0]]


def test_a_summary_reads_only_what_it_counts(store: Store) -> None:
    """Calls without their replies, some calls, some ids: a run of any size is summed up in little memory."""
    store.begin_run(run_row())
    store.begin_run(run_row(id=OTHER))
    store.write_rows(RowBatch(samples=[sample_row(n) for n in range(3)], calls=[call_row(0), call_row(1, judge="b")]))
    store.write_rows(RowBatch(samples=[sample_row(0, run=OTHER, id="x")], calls=[call_row(1, run=OTHER)]))

    facts = list(store.call_facts(RUN))

    assert sorted(row["judge"] for row in facts) == ["b", "openai/gpt"]
    assert all("reply" not in row and row["cost"] == "0.00031" for row in facts)
    assert store.calls_by_key(RUN, [key("call", 1), "unknown"]) == {key("call", 1): call_row(1, judge="b")}
    assert store.rows.sample_ids(RUN, {0, 2, 9}) == {0: "s0", 2: "s2"}


def test_a_run_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    """Nobody types twenty letters."""
    store.begin_run(run_row())
    store.begin_run(run_row(id=OTHER, name="other"))

    found = {wanted: store.find_run(wanted)["id"] for wanted in (RUN, "20261116", "latest", "latest:support", OTHER)}

    assert found == {RUN: RUN, "20261116": RUN, "latest": OTHER, "latest:support": RUN, OTHER: OTHER}
    assert [row["id"] for row in store.list_runs()] == [OTHER, RUN]
    assert [row["id"] for row in store.list_runs("support")] == [RUN]


def test_a_run_that_is_not_there_is_told_with_the_nearest(store: Store) -> None:
    """A wrong run shown is worse than none."""
    store.begin_run(run_row())
    store.begin_run(run_row(id=OTHER, name="other"))
    told = {
        "2026": f"'2026' begins more than one run ({RUN}, {OTHER})",
        "20261116-051233-ab12ce": f"no run '20261116-051233-ab12ce' (did you mean '{RUN}'?)",
        "x": f"no run 'x' (the latest is {OTHER})",
        "": f"no run '' (the latest is {OTHER})",
        "%": f"no run '%' (the latest is {OTHER})",
        "latest:suport": "no run of 'suport' is here (did you mean 'support'?)",
    }

    for wanted, says in told.items():
        with pytest.raises(StoreError) as caught:
            store.find_run(wanted)
        assert str(caught.value) == f"{store.shown}: {says}"


def test_finished_pieces_are_known_by_their_keys(store: Store) -> None:
    """A resume asks again exactly what has changed."""
    store.begin_run(run_row())
    store.begin_run(run_row(id=OTHER))
    units = [(0, "a", 0), (0, "a", 2), (0, "b", 0), (7, "b", 1)]
    store.write_rows(RowBatch(results=[result_row(*unit) for unit in units]))
    store.write_rows(RowBatch(results=[result_row(8, state="failed"), result_row(9, run=OTHER)]))

    finished = store.finished_keys(RUN)

    assert dict(finished) == {unit: key(*unit) for unit in [*units, (8, "control", 0)]}
    assert dict(store.finished_keys(RUN, states=("scored",))) == {unit: key(*unit) for unit in units}
    assert [finished.get(unit) for unit in [(0, "a", 1), (0, "c", 0), (0, "a", 3), (-1, "a", 0), (9, "b", 0)]] == [
        None
    ] * 5
    assert dict(store.finished_keys("nowhere")) == {}


@pytest.mark.parametrize("keys", [[key("call", 0)], [key("call", 0), "unknown"]])
def test_the_newest_reply_as_it_came_is_used_again(store: Store, keys: list[str]) -> None:
    """Masked, dropped and failed calls answer nothing."""
    times = ["2026-11-16T05:12:39+00:00", "2026-11-18T00:00:00+00:00", "2026-11-19T00:00:00+00:00"]
    ids = [RUN, "20261118-000000-000001", "20261118-000000-000002", "20261119-000000-000003", "20261119-000000-000004"]
    for id in ids:
        store.begin_run(run_row(id=id))
    good = call_row(0, run=ids[1], at=times[1])
    store.write_rows(RowBatch(calls=[call_row(0), good, call_row(0, run=ids[2], at=times[2], failed="busy", reply=None),
                             call_row(0, run=ids[3], at=times[2], kept="masked"),
                             call_row(0, run=ids[4], at=times[2], kept="none", reply=None)]))  # fmt: skip

    assert store.find_cached_replies(keys) == {key("call", 0): good}
    assert store.find_cached_replies(keys, run=RUN) == {key("call", 0): call_row(0)}
    assert store.find_cached_replies(keys, run=ids[4]) == {}
    assert store.find_cached_replies([]) == {}


def test_a_reply_is_found_as_soon_as_it_is_written(store: Store) -> None:
    """The connection that looks stays open, and must not see an old state."""
    store.begin_run(run_row())

    before = store.find_cached_replies([key("call", 0)])
    store.write_rows(RowBatch(calls=[call_row(0)]))

    assert before == {}
    assert store.find_cached_replies([key("call", 0)]) == {key("call", 0): call_row(0)}


def test_many_keys_are_looked_up_at_once(store: Store) -> None:
    """More than a database takes in one question."""
    store.begin_run(run_row())
    rows = [call_row(position) for position in range(1203)]
    store.write_rows(RowBatch(calls=rows, made=[made_row(position) for position in range(1203)]))

    assert store.find_cached_replies([row["key"] for row in rows]) == {row["key"]: row for row in rows}
    assert len(store.rows.find_outputs([key("made", position) for position in range(1203)], [RUN])) == 1203
    assert store.rows.find_outputs([key("made", 0)], [OTHER]) == {}


def test_a_deleted_run_leaves_nothing_behind(store: Store) -> None:
    """And another run keeps what is its own."""
    for id in (RUN, OTHER):
        store.begin_run(run_row(id=id))
        store.write_rows(RowBatch(samples=[sample_row(run=id)], results=[result_row(run=id)], calls=[call_row(run=id)]))

    store.delete_run(RUN[:12])

    assert [row["id"] for row in store.list_runs()] == [OTHER]
    assert [*store.samples(RUN), *store.results(RUN), *store.calls(RUN)] == []
    assert len([*store.samples(OTHER), *store.results(OTHER), *store.calls(OTHER)]) == 3


def test_what_was_left_long_ago_is_collected_and_nothing_else(store: Store) -> None:
    """Finished runs stay for good; a run that moved lately can still be resumed."""
    now = datetime(2027, 1, 1, tzinfo=UTC)
    ended = "2026-11-16T06:00:00+00:00"
    store.begin_run(run_row(id="finished", state="finished", ended=ended))
    store.begin_run(run_row(id="stopped", state="stopped", ended=ended))
    store.begin_run(run_row(id="killed"))
    store.begin_run(run_row(id="resumed"))
    store.write_rows(RowBatch(calls=[call_row(run="resumed", at="2026-12-31T00:00:00+00:00")]))

    collected = store.collect_garbage(timedelta(days=30), now=now)

    assert collected.runs == ("killed", "stopped")
    assert sorted(row["id"] for row in store.list_runs()) == ["finished", "resumed"]


def test_collecting_from_the_command_line_says_what_can_be_told(database: str) -> None:
    """A server does not say how much room it got back."""
    Store.open(database, {}).close()

    done = evenhand("runs", "gc", EVENHAND_DATABASE_URL=database)

    told = "0 unfinished runs removed" + ("" if "://" in database else r", [\d,]+ bytes given back")
    assert done.returncode == 0
    assert re.fullmatch(told, done.stdout.strip())


def test_collecting_gives_back_the_room_of_a_file(database: str) -> None:
    """A server gives room back in its own time, and says nothing of it."""
    with Store.open(database, {}) as store:
        store.begin_run(run_row(state="stopped"))
        store.write_rows(RowBatch(calls=[call_row(position, reply='"' + "x" * 5000 + '"') for position in range(200)]))

        freed = store.collect_garbage(timedelta(0), now=datetime(2027, 1, 1, tzinfo=UTC)).freed
        left = None if "://" in database else Path(database, "store.sqlite").stat().st_size

    if left is None:
        assert freed is None
    else:
        assert freed is not None
        assert freed > 900_000
        assert left < 300_000  # Empty tables and their indexes; the replies were a million bytes.


@pytest.mark.parametrize("position", [-1, 2**31, 10**19, 10**30])
def test_a_position_that_no_column_can_hold_is_one_where_nothing_is(store: Store, position: int) -> None:
    """An address may name any number: the database would refuse to look for it, as if it were out of order."""
    store.begin_run(run_row())
    store.write_rows(RowBatch(samples=[sample_row(0)]))

    assert [len(store.rows.list_samples_at(RUN, [0, position])), store.rows.list_results_at(RUN, [position])] == [1, []]
