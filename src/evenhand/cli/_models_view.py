"""Models on a terminal: who can be asked, what each supports, what it costs."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.cli._screen import Screen
from evenhand.judging import EMBEDDED
from evenhand.judging.models import Prices, Probe

MOST_OFFERED = 12
KEYS = {"anthropic": "ANTHROPIC_API_KEY", "openai": "OPENAI_API_KEY"}


def show_models(probes: Sequence[Probe], prices: Prices, *, alone: bool, unset: Sequence[str]) -> None:
    """Print one block for providers, or one table for models that were named."""
    screen = Screen()
    if alone:
        _show_providers(screen, probes, unset)
    else:
        _show_named(screen, probes)
    screen.gap()
    screen.line(f"prices in US dollars per million tokens, as of {prices.as_of.isoformat()}", dim=True)


def _show_providers(screen: Screen, probes: Sequence[Probe], unset: Sequence[str]) -> None:
    for one in probes:
        if one.name == EMBEDDED:
            with_vectors = one.model.startswith("vectors")
            vectors = "rules and word vectors" if with_vectors else "rules; word vectors are an extra"
            screen.line(f"{one.name}: always there, without a key: {vectors}")
            continue
        state = f"reachable, offers {len(one.offers)} models" if one.reachable else f"not reachable: {one.why}"
        screen.line(f"{one.name}: {state}")
        for name in one.offers[:MOST_OFFERED]:
            screen.line(f"{one.name}/{name}", indent=2)
        if len(one.offers) > MOST_OFFERED:
            screen.line(f"and {len(one.offers) - MOST_OFFERED} more", indent=2)
    for provider in unset:
        screen.line(f"{provider}: not set up ({KEYS[provider]} is not set)")
    screen.gap()
    screen.line("evenhand models NAME asks one model a small test question.")


def _show_named(screen: Screen, probes: Sequence[Probe]) -> None:
    reached = [one for one in probes if one.reachable]
    if reached:
        screen.table(
            {
                "model": [one.name for one in reached],
                "schema": [_yes(one.structured) for one in reached],
                "logprobs": [_yes(one.logprobs) for one in reached],
                "seed": [_yes(one.seed) for one in reached],
                "seconds": ["" if one.seconds is None else f"{one.seconds:.1f}" for one in reached],
                "price in / out": [_price(one) for one in reached],
            },
            right=("seconds",),
        )
    for one in probes:
        if not one.reachable:
            screen.line(f"{one.name}: not reachable: {one.why.removeprefix(f'{one.name}: ')}")


def _yes(known: bool | None) -> str:
    return "unknown" if known is None else "yes" if known else "no"


def _price(one: Probe) -> str:
    return "unknown" if one.price is None else f"{one.price.input:f} / {one.price.output:f}"
