"""What a Prometheus server asks for: requests, judges, contests, runs and messages, as numbers of this worker."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from fastapi import APIRouter, Request, Response
from prometheus_client import CollectorRegistry, Counter, Gauge, Histogram, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_1_0_0
from prometheus_client.registry import Collector
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from evenhand.judging.results import JudgedSample
from evenhand.model.sample import Sample
from evenhand.model.scale import Missing
from evenhand.models.budget import Spending
from evenhand.models.connections import Connections
from evenhand.service.callers import Operator
from evenhand.service.engine import ServiceRunEngine
from evenhand.store.store import Store

router = APIRouter(tags=["operation"])
BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120)
UNKNOWN_ROUTE = "none"
METRICS_TEXT: dict[int | str, dict[str, Any]] = {200: {"description": "Done", "content": {"text/plain": {}}}}


@dataclass(slots=True)
class ServiceMetrics:
    """The numbers of one worker, in a registry of its own."""

    registry: CollectorRegistry = field(default_factory=CollectorRegistry)
    requests: Counter = field(init=False)
    seconds: Histogram = field(init=False)
    under_way: Gauge = field(init=False)
    judged: Counter = field(init=False)
    missing: Counter = field(init=False)

    def __post_init__(self) -> None:
        labels, home = ("method", "route"), self.registry
        self.requests = Counter("evenhand_requests", "Requests answered.", (*labels, "status"), registry=home)
        self.seconds = Histogram("evenhand_request_seconds", "Until answered.", labels, registry=home, buckets=BUCKETS)
        self.under_way = Gauge("evenhand_requests_under_way", "Requests that wait for an answer.", registry=home)
        self.judged = Counter("evenhand_criteria_judged", "Criteria that got a score.", registry=home)
        self.missing = Counter("evenhand_criteria_missing", "Criteria without a score.", ("kind",), registry=home)

    def note_reviews(self, _: Sample, judged: JudgedSample) -> None:
        """Count the criteria of a sample that was judged."""
        for card in judged.scores.scorecards:
            for score in card.criteria.values():
                if isinstance(score, Missing):
                    self.missing.labels(score.kind).inc()
                else:
                    self.judged.inc()


@dataclass(eq=False, slots=True)
class ServiceStateCollector(Collector):
    """Numbers that are read when they are asked for: from the store, the connections and the engine."""

    store: Store
    connections: Connections
    runs: ServiceRunEngine

    def collect(self) -> Iterator[Metric]:
        """What has been spent, and what there is in each state."""
        for name, about, value in _list_spending_metrics(self.connections.spent, self.runs.spent):
            spent = CounterMetricFamily(f"evenhand_{name}", about)
            spent.add_metric((), value)
            yield spent
        yield GaugeMetricFamily("evenhand_runs_under_way", "Runs that this worker carries out.", self.runs.under_way)
        for table, states in self.store.requests.count_states().items():
            gauge = GaugeMetricFamily(f"evenhand_{table}", f"Rows of {table} by state.", labels=("state",))
            for state, count in states.items():
                gauge.add_metric((state,), count)
            yield gauge


def _list_spending_metrics(*several: Spending) -> Iterator[tuple[str, str, float]]:
    yield "judge_calls", "Requests that models answered.", sum(one.requests for one in several)
    yield "judge_input_tokens", "Tokens that models read.", sum(one.input for one in several)
    yield "judge_output_tokens", "Tokens that models wrote.", sum(one.output for one in several)
    yield "judge_cost_dollars", "What replies of known price cost.", float(sum(one.priced for one in several))
    yield "judge_calls_unpriced", "Replies of unknown price.", sum(one.unpriced for one in several)


class MeasuredRequests:
    """Counts each request under its route, never under its path: ids are no labels."""

    def __init__(self, app: ASGIApp, metrics: ServiceMetrics) -> None:
        self._app, self._metrics = app, metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Hand a request on and note how it was answered."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began, status = time.monotonic(), 500
        self._metrics.under_way.inc()

        async def send_noted(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            await self._app(scope, receive, send_noted)
        finally:
            route = str(getattr(scope.get("route"), "path", None) or UNKNOWN_ROUTE)
            self._metrics.under_way.dec()
            self._metrics.requests.labels(scope["method"], route, status).inc()
            self._metrics.seconds.labels(scope["method"], route).observe(time.monotonic() - began)


@router.get("/metrics", response_class=Response, responses=METRICS_TEXT)
def get_metrics(request: Request, _: Operator) -> Response:
    """What this worker has done, in the text format of Prometheus."""
    content = generate_latest(request.app.state.metrics.registry)
    return Response(content, media_type=CONTENT_TYPE_PLAIN_1_0_0)
