"""Prices: exact, dated, from a file whose faults are told with their line, and unknown for what it does not name."""

from decimal import Decimal
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.errors import JudgeError
from evenhand.models.prices import Prices
from evenhand.models.requests import TokenUsage

DATED = "as_of: 2026-11-05\nmodels:\n"
FILE = """\
as_of: 2026-11-05
models:
  openai/gpt-4o: {input: 2.50, output: 10, cached: 1.25}
  openai/gpt-4o-mini: {input: 0.15, output: 0.60}
  "openai-compatible:http://127.0.0.1:*": {input: 0, output: 0}
  "openai-compatible:http://127.0.0.1:8080/v1/de*": {input: 7, output: 0}
"""


def prices(tmp_path: Path, text: str = FILE) -> Prices:
    path = tmp_path / "prices.yaml"
    path.write_text(text, "utf-8")
    return Prices.load(path)


def test_a_reply_has_a_price(tmp_path: Path) -> None:
    """800 tokens at 2.50, 200 kept ones at 1.25 and 100 at 10, each for a million."""
    cost = prices(tmp_path).cost("openai/gpt-4o", TokenUsage(input=1000, output=100, cached=200))

    assert cost == Decimal("0.00325")


def test_tokens_that_a_server_keeps_from_now_on_have_their_own_price() -> None:
    """1,000 in, of which 400 are stored at 3.75 and 100 were kept at 0.30; 10 out at 15."""
    usage = TokenUsage(input=1000, output=10, cached=100, stored=400)

    assert Prices.shipped().cost("anthropic/claude-sonnet-4-5", usage) == Decimal("0.00318")


@pytest.mark.parametrize(
    ("name", "known"),
    [
        ("openai/gpt-4o", "2.50"),
        ("openai/gpt-4o-2024-08-06", "2.50"),
        ("openai/gpt-4o-20240806", "2.50"),
        ("openai/gpt-4o-latest", "2.50"),
        ("openai/gpt-4o-mini", "0.15"),
        ("openai/gpt-4o-mini-2024-07-18", "0.15"),
        ("openai/gpt-4o-audio-preview", None),
        ("openai/gpt-4", None),
        ("anthropic/gpt-4o", None),
        ("openai-compatible:http://127.0.0.1:8080/v1/tiny", "0"),
        ("openai-compatible:http://127.0.0.1:8080/v1/dear", "7"),
        ("openai-compatible:http://127.0.0.2:8080/v1/tiny", None),
    ],
)
def test_a_near_name_is_another_model(tmp_path: Path, name: str, known: str | None) -> None:
    """Dated versions cost what the model costs; anything else is unknown rather than wrong."""
    price = prices(tmp_path).of(name)

    assert (None if price is None else price.input) == (None if known is None else Decimal(known))


def test_kept_tokens_without_a_price_of_their_own_cost_what_all_do(tmp_path: Path) -> None:
    """A bill is never shown too small."""
    found = prices(tmp_path)

    assert found.cost("openai/gpt-4o-mini", TokenUsage(input=10, output=0, cached=10)) == Decimal("0.0000015")


def test_more_kept_tokens_than_there_were_are_no_refund(tmp_path: Path) -> None:
    """A server that counts wrongly must not bring the cost below nothing."""
    assert prices(tmp_path).cost("openai/gpt-4o", TokenUsage(input=10, output=0, cached=30)) == Decimal("0.0000125")


@pytest.mark.parametrize("usage", [TokenUsage(), TokenUsage(input=5), TokenUsage(output=5), TokenUsage(cached=5)])
def test_without_a_count_there_is_no_cost(tmp_path: Path, usage: TokenUsage) -> None:
    """Unknown, not 0."""
    assert prices(tmp_path).cost("openai/gpt-4o", usage) is None


