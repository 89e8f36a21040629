"""Workers on one store, each a process of its own that serves and plays; killed without a word, and some for good."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Self

import pytest

from tests.soak import often
from tests.store.databases import free_port
from tests.warm.processes import started, wait_until

Json = dict[str, Any]
SECRET = "a long random text of these tests"
ENVIRON = {"EVENHAND_WEBHOOK_SECRET": SECRET}
FAKE_CLOCK = "libfaketime.so.1"
LONGEST_ANSWER = 60.0
PATIENCE = often(60, 600)  # Seconds until one of several is up and answers.


class Worker:
    """One `evenhand serve`; with `clock`, as in "+1d", the time of its machine is moved by so much."""

    def __init__(self, folder: Path, store: str, *, clock: str = "", options: tuple[str, ...] = ()) -> None:
        self.port, self._life = free_port(), ExitStack()
        argv = ["serve", "--port", str(self.port), "--store", store, "--rate-limit", "1000000"]
        argv += ["--allow-private-hooks", *options]
        if clock:
            self.kill = self._life.enter_context(started_with_clock(folder, argv, clock))
        else:
            process = self._life.enter_context(started(folder, *argv, environ=ENVIRON))

            def kill() -> None:
                process.signal(signal.SIGKILL)
                wait_until(process.over)

            self.kill = kill

    def __enter__(self) -> Self:
        wait_until(self.is_ready)
        return self

    def __exit__(self, *_: object) -> None:
        self._life.close()

    def is_ready(self) -> bool:
        """Whether it answers."""
        try:
            return self.call("GET", "/healthz")[0] == 200
        except OSError:
            return False

    def call(self, method: str, path: str, body: Json | None = None) -> tuple[int, str]:
        """The status and the text of an answer; an OSError where there is none."""
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", data, method=method)
        request.add_header("content-type", "application/json")
        try:
            with urllib.request.urlopen(request, timeout=LONGEST_ANSWER) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as problem:
            with problem:
                return problem.code, problem.read().decode()


@contextmanager
def started_with_clock(folder: Path, argv: list[str], clock: str) -> Iterator[Any]:
    """The same command where the clock of the machine is moved; gives what kills it."""
    library = next(Path("/usr/lib").glob(f"*/faketime/{FAKE_CLOCK}"), None)
    if library is None:
        pytest.skip("libfaketime is not installed (scripts/install-debian installs it): no clock is moved")
    moved = {"LD_PRELOAD": str(library), "FAKETIME": clock, "FAKETIME_DONT_FAKE_MONOTONIC": "1"}
    command = [sys.executable, "-m", "evenhand", *argv]
    with (folder / f"moved{free_port()}.err").open("wb") as said:
        process = subprocess.Popen(command, env={**os.environ, **ENVIRON, **moved}, stderr=said, stdout=said)

        def kill() -> None:
            process.kill()
            process.wait()

        try:
            yield kill
        finally:
            kill()


class Crew:
    """Workers of whom any may be killed at any moment; whoever calls goes to one that lives."""

    def __init__(self, folder: Path, store: str, chance: random.Random, clocks: tuple[str, ...]) -> None:
        self._folder, self._store, self._chance, self._clocks = folder, store, chance, clocks
        self.workers: list[Worker] = []
        self.killed = 0

    def __enter__(self) -> Self:
        self._life = ExitStack()
        for clock in self._clocks:
            self.workers.append(Worker(self._folder, self._store, clock=clock))
            self._life.push(self.workers[-1].__exit__)
        wait_until(lambda: all(one.is_ready() for one in self.workers))
        return self

    def __exit__(self, *_: object) -> None:
        self._life.close()

    def kill_one(self, *, for_good: bool) -> None:
        """Kill one of those that are up, and start another in its place unless it is for good."""
        wait_until(lambda: any(one.is_ready() for one in self.workers), within=PATIENCE)
        victim = self._chance.choice([one for one in self.workers if one.is_ready()] or self.workers)
        victim.kill()
        self.killed += 1
        if for_good and len(self.workers) > 1:
            self.workers.remove(victim)
            return
        fresh = Worker(self._folder, self._store, clock=self._chance.choice(self._clocks))
        self._life.push(fresh.__exit__)
        self.workers[self.workers.index(victim)] = fresh

    def call(self, method: str, path: str, body: Json | None = None) -> tuple[int, str]:
        """An answer by one of them, however many had to be asked: one that dies answers nothing."""
        found: list[tuple[int, str]] = []

        def ask() -> bool:
            try:
                found.append(random.choice(self.workers).call(method, path, body))
            except OSError:
                return False
            return found[-1][0] < 500

        wait_until(ask, within=PATIENCE)
        return found[-1]
