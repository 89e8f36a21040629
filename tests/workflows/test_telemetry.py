"""What telemetry sends has no keys in it: spans that failed, and explanations that are masked and cut."""

import json
from typing import cast

import pytest
from opentelemetry.sdk._logs import LoggerProvider
from opentelemetry.sdk._logs.export import InMemoryLogRecordExporter, SimpleLogRecordProcessor
from opentelemetry.sdk.trace import ReadableSpan, TracerProvider

from evenhand import Sample, judge_sync, load_rubric
from evenhand.judging.judge import listen_to_judge_reviews
from evenhand.models.hidden_keys import ModelSecrets
from evenhand.testing import scripted_judge
from evenhand.workflows.telemetry import LONGEST_EXPLANATION, UserTelemetry, _remove_keys_from_span


def test_no_span_that_is_sent_has_a_key_in_what_failed() -> None:
    """Whoever records an exception puts its message and its traceback into an event of the span."""
    key = "tok-Zq8vR2pLw5TnXe7Kc3Yb"
    tracer = TracerProvider().get_tracer("t")
    with pytest.raises(ValueError), tracer.start_as_current_span("s", attributes={"a": ("b", key)}) as span:
        raise ValueError(key)

    cleaned = _remove_keys_from_span(cast("ReadableSpan", span), ModelSecrets([key]))

    told = cleaned.to_json()
    assert key not in told
    assert told.count("[key hidden]") >= 4
    assert {**json.loads(told), "attributes": 0, "events": 0, "status": 0} == {
        **json.loads(cast("ReadableSpan", span).to_json()), "attributes": 0, "events": 0, "status": 0
    }  # fmt: skip


def test_a_key_is_out_of_an_explanation_before_it_is_masked_or_cut() -> None:
    """Masked or cut in part, nobody would know it for a key any more."""
    key = "xoxb-4111111111111111-ZqvRpLwTnaBcDxYz"
    exporter = InMemoryLogRecordExporter()  # type: ignore[no-untyped-call]
    events = LoggerProvider()
    events.add_log_record_processor(SimpleLogRecordProcessor(exporter))
    sample = Sample(outputs={"a": "Hello."})
    filled = "x " * ((LONGEST_EXPLANATION - len(key)) // 2 + 4)
    rubric = load_rubric({"criteria": ["Is it kind?"]})
    with listen_to_judge_reviews(UserTelemetry(None, events, ModelSecrets([key])).record_reviews):
        for reason in (f"it says {key}", filled + key):
            said = {"evidence": ["Hello."], "reason": reason, "answer": "yes"}
            reply = json.dumps({"criteria": {"rubric-1": said}})
            judge_sync(rubric, sample, judges=[scripted_judge(reply)])

    told = [str(dict(one.log_record.attributes or {})) for one in exporter.get_finished_logs()]
    assert len(told) == 2 and "it says [key hidden]" in told[0]
    assert [one for one in told if "xoxb" in one or "ZqvRpLw" in one] == []
