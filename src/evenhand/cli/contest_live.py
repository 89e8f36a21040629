"""evenhand contest create, submit, challenge, watch, show and list: contests that take submissions at any time."""

from __future__ import annotations

import json
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from evenhand.cli.contest_places import (
    ContestCommandPlace,
    ContestTerms,
    ContestViewer,
    StoreCommandPlace,
    add_place_options,
    add_store_option,
    open_contest_command_place,
)
from evenhand.cli.output import (
    FiniteNumberOption,
    escape_printed_json,
    escape_terminal_text,
    print_json,
    print_message,
    print_until_reader_leaves,
)
from evenhand.errors import Fault, InputError, ServiceBusyError

Json = dict[str, Any]
MESSAGE_STATES = ("pending", "delivered", "dead")  # As the store has them, which is loaded when a command runs.
FOR_HELP = "As this author may see it now: their own submissions, and what is public."
PUBLIC_HELP = "As anybody may see it now; safe to publish at any moment."


@click.command("create", short_help="Begin a contest that takes submissions at any time.")
@click.argument("task", metavar="TASK")
@click.option("--payment-hook", metavar="URL", help="Where to send the payment, once it is released.")
@click.option("--operator-hook", metavar="URL", help="Where to send each change of state.")
@click.option("--allow-private-hooks", is_flag=True, help="Let these be private addresses, or plain http.")
@click.option("--again", metavar="NAME", help="Another contest of this task, by this name, with a payment of its own.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_place_options
def create_contest_command(task: str, store: str | None, server: str | None, as_data: bool, **terms: Any) -> None:
    """Begin the contest of TASK: it takes submissions from now on, and `evenhand serve` plays it. Prints its id.

    Where the task names no dimensions, its first judge chooses them now.
    """
    from evenhand.contest.read_task import load_task

    place = open_contest_command_place(store, server)
    id = escape_terminal_text(place.create_contest(Path(task), ContestTerms(**terms)))
    print_json({"id": id}) if as_data else print_message(id)
    if note := load_task(Path(task), os.environ)[0].challenge_note:
        print_message(f"\n{note}: delete this contest and create it with them", err=True)
    print_message(f"\nto hand in: evenhand contest submit {id} FILE", err=True)
    _print_who_plays(place)


@click.command("submit")
@click.argument("contest", metavar="ID")
@click.argument("file", metavar="FILE")
@click.option("--author", metavar="NAME", help="Whose it is. Without it: as FILE says; a service knows it.")
@click.option("--notify", metavar="URL", help="Where to send feedback on it.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_place_options
def submit_text_command(contest: str, file: str, author: str | None, notify: str | None, **options: Any) -> None:
    """Hand in FILE, a text file, for a contest. It has been received when the receipt is printed."""
    from evenhand.contest.read_submissions import load_submission_text

    place = open_contest_command_place(options["store"], options["server"])
    text, named = load_submission_text(Path(file))
    receipt = place.submit_text(contest, text, author or named, notify)
    _print_receipt(receipt, as_data=options["as_data"])
    _print_who_plays(place)


@click.command("challenge", short_help="Challenge the ranking of a contest.")
@click.argument("contest", metavar="ID")
@click.option("--reason", metavar="TEXT", help="What is doubted.")
@click.option("--reason-file", metavar="FILE", help="The same from a text file.")
@click.option("--author", metavar="NAME", help="Who doubts it; a service knows it from the token.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_place_options
def challenge_ranking_command(contest: str, reason: str | None, reason_file: str | None, **options: Any) -> None:
    """Challenge the ranking of a contest: judges who did not judge before look at it again, once."""
    if (reason is None) == (reason_file is None):
        raise InputError(Fault("a challenge has one reason", "--reason TEXT or --reason-file FILE"))
    place = open_contest_command_place(options["store"], options["server"])
    if reason_file is not None:
        from evenhand.contest.read_submissions import load_submission_text

        reason = load_submission_text(Path(reason_file))[0]
    receipt = place.challenge_ranking(contest, reason or "", options["author"])
    _print_receipt(receipt, as_data=options["as_data"])
    _print_who_plays(place)


@click.command("watch", short_help="Print what happens in a contest until it is closed.")
@click.argument("contest", metavar="ID")
@click.option("--for", "author", metavar="AUTHOR", help=FOR_HELP)
@click.option("--public", is_flag=True, help=PUBLIC_HELP)
@click.option(
    "--every", type=FiniteNumberOption(0.1), default=2.0, show_default=True, metavar="S", help="Seconds between looks."
)
@click.option("--json", "as_data", is_flag=True, help="Print a JSON object on each line.")
@add_place_options
def watch_contest_command(contest: str, author: str | None, public: bool, every: float, **options: Any) -> None:
    """Print what happens in a contest, from its beginning on, until it is closed or Ctrl-C.

    Exit code: 0 it is closed; 2 bad input; 130 stopped by Ctrl-C.
    """
    from evenhand.cli.contest_view_tables import print_contest_change
    from evenhand.workflows.live_contest import watch_contest

    place, viewer = (
        open_contest_command_place(options["store"], options["server"]),
        _read_viewer_options(author, public),
    )
    look = _look_again_to_print(place, contest, viewer)
    with print_until_reader_leaves():
        for change in watch_contest(look, every=every):
            if options["as_data"]:
                line = escape_printed_json(json.dumps(change, ensure_ascii=False))
                click.echo(line)
            else:
                print_contest_change(change)


@click.command("show", short_help="Show a contest as its operator, an author or anybody sees it.")
@click.argument("contest", metavar="ID")
@click.option("--for", "author", metavar="AUTHOR", help=FOR_HELP)
@click.option("--public", is_flag=True, help=PUBLIC_HELP)
@click.option("--json", "as_data", is_flag=True, help="Print the stable JSON.")
@add_place_options
def show_contest_command(contest: str, author: str | None, public: bool, **options: Any) -> None:
    """Show a contest as its operator, an author or anybody may see it.

    It is named by its id, the beginning of one, "latest" or "latest:NAME".
    """
    from evenhand.cli.contest_tables import mask_contest_to_print, print_contest
    from evenhand.cli.contest_view_tables import mask_printed_view, print_contest_view

    place = open_contest_command_place(options["store"], options["server"])
    found = place.load_contest(contest, _read_viewer_options(author, public))
    whole = "effects" in found  # A service shows others than operators a view.
    with print_until_reader_leaves():
        if options["as_data"]:
            print_json(mask_contest_to_print(found) if whole else mask_printed_view(found))
        else:
            print_contest(found) if whole else print_contest_view(found)
    if found["state"] != "closed" and (why := place.explain_waiting(contest)):
        print_message(f"\n{escape_terminal_text(why)}", err=True)


@click.command("list")
@click.option("--name", metavar="NAME", help="Only the contests of this task.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_place_options
def list_contests_command(name: str | None, as_data: bool, store: str | None, server: str | None) -> None:
    """List the contests of a store or a service, the newest first."""
    from evenhand.cli.contest_view_tables import print_contest_list

    found = open_contest_command_place(store, server).list_contests(name)
    with print_until_reader_leaves():
        print_json(found) if as_data else print_contest_list(found, name)


@click.command("messages", short_help="List what others are told of contests, and send it again.")
@click.argument("ids", metavar="[ID]...", nargs=-1)
@click.option("--state", type=click.Choice(MESSAGE_STATES), help="Only these; dead ones were given up.")
@click.option("--replay", is_flag=True, help="Send the messages with these IDs once more, under the same key.")
@click.option("--json", "as_data", is_flag=True, help="Print JSON.")
@add_store_option
def contest_messages_command(ids: tuple[str, ...], state: str | None, replay: bool, **options: Any) -> None:
    """List what others were, or are to be, told of all contests, or of those with these IDs; the newest first.

    With --replay the IDs are those of messages.
    """
    from evenhand.cli.contest_view_tables import print_hook_messages
    from evenhand.workflows.webhooks import list_hook_messages, read_message_body, replay_hook_messages

    store = options["store"]
    if replay:
        if not ids or state is not None:
            raise InputError(Fault("name the messages to send again", "--replay and the ids of messages"))
        replay_hook_messages(store, ids)
        for id in ids:
            print_message(f"message {escape_terminal_text(id)} is sent again")
        _print_who_plays(StoreCommandPlace(store), "sends them")
        return
    found = [row for id in (ids or (None,)) for row in list_hook_messages(store, contest=id, state=state)]
    with print_until_reader_leaves():
        if options["as_data"]:
            print_json([{**row, "body": read_message_body(row)} for row in found])
        else:
            print_hook_messages(found)


@click.command("hook-secret", short_help="Print the secret that signs messages to an address.")
@click.argument("url", metavar="URL")
def hook_secret_command(url: str) -> None:
    """Print the secret with which messages to URL are signed, for whoever receives there.

    It follows from EVENHAND_WEBHOOK_SECRET, which stays with you.
    """
    from evenhand.workflows.webhooks import WebhookTargets, derive_hook_secret

    target = WebhookTargets(allow_private=True).check(url)
    print_message(derive_hook_secret(str(target)))


LIVE_COMMANDS = (
    create_contest_command, submit_text_command, challenge_ranking_command, watch_contest_command,
    show_contest_command, list_contests_command, contest_messages_command, hook_secret_command,
)  # fmt: skip


def _read_viewer_options(author: str | None, public: bool) -> ContestViewer:
    if author is not None and public:
        raise InputError(Fault("whose eyes?", "leave out --for or --public"))
    return ContestViewer(author=author, public=public)


def _print_receipt(receipt: Json, *, as_data: bool) -> None:
    if as_data:
        print_json(receipt)
        return
    what = receipt["kind"] if receipt["kind"] == "challenge" else f"{receipt['kind']} {receipt['id']}"
    print_message(escape_terminal_text(f"received: {what} of {receipt['author']}, {receipt['at']}"))


def _print_who_plays(place: ContestCommandPlace, does: str = "plays the contests of this store") -> None:
    """A store does nothing by itself."""
    if isinstance(place, StoreCommandPlace):
        print_message(f"\n{escape_terminal_text(place.serve_command)} {does}", err=True)


def _look_again_to_print(place: ContestCommandPlace, contest: str, viewer: ContestViewer) -> Callable[[], Json]:
    """A look at a contest; a service that is away is waited for, and what keeps the contest waiting is told once."""
    last: list[Json] = []
    told: set[str] = set()

    def tell(about: str, why: str) -> None:
        if why and about not in told:
            print_message(escape_terminal_text(why), err=True)
        told.add(about) if why else told.discard(about)

    def look() -> Json:
        try:
            found = place.load_contest(contest, viewer)
        except ServiceBusyError as error:
            if not last:
                raise
            tell("away", f"{error}; trying again")
            return last[-1]
        last[:] = [found]
        tell("away", "")
        tell("waiting", "" if found["state"] == "closed" else place.explain_waiting(contest))
        return found

    return look
