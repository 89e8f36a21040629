"""A store is made, or brought to the schema of this version, before anything is read from it."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, Engine, func, insert, inspect, select

from evenhand.errors import Fault, StoreError
from evenhand.runs.store._places import Place, writing
from evenhand.runs.store._tables import METADATA, VERSION, VERSIONS

NO_RUNS = "no runs yet: evenhand run eval.yaml starts one"
NO_CONTESTS = "no contests yet: evenhand contest run task.yaml submissions/ starts one"
_LOCK = 0x6576656E  # Any number, as long as every Evenhand takes the same.
_MIGRATIONS = Path(__file__).parent / "migrations"


def make_ready(engine: Engine, place: Place, *, create: bool, empty: str = NO_RUNS) -> None:
    """See that the tables are there and of this version; where `create` is false and nothing is, `empty` is said."""
    with engine.connect() as connection:
        if _version(connection, place) == VERSION:
            return
    with writing(engine).begin() as connection:
        if connection.dialect.name == "postgresql":
            connection.execute(select(func.pg_advisory_xact_lock(_LOCK)))
        version = _version(connection, place)  # Another process may have been faster.
        if version is None and not create:
            raise StoreError(Fault(empty, where=place.shown))
        if version is None:
            METADATA.create_all(connection)
            VERSIONS.create(connection)
            connection.execute(insert(VERSIONS).values(version_num=VERSION))
        elif version < VERSION:
            migrate(connection)


def migrate(connection: Connection, to: str = "head") -> None:
    """Run the migrations that a store lacks, inside the transaction that is open."""
    from alembic import command  # noqa: PLC0415 - half a second, for what happens once in the life of a store
    from alembic.config import Config  # noqa: PLC0415

    config = Config(attributes={"connection": connection})
    config.set_main_option("script_location", str(_MIGRATIONS).replace("%", "%%"))
    command.upgrade(config, to)


def _version(connection: Connection, place: Place) -> str | None:
    """The schema that a store has; None where it has none yet."""
    there = set(inspect(connection).get_table_names())
    if VERSIONS.name not in there:
        foreign = sorted(there & set(METADATA.tables))
        if foreign:
            what = f"has a table {foreign[0]!r} that is not of Evenhand"
            raise StoreError(Fault(what, "give Evenhand a database of its own", where=place.shown))
        return None
    version: str | None = connection.execute(select(VERSIONS.c.version_num)).scalar_one_or_none()
    if version is None or version > VERSION:
        what = f"was written by a newer Evenhand (schema {version}, this one knows {VERSION})"
        raise StoreError(Fault(what, "upgrade Evenhand, or use another store", where=place.shown))
    return version
