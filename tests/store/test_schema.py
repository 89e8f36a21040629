"""Every schema that was ever released opens, with all that was in it; a newer one is left alone."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, insert, inspect

from evenhand.errors import StoreError
from evenhand.store.database import (
    WRITE_OPTIONS,
    create_store_engine,
    locate_store_database,
    prepare_store_tables,
    run_migrations,
)
from evenhand.store.store import Store
from evenhand.store.tables import BASELINES, COLUMNS, LABELS, METADATA, RESULTS, RUNS, SCHEMA_VERSION, VERSIONS
from tests.store.databases import execute_statement
from tests.store.rows import (
    CONTEST,
    RUN,
    Row,
    call_row,
    contest_row,
    evaluation_row,
    event_row,
    key,
    label_row,
    made_row,
    result_row,
    run_row,
    sample_row,
)

SCHEMAS = sorted((Path(__file__).parent / "schemas").glob("*.sql"))
PINNED = {"name": "main", "run": RUN, "at": "2026-11-16T06:01:00+00:00"}


def differences(engine: Engine) -> object:
    """What the tables have that the code does not know, and the other way round."""
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"version_table": VERSIONS.name})
        keys = {name: inspect(connection).get_pk_constraint(name)["constrained_columns"] for name in METADATA.tables}
        known = {name: [column.name for column in table.primary_key] for name, table in METADATA.tables.items()}
        return compare_metadata(context, METADATA), {name for name in keys if keys[name] != known[name]}


@pytest.mark.parametrize("create", [True, False])
@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.stem)
def test_a_store_of_any_released_schema_opens_with_all_that_is_in_it(
    schema: Path, tmp_path: Path, create: bool
) -> None:
    """The dump of each is kept as it was on the day of its release; a command that only reads upgrades it too."""
    connection = sqlite3.connect(tmp_path / "store.sqlite")
    connection.executescript(schema.read_text("utf-8"))
    connection.close()

    with Store.open(tmp_path, {}, create=create) as store:
        assert store.find_run(RUN) == run_row(
            state="finished", ended="2026-11-16T05:13:00+00:00", summary='{"mean":"7/3"}'
        )
        assert [*store.samples(RUN)] == [sample_row(0), sample_row(1)]
        assert [*store.results(RUN)] == [result_row(0), result_row(1, state="failed", score=None, number=None)]
        assert [*store.calls(RUN)] == [call_row(0), call_row(1, failed="busy", reply=None, kept="none")]
        assert store.rows.find_outputs([key("made", 0)], [RUN]) == {key("made", 0): made_row(0)}

    engine = create_store_engine(locate_store_database(tmp_path, {}))
    assert differences(engine) == ([], set())
    engine.dispose()


@pytest.mark.parametrize("schema", SCHEMAS[1:], ids=lambda schema: schema.stem)
def test_what_is_kept_beside_a_run_is_there_since_its_schema(schema: Path, tmp_path: Path) -> None:
    """0002 brought labels, columns and baselines."""
    connection = sqlite3.connect(tmp_path / "store.sqlite")
    connection.executescript(schema.read_text("utf-8"))
    connection.close()

    with Store.open(tmp_path, {}) as store:
        assert [*store.labels(RUN)] == [label_row(), label_row("s1", variant="")]
        assert store.rows.load_columns(RUN) == b"\x00columns\xff"
        assert store.rows.list_baselines() == [PINNED]


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.stem)
def test_contests_are_there_since_their_schema(schema: Path, tmp_path: Path) -> None:
    """0003 brought them; an older store has none, and takes the first."""
    connection = sqlite3.connect(tmp_path / "store.sqlite")
    connection.executescript(schema.read_text("utf-8"))
    connection.close()
    ended, touched = "2026-11-16T07:16:00+00:00", "2026-11-16T07:15:01.000+00:00"

    with Store.open(tmp_path, {}) as store:
        if schema.stem < "0003":
            assert store.contests.list_contests() == []
            store.contests.begin_contest(contest_row())
        else:
            (found,) = store.contests.list_contests()
            told = contest_row(state="finished", ended=ended, touched=touched, summary='{"winner":"a"}')
            # 0004 made it the contest of its task, and chained its events as they stood.
            assert found == {**told, "key": '["slogan",null]', "seal": found["seal"]}
            assert found["seal"] is not None
            assert [*store.contests.stream_events(CONTEST, calls=True)] == [event_row(0), event_row(1)]
        assert store.contests.find_contest("latest:slogan")["id"] == CONTEST


@pytest.mark.parametrize("schema", SCHEMAS, ids=lambda schema: schema.stem)
def test_evaluations_are_there_since_their_schema(schema: Path, tmp_path: Path) -> None:
    """0008 brought them; an older store has none, and takes the first."""
    connection = sqlite3.connect(tmp_path / "store.sqlite")
    connection.executescript(schema.read_text("utf-8"))
    connection.close()

    with Store.open(tmp_path, {}) as store:
        if schema.stem < "0008":
            store.evaluations.add_evaluation(evaluation_row())
        assert store.evaluations.list_evaluations() == [evaluation_row()]


def test_a_store_of_the_first_schema_is_upgraded_where_it_is(empty_database: str, tmp_path: Path) -> None:
    """A server has no file to keep a dump of: its first tables are made by the first migration and filled."""
    tmp_path.joinpath("store").mkdir()
    engine = create_store_engine(locate_store_database(empty_database, {}))
    with engine.execution_options(**WRITE_OPTIONS[engine.dialect.name]).begin() as connection:
        run_migrations(connection, "0001")
        connection.execute(insert(RUNS), [_without_mark(run_row(state="finished"))])
        connection.execute(insert(RESULTS), [result_row(0), result_row(1)])
    engine.dispose()

    with Store.open(empty_database, {}, create=False) as store:
        store.set_baseline("main", RUN)
        store.labelling.replace_labels(RUN, [label_row()])

        assert store.find_run("baseline:main") == run_row(state="finished")
        assert [*store.results(RUN)] == [result_row(0), result_row(1)]
        assert [*store.labels(RUN)] == [label_row()]
    engine = create_store_engine(locate_store_database(empty_database, {}))
    assert differences(engine) == ([], set())
    engine.dispose()


def test_a_store_of_the_second_schema_is_upgraded_without_loss(empty_database: str, tmp_path: Path) -> None:
    """What is kept beside runs stays, and contests can be begun."""
    tmp_path.joinpath("store").mkdir()
    engine = create_store_engine(locate_store_database(empty_database, {}))
    with engine.execution_options(**WRITE_OPTIONS[engine.dialect.name]).begin() as connection:
        run_migrations(connection, "0002")
        connection.execute(insert(RUNS), [_without_mark(run_row(state="finished"))])
        connection.execute(insert(RESULTS), [result_row(0)])
        connection.execute(insert(BASELINES), [PINNED])
        connection.execute(insert(COLUMNS), [{"run": RUN, "content": b"\0columns\xff"}])
        connection.execute(insert(LABELS), [_without_binding(label_row())])
    engine.dispose()

    with Store.open(empty_database, {}, create=False) as store:
        store.contests.begin_contest(contest_row())
        store.contests.append_event(event_row())

        assert store.find_run("baseline:main") == run_row(state="finished")
        assert [*store.results(RUN)] == [result_row(0)]
        assert [*store.labels(RUN)] == [label_row()]
        assert (store.rows.load_columns(RUN), store.rows.list_baselines()) == (b"\0columns\xff", [PINNED])
        assert [*store.contests.stream_events(CONTEST, calls=True)] == [event_row()]
    engine = create_store_engine(locate_store_database(empty_database, {}))
    assert differences(engine) == ([], set())
    engine.dispose()


def test_the_newest_schema_has_its_dump() -> None:
    """A release without one could not be tested later."""
    assert SCHEMAS[-1].stem == SCHEMA_VERSION


@pytest.mark.parametrize("by_migrations", [True, False])
def test_migrations_and_the_code_make_the_same_tables(empty_database: str, tmp_path: Path, by_migrations: bool) -> None:
    """A new store is made from the code, an old one by the migrations: nobody may see which."""
    place = locate_store_database(empty_database, {})
    tmp_path.joinpath("store").mkdir()
    engine = create_store_engine(place)
    if by_migrations:
        with engine.execution_options(**WRITE_OPTIONS[engine.dialect.name]).begin() as connection:
            run_migrations(connection)
    prepare_store_tables(engine, place, create=True)

    found = differences(engine)

    with engine.connect() as connection:
        version = connection.execute(VERSIONS.select()).scalars().all()
    engine.dispose()
    assert found == ([], set())
    assert version == [SCHEMA_VERSION]


def test_a_store_of_a_newer_evenhand_is_refused(empty_database: str) -> None:
    """Reading it by old rules could lose what the new ones keep."""
    Store.open(empty_database, {}).close()
    execute_statement(empty_database, "UPDATE evenhand_version SET version_num = '9999'")

    with pytest.raises(StoreError, match=r"was written by a newer Evenhand .schema 9999, this one knows"):
        Store.open(empty_database, {})


def test_a_database_of_something_else_is_left_alone(empty_database: str, tmp_path: Path) -> None:
    """A table called runs may be anybody's."""
    tmp_path.joinpath("store").mkdir()
    execute_statement(empty_database, "CREATE TABLE runs (id integer)")

    with pytest.raises(StoreError, match="has a table 'runs' that is not of Evenhand"):
        Store.open(empty_database, {})


def test_alembic_is_loaded_for_a_migration_only(tmp_path: Path) -> None:
    """It takes as long to load as a small run takes to finish."""
    code = (
        "import sys\nfrom evenhand.store.store import Store\n"
        f"for _ in range(2): Store.open({str(tmp_path)!r}, {{}}).close()\n"
        "print([name for name in ('alembic', 'psycopg') if name in sys.modules])"
    )

    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)

    assert done.stdout.strip() == "[]"


def _without_mark(row: Row) -> Row:
    """0005 brought the mark of imported runs; a run from before has none."""
    return {name: value for name, value in row.items() if name != "imported"}


def _without_binding(row: Row) -> Row:
    """0011 brought the text that a label is about, and its draw."""
    return {name: value for name, value in row.items() if name not in ("output", "chance", "batch", "schema")}
