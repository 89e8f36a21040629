"""Options of every command that asks judges: in which words, how fast, for how much, recorded or replayed."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace
from decimal import Decimal
from pathlib import Path
from typing import Any, TypeVar

import click

from evenhand.cli._limits import number
from evenhand.judging import How, Settings
from evenhand.judging.models import Budget, Connections, Limits, Prices

Command = TypeVar("Command", bound=Callable[..., Any])
Decorator = Callable[[Command], Command]
ABOVE_0 = click.FloatRange(0, min_open=True)


def record_options(command: Command) -> Command:
    """Where replies are written to, or taken from."""
    return _with(
        command,
        click.option("--record", metavar="FILE", help="Write every reply to this file."),
        click.option("--replay", metavar="FILE", help="Take every reply from this file; nothing is asked."),
    )


def how_options(temperature: str = "0 by default.") -> Decorator[Any]:
    """In which words judges are asked, and how they are to answer; what is said of the temperature differs."""
    language = "Language of the prompts, or a folder of your own."
    options = (
        click.option("--language", default="en", metavar="en|zh|DIR", help=language),
        click.option("--seed", type=int, default=0, help="Decides the order in which outputs are shown."),
        click.option("--temperature", type=click.FloatRange(0, 2), help=temperature),
        click.option("--max-tokens", type=click.IntRange(1), default=4096, help="The longest reply."),
    )
    return lambda command: _with(command, *options)


def limit_options(command: Command) -> Command:
    """How long a reply may take, how many at once, and what they may cost."""
    return _with(
        command,
        click.option(
            "--timeout", type=ABOVE_0, default=120.0, metavar="SECONDS", help="For one attempt of one request."
        ),
        click.option("--concurrency", type=click.IntRange(1), default=50, help="Requests at once, per server."),
        click.option("--rpm", type=ABOVE_0, metavar="N", help="Requests per minute, per server."),
        click.option("--tpm", type=ABOVE_0, metavar="N", help="Tokens per minute, per server."),
        click.option("--budget", metavar="DOLLARS", help="Stop asking before this is spent."),
        click.option("--budget-tokens", type=int, metavar="N", help="Stop asking before so many tokens are used."),
        click.option("--prices", metavar="FILE", help="A price list of your own."),
    )


def how_of(options: dict[str, Any]) -> How:
    """How judges are asked, as far as these options say."""
    settings = Settings(temperature=options["temperature"], max_tokens=options["max_tokens"])
    return How(language=options["language"], settings=settings, seed=options["seed"])


def connections_of(options: dict[str, Any]) -> Connections:
    """The access to models that these options describe."""
    money, tokens = options["budget"], options["budget_tokens"]
    budget = None
    if money is not None or tokens is not None:
        dollars = None if money is None else number(money, "--budget")
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


def _with(command: Command, *options: Callable[[Command], Command]) -> Command:
    """The command with options in this order: Click takes the last one as the first."""
    for option in reversed(options):
        command = option(command)
    return command
