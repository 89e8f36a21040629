"""Judges by name: the embedded one, which needs no network, or any model that connections open."""

from __future__ import annotations

import hashlib
from functools import cached_property
from importlib import resources
from typing import TYPE_CHECKING

from evenhand.models.connections import Connections, ModelProbe, send_model_probe_request
from evenhand.models.requests import EMBEDDED, ChainedModel, Reply, Request, TokenUsage, read_model_version

if TYPE_CHECKING:
    from evenhand.judging.embedded.replies import EmbeddedReplier


def find_judge_by_name(connections: Connections, name: str) -> ChainedModel:
    """The judge of that name, the same object each time; a JudgeError where it cannot be asked."""
    return connections.open(name, EmbeddedModel) if name == EMBEDDED else connections.open(name)


async def probe_judge_by_prompt(connections: Connections, name: str) -> ModelProbe:
    """What is known of a judge after one small question; the embedded one needs none."""
    if name != EMBEDDED:
        return await send_model_probe_request(connections, name)
    return ModelProbe(
        name=name,
        reachable=True,
        model=read_model_version(find_judge_by_name(connections, name)),
        structured=True,
        logprobs=False,
        price=connections.price(name),
    )


class EmbeddedModel:
    """Answers at once and always the same; it loads at the first question."""

    name = EMBEDDED

    @cached_property
    def version(self) -> str:
        """What its answers depend on: the weights and the lexicons."""
        library = resources.files("evenhand") / "library"
        lexicons = sorted((library / "embedded").iterdir(), key=lambda file: file.name)
        known = hashlib.sha256()
        for file in (library / "embedded.json", *lexicons):
            known.update(file.read_bytes())
        return f"rules {known.hexdigest()[:12]}"

    async def ask(self, request: Request) -> Reply:
        """The reply, or a ModelError that says what to do."""
        text = self._replier.reply(request)
        return Reply(text=text, stop="end", model=f"{self.name} {self.version}", usage=TokenUsage(input=0, output=0))

    @cached_property
    def _replier(self) -> EmbeddedReplier:
        from evenhand.judging.embedded.replies import EmbeddedReplier  # whoever asks others needs no tables.

        return EmbeddedReplier()
