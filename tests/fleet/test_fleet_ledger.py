"""What one ledger hands out to the workers of a fleet, also where it, or a worker, dies and begins again."""

from decimal import Decimal
from functools import partial
from pathlib import Path

import pytest

from evenhand.evals.eval_definition import Eval
from evenhand.models.budget import Budget, ModelBudgetAmount, Spending
from evenhand.models.shared_limits import cut_model_rate_slice
from evenhand.store.store import Store
from evenhand.workflows.fleet_ledger import (
    COUNT_SECONDS,
    RECOVERY_SECONDS,
    RESERVED_SECONDS,
    BudgetAnswer,
    FleetLedger,
    ShardProgress,
)
from evenhand.workflows.fleet_ray import divide_calls_over_fleet
from tests.store.rows import RUN, run_row

NOTHING = ModelBudgetAmount()
RATE = 600.0  # A minute: ten a second.


class Watch:
    """A clock that is set by hand."""

    def __init__(self) -> None:
        self.seconds = 100.0

    def __call__(self) -> float:
        return self.seconds


@pytest.fixture
def store(tmp_path: Path) -> Store:
    opened = Store.open(tmp_path, {})
    opened.begin_run(run_row())
    return opened


def open_ledger(store: Store, watch: Watch, budget: Budget | None = None, *, recovered: bool = False) -> FleetLedger:
    samples = [{"input": "a", "outputs": {"old": "b"}}]
    eval = Eval(samples=samples, assertions=[{"contains": "b"}], budget=budget)
    return FleetLedger(store, eval, (RUN,), recovered=recovered, clock=watch)


def take_seconds(ledger: FleetLedger, amount: float) -> float:
    """In how many seconds a slice of so many requests begins."""
    cut = partial(cut_model_rate_slice, rate="requests", amount=amount, per_minute=RATE)
    return ledger.change_slices("http://judge", cut)


def take_budget(
    ledger: FleetLedger, shard: int, attempt: str, short: ModelBudgetAmount, unspent: ModelBudgetAmount = NOTHING
) -> BudgetAnswer:
    """What an attempt is told that has spent nothing since it last told."""
    told = ledger.read_progress(())
    return ledger.take_budget(shard, attempt, told.get(shard, ShardProgress()), short, unspent)


def test_slices_follow_each_other(store: Store) -> None:
    """Whoever asks second begins where the first ends."""
    ledger = open_ledger(store, Watch())

    assert [take_seconds(ledger, 10) for _ in range(3)] == pytest.approx([0, 1, 2])


def test_a_ledger_that_begins_again_hands_out_no_slice_twice(store: Store) -> None:
    """It begins behind all that the one before has handed out: the store was told before anybody used it."""
    watch = Watch()
    before = open_ledger(store, watch)
    for _ in range(5):
        take_seconds(before, 10)

    begins = take_seconds(open_ledger(store, Watch(), recovered=True), 10)

    assert 5 - 0.5 < begins <= 5 + RESERVED_SECONDS


