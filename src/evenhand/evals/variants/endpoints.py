"""HTTP endpoints as variants: a sample is sent, retried where that helps, and what comes back is bounded and read."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping

from evenhand.errors import EvalError, Fault, OutputError
from evenhand.evals.json_lines import parse_sample_json
from evenhand.evals.output_data import clean_variant_text, read_variant_text
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.variant import SENT_VARIABLE, EndpointVariant, OutputSlots, VariantPromptTemplate
from evenhand.model.sample import VariantOutput
from evenhand.models.hidden_keys import ModelSecrets
from evenhand.models.http_client import ModelHttpClient
from evenhand.models.http_connection import HttpAnswer, HttpFailure
from evenhand.models.limits import Clock, compute_model_retry_wait, parse_provider_retry_after

LARGEST_ENDPOINT_ANSWER = 10_000_000
ENDPOINT_RETRIES = 4
LONGEST_ENDPOINT_WAIT = 60.0

_RETRYABLE_STATUSES = frozenset({408, 425, 429})


class EndpointVariantOutputs:
    """Sends the samples of a variant, so many at once."""

    def __init__(
        self,
        variant: EndpointVariant,
        environ: Mapping[str, str],
        secrets: ModelSecrets,
        http: ModelHttpClient,
        places: OutputSlots,
        clock: Clock,
    ) -> None:
        self._variant = variant
        self._http = http
        self._clock = clock
        self._places = places
        self._answered = False
        faults: list[Fault] = []
        self._url = _fill_variant_environment(variant.url, environ, faults)
        values = {name: _fill_variant_environment(value, environ, faults) for name, value in variant.headers.items()}
        self._headers = {"Content-Type": "application/json", **values}
        if faults:
            raise EvalError(*faults)
        self._secrets = secrets

    async def make(self, sample: EvalSample, repeat: int) -> VariantOutput:
        """What the server answers, or an OutputError that says why there is nothing."""
        body = self._variant.body
        body = sample.variant_input(repeat) if body is None else fill_variant_request_body(body, sample)
        sent = json.dumps(body).encode()
        async with self._places:
            for retries in range(ENDPOINT_RETRIES + 1):
                began = time.perf_counter()
                answer = await self._http.exchange(
                    self._variant.method, self._url, self._headers, sent, self._variant.seconds
                )
                self._answered = self._answered or isinstance(answer, HttpAnswer)
                took = (time.perf_counter() - began) * 1000
                if isinstance(answer, HttpAnswer) and 200 <= answer.status < 300:
                    return self._read_endpoint_output(answer, took)
                await self._wait_before_retry(answer, retries)
        raise AssertionError("the last try ends in an output or an error")

    async def _wait_before_retry(self, answer: HttpAnswer | HttpFailure, retries: int) -> None:
        """Wait as the server asks, or longer and longer; an OutputError where another try would not help."""
        why = answer.why if isinstance(answer, HttpFailure) else self._describe_status(answer)
        if isinstance(answer, HttpFailure):  # A server that never answered is more likely not there than busy.
            may_help = answer.kind == "cut" or (answer.kind == "unreached" and self._answered)
        else:
            may_help = answer.status in _RETRYABLE_STATUSES or answer.status >= 500
        if not may_help:
            raise OutputError(why)
        if retries >= ENDPOINT_RETRIES:
            raise OutputError(f"{why}, after {ENDPOINT_RETRIES + 1} attempts")
        asked = (
            parse_provider_retry_after(answer.headers, self._clock.wall()) if isinstance(answer, HttpAnswer) else None
        )
        if asked is not None and asked > LONGEST_ENDPOINT_WAIT:
            raise OutputError(f"{why}; the server asks to wait {asked:,.0f} s")
        await self._clock.sleep(compute_model_retry_wait(asked, retries, self._clock))

    def _describe_status(self, answer: HttpAnswer) -> str:
        if 300 <= answer.status < 400:
            return f"status {answer.status}: redirects are not followed"
        said = self._secrets.hide_keys(answer.body.decode("utf-8", "replace"))
        return f"status {answer.status}: {said}" if said else f"status {answer.status}"

    def _read_endpoint_output(self, answer: HttpAnswer, took: float) -> VariantOutput:
        try:
            text = self._secrets.remove_keys(answer.body.decode("utf-8-sig"))
        except UnicodeDecodeError:
            raise OutputError("the answer is not UTF-8 text") from None
        if not self._variant.field:
            return read_variant_text(text, took)
        found = _extract_variant_answer_field(self._variant.field, text)
        return VariantOutput(text=clean_variant_text(found), latency_ms=took)


def fill_variant_request_body(body: object, sample: EvalSample) -> object:
    """Plain data with every text in it filled for a sample."""
    if isinstance(body, str):
        return VariantPromptTemplate(body).fill(sample)
    if isinstance(body, Mapping):
        return {name: fill_variant_request_body(value, sample) for name, value in body.items()}
    return [fill_variant_request_body(value, sample) for value in body] if isinstance(body, (list, tuple)) else body


def _fill_variant_environment(text: str, environ: Mapping[str, str], faults: list[Fault]) -> str:
    """The text with the values of the variables that it names."""
    for name in SENT_VARIABLE.findall(text):
        value = environ.get(name, "").strip()
        if not value:
            faults.append(Fault(f"the environment variable {name} is not set", f"export {name}=…"))
        elif not value.isprintable():
            faults.append(Fault(f"the environment variable {name} holds what no header can"))
    return SENT_VARIABLE.sub(lambda found: environ.get(found[1], "").strip(), text)


def _extract_variant_answer_field(field: str, text: str) -> str:
    """The text at a place of a JSON answer."""
    value = parse_sample_json(text)
    if isinstance(value, Fault):
        raise OutputError(f"the answer cannot be read: {value}")
    for part in field.split("."):
        if isinstance(value, list) and part.isdecimal() and int(part) < len(value):
            value = value[int(part)]
        elif isinstance(value, dict) and part in value:
            value = value[part]
        else:
            raise OutputError(f"the answer has no {field}")
    if not isinstance(value, str):
        raise OutputError(f"{field} of the answer is not text")
    return value
