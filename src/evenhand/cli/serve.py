"""evenhand serve, view, token and mcp: the service and its tokens, the workbench, and the tools for an assistant."""

from __future__ import annotations

import asyncio
import os
import socket
import urllib.error
import urllib.request
import webbrowser
from collections.abc import Callable
from contextlib import suppress
from dataclasses import asdict
from fractions import Fraction
from functools import partial
from http.client import HTTPException
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

import click
from click.core import ParameterSource

from evenhand.cli.contest_places import add_store_option
from evenhand.cli.output import POSITIVE_NUMBER, print_json, print_message, print_until_reader_leaves
from evenhand.errors import Fault, InputError

if TYPE_CHECKING:
    from evenhand.service.settings import ServiceSettings
    from evenhand.workflows.tokens import TokenRole

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
    serve_workbench = load_workbench_for_command()
    from evenhand.service.settings import ServiceSettings
    from evenhand.workflows.contest_files import parse_clock_gap_setting
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
        longest_gap=parse_clock_gap_setting(options["longest_gap"]),
    )
    line = f"serving on http://{settings.host}:{settings.port} (workbench: /, API: /docs); Ctrl-C stops it"
    serve_workbench(settings, lambda: print_message(line, err=True))


def load_workbench_for_command() -> Callable[[ServiceSettings, Callable[[], None]], None]:
    """The function that serves until it is stopped; an InputError where its packages are not installed."""
    try:
        from evenhand.service.app import serve_until_stopped
    except ImportError as error:
        hint = "pip install '/path/to/evenhand[service]'"
        raise InputError(Fault(f"the service needs packages that are not installed ({error.name})", hint)) from None
    from evenhand.web.workbench import add_workbench

    return partial(serve_until_stopped, extend=add_workbench)


ASK_SECONDS = 2.0
PORTS_TRIED = 20


@click.command("view")
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--port", default=8321, show_default=True, type=click.IntRange(1, 65535), help="The port.")
@click.option("--store", metavar="FOLDER|URL", help=STORE_HELP)
@click.option("--no-browser", is_flag=True, help="Only say where it is.")
def view_command(run: str | None, port: int, store: str | None, no_browser: bool) -> None:
    """Open the workbench in the browser, on the page of RUN if one is named.

    Where a service over the same store answers on the port already, its workbench is opened; else one is served until
    Ctrl-C. Where the port serves another store, the next free one is taken, unless you named it.
    """
    from evenhand.workflows.stores import digest_user_store_place

    is_named = click.get_current_context().get_parameter_source("port") is ParameterSource.COMMANDLINE
    found, is_served = _find_view_port(port, digest_user_store_place(store), is_named=is_named)
    if found != port:
        print_message(f"port {port} serves another store; port {found} is taken for this one", err=True)
    base = f"http://127.0.0.1:{found}"
    address = base + (f"/runs/{quote(run, safe='')}" if run else "/")

    def announce(line: str) -> None:
        print_message(line, err=True)
        if not no_browser:
            webbrowser.open(address)

    if is_served:
        _refuse_missing_run_option(run, address)
        announce(f"a service answers already: {address}")
        return
    serve_workbench = load_workbench_for_command()
    from evenhand.service.settings import ServiceSettings

    settings = ServiceSettings(port=found, store=store if store is None or "://" in store else Path(store))
    if run:
        from evenhand.workflows.runs import load_run_setup

        load_run_setup(settings.store, run)  # An error where there is no such run, before anything is served.
    serve_workbench(settings, lambda: announce(f"workbench: {address}; Ctrl-C stops it"))


def _refuse_missing_run_option(run: str | None, address: str) -> None:
    """An error where a service says that it has no such run."""
    try:
        urllib.request.urlopen(urllib.request.Request(address, method="HEAD"), timeout=ASK_SECONDS).close()
    except urllib.error.HTTPError as problem:
        problem.close()
        if run and problem.code == 404:
            hint = "evenhand runs list shows those of the store in this folder"
            raise InputError(Fault(f"the service has no run {run!r}", hint, where=address)) from None
    except OSError:
        pass  # The browser will say what is wrong.


def _find_view_port(port: int, store: str, *, is_named: bool) -> tuple[int, bool]:
    """The port of a workbench over the store, and whether it is served already; another store's is left alone."""
    served = _read_served_store_option(port)
    if served is None or served == store:
        return port, served is not None
    if is_named:
        raise InputError(Fault(f"port {port} serves another store", "name another one: --port N"))
    for other in range(port + 1, min(port + 1 + PORTS_TRIED, 65536)):
        served = _read_served_store_option(other)
        if served == store or (served is None and _is_free_port_option(other)):
            return other, served is not None
    raise InputError(Fault(f"port {port} and those after it serve other stores", "name a free one: --port N"))


