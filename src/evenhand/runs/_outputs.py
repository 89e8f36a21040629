"""The outputs of a run: recorded ones are read, live ones are made once and kept, so that a resumed run has them."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from decimal import Decimal
from typing import Any

from evenhand.model import Made, ToolCall
from evenhand.runs._book import Book
from evenhand.runs._sample import RunSample
from evenhand.runs._setup import digest_of, program_folder
from evenhand.runs._turns import Turns
from evenhand.runs._work import Work
from evenhand.runs.store import Row, compact
from evenhand.runs.variants import Maker, Variant


class Outputs:
    """Gives the output of a variant for a sample; `runs` are those whose outputs may be taken over."""

    def __init__(
        self,
        variants: Mapping[str, Variant],
        makers: Mapping[str, Maker],
        book: Book,
        turns: Turns,
        runs: Sequence[str],
    ) -> None:
        self._variants = variants
        self._makers = makers
        self._book = book
        self._turns = turns
        self._runs = runs

    async def of(self, sample: RunSample, work: Work) -> Made:
        """The output, or an OutputError that says why there is none."""
        variant, maker = self._variants[work.variant], self._makers[work.variant]
        if not variant.live:
            return await maker.make(sample, work.repeat)
        key = key_of_output(work.variant, variant, sample, work.repeat)
        found = self._book.store.made([key], self._runs).get(key)
        if found is None:
            made = await self._turns.take(lambda: maker.make(sample, work.repeat))
        else:
            made = made_from(json.loads(found["content"]))
        if found is None or found["run"] != self._book.run:
            await self._book.keep("made", self._row(key, work, made))
        return made

    def _row(self, key: str, work: Work, made: Made) -> Row:
        return {
            "run": self._book.run,
            "key": key,
            "position": work.position,
            "variant": work.variant,
            "repeat": work.repeat,
            "content": compact(made_json(made)),
            "at": self._book.now(),
        }


def key_of_output(name: str, variant: Variant, sample: RunSample, repeat: int) -> str:
    """A name for all that decides what a live variant makes of a sample, as far as can be seen from outside."""
    folder = program_folder(variant)
    return digest_of(name, variant.definition(), folder, sample.sent(repeat), sample.reference)


def made_json(made: Made) -> dict[str, Any]:
    """An output as plain data."""
    trace = made.trace
    return {
        "text": made.text,
        "trace": None if trace is None else [{"name": c.name, "input": c.input, "output": c.output} for c in trace],
        "cost": None if made.cost is None else str(made.cost),
        "latency_ms": made.latency_ms,
        "turns": made.turns,
        "author": made.author,
    }


def made_from(data: Mapping[str, Any]) -> Made:
    """An output out of plain data."""
    trace = data["trace"]
    return Made(
        text=data["text"],
        trace=None if trace is None else tuple(ToolCall(one["name"], one["input"], one["output"]) for one in trace),
        cost=None if data["cost"] is None else Decimal(data["cost"]),
        latency_ms=data["latency_ms"],
        turns=data["turns"],
        author=data["author"],
    )
