"""What models cost and what may be spent: prices from a dated file, exact sums, and a stop before a budget breaks."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Protocol

from evenhand.errors import BudgetError, JudgeError
from evenhand.models.prices import Price, Prices
from evenhand.models.requests import CallNext, Reply, Request, TokenUsage, estimate_input_tokens
from evenhand.wording import format_exact_dollars

_FIRST_GUESS = 512  # Tokens of a reply, until the first has come and the mean is known.


@dataclass(frozen=True, slots=True)
class Budget:
    """The most that may be spent, in US dollars and in tokens; what is None is not bounded."""

    money: Decimal | None = None
    tokens: int | None = None
    paid: Decimal = Decimal(0)  # Of it before, in dollars and in tokens.
    used: int = 0

    def __post_init__(self) -> None:
        for name, value in (("money", self.money), ("tokens", self.tokens)):
            if value is not None and not value >= 0:
                raise JudgeError(f"a budget of {name} cannot be {value}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Spending:
    """What asking has used so far. Replies out of a record cost nothing and are counted apart."""

    requests: int = 0  # That were answered.
    input: int = 0
    output: int = 0
    cached: int = 0
    cost: Decimal | None = Decimal(0)  # US dollars; None where the price of some reply is unknown.
    priced: Decimal = Decimal(0)  # What the replies of known price cost.
    unpriced: int = 0  # How many replies have no known price.
    replayed: int = 0


def add_model_spending(several: Sequence[Spending]) -> Spending:
    """What several have used together; the cost is unknown where that of one of them is."""
    counts = ("requests", "input", "output", "cached", "unpriced", "replayed")
    known = [one.cost for one in several if one.cost is not None]
    return Spending(
        **{name: sum(getattr(one, name) for one in several) for name in counts},
        cost=sum(known, Decimal(0)) if len(known) == len(several) else None,
        priced=sum((one.priced for one in several), Decimal(0)),
    )


def sum_reply_spending(replies: Sequence[tuple[str, Reply]], price: Callable[[str], Price | None]) -> Spending:
    """What some replies used, each with the name of its model."""
    paid = [(price(name), one.usage) for name, one in replies if not one.recorded]
    costs = [None if known is None else known.cost(usage) for known, usage in paid]
    priced, unpriced = sum((one for one in costs if one is not None), Decimal(0)), costs.count(None)
    return Spending(
        requests=len(paid),
        input=sum(usage.input or 0 for _, usage in paid),
        output=sum(usage.output or 0 for _, usage in paid),
        cached=sum(usage.cached or 0 for _, usage in paid),
        cost=None if unpriced else priced,
        priced=priced,
        unpriced=unpriced,
        replayed=len(replies) - len(paid),
    )


@dataclass(slots=True)
class ModelTally:
    """What the replies of one model have used."""

    price: Price | None
    replies: int = 0
    input: int = 0
    output: int = 0
    cached: int = 0
    unpriced: int = 0
    cost: Decimal = Decimal(0)
    learnt: int = 0  # How many replies the expectation was compared with, and what was expected of them.
    expected: int = 0

    def estimate_request_tokens(self, expected: int, most: int, *, first: bool) -> TokenUsage:
        """What a call is likely to use, going by what the last ones did; before that, the first is let in on a guess.

        Others that set out before it is back may take all they are allowed: else a crowd could overspend at once.
        """
        if not self.learnt:
            return TokenUsage(input=expected, output=min(_FIRST_GUESS, most) if first else most)
        return TokenUsage(input=expected * self.input // self.expected, output=min(self.output // self.learnt, most))


@dataclass(frozen=True, slots=True)
class ModelBudgetAmount:
    """Part of a budget: dollars and tokens, neither below 0."""

    money: Decimal = Decimal(0)
    tokens: int = 0

    def __add__(self, other: ModelBudgetAmount) -> ModelBudgetAmount:
        return ModelBudgetAmount(self.money + other.money, self.tokens + other.tokens)

    def __sub__(self, other: ModelBudgetAmount) -> ModelBudgetAmount:
        return ModelBudgetAmount(max(self.money - other.money, Decimal(0)), max(self.tokens - other.tokens, 0))

    def covers(self, other: ModelBudgetAmount) -> bool:
        """Whether it is enough for another."""
        return self.money >= other.money and self.tokens >= other.tokens


class BudgetSource(Protocol):
    """The one place that hands out slices of a budget to many processes."""

    async def take_budget(self, short: ModelBudgetAmount, unspent: ModelBudgetAmount) -> ModelBudgetAmount:
        """A slice that covers what is short, given what is left of those before; a BudgetError where there is none.

        Nothing, after a moment, where somebody else may leave some.
        """
        ...


@dataclass(frozen=True, slots=True)
class BudgetClaim:
    """What a call under way is expected to use; `expected` is what its text alone suggests."""

    expected: int
    tokens: int
    money: Decimal


@dataclass(slots=True)
class ModelBudgetLedger:
    """Keeps the sums, and says no once the budget is used or about to be."""

    prices: Prices | None
    budget: Budget | None
    tallies: dict[tuple[str, bool], ModelTally] = field(default_factory=dict)  # By model, and whether in batches.
    replayed: int = 0
    source: BudgetSource | None = None  # Of more, where what is here does not reach.
    _claimed_tokens: int = 0
    _claimed_money: Decimal = Decimal(0)
    _taking: asyncio.Lock = field(default_factory=asyncio.Lock)

    async def ask_within_budget(self, name: str, bounded: bool, request: Request, call_next: CallNext) -> Reply:
        """Middleware that counts the reply; where `bounded`, what it may cost is set aside before, or refused."""
        claim = await self._claim_or_take_more(name, request) if bounded else None
        try:
            reply = await call_next(request)
            self.count_reply(name, reply, claim)
        finally:
            if claim is not None:  # Give back what was set aside.
                self.release_claim(claim)
        return reply

    def count_reply(self, name: str, reply: Reply, claim: BudgetClaim | None) -> None:
        """Add what a reply used; one that came in a batch costs what batches do."""
        if reply.recorded:
            self.replayed += 1
            return
        tally, usage = self.tally(name, in_batch=reply.in_batch), reply.usage
        tally.replies += 1
        tally.input += usage.input or 0
        tally.output += usage.output or 0
        tally.cached += usage.cached or 0
        if claim is not None and (usage.input is None or usage.output is None):
            # What the server did not count is taken as expected, for the budget only.
            self.set_aside(claim)
        elif claim is not None:
            tally.learnt += 1
            tally.expected += claim.expected
        cost = tally.price.cost(usage) if tally.price else None
        if cost is None:
            tally.unpriced += 1
        else:
            tally.cost += cost

    def tally(self, name: str, *, in_batch: bool = False) -> ModelTally:
        """The sums of a model, with its price where that is known; what came in batches has sums of its own."""
        found = self.tallies.get((name, in_batch))
        if found is None:
            price = (self.prices if self.prices is not None else Prices.shipped()).of(name)
            found = ModelTally(price.in_batch() if price is not None and in_batch else price)
            self.tallies[name, in_batch] = found
        return found

    @property
    def unspent(self) -> ModelBudgetAmount:
        """What is left of the budget beside calls under way, in what it bounds."""
        budget, (money, tokens) = self.budget or Budget(), self._count_spent()
        whole = ModelBudgetAmount(budget.money or Decimal(0), budget.tokens or 0)
        return whole - ModelBudgetAmount(money + self._claimed_money, tokens + self._claimed_tokens)

    async def _claim_or_take_more(self, name: str, request: Request) -> BudgetClaim:
        """The claim of a request; while what is here does not reach for it, more is taken from the source."""
        if self.source is None:
            return self.claim_request(name, request)
        while True:
            async with self._taking:  # One at a time: nobody else uses what one has been given.
                try:
                    return self.claim_request(name, request)
                except BudgetError:
                    claim, budget = self._estimate_claim(name, request), self.budget or Budget()
                money, tokens = claim.money * (budget.money is not None), claim.tokens * (budget.tokens is not None)
                self.add_budget(
                    await self.source.take_budget(ModelBudgetAmount(money, tokens) - self.unspent, self.unspent)
                )

    def add_budget(self, more: ModelBudgetAmount) -> None:
        """Let so much more be spent."""
        if self.budget is not None:
            money, tokens = self.budget.money, self.budget.tokens
            self.budget = replace(
                self.budget,
                money=None if money is None else money + more.money,
                tokens=None if tokens is None else tokens + more.tokens,
            )

    def take_unspent(self) -> ModelBudgetAmount:
        """Give back what is left: no more may be spent than was."""
        given, budget = self.unspent, self.budget
        if budget is not None:
            money, tokens = budget.money, budget.tokens
            self.budget = replace(
                budget,
                money=None if money is None else money - given.money,
                tokens=None if tokens is None else tokens - given.tokens,
            )
        return given

    def _count_spent(self) -> tuple[Decimal, int]:
        """Dollars and tokens that were spent, before and here."""
        before, tallies = self.budget or Budget(), self.tallies.values()
        money = before.paid + sum((tally.cost for tally in tallies), Decimal(0))
        return money, before.used + sum(tally.input + tally.output for tally in tallies)

    def claim_request(self, name: str, request: Request, *, in_batch: bool = False) -> BudgetClaim:
        """Set aside what a call is expected to use, or say that the budget is spent."""
        claim = self._estimate_claim(name, request, in_batch=in_batch)
        if self.budget is not None:
            self._refuse_beyond(self.budget, claim)
        self.set_aside(claim)
        return claim

    def set_aside(self, claim: BudgetClaim) -> None:
        """Count what is under way against the budget until it is known."""
        self._claimed_tokens += claim.tokens
        self._claimed_money += claim.money

    def release_claim(self, claim: BudgetClaim) -> None:
        """Give back what was set aside."""
        self._claimed_tokens -= claim.tokens
        self._claimed_money -= claim.money

    def _estimate_claim(self, name: str, request: Request, *, in_batch: bool = False) -> BudgetClaim:
        tally = self.tally(name, in_batch=in_batch)
        expected = estimate_input_tokens(request)
        usage = tally.estimate_request_tokens(expected, request.settings.max_tokens, first=not self._claimed_tokens)
        money = (tally.price.cost(usage) if tally.price else None) or Decimal(0)
        return BudgetClaim(expected, (usage.input or 0) + (usage.output or 0), money)

    def _refuse_beyond(self, budget: Budget, claim: BudgetClaim) -> None:
        money, tokens = self._count_spent()
        if budget.money is not None and money + self._claimed_money + claim.money > budget.money:
            way = format_exact_dollars(self._claimed_money)
            paid = format_exact_dollars(money) + " paid"
            paid += f", {way} expected for calls under way" if self._claimed_money else ""
            raise BudgetError(
                f"the budget of {format_exact_dollars(budget.money)} does not reach: {paid}, "
                f"this request may cost {format_exact_dollars(claim.money)}; it was not asked"
            )
        if budget.tokens is not None and tokens + self._claimed_tokens + claim.tokens > budget.tokens:
            way = f", {self._claimed_tokens:,} expected for calls under way" if self._claimed_tokens else ""
            raise BudgetError(
                f"the budget of {budget.tokens:,} tokens does not reach: {tokens:,} used{way}, "
                f"this request may take {claim.tokens:,}; it was not asked"
            )