def _read_served_store_option(port: int) -> str | None:
    """Which store a service of ours on a port is over, "" where it does not say; None where there is none of ours."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/healthz", timeout=ASK_SECONDS) as answer:
            is_ours = answer.read(16) == b"ok"
            return answer.headers.get("evenhand-store", "") if is_ours else None
    except (OSError, HTTPException):  # Nobody there, or something else.
        return None


def _is_free_port_option(port: int) -> bool:
    with socket.socket() as tried:
        tried.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            tried.bind(("127.0.0.1", port))
        except OSError:
            return False
    return True


ROLES = ("operator", "submitter", "reader")  # As workflows.tokens has them, which is loaded when a command runs.


@click.group("token")
def token_command() -> None:
    """Make, list and revoke the tokens with which others call `evenhand serve`."""


@token_command.command("create")
@click.option("--role", type=click.Choice(ROLES), required=True, help="What it may do.")
@click.option("--name", required=True, metavar="NAME", help="Whom it stands for; a submitter's is the author's name.")
@click.option("--expires-in", metavar="TIME", help="How long it is good, as in '30 days'. Without it: until revoked.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_store_option
def create_token_command(role: TokenRole, name: str, expires_in: str | None, as_data: bool, store: str | None) -> None:
    """Make a token and print it. It is shown this once: only a hash of it is kept."""
    from evenhand.workflows.tokens import create_service_token

    made = create_service_token(store, role=role, name=name, expires_in=expires_in)
    with print_until_reader_leaves():
        if as_data:
            print_json({**asdict(made.token), "secret": made.secret})
            return
        print_message(made.secret)
        until = f"until {made.token.expires}" if made.token.expires else "until it is revoked"
        about = f"token {made.token.id}: {role} {made.token.name}, good {until}"
        print_message(f"{about}; it is not shown again", err=True)


@token_command.command("list")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_store_option
def list_tokens_command(as_data: bool, store: str | None) -> None:
    """List the tokens, the newest first; those that expired or were revoked too."""
    from evenhand.cli.screen import Screen
    from evenhand.workflows.tokens import NO_TOKENS, list_service_tokens

    found = list_service_tokens(store)
    with print_until_reader_leaves():
        if as_data:
            print_json([asdict(one) for one in found])
        elif not found:
            print_message(NO_TOKENS)
        else:
            columns = {name: [str(getattr(one, name)) for one in found] for name in ("id", "role", "name")}
            for name in ("made", "expires", "revoked"):
                columns[name] = [(getattr(one, name) or "")[:16].replace("T", " ") for one in found]
            Screen().table({name: cells for name, cells in columns.items() if any(cells)})


@token_command.command("revoke")
@click.argument("ids", metavar="ID...", nargs=-1, required=True)
@add_store_option
def revoke_tokens_command(ids: tuple[str, ...], store: str | None) -> None:
    """Withdraw tokens: from now on they open nothing. To replace one, create another first."""
    from evenhand.workflows.tokens import revoke_service_tokens

    revoke_service_tokens(store, ids)
    for id in ids:
        print_message(f"token {id} is revoked")


FOLDER_HELP = "The project: files are read below it, and what is stored is stored in it. Default: where it starts."
PROJECT_STORE_HELP = (
    "Where evaluations and runs are kept. Without it: EVENHAND_DATABASE_URL, else .evenhand in the folder."
)
JUDGE_HELP = "A judge that is asked where none is named, and may be named whatever its kind; may be repeated."
TRUST_HELP = "Let evals in the folder start programs, import Python and call addresses, as evenhand run does."


@click.command("mcp")
@click.option("--folder", default=".", metavar="DIR", help=FOLDER_HELP)
@click.option("--store", metavar="FOLDER|URL", help=PROJECT_STORE_HELP)
@click.option("--judge", "judges", multiple=True, metavar="NAME", help=JUDGE_HELP)
@click.option("--budget", metavar="DOLLARS", help="What judging may cost in all, and each run.")
@click.option("--trust-evals", is_flag=True, help=TRUST_HELP)
def mcp_command(folder: str, store: str | None, judges: tuple[str, ...], budget: str | None, trust_evals: bool) -> None:
    """Serve tools to an assistant over the Model Context Protocol: it starts this command and talks to it.

    The tools are judge, score, explain_scorecard, list_rubrics, check_rubric, compare_runs and run_eval.
    """
    try:
        from evenhand.mcp.server import serve_assistant_over_stdio
    except ImportError as error:
        hint = "pip install 'evenhand[mcp]'"
        raise InputError(Fault(f"evenhand mcp needs packages that are not installed ({error.name})", hint)) from None
    from evenhand.workflows.assistant import ConfinedUserProject
    from evenhand.workflows.inputs import parse_user_input_number
    from evenhand.workflows.models import ConnectionOptions

    root = Path(folder)
    if not root.is_dir():
        raise InputError(Fault("there is no such folder", "the folder of the project", where=f"--folder {folder}"))
    dollars = None if budget is None else parse_user_input_number(budget, "--budget")
    place = store if store is None or "://" in store else Path(store).absolute()
    os.chdir(root)  # Relative paths, and the store, mean the same as for commands that are run there.
    project = ConfinedUserProject(
        folder=Path.cwd(), store=place, judges=judges, trust_evals=trust_evals, dollars=dollars
    )
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_assistant_over_stdio(project, ConnectionOptions(dollars=dollars)))
