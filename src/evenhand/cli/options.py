"""Options of every command that asks judges, and the judge options and model connections they describe."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import click

from evenhand.cli.inputs import parse_option_number
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.budget import Budget
from evenhand.models.connections import Connections
from evenhand.models.limits import Limits
from evenhand.models.prices import Prices
from evenhand.models.requests import ModelSettings

ClickCommand = TypeVar("ClickCommand", bound=Callable[..., Any])
CommandDecorator = Callable[[ClickCommand], ClickCommand]
POSITIVE_NUMBER = click.FloatRange(0, min_open=True)


def add_record_options(command: ClickCommand) -> ClickCommand:
    """Where replies are written to, or taken from."""
    return _apply_click_options(
        command,
        click.option("--record", metavar="FILE", help="Write every reply to this file."),
        click.option("--replay", metavar="FILE", help="Take every reply from this file; nothing is asked."),
    )


def add_prompt_options(temperature: str = "0 by default.") -> CommandDecorator[Any]:
    """In which words judges are asked, and how they are to answer; what is said of the temperature differs."""
    language = "Language of the prompts, or a folder of your own."
    options = (
        click.option("--language", default="en", metavar="en|zh|DIR", help=language),
        click.option("--seed", type=int, default=0, help="Decides the order in which outputs are shown."),
        click.option("--temperature", type=click.FloatRange(0, 2), help=temperature),
        click.option("--max-tokens", type=click.IntRange(1), default=4096, help="The longest reply."),
    )
    return lambda command: _apply_click_options(command, *options)


def add_request_limit_options(command: ClickCommand) -> ClickCommand:
    """How long a reply may take, how many at once, and what they may cost."""
    return _apply_click_options(
        command,
        click.option(
            "--timeout", type=POSITIVE_NUMBER, default=120.0, metavar="SECONDS", help="For one attempt of one request."
        ),
        click.option("--concurrency", type=click.IntRange(1), default=50, help="Requests at once, per server."),
        click.option("--rpm", type=POSITIVE_NUMBER, metavar="N", help="Requests per minute, per server."),
        click.option("--tpm", type=POSITIVE_NUMBER, metavar="N", help="Tokens per minute, per server."),
        click.option("--budget", metavar="DOLLARS", help="Stop asking before this is spent."),
        click.option("--budget-tokens", type=int, metavar="N", help="Stop asking before so many tokens are used."),
        click.option("--prices", metavar="FILE", help="A price list of your own."),
    )


def build_judge_options(options: dict[str, Any]) -> JudgeOptions:
    """How judges are asked, as far as these options say."""
    settings = ModelSettings(temperature=options["temperature"], max_tokens=options["max_tokens"])
    return JudgeOptions(language=options["language"], settings=settings, seed=options["seed"])


def build_model_connections(options: dict[str, Any]) -> Connections:
    """The access to models that these options describe."""
    money, tokens = options["budget"], options["budget_tokens"]
    budget = None
    if money is not None or tokens is not None:
        dollars = None if money is None else parse_option_number(money, "--budget")
        exact = None if dollars is None else Decimal(dollars.numerator) / Decimal(dollars.denominator)
        budget = Budget(money=exact, tokens=tokens)
    limits = replace(
        Limits(),
        attempt_seconds=options["timeout"],
        total_seconds=max(options["timeout"], Limits().total_seconds),
        concurrency=options["concurrency"],
        requests_per_minute=options["rpm"],
        tokens_per_minute=options["tpm"],
    )
    return Connections(
        os.environ,
        limits=limits,
        budget=budget,
        prices=Prices.load(Path(options["prices"])) if options["prices"] else Prices.shipped(),
        record=Path(options["record"]) if options["record"] else None,
        replay=Path(options["replay"]) if options["replay"] else None,
    )


def _apply_click_options(command: ClickCommand, *options: Callable[[ClickCommand], ClickCommand]) -> ClickCommand:
    """The command with options in this order: Click takes the last one as the first."""
    for option in reversed(options):
        command = option(command)
    return command
