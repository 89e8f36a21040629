"""What the workers of one fleet keep together: slices of rates and of a budget, how far each has come, and the stop.

One process holds it, and Ray starts that process again if it dies. The end of every rate's last slice is written into
the store a little ahead of its use, and what was paid stands there too: a ledger that begins again hands out nothing a
second time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal, TypeVar

from evenhand.evals.eval_definition import Eval
from evenhand.models.budget import Budget, ModelBudgetAmount, Spending, add_model_spending
from evenhand.models.shared_limits import ModelLimitSlices
from evenhand.store.store import Store
from evenhand.wording import format_exact_dollars
from evenhand.workflows.models import change_limits_in_store
from evenhand.workflows.run_resuming import load_remaining_budget_for_user

T = TypeVar("T")
RESERVED_SECONDS = 2.0  # Of each rate: so far ahead of the last slice the store is told of.
RECOVERY_SECONDS = 2.0  # In which all workers have told a new ledger what they hold.
COUNT_SECONDS = 1.0  # Between two counts of what the store says was paid.
SLICES_OF_BUDGET = 200  # A slice is this part of a budget, or what one request needs, if that is more.
NOTHING = ModelBudgetAmount()
UNBOUNDED = ModelBudgetAmount(Decimal(10) ** 18, 10**18)  # What is not bounded counts as so much.


@dataclass(frozen=True, slots=True, kw_only=True)
class ShardProgress:
    """How far one attempt at a shard has come."""

    done: int = 0
    skipped: int = 0
    failed: int = 0
    made: int = 0
    carried: int = 0
    spent: Spending = field(default_factory=Spending)
    granted: ModelBudgetAmount = NOTHING  # Of the budget, and not given back.

    @property
    def held(self) -> ModelBudgetAmount:
        """What it has of the budget and has not spent."""
        return self.granted - ModelBudgetAmount(self.spent.priced, self.spent.input + self.spent.output)


@dataclass(frozen=True, slots=True, kw_only=True)
class BudgetAnswer:
    """What a worker is told that wants more of the budget: `more`, or to ask again soon, or why there is none."""

    kind: Literal["granted", "wait", "refused"]
    more: ModelBudgetAmount = NOTHING
    why: str = ""


@dataclass(slots=True)
class FleetLedger:
    """Keeps the sums of one run; all times are those of its own process."""

    store: Store
    eval: Eval
    line: tuple[str, ...]  # The run, and those that it took over from.
    recovered: bool = False  # Whether there was one before, which died.
    clock: Callable[[], float] = time.monotonic
    stopping: bool = False
    _began: float = 0.0
    _counted: float = 0.0  # When what is left was last counted.
    _slices: dict[str, ModelLimitSlices] = field(default_factory=dict)  # By server.
    _reserved: dict[str, dict[str, float]] = field(default_factory=dict)  # By server and rate: until when.
    _left: ModelBudgetAmount = UNBOUNDED  # Of the budget, to be handed out.
    _attempts: dict[int, dict[str, ShardProgress]] = field(default_factory=dict)  # By shard and attempt.
    _waiting: dict[str, ModelBudgetAmount] = field(
        default_factory=dict
    )  # By attempt: what it has unspent and cannot use.

    def __post_init__(self) -> None:
        self._began = self.clock()
        self._left = self._count_budget()

    def change_slices(self, server: str, change: Callable[[ModelLimitSlices, float], tuple[ModelLimitSlices, T]]) -> T:
        """Change what has been handed out of a server's rates; the store is told before anybody may use it."""
        now = self.clock()
        if server not in self._slices:
            ends = self._move_stored_ends(server, {}, now)
            self._slices[server] = ModelLimitSlices(at=now, ends=ends)
            self._reserved[server] = dict(ends)
        after, result = change(self._slices[server], now)
        reserved = self._reserved[server]
        if any(end > reserved.get(rate, now) for rate, end in after.ends.items()):
            ahead = {rate: end + RESERVED_SECONDS for rate, end in after.ends.items()}
            self._reserved[server] = self._move_stored_ends(server, ahead, now)
        self._slices[server] = after
        return result

    def _move_stored_ends(self, server: str, ends: Mapping[str, float], now: float) -> dict[str, float]:
        """Have the store keep the ends of slices that are later than those it has; which it keeps, by our clock."""

        def move(kept: ModelLimitSlices, there: float) -> tuple[ModelLimitSlices, dict[str, float]]:
            later = {rate: max(kept.ends.get(rate, there), end - now + there) for rate, end in ends.items()}
            merged = {**kept.ends, **later}
            return ModelLimitSlices(at=there, ends=merged), {rate: end - there + now for rate, end in merged.items()}

        return change_limits_in_store(self.store, server, move)

    def take_budget(
        self, shard: int, attempt: str, progress: ShardProgress, short: ModelBudgetAmount, unspent: ModelBudgetAmount
    ) -> BudgetAnswer:
        """A slice of the budget that covers what one request is short of, for one attempt at a shard."""
        self.report_shard(shard, attempt, progress)
        if self.recovered:
            if self.clock() - self._began < RECOVERY_SECONDS:
                return BudgetAnswer(kind="wait")  # Until all have told what they hold: that was handed out before.
            self.recovered, self._left = False, self._count_budget()
        if not self._left.covers(short):
            self._waiting[attempt] = unspent
            if self.clock() - self._counted >= COUNT_SECONDS:  # It reads every call of the run.
                self._left = self._count_budget()
            if not self._left.covers(short):
                if self._may_come_back(attempt):
                    return BudgetAnswer(kind="wait")
                return BudgetAnswer(kind="refused", why=self._explain_refusal(short))
        self._waiting.pop(attempt, None)
        budget = self.eval.budget or Budget()
        more = ModelBudgetAmount(
            money=max(short.money, min((budget.money or Decimal(0)) / SLICES_OF_BUDGET, self._left.money)),
            tokens=max(short.tokens, min((budget.tokens or 0) // SLICES_OF_BUDGET, self._left.tokens)),
        )
        self._left -= more
        own = self._attempts[shard][attempt]
        self._attempts[shard][attempt] = replace(own, granted=own.granted + more)
        return BudgetAnswer(kind="granted", more=more)

    def begin_shard(self, shard: int, attempt: str) -> None:
        """An attempt at a shard begins: Ray makes one only where those before it are dead, and hold nothing more."""
        self._attempts[shard] = {
            **{name: replace(one, granted=NOTHING) for name, one in self._attempts.get(shard, {}).items()},
            attempt: ShardProgress(),
        }

    def report_shard(self, shard: int, attempt: str, progress: ShardProgress) -> bool:
        """Take in how far an attempt has come; whether it is to stop, as one does that was taken for dead."""
        attempts = self._attempts.setdefault(shard, {})
        known = attempts.get(attempt, progress).granted  # What is on its way to it, it does not know of.
        granted = known if known.covers(progress.granted) else progress.granted
        attempts[attempt] = replace(progress, granted=granted)
        return self.stopping or next(reversed(attempts)) != attempt

    def end_shard(self, shard: int, attempt: str, progress: ShardProgress, unspent: ModelBudgetAmount) -> None:
        """An attempt is over, and gives back what it has not spent."""
        self._attempts.setdefault(shard, {})[attempt] = replace(progress, granted=NOTHING)
        self._waiting.pop(attempt, None)
        self._left += unspent

    def stop_shards(self) -> None:
        """Have all workers start nothing more."""
        self.stopping = True

    def read_progress(self, over: Sequence[int]) -> dict[int, ShardProgress]:
        """By shard: how far its last attempt is, with what all have spent; those that are over are told once."""
        told = {}
        for shard, attempts in self._attempts.items():
            last = list(attempts.values())[-1]
            told[shard] = replace(last, spent=add_model_spending([one.spent for one in attempts.values()]))
        for shard in over:
            self._attempts.pop(shard, None)
        return told

    def _count_budget(self) -> ModelBudgetAmount:
        """What is left by what the store says was paid and what live workers hold; the dead hold nothing."""
        budget, self._counted = self.eval.budget, self.clock()
        if budget is None:
            return UNBOUNDED
        spent = load_remaining_budget_for_user(self.eval, budget, self.store, self.line)
        left = ModelBudgetAmount(
            money=UNBOUNDED.money if budget.money is None else budget.money,
            tokens=UNBOUNDED.tokens if budget.tokens is None else budget.tokens,
        ) - ModelBudgetAmount(spent.paid, spent.used)
        for _, one in self._list_attempts():
            left -= one.held
        return left

    def _may_come_back(self, attempt: str) -> bool:
        """Whether somebody else has some of the budget that calls under way, or to come, may leave."""
        others = ((name, one.held) for name, one in self._list_attempts() if name != attempt)
        return any(held - self._waiting.get(name, NOTHING) != NOTHING for name, held in others)

    def _list_attempts(self) -> list[tuple[str, ShardProgress]]:
        return [one for attempts in self._attempts.values() for one in attempts.items()]

    def _explain_refusal(self, short: ModelBudgetAmount) -> str:
        budget, left = self.eval.budget or Budget(), self._left
        if budget.money is not None and short.money > left.money:
            paid = f"{format_exact_dollars(budget.money - left.money)} paid or set aside by all workers"
            need = f"a request is {format_exact_dollars(short.money)} short"
            return (
                f"the budget of {format_exact_dollars(budget.money)} does not reach: {paid}, {need}; it was not asked"
            )
        used = f"{(budget.tokens or 0) - left.tokens:,} used or set aside by all workers"
        need = f"a request is {short.tokens:,} short"
        return f"the budget of {budget.tokens or 0:,} tokens does not reach: {used}, {need}; it was not asked"