@given(calls=st.lists(st.tuples(st.integers(0, 10**9), st.integers(0, 10**9), st.integers(0, 10**9)), max_size=20))
def test_costs_add_up_to_the_last_digit(calls: list[tuple[int, int, int]]) -> None:
    """The sum of the costs is the cost of the sums."""
    name = "openai/gpt-5-nano"
    usages = [TokenUsage(input=input, output=output, cached=min(input, cached)) for input, output, cached in calls]
    whole = TokenUsage(
        input=sum(usage.input or 0 for usage in usages),
        output=sum(usage.output or 0 for usage in usages),
        cached=sum(usage.cached or 0 for usage in usages),
    )

    costs = [Prices.shipped().cost(name, usage) or Decimal(0) for usage in usages]

    assert sum(costs, Decimal(0)) == Prices.shipped().cost(name, whole)


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "prices.yaml: the file is empty"),
        ("models: {}\n", "prices.yaml:1: prices need the day they were read"),
        ("as_of: yesterday\nmodels: {}\n", "prices.yaml:1: as_of must be a day, got 'yesterday'"),
        ("as_of: 2026-11-05\n", "prices need models"),
        ("as_of: 2026-11-05\nmodels: []\n", "prices.yaml:2: models must be a mapping"),
        (DATED + "  a: {input: 1}\n", "prices.yaml:3: a price needs output"),
        (DATED + "  a: {input: -1, output: 2}\n", "prices.yaml:3: input must be a decimal number from 0"),
        (DATED + "  a: {input: 1/3, output: 2}\n", "prices.yaml:3: input must be a decimal number"),
        (DATED + "  a: {input: cheap, output: 2}\n", "prices.yaml:3: input must be a number, got 'cheap'"),
        (DATED + "  a: {inptu: 1, output: 2}\n", "prices.yaml:3: unknown field 'inptu' (did you mean 'input'?)"),
        (DATED + "  a: {input: 1, output: 2, batch: 50}\n", "prices.yaml:3: batch is the share of the price"),
        (DATED + "  a: {input: 1, output: 2, as_of: now}\n", "prices.yaml:3: as_of must be a day, got 'now'"),
        ("as_of: [\n", "prices.yaml:"),
    ],
)  # fmt: skip
def test_a_file_that_cannot_be_used_says_where(tmp_path: Path, text: str, says: str) -> None:
    """File, line, and what would work."""
    with pytest.raises(JudgeError) as caught:
        prices(tmp_path, text)

    assert says in str(caught.value)
    assert str(tmp_path) in str(caught.value)


def test_a_missing_file_is_said_so(tmp_path: Path) -> None:
    """By its name."""
    with pytest.raises(JudgeError, match=r"none\.yaml: cannot be read"):
        Prices.load(tmp_path / "none.yaml")


def test_the_shipped_prices_are_dated_and_know_the_default_judge() -> None:
    """What runs here is free; all others are above zero, and kept tokens never cost more than new ones."""
    shipped = Prices.shipped()

    assert shipped.as_of.year >= 2025
    assert shipped.of("anthropic/claude-sonnet-4-20250514") is not None
    paid = {name: price for name, price in shipped.models.items() if price.input}
    assert shipped.models.keys() - paid.keys() == {"embedded", "gguf:*"}
    written = [price for name, price in paid.items() if not name.startswith("openai-decisions/")]
    assert all(0 < price.cached <= price.input < price.output for price in written)


def test_every_shipped_price_names_its_day_and_its_source() -> None:
    """A number that nobody can look up is a guess."""
    shipped = Prices.shipped()
    paid = [price for price in shipped.models.values() if price.input]

    assert all(price.source.startswith("https://") for price in paid)
    assert all(price.as_of is not None and price.as_of <= shipped.as_of for price in paid)


def test_a_batch_costs_its_share_of_every_price(tmp_path: Path) -> None:
    """Half of 2.50, 10, 1.25 and 3; where the list says nothing of batches, their price is unknown."""
    text = DATED + "  a: {input: 2.50, output: 10, cached: 1.25, stored: 3, batch: 0.5}\n  b: {input: 1, output: 2}\n"
    found = prices(tmp_path, text)
    batched, unknown = found.models["a"].in_batch(), found.models["b"].in_batch()

    assert batched is not None
    assert [batched.input, batched.output, batched.cached, batched.stored] == list(
        map(Decimal, ["1.25", "5", "0.625", "1.5"])
    )
    assert unknown is None


def test_an_entry_without_a_day_has_that_of_its_list(tmp_path: Path) -> None:
    """So that a short list needs one date, and a long one can say which of its prices are older."""
    text = DATED + "  a: {input: 1, output: 2}\n  b: {input: 1, output: 2, as_of: 2025-01-02, source: a bill}\n"
    found = prices(tmp_path, text).models

    assert [str(found[name].as_of) for name in "ab"] == ["2026-11-05", "2025-01-02"]
    assert found["b"].source == "a bill"
