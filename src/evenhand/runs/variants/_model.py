"""A model with a prompt as a variant."""

from __future__ import annotations

import time

from evenhand.errors import BudgetError, ModelError, OutputError
from evenhand.judging import Request
from evenhand.judging.models import Connections
from evenhand.model import Made
from evenhand.runs._sample import RunSample
from evenhand.runs.variants._made import storable
from evenhand.runs.variants._variant import ModelPrompt


class Asked:
    """Asks the model of a variant; how much at once is the business of the connections."""

    def __init__(self, variant: ModelPrompt, connections: Connections) -> None:
        self._variant = variant
        self._model = connections.open(variant.model)
        self._price = connections.price(variant.model)

    async def make(self, sample: RunSample, repeat: int) -> Made:
        """What the model answers, or an OutputError that says why it does not."""
        request = Request(
            dialogue="variant",
            messages=self._variant.messages(sample),
            settings=self._variant.settings,
            repeat=repeat,
        )
        began = time.perf_counter()
        try:
            reply = await self._model.ask(request)
        except BudgetError:
            raise  # Not this sample's failure: nothing more can be asked of anybody.
        except ModelError as error:
            raise OutputError(str(error)) from None
        seconds = reply.seconds or time.perf_counter() - began
        return Made(
            text=storable(reply.text),
            cost=self._price.cost(reply.usage) if self._price else None,
            latency_ms=seconds * 1000,
            turns=1,
            author=self._variant.model,
        )
