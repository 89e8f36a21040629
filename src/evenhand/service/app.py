"""The application: routes, who may call them, what is refused before it is read, and what runs beside them."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.telemetry import TelemetryConfig
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand._version import __version__
from evenhand.judging.judge import listen_to_reviews
from evenhand.service.assistant_route import add_assistant_route, open_assistant
from evenhand.service.callers import RequestRates
from evenhand.service.contest_routes import router as contest_router
from evenhand.service.engine import ContestEngine, RunEngine
from evenhand.service.metrics import MeasuredRequests, ServiceMetrics, StateCollector
from evenhand.service.metrics import router as metrics_router
from evenhand.service.openapi import DescribedService, add_api_page
from evenhand.service.problems import add_problem_handlers, build_problem
from evenhand.service.run_routes import comparison_router
from evenhand.service.run_routes import router as run_router
from evenhand.service.scoring_routes import reward_router
from evenhand.service.scoring_routes import router as scoring_router
from evenhand.service.settings import LimitedRequests, LimitedTurns, ServiceSettings, refuse_open_bind
from evenhand.workflows.contest_receiving import ContestReceiver
from evenhand.workflows.models import open_user_connections, share_worker_limits
from evenhand.workflows.stores import open_user_store
from evenhand.workflows.telemetry import UserTelemetry
from evenhand.workflows.tokens import has_service_tokens
from evenhand.workflows.webhooks import HookTargets

WAITING_PER_TURN = 8  # Requests that wait for each that asks judges.
ABOUT = "Scores the work of language models against rubrics, explains every step, runs contests, and decides."


def build_service(settings: ServiceSettings, telemetry: UserTelemetry | None = None) -> FastAPI:
    """The service with these settings; a store that cannot be opened, or would be open to anybody, is refused now."""
    with open_user_store(settings.store, create=True) as store:
        refuse_open_bind(settings, has_tokens=has_service_tokens(store))

    app = DescribedService(
        title="Evenhand",
        version=__version__,
        description=ABOUT,
        lifespan=_open_service_parts,
        docs_url=None,
        redoc_url=None,
        telemetry=_choose_tracing(telemetry),
    )
    app.state.settings = settings
    app.state.metrics = ServiceMetrics()
    app.state.closing = threading.Event()
    app.state.rates = RequestRates(settings.requests_per_minute)
    app.state.judging = LimitedTurns(settings.judging_at_once, WAITING_PER_TURN * settings.judging_at_once)
    add_problem_handlers(app)
    app.include_router(scoring_router)
    app.include_router(contest_router)
    app.include_router(run_router)
    app.include_router(comparison_router)
    app.include_router(reward_router)
    app.include_router(metrics_router)
    _add_health_routes(app)
    add_api_page(app)
    add_assistant_route(app)
    app.add_middleware(LimitedBodies, most=settings.body_bytes)
    app.add_middleware(LimitedRequests, most=settings.requests_at_once)
    app.add_middleware(MeasuredRequests, metrics=app.state.metrics)
    return app


@asynccontextmanager
async def _open_service_parts(app: FastAPI) -> AsyncIterator[None]:
    """What routes share while the service runs: the store, access to models, and what works beside them."""
    settings: ServiceSettings = app.state.settings
    metrics: ServiceMetrics = app.state.metrics
    with open_user_store(settings.store, create=True) as store:
        limits = share_worker_limits(store, settings.connect)
        async with open_user_connections(settings.connect, limits) as connections:
            targets = HookTargets(allow_private=settings.allow_private_hooks)
            engine = ContestEngine(store, connections, targets, settings.longest_gap)
            runs = RunEngine(store, settings.runs_at_once, limits)
            parts = {"store": store, "connections": connections, "engine": engine, "hook_targets": targets}
            for name, part in {**parts, "run_engine": runs, "receiver": ContestReceiver(store)}.items():
                setattr(app.state, name, part)
            metrics.registry.register(StateCollector(store, connections, runs))
            engine.start()
            runs.start()
            loop = asyncio.get_running_loop()

            def begin_closing() -> None:
                app.state.closing.set()
                engine.begin_stop()
                runs.begin_stop()

            app.state.begin_closing = partial(loop.call_soon_threadsafe, begin_closing)
            try:
                with listen_to_reviews(metrics.note_reviews):
                    async with open_assistant(app, store, connections):
                        yield
            finally:
                begin_closing()
                await asyncio.gather(engine.stop(), runs.stop())


def _choose_tracing(telemetry: UserTelemetry | None) -> TelemetryConfig:
    """A span for each request, where they are asked for; the metrics are ours, and logs would hold what was sent."""
    off: TelemetryConfig = {"metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}
    if telemetry is None:
        return {**off, "tracing": False}
    return {**off, "tracing": True, "tracer_provider": telemetry.traces}


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


class LimitedBodies:
    """Refuses a body that is too long while it comes, whatever its head says of it."""

    def __init__(self, app: ASGIApp, most: int) -> None:
        self._app, self._most = app, most

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on, as far as it is not too long."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        length = dict(scope["headers"]).get(b"content-length", b"0")
        if length.isdigit() and int(length) > self._most:
            await self._refuse(scope, receive, send)
            return
        received, began = 0, False

        async def receive_counted() -> Message:
            nonlocal received
            message = await receive()
            received += len(message.get("body", b""))
            if received > self._most:
                raise _LongBodyError
            return message

        async def send_noted(message: Message) -> None:
            nonlocal began
            began = True
            await send(message)

        try:
            await self._app(scope, receive_counted, send_noted)
        except _LongBodyError:
            if not began:
                await self._refuse(scope, receive, send)

    async def _refuse(self, scope: Scope, receive: Receive, send: Send) -> None:
        await build_problem(413, [_long_body_fault(self._most)])(scope, receive, send)


class _LongBodyError(BaseException):
    """A body went on too long; no handler of a route is to take it for a fault of its own."""


def _long_body_fault(most: int) -> dict[str, str]:
    return {"where": "body", "what": f"is longer than {most:,} bytes", "would_work": "send less in one request"}
