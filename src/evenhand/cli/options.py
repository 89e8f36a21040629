"""Options of every command that asks judges, and the values that they describe."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

import click

from evenhand.cli.output import POSITIVE_NUMBER, FiniteNumberOption
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.requests import ModelSettings
from evenhand.workflows.inputs import parse_user_input_number
from evenhand.workflows.models import ConnectionOptions
from evenhand.workflows.score import UserScoreLimits

ClickCommand = TypeVar("ClickCommand", bound=Callable[..., Any])
CommandDecorator = Callable[[ClickCommand], ClickCommand]


def add_record_options(command: ClickCommand) -> ClickCommand:
    """Where replies are written to, or taken from."""
    return _apply_click_options(
        command,
        click.option("--record", metavar="FILE", help="Write every reply to this file."),
        click.option("--replay", metavar="FILE", help="Take every reply from this file; nothing is asked."),
    )


def add_prompt_options(temperature: str = "0 by default.") -> CommandDecorator[Any]:
    """In which words judges are asked, and how they are to answer; what is said of the temperature differs."""
    language = "Language in which judges are asked, or a folder of your own prompts; reports stay English."
    options = (
        click.option("--language", default="en", metavar="en|zh|DIR", help=language),
        click.option("--seed", type=int, default=0, help="Decides the order in which outputs are shown."),
        click.option("--temperature", type=FiniteNumberOption(0, 2), help=temperature),
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


def read_judge_command_options(options: dict[str, Any]) -> JudgeOptions:
    """How judges are asked, as far as these options say."""
    settings = ModelSettings(temperature=options["temperature"], max_tokens=options["max_tokens"])
    return JudgeOptions(language=options["language"], settings=settings, seed=options["seed"])


def read_connection_command_options(options: dict[str, Any]) -> ConnectionOptions:
    """The access to models that these options describe."""
    files = {name: Path(options[name]) if options[name] else None for name in ("prices", "record", "replay")}
    budget = options["budget"]
    return ConnectionOptions(
        seconds=options["timeout"],
        concurrency=options["concurrency"],
        requests_per_minute=options["rpm"],
        tokens_per_minute=options["tpm"],
        dollars=None if budget is None else parse_user_input_number(budget, "--budget"),
        tokens=options["budget_tokens"],
        **files,
    )


def read_limit_command_options(min_score: str | None, min_grade: str | None, strict: bool) -> UserScoreLimits:
    """What scores must reach."""
    least = None if min_score is None else parse_user_input_number(min_score, "--min-score")
    return UserScoreLimits(least=least, grade=min_grade, strict=strict)


def _apply_click_options(command: ClickCommand, *options: Callable[[ClickCommand], ClickCommand]) -> ClickCommand:
    """The command with options in this order: Click takes the last one as the first."""
    for option in reversed(options):
        command = option(command)
    return command
