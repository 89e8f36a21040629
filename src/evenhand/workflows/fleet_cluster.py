"""The Ray cluster of a fleet: one that is there, or one of our own on this machine."""

from __future__ import annotations

import os
import secrets
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from evenhand.errors import Fault, InputError
from evenhand.runs.stop_signals import STOPPING_SIGNALS

CONNECT_SECONDS = 10.0
OBJECT_STORE_BYTES = 100_000_000
# Nothing is sent to anybody, and what happens to nodes is not printed between the lines of the run.
QUIET_RAY = {"RAY_USAGE_STATS_ENABLED": "0", "RAY_DEDUP_LOGS_SKIP_REGEX": "."}
# For a cluster of our own: nobody but this machine, and who has the token, may connect.
PRIVATE_RAY = {
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",  # By this, Ray listens on the loopback address alone.
    "RAY_AUTH_MODE": "token",
}


def connect_to_ray_fleet(address: str | None) -> None:
    """Connect to the cluster at an address, or start one on this machine that ends with this process."""
    for name, value in (QUIET_RAY if address else QUIET_RAY | PRIVATE_RAY).items():
        os.environ.setdefault(name, value)
    ray = load_ray()
    if address is not None:
        _refuse_silent_fleet_address(address)
    elif "RAY_AUTH_TOKEN_PATH" not in os.environ:  # Ray would make one in $HOME that everybody here may read.
        os.environ.setdefault("RAY_AUTH_TOKEN", secrets.token_hex(32))  # It stays: Ray reads it once in a process.
    quiet = {"log_to_driver": False, "configure_logging": False, "logging_level": "ERROR", "namespace": "evenhand"}
    try:
        with _keep_signal_handlers():
            if address is None:
                ray.init("local", include_dashboard=False, object_store_memory=OBJECT_STORE_BYTES, **quiet)
            else:
                ray.init(address, **quiet)
    except Exception as error:  # Of many kinds, none of them documented.
        what = str(error).strip().partition("\n")[0] or type(error).__name__
        hint = "is it running, and does this machine belong to it?" if address else "see the logs below /tmp/ray"
        raise InputError(Fault(f"cannot be reached: {what}", hint, where=address or "Ray")) from None


@contextmanager
def _keep_signal_handlers() -> Iterator[None]:
    """Put back what Ray replaces: its handlers of SIGTERM, in Python and in C++, end a process with its work undone."""
    if threading.current_thread() is not threading.main_thread():
        yield  # Here Python lets nobody set handlers, Ray neither; its C++ prints a trace and calls those there are.
        return
    handlers = {number: signal.getsignal(number) for number in STOPPING_SIGNALS}
    try:
        yield
    finally:
        for number, handler in handlers.items():
            if handler is not None:
                signal.signal(number, handler)


def _refuse_silent_fleet_address(address: str) -> None:
    """Say at once that nobody listens at HOST:PORT: Ray itself tries for a minute."""
    host, _, port = address.removeprefix("ray://").rpartition(":")
    if host and port.isdecimal():
        try:
            socket.create_connection((host.strip("[]"), int(port)), CONNECT_SECONDS).close()
        except (OSError, OverflowError) as problem:
            hint = "is the cluster running? `ray status` on its head shows it"
            raise InputError(Fault(f"cannot be reached: {problem}", hint, where=address)) from None


def load_ray() -> Any:
    """Ray, whose types say little; it is imported where a fleet is used."""
    try:
        import ray
    except ImportError:
        hint = "pip install '/path/to/evenhand[fleet]'"
        raise InputError(Fault("Ray is not installed", hint, where="--fleet")) from None
    return ray


def disconnect_from_ray_fleet() -> None:
    """End what this process began there."""
    with _keep_signal_handlers(), suppress(Exception):  # Ray's C++ sets that of SIGTERM to the default, too.
        load_ray().shutdown()


def list_fleet_hosts() -> set[str]:
    """The names of the machines of the cluster."""
    return {str(node["NodeManagerHostname"]) for node in load_ray().nodes() if node["Alive"]}
