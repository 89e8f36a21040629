"""Questions to the tables, answered in an order that is the same in every database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, Table, func, literal, select, tuple_

from evenhand.errors import Fault, StoreError, close_to
from evenhand.runs.store._rows import Row, storable
from evenhand.runs.store._tables import BASELINES, CALLS, CONTESTS, MADE, RESULTS, RUNS, SAMPLES

Unit = tuple[int, str, int]
_AT_ONCE = 500  # Keys per question, rows per fetch.


@dataclass(frozen=True, slots=True, kw_only=True)
class Kind:
    """What has an id and a name of its own: its table, what one is called, and a hint where a name is not there."""

    table: Table
    word: str
    hint: str


RUN = Kind(table=RUNS, word="run", hint="evenhand runs list shows those that are")
CONTEST = Kind(table=CONTESTS, word="contest", hint="evenhand contest list shows those that are")


def stream(connection: Connection, query: Select[Any]) -> Iterator[Row]:
    """The rows of a question, fetched a few at a time."""
    with connection.execute(query, execution_options={"yield_per": _AT_ONCE}) as found:
        for row in found.mappings():
            yield dict(row)


def first(connection: Connection, query: Select[Any]) -> Row | None:
    """The first row of a question, if there is one."""
    row = connection.execute(query).mappings().first()
    return None if row is None else dict(row)


def newest_first(connection: Connection, kind: Kind, name: str | None) -> list[Row]:
    """All of a kind, or those of one name, newest first."""
    query = select(kind.table).order_by(kind.table.c.id.desc())
    if name is not None:
        query = query.where(kind.table.c.name == storable(name))
    return [dict(row) for row in connection.execute(query).mappings()]


def one_run(connection: Connection, wanted: str, where: str) -> Row:
    """The run that is meant by an id, the beginning of one, "latest", "latest:NAME" or "baseline:NAME"."""
    word, colon, name = wanted.partition(":")
    if word == "baseline" and colon:
        pinned = one_baseline(connection, name, where)["run"]
        return dict(connection.execute(select(RUNS).where(RUNS.c.id == pinned)).mappings().one())
    return one_of(connection, RUN, wanted, where)


def one_of(connection: Connection, kind: Kind, wanted: str, where: str) -> Row:
    """The one of a kind that is meant by an id, the beginning of one, "latest" or "latest:NAME"."""
    word, colon, name = wanted.partition(":")
    if word == "latest":
        return _latest(connection, kind, name if colon else None, where)
    wanted, id = storable(wanted), kind.table.c.id
    query = select(kind.table).where(id >= wanted, id < wanted + "\U0010ffff").order_by(id).limit(6)
    found = connection.execute(query).mappings().all()
    if wanted and found and (len(found) == 1 or found[0]["id"] == wanted):
        return dict(found[0])
    raise StoreError(_not_one(connection, kind, wanted, [row["id"] for row in found], where))


def _latest(connection: Connection, kind: Kind, name: str | None, where: str) -> Row:
    query = select(kind.table).order_by(kind.table.c.id.desc()).limit(1)
    row = first(connection, query if name is None else query.where(kind.table.c.name == storable(name)))
    if row is None:
        names = connection.execute(select(kind.table.c.name).distinct()).scalars().all()
        what = f"no {kind.word} is here" if name is None else f"no {kind.word} of {name!r} is here"
        raise StoreError(Fault(what, close_to(name or "", names) or kind.hint, where=where))
    return row


def _not_one(connection: Connection, kind: Kind, wanted: str, found: Sequence[str], where: str) -> Fault:
    if wanted and found:
        several = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
        return Fault(f"{wanted!r} begins more than one {kind.word}", several, where=where)
    id = kind.table.c.id
    ids = connection.execute(select(id).order_by(id.desc()).limit(200)).scalars().all()
    hint = close_to(wanted, ids) or (f"the latest is {ids[0]}" if ids else f"no {kind.word} is here")
    return Fault(f"no {kind.word} {wanted!r}", hint, where=where)


def all_baselines(connection: Connection) -> list[Row]:
    """Every name with its run, by name."""
    return [dict(row) for row in connection.execute(select(BASELINES).order_by(BASELINES.c.name)).mappings()]


def one_baseline(connection: Connection, name: str, where: str) -> Row:
    """The baseline of a name."""
    row = first(connection, select(BASELINES).where(BASELINES.c.name == name))
    if row is None:
        names = [one["name"] for one in all_baselines(connection)]
        hint = close_to(name, names) or "evenhand baseline set RUN --name NAME pins one"
        raise StoreError(Fault(f"no baseline {name!r}", hint, where=where))
    return row


def results_query(run: str, after: Unit | None) -> Select[Any]:
    """The results of a run by position, variant and repeat, from behind a given one."""
    unit = (RESULTS.c.position, RESULTS.c.variant, RESULTS.c.repeat)
    query = select(RESULTS).where(RESULTS.c.run == run).order_by(*unit)
    return query if after is None else query.where(tuple_(*unit) > tuple_(*map(literal, after)))


def samples_query(run: str) -> Select[Any]:
    """The samples of a run by position."""
    return select(SAMPLES).where(SAMPLES.c.run == run).order_by(SAMPLES.c.position)


def calls_query(run: str, position: int | None = None) -> Select[Any]:
    """The calls of a run, or those about one sample."""
    order = (CALLS.c.position, CALLS.c.variant, CALLS.c.repeat, CALLS.c.judge, CALLS.c.key)
    query = select(CALLS).where(CALLS.c.run == run).order_by(*order)
    return query if position is None else query.where(CALLS.c.position == position)


def call_facts_query(run: str) -> Select[Any]:
    """The calls of a run without their replies, in no order: to be counted."""
    names = (
        "judge",
        "variant",
        "attempts",
        "seconds",
        "input_tokens",
        "output_tokens",
        "cost",
        "failed",
        "cached_from",
    )
    return select(*(CALLS.c[name] for name in names)).where(CALLS.c.run == run)


def calls_by_key_query(run: str, keys: Sequence[str]) -> Select[Any]:
    """Some calls of a run."""
    return select(CALLS).where(CALLS.c.run == run, CALLS.c.key.in_(keys))


def sample_ids_query(run: str, positions: Sequence[int]) -> Select[Any]:
    """The ids of some samples."""
    return select(SAMPLES.c.position, SAMPLES.c.id).where(SAMPLES.c.run == run, SAMPLES.c.position.in_(positions))


def made_query(run: str) -> Select[Any]:
    """What live variants made in a run."""
    return select(MADE).where(MADE.c.run == run).order_by(MADE.c.position, MADE.c.variant, MADE.c.repeat, MADE.c.key)


def cached_calls(connection: Connection, keys: Sequence[str], run: str | None) -> dict[str, Row]:
    """The newest reply as it came, by key; of all runs or of one."""
    found: dict[str, Row] = {}
    mark = (CALLS.c.at + " " + CALLS.c.run).label("mark")
    for some in _parts(keys):
        usable = CALLS.c.key.in_(some) & (CALLS.c.kept == "raw") & CALLS.c.failed.is_(None) & CALLS.c.reply.is_not(None)
        if run is not None:
            usable &= CALLS.c.run == run
        newest = select(CALLS.c.key, func.max(mark).label("mark")).where(usable).group_by(CALLS.c.key).subquery()
        query = select(CALLS).join(newest, (CALLS.c.key == newest.c.key) & (mark == newest.c.mark))
        found |= {row["key"]: dict(row) for row in connection.execute(query).mappings()}
    return found


def made_outputs(connection: Connection, keys: Sequence[str], runs: Sequence[str]) -> dict[str, Row]:
    """The newest output that a live variant made in one of some runs, by key."""
    found: dict[str, Row] = {}
    for some in _parts(keys):
        query = select(MADE).where(MADE.c.key.in_(some), MADE.c.run.in_(runs)).order_by(MADE.c.at, MADE.c.run)
        found |= {row["key"]: dict(row) for row in connection.execute(query).mappings()}
    return found


def _parts(keys: Sequence[str]) -> Iterable[Sequence[str]]:
    return (keys[start : start + _AT_ONCE] for start in range(0, len(keys), _AT_ONCE))
