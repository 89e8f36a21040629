"""What docs/deploy.md says: its files pass their linters, and its commands bring a living store back."""

from __future__ import annotations

import asyncio
import os
import re
import shlex
import shutil
import subprocess
import sys
import textwrap
import threading
from datetime import timedelta
from pathlib import Path

from evenhand.cli.serve import serve_command
from evenhand.models.connections import Connections
from evenhand.service.app import GRACE_SECONDS
from evenhand.store.store import Store
from evenhand.workflows.contest_receiving import submit_to_contest
from evenhand.workflows.contests import verify_contest
from evenhand.workflows.live_contest import create_live_contest
from tests.conftest import ROOT
from tests.contest.building import task
from tests.service.serving import serve_in_process
from tests.store.databases import new_database, postgresql_server

__all__ = ["postgresql_server"]
PAGE = (ROOT / "docs" / "deploy.md").read_text("utf-8")
UNIT = (ROOT / "deploy" / "evenhand.service").read_text("utf-8")


def command(beginning: str) -> str:
    """A line of the page that begins so."""
    return next(line.strip() for line in PAGE.splitlines() if line.strip().startswith(beginning))


def run_command(line: str, folder: Path, **environ: str) -> None:
    """A command of the page, in a shell of its own."""
    done = subprocess.run(
        line.replace("python3", sys.executable), shell=True, cwd=folder, env={**os.environ, **environ}, check=False,
        capture_output=True, text=True,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr


def begin_contest(store: Store) -> str:
    async def begin() -> str:
        async with Connections({}) as connections:
            terms = task(
                "quality_first", judges=("ollama/a",), challenge_judges=(), deadline=store.now() + timedelta(days=1)
            )
            return await create_live_contest(store, terms, connections=connections)

    return asyncio.run(begin())


def test_the_dockerfile_passes_its_linter() -> None:
    """The same program as in make check."""
    linter = Path(sys.executable).with_name("hadolint")
    done = subprocess.run([linter, ROOT / "Dockerfile"], capture_output=True, text=True, check=False)

    assert (done.returncode, done.stdout) == (0, "")


def test_the_container_copies_only_what_is_let_in() -> None:
    """Whatever else lies in the folder, a store with its texts among it, stays out of the image."""
    let_in = {line[1:] for line in (ROOT / ".dockerignore").read_text("utf-8").splitlines() if line.startswith("!")}
    copied = re.findall(r"^COPY (?!--from)(.+) \S+$", (ROOT / "Dockerfile").read_text("utf-8"), re.MULTILINE)

    assert {name for line in copied for name in line.split()} == let_in
    assert all((ROOT / name).exists() for name in let_in)


def test_the_unit_starts_the_service_with_options_that_it_has() -> None:
    """And systemd, where it is here, finds no fault with it."""
    [start] = re.findall(r"^ExecStart=(.+)$", UNIT, re.MULTILINE)
    _, name, *options = shlex.split(start)
    serve_command.make_context("serve", options)
    here = shutil.which("systemd-analyze")

    [patience] = re.findall(r"^TimeoutStopSec=(\d+)$", UNIT, re.MULTILINE)
    assert name == "serve" and int(patience) > GRACE_SECONDS + 10  # What is under way is answered before it is killed.
    if here:
        unit = UNIT.replace("/opt/evenhand/bin/evenhand", "/bin/true").replace("=evenhand\n", "=root\n", 2)
        done = subprocess.run([here, "verify", "/dev/stdin"], input=unit, capture_output=True, text=True, check=False)
        assert "Unknown key" not in done.stderr and "Failed to parse" not in done.stderr, done.stderr


def test_a_store_is_copied_while_it_is_written_to(tmp_path: Path) -> None:
    """The copy is whole: contests verify in it, and what was received before it was begun is there."""
    over = threading.Event()
    with Store.open(tmp_path / ".evenhand", {}) as store:
        contest = begin_contest(store)
        submit_to_contest(store, contest, author="first", text="Worth 75.")

        def write() -> None:
            for number in range(10_000):
                if over.is_set():
                    return
                submit_to_contest(store, contest, author=f"a{number}", text="Worth 75.")

        writing = threading.Thread(target=write)
        writing.start()
        run_command(command("python3 -c"), tmp_path)
        over.set()
        writing.join()
    for line in ("cp store.copy", "rm -f .evenhand"):
        run_command(command(line), tmp_path)

    with Store.open(tmp_path / ".evenhand", {}, create=False) as copy:
        assert verify_contest(copy, contest).events == 1
        assert copy.inbox.list_rows(contest)[0]["author"] == "first"
        assert submit_to_contest(copy, contest, author="after", text="Worth 80.").author == "after"


def test_a_dump_of_postgresql_brings_everything_back(postgresql_server: str, tmp_path: Path) -> None:
    """Into another database, with the seals of its contests whole."""
    with new_database(postgresql_server) as old, new_database(postgresql_server) as new:
        with Store.open(old, {}) as store:
            contest = begin_contest(store)
            submit_to_contest(store, contest, author="first", text="Worth 75.")
        run_command(command("pg_dump"), tmp_path, EVENHAND_DATABASE_URL=old)
        run_command(command("pg_restore"), tmp_path, NEW_DATABASE_URL=new)

        with Store.open(new, {}, create=False) as copy:
            assert verify_contest(copy, contest).events == 1
            assert submit_to_contest(copy, contest, author="after", text="Worth 80.").author == "after"


def test_the_session_with_curl_goes_as_its_page_says(tmp_path: Path) -> None:
    """Every line of it is run against a service: nothing is refused, and the comparisons have a verdict."""
    page = (ROOT / "docs" / "service.md").read_text("utf-8")
    part = page.partition("## A session with curl\n")[2].partition("\n## ")[0]
    lines = textwrap.dedent("\n".join(re.findall(r"^(?:    .*)?$", part, re.MULTILINE)))
    with serve_in_process(tmp_path / "store") as served:
        script = lines.replace("http://127.0.0.1:8321", served.address)
        done = subprocess.run(["bash", "-eu"], input=script, capture_output=True, text=True, timeout=120, check=False)

    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count('"scorecards"') >= 1 and done.stdout.count("event: end") == 1
    assert "### " in done.stdout and done.stdout.count('{"control":{"name":"old"') == 2
    assert "about:blank" not in done.stdout, done.stdout
