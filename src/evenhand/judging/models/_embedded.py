"""The judge that needs no key and no network: rules, with word vectors where they are installed."""

from __future__ import annotations

import hashlib
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING

from evenhand.judging._request import EMBEDDED, Reply, Request, Usage

if TYPE_CHECKING:
    from evenhand.judging.embedded import Replier


class Embedded:
    """Answers at once and always the same; it loads at the first question."""

    name = EMBEDDED

    @cached_property
    def version(self) -> str:
        """What its answers depend on: the weights, and whether there are word vectors."""
        weights = (resources.files("evenhand") / "library" / "embedded.json").read_bytes()
        return f"{'vectors' if self._replier.with_vectors else 'rules'} {hashlib.sha256(weights).hexdigest()[:12]}"

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""
        text = self._replier.reply(request)
        return Reply(text=text, stop="end", model=f"{self.name} {self.version}", usage=Usage(input=0, output=0))

    @cached_property
    def _replier(self) -> Replier:
        from evenhand.judging.embedded import Replier, vectors  # noqa: PLC0415 - whoever asks others needs no tables.

        return Replier(vectors())
