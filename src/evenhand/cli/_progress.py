"""While models are asked: one line on a terminal that says how far it is, and nothing in a file."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import TextIO

from evenhand.judging import Model, Reply, Request, version_of

PAUSE = 0.25
CLEAR = "\r\033[K"


@asynccontextmanager
async def watched(models: Sequence[Model], stream: TextIO | None) -> AsyncIterator[list[Model]]:
    """The models with an eye on them; the line is gone when they are done."""
    if stream is None or not stream.isatty():
        yield list(models)
        return
    eyes = [Watched(model) for model in models]
    teller = asyncio.create_task(_tell(eyes, stream))
    try:
        yield list(eyes)
    finally:
        teller.cancel()
        stream.write(CLEAR)
        stream.flush()


class Watched:
    """A model that counts what it was asked and what it has answered."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.asked = 0
        self.answered = 0

    @property
    def name(self) -> str:
        """The name of the model behind it."""
        return self.model.name

    @property
    def version(self) -> str:
        """That of the model behind it."""
        return version_of(self.model)

    async def ask(self, request: Request) -> Reply:
        """The reply of the model behind it."""
        self.asked += 1
        try:
            return await self.model.ask(request)
        finally:
            self.answered += 1


async def _tell(eyes: Sequence[Watched], stream: TextIO) -> None:
    started = asyncio.get_running_loop().time()
    while True:
        asked, answered = sum(eye.asked for eye in eyes), sum(eye.answered for eye in eyes)
        waiting = [eye.name for eye in eyes if eye.asked > eye.answered]
        seconds = int(asyncio.get_running_loop().time() - started)
        on = f" · waiting for {', '.join(waiting)}" if waiting else ""
        stream.write(f"{CLEAR}{answered} of {asked} replies · {seconds} s{on}"[:78])
        stream.flush()
        await asyncio.sleep(PAUSE)
