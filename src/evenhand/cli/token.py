"""evenhand token: who may call the service, made, listed and withdrawn."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from evenhand.cli.contest_places import add_store_option
from evenhand.cli.output import print_json, print_message, print_until_reader_leaves

if TYPE_CHECKING:
    from evenhand.workflows.tokens import TokenRole

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
