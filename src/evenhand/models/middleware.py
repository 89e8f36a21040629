"""Wrappers around a model: each request passes through them, so that replies are paid for and recorded."""

from __future__ import annotations

from evenhand.models.budget import BudgetLedger
from evenhand.models.function_model import FunctionModel
from evenhand.models.local_models import EmbeddedModel, GgufModel
from evenhand.models.recording import ReplayModel, ReplyRecorder
from evenhand.models.remote_model import RemoteModel
from evenhand.models.requests import Reply, Request, read_model_version


class BudgetedModel:
    """A model whose replies are paid for and written down."""

    def __init__(
        self,
        model: RemoteModel | FunctionModel | EmbeddedModel | GgufModel | ReplayModel,
        purse: BudgetLedger,
        recorder: ReplyRecorder | None,
    ) -> None:
        self.name = model.name
        self.model = model
        self._purse = purse
        self._recorder = recorder

    @property
    def version(self) -> str:
        """What its answers depend on beyond its name, where that is known."""
        return read_model_version(self.model)

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
        claim = None if isinstance(self.model, ReplayModel) else self._purse.claim(self.name, request)
        try:
            reply = await self.model.ask(request)
            self._purse.paid(self.name, reply, claim)
        finally:
            self._purse.drop(claim)
        if self._recorder is not None:
            self._recorder.add(self.name, request, reply)
        return reply
