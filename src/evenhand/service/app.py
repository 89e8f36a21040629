"""The application behind a socket: routes, who may call them, what is refused unread, and how it starts and ends."""

from __future__ import annotations

import asyncio
import errno
import signal
import socket
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from types import FrameType
from typing import Any

import uvicorn
from fastapi import FastAPI, Request, Response
from fastapi.responses import PlainTextResponse
from fastapi.telemetry import TelemetryConfig
from starlette.routing import Route
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand._version import __version__
from evenhand.errors import Fault, InputError
from evenhand.judging.judge import listen_to_judge_reviews
from evenhand.models.connections import Connections
from evenhand.service.callers import CallerRequestRates, find_caller
from evenhand.service.contest_routes import router as contest_router
from evenhand.service.engine import ServiceContestEngine, ServiceRunEngine
from evenhand.service.metrics import MeasuredRequests, ServiceMetrics, ServiceStateCollector
from evenhand.service.metrics import router as metrics_router
from evenhand.service.openapi import DescribedService, add_api_page
from evenhand.service.problems import ProblemError, add_problem_handlers, build_http_problem
from evenhand.service.run_routes import comparison_router
from evenhand.service.run_routes import router as run_router
from evenhand.service.scoring_routes import reward_router
from evenhand.service.scoring_routes import router as scoring_router
from evenhand.service.settings import LimitedRequests, LimitedTurns, ServiceSettings, refuse_open_bind
from evenhand.store.store import Store
from evenhand.workflows.assistant import ConfinedUserProject
from evenhand.workflows.contest_receiving import ReceiveWorkflow
from evenhand.workflows.models import open_user_connections, share_limits_over_store
from evenhand.workflows.stores import digest_user_store_place, open_user_store
from evenhand.workflows.telemetry import UserTelemetry, open_user_telemetry
from evenhand.workflows.tokens import has_service_tokens
from evenhand.workflows.webhooks import WebhookTargets

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
        telemetry=_choose_service_tracing(telemetry),
    )
    app.state.settings = settings
    app.state.metrics = ServiceMetrics()
    app.state.closing = threading.Event()
    app.state.rates = CallerRequestRates(settings.requests_per_minute)
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
    app.add_middleware(AnsweredHeads)
    app.add_middleware(LimitedRequestBodies, most=settings.body_bytes)
    app.add_middleware(LimitedRequests, most=settings.requests_at_once)
    app.add_middleware(MeasuredRequests, metrics=app.state.metrics)
    return app


@asynccontextmanager
async def _open_service_parts(app: FastAPI) -> AsyncIterator[None]:
    """What routes share while the service runs: the store, access to models, and what works beside them."""
    settings: ServiceSettings = app.state.settings
    metrics: ServiceMetrics = app.state.metrics
    with open_user_store(settings.store, create=True) as store:
        limits = share_limits_over_store(store, settings.connect)
        async with open_user_connections(settings.connect, limits) as connections:
            targets = WebhookTargets(allow_private=settings.allow_private_hooks)
            engine = ServiceContestEngine(store, connections, targets, settings.longest_gap)
            runs = ServiceRunEngine(store, settings.runs_at_once, limits)
            parts = {"store": store, "connections": connections, "engine": engine, "hook_targets": targets}
            for name, part in {**parts, "run_engine": runs, "receiver": ReceiveWorkflow(store)}.items():
                setattr(app.state, name, part)
            metrics.registry.register(ServiceStateCollector(store, connections, runs))
            engine.start()
            runs.start()
            loop = asyncio.get_running_loop()

            def begin_closing_service() -> None:
                app.state.closing.set()
                engine.begin_stop()
                runs.begin_stop()

            app.state.begin_closing_service = partial(loop.call_soon_threadsafe, begin_closing_service)
            try:
                with listen_to_judge_reviews(metrics.note_reviews):
                    async with open_assistant_route(app, store, connections):
                        yield
            finally:
                begin_closing_service()
                await asyncio.gather(engine.stop(), runs.stop())


def _choose_service_tracing(telemetry: UserTelemetry | None) -> TelemetryConfig:
    """A span for each request, where they are asked for; the metrics are ours, and logs would hold what was sent."""
    off: TelemetryConfig = {"metrics": False, "logs": False, "operation_spans": False, "auto_configure": False}
    if telemetry is None:
        return {**off, "tracing": False}
    return {**off, "tracing": True, "tracer_provider": telemetry.traces}


STORE_HEADER = "evenhand-store"


def _add_health_routes(app: FastAPI) -> None:
    @app.get("/healthz", tags=["operation"], response_class=PlainTextResponse)
    def get_health(request: Request) -> Response:
        """That the process is alive."""
        # `evenhand view` opens only a workbench over the store that it is asked for.
        return PlainTextResponse("ok", headers={STORE_HEADER: digest_user_store_place(request.app.state.store)})

    @app.get("/readyz", tags=["operation"], response_class=PlainTextResponse)
    def get_readiness(request: Request) -> Response:
        """That it can do its work: the store answers."""
        request.app.state.store.contests.list_waking("")
        return PlainTextResponse("ready")


