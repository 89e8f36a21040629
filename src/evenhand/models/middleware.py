"""Middleware: what each request passes on its way to a model, as one list of functions, the first arguments bound."""

from __future__ import annotations

from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any, Protocol

from evenhand.models.budget import BudgetLedger
from evenhand.models.limits import ConcurrencyGate
from evenhand.models.recording import ReplyRecorder
from evenhand.models.requests import Model, Reply, Request, read_model_version

CallNext = Callable[[Request], Coroutine[Any, Any, Reply]]


class Middleware(Protocol):
    """A function that answers a request, by passing it on or without."""

    def __call__(self, request: Request, call_next: CallNext) -> Coroutine[Any, Any, Reply]:
        """The reply, or a ModelError that says what to do."""


class ChainedModel:
    """A model behind a list of middleware, of which the first sees a request first and its reply last."""

    def __init__(self, model: Model, middleware: Sequence[Middleware]) -> None:
        # The one that answers in the end.
        self.model: Model = model.model if isinstance(model, ChainedModel) else model
        self.name = model.name
        self.origin: str = getattr(model, "origin", "")  # Where it is asked: a name may be served at several places.
        self.source: str = getattr(model, "source", "")  # A hash of its code, where it is a function in a file.
        self.ask: CallNext = model.ask
        for each in reversed(middleware):
            self.ask = partial(each, call_next=self.ask)

    @property
    def version(self) -> str:
        """What its answers depend on beyond its name, where that is known; it may take a file to be read."""
        return read_model_version(self.model)


async def ask_within_budget(ledger: BudgetLedger, name: str, request: Request, call_next: CallNext) -> Reply:
    """Set aside what a call is expected to cost, refuse it where the budget does not reach, and count the reply."""
    claim = ledger.claim(name, request)
    try:
        reply = await call_next(request)
        ledger.count_reply(name, reply, claim)
    finally:
        ledger.drop(claim)
    return reply


async def ask_and_count(ledger: BudgetLedger, name: str, request: Request, call_next: CallNext) -> Reply:
    """Count what replies cost, without a bound."""
    reply = await call_next(request)
    ledger.count_reply(name, reply)
    return reply


async def record_model_request(recorder: ReplyRecorder, name: str, request: Request, call_next: CallNext) -> Reply:
    """Append every reply to a record."""
    reply = await call_next(request)
    recorder.add(name, request, reply)
    return reply


async def limit_concurrent_requests(gate: ConcurrencyGate, request: Request, call_next: CallNext) -> Reply:
    """Let only so many requests through at once."""
    await gate.enter()
    try:
        return await call_next(request)
    finally:
        gate.leave()
