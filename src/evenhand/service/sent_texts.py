"""Texts of a request that are refused on every route, before anything is done with them."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.routing import APIRoute

from evenhand.errors import InputError, find_unreadable_import_error, mark_errors_about_imports
from evenhand.service.callers import find_caller
from evenhand.service.problems import JSON_TYPE, TOLD_ERRORS, ProblemError
from evenhand.workflows.sent_inputs import find_half_characters

# How half a character may come: as an escape, as bytes that are no UTF-8, or in a body of UTF-16.
_MAY_HOLD_HALVES = re.compile(rb"\\u[dD][89a-fA-F]|\xed[\xa0-\xbf]|\0")

RouteHandler = Callable[[Request], Coroutine[Any, Any, Response]]


class CheckedRoute(APIRoute):
    """A route whose bodies hold no text that nothing can keep, and that tells of an imported run what breaks on it."""

    def get_route_handler(self) -> RouteHandler:
        """The handler, behind the look at what was sent."""
        handle = super().get_route_handler()

        async def handle_checked_request(request: Request) -> Response:
            await refuse_half_characters(request)
            try:
                with mark_errors_about_imports():
                    return await handle(request)
            except (ProblemError, *TOLD_ERRORS):
                raise
            except Exception as error:
                raise find_unreadable_import_error(error) or error from error.__cause__

        return handle_checked_request


async def refuse_half_characters(request: Request) -> None:
    """Refuse a body in JSON with a text that cannot be written in UTF-8; what is no JSON is told by the route."""
    if not JSON_TYPE.match(request.headers.get("content-type", "")):
        return
    if not _MAY_HOLD_HALVES.search(await request.body()):
        return
    try:
        sent = await request.json()
    except (ValueError, RecursionError):
        return
    faults = await asyncio.to_thread(find_half_characters, sent)
    if faults:
        await find_caller(request)  # Whoever may not call is told that first.
        raise InputError(*faults)
