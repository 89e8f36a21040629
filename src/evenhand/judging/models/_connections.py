"""All access to models: one session, one purse, one record, and a model for every name."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Self

from evenhand.errors import Fault, JudgeError
from evenhand.judging._request import Model, Reply, Request, version_of
from evenhand.judging.models import _names
from evenhand.judging.models._budget import Budget, Purse, Spent
from evenhand.judging.models._clock import Clock
from evenhand.judging.models._embedded import Embedded
from evenhand.judging.models._function import Function, found, source_of
from evenhand.judging.models._gguf import Gguf
from evenhand.judging.models._limits import Limits, Server, server_of
from evenhand.judging.models._prices import Price, Prices
from evenhand.judging.models._record import Record, Recorder, Replayed
from evenhand.judging.models._remote import Line, Remote
from evenhand.judging.models._secrets import KEY_VARIABLES, Secrets

if TYPE_CHECKING:
    from evenhand.judging.models._http import Http


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
        self._secrets = Secrets(environ.get(variable, "") for variable in KEY_VARIABLES)
        self._purse = Purse(prices, budget)
        self._http: Http | None = None
        self._is_shut = False
        self._servers: dict[str, Server] = {}
        self._models: dict[str, Counted] = {}
        self._records: dict[Path, Record] = {}
        self._replay = self._record(replay) if replay is not None else None
        self._recorder = Recorder(record) if record is not None else None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._http is not None:
            await self._http.close()
        for counted in self._models.values():
            if isinstance(counted.model, Gguf):
                await counted.model.close()
        if self._recorder is not None:
            self._recorder.close()

    def open(self, name: str) -> Model:
        """The model of that name, the same object each time; a JudgeError where it cannot be asked."""
        return self.counted(name)

    def shut(self) -> None:
        """Send nothing more; calls under way may end, and those that wait for their turn are cancelled."""
        self._is_shut = True
        for server in self._servers.values():
            server.gate.shut()

    @property
    def spent(self) -> Spent:
        """What was used so far."""
        return self._purse.spent

    def recorded(self) -> tuple[str, ...]:
        """The models whose replies are in the record that is replayed."""
        return self._replay.models if self._replay is not None else ()

    def price(self, name: str) -> Price | None:
        """The price of a model, where it is known."""
        return self._purse.price(name)

    def counted(self, name: str) -> Counted:
        """The model of that name with what stands behind it."""
        known = self._models.get(name)
        if known is None:
            known = self._models[name] = Counted(self._model(name), self._purse, self._recorder)
        return known

    def _model(self, name: str) -> Remote | Function | Embedded | Gguf | Replayed:
        if self._replay is not None:
            return Replayed(name, self._replay, strict=not name.startswith("replay:"))
        meant = _names.parse(name, self._environ)
        if isinstance(meant, _names.Recorded):
            return Replayed(name, self._record(meant.path), strict=False)
        self._purse.admit(name)
        if isinstance(meant, _names.Function):
            return self._function(name, found(name, meant), source_of(meant))
        if isinstance(meant, _names.Rules):
            return Embedded()
        if isinstance(meant, _names.Local):
            return Gguf(name, meant.path)
        line = Line(self._session(), self._server(meant.origin), self._limits, self._clock, self._secrets)
        return Remote(meant, line)

    def _session(self) -> Http:
        from evenhand.judging.models._http import Http  # noqa: PLC0415 - records and functions need no aiohttp.

        if self._http is None:
            self._http = Http(self._limits.largest_reply)
        return self._http

    def adopt(self, judge: object) -> Model:
        """A judge of your own: an object with a name and an `ask`, or a function. It is counted like all others."""
        if isinstance(judge, Counted):
            return judge
        name, call = getattr(judge, "name", None), getattr(judge, "ask", None)
        if not isinstance(name, str) or not callable(call):
            name, call = getattr(judge, "__name__", None), judge
        if isinstance(judge, type) or not isinstance(name, str) or not callable(call):
            hint = "a name such as 'openai/NAME', a function, or an object with a name and an async ask(request)"
            raise JudgeError(Fault(f"{type(judge).__name__} is not a judge", hint))
        return Counted(self._function(name, call), self._purse, self._recorder)

    def _function(self, name: str, call: Callable[[Request], object], source: str = "") -> Function:
        return Function(name, call, self._server(name), self._limits, self._secrets, source)

    def _server(self, origin: str) -> Server:
        if origin not in self._servers:
            self._servers[origin] = server_of(self._limits, self._clock)
            if self._is_shut:
                self._servers[origin].gate.shut()
        return self._servers[origin]

    def _record(self, path: Path) -> Record:
        if path not in self._records:
            self._records[path] = Record(path)
        return self._records[path]


class Counted:
    """A model whose replies are paid for and written down."""

    def __init__(
        self, model: Remote | Function | Embedded | Gguf | Replayed, purse: Purse, recorder: Recorder | None
    ) -> None:
        self.name = model.name
        self.model = model
        self._purse = purse
        self._recorder = recorder

    @property
    def version(self) -> str:
        """What its answers depend on beyond its name, where that is known."""
        return version_of(self.model)

    @property
    def origin(self) -> str:
        """Where it is asked, where that is a server: one name may be served at several places."""
        return str(getattr(self.model, "origin", ""))

    @property
    def source(self) -> str:
        """A hash of its code, where it is a function in a file: edited, it may answer otherwise."""
        return str(getattr(self.model, "source", ""))

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""
        claim = None if isinstance(self.model, Replayed) else self._purse.claim(self.name, request)
        try:
            reply = await self.model.ask(request)
            self._purse.paid(self.name, reply, claim)
        finally:
            self._purse.drop(claim)
        if self._recorder is not None:
            self._recorder.add(self.name, request, reply)
        return reply
