"""Contests are kept beside runs: a log of events that only grows, written by one process at a time."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sqlalchemy import event, insert

from evenhand.errors import StoreError
from evenhand.store.contest_store import ContestStore
from evenhand.store.database import NO_CONTESTS
from evenhand.store.store import Store
from evenhand.store.tables import OUTBOX
from tests.cli.command import evenhand
from tests.store.databases import execute_statement
from tests.store.rows import CONTEST, RUN, contest_row, event_row, run_row

OTHER = "20261117-101010-ffffff"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)
AT_NOON = "2026-11-18T12:00:00.000+00:00"
Act = Callable[[ContestStore], None]


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store.open(database, {}) as opened:
        yield opened


def test_what_is_written_is_read_back(database: str) -> None:
    """Every column, after the store was closed and opened again."""
    with Store.open(database, {}) as first:
        first.contests.begin_contest(contest_row(), now=NOON - timedelta(hours=1))
        for number in range(3):
            first.contests.append_event(event_row(number), now=NOON)

    with Store.open(database, {}, create=False) as second:
        found = second.contests.find_contest(CONTEST), [*second.contests.stream_events(CONTEST, calls=True)]

    told = contest_row(touched=AT_NOON, seal=found[0]["seal"])
    assert found == (told, [event_row(0), event_row(1), event_row(2)])


def test_events_come_without_their_calls_unless_these_are_asked_for(store: Store) -> None:
    """The state is rebuilt from the events alone; what judges replied is long, and is not even read."""
    store.contests.begin_contest(contest_row())
    store.contests.append_event(event_row())
    asked: list[str] = []
    event.listen(store._engine, "before_cursor_execute", lambda *told: asked.append(told[2]))

    found = [*store.contests.stream_events(CONTEST)]

    assert found == [{name: value for name, value in event_row().items() if name != "calls"}]
    assert not [statement for statement in asked if "calls" in statement]


def test_events_come_by_number_however_many(store: Store) -> None:
    """As numbers are ordered, not as texts are, and more than one fetch."""
    store.contests.begin_contest(contest_row())
    store.contests.begin_contest(contest_row(id=OTHER))
    for number in range(12):
        store.contests.append_event(event_row(number))
    store.contests.append_event(event_row(0, contest=OTHER))

    numbers = {id: [row["number"] for row in store.contests.stream_events(id)] for id in (CONTEST, OTHER, "nowhere")}

    assert numbers == {CONTEST: [*range(12)], OTHER: [0], "nowhere": []}


def test_a_contest_id_is_given_once(store: Store) -> None:
    """Two contests of one id would be one to everybody else."""
    store.contests.begin_contest(contest_row())

    with pytest.raises(StoreError, match=f"there is a contest '{CONTEST}' already"):
        store.contests.begin_contest(contest_row(name="other"))

    assert [row["name"] for row in store.contests.list_contests()] == ["slogan"]


def test_an_event_that_is_not_the_next_is_refused(store: Store) -> None:
    """It was decided on a state that is no longer the last one; nothing of it stays, not even that it was tried."""
    store.contests.begin_contest(contest_row())
    for earlier in range(2):
        store.contests.append_event(event_row(earlier), now=NOON)

    for number in (0, 1, 3, -1):
        says = f"another process has gone on with contest {CONTEST}: its next event is 2, not {number}"
        with pytest.raises(StoreError, match=says):
            store.contests.append_event(event_row(number, content='"late"'), now=NOON + timedelta(hours=1))

    assert [*store.contests.stream_events(CONTEST, calls=True)] == [event_row(0), event_row(1)]
    assert store.contests.find_contest(CONTEST)["touched"] == AT_NOON


@given(st.lists(st.integers(-1, 6), max_size=12))
def test_the_log_has_no_gap_and_nothing_twice(numbers: list[int]) -> None:
    """Whoever appends what, and in which order."""
    due: list[int] = []
    with TemporaryDirectory() as folder, Store.open(folder, {}) as store:
        store.contests.begin_contest(contest_row())

        for number in numbers:
            if number == len(due):
                store.contests.append_event(event_row(number))
                due.append(number)
            else:
                with pytest.raises(StoreError, match=f"its next event is {len(due)}, not {number}"):
                    store.contests.append_event(event_row(number))

        assert [row["number"] for row in store.contests.stream_events(CONTEST)] == due


def test_of_many_that_append_the_same_number_one_does(database: str) -> None:
    """Each with a connection of its own; all look before any has written: the database decides."""
    stores = [Store.open(database, {}) for _ in range(4)]
    stores[0].contests.begin_contest(contest_row())

    def append(number: int, writer: int) -> int | None:
        try:
            stores[writer].contests.append_event(event_row(number, content=str(writer)))
        except StoreError as error:
            assert "another process has gone on with contest" in str(error)
            return None
        return writer

    with ThreadPoolExecutor(4) as pool:
        won = [set(pool.map(append, [number] * 4, range(4))) - {None} for number in range(8)]

    assert [len(one) for one in won] == [1] * 8
    assert [{int(row["content"])} for row in stores[0].contests.stream_events(CONTEST)] == won
    for store in stores:
        store.close()


def test_a_contest_is_found_by_the_beginning_of_its_id(store: Store) -> None:
    """As a run is; the newest comes first."""
    store.contests.begin_contest(contest_row(id=OTHER, name="other"))
    store.contests.begin_contest(contest_row())

    wanted = (CONTEST, "20261116", "latest", "latest:slogan", "latest:other")
    found = [store.contests.find_contest(one)["id"] for one in wanted]

    assert found == [CONTEST, CONTEST, OTHER, CONTEST, OTHER]
    assert [row["id"] for row in store.contests.list_contests()] == [OTHER, CONTEST]
    assert [row["id"] for row in store.contests.list_contests("slogan")] == [CONTEST]


def test_a_contest_that_is_not_there_is_told_with_the_nearest(store: Store) -> None:
    """And never with a run."""
    store.begin_run(run_row(name="slogans"))
    store.contests.begin_contest(contest_row())
    store.contests.begin_contest(contest_row(id=OTHER, name="other"))
    told = {
        "2026": f"'2026' begins more than one contest ({CONTEST}, {OTHER})",
        "20261116-071500-c0ffe0": f"no contest '20261116-071500-c0ffe0' (did you mean '{CONTEST}'?)",
        RUN: f"no contest '{RUN}' (the latest is {OTHER})",
        "": f"no contest '' (the latest is {OTHER})",
        "baseline:main": f"no contest 'baseline:main' (the latest is {OTHER})",
        "latest:slogn": "no contest of 'slogn' is here (did you mean 'slogan'?)",
        "latest:x": "no contest of 'x' is here (evenhand contest list shows those that are)",
    }

    for wanted, says in told.items():
        with pytest.raises(StoreError) as caught:
            store.contests.find_contest(wanted)
        assert str(caught.value) == f"{store.shown}: {says}"


def test_where_no_contest_is_the_first_is_a_command_away(store: Store) -> None:
    """Also among runs."""
    store.begin_run(run_row())

    for wanted in ("latest", "latest:slogan", CONTEST, ""):
        with pytest.raises(StoreError) as caught:
            store.contests.find_contest(wanted)
        assert str(caught.value) == f"{store.shown}: {NO_CONTESTS}"

    assert store.contests.list_contests() == []


def test_a_command_about_contests_makes_no_store_and_says_how_one_begins(empty_database: str) -> None:
    """Whoever asks for contests is not sent to runs."""
    for _ in range(2):
        with pytest.raises(StoreError, match=r"no contests yet: evenhand contest create task\.yaml starts one"):
            Store.open(empty_database, {}, create=False, empty=NO_CONTESTS)


def test_runs_do_not_see_contests(store: Store, database: str) -> None:
    """Neither listed nor found, nor collected however old, nor taken along with a run that is deleted."""
    store.contests.begin_contest(contest_row(state="stopped"))
    store.contests.append_event(event_row())
    store.begin_run(run_row(id=CONTEST))
    store.delete_run(CONTEST)

    collected = store.collect_garbage(timedelta(0), now=NOON + timedelta(days=9000))
    listed = evenhand("runs", "list", "--json", EVENHAND_DATABASE_URL=database)
    shown = evenhand("runs", "show", CONTEST, EVENHAND_DATABASE_URL=database)

    assert (store.list_runs(), collected.runs) == ([], ())
    assert (listed.returncode, CONTEST in listed.stdout) == (0, False)
    assert (shown.returncode, f"no run '{CONTEST}' (evenhand run eval.yaml starts one)" in shown.stderr) == (2, True)
    assert len([*store.contests.stream_events(CONTEST)]) == 1


def test_a_deleted_contest_takes_its_events_with_it(store: Store) -> None:
    """And another one keeps its own."""
    for id in (CONTEST, OTHER):
        store.contests.begin_contest(contest_row(id=id))
        store.contests.append_event(event_row(contest=id))

    store.contests.delete_contest(CONTEST[:8])

    assert [row["id"] for row in store.contests.list_contests()] == [OTHER]
    assert [len([*store.contests.stream_events(id)]) for id in (CONTEST, OTHER)] == [0, 1]


def test_what_cannot_be_is_refused(store: Store) -> None:
    """A contest that is not there, a state that does not exist, a column misspelt."""
    store.contests.begin_contest(contest_row(), now=NOON)
    acts: list[tuple[Act, str]] = [
        (lambda contests: contests.append_event(event_row(contest="x")), "no contest 'x'"),
        (lambda contests: contests.hold_contest("x", "h:1:1"), "no contest 'x'"),
        (lambda contests: contests.delete_contest("x"), "no contest 'x'"),
        (lambda contests: contests.release_contest(CONTEST, "done", "", None), "a contest cannot be 'done'"),
        (
            lambda contests: contests.begin_contest(contest_row(id=OTHER, state="open")),
            "state of contests cannot be 'open'",
        ),
        (
            lambda contests: contests.begin_contest(contest_row(id=OTHER, sumary="")),
            "contests have no 'sumary'.*summary",
        ),
    ]

    for act, says in acts:
        with pytest.raises(StoreError, match=says):
            act(store.contests)

    assert store.contests.list_contests() == [contest_row(touched=AT_NOON)]


def test_any_text_can_be_stored(store: Store) -> None:
    """Zero bytes and halves of characters come from outside; PostgreSQL takes neither."""
    store.contests.begin_contest(contest_row(name="a\0b", source="cut \ud83d"))
    store.contests.append_event(event_row(content='{"text":"cut \ud83d"}', calls='["\udcff"]'))

    found = store.contests.find_contest("latest:a\0b")
    [written] = store.contests.stream_events(CONTEST, calls=True)

    assert (found["name"], found["source"]) == ("a\\x00b", "cut \\ud83d")
    assert (written["content"], written["calls"]) == ('{"text":"cut \\ud83d"}', '["\\udcff"]')


def test_a_log_whose_numbers_do_not_count_from_zero_is_damaged(database: str) -> None:
    """Though as many events are there as the last one says, and it is the one that is sealed."""
    with Store.open(database, {}) as store:
        store.contests.begin_contest(contest_row())
        for number in range(4):
            store.contests.append_event(event_row(number))
        before = store.contests.list_damaged()
        execute_statement(database, "UPDATE contest_events SET number = -1 WHERE number = 1")

        assert (before, store.contests.list_damaged()) == (set(), {CONTEST})


def test_a_message_with_more_tries_than_a_database_counts_can_be_put_aside(store: Store) -> None:
    """Else it is sent again and again: PostgreSQL refuses the sum."""
    store.contests.begin_contest(contest_row())
    times = {"made": "", "due": "", "delivered": None, "failure": None, "attempts": 2**31 - 1}
    row = {"id": "m1", "contest": CONTEST, "kind": "state", "target": "", "state": "pending", **times, "body": "{}"}
    with store._connect(writes=True) as connection:
        connection.execute(insert(OUTBOX), [row])

    store.outbox.bury_message("m1", "off")

    [kept] = store.outbox.list_messages()
    assert (kept["state"], kept["failure"], kept["attempts"]) == ("dead", "off", 2**31 - 1)
