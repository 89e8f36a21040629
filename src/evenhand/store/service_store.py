"""What a service keeps: runs it was asked for, answers under the keys of callers, tokens as hashes, limits of
models.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from sqlalchemy import Connection, Select, bindparam, delete, func, insert, select, union, update
from sqlalchemy.dialects import postgresql, sqlite

from evenhand.errors import Fault, StoreError, suggest_close_word_in_error
from evenhand.store.lost_writes import look_for_lost_write, may_be_written
from evenhand.store.queries import fetch_first_row, stream_rows
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts, storable_row_text
from evenhand.store.run_holds import DATABASE_CLOCKS
from evenhand.store.tables import CONTESTS, IDEMPOTENCY_KEYS, MODEL_LIMITS, OUTBOX, RUN_REQUESTS, RUNS, TOKENS

DROPPED_CONTENT = "{}"  # Of a request whose texts were not to be kept.


@dataclass(frozen=True, slots=True)
class StoredServiceRequests:
    """The requests of a store, reached by `store.requests`."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str

    def add_run(self, row: Row) -> None:
        """Keep what a run was asked for; it is due from now on."""
        [fitted] = fit_store_rows(RUN_REQUESTS, [{**row, "state": "due"}])
        try:
            with self._write() as connection:
                connection.execute(insert(RUN_REQUESTS), [repair_row_texts(fitted)])
        except StoreError as error:
            if not may_be_written(error) or not self._is_run_added(row["id"], error):
                raise

    def _is_run_added(self, id: str, lost: StoreError) -> bool:
        """Whether a run is there although its writer was cut off; it may be under way, or finished, by then."""
        query = union(
            select(RUNS.c.id).where(RUNS.c.id == id), select(RUN_REQUESTS.c.id).where(RUN_REQUESTS.c.id == id)
        )
        what = f"whether run {id} was received is not known ({lost.faults[0].what})"
        unknown = Fault(what, "when it can be reached, look whether it is there", where=self._shown)
        return look_for_lost_write(self._write, lambda one: one.execute(query).first() is not None, lost, unknown)

    def find_run(self, id: str) -> Row | None:
        """What a run was asked for; None where a service was not, or it is finished."""
        with self._read() as connection:
            return fetch_first_row(connection, select(RUN_REQUESTS).where(RUN_REQUESTS.c.id == id))

    def list_due_runs(self) -> list[str]:
        """The runs that are to be carried out, the oldest first."""
        query = select(RUN_REQUESTS.c.id).where(RUN_REQUESTS.c.state.in_(("due", "stopping")))
        with self._read() as connection:
            return list(connection.execute(query.order_by(RUN_REQUESTS.c.id)).scalars())

    def change_run(
        self, id: str, *, among: Sequence[str], state: str, why: str | None = None, drop: bool = False
    ) -> bool:
        """Move a run that is in one of some states to another; whether it was.

        With `drop`, what was asked is forgotten; such a run is never due again.
        """
        known = (RUN_REQUESTS.c.id == id) & RUN_REQUESTS.c.state.in_(among)
        if state == "due":
            known &= RUN_REQUESTS.c.content != DROPPED_CONTENT
        values = {"state": state, "why": why, **({"content": DROPPED_CONTENT} if drop else {})}
        with self._write() as connection:
            change = update(RUN_REQUESTS).where(known).values(repair_row_texts(values))
            return bool(connection.execute(change).rowcount)

    def note_progress(self, id: str, progress: str) -> str | None:
        """Keep how far a run has come; the state that it is wanted to be in, None where it is wanted no more."""
        one = RUN_REQUESTS.c.id == id
        with self._write() as connection:
            connection.execute(update(RUN_REQUESTS).where(one).values(progress=progress))
            return connection.execute(select(RUN_REQUESTS.c.state).where(one)).scalar()

    def remove_run(self, id: str) -> None:
        """A run is finished: nothing more is asked."""
        with self._write() as connection:
            connection.execute(delete(RUN_REQUESTS).where(RUN_REQUESTS.c.id == id))

    def list_run_ids(self, before: str | None, most: int) -> list[str]:
        """The ids of runs, begun or not, the newest first; those before one of them."""
        both = union(select(RUNS.c.id), select(RUN_REQUESTS.c.id)).subquery()
        query = select(both.c.id).order_by(both.c.id.desc()).limit(most)
        query = query if before is None else query.where(both.c.id < before)
        with self._read() as connection:
            return list(connection.execute(query).scalars())

    def count_states(self) -> dict[str, dict[str, int]]:
        """How many rows there are in each state: contests, messages, and runs that a service was asked for."""
        counts = {}
        with self._read() as connection:
            for table in (CONTESTS, OUTBOX, RUN_REQUESTS):
                query = select(table.c.state, func.count()).group_by(table.c.state).order_by(table.c.state)
                counts[table.name] = {str(state): int(count) for state, count in connection.execute(query)}
        return counts

    def drop_expired_answers(self, now: datetime) -> None:
        """Forget the keys whose time is over, and what was answered under them."""
        over = IDEMPOTENCY_KEYS.c.expires <= now.isoformat()
        with self._read() as connection:
            found = connection.execute(select(IDEMPOTENCY_KEYS.c.key).where(over).limit(1)).first()
        if found is not None:
            with self._write() as connection:
                connection.execute(delete(IDEMPOTENCY_KEYS).where(over))

    def claim_key(self, caller: str, key: str, *, digest: str, now: datetime, expires: datetime) -> Row | None:
        """Claim a key for a request; what is known of the one that has it, None where it is this one.

        A key that has expired is free again.
        """
        row = {"caller": caller, "key": key, "digest": digest, "expires": expires.isoformat(), "answer": None}
        own = (IDEMPOTENCY_KEYS.c.caller == caller) & (IDEMPOTENCY_KEYS.c.key == key)
        with self._write() as connection:
            connection.execute(delete(IDEMPOTENCY_KEYS).where(IDEMPOTENCY_KEYS.c.expires <= now.isoformat()))
            add = (postgresql.insert if connection.dialect.name == "postgresql" else sqlite.insert)(IDEMPOTENCY_KEYS)
            added = add.values(row).on_conflict_do_nothing().returning(IDEMPOTENCY_KEYS.c.key)
            if connection.execute(added).first() is not None:  # A driver may count no rows of such an insert.
                return None
            found = fetch_first_row(connection, select(IDEMPOTENCY_KEYS).where(own))
            if found is None:  # Whoever had it has just given it back.
                raise StoreError(Fault(f"the key {key!r} is in use", "send it again", where=self._shown))
            return found

    def keep_answer(self, caller: str, key: str, answer: str, expires: datetime) -> None:
        """Keep what was answered under a key."""
        own = (IDEMPOTENCY_KEYS.c.caller == caller) & (IDEMPOTENCY_KEYS.c.key == key)
        values = repair_row_texts({"answer": answer, "expires": expires.isoformat()})
        with self._write() as connection:
            connection.execute(update(IDEMPOTENCY_KEYS).where(own).values(values))

    def release_key(self, caller: str, key: str) -> None:
        """Nothing was done under a key: it may be used again."""
        own = (IDEMPOTENCY_KEYS.c.caller == caller) & (IDEMPOTENCY_KEYS.c.key == key)
        with self._write() as connection:
            connection.execute(delete(IDEMPOTENCY_KEYS).where(own))


