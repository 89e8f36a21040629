"""Rows into tables: a row that is there already is written over, so that a resumed piece of work counts once."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Any

from sqlalchemy import ClauseElement, Connection, Dialect, Table, bindparam, update
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.runs.store._prepared import Prepared
from evenhand.runs.store._rows import Batch, Row, Rows, fit, repaired
from evenhand.runs.store._tables import CALLS, MADE, RESULTS, SAMPLES


def write_batch(connection: Connection, batch: Batch) -> None:
    """Write all rows of a batch in the transaction that is open."""
    for table, rows in ((SAMPLES, batch.samples), (RESULTS, batch.results), (CALLS, batch.calls), (MADE, batch.made)):
        if rows:
            write_rows(connection, table, rows)
    if batch.drop:
        _run_all(connection, _drop(connection.dialect), [_dropped(row) for row in batch.drop])


def write_rows(connection: Connection, table: Table, rows: Rows) -> None:
    """Write rows over those with the same key."""
    _run_all(connection, _upsert(table, connection.dialect), fit(table, rows))


def _run_all(connection: Connection, statement: Prepared, rows: list[Row]) -> None:
    try:
        connection.exec_driver_sql(statement.text, [statement.parameters(row) for row in rows])
    except UnicodeEncodeError:  # Rare, and dear to look for in every text: half a character somewhere.
        connection.exec_driver_sql(statement.text, [statement.parameters(repaired(row)) for row in rows])


@cache
def _upsert(table: Table, dialect: Dialect) -> Prepared:
    insert = (postgresql.insert if dialect.name == "postgresql" else sqlite.insert)(table)
    key = [column.name for column in table.primary_key]
    values = {column.name: insert.excluded[column.name] for column in table.columns if not column.primary_key}
    return Prepared(insert.on_conflict_do_update(index_elements=key, set_=values), dialect)


@cache
def _drop(dialect: Dialect) -> Prepared:
    chosen = (CALLS.c.run == bindparam("of_run")) & (CALLS.c.key == bindparam("of_key"))
    statement: ClauseElement = update(CALLS).where(chosen).values(reply=bindparam("new"), kept=bindparam("new_kept"))
    return Prepared(statement, dialect)


def _dropped(row: Mapping[str, Any]) -> Row:
    return {"of_run": row["run"], "of_key": row["key"], "new": row["reply"], "new_kept": row["kept"]}
