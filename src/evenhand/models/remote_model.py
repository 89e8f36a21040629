"""A model behind a server: asks over HTTP, retries where that helps, and drops parameters that the server refuses."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import NoReturn

from evenhand.errors import BusyError, ModelError, RefusedError, suggest_known_word_in_error
from evenhand.files.parsing import decode_plain_json, encode_plain_json_bytes
from evenhand.models import anthropic_format, decisions_format, openai_format
from evenhand.models.circuit_breaker import ModelCircuitBreaker
from evenhand.models.hidden_keys import ModelSecrets, hide_api_keys_in_reply
from evenhand.models.http_client import ModelHttpClient
from evenhand.models.http_connection import HttpAnswer, HttpFailure
from evenhand.models.limits import Clock, Limits, ServerState, compute_model_retry_wait
from evenhand.models.model_names import OPENAI_BASE, ModelAddress, WireFormat
from evenhand.models.requests import Reply, Request, estimate_input_tokens, read_provider_object
from evenhand.models.server_answers import (
    AcceptedParameters,
    ServerProblem,
    drop_refused_request_parameter,
    explain_error_in_model_response,
    explain_model_error_status,
    explain_model_http_failure,
    explain_unreadable_model_response,
    merge_accepted_request_parameters,
)
from evenhand.models.shared_limits import ModelShare

_LISTING_SECONDS = 10.0
_MOST_LISTED = 200
_REQUEST_IDS = ("x-request-id", "request-id")
LOGPROBS_SIZE = 10  # Times that an answer may be as large where the likely tokens at every place are asked for.
_QUICK_BODY = 20_000  # Bytes that are read at once; a larger answer is read in a thread.


@dataclass(frozen=True, slots=True)
class ServerLink:
    """What all models of one set of connections share, and the server of this one."""

    http: ModelHttpClient
    server: ServerState
    breaker: ModelCircuitBreaker
    limits: Limits
    clock: Clock
    secrets: ModelSecrets
    share: ModelShare | None = None  # Of what all processes together may ask of the model.


@dataclass(slots=True)
class _RequestAttempts:
    """How far one question has come."""

    request: Request
    accepted: AcceptedParameters
    body: dict[str, object]
    began: float = 0.0
    sent: float = 0.0  # When the last attempt was: what a reply takes is counted from here.
    attempts: int = 0
    retries: int = 0
    had_full_time: bool = True  # Whether the last attempt had all the time that one may have.


_WIRES = {"openai": openai_format, "anthropic": anthropic_format, "decisions": decisions_format}


class RemoteModel:
    """A model that is asked over HTTP."""

    def __init__(self, address: ModelAddress, line: ServerLink) -> None:
        self._wire = wire = _WIRES[address.wire]
        self.name = address.name
        self.decides = address.wire == "decisions"  # It answers with probabilities and writes nothing.
        names: tuple[str, ...] = ("max_tokens",)
        if address.wire == "openai":
            names = ("max_tokens", "max_completion_tokens")
        if address.base == OPENAI_BASE:  # Its newer models know the longer name only.
            names = names[::-1]
        self.accepted = AcceptedParameters(formats=wire.FORMATS, limits=names)
        self._address = address
        self._line = line
        self.origin: str = address.base + wire.PATH  # The address that questions go to.
        self._headers = dict(wire.HEADERS)
        if address.key:
            header, form = wire.KEY_HEADER
            self._headers[header] = form.format(address.key)
        self._make: Callable[[str, Request, AcceptedParameters], dict[str, object]] = wire.build_request_body
        self._read: Callable[[object, str | None, int, float], Reply | str] = wire.parse_model_reply_body

    def __repr__(self) -> str:
        return f"Remote({self.name!r})"

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""
        if self.decides and (fault := decisions_format.find_model_request_fault(request)):
            raise RefusedError(f"{self.name}: {fault}", always=True)
        course = _RequestAttempts(request, self.accepted, self._make(self._address.model, request, self.accepted))
        sent = encode_plain_json_bytes(course.body)
        while True:
            outcome = await self._attempt(course, sent)
            if isinstance(outcome, Reply):
                return outcome
            less = self.drop_parameter(course.accepted, course.body, outcome) if outcome.kind == "unaccepted" else None
            if less is not None:
                course.accepted, course.body = less, self.build_body(request, less)
                sent = encode_plain_json_bytes(course.body)
                continue
            try:
                wait = await self._wait_before_retry(course, outcome)
            except ModelError as error:
                error.attempts = course.attempts
                raise
            await self._line.clock.sleep(wait)
            course.retries += 1

    @property
    def keeps_to_schemas(self) -> bool:
        """Whether the strictest way to ask for the form of an answer has not been refused."""
        return len(self.accepted.formats) == len(self._wire.FORMATS) or self.accepted.formats[:1] == ("tool",)

    def hide_keys(self, text: str) -> str:
        """What its server says, without the keys that are known here."""
        return self._line.secrets.remove_keys(text)

    @property
    def takes_seeds(self) -> bool:
        """Whether a seed can be sent and has not been refused."""
        return self._address.wire == "openai" and self.accepted.seed

    @property
    def width(self) -> int:
        """How many may be under way to its server at once, as it looks now."""
        return self._line.server.gate.width

    @property
    def wire(self) -> WireFormat:
        """The format that its server speaks."""
        return self._address.wire

    def build_body(self, request: Request, accepted: AcceptedParameters | None = None) -> dict[str, object]:
        """A request as its server takes it, without what the server has refused so far."""
        return self._make(self._address.model, request, accepted or self.accepted)

    async def exchange(
        self, method: str, path: str, body: bytes | None = None, *, content: str = "", times_as_large: int = 1
    ) -> HttpAnswer | ServerProblem:
        """What another endpoint of its server answers with success, in one try; else what the answer means."""
        line, headers = self._line, {**self._headers, "Content-Type": content or self._headers["Content-Type"]}
        answer = await line.http.exchange(
            method, self._address.base + path, headers, body, line.limits.attempt_seconds, times_as_large=times_as_large
        )
        return self._check_status(answer)

    def _check_status(self, answer: HttpAnswer | HttpFailure) -> HttpAnswer | ServerProblem:
        line = self._line
        if isinstance(answer, HttpFailure):
            return explain_model_http_failure(answer, line.server.answered)
        line.server.answered = True
        if 200 <= answer.status < 300:
            return answer
        return explain_model_error_status(answer, line.secrets, line.clock.wall())

    def read_answer(
        self, given: HttpAnswer | HttpFailure, *, attempts: int = 1, seconds: float = 0.0
    ) -> Reply | ServerProblem:
        """The reply in an answer of the server, or why there is none."""
        line, answer = self._line, given
        if not isinstance(answer, HttpAnswer) or not 200 <= answer.status < 300:
            problem = self._check_status(given)
            assert isinstance(problem, ServerProblem)
            return problem
        line.server.answered = True
        try:
            data = decode_plain_json(answer.body)
        except (ValueError, RecursionError) as problem:
            return explain_unreadable_model_response(answer.body, problem)
        if isinstance(data, dict) and data.get("error"):
            return explain_error_in_model_response(data, line.secrets)
        request_id = next((answer.headers[name] for name in _REQUEST_IDS if name in answer.headers), None)
        try:
            reply = self._read(data, request_id, attempts, seconds)
        except RecursionError:
            reply = "it is nested too deep"
        if isinstance(reply, str):
            return ServerProblem("busy", f"the answer cannot be read: {reply}")
        return hide_api_keys_in_reply(reply, line.secrets) if any(line.secrets.keys) else reply

    def drop_parameter(
        self, sent: AcceptedParameters, body: Mapping[str, object], problem: ServerProblem
    ) -> AcceptedParameters | None:
        """What is left of the parameters `sent` without the one that the server refused; later questions lack it too.

        None where the problem names no such parameter.
        """
        less = drop_refused_request_parameter(sent, body, problem.named, problem.said)
        if less is not None:
            less = self.accepted = merge_accepted_request_parameters(self.accepted, less)
        return less

    async def offers(self) -> tuple[str, ...]:
        """The names of the models that the server lists, as far as it does; asked once."""
        server = self._line.server
        async with server.listing:
            if server.offers is None:
                url = f"{self._address.base}/models"
                answer = await self._line.http.exchange("GET", url, self._headers, None, _LISTING_SECONDS)
                server.offers = _parse_listed_models(answer, self._line.secrets)
        return server.offers

    async def _attempt(self, course: _RequestAttempts, sent: bytes) -> Reply | ServerProblem:
        server, breaker, clock = self._line.server, self._line.breaker, self._line.clock
        mark, probe = await self._enter_server(course)
        try:
            is_limited = server.requests or server.tokens or self._line.share
            answer = await (self._send_in_turn if is_limited else self._send)(course, sent)
        except BaseException:
            if probe:
                breaker.abandon_probe()
            raise
        finally:
            server.gate.leave()
        absent, seconds = not server.answered, clock.now() - course.sent
        if isinstance(answer, HttpAnswer) and len(answer.body) > _QUICK_BODY:
            read = partial(self.read_answer, answer, attempts=course.attempts, seconds=seconds)
            outcome = await asyncio.to_thread(read)
        else:
            outcome = self.read_answer(answer, attempts=course.attempts, seconds=seconds)
        if not isinstance(answer, HttpFailure) or answer.kind == "large":
            if breaker.failures or breaker.state != "closed":
                breaker.note_answer()
        elif answer.kind != "final" and (probe or answer.kind != "late" or course.had_full_time):
            breaker.note_failure(answer.why, probe=probe, absent=absent and answer.kind == "unreached")
        if isinstance(outcome, Reply):
            server.gate.note_reply(clock.now())
            if server.gate.room < server.gate.most:
                server.gate.report_success()
            if outcome.usage.output is not None and (server.tokens or self._line.share):
                self._correct_tokens(course.request, (outcome.usage.input or 0) + outcome.usage.output)
        elif outcome.overloaded:
            server.gate.overloaded(mark)
        return outcome

    def _correct_tokens(self, request: Request, used: int) -> None:
        """Count the tokens that were really used in place of those that were expected."""
        own, share = self._line.server.tokens, self._line.share
        for rate in (own, share.tokens if share else None):
            if rate is not None:
                rate.correct(used - estimate_input_tokens(request))

    async def _enter_server(self, course: _RequestAttempts) -> tuple[int, bool]:
        """Wait for a closed circuit and a place at the server: a mark of the gate, and whether this is the probe."""
        gate, breaker, clock = self._line.server.gate, self._line.breaker, self._line.clock
        while True:
            probe = False
            if breaker.state != "closed":
                began = clock.now()
                probe = await breaker.wait_until_closed()
                course.began += clock.now() - began  # Waiting is not asking.
            try:
                mark = await gate.enter(again=course.attempts > 0)
            except BaseException:
                if probe:
                    breaker.abandon_probe()
                raise
            if probe or breaker.state == "closed":
                return mark, probe
            gate.leave()

    async def _send_in_turn(self, course: _RequestAttempts, sent: bytes) -> HttpAnswer | HttpFailure:
        server, share = self._line.server, self._line.share
        if server.requests:
            await server.requests.wait()
        if server.tokens:
            await server.tokens.wait(estimate_input_tokens(course.request))
        if share is None:
            return await self._send(course, sent)
        async with share.hold_place(estimate_input_tokens(course.request)):
            return await self._send(course, sent)

    def _send(self, course: _RequestAttempts, sent: bytes) -> Awaitable[HttpAnswer | HttpFailure]:
        limits, now = self._line.limits, self._line.clock.now()
        if not course.attempts:
            course.began = now
        course.attempts += 1
        course.sent = now
        seconds = min(limits.attempt_seconds, max(0.001, course.began + limits.total_seconds - now))
        course.had_full_time = seconds == limits.attempt_seconds
        times = LOGPROBS_SIZE if course.request.settings.top_logprobs else 1
        return self._line.http.exchange("POST", self.origin, self._headers, sent, seconds, times_as_large=times)

    async def _wait_before_retry(self, course: _RequestAttempts, problem: ServerProblem) -> float:
        """How long to wait before asking again, or the error where that would not help."""
        limits, clock = self._line.limits, self._line.clock
        if problem.kind not in ("busy", "absent"):
            await self.refuse(problem)
        tries = f"after {course.attempts} attempts" if course.attempts > 1 else "at the first attempt"
        if problem.kind == "absent":
            raise BusyError(f"{self.name}: {problem.why}")
        if course.retries >= limits.retries:
            raise BusyError(f"{self.name}: {problem.why}, {tries}; try again later")
        wait = compute_model_retry_wait(problem.wait, course.retries, clock)
        if clock.now() - course.began + wait >= limits.total_seconds:
            asked = f"; the server asks to wait {problem.wait:,.0f} s" if problem.wait else ""
            raise BusyError(
                f"{self.name}: {problem.why}, {tries}{asked}: longer than the {limits.total_seconds:g} s allowed in all"
            )
        return wait

    async def refuse(self, problem: ServerProblem) -> NoReturn:
        """The error for what another try would not change."""
        name, variable = self.name, self._address.variable
        if problem.kind == "denied":
            key = f"the key in {variable} is not accepted" if self._address.key else f"a key is asked for: {variable}"
            raise RefusedError(f"{name}: {key} ({problem.why})", always=True)
        if problem.kind != "missing":
            raise RefusedError(f"{name}: {problem.why}", always=problem.always)
        offered, model = await self.offers(), self._address.model
        if not offered:
            what = f"nothing answers under {self._address.base}: does the URL end in /v1, is the model's name right?"
        elif model in offered:
            what = "the server lists the model, but does not answer for it"
        else:
            hint = suggest_known_word_in_error(model, offered)
            others = ", ".join(offered[:10]) + (f" and {len(offered) - 10} more" if len(offered) > 10 else "")
            what = f"the server has no model {model!r}; {hint if hint.startswith('did') else ''} it offers {others}"
        raise RefusedError(f"{name}: {what} ({problem.why})", always=True)


def _parse_listed_models(answer: HttpAnswer | HttpFailure, secrets: ModelSecrets) -> tuple[str, ...]:
    if not isinstance(answer, HttpAnswer) or answer.status != 200:
        return ()
    try:
        entries = read_provider_object(json.loads(answer.body.decode("utf-8-sig"))).get("data")
    except (ValueError, RecursionError):
        return ()
    listed = entries[:_MOST_LISTED] if isinstance(entries, list) else []
    found = [read_provider_object(entry).get("id") for entry in listed]
    return tuple(secrets.hide_keys(id) for id in found if isinstance(id, str) and id)
