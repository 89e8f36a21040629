"""Tokens of a service: who may call it, as what, and for how long. A token is shown once and kept as a hash."""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from datetime import datetime, timedelta
from hashlib import sha256
from typing import Literal, get_args

from evenhand.contest.task import find_contest_author_fault, normalize_contest_author_name, parse_contest_duration
from evenhand.errors import Fault, InputError
from evenhand.store.rows import Row
from evenhand.store.store import Store
from evenhand.workflows.stores import StoreLike, open_user_store

TokenRole = Literal["operator", "submitter", "reader"]
TOKEN_ROLES: tuple[TokenRole, ...] = get_args(TokenRole)
NO_TOKENS = "no token has been made here yet"
_PREFIX = "evh"


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceToken:
    """What is known of a token: never the token itself."""

    id: str
    role: TokenRole
    name: str  # Of whom it stands for; a submitter's name is that of the author.
    made: str
    expires: str | None
    revoked: str | None

    def is_good(self, now: datetime) -> bool:
        """Whether it opens anything now."""
        return self.revoked is None and (self.expires is None or datetime.fromisoformat(self.expires) > now)


@dataclass(frozen=True, slots=True, kw_only=True)
class NewServiceToken:
    """A token that was just made, with its secret, which nobody can be shown again."""

    token: ServiceToken
    secret: str


def create_service_token(
    store: StoreLike, *, role: TokenRole, name: str, expires_in: str | None = None
) -> NewServiceToken:
    """Make a token for somebody; it expires after a time such as "30 days", or never."""
    fault = find_contest_author_fault(name)
    if fault:
        raise InputError(Fault(f"the name of a token {fault}", "as in --name kestrel"))
    length = None if expires_in is None else _parse_token_lifetime(expires_in)
    with open_user_store(store, create=True) as opened:
        now = opened.now()
        id, secret = secrets.token_hex(4), secrets.token_urlsafe(32)
        row: Row = {
            "id": id,
            "hash": _hash_service_token(f"{_PREFIX}_{id}_{secret}"),
            "role": role,
            "name": normalize_contest_author_name(name),
            "made": now.isoformat(timespec="seconds"),
            "expires": None if length is None else (now + length).isoformat(timespec="seconds"),
            "revoked": None,
        }
        opened.tokens.add_token(row)
    return NewServiceToken(token=_load_service_token(row), secret=f"{_PREFIX}_{id}_{secret}")


def find_service_token(store: Store, secret: str) -> ServiceToken | None:
    """The token that this secret is, if it is good now."""
    row = store.tokens.find_token(_hash_service_token(secret))
    token = None if row is None else _load_service_token(row)
    return token if token is not None and token.is_good(store.now()) else None


def list_service_tokens(store: StoreLike) -> list[ServiceToken]:
    """All tokens that were made, the newest first, expired and revoked ones too."""
    with open_user_store(store, empty=NO_TOKENS) as opened:
        return [_load_service_token(row) for row in opened.tokens.list_tokens()]


def revoke_service_tokens(store: StoreLike, ids: tuple[str, ...]) -> None:
    """From now on these open nothing."""
    with open_user_store(store, empty=NO_TOKENS) as opened:
        for id in ids:
            opened.tokens.revoke_token(id, opened.now().isoformat(timespec="seconds"))


def has_service_tokens(store: Store) -> bool:
    """Whether tokens are asked for: from the first one on, also when all have expired or were revoked."""
    return store.tokens.has_tokens()


def _parse_token_lifetime(text: str) -> timedelta:
    faults: list[Fault] = []
    length = parse_contest_duration(text, "--expires-in", faults)
    if length is None or length <= timedelta(0):
        raise InputError(Fault(f"{text!r} is not how long a token lasts", "as in --expires-in '30 days'"))
    return length


def _hash_service_token(secret: str) -> str:
    # 256 random bits cannot be guessed: a plain hash is enough, and is found by an index.
    return sha256(secret.encode()).hexdigest()


def _load_service_token(row: Row) -> ServiceToken:
    return ServiceToken(**{name: row[name] for name in ("id", "role", "name", "made", "expires", "revoked")})
