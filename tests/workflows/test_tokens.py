"""Tokens: shown once, kept as a hash, good until they expire or are revoked."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from evenhand import InputError
from evenhand.store.store import Store
from evenhand.workflows.tokens import (
    create_service_token,
    find_service_token,
    has_service_tokens,
    revoke_service_tokens,
)
from tests.store.databases import database, postgresql_server

__all__ = ["database", "postgresql_server"]

NOON = datetime(2026, 11, 16, 12, tzinfo=UTC)


def test_a_token_is_found_by_its_secret_and_kept_as_a_hash(tmp_path: Path) -> None:
    """Whoever reads the store learns no token."""
    made = create_service_token(tmp_path, role="submitter", name="kestrel")

    with Store.open(tmp_path, {}) as store:
        found = find_service_token(store, made.secret)
        other = find_service_token(store, made.secret[:-1] + ("A" if made.secret[-1] != "A" else "B"))

    assert found == made.token
    assert other is None
    secret = made.secret.split("_", 2)[2].encode()
    assert all(secret not in file.read_bytes() for file in tmp_path.iterdir() if file.is_file())


def test_a_token_opens_nothing_once_it_expired(tmp_path: Path) -> None:
    """To the second."""
    now = [NOON]
    with Store.open(tmp_path, {}, clock=lambda: now[0]) as store:
        made = create_service_token(store, role="reader", name="board", expires_in="30 days")
        good = []
        for moment in (NOON, NOON + timedelta(days=30, seconds=-1), NOON + timedelta(days=30)):
            now[0] = moment
            good.append((find_service_token(store, made.secret) is not None, has_service_tokens(store)))

    assert good == [(True, True), (True, True), (False, True)]


def test_a_revoked_token_opens_nothing_and_another_still_does(tmp_path: Path) -> None:
    """So that one can be replaced without a gap."""
    with Store.open(tmp_path, {}) as store:
        old, new = (create_service_token(store, role="operator", name="ops") for _ in range(2))
        revoke_service_tokens(store, (old.token.id,))

        found = [find_service_token(store, one.secret) is not None for one in (old, new)]

    assert found == [False, True]


def test_a_token_that_another_process_revokes_opens_nothing_more(database: str) -> None:
    """A service looks with every request, over a connection that stays open: it must not see an old state."""
    with Store.open(database, {}) as service, Store.open(database, {}) as operator:
        before = has_service_tokens(service)
        made = create_service_token(operator, role="operator", name="ops")
        known = find_service_token(service, made.secret)
        revoke_service_tokens(operator, (made.token.id,))
        revoked = find_service_token(service, made.secret)

    assert (before, known, revoked) == (False, made.token, None)


@pytest.mark.parametrize("wrong", [{"name": " "}, {"expires_in": "soon"}, {"expires_in": "0 days"}])
def test_a_token_that_makes_no_sense_is_refused(wrong: dict[str, str], tmp_path: Path) -> None:
    """With what would work."""
    with pytest.raises(InputError, match="as in"):
        create_service_token(tmp_path, role="operator", **{"name": "ops", **wrong})
