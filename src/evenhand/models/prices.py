"""Prices of models: a dated list that ships or a file of one's own, by name, for tokens of each kind and in a batch."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from datetime import date
from decimal import Decimal, localcontext
from fractions import Fraction
from functools import cache
from pathlib import Path

from evenhand.errors import Fault, JudgeError, RubricError
from evenhand.files.parsing import read_tree_file
from evenhand.files.tree import FieldReader, TreeNode, find_node_line
from evenhand.models.requests import EMBEDDED, TokenUsage

SHIPPED_PRICES = Path(__file__).parents[1] / "library" / "prices.yaml"
FREE_MODELS = (EMBEDDED, "gguf:", "gguf-decisions:")  # They run on this machine.
_DIGITS = 60
_DATED = re.compile(r"[-@:](?:\d{8}|\d{4}-\d\d-\d\d|latest)(?:[-@:].*)?")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens, the day on which that was so, and who says so."""

    input: Decimal
    output: Decimal
    cached: Decimal
    stored: Decimal
    batch: Decimal | None = None  # The share of all these prices that is paid in a batch; None where it is unknown.
    as_of: date | None = None
    source: str = ""

    def in_batch(self) -> Price | None:
        """What the model costs in a batch; None where that is unknown."""
        if self.batch is None:
            return None
        share, input, output = self.batch, self.input, self.output
        with localcontext(prec=_DIGITS):
            cached, stored = self.cached * share, self.stored * share
            return replace(self, input=input * share, output=output * share, cached=cached, stored=stored, batch=None)

    def cost(self, usage: TokenUsage) -> Decimal | None:
        """What a reply cost; None where the server did not count its tokens."""
        if usage.input is None or usage.output is None:
            return None
        cached = min(usage.cached or 0, usage.input)
        stored = min(usage.stored or 0, usage.input - cached)
        with localcontext(prec=_DIGITS):
            total = (usage.input - cached - stored) * self.input + usage.output * self.output
            total += cached * self.cached + stored * self.stored
            return total.scaleb(-6)


@dataclass(frozen=True, slots=True)
class Prices:
    """What models cost, and the day on which that was so.

    A name in the file stands for the model of that name and its dated versions, a name that ends in * for
    everything that begins so; the longest name that fits counts. A near name is another model: its price is unknown.
    """

    as_of: date
    models: Mapping[str, Price]

    @classmethod
    def load(cls, path: Path) -> Prices:
        """Prices from a YAML or JSON file; what is wrong with it is said with file and line."""
        try:
            tree = read_tree_file(path)
        except RubricError as error:
            raise JudgeError(*(replace(fault, hint="") for fault in error.faults)) from None
        faults: list[Fault] = []
        fields = FieldReader(tree, ("as_of", "models"), faults)
        as_of = _parse_price_day(fields)
        if "as_of" not in fields:
            fields.fault("prices need the day they were read", "as in as_of: 2026-11-05")
        read = {name: _parse_model_price(node, faults, at, as_of) for name, node, at in fields.pairs("models")}
        if "models" not in fields and not faults:
            fields.fault("prices need models", "as in models: {openai/gpt-4o: {input: 2.50, output: 10}}")
        if faults or as_of is None:
            raise JudgeError(*faults).with_locations(lambda at: f"{path}:{find_node_line(tree, at)}")
        return cls(as_of=as_of, models={name: price for name, price in read.items() if price})

    # The prices that come with the package, read once.
    shipped = staticmethod(cache(lambda: Prices.load(SHIPPED_PRICES)))

    def of(self, name: str) -> Price | None:
        """The price of a model, where it is known."""
        longest: str | None = None
        for known in self.models:
            if known.endswith("*"):
                fits = name.startswith(known[:-1])
            else:
                fits = name.startswith(known) and (len(name) == len(known) or bool(_DATED.fullmatch(name, len(known))))
            if fits and (longest is None or len(known) > len(longest)):
                longest = known
        if longest is None and name.startswith(FREE_MODELS):  # Also where a list of one's own does not name them.
            nothing = Decimal(0)
            return Price(nothing, nothing, nothing, nothing)
        return None if longest is None else self.models[longest]

    def cost(self, name: str, usage: TokenUsage) -> Decimal | None:
        """What a reply of this model cost; None where the price or the count of tokens is unknown."""
        price = self.of(name)
        return price.cost(usage) if price else None


def _parse_price_day(fields: FieldReader) -> date | None:
    text = fields.text("as_of")
    try:
        return None if text is None else date.fromisoformat(text)
    except ValueError:
        fields.fault(f"as_of must be a day, got {(text or '')[:40]!r}", "as in as_of: 2026-11-05", "as_of")
        return None


_AMOUNTS = ("input", "output", "cached", "stored", "batch")


def _parse_model_price(
    node: TreeNode, faults: list[Fault], path: tuple[str | int, ...], listed: date | None
) -> Price | None:
    """One entry; without a day of its own it has that of the list."""
    fields = FieldReader(node, (*_AMOUNTS, "as_of", "source"), faults, path)
    before = len(faults)
    amounts: dict[str, Decimal] = {}
    for name in _AMOUNTS:
        value = fields.number(name)
        if value is None:
            continue
        with localcontext(prec=_DIGITS):
            amount = Decimal(value.numerator) / Decimal(value.denominator)
        if value < 0 or Fraction(amount) != value:
            fields.fault(f"{name} must be a decimal number from 0 up", "", name)
        elif name == "batch" and value > 1:
            fields.fault(f"batch is the share of the price that is paid in a batch, got {amount}", "as in 0.5", name)
        else:
            amounts[name] = amount
    for name in ("input", "output"):
        if name not in fields and len(faults) == before:
            fields.fault(f"a price needs {name}: US dollars for a million tokens")
    as_of, source = _parse_price_day(fields) or listed, fields.text("source") or ""
    if "input" not in amounts or "output" not in amounts:
        return None
    # Without a price of their own, tokens that a server keeps cost what all others do.
    own = amounts["input"]
    cached, stored = amounts.get("cached", own), amounts.get("stored", own)
    return Price(own, amounts["output"], cached, stored, amounts.get("batch"), as_of, source)
