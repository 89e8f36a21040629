"""What a run cost and will cost: what nobody knows is not counted as nothing."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cli.command import evenhand
from tests.golden.server import ModelServer

EVAL = """
name: greetings
samples:
  - {id: plain, input: Hi}
  - {id: late, input: Hey}
variants:
  old: {model: MODEL, prompt: "Greet: {input}"}
  new: {model: MODEL, prompt: "Greet kindly: {input}"}
rubric:
  criteria: [{id: greets, asks: "Does it contain the word 'Hello'?", required: false}]
judges: [embedded]
"""
RECORDED_EVAL = """
name: greetings
samples:
  - {id: plain, input: Hi, output: Hello there}
rubric: {criteria: [Does it greet?]}
judges: [MODEL]
"""
PRICES = "as_of: 2026-11-01\nmodels: {'MODEL': {input: 2, output: 10}}\n"


@pytest.fixture
def server() -> Iterator[ModelServer]:
    with ModelServer() as one:
        yield one


@pytest.fixture
def model(server: ModelServer) -> str:
    return f"openai-compatible:http://127.0.0.1:{server.port}/v1/plain"


def written(folder: Path, model: str, more: str = "", *, priced: bool = False) -> Path:
    (folder / "eval.yaml").write_text(EVAL.replace("MODEL", model) + more, "utf-8")
    if priced:
        (folder / "prices.yaml").write_text(PRICES.replace("MODEL", model), "utf-8")
    return folder


def head_of(folder: Path, *arguments: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(evenhand("run", "eval.yaml", "--json", *arguments, folder=folder).stdout)
    return found


def test_outputs_of_an_unpriced_model_have_no_total(tmp_path: Path, model: str) -> None:
    """Nobody knows what they cost, so it is not nothing; their tokens are known."""
    head = head_of(written(tmp_path, model))

    assert head["cost"]["total"] is None
    assert head["cost"]["outputs"] is None
    assert (head["cost"]["at_least"], head["cost"]["unpriced"]) == (0.0, 4)
    assert head["cost"]["unpriced_calls"] == {model: 4}
    assert all(one["tokens"]["input"] > 0 and one["tokens"]["output"] > 0 for one in head["variants"])
    assert [one["cost"]["outputs_unpriced"] for one in head["variants"]] == [2, 2]


def test_every_report_says_at_least(tmp_path: Path, model: str) -> None:
    """In the terminal, in Markdown and on the page."""
    folder = written(tmp_path, model)
    told = " ".join(evenhand("run", "eval.yaml", folder=folder).stdout.split())
    page, text = (evenhand("report", "latest", form, folder=folder).stdout for form in ("--html", "--markdown"))

    said = f"4 calls of {model} have no known price"
    assert f"cost unknown: {said}" in told
    assert "at least $0" not in page and ">unknown<" in page
    assert said in page
    assert said in text.replace("&#8203;", "")


def test_a_known_price_is_summed_to_the_digit(tmp_path: Path, model: str) -> None:
    """Two dollars a million tokens in, ten out."""
    head = head_of(written(tmp_path, model, "prices: prices.yaml\n", priced=True))

    used = [one["tokens_of_outputs"] for one in head["variants"]]
    cost = sum(2 * one["input"] + 10 * one["output"] for one in used) / 1e6
    assert head["cost"]["total"] == pytest.approx(cost)
    assert head["cost"]["unpriced"] == 0


def test_a_plan_counts_the_outputs_to_be_made(tmp_path: Path, server: ModelServer, model: str) -> None:
    """They are often the larger part of the bill."""
    plan = head_of(written(tmp_path, model, "prices: prices.yaml\n", priced=True), "--plan")

    assert [one["calls"] for one in plan["variants"]] == [2, 2]
    assert all(one["input_tokens"] > 0 and one["cost"] > 0 for one in plan["variants"])
    assert plan["total"]["total"] == pytest.approx(sum(one["cost"] for one in plan["variants"]))
    assert server.asked == []


def test_a_plan_with_an_unknown_price_says_whose(tmp_path: Path, model: str) -> None:
    """An estimate without the unknown part is a lower bound."""
    shown = " ".join(evenhand("run", "eval.yaml", "--plan", folder=written(tmp_path, model)).stdout.split())

    assert f"cost unknown: 4 calls of {model} have no known price" in shown


def test_a_plan_in_which_every_reply_is_cached_costs_nothing(tmp_path: Path, model: str) -> None:
    """No token is bought, so no price is needed to know it."""
    recorded = RECORDED_EVAL.replace("MODEL", model)
    (tmp_path / "eval.yaml").write_text(recorded, "utf-8")
    evenhand("run", "eval.yaml", folder=tmp_path)

    plan = head_of(tmp_path, "--plan")
    shown = evenhand("run", "eval.yaml", "--plan", folder=tmp_path).stdout

    assert plan["judges"][0]["calls"] == plan["judges"][0]["kept"] > 0
    assert (plan["judges"][0]["cost"], plan["total"]["total"]) == (0, 0)
    assert "unknown" not in shown


def test_a_plan_needs_no_key_and_says_that_the_run_does(tmp_path: Path) -> None:
    """It asks nothing, and whoever decides about a run may not have the key."""
    folder = written(tmp_path, "openai/gpt-5-mini")
    plan = evenhand("run", "eval.yaml", "--plan", folder=folder)

    assert plan.returncode == 0, plan.stderr
    assert "note: OPENAI_API_KEY is not set: the run needs it" in plan.stdout
    assert head_of(folder, "--plan")["total"]["total"] > 0
    assert evenhand("run", "eval.yaml", folder=folder).returncode == 2
    with_key = evenhand("run", "eval.yaml", "--plan", folder=folder, OPENAI_API_KEY="sk-none").stdout
    assert "is not set" not in with_key


@pytest.mark.parametrize(
    ("budget", "exceeded"), [("0.001", True), ("1", False), ("{tokens: 50}", True), ("{tokens: 100000}", False)]
)
def test_a_plan_says_that_the_budget_is_too_small(tmp_path: Path, model: str, budget: str, exceeded: bool) -> None:
    """Before the run stops in the middle."""
    folder = written(tmp_path, model, f"prices: prices.yaml\nbudget: {budget}\n", priced=True)

    shown = evenhand("run", "eval.yaml", "--plan", folder=folder).stdout

    assert ("the estimate is above the budget" in shown) == exceeded
    assert head_of(folder, "--plan")["budget"]["exceeded"] == exceeded


def test_a_plan_refuses_what_the_run_would_refuse(tmp_path: Path, model: str) -> None:
    """A budget of money cannot be kept for a model without a price, whoever asks it."""
    done = evenhand("run", "eval.yaml", "--plan", folder=written(tmp_path, model, "budget: 1\n"))

    assert done.returncode == 2
    assert "variant 'old'" in done.stderr
    assert "its price is not known" in done.stderr


def test_a_resumed_run_counts_the_tokens_of_outputs_against_its_budget(tmp_path: Path, model: str) -> None:
    """What earlier sittings spent is spent, outputs included."""
    folder = written(tmp_path, model, "budget: {tokens: 100000}\n")
    used = sum(sum(one["tokens"].values()) for one in head_of(folder)["variants"])

    assert head_of(folder, "--plan", "--resume")["budget"]["used"] == used


def test_outputs_made_are_counted_on_the_way(tmp_path: Path, model: str) -> None:
    """Also without a terminal, and also those that were taken over."""
    folder = written(tmp_path, model)
    first = evenhand("run", "eval.yaml", folder=folder).stderr
    (folder / "eval.yaml").write_text((folder / "eval.yaml").read_text() + "seed: 5\nguards: []\n", "utf-8")
    again = evenhand("run", "eval.yaml", "--resume", folder=folder).stderr

    assert "2 samples to score, 4 outputs, 4 of them to make" in first
    assert "2 of 2 samples · 4 of 4 outputs made" in first
    assert "2 of 2 samples · 4 of 4 outputs made" in again


def test_a_plan_says_what_share_the_server_has_read_before(tmp_path: Path) -> None:
    """Rubric and examples come first in every question: from the second on a server need not read them again."""
    folder = written(tmp_path, "openai/gpt-5")
    text = (folder / "eval.yaml").read_text("utf-8")
    rubric = (
        "  criteria: [{id: greets, asks: \"Does it contain the word 'Hello'?\", required: false}]\njudges: [embedded]"
    )
    (folder / "eval.yaml").write_text(
        text.replace("rubric:\n" + rubric, "rubric: judge-skill\njudges: [openai/gpt-5-mini, ollama/tiny]"), "utf-8"
    )

    plan = json.loads(evenhand("run", "eval.yaml", "--plan", "--json", folder=folder, OPENAI_API_KEY="sk-none").stdout)

    known, unknown = plan["judges"]
    assert known["calls"] == 4
    assert 0.5 < known["cached_tokens"] / known["input_tokens"] < 0.75  # Three of four beginnings.
    assert unknown["cached_tokens"] is None
