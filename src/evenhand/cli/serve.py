"""evenhand serve: the service on this machine, or, with tokens, for others."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from evenhand.cli.output import POSITIVE_NUMBER, print_message
from evenhand.errors import Fault, InputError

if TYPE_CHECKING:
    from evenhand.service.settings import ServiceSettings

HOST_HELP = "Where to listen; what others can reach needs tokens."
STORE_HELP = "Where everything is kept. Without it: EVENHAND_DATABASE_URL, else .evenhand."
BUDGET_HELP = "What judging and contests may cost until it is restarted; each run then names a budget of its own."
GAP_HELP = "How far the clock may be from the last sign of a contest; after a larger jump it is left alone."
OVER_ALL = "per model, of all workers of the store."
AT_LEAST_1 = click.IntRange(1)


@click.command("serve")
@click.option("--host", default="127.0.0.1", show_default=True, help=HOST_HELP)
@click.option("--port", default=8321, show_default=True, type=click.IntRange(1, 65535), help="The port.")
@click.option("--store", metavar="FOLDER|URL", help=STORE_HELP)
@click.option("--concurrency", default=50, show_default=True, type=AT_LEAST_1, help=f"Calls at once, {OVER_ALL}")
@click.option("--rpm", type=POSITIVE_NUMBER, metavar="N", help=f"Requests per minute, {OVER_ALL}")
@click.option("--tpm", type=POSITIVE_NUMBER, metavar="N", help=f"Tokens per minute, {OVER_ALL}")
@click.option("--budget", metavar="DOLLARS", help=BUDGET_HELP)
@click.option("--body-limit", default=2_000_000, show_default=True, type=AT_LEAST_1, help="Bytes of one request.")
@click.option("--rate-limit", default=600, show_default=True, type=AT_LEAST_1, help="Requests a minute of one token.")
@click.option("--at-once", default=200, show_default=True, type=AT_LEAST_1, help="Requests under way; more must wait.")
@click.option("--runs-at-once", default=2, show_default=True, type=AT_LEAST_1, help="Runs; others wait for their turn.")
@click.option("--allow-private-hooks", is_flag=True, help="Let webhooks go to private addresses and over plain http.")
@click.option("--longest-gap", default="7 days", show_default=True, metavar="TIME", help=GAP_HELP)
def serve_command(**options: Any) -> None:
    """Serve the workbench and the REST API, and play the contests in the store as they become due.

    Ctrl-C stops it; whatever was received is kept, and what is due is played when it starts again.
    """
    serve_workbench = load_workbench_server()
    from evenhand.service.settings import ServiceSettings
    from evenhand.workflows.contest_files import parse_longest_gap
    from evenhand.workflows.inputs import parse_user_input_number
    from evenhand.workflows.models import ConnectionOptions

    dollars: Fraction | None = (
        None if options["budget"] is None else parse_user_input_number(options["budget"], "--budget")
    )
    place = options["store"]
    settings = ServiceSettings(
        host=options["host"],
        port=options["port"],
        store=place if place is None or "://" in place else Path(place),
        connect=ConnectionOptions(
            concurrency=options["concurrency"],
            requests_per_minute=options["rpm"],
            tokens_per_minute=options["tpm"],
            dollars=dollars,
        ),
        body_bytes=options["body_limit"],
        requests_per_minute=options["rate_limit"],
        requests_at_once=options["at_once"],
        runs_at_once=options["runs_at_once"],
        allow_private_hooks=options["allow_private_hooks"],
        longest_gap=parse_longest_gap(options["longest_gap"]),
    )
    line = f"serving on http://{settings.host}:{settings.port} (workbench: /, API: /docs); Ctrl-C stops it"
    serve_workbench(settings, lambda: print_message(line, err=True))


def load_workbench_server() -> Callable[[ServiceSettings, Callable[[], None]], None]:
    """The function that serves until it is stopped; an InputError where its packages are not installed."""
    try:
        from evenhand.service.server import serve_until_stopped
    except ImportError as error:
        hint = "pip install '/path/to/evenhand[service]'"
        raise InputError(Fault(f"the service needs packages that are not installed ({error.name})", hint)) from None
    from evenhand.web.workbench import add_workbench

    return partial(serve_until_stopped, extend=add_workbench)
