"""evenhand mcp: the tools for an assistant, over standard input and output."""

from __future__ import annotations

import asyncio
import os
from contextlib import suppress
from pathlib import Path

import click

from evenhand.errors import Fault, InputError

FOLDER_HELP = "The project: files are read below it, and what is stored is stored in it. Default: where it starts."
STORE_HELP = "Where evaluations and runs are kept. Without it: EVENHAND_DATABASE_URL, else .evenhand in the folder."
JUDGE_HELP = "A judge that is asked where none is named, and may be named whatever its kind; may be repeated."
TRUST_HELP = "Let evals in the folder start programs, import Python and call addresses, as evenhand run does."


@click.command("mcp")
@click.option("--folder", default=".", metavar="DIR", help=FOLDER_HELP)
@click.option("--store", metavar="FOLDER|URL", help=STORE_HELP)
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
    from evenhand.workflows.assistant import AssistantProject
    from evenhand.workflows.inputs import parse_user_input_number
    from evenhand.workflows.models import ConnectionOptions

    root = Path(folder)
    if not root.is_dir():
        raise InputError(Fault("there is no such folder", "the folder of the project", where=f"--folder {folder}"))
    dollars = None if budget is None else parse_user_input_number(budget, "--budget")
    place = store if store is None or "://" in store else Path(store).absolute()
    os.chdir(root)  # Relative paths, and the store, mean the same as for commands that are run there.
    project = AssistantProject(folder=Path.cwd(), store=place, judges=judges, trust_evals=trust_evals, dollars=dollars)
    with suppress(KeyboardInterrupt):
        asyncio.run(serve_assistant_over_stdio(project, ConnectionOptions(dollars=dollars)))
