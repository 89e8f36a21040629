"""evenhand view: the workbench in the browser, served until Ctrl-C unless a service is there already."""

from __future__ import annotations

import urllib.error
import urllib.request
import webbrowser
from pathlib import Path
from urllib.parse import quote

import click

from evenhand.cli.output import print_message
from evenhand.cli.serve import STORE_HELP, load_workbench_server
from evenhand.errors import Fault, InputError

ASK_SECONDS = 2.0


@click.command("view")
@click.argument("run", metavar="[RUN]", required=False)
@click.option("--port", default=8321, show_default=True, type=click.IntRange(1, 65535), help="The port.")
@click.option("--store", metavar="FOLDER|URL", help=STORE_HELP)
@click.option("--no-browser", is_flag=True, help="Only say where it is.")
def view_command(run: str | None, port: int, store: str | None, no_browser: bool) -> None:
    """Open the workbench in the browser, on the page of RUN if one is named.

    Where a service answers on the port already, its workbench is opened; else one is served until Ctrl-C.
    """
    base = f"http://127.0.0.1:{port}"
    address = base + (f"/runs/{quote(run, safe='')}" if run else "/")

    def announce(line: str) -> None:
        print_message(line, err=True)
        if not no_browser:
            webbrowser.open(address)

    if _is_service_answering(base):
        _refuse_missing_run(run, address)
        announce(f"a service answers already: {address}")
        return
    serve_workbench = load_workbench_server()
    from evenhand.service.settings import ServiceSettings

    settings = ServiceSettings(port=port, store=store if store is None or "://" in store else Path(store))
    if run:
        from evenhand.workflows.runs import load_run_setup

        load_run_setup(settings.store, run)  # An error where there is no such run, before anything is served.
    serve_workbench(settings, lambda: announce(f"workbench: {address}; Ctrl-C stops it"))


def _refuse_missing_run(run: str | None, address: str) -> None:
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


def _is_service_answering(base: str) -> bool:
    """Whether it is one of ours that has the port."""
    try:
        with urllib.request.urlopen(f"{base}/healthz", timeout=ASK_SECONDS) as answer:
            return bool(answer.read(16) == b"ok")
    except OSError:  # Nobody there, or something else.
        return False
