"""All access to models: one session, one budget, one record, a model for every name, and what a model can do."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from evenhand.errors import EvenhandError, Fault, JudgeError
from evenhand.files.python_functions import hash_python_function, read_python_object_version
from evenhand.models.budget import Budget, BudgetSource, ModelBudgetLedger, Spending
from evenhand.models.circuit_breaker import ModelCircuitBreaker
from evenhand.models.function_model import (
    FunctionModel,
    GgufModel,
    hash_model_function_source,
    load_model_function,
    name_function_model,
)
from evenhand.models.hidden_keys import collect_api_keys_to_hide
from evenhand.models.limits import Clock, Limits, ModelRateLimiter, ModelRequestGate, ModelRequestPace, ServerState
from evenhand.models.model_names import (
    PROVIDERS,
    EmbeddedRules,
    FunctionPath,
    GgufFile,
    ReplayFile,
    parse_model_name,
    parse_server_url_origin,
)
from evenhand.models.prices import Price, Prices
from evenhand.models.recording import ModelReplyRecord, ModelReplyRecorder, ReplayModel
from evenhand.models.requests import (
    ChainedModel,
    DecisionQuestion,
    Message,
    Middleware,
    Model,
    ModelSettings,
    Reply,
    Request,
)
from evenhand.models.shared_limits import ModelShare, SharedLimits

if TYPE_CHECKING:
    from evenhand.models.http_client import ModelHttpClient


class Connections:
    """Opens models by name; `async with` closes what it opened.

    With `record` every reply is appended to that file; with `replay` every reply comes from that file, and
    nothing is connected to and no key is needed.
    """

    def __init__(
        self,
        environ: Mapping[str, str],
        *,
        limits: Limits | None = None,
        budget: Budget | None = None,
        prices: Prices | None = None,
        record: Path | None = None,
        replay: Path | None = None,
        clock: Clock | None = None,
    ) -> None:
        if record is not None and replay is not None:
            raise JudgeError("a run is either recorded or replayed: give one file, not both")
        self._environ = environ
        self._limits = limits or Limits()
        self._clock = clock or Clock()
        self._secrets = collect_api_keys_to_hide(environ)
        self._ledger = ModelBudgetLedger(prices, budget)
        self._http: ModelHttpClient | None = None
        self._is_shut = False
        self._servers: dict[str, ServerState] = {}
        self._breakers: list[ModelCircuitBreaker] = []
        self._shared: SharedLimits | None = None
        self._shares: dict[str, ModelShare] = {}
        self._models: dict[str, ChainedModel] = {}
        self._records: dict[Path, ModelReplyRecord] = {}
        self._replay = self._read_record(replay) if replay is not None else None
        self._recorder = ModelReplyRecorder(record) if record is not None else None

    def hide_variables(self, sent: Iterable[str]) -> Self:
        """Keep the variables that others are sent out of all that models say, like keys; before any is opened."""
        self._secrets = collect_api_keys_to_hide(self._environ, sent)
        return self

    def share_limits(self, shared: SharedLimits | None) -> Self:
        """Keep limits together with other processes, beside its own; before any model is opened."""
        self._shared = shared
        return self

    def share_budget(self, source: BudgetSource) -> ModelBudgetLedger:
        """Take what may be spent from a source, slice by slice, beside its own budget; where that is kept."""
        self._ledger.source = source
        return self._ledger

    def hide_keys(self, text: str) -> str:
        """A text without the secrets of the environment, in whatever form it repeats one."""
        return self._secrets.remove_keys(text)

    def hide_in_record(self, hide: Callable[[Reply], Reply]) -> None:
        """Put every reply through a function before it is recorded, where one is."""
        if self._recorder is not None:
            self._recorder.hide = hide

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        for share in self._shares.values():
            await share.close()
        if self._http is not None:
            await self._http.close()
        for opened in self._models.values():
            if isinstance(opened.model, GgufModel):
                await opened.model.close()
        if self._recorder is not None:
            self._recorder.close()

    def open(self, name: str, make: Callable[[], Model] | None = None) -> ChainedModel:
        """The model of that name, the same object each time; a JudgeError where it cannot be asked.

        `make` makes a model that is not known here; where a record is replayed, none is made.
        """
        if name in self._models:
            return self._models[name]
        model: Model
        if self._replay is not None:
            model = ReplayModel(name, self._replay, strict=not name.startswith("replay:"))
        elif isinstance(meant := parse_model_name(name, self._environ), ReplayFile):
            model = ReplayModel(name, self._read_record(meant.path), strict=False)
        else:
            budget = self._ledger.budget
            if self._ledger.tally(name).price is None and budget is not None and budget.money is not None:
                raise JudgeError(
                    f"{name}: its price is not known, so a budget of money cannot be kept: "
                    "bound its tokens and not its money, or give a price file that names it"
                )
            if make is not None:
                model = make()
            elif isinstance(meant, FunctionPath):
                call = load_model_function(name, meant, self._secrets)
                source = hash_model_function_source(meant)
                model = FunctionModel(name, call, self._limits, self._secrets, source)
            elif isinstance(meant, EmbeddedRules):
                what, hint = "it judges by rules, and no model is behind it", "evenhand.judging.open_judge opens it"
                raise JudgeError(Fault(what, hint, where=name))
            elif isinstance(meant, GgufFile):
                model = GgufModel(name, meant.path)
            else:
                from evenhand.models.http_client import ModelHttpClient  # For those who need it.
                from evenhand.models.remote_model import RemoteModel, ServerLink

                self._http = self._http or ModelHttpClient(self._limits.largest_reply)
                origin = parse_server_url_origin(meant.base)
                server = self._find_server(origin)
                breaker = ModelCircuitBreaker(name, self._limits.attempt_seconds, self._clock)
                self._breakers.append(breaker)
                share = None if self._shared is None else self._open_share(name, origin, self._shared)
                line = ServerLink(self._http, server, breaker, self._limits, self._clock, self._secrets, share)
                model = RemoteModel(meant, line)
        self._models[name] = self._chain(model)
        return self._models[name]

    def adopt(self, judge: object) -> ChainedModel:
        """A judge of your own: an object with a name and an `ask`, or a function. It is counted like all others."""
        if isinstance(judge, ChainedModel):
            return judge
        name = name_function_model(judge)
        if name is None:
            hint = "a name such as 'openai/NAME', a function, or an object with a name and an async ask(request)"
            raise JudgeError(Fault(f"{type(judge).__name__} is not a judge", hint))
        call: Any = getattr(judge, "ask", judge)
        source, version = hash_python_function(judge), read_python_object_version(judge)
        return self._chain(FunctionModel(name, call, self._limits, self._secrets, source, version))

    def revive_silent_models(self, after: float) -> None:
        """Ask models again that fell silent so many seconds ago: whoever lives for months outlives such a silence."""
        for breaker in self._breakers:
            breaker.revive(after)

    def shut(self) -> None:
        """Send nothing more; calls under way may end, and those that wait for their turn are cancelled."""
        self._is_shut = True
        for server in self._servers.values():
            server.gate.shut()
        for share in self._shares.values():
            share.shut()
        for breaker in self._breakers:
            breaker.shut()

    @property
    def ledger(self) -> ModelBudgetLedger:
        """Where all that is asked is counted, for whoever asks by another way."""
        return self._ledger

    @property
    def spent(self) -> Spending:
        """What was used so far, by all models."""
        tallies = self._ledger.tallies.values()
        priced = sum((tally.cost for tally in tallies), Decimal(0))
        unpriced = sum(tally.unpriced for tally in tallies)
        return Spending(
            requests=sum(tally.replies for tally in tallies),
            input=sum(tally.input for tally in tallies),
            output=sum(tally.output for tally in tallies),
            cached=sum(tally.cached for tally in tallies),
            cost=None if unpriced else priced,
            priced=priced,
            unpriced=unpriced,
            replayed=self._ledger.replayed,
        )

    def recorded(self) -> tuple[str, ...]:
        """The models whose replies are in the record that is replayed."""
        return self._replay.models if self._replay is not None else ()

    def price(self, name: str) -> Price | None:
        """The price of a model, where it is known."""
        return self._ledger.tally(name).price

    def _chain(self, model: Model) -> ChainedModel:
        """All that a request to a model passes. A RemoteModel limits itself: each of its retries waits for its turn."""
        bounded = self._ledger.budget is not None and not isinstance(model, ReplayModel)
        middleware: list[Middleware] = [partial(self._ledger.ask_within_budget, model.name, bounded)]
        if self._recorder is not None:
            middleware.insert(0, partial(self._recorder.ask_and_record_reply, model.name))
        if isinstance(model, FunctionModel):
            breaker = ModelCircuitBreaker(model.name, self._limits.attempt_seconds, self._clock)
            self._breakers.append(breaker)
            middleware += [self._find_server(model.name).gate.limit_requests, breaker.refuse_when_open]
        return ChainedModel(model, middleware)

    def _find_server(self, origin: str) -> ServerState:
        """The server at an origin, the same for all models on it."""
        if origin not in self._servers:
            limits, clock = self._limits, self._clock
            requests, tokens = limits.requests_per_minute, limits.tokens_per_minute
            self._servers[origin] = ServerState(
                gate=ModelRequestGate(limits.concurrency, pace=ModelRequestPace(limits.concurrency)),
                requests=ModelRateLimiter(requests, clock) if requests else None,
                tokens=ModelRateLimiter(tokens, clock) if tokens else None,
            )
            if self._is_shut:
                self._servers[origin].gate.shut()
        return self._servers[origin]

    def _open_share(self, name: str, origin: str, shared: SharedLimits) -> ModelShare:
        """What this process may ask of a model, or of its server, where others ask it too."""
        key = origin if shared.rates_only else name
        if key not in self._shares:
            self._shares[key] = ModelShare(key, shared, self._clock)
            if self._is_shut:
                self._shares[key].shut()
        return self._shares[key]

    def _read_record(self, path: Path) -> ModelReplyRecord:
        if path not in self._records:
            self._records[path] = ModelReplyRecord(path)
        return self._records[path]


_PROBE_REQUEST = Request(
    dialogue="probe",
    messages=(Message("user", 'Is water wet? Answer with JSON, either {"answer": "yes"} or {"answer": "no"}.'),),
    schema={
        "type": "object",
        "properties": {"answer": {"type": "string", "enum": ["yes", "no"]}},
        "required": ["answer"],
        "additionalProperties": False,
    },
    settings=ModelSettings(max_tokens=200, seed=1, top_logprobs=2),
)


_DECISION_PROBE_REQUEST = Request(
    dialogue="probe",
    messages=(Message("user", "Water is wet."),),
    questions=(DecisionQuestion(name="q1", kind="predicate", asks="The text is about water."),),
    settings=ModelSettings(max_tokens=0),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelProbe:
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


async def send_model_probe_request(connections: Connections, name: str) -> ModelProbe:
    """Ask a model one small question. The name of a provider alone, such as ollama, lists what it offers."""
    from evenhand.models.remote_model import RemoteModel

    provider = name.rstrip("/")
    alone = provider in PROVIDERS
    try:
        opened = connections.open(f"{provider}/-" if alone else name)
        remote = opened.model if isinstance(opened.model, RemoteModel) else None
        offers = await remote.offers() if remote is not None else ()
        if alone and remote is not None:
            why = "" if offers else "it lists no models: is the server running, and its address and key right?"
            return ModelProbe(name=name, reachable=bool(offers), why=why, offers=offers)
        decides = remote is not None and remote.decides
        reply = await opened.ask(_DECISION_PROBE_REQUEST if decides else _PROBE_REQUEST)
    except EvenhandError as error:
        return ModelProbe(name=name, reachable=False, why=str(error))
    return ModelProbe(
        name=name,
        reachable=True,
        offers=offers,
        model=reply.model if remote is not None else "",
        structured=_fits_probed_model(reply.text, decides) and (remote is None or remote.keeps_to_schemas),
        logprobs=bool(reply.places) if remote is not None or reply.places else None,
        seed=remote.takes_seeds if remote is not None else None,
        seconds=reply.seconds,
        price=connections.price(name),
    )


def _fits_probed_model(text: str, decides: bool) -> bool:
    """Whether the answer to the small question has the form that was asked for."""
    try:
        said = json.loads(text)
    except (ValueError, RecursionError):
        return False
    if not decides:
        return said in ({"answer": "yes"}, {"answer": "no"})
    return [one.get("type") for one in said["answers"] if isinstance(one, dict)] == ["predicate"]
