"""Prices of models from a dated file: exact, and unknown where the file does not name the model."""

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
from evenhand.files.fields import FieldReader
from evenhand.files.parsing import read_tree_file
from evenhand.files.tree import TreeNode, find_node_line
from evenhand.models.requests import TokenUsage

SHIPPED_PRICES = Path(__file__).parents[1] / "library" / "prices.yaml"

_DIGITS = 60
_DATED = re.compile(r"[-@:](?:\d{8}|\d{4}-\d\d-\d\d|latest)(?:[-@:].*)?")


@dataclass(frozen=True, slots=True)
class Price:
    """US dollars for a million tokens."""

    input: Decimal
    output: Decimal
    cached: Decimal
    stored: Decimal

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
        as_of = _parse_price_date(fields)
        read = {name: _parse_model_price(node, faults, at) for name, node, at in fields.pairs("models")}
        if "models" not in fields and not faults:
            fields.fault("prices need models", "as in models: {openai/gpt-4o: {input: 2.50, output: 10}}")
        if faults or as_of is None:
            raise JudgeError(*faults).with_locations(lambda at: f"{path}:{find_node_line(tree, at)}")
        return cls(as_of=as_of, models={name: price for name, price in read.items() if price})

    @staticmethod
    @cache
    def shipped() -> Prices:
        """The prices that come with the package."""
        return Prices.load(SHIPPED_PRICES)

    def of(self, name: str) -> Price | None:
        """The price of a model, where it is known."""
        fitting = [known for known in self.models if _price_name_fits(known, name)]
        return self.models[max(fitting, key=len)] if fitting else None

    def cost(self, name: str, usage: TokenUsage) -> Decimal | None:
        """What a reply of this model cost; None where the price or the count of tokens is unknown."""
        price = self.of(name)
        return price.cost(usage) if price else None


def _price_name_fits(known: str, name: str) -> bool:
    if known.endswith("*"):
        return name.startswith(known[:-1])
    return name.startswith(known) and (len(name) == len(known) or bool(_DATED.fullmatch(name, len(known))))


def _parse_price_date(fields: FieldReader) -> date | None:
    text = fields.text("as_of")
    if text is None:
        if "as_of" not in fields:
            fields.fault("prices need the day they were read", "as in as_of: 2026-11-05")
        return None
    try:
        return date.fromisoformat(text)
    except ValueError:
        fields.fault(f"as_of must be a day, got {text[:40]!r}", "as in as_of: 2026-11-05", "as_of")
        return None


def _parse_model_price(node: TreeNode, faults: list[Fault], path: tuple[str | int, ...]) -> Price | None:
    fields = FieldReader(node, ("input", "output", "cached", "stored"), faults, path)
    before = len(faults)
    amounts = {name: _parse_price_amount(fields, name) for name in ("input", "output", "cached", "stored")}
    for name in ("input", "output"):
        if name not in fields and len(faults) == before:
            fields.fault(f"a price needs {name}: US dollars for a million tokens")
    if amounts["input"] is None or amounts["output"] is None:
        return None
    # Without a price of their own, tokens that a server keeps cost what all others do.
    cached, stored = (amounts["input"] if price is None else price for price in (amounts["cached"], amounts["stored"]))
    return Price(input=amounts["input"], output=amounts["output"], cached=cached, stored=stored)


def _parse_price_amount(fields: FieldReader, name: str) -> Decimal | None:
    value = fields.number(name)
    if value is None:
        return None
    with localcontext(prec=_DIGITS):
        amount = Decimal(value.numerator) / Decimal(value.denominator)
    if value < 0 or Fraction(amount) != value:
        fields.fault(f"{name} must be a decimal number from 0 up", "", name)
        return None
    return amount
