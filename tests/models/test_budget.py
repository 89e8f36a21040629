"""What was spent: exact, unknown where it is unknown; and a stop once the budget is used."""

import asyncio
from datetime import date
from decimal import Decimal
from pathlib import Path

import pytest

from evenhand.errors import BudgetError, JudgeError
from evenhand.models.budget import Budget, Spending
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits
from evenhand.models.prices import Price, Prices
from evenhand.models.requests import ModelSettings
from tests.models.server import Server, answers, chat, fails, question, says, then_hangs

PRICE = Price(input=Decimal("2.50"), output=Decimal(10), cached=Decimal("1.25"), stored=Decimal("2.50"))
EVERYTHING = Prices(as_of=date(2026, 11, 5), models={"openai-compatible:*": PRICE})
NOTHING = Prices(as_of=date(2026, 11, 5), models={})
EACH = Decimal("0.00035")  # 100 tokens in, 10 out.


def spend(
    count: int, budget: Budget | None = None, prices: Prices = EVERYTHING, usage: object = "as usual"
) -> tuple[list[str], Spending, int]:
    """So many questions, one after the other: what each ended in, what was spent, how many were sent."""

    async def run() -> tuple[list[str], Spending, int]:
        behaviour = says() if usage == "as usual" else answers(200, chat(usage=usage))
        ends = []
        async with Server(behaviour) as server, Connections({}, budget=budget, prices=prices) as connections:
            model = connections.open(server.name)
            for number in range(count):
                try:
                    ends.append((await model.ask(question(str(number), settings=ModelSettings(max_tokens=10)))).text)
                except BudgetError as error:
                    ends.append(str(error))
            return ends, connections.spent, len(server.seen)

    return asyncio.run(run())


def test_what_was_spent_is_exact() -> None:
    """Three times 0.00035 is 0.00105, not the float next to it."""
    _, spent, _ = spend(3)

    assert spent == Spending(requests=3, input=300, output=30, cost=Decimal("0.00105"), priced=Decimal("0.00105"))


def test_an_unknown_price_is_unknown_and_not_nothing() -> None:
    """The tokens are known all the same."""
    _, spent, _ = spend(2, prices=NOTHING)

    assert (spent.cost, spent.unpriced, spent.input) == (None, 2, 200)


def test_a_reply_without_a_count_of_tokens_has_no_known_price() -> None:
    """Also where the price itself is known."""
    _, spent, _ = spend(2, usage=None)

    assert (spent.cost, spent.unpriced) == (None, 2)


def test_a_budget_of_money_stops_before_it_breaks() -> None:
    """Ten questions for the money of three: nothing is sent after them, and the error says why."""
    ends, spent, sent = spend(10, Budget(money=EACH * 3))

    assert ends[:3] == ["4"] * 3
    assert all("the budget of $0.00105 does not reach: $0.00105 paid, this request may cost" in end for end in ends[3:])
    assert (spent.cost, sent) == (EACH * 3, 3)


def test_a_budget_of_tokens_stops_before_it_breaks() -> None:
    """It needs no price."""
    ends, spent, sent = spend(10, Budget(tokens=350), prices=NOTHING)

    assert ends[:4] == ["4", "4", "4", ends[3]]
    assert "the budget of 350 tokens does not reach: 330 used, this request may take" in ends[4]
    assert (spent.input + spent.output, sent) == (330, 3)


def test_a_crowd_does_not_overspend_at_once() -> None:
    """Nine at a time, each of which may take 4,096 tokens: only as many set out as the budget can bear."""

    async def run() -> tuple[int, Spending]:
        usage = {"prompt_tokens": 10, "completion_tokens": 4096}
        budget = Budget(tokens=10_000)
        async with (
            Server(answers(200, chat(usage=usage))) as server,
            Connections({}, budget=budget, prices=NOTHING) as connections,
        ):
            model = connections.open(server.name)
            await asyncio.gather(*(model.ask(question(str(n))) for n in range(9)), return_exceptions=True)
            return len(server.seen), connections.spent

    sent, spent = asyncio.run(run())

    assert sent == 3
    assert spent.input + spent.output <= 3 * 4106


def test_a_budget_counts_what_servers_do_not() -> None:
    """A server that counts no tokens must not be a way around the budget."""
    ends, _, sent = spend(50, Budget(tokens=100), usage=None)

    assert 0 < sent < 50
    assert "does not reach" in ends[-1]


def test_a_budget_of_money_counts_what_servers_do_not() -> None:
    """What was expected is taken as spent."""
    ends, _, sent = spend(50, Budget(money=EACH), usage=None)

    assert 0 < sent < 50
    assert "does not reach" in ends[-1]


def test_a_budget_of_money_needs_a_price() -> None:
    """It could not be kept, so the model is refused before anything is asked."""
    with pytest.raises(JudgeError, match="its price is not known"):
        spend(1, Budget(money=Decimal(5)), prices=NOTHING)


def test_nothing_to_spend_asks_nothing() -> None:
    """A budget of zero is a budget."""
    _, _, sent = spend(3, Budget(money=Decimal(0)))

    assert sent == 0


def test_calls_under_way_are_counted_and_finish() -> None:
    """Twenty at once for the tokens of a few: those that began are answered, the others are not asked."""

    async def run() -> tuple[int, int, int]:
        async with Server(says()) as server, Connections({}, budget=Budget(tokens=100)) as connections:
            model = connections.open(server.name)
            asks = (model.ask(question(settings=ModelSettings(max_tokens=10))) for _ in range(20))
            ends = await asyncio.gather(*asks, return_exceptions=True)
            stopped = sum(isinstance(end, BudgetError) for end in ends)
            return len(server.seen), stopped, len(ends)

    sent, stopped, everyone = asyncio.run(run())

    assert 0 < sent < everyone
    assert sent + stopped == everyone


def test_a_failed_or_cancelled_call_gives_back_what_was_set_aside() -> None:
    """Otherwise failures alone would spend the budget."""

    async def run() -> int:
        behaviours = [fails(400)] * 10 + [then_hangs()]
        limits = Limits(attempt_seconds=0.05, retries=0)
        budget = Budget(tokens=30)
        async with Server(*behaviours) as server, Connections({}, limits=limits, budget=budget) as connections:
            model = connections.open(server.name)
            for _ in range(12):
                await asyncio.gather(model.ask(question(settings=ModelSettings(max_tokens=10))), return_exceptions=True)
            return len(server.seen)

    assert asyncio.run(run()) == 12


def test_replies_from_a_record_cost_nothing(tmp_path: Path) -> None:
    """They are counted apart, and no budget stops them."""
    path = tmp_path / "record.jsonl"

    async def run() -> Spending:
        async with Server(says()) as server:
            async with Connections({}, record=path) as connections:
                await connections.open(server.name).ask(question())
            async with Connections({}, replay=path, budget=Budget(tokens=0)) as connections:
                await connections.open(server.name).ask(question())
                return connections.spent

    assert asyncio.run(run()) == Spending(replayed=1)
