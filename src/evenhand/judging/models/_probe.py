"""Finding out about a model: is it there, what does its server offer, what does it know, what does it cost."""

from __future__ import annotations

import json
from dataclasses import dataclass

from evenhand.errors import EvenhandError
from evenhand.judging._request import Message, Reply, Request, Settings
from evenhand.judging.models._connections import Connections
from evenhand.judging.models._embedded import Embedded
from evenhand.judging.models._names import PROVIDERS
from evenhand.judging.models._prices import Price
from evenhand.judging.models._remote import Remote

_QUESTION = Request(
    dialogue="probe",
    messages=(Message("user", 'Is water wet? Answer with JSON, either {"answer": "yes"} or {"answer": "no"}.'),),
    schema={
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
        "required": ["answer"],
        "additionalProperties": False,
    },
    settings=Settings(max_tokens=200, seed=1, top_logprobs=2),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Probe:
    """What is known of a model after one small question; None is unknown."""

    name: str
    reachable: bool
    why: str = ""  # Why it cannot be reached.
    offers: tuple[str, ...] = ()
    model: str = ""  # As the server names it.
    structured: bool | None = None  # Whether it keeps to a schema.
    logprobs: bool | None = None
    seed: bool | None = None  # Whether it takes one; whether it heeds it cannot be seen from one reply.
    seconds: float | None = None
    price: Price | None = None


async def probe(connections: Connections, name: str) -> Probe:
    """Ask a model one small question. The name of a provider alone, such as ollama, lists what it offers."""
    provider = name.rstrip("/")
    alone = provider in PROVIDERS
    try:
        counted = connections.counted(f"{provider}/-" if alone else name)
        model = counted.model
        if isinstance(model, Embedded):
            return Probe(
                name=name,
                reachable=True,
                model=model.version,
                structured=True,
                logprobs=False,
                price=connections.price(name),
            )
        if not isinstance(model, Remote):
            reply = await counted.ask(_QUESTION)
            structured, logprobs = _fits(reply.text), bool(reply.places) or None
            price = connections.price(name)
            return Probe(
                name=name, reachable=True, structured=structured, logprobs=logprobs, seconds=reply.seconds, price=price
            )
        offers = await model.offers()
        if alone:
            why = "" if offers else "it lists no models: is the server running, and its address and key right?"
            return Probe(name=name, reachable=bool(offers), why=why, offers=offers)
        reply = await counted.ask(_QUESTION)
    except EvenhandError as error:
        return Probe(name=name, reachable=False, why=str(error))
    return _found(name, model, offers, reply, connections.price(name))


def _found(name: str, model: Remote, offers: tuple[str, ...], reply: Reply, price: Price | None) -> Probe:
    return Probe(
        name=name,
        reachable=True,
        offers=offers,
        model=reply.model,
        structured=model.keeps_to_schemas and _fits(reply.text),
        logprobs=bool(reply.places),
        seed=model.takes_seeds,
        seconds=reply.seconds,
        price=price,
    )


def _fits(text: str) -> bool:
    try:
        return json.loads(text) in ({"answer": "yes"}, {"answer": "no"})
    except (ValueError, RecursionError):
        return False
