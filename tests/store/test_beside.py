"""What is kept beside a run: labels, columns and the names it is pinned under go with it, and never without a word."""

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest

from evenhand.errors import StoreError
from evenhand.store.store import Store
from tests.store.rows import RUN, label_row, run_row

OTHER = "20261117-000000-ffffff"
NOON = datetime(2026, 11, 18, 12, tzinfo=UTC)


@pytest.fixture
def store(database: str) -> Iterator[Store]:
    with Store.open(database, {}) as opened:
        opened.begin_run(run_row(state="finished"))
        opened.begin_run(run_row(id=OTHER, state="finished"))
        yield opened


def test_a_baseline_is_a_name_for_a_run(store: Store) -> None:
    """Every command that takes a run takes it by that name too."""
    before = store.set_baseline("main", RUN, now=NOON)

    assert before is None
    assert store.find_baseline("main") == {"name": "main", "run": RUN, "at": "2026-11-18T12:00:00.000+00:00"}
    assert store.rows.list_baselines() == [store.find_baseline("main")]
    assert store.find_run("baseline:main")["id"] == RUN


def test_the_last_part_of_an_id_names_its_run(store: Store) -> None:
    """A comparison writes "run ffffff": what a sentence calls a run, a command takes."""
    assert store.find_run("ffffff")["id"] == OTHER
    with pytest.raises(StoreError, match="no run 'fffff'"):
        store.find_run("fffff")
    store.begin_run(run_row(id="20261118-000000-ffffff", state="finished"))
    with pytest.raises(StoreError, match="no run 'ffffff'"):
        store.find_run("ffffff")


def test_a_baseline_that_moves_says_which_run_it_leaves(store: Store) -> None:
    """Whoever pins another run by mistake can put it back."""
    store.set_baseline("main", RUN)

    before = store.set_baseline("main", "latest")

    assert before == RUN
    assert [row["run"] for row in store.rows.list_baselines()] == [OTHER]


def test_a_baseline_that_is_removed_leaves_its_run(store: Store) -> None:
    """Only the name goes."""
    store.set_baseline("main", RUN)

    run = store.remove_baseline("main")

    assert run == RUN
    assert store.rows.list_baselines() == []
    assert store.find_run(RUN)["id"] == RUN


@pytest.mark.parametrize("call", [lambda s: s.find_baseline("man"), lambda s: s.remove_baseline("man"),
                                  lambda s: s.find_run("baseline:man")])  # fmt: skip
def test_a_baseline_that_is_not_there_is_told_with_the_nearest(store: Store, call: object) -> None:
    """As runs are."""
    store.set_baseline("main", RUN)

    with pytest.raises(StoreError, match=r"no baseline 'man'.*main"):
        call(store)  # type: ignore[operator]


@pytest.mark.parametrize(("state", "told"), [("running", "killed"), ("stopped", "stopped")])
def test_a_run_that_is_not_finished_is_no_baseline(store: Store, state: str, told: str) -> None:
    """What others are held against does not change afterwards; one that nobody works on was killed."""
    store.begin_run(run_row(id="20261118-000000-000000", state=state))

    with pytest.raises(StoreError, match=f"run 20261118-000000-000000 is {told}, not finished"):
        store.set_baseline("main", "latest")


@pytest.mark.parametrize("name", ["", "a:b", "a b", "-x", "é", "x" * 81])
def test_a_name_that_cannot_be_typed_after_a_colon_is_refused(store: Store, name: str) -> None:
    """baseline:NAME:VARIANT must mean one thing."""
    with pytest.raises(StoreError, match="a baseline cannot be called"):
        store.set_baseline(name, RUN)


def test_a_baseline_is_deleted_only_by_whoever_says_so(store: Store) -> None:
    """A continuous integration that compares with it would fail without a reason."""
    store.set_baseline("main", RUN)
    store.set_baseline("release", RUN)

    with pytest.raises(StoreError, match=rf"run {RUN} is the baseline main and release.*baseline remove main"):
        store.delete_run(RUN)
    assert store.find_run(RUN)["id"] == RUN
    store.delete_run(RUN, pinned=True)

    assert store.rows.list_baselines() == []
    assert [run["id"] for run in store.list_runs()] == [OTHER]


def test_a_baseline_that_was_taken_up_again_is_not_collected(store: Store) -> None:
    """It was finished once, and somebody compares with it."""
    store.set_baseline("main", RUN)
    for run in (RUN, OTHER):
        store.release_run(run, "stopped", "2026-11-17T00:00:00+00:00", None)

    collected = store.collect_garbage(timedelta(0), now=NOON + timedelta(days=99))

    assert collected.runs == (OTHER,)


def test_labels_are_replaced_whole_and_read_in_one_order(store: Store) -> None:
    """What a file no longer says is gone; "é" sorts by its bytes in every database."""
    store.labelling.replace_labels(RUN, [label_row("old")])
    store.labelling.replace_labels(OTHER, [label_row(score="1/1")])

    store.labelling.replace_labels(
        RUN, [label_row("é"), label_row("z", "zoe"), label_row("z", "bob", variant=""), label_row("Z")]
    )

    found = [(row["sample"], row["variant"], row["rater"]) for row in store.labels(RUN)]
    assert found == [("Z", "control", "ann"), ("z", "", "bob"), ("z", "control", "zoe"), ("é", "control", "ann")]
    assert [row["score"] for row in store.labels(OTHER)] == ["1/1"]


def test_labels_that_cannot_be_leave_those_before(store: Store) -> None:
    """One rater has one answer to one question."""
    store.labelling.replace_labels(RUN, [label_row()])

    with pytest.raises(StoreError, match="one is there twice"):
        store.labelling.replace_labels(RUN, [label_row("s1"), label_row("s1")])
    with pytest.raises(StoreError, match="labels have no 'mark'"):
        store.labelling.replace_labels(RUN, [label_row(mark="4")])

    assert [*store.labels(RUN)] == [label_row()]


def test_any_text_can_be_a_label(store: Store) -> None:
    """Ids come from other people's files."""
    store.labelling.replace_labels(RUN, [label_row("a\0b", "\ud83d")])

    assert [(row["sample"], row["rater"]) for row in store.labels(RUN)] == [("a\\x00b", "\\ud83d")]


def test_columns_are_kept_until_a_run_is_taken_up(store: Store) -> None:
    """What was worked out from results that may change must not outlive them."""
    store.save_columns(RUN, b"first")
    store.save_columns(RUN, b"\0second\xff")
    kept = store.rows.load_columns(RUN)

    store.hold_run(RUN, "elsewhere:1:1")

    assert kept == b"\0second\xff"
    assert store.rows.load_columns(RUN) is None
    assert store.rows.load_columns(OTHER) is None


def test_a_deleted_run_takes_its_labels_and_columns_with_it(store: Store) -> None:
    """Another run of that id may be imported."""
    store.labelling.replace_labels(RUN, [label_row()])
    store.save_columns(RUN, b"x")

    store.delete_run(RUN)

    assert [*store.labels(RUN)] == []
    assert store.rows.load_columns(RUN) is None