STREAMS = ("/events", "/mcp")  # How paths end whose answers have no end: they are only for GET.


class AnsweredHeads:
    """Answers HEAD as GET, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on; to the routes, a HEAD is a GET."""
        if scope["type"] != "http" or scope["method"] != "HEAD" or scope["path"].endswith(STREAMS):
            await self._app(scope, receive, send)
            return
        asked = {**scope, "method": "GET"}

        async def send_without_body(message: Message) -> None:
            await send({**message, "body": b""} if message["type"] == "http.response.body" else message)

        try:
            await self._app(asked, receive, send_without_body)
        finally:
            scope.update({**asked, "method": "HEAD"})  # The route, by which requests are counted.


class LimitedRequestBodies:
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
        await build_http_problem(413, [_long_request_body_fault(self._most)])(scope, receive, send)


class _LongBodyError(BaseException):
    """A body went on too long; no handler of a route is to take it for a fault of its own."""


def _long_request_body_fault(most: int) -> dict[str, str]:
    return {"where": "body", "what": f"is longer than {most:,} bytes", "would_work": "send less in one request"}


ASSISTANT_PATH = "/mcp"


def add_assistant_route(app: FastAPI) -> None:
    """Answer at /mcp; where the extra is missing, it says so."""
    app.router.routes.append(Route(ASSISTANT_PATH, AssistantEndpoint(), include_in_schema=False))


@asynccontextmanager
async def open_assistant_route(app: FastAPI, store: Store, connections: Connections) -> AsyncIterator[None]:
    """Tools over the store of the service, for as long as it runs."""
    app.state.assistant = None
    try:
        from evenhand.mcp.server import open_assistant_over_http
    except ImportError:
        yield
        return
    project = ConfinedUserProject(folder=None, store=store)
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


GRACE_SECONDS = 30  # For requests under way.
BACKLOG = 2048


def serve_until_stopped(
    settings: ServiceSettings, announce: Callable[[], None], *, extend: Callable[[FastAPI], None] = lambda app: None
) -> None:
    """Serve until SIGTERM or Ctrl-C; `announce` is called once it answers, `extend` before it starts."""
    with open_user_telemetry() as telemetry:
        app = build_service(settings, telemetry)
        extend(app)
        sockets = open_listening_sockets(settings.host, settings.port)
        config = uvicorn.Config(
            app,
            host=settings.host,
            port=settings.port,
            log_level="warning",
            server_header=False,
            timeout_graceful_shutdown=GRACE_SECONDS,
        )
        _ServiceServer(config, app, announce).run(sockets)


def open_listening_sockets(host: str, port: int) -> list[socket.socket]:
    """A socket for each address of a host; a port that is taken is refused before anything else is begun."""
    opened: list[socket.socket] = []
    refused: OSError | None = None
    try:
        for family, kind, protocol, _, address in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM):
            try:
                opened.append(_open_listening_socket(family, kind, protocol, address))
            except OSError as error:
                refused = error
                if error.errno not in (errno.EADDRNOTAVAIL, errno.EAFNOSUPPORT):  # A machine may have no IPv6.
                    raise
        if not opened and refused is not None:
            raise refused
    except OSError as error:
        for one in opened:
            one.close()
        if error.errno == errno.EADDRINUSE:
            raise InputError(Fault(f"port {port} of {host} is taken", "name another one: --port N")) from None
        what = f"{host}:{port} cannot be listened on: {(error.strerror or str(error)).lower()}"
        raise InputError(Fault(what, "name another --host or --port")) from None
    return opened


def _open_listening_socket(family: int, kind: int, protocol: int, address: tuple[Any, ...]) -> socket.socket:
    opened = socket.socket(family, kind, protocol)
    try:
        opened.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        if family == socket.AF_INET6:
            opened.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
        opened.bind(address)
        opened.listen(BACKLOG)
    except OSError:
        opened.close()
        raise
    return opened


class _ServiceServer(uvicorn.Server):
    """Says when it answers, and tells the application that the end is near: streams end by that alone."""

    def __init__(self, config: uvicorn.Config, app: FastAPI, announce: Callable[[], None]) -> None:
        super().__init__(config)
        self._app, self._announce = app, announce

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and say so."""
        await super().startup(sockets)
        self._announce()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to end; being told so by a supervisor is no failure, so SIGTERM is not raised again."""
        if not self._app.state.closing.is_set() and self.started:
            self._app.state.begin_closing_service()
        if sig == signal.SIGTERM:
            self.should_exit = True
        else:
            super().handle_exit(sig, frame)
