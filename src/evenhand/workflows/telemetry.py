"""OpenTelemetry, where its standard variables ask for it: traces, and one event for each criterion that was judged.

Nothing of it is loaded otherwise. Events follow the semantic conventions for generative AI: `gen_ai.evaluation.result`
with name, score, label and explanation, and `error.type` in place of a score that is missing.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenhand._version import __version__
from evenhand.errors import Fault, InputError
from evenhand.guards.personal_data import TextMask, build_personal_data_mask
from evenhand.judging.judge import listen_to_judge_reviews
from evenhand.judging.results import JudgedSample
from evenhand.model.sample import Sample
from evenhand.model.scale import Criterion, CriterionScore, Missing
from evenhand.models.hidden_keys import ModelSecrets, collect_api_keys_to_hide

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan
    from opentelemetry.sdk.trace.export import SpanExportResult

ENDPOINT_VARIABLES = (
    "OTEL_EXPORTER_OTLP_ENDPOINT", "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_LOGS_ENDPOINT",
)  # fmt: skip
DISABLED_VARIABLE = "OTEL_SDK_DISABLED"
EVENT_NAME = "gen_ai.evaluation.result"
SERVICE_NAME = "evenhand"
LONGEST_EXPLANATION = 4_000


@dataclass(frozen=True, slots=True)
class UserTelemetry:
    """Where traces and events go; the providers of the OpenTelemetry SDK."""

    traces: Any
    events: Any
    secrets: ModelSecrets  # That are in none of its texts.

    def record_reviews(self, sample: Sample, judged: JudgedSample) -> None:
        """One event for each criterion of each output."""
        logger, masked = self.events.get_logger("evenhand", __version__), build_personal_data_mask(sample)

        def mask(text: str) -> str:  # Keys first: masked or cut in part, one is not known any more.
            return masked(self.secrets.remove_keys(text))

        criteria = {one.id: one for one in judged.scores.rubric.criteria}
        for card in judged.scores.scorecards:
            for name, score in card.criteria.items():
                about = _describe_score_to_telemetry(score, criteria.get(name))
                explanation = _explain_score_to_telemetry(judged, card.id, name, score, mask)
                attributes = {
                    "gen_ai.evaluation.name": name,
                    "gen_ai.evaluation.explanation": explanation,
                    **about,
                    "evenhand.rubric": judged.scores.rubric.name,
                    "evenhand.sample": sample.id,
                    "evenhand.output": card.id,
                }
                logger.emit(event_name=EVENT_NAME, attributes=self.secrets.remove_from_data(attributes))


@contextmanager
def open_user_telemetry(span: str | None = None) -> Iterator[UserTelemetry | None]:
    """What the environment asks for, with all that is judged meanwhile; None where it asks for nothing.

    `span` names a trace of its own, where no request has one. What waits to be sent is sent at the end.
    """
    if not any(os.environ.get(name, "").strip() for name in ENDPOINT_VARIABLES):
        yield None
        return
    if os.environ.get(DISABLED_VARIABLE, "").strip().lower() == "true":
        yield None
        return
    telemetry = _open_telemetry_from_environment()
    try:
        with listen_to_judge_reviews(telemetry.record_reviews):
            if span is None:
                yield telemetry
            else:
                with _trace_user_work(telemetry, span):
                    yield telemetry
    finally:
        telemetry.traces.shutdown()
        telemetry.events.shutdown()


@contextmanager
def _trace_user_work(telemetry: UserTelemetry, span: str) -> Iterator[None]:
    """One trace. Of an exception it has the kind only: what it says, and its traceback, may quote what was judged."""
    from opentelemetry.trace import StatusCode

    tracer = telemetry.traces.get_tracer("evenhand", __version__)
    with tracer.start_as_current_span(span, record_exception=False, set_status_on_exception=False) as current:
        try:
            yield
        except Exception as problem:
            current.set_status(StatusCode.ERROR, type(problem).__name__)
            raise


def _open_telemetry_from_environment() -> UserTelemetry:
    try:
        from opentelemetry.exporter.otlp.proto.http._log_exporter import OTLPLogExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk._logs import LoggerProvider
        from opentelemetry.sdk._logs.export import BatchLogRecordProcessor
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError as error:
        what = f"{ENDPOINT_VARIABLES[0]} asks for telemetry, and {error.name} is not installed"
        raise InputError(Fault(what, "pip install 'evenhand[telemetry]', or unset it")) from None
    secrets = collect_api_keys_to_hide(os.environ)

    class KeylessSpanExporter(OTLPSpanExporter):
        """Takes keys out of all texts of a span once it is over: addresses that were asked for, and what failed."""

        def export(self, spans: Sequence[ReadableSpan]) -> SpanExportResult:
            return super().export([_remove_keys_from_span(span, secrets) for span in spans])

    own = {} if os.environ.get("OTEL_SERVICE_NAME") else {"service.name": SERVICE_NAME}
    resource = Resource.create({**own, "service.version": __version__})
    traces, events = TracerProvider(resource=resource), LoggerProvider(resource=resource)
    traces.add_span_processor(BatchSpanProcessor(KeylessSpanExporter()))
    events.add_log_record_processor(BatchLogRecordProcessor(OTLPLogExporter()))
    return UserTelemetry(traces, events, secrets)


def _remove_keys_from_span(span: ReadableSpan, secrets: ModelSecrets) -> ReadableSpan:
    from opentelemetry.sdk.trace import Event, ReadableSpan
    from opentelemetry.trace import Status

    def clean(attributes: Mapping[str, Any] | None) -> dict[str, Any]:
        return {name: secrets.remove_from_data(value) for name, value in (attributes or {}).items()}

    status = span.status
    return ReadableSpan(
        name=secrets.remove_keys(span.name),
        context=span.context,
        parent=span.parent,
        resource=span.resource,
        attributes=clean(span.attributes),
        events=[Event(secrets.remove_keys(one.name), clean(one.attributes), one.timestamp) for one in span.events],
        links=span.links,
        kind=span.kind,
        status=Status(status.status_code, secrets.remove_keys(status.description or "") or None),
        start_time=span.start_time,
        end_time=span.end_time,
        instrumentation_scope=span.instrumentation_scope,
    )


def _describe_score_to_telemetry(score: CriterionScore, criterion: Criterion | None) -> dict[str, str | float]:
    if isinstance(score, Missing):
        return {"error.type": score.kind}
    label = score.band
    if criterion is not None and criterion.scale.yes_no and score.value in (0, 1):
        label = "yes" if score.value else "no"
    told: dict[str, str | float] = {"gen_ai.evaluation.score.value": float(score.value)}
    return told if label is None else {**told, "gen_ai.evaluation.score.label": label}


def _explain_score_to_telemetry(
    judged: JudgedSample, output: str, criterion: str, score: CriterionScore, mask: TextMask
) -> str:
    """What the judges say, each by name where there are several; of what is missing, why."""
    if isinstance(score, Missing):
        return mask(score.text)[:LONGEST_EXPLANATION]
    told = [one for one in judged.judgments if (one.output, one.criterion) == (output, criterion) and one.reason]
    parts = [one.reason if len(told) == 1 else f"{one.judge}: {one.reason}" for one in told]
    return mask("; ".join(parts))[:LONGEST_EXPLANATION]
