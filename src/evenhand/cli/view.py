"""evenhand view: the workbench in the browser, served until Ctrl-C unless a service is there already."""

from __future__ import annotations

import urllib.request
import webbrowser
from pathlib import Path
from urllib.parse import quote

import click

from evenhand.cli.output import print_message
from evenhand.cli.serve import STORE_HELP, load_workbench_server

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
        announce(f"a service answers already: {address}")
        return
    serve_workbench = load_workbench_server()
    from evenhand.service.settings import ServiceSettings

    settings = ServiceSettings(port=port, store=store if store is None or "://" in store else Path(store))
    serve_workbench(settings, lambda: announce(f"workbench: {address}; Ctrl-C stops it"))


def _is_service_answering(base: str) -> bool:
    """Whether it is one of ours that has the port."""
    try:
        with urllib.request.urlopen(f"{base}/healthz", timeout=ASK_SECONDS) as answer:
            return bool(answer.read(16) == b"ok")
    except OSError:  # Nobody there, or something else.
        return False
