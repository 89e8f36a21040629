"""Where contest commands find their contests: a store that this machine reaches, or a service that is called."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import click

from evenhand.errors import Fault, InputError

if TYPE_CHECKING:
    from evenhand.client import EvenhandClient

Json = dict[str, Any]
ClickCommand = TypeVar("ClickCommand", bound=Callable[..., Any])
SERVER_VARIABLE = "EVENHAND_SERVER"
STORE_HELP = "The store that is meant. Without it: EVENHAND_DATABASE_URL, else .evenhand."
SERVER_HELP = "Call a service instead, with the token in EVENHAND_TOKEN. Without it: EVENHAND_SERVER."


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestViewer:
    """With whose eyes a contest is looked at: those of an author, of anybody, or of whoever asks."""

    author: str | None = None
    public: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestTerms:
    """What a contest is begun with, beside its task."""

    payment_hook: str | None
    operator_hook: str | None
    allow_private_hooks: bool
    again: str | None


class ContestCommandPlace(Protocol):
    """What commands do with contests, wherever they are."""

    def create_contest(self, task: Path, terms: ContestTerms) -> str:
        """Begin a contest; its id."""

    def submit_text(self, contest: str, text: str, author: str | None, notify: str | None) -> Json:
        """Hand in a text; the receipt."""

    def challenge_ranking(self, contest: str, reason: str, author: str | None) -> Json:
        """Challenge a ranking; the receipt."""

    def load_contest(self, contest: str, viewer: ContestViewer) -> Json:
        """A contest: its record, or what a viewer may see of it."""

    def list_contests(self, name: str | None) -> list[Json]:
        """The contests, the newest first."""

    def explain_waiting(self, contest: str) -> str:
        """Why nothing happens although something is due; empty where somebody plays the contest."""


def add_store_option(command: ClickCommand) -> ClickCommand:
    """Which store is meant."""
    return click.option("--store", metavar="FOLDER|URL", help=STORE_HELP)(command)


def add_place_options(command: ClickCommand) -> ClickCommand:
    """Which store or service is meant."""
    return add_store_option(click.option("--server", metavar="URL", help=SERVER_HELP)(command))


def open_contest_command_place(store: str | None, server: str | None) -> ContestCommandPlace:
    """The place that options name, else the service that the environment names, else the store."""
    if store is not None and server is not None:
        raise InputError(Fault("a contest is in a store or at a server", "leave out --store or --server"))
    named = server or (os.environ.get(SERVER_VARIABLE, "").strip() if store is None else "")
    if not named:
        return StoreCommandPlace(store)
    from evenhand.client import EvenhandClient

    return ServerCommandPlace(EvenhandClient(named))


@dataclass(frozen=True, slots=True)
class StoreCommandPlace:
    """The contests of a store; who reads and writes it is their operator."""

    store: str | None

    def create_contest(self, task: Path, terms: ContestTerms) -> str:
        """Begin a contest; its id."""
        from evenhand.workflows.contest_files import NewContestFile, create_contest_from_file

        new = NewContestFile(task=task, **asdict(terms))
        return asyncio.run(create_contest_from_file(new, store=self.store))

    def submit_text(self, contest: str, text: str, author: str | None, notify: str | None) -> Json:
        """Hand in a text; the receipt."""
        from evenhand.workflows.contest_receiving import submit_to_contest
        from evenhand.workflows.webhooks import WebhookTargets

        name, target = _require_author_option(author), WebhookTargets().check(notify)
        return asdict(submit_to_contest(self.store, contest, author=name, text=text, notify=target))

    def challenge_ranking(self, contest: str, reason: str, author: str | None) -> Json:
        """Challenge a ranking; the receipt."""
        from evenhand.workflows.contest_receiving import challenge_contest

        return asdict(challenge_contest(self.store, contest, author=_require_author_option(author), reason=reason))

    def load_contest(self, contest: str, viewer: ContestViewer) -> Json:
        """A contest: its record, or what a viewer may see of it."""
        if viewer.public or viewer.author is not None:
            from evenhand.workflows.live_contest import view_live_contest

            return view_live_contest(self.store, contest, viewer.author)
        from evenhand.workflows.contests import load_contest

        return load_contest(self.store, contest)

    def list_contests(self, name: str | None) -> list[Json]:
        """The contests, the newest first."""
        from evenhand.workflows.contest_listing import list_contests

        return [asdict(one) for one in list_contests(self.store, name)]

    def explain_waiting(self, contest: str) -> str:
        """Why nothing happens although something is due; empty where somebody plays the contest."""
        from evenhand.workflows.live_contest import find_overdue_contest

        since = find_overdue_contest(self.store, contest)
        when = "" if since is None else since[:19].replace("T", " ")
        due = f"something has been due since {when}, and no process is running this contest"
        return when and f"{due}: start {self.serve_command}"

    @property
    def serve_command(self) -> str:
        """The command that plays the contests of this store; an address may hold a password."""
        folder = "" if self.store is None or "://" in self.store else f" --store {self.store}"
        return f"evenhand serve{folder}"


@dataclass(frozen=True, slots=True)
class ServerCommandPlace:
    """The contests of a service, as far as the token lets one."""

    client: EvenhandClient

    def create_contest(self, task: Path, terms: ContestTerms) -> str:
        """Begin a contest; its id."""
        from evenhand.workflows.contest_files import load_user_task_to_send

        if terms.allow_private_hooks:
            what = "--allow-private-hooks is said to the service when it is started"
            raise InputError(Fault(what, "evenhand serve --allow-private-hooks"))
        hooks = {"payment_hook": terms.payment_hook, "operator_hook": terms.operator_hook}
        return self.client.create_contest(load_user_task_to_send(task), **hooks, again=terms.again)

    def submit_text(self, contest: str, text: str, author: str | None, notify: str | None) -> Json:
        """Hand in a text; the receipt."""
        return dict(self.client.submit_to_contest(contest, text, author=author, notify=notify))

    def challenge_ranking(self, contest: str, reason: str, author: str | None) -> Json:
        """Challenge a ranking; the receipt."""
        return dict(self.client.challenge_contest(contest, reason, author=author))

    def load_contest(self, contest: str, viewer: ContestViewer) -> Json:
        """A contest: its record, or what a viewer may see of it."""
        return self.client.load_contest(contest, author=viewer.author, public=viewer.public)

    def list_contests(self, name: str | None) -> list[Json]:
        """The contests, the newest first."""
        return [one for one in self.client.list_contests() if name is None or one["task"] == name]

    def explain_waiting(self, contest: str) -> str:
        """A service plays its contests."""
        return ""


def _require_author_option(author: str | None) -> str:
    if author is None:
        raise InputError(Fault("whose is it?", "--author NAME; a service knows it from the token"))
    return author
