"""Requests that are sent again: under the key that a caller gives, each is done once and answered alike."""

from __future__ import annotations

import asyncio
import json
import string
import time
from contextlib import suppress
from datetime import timedelta
from hashlib import sha256

from fastapi import Request, Response

from evenhand.errors import StoreError
from evenhand.service.callers import find_caller
from evenhand.service.problems import ProblemError
from evenhand.service.sent_texts import CheckedRoute, RouteHandler
from evenhand.store.lost_writes import may_be_written
from evenhand.store.rows import Row
from evenhand.store.store import Store

HEADER = "idempotency-key"
LONGEST_KEY = 200
KEPT = timedelta(hours=24)
WAIT_SECONDS = 10.0  # That a second request waits for the answer to the first.
LOOK_SECONDS = 0.1
KEPT_HEADERS = ("content-type", "location")
_VISIBLE = frozenset(string.ascii_letters + string.digits + string.punctuation)


class KeyedRoute(CheckedRoute):
    """A route whose POST requests may carry an Idempotency-Key."""

    def get_route_handler(self) -> RouteHandler:
        """The handler, behind the look at whether the request was answered before."""
        handle = super().get_route_handler()

        async def handle_request_once(request: Request) -> Response:
            key = request.headers.get(HEADER)
            if request.method != "POST" or key is None:
                return await handle(request)
            if not 0 < len(key) <= LONGEST_KEY or not _VISIBLE.issuperset(key):
                what = f"an Idempotency-Key has 1 to {LONGEST_KEY} visible characters"
                raise ProblemError(422, what, "as in a random UUID")
            return await _handle_keyed_request(request, key, handle)

        return handle_request_once


async def _handle_keyed_request(request: Request, key: str, handle: RouteHandler) -> Response:
    store: Store = request.app.state.store
    caller = (await find_caller(request)).id
    digest = sha256(f"{request.url.path}\n".encode() + await request.body()).hexdigest()
    found = await _claim_idempotency_key(store, caller, key, digest)
    if found is not None:
        answer = json.loads(found["answer"])
        headers = {**answer["headers"], "idempotency-replayed": "true"}
        return Response(answer["body"], answer["status"], headers=headers)
    try:
        response = await handle(request)
    except Exception as error:
        if not may_be_written(error):  # Whoever is cut off instead may have done it: then the key stays taken.
            with suppress(StoreError):  # What happened first is told.
                await asyncio.to_thread(store.requests.release_key, caller, key)
        raise
    headers = {name: response.headers[name] for name in KEPT_HEADERS if name in response.headers}
    kept = {"status": response.status_code, "headers": headers, "body": bytes(response.body).decode()}
    await asyncio.to_thread(store.requests.keep_answer, caller, key, json.dumps(kept), store.now() + KEPT)
    return response


async def _claim_idempotency_key(store: Store, caller: str, key: str, digest: str) -> Row | None:
    """The request that has the key, once it was answered; None where it is this one that is to be done."""
    give_up = time.monotonic() + WAIT_SECONDS
    while True:
        now = store.now()
        found = await asyncio.to_thread(
            store.requests.claim_key, caller, key, digest=digest, now=now, expires=now + KEPT
        )
        if found is None:
            return None
        if found["digest"] != digest:
            raise ProblemError(422, "this Idempotency-Key was used for another request", "a key for each request")
        if found["answer"] is not None:
            return found
        if time.monotonic() > give_up:
            what = "the request with this Idempotency-Key is under way, or was cut off"
            raise ProblemError(409, what, "look whether it was done; then use another key", Retry_After="10")
        await asyncio.sleep(LOOK_SECONDS)
