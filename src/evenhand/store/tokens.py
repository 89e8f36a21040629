"""Tokens of a service: kept as hashes, with a role, an expiry and, where one was withdrawn, when."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, Select, bindparam, insert, select, update

from evenhand.errors import Fault, StoreError, suggest_close_word_in_error
from evenhand.store.queries import stream_rows
from evenhand.store.rows import Row, fit_store_rows, repair_row_texts
from evenhand.store.tables import TOKENS

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
