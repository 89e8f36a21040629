"""evenhand models: which models can be asked, what each supports and costs, by a small test call."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from pathlib import Path

import click

from evenhand.cli.output import POSITIVE_NUMBER, print_json, print_until_reader_leaves
from evenhand.cli.screen import Screen
from evenhand.models.connections import ModelProbe
from evenhand.models.requests import EMBEDDED
from evenhand.workflows.models import ProbeModelsResult, probe_models


@click.command("models")
@click.argument("names", metavar="[NAME...]", nargs=-1)
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@click.option("--timeout", type=POSITIVE_NUMBER, default=60.0, metavar="SECONDS", help="60 by default.")
@click.option("--prices", metavar="FILE", help="A price list of your own.")
def models_command(names: tuple[str, ...], as_data: bool, timeout: float, prices: str | None) -> int:
    """Say which models can be asked.

    Without a NAME: which providers are set up, and what each offers. With one: whether it answers a small test
    question, whether it keeps to a schema, gives logprobs and takes a seed, how long it took, and its price.

    Exit code: 0 all that was named can be reached; 1 not all; 2 bad input.
    """
    probed = asyncio.run(probe_models(names, seconds=timeout, prices=Path(prices) if prices else None))
    with print_until_reader_leaves():
        print_json(probed.to_json()) if as_data else print_models(probed, alone=not names)
    return 0 if not names or all(one.reachable for one in probed.probes) else 1


MOST_OFFERED = 12
YES_NO_UNKNOWN = {True: "yes", False: "no", None: "unknown"}
PROVIDER_KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def print_models(probed: ProbeModelsResult, *, alone: bool) -> None:
    """Print one block for providers, or one table for models that were named."""
    screen = Screen()
    if alone:
        _print_providers(screen, probed)
    else:
        _print_probed_models(screen, probed.probes)
    screen.line(f"prices in US dollars per million tokens, as of {probed.prices.as_of.isoformat()}", dim=True, gap=True)


def _print_providers(screen: Screen, probed: ProbeModelsResult) -> None:
    for one in probed.probes:
        if one.name == EMBEDDED:
            found = one.model.startswith("vectors")
            vectors = "rules and word vectors" if found else "rules; word vectors are an extra"
            screen.line(f"{one.name}: always there, without a key: {vectors}")
            continue
        state = f"reachable, offers {len(one.offers)} models" if one.reachable else f"not reachable: {one.why}"
        screen.line(f"{one.name}: {state}")
        for name in one.offers[:MOST_OFFERED]:
            screen.line(f"{one.name}/{name}", indent=2)
        if len(one.offers) > MOST_OFFERED:
            screen.line(f"and {len(one.offers) - MOST_OFFERED} more", indent=2)
    for provider, key in PROVIDER_KEYS.items():
        if provider not in probed.asked:
            screen.line(f"{provider}: not set up ({key} is not set)")
    screen.line("evenhand models NAME asks one model a small test question.", gap=True)


def _print_probed_models(screen: Screen, probes: Sequence[ModelProbe]) -> None:
    reached = [one for one in probes if one.reachable]
    prices = [f"{one.price.input:f} / {one.price.output:f}" if one.price else "unknown" for one in reached]
    columns = {
        "model": [one.name for one in reached],
        "schema": [YES_NO_UNKNOWN[one.structured] for one in reached],
        "logprobs": [YES_NO_UNKNOWN[one.logprobs] for one in reached],
        "seed": [YES_NO_UNKNOWN[one.seed] for one in reached],
        "seconds": ["" if one.seconds is None else f"{one.seconds:.1f}" for one in reached],
        "price in / out": prices,
    }
    if reached:
        screen.table(columns, right=("seconds",))
    for one in probes:
        if not one.reachable:
            screen.line(f"{one.name}: not reachable: {one.why.removeprefix(f'{one.name}: ')}")
