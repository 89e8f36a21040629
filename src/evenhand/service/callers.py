"""Who calls: a token with a role, or, on this machine and as long as there are no tokens, its operator."""

from __future__ import annotations

import asyncio
import threading
import time
from dataclasses import dataclass
from typing import Annotated

from fastapi import Depends, Request
from fastapi.security import HTTPBearer
from fastapi.security.base import SecurityBase

from evenhand.service.problems import ProblemError
from evenhand.service.settings import ServiceSettings, is_loopback_host_header
from evenhand.store.store import Store
from evenhand.workflows.tokens import ServiceToken, TokenRole, find_service_token, has_service_tokens

BEARER = HTTPBearer(auto_error=False, description="A token made with `evenhand token create`.")


@dataclass(frozen=True, slots=True, kw_only=True)
class Caller:
    """Somebody who calls, and what they may do."""

    id: str  # Of the token; empty for the operator of a service without tokens.
    role: TokenRole
    name: str

    @property
    def author(self) -> str | None:
        """Whose submissions they may see; None for whoever hands in none."""
        return self.name if self.role == "submitter" else None


LOCAL_OPERATOR = Caller(id="", role="operator", name="operator")


class CallerRequestRates:
    """How often each caller may call: a bucket that fills by the minute."""

    def __init__(self, per_minute: int) -> None:
        self._per_minute = per_minute
        self._left: dict[str, tuple[float, float]] = {}
        self._lock = threading.Lock()

    def take_turn(self, caller: str) -> None:
        """Count a request; refused when the caller's bucket is empty."""
        with self._lock:  # Callers are looked up in threads.
            now = time.monotonic()
            left, at = self._left.get(caller, (float(self._per_minute), now))
            left = min(float(self._per_minute), left + (now - at) * self._per_minute / 60)
            self._left[caller] = (left - 1 if left >= 1 else left, now)
        if left < 1:
            wait = str(int((1 - left) * 60 / self._per_minute) + 1)
            what = f"more than {self._per_minute} requests in a minute"
            raise ProblemError(429, what, f"try again in {wait} s", Retry_After=wait)


async def find_caller(request: Request) -> Caller:
    """Whoever calls; refused without a good token where tokens are asked for. Each request counts once."""
    known: Caller | None = getattr(request.state, "caller", None)
    if known is not None:
        return known
    store: Store = request.app.state.store
    # A file is looked into faster than a thread is asked to.
    caller = _look_up_caller(request) if store.is_file else await asyncio.to_thread(_look_up_caller, request)
    request.app.state.rates.take_turn(caller.id)
    request.state.caller = caller
    return caller


def _look_up_caller(request: Request) -> Caller:
    """Asked of the store with every request: a token that another process has revoked opens nothing more."""
    store: Store = request.app.state.store
    settings: ServiceSettings = request.app.state.settings
    secret = _read_bearer_token(request)
    if secret is not None:
        token = find_service_token(store, secret)
        if token is None:
            what = "this token is not known here, has expired, or was revoked"
            raise ProblemError(401, what, "ask the operator for another", WWW_Authenticate="Bearer")
        return read_token_caller(token)
    if not settings.is_loopback or has_service_tokens(store):
        raise ProblemError(401, "a token is needed", "Authorization: Bearer TOKEN", WWW_Authenticate="Bearer")
    refuse_other_sites(request)
    return LOCAL_OPERATOR


def _read_bearer_token(request: Request) -> str | None:
    scheme, _, token = request.headers.get("authorization", "").partition(" ")
    return token.strip() or None if scheme.lower() == "bearer" else None


def read_token_caller(token: ServiceToken) -> Caller:
    """Whom a token stands for."""
    return Caller(id=token.id, role=token.role, name=token.name)


def refuse_other_sites(request: Request) -> None:
    """Without tokens, a page of another site that the operator looks at must not be able to call."""
    if not is_loopback_host_header(request.headers.get("host", "")):
        raise ProblemError(403, f"this service is called localhost, not {request.url.hostname}", "use 127.0.0.1")
    site, mode = request.headers.get("sec-fetch-site"), request.headers.get("sec-fetch-mode")
    is_link = request.method in ("GET", "HEAD") and mode == "navigate"  # It is shown, and no other page reads it.
    if site not in (None, "same-origin", "none") and not is_link:
        raise ProblemError(403, "a page of another site may not call this service", "make a token and send it")
    origin = request.headers.get("origin")
    if origin is not None and origin != f"{request.url.scheme}://{request.url.netloc}":
        raise ProblemError(403, "a page of another site may not call this service", "make a token and send it")


class CallerWithRole(SecurityBase):
    """A dependency that lets only these roles through; the API's page says that it asks for a token."""

    def __init__(self, *roles: TokenRole) -> None:
        self.model, self.scheme_name, self._roles = BEARER.model, BEARER.scheme_name, roles

    async def __call__(self, request: Request) -> Caller:
        """Whoever calls, if they have one of the roles."""
        caller = await find_caller(request)
        if caller.role not in self._roles:
            raise ProblemError(403, f"a {caller.role} may not do this", f"for {' or '.join(self._roles)}")
        return caller


Operator = Annotated[Caller, Depends(CallerWithRole("operator"))]
Reader = Annotated[Caller, Depends(CallerWithRole("operator", "reader"))]
Submitter = Annotated[Caller, Depends(CallerWithRole("operator", "submitter"))]
Anybody = Annotated[Caller, Depends(CallerWithRole("operator", "reader", "submitter"))]
