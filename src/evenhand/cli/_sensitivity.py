"""evenhand sensitivity: whether the ranking of variants survives other weights."""

from __future__ import annotations

import click

from evenhand.cli._text import tell_json, while_read


@click.command("sensitivity")
@click.argument("run", metavar="RUN")
@click.option("--draws", type=int, default=10_000, show_default=True, help="How many weightings are drawn.")
@click.option("--seed", type=click.IntRange(min=0), default=0, show_default=True, help="Decides which are drawn.")
@click.option("--spread", type=float, default=0.2, show_default=True, help="How far near weights stray, 0 to 1.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
def command(run: str, draws: int, seed: int, spread: float, as_data: bool) -> None:
    """Rank the variants of RUN under other weights: its id, the beginning of one, "latest" or "latest:NAME"."""
    from evenhand.auditing import sensitivity_of_run  # noqa: PLC0415
    from evenhand.cli._stored import stored  # noqa: PLC0415

    with stored() as store:
        found = sensitivity_of_run(store, run, draws=draws, seed=seed, spread=spread)
    from evenhand.compare import sensitivity_json  # noqa: PLC0415

    with while_read():
        if as_data:
            tell_json(sensitivity_json(found))
        else:
            from evenhand.cli._sensitivity_view import show_sensitivity  # noqa: PLC0415

            show_sensitivity(sensitivity_json(found))
