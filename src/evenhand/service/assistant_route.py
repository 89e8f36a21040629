"""The tools for assistants over HTTP, for operators: the same as `evenhand mcp`, without any file of this machine."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request
from starlette.routing import Route
from starlette.types import Receive, Scope, Send

from evenhand.models.connections import Connections
from evenhand.service.callers import find_caller
from evenhand.service.problems import ProblemError
from evenhand.store.store import Store
from evenhand.workflows.assistant import AssistantProject

ASSISTANT_PATH = "/mcp"


def add_assistant_route(app: FastAPI) -> None:
    """Answer at /mcp; where the extra is missing, it says so."""
    app.router.routes.append(Route(ASSISTANT_PATH, AssistantEndpoint(), include_in_schema=False))


@asynccontextmanager
async def open_assistant(app: FastAPI, store: Store, connections: Connections) -> AsyncIterator[None]:
    """Tools over the store of the service, for as long as it runs."""
    app.state.assistant = None
    try:
        from evenhand.mcp.server import open_assistant_over_http
    except ImportError:
        yield
        return
    project = AssistantProject(folder=None, store=store)
    async with open_assistant_over_http(project, connections) as answer:
        app.state.assistant = answer
        yield


class AssistantEndpoint:
    """Checks who calls, then hands the request to the protocol."""

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request of an operator."""
        request = Request(scope, receive)
        caller = await find_caller(request)
        if caller.role != "operator":
            raise ProblemError(403, f"a {caller.role} may not do this", "for operator")
        answer: Any = request.app.state.assistant
        if answer is None:
            raise ProblemError(503, "the tools need a package that is not installed", "pip install 'evenhand[mcp]'")
        await answer(scope, receive, send)