def delete_run_rows(connection: Connection, id: str) -> None:
    """Remove a run with all that belongs to it, and what a service was asked of it."""
    for table in (RUNS, RUN_REQUESTS):
        connection.execute(delete(table).where(table.c.id == id))


# Asked with every request, and therefore built once.
_TOKEN_OF_HASH = select(TOKENS).where(TOKENS.c.hash == bindparam("meant"))
_ANY_TOKEN = select(TOKENS.c.id).limit(1)


@dataclass(frozen=True, slots=True)
class TokenStore:
    """The tokens of a store, reached by `store.tokens`. No token itself is ever kept."""

    _read: Callable[[], AbstractContextManager[Connection]]
    _write: Callable[[], AbstractContextManager[Connection]]
    _shown: str
    _look_up: Callable[[Select[Any], Mapping[str, object]], Row | None]

    def add_token(self, row: Row) -> None:
        """Keep what is known of a new token."""
        with self._write() as connection:
            connection.execute(insert(TOKENS), [repair_row_texts(one) for one in fit_store_rows(TOKENS, [row])])

    def find_token(self, hash: str) -> Row | None:
        """The token of a hash, whether or not it is still good."""
        return self._look_up(_TOKEN_OF_HASH, {"meant": hash})

    def has_tokens(self) -> bool:
        """Whether a token was ever made."""
        return self._look_up(_ANY_TOKEN, {}) is not None

    def list_tokens(self) -> list[Row]:
        """All tokens, the newest first."""
        with self._read() as connection:
            return list(stream_rows(connection, select(TOKENS).order_by(TOKENS.c.made.desc(), TOKENS.c.id)))

    def revoke_token(self, id: str, at: str) -> None:
        """From now on it opens nothing; one that was withdrawn before keeps its time."""
        with self._write() as connection:
            known = connection.execute(select(TOKENS.c.id)).scalars().all()
            if id not in known:
                hint = suggest_close_word_in_error(id, known) or "evenhand token list shows those that are"
                raise StoreError(Fault(f"no token {id!r}", hint, where=self._shown))
            change = update(TOKENS).where(TOKENS.c.id == id, TOKENS.c.revoked.is_(None))
            connection.execute(change.values(revoked=at))


T = TypeVar("T")
# Built once: each process asks several times a second.
_INSERTS = {
    name: build(MODEL_LIMITS).values(model=bindparam("meant"), content="").on_conflict_do_nothing()
    for name, build in (("postgresql", postgresql.insert), ("sqlite", sqlite.insert))
}
_LOCKED = select(MODEL_LIMITS.c.content).where(MODEL_LIMITS.c.model == bindparam("meant")).with_for_update()
_TIMES = {name: select(clock) for name, clock in DATABASE_CLOCKS.items()}
_CHANGE = update(MODEL_LIMITS).where(MODEL_LIMITS.c.model == bindparam("meant")).values(content=bindparam("changed"))


@dataclass(frozen=True, slots=True)
class StoredModelLimits:
    """The limits of a store, reached by `store.limits`."""

    _write: Callable[[], AbstractContextManager[Connection]]

    def change_row(self, model: str, change: Callable[[str, float], tuple[str, T]]) -> T:
        """Change what is kept of a model, given that ("" at first) and the time of the database in seconds."""
        meant = storable_row_text(model)
        with self._write() as connection:
            row = connection.execute(_LOCKED, {"meant": meant}).scalar()
            if row is None:
                connection.execute(_INSERTS[connection.dialect.name], {"meant": meant})
                row = connection.execute(_LOCKED, {"meant": meant}).scalar_one()
            now = float(connection.execute(_TIMES[connection.dialect.name]).scalar_one())  # After whatever it waited.
            content, result = change(row, now)
            connection.execute(_CHANGE, {"meant": meant, "changed": content})
            return result
