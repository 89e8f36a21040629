"""Models with prompts as variants: what they are sent, and what an output of theirs is."""

import asyncio
from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from evenhand.errors import BudgetError, EvalError
from evenhand.evals.sample import EvalSample
from evenhand.evals.variants.makers import open_variant_output_makers
from evenhand.evals.variants.variant import ModelVariant, VariantPromptTemplate
from evenhand.model.sample import VariantOutput
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits
from evenhand.models.prices import Price, Prices
from tests.evals.variants.making import QUESTION, made, make
from tests.models.server import Behaviour, Server, Waits, fails, says

LIMITS = Limits(retries=1)


def prompted(
    *behaviours: Behaviour,
    sample: EvalSample = QUESTION,
    prompt: tuple[tuple[str, str], ...] = (("user", "{input}"),),
    budget: Budget | None = None,
) -> tuple[VariantOutput | str, list[Any]]:
    """What comes of one sample, and the messages that the server saw."""

    async def run() -> tuple[VariantOutput | str, list[Any]]:
        async with (
            Server(*behaviours) as server,
            Connections({}, limits=LIMITS, clock=Waits().clock, budget=budget) as connections,
        ):
            variant = ModelVariant(
                model=server.name, prompt=tuple((role, VariantPromptTemplate(text)) for role, text in prompt)
            )
            (result,) = await made(variant, sample, environ={}, connections=connections)
            return result, [seen.json["messages"] for seen in server.seen]

    return asyncio.run(run())


def test_a_prompt_is_filled_and_the_reply_is_the_output() -> None:
    """The model that wrote it is its author, so that it does not judge itself."""
    result, seen = prompted(says("Report it."), prompt=(("system", "Be brief."), ("user", "Q: {input}")))

    assert seen == [[{"role": "system", "content": "Be brief."}, {"role": "user", "content": "Q: Where is it?"}]]
    assert isinstance(result, VariantOutput)
    assert (result.text, result.turns, result.cost) == ("Report it.", 1, None)
    assert result.author is not None
    assert result.author.startswith("openai-compatible:")


@pytest.mark.parametrize(
    ("prompt", "contents"),
    [
        ((("system", "Brief."), ("user", "{input}")), ["Brief.", "Hi", "Yes?", "Where?"]),
        ((("user", "Q: {input}"),), ["Q: user: Hi\n\nassistant: Yes?\n\nuser: Where?"]),
    ],
)
def test_messages_take_the_place_of_an_input_that_stands_alone(
    prompt: tuple[tuple[str, str], ...], contents: list[str]
) -> None:
    """Inside of another text they are read as text."""
    turns = (("user", "Hi"), ("assistant", "Yes?"), ("user", "Where?"))
    messages = tuple({"role": role, "text": text} for role, text in turns)
    sample = EvalSample(id="a", input="user: Hi\n\nassistant: Yes?\n\nuser: Where?", messages=messages)

    _, seen = prompted(says(), sample=sample, prompt=prompt)

    assert [message["content"] for message in seen[0]] == contents


def test_a_model_that_gives_no_reply_fails_for_that_sample() -> None:
    """With the reason that the model's own room gives."""
    result, seen = prompted(fails(400, "too long"))

    assert isinstance(result, str)
    assert result.endswith("400: too long")
    assert len(seen) == 1


def test_a_spent_budget_is_not_a_failure_of_the_sample() -> None:
    """It ends the run, which can be taken up again."""
    with pytest.raises(BudgetError):
        prompted(says(), budget=Budget(tokens=1))


def test_the_cost_of_an_output_comes_from_the_prices() -> None:
    """Tokens as the server counted them."""

    price = Price(input=Decimal(2), output=Decimal(10), cached=Decimal(1), stored=Decimal(2))

    async def run() -> list[VariantOutput | str]:
        async with Server(says()) as server:
            own = Prices(as_of=date(2026, 1, 1), models={server.name: price})
            async with Connections({}, prices=own) as connections:
                variant = ModelVariant(model=server.name, prompt=(("user", VariantPromptTemplate("{input}")),))
                return await made(variant, environ={}, connections=connections)

    (result,) = asyncio.run(run())

    assert isinstance(result, VariantOutput)
    assert result.cost == Decimal("0.0003")  # 100 tokens in for 2, 10 out for 10 dollars a million.


def test_a_repeat_is_another_request() -> None:
    """The same question asked again on purpose is never answered from a record of the first."""
    seen: list[int] = []

    class Watched:
        name = "watched"

        async def ask(self, request: Any) -> Any:
            seen.append(request.repeat)
            raise BudgetError("enough")

    class Known(Connections):
        def open(self, name: str, make: object = None) -> Any:
            return Watched()

    async def run() -> None:
        variant = ModelVariant(model="watched", prompt=(("user", VariantPromptTemplate("{input}")),))
        async with Known({}) as connections, open_variant_output_makers({"new": variant}, connections, {}, 1) as makers:
            for repeat in (0, 1):
                with pytest.raises(BudgetError):
                    await makers["new"].make(QUESTION, repeat)

    asyncio.run(run())

    assert seen == [0, 1]


def test_a_model_that_nobody_knows_is_told_before_anything_is_made() -> None:
    """With the place of the variant."""
    with pytest.raises(EvalError) as caught:
        make(ModelVariant(model="nobody/x", prompt=(("user", VariantPromptTemplate("{input}")),)), environ={})

    assert str(caught.value).startswith("variant 'new': model 'nobody/x': there is no model of this name")
