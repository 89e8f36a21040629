"""How a service is run: where it listens, what it keeps, and how much of everything it takes."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import timedelta
from ipaddress import ip_address
from pathlib import Path

from evenhand.errors import Fault, InputError
from evenhand.workflows.connections import ConnectionOptions

LOOPBACK_NAMES = ("localhost",)


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceSettings:
    """The settings of a service; every one is an option of `evenhand serve`."""

    host: str = "127.0.0.1"
    port: int = 8321
    store: str | Path | None = None  # A folder or an address; None is the one that the environment names.
    connect: ConnectionOptions = field(default_factory=ConnectionOptions)
    body_bytes: int = 2_000_000
    requests_per_minute: int = 600  # Of one token.
    requests_at_once: int = 200  # What comes above it is told to come back.
    judging_at_once: int = 8  # Requests that ask judges; others wait for their turn.
    runs_at_once: int = 2  # Others wait for their turn.
    allow_private_hooks: bool = False
    longest_gap: timedelta = timedelta(days=7)  # That the clock may be away from the last sign of a contest.

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine can reach it."""
        return is_loopback_host(self.host)


def is_loopback_host(host: str) -> bool:
    """Whether a host is this machine: a name or an address of the loopback interface."""
    name = host.strip("[]").lower()
    if name in LOOPBACK_NAMES:
        return True
    try:
        return ip_address(name).is_loopback
    except ValueError:
        return False


def refuse_open_bind(settings: ServiceSettings, *, has_tokens: bool) -> None:
    """Others may reach only a service that asks for tokens."""
    if not settings.is_loopback and not has_tokens:
        what = f"--host {settings.host} can be reached from other machines, and there is no token to ask for"
        raise InputError(Fault(what, "make one first: evenhand token create --role operator --name NAME"))
