"""What was spent on models and what may be: exact sums, unknown prices kept unknown, and a stop before the budget
breaks.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from decimal import Decimal

from evenhand.errors import BudgetError, JudgeError
from evenhand.models.prices import Price, Prices
from evenhand.models.requests import Reply, Request, TokenUsage, estimate_input_tokens
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

    def estimate_usage(self, expected: int, most: int, *, first: bool) -> TokenUsage:
        """What a call is likely to use, going by what the last ones did; before that, the first is let in on a guess.

        Others that set out before it is back may take all they are allowed: else a crowd could overspend at once.
        """
        if not self.learnt:
            return TokenUsage(input=expected, output=min(_FIRST_GUESS, most) if first else most)
        return TokenUsage(input=expected * self.input // self.expected, output=min(self.output // self.learnt, most))


@dataclass(frozen=True, slots=True)
class BudgetClaim:
    """What a call under way is expected to use; `expected` is what its text alone suggests."""

    expected: int
    tokens: int
    money: Decimal


@dataclass(slots=True)
class BudgetLedger:
    """Keeps the sums, and says no once the budget is used or about to be."""

    prices: Prices | None
    budget: Budget | None
    _tallies: dict[str, ModelTally] = field(default_factory=dict)
    _replayed: int = 0
    _claimed_tokens: int = 0
    _claimed_money: Decimal = Decimal(0)

    def admit(self, name: str) -> None:
        """Look its price up, and refuse a model for which the budget could not be kept."""
        price = self.tally(name).price
        if price is None and self.budget and self.budget.money is not None:
            raise JudgeError(
                f"{name}: its price is not known, so a budget of money cannot be kept: "
                "bound its tokens and not its money, or give a price file that names it"
            )

    def claim(self, name: str, request: Request) -> BudgetClaim:
        """Set aside what a call is expected to use, or say that the budget is spent."""
        tally = self.tally(name)
        expected = estimate_input_tokens(request)
        usage = tally.estimate_usage(expected, request.settings.max_tokens, first=not self._claimed_tokens)
        money = (tally.price.cost(usage) if tally.price else None) or Decimal(0)
        claim = BudgetClaim(expected, (usage.input or 0) + (usage.output or 0), money)
        if self.budget is not None:
            self._refuse_beyond(self.budget, claim)
        self._claimed_tokens += claim.tokens
        self._claimed_money += claim.money
        return claim

    def drop(self, claim: BudgetClaim) -> None:
        """Give back what was set aside."""
        self._claimed_tokens -= claim.tokens
        self._claimed_money -= claim.money

    def count_reply(self, name: str, reply: Reply, claim: BudgetClaim | None = None) -> None:
        """Count a reply. What the server did not count is taken as expected, for the budget only."""
        if reply.recorded:
            self._replayed += 1
            return
        tally = self.tally(name)
        tally.replies += 1
        usage = reply.usage
        tally.input += usage.input or 0
        tally.output += usage.output or 0
        tally.cached += usage.cached or 0
        if claim is not None and (usage.input is None or usage.output is None):
            self._claimed_tokens += claim.tokens
            self._claimed_money += claim.money
        elif claim is not None:
            tally.learnt += 1
            tally.expected += claim.expected
        cost = tally.price.cost(usage) if tally.price else None
        if cost is None:
            tally.unpriced += 1
        else:
            tally.cost += cost

    @property
    def spent(self) -> Spending:
        """The sums over all models."""
        tallies = self._tallies.values()
        priced = sum((tally.cost for tally in tallies), Decimal(0))
        unpriced = sum(tally.unpriced for tally in tallies)
        return Spending(
            requests=sum(tally.replies for tally in tallies),
            input=sum(tally.input for tally in tallies),
            output=sum(tally.output for tally in tallies),
            cached=sum(tally.cached for tally in tallies),
            cost=None if unpriced else priced,
            priced=priced,
            unpriced=unpriced,
            replayed=self._replayed,
        )

    def tally(self, name: str) -> ModelTally:
        """The sums of a model, with its price where that is known."""
        found = self._tallies.get(name)
        if found is None:
            prices = self.prices if self.prices is not None else Prices.shipped()
            found = self._tallies[name] = ModelTally(prices.of(name))
        return found

    def _refuse_beyond(self, budget: Budget, claim: BudgetClaim) -> None:
        tallies = self._tallies.values()
        money = budget.paid + sum((tally.cost for tally in tallies), Decimal(0))
        tokens = budget.used + sum(tally.input + tally.output for tally in tallies)
        if budget.money is not None and money + self._claimed_money + claim.money > budget.money:
            way = (
                f", {format_exact_dollars(self._claimed_money)} expected for calls under way"
                if self._claimed_money
                else ""
            )
            paid = f"{format_exact_dollars(money)} paid{way}"
            more = f"this request may cost {format_exact_dollars(claim.money)}"
            raise BudgetError(
                f"the budget of {format_exact_dollars(budget.money)} does not reach: {paid}, {more}; it was not asked"
            )
        if budget.tokens is not None and tokens + self._claimed_tokens + claim.tokens > budget.tokens:
            way = f", {self._claimed_tokens:,} expected for calls under way" if self._claimed_tokens else ""
            raise BudgetError(
                f"the budget of {budget.tokens:,} tokens does not reach: {tokens:,} used{way}, "
                f"this request may take {claim.tokens:,}; it was not asked"
            )
