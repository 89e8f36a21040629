"""A model behind a server: asks, tries again where that helps, does without what the server does not know."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, NoReturn

from evenhand.errors import BusyError, RefusedError, nearest
from evenhand.judging._request import Reply, Request
from evenhand.judging.models import _anthropic, _openai
from evenhand.judging.models._accepted import Accepted, both, with_less
from evenhand.judging.models._answer import Answer, Cut
from evenhand.judging.models._budget import expected_input
from evenhand.judging.models._clock import Clock
from evenhand.judging.models._faults import Problem, data_in, problem_inside, problem_of_answer, problem_of_cut
from evenhand.judging.models._limits import Limits, Server
from evenhand.judging.models._names import OPENAI_BASE, Address
from evenhand.judging.models._secrets import Secrets
from evenhand.judging.models._values import mapping
from evenhand.judging.models._waiting import next_wait

if TYPE_CHECKING:
    from evenhand.judging.models._http import Http

_LISTING_SECONDS = 10.0
_MOST_LISTED = 200
_REQUEST_IDS = ("x-request-id", "request-id")


@dataclass(frozen=True, slots=True)
class Line:
    """What all models of one set of connections share, and the server of this one."""

    http: Http
    server: Server
    limits: Limits
    clock: Clock
    secrets: Secrets


@dataclass(slots=True)
class _Course:
    """How far one question has come."""

    request: Request
    accepted: Accepted
    body: dict[str, object]
    began: float = 0.0
    attempts: int = 0
    retries: int = 0


class Remote:
    """A model that is asked over HTTP."""

    def __init__(self, address: Address, line: Line) -> None:
        self._wire = wire = _anthropic if address.wire == "anthropic" else _openai
        self.name = address.name
        self.accepted = Accepted(formats=wire.FORMATS, limits=_limit_names(address))
        self._address = address
        self._line = line
        self._url: str = address.base + wire.PATH
        self._headers = wire.headers(address.key)
        self._make: Callable[[str, Request, Accepted], dict[str, object]] = wire.body
        self._read: Callable[[object, str | None, int, float], Reply | str] = wire.reply

    def __repr__(self) -> str:
        return f"Remote({self.name!r})"

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""
        course = _Course(request, self.accepted, self._make(self._address.model, request, self.accepted))
        sent = json.dumps(course.body).encode()
        while True:
            outcome = await self._attempt(course, sent)
            if isinstance(outcome, Reply):
                return outcome
            if outcome.kind == "unaccepted" and self._does_without(course, outcome):
                sent = json.dumps(course.body).encode()
                continue
            await self._line.clock.sleep(await self._wait_before_retry(course, outcome))
            course.retries += 1

    @property
    def origin(self) -> str:
        """The address that questions go to."""
        return self._url

    @property
    def keeps_to_schemas(self) -> bool:
        """Whether the strictest way to ask for the form of an answer has not been refused."""
        return len(self.accepted.formats) == len(self._wire.FORMATS) or self.accepted.format == "tool"

    @property
    def takes_seeds(self) -> bool:
        """Whether a seed can be sent and has not been refused."""
        return self._address.wire == "openai" and self.accepted.seed

    @property
    def width(self) -> int:
        """How many may be under way to its server at once, as it looks now."""
        return self._line.server.gate.width

    async def offers(self) -> tuple[str, ...]:
        """The names of the models that the server lists, as far as it does; asked once."""
        server = self._line.server
        async with server.listing:
            if server.offers is None:
                url = f"{self._address.base}/models"
                answer = await self._line.http.exchange("GET", url, self._headers, None, _LISTING_SECONDS)
                server.offers = _ids_in(answer, self._line.secrets)
        return server.offers

    async def _attempt(self, course: _Course, sent: bytes) -> Reply | Problem:
        server, limits, clock = self._line.server, self._line.limits, self._line.clock
        mark = await server.gate.enter(again=course.attempts > 0)
        try:
            if server.requests or server.tokens:
                await _keep_pace(server, course.request)
            now = clock.now()
            if not course.attempts:
                course.began = now
            course.attempts += 1
            seconds = min(limits.attempt_seconds, max(0.001, course.began + limits.total_seconds - now))
            answer = await self._line.http.exchange("POST", self._url, self._headers, sent, seconds)
        finally:
            server.gate.leave()
        outcome = self._outcome(answer, course)
        if isinstance(outcome, Reply):
            server.gate.went_well()
            if server.tokens and outcome.usage.output is not None:
                used = (outcome.usage.input or 0) + outcome.usage.output
                server.tokens.correct(used - expected_input(course.request))
        elif outcome.overloaded:
            server.gate.overloaded(mark)
        return outcome

    def _outcome(self, answer: Answer | Cut, course: _Course) -> Reply | Problem:
        line = self._line
        if isinstance(answer, Cut):
            return problem_of_cut(answer, line.server.answered)
        line.server.answered = True
        if not 200 <= answer.status < 300:
            return problem_of_answer(answer, line.secrets, line.clock.wall())
        data = data_in(answer.body)
        if isinstance(data, Problem):
            return data
        inside = problem_inside(data, line.secrets)
        if inside is not None:
            return inside
        request_id = next((answer.headers[name] for name in _REQUEST_IDS if name in answer.headers), None)
        try:
            reply = self._read(data, request_id, course.attempts, line.clock.now() - course.began)
        except RecursionError:
            reply = "it is nested too deep"
        if isinstance(reply, str):
            return Problem("busy", f"the answer cannot be read: {reply}")
        return _without_keys(reply, line.secrets)

    def _does_without(self, course: _Course, problem: Problem) -> bool:
        """Give up the parameter that the server refused, for this question and all later ones."""
        less = with_less(course.accepted, course.body, problem.named, problem.said)
        if less is None:
            return False
        self.accepted = course.accepted = both(self.accepted, less)
        course.body = self._make(self._address.model, course.request, course.accepted)
        return True

    async def _wait_before_retry(self, course: _Course, problem: Problem) -> float:
        """How long to wait before asking again, or the error where that would not help."""
        limits, clock = self._line.limits, self._line.clock
        if problem.kind not in ("busy", "absent"):
            await self._refuse(problem)
        tries = f"after {course.attempts} attempts" if course.attempts > 1 else "at the first attempt"
        if problem.kind == "absent":
            raise BusyError(f"{self.name}: {problem.why}")
        if course.retries >= limits.retries:
            raise BusyError(f"{self.name}: {problem.why}, {tries}; try again later")
        wait = next_wait(problem.wait, course.retries, clock)
        if clock.now() - course.began + wait >= limits.total_seconds:
            asked = f"; the server asks to wait {problem.wait:,.0f} s" if problem.wait else ""
            raise BusyError(
                f"{self.name}: {problem.why}, {tries}{asked}: longer than the {limits.total_seconds:g} s allowed in all"
            )
        return wait

    async def _refuse(self, problem: Problem) -> NoReturn:
        name, variable = self.name, self._address.variable
        if problem.kind == "denied":
            key = f"the key in {variable} is not accepted" if self._address.key else f"a key is asked for: {variable}"
            raise RefusedError(f"{name}: {key} ({problem.why})", always=True)
        if problem.kind == "missing":
            raise RefusedError(f"{name}: {await self._missing()} ({problem.why})", always=True)
        raise RefusedError(f"{name}: {problem.why}", always=problem.always)

    async def _missing(self) -> str:
        offered, model = await self.offers(), self._address.model
        if not offered:
            return f"nothing answers under {self._address.base}: does the URL end in /v1, is the model's name right?"
        if model in offered:
            return "the server lists the model, but does not answer for it"
        hint = nearest(model, offered)
        others = ", ".join(offered[:10]) + (f" and {len(offered) - 10} more" if len(offered) > 10 else "")
        return f"the server has no model {model!r}; {hint if hint.startswith('did') else ''} it offers {others}"


def _limit_names(address: Address) -> tuple[str, ...]:
    if address.wire == "anthropic":
        return ("max_tokens",)
    names = ("max_tokens", "max_completion_tokens")
    return names[::-1] if address.base == OPENAI_BASE else names  # Its newer models know the longer name only.


async def _keep_pace(server: Server, request: Request) -> None:
    if server.requests:
        await server.requests.wait()
    if server.tokens:
        await server.tokens.wait(expected_input(request))


def _ids_in(answer: Answer | Cut, secrets: Secrets) -> tuple[str, ...]:
    data = data_in(answer.body) if isinstance(answer, Answer) and answer.status == 200 else None
    entries = mapping(data).get("data")
    found = [mapping(entry).get("id") for entry in (entries if isinstance(entries, list) else ())[:_MOST_LISTED]]
    return tuple(secrets.hidden(id) for id in found if isinstance(id, str) and id)


def _without_keys(reply: Reply, secrets: Secrets) -> Reply:
    """The reply, unless the server put a key into it: a reply is stored and shown."""
    text, model = secrets.removed(reply.text), secrets.removed(reply.model)
    id = secrets.removed(reply.request_id) if reply.request_id else None
    tokens = "".join(place.token for place in reply.places) if reply.places else ""
    spelt = [token for place in reply.places for token, _ in place.likely]
    clean = secrets.removed(tokens) is tokens and all(secrets.removed(token) is token for token in spelt)
    if clean and text is reply.text and model is reply.model and id is reply.request_id:
        return reply
    return replace(reply, text=text, model=model, request_id=id, places=())
