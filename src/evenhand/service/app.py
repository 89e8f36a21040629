"""The application: routes, who may call them, what is refused before it is read, and what runs beside them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse

from evenhand._version import __version__
from evenhand.service.callers import RequestRates
from evenhand.service.contest_routes import router as contest_router
from evenhand.service.engine import ContestEngine
from evenhand.service.problems import add_problem_handlers, build_problem
from evenhand.service.scoring_routes import router as scoring_router
from evenhand.service.settings import ServiceSettings, refuse_open_bind
from evenhand.store.store import Store
from evenhand.workflows.connections import open_user_connections
from evenhand.workflows.tokens import has_service_tokens
from evenhand.workflows.webhooks import HookTargets

ABOUT = "Scores the work of language models against rubrics, explains every step, runs contests, and decides."


def build_service(settings: ServiceSettings) -> FastAPI:
    """The service with these settings; it opens its store when it starts."""

    @asynccontextmanager
    async def live(app: FastAPI) -> AsyncIterator[None]:
        with Store.open(settings.store, os.environ) as store:
            refuse_open_bind(settings, has_tokens=has_service_tokens(store))
            async with open_user_connections(settings.connect) as connections:
                targets = HookTargets(allow_private=settings.allow_private_hooks)
                engine = ContestEngine(store, connections, targets)
                parts = {"store": store, "connections": connections, "engine": engine, "hook_targets": targets}
                for name, part in parts.items():
                    setattr(app.state, name, part)
                engine.start()
                try:
                    yield
                finally:
                    await engine.stop()

    app = FastAPI(title="Evenhand", version=__version__, description=ABOUT, lifespan=live)
    app.state.settings, app.state.environ = settings, os.environ
    app.state.rates = RequestRates(settings.requests_per_minute)
    app.state.judging = asyncio.Semaphore(settings.judging_at_once)
    add_problem_handlers(app)
    app.include_router(scoring_router)
    app.include_router(contest_router)
    _add_health_routes(app)
    _limit_bodies(app, settings.body_bytes)
    return app


def _add_health_routes(app: FastAPI) -> None:
    @app.get("/healthz", tags=["operation"], response_class=PlainTextResponse)
    def get_health() -> str:
        """That the process is alive."""
        return "ok"

    @app.get("/readyz", tags=["operation"], response_class=PlainTextResponse)
    def get_readiness(request: Request) -> Response:
        """That it can do its work: the store answers."""
        request.app.state.store.contests.list_waking("")
        return PlainTextResponse("ready")


def _limit_bodies(app: FastAPI, most: int) -> None:
    """Refuse a body that is too long while it comes, whatever its head says of it."""

    @app.middleware("http")
    async def refuse_long_body(request: Request, call_next: Any) -> Any:
        length = request.headers.get("content-length", "0")
        if length.isdecimal() and int(length) > most:
            return build_problem(413, [_long_body_fault(most)])
        received = 0
        receive = request._receive

        async def counted() -> Any:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > most:
                return {"type": "http.disconnect"}
            return message

        request._receive = counted
        answer = await call_next(request)
        return build_problem(413, [_long_body_fault(most)]) if received > most else answer


def _long_body_fault(most: int) -> dict[str, str]:
    return {"where": "body", "what": f"is longer than {most:,} bytes", "would_work": "send less in one request"}