def test_the_store_is_told_of_slices_now_and_then(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A hundred workers ask a hundred times a second; the store is written to once for all slices of two seconds."""
    ledger = open_ledger(store, Watch())
    take_seconds(ledger, 1)
    monkeypatch.setattr(ledger, "store", None)  # Whoever asks it now fails.

    assert [take_seconds(ledger, 1) for _ in range(19)] == pytest.approx([number / 10 for number in range(1, 20)])


def test_a_budget_is_handed_out_once(store: Store) -> None:
    """Two workers get what there is, and whoever comes last is refused once nothing can come back."""
    ledger = open_ledger(store, Watch(), Budget(money=Decimal(3)))
    dollar = ModelBudgetAmount(Decimal(1))
    for shard, attempt in enumerate("abc"):
        ledger.begin_shard(shard, attempt)

    granted = [take_budget(ledger, shard, name, dollar) for shard, name in enumerate("abc")]
    waits = take_budget(ledger, 0, "a", dollar)
    for shard, name in enumerate("abc"):  # All has been spent.
        ledger.report_shard(shard, name, ShardProgress(spent=Spending(priced=Decimal(1)), granted=dollar))

    assert [one.kind for one in granted] == ["granted"] * 3
    assert waits.kind == "wait"
    assert sum(one.more.money for one in granted) == 3


def test_what_a_dead_worker_held_is_handed_out_again(store: Store) -> None:
    """Its shard is tried again: what the store has no reply for was not paid, as far as anybody knows."""
    watch = Watch()
    ledger = open_ledger(store, watch, Budget(money=Decimal(1)))
    dollar = ModelBudgetAmount(Decimal(1))
    ledger.begin_shard(0, "first")
    take_budget(ledger, 0, "first", dollar)

    ledger.begin_shard(0, "second")
    watch.seconds += COUNT_SECONDS
    answer = take_budget(ledger, 0, "second", dollar)

    assert answer.kind == "granted"
    assert answer.more == dollar


def test_what_is_not_spent_comes_back(store: Store) -> None:
    """A worker that ends gives back what it has left; one that waits, and has none under way, keeps nobody waiting."""
    ledger = open_ledger(store, Watch(), Budget(tokens=100))
    ledger.begin_shard(0, "a")
    ledger.begin_shard(1, "b")
    assert take_budget(ledger, 0, "a", ModelBudgetAmount(tokens=90)).more.tokens == 90

    waits = take_budget(ledger, 1, "b", ModelBudgetAmount(tokens=50))
    take_budget(ledger, 0, "a", ModelBudgetAmount(tokens=50), ModelBudgetAmount(tokens=90))
    refused = take_budget(ledger, 1, "b", ModelBudgetAmount(tokens=50))
    ledger.end_shard(0, "a", ShardProgress(), ModelBudgetAmount(tokens=90))
    granted = take_budget(ledger, 1, "b", ModelBudgetAmount(tokens=50))

    assert (waits.kind, refused.kind, granted.kind) == ("wait", "refused", "granted")
    assert refused.why == (
        "the budget of 100 tokens does not reach: 90 used or set aside by all workers, a request is 50 short; "
        "it was not asked"
    )


def test_a_new_ledger_hands_out_no_budget_before_all_have_told_what_they_hold(store: Store) -> None:
    """What the one before has handed out is with the workers; they tell within two seconds."""
    watch, dollar = Watch(), ModelBudgetAmount(Decimal(1))
    ledger = open_ledger(store, watch, Budget(money=Decimal(2)), recovered=True)
    early = take_budget(ledger, 0, "a", dollar)
    ledger.report_shard(0, "a", ShardProgress(granted=dollar))
    watch.seconds += RECOVERY_SECONDS

    answers = [take_budget(ledger, 1, name, dollar).kind for name in ("b", "c")]

    assert early.kind == "wait"
    assert answers == ["granted", "wait"]


def test_a_worker_that_was_taken_for_dead_stops_once_another_has_its_shard(store: Store) -> None:
    """A node that was only cut off would ask everything a second time, beside the limit on calls at once."""
    ledger = open_ledger(store, Watch())
    ledger.begin_shard(0, "cut off")
    before = ledger.report_shard(0, "cut off", ShardProgress(done=3))

    ledger.begin_shard(0, "second")

    assert not before
    assert ledger.report_shard(0, "cut off", ShardProgress(done=4))
    assert not ledger.report_shard(0, "second", ShardProgress(done=1))
    assert ledger.read_progress(())[0].done == 1


@pytest.mark.parametrize(("most", "cpus"), [(16, 4), (50, 4), (3, 8), (1, 1), (7, 2)])
def test_workers_divide_the_calls_at_once(most: int, cpus: int) -> None:
    """Together they have as many as one machine would, and none has nothing to do."""
    places = divide_calls_over_fleet(most, cpus)

    assert sum(places) == most
    assert min(places) >= 1
    assert len(places) == min(most, cpus)
