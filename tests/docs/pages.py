"""The code in a page: files it shows, commands with their output, Python with its output.

A process that imports all it needs takes most of a second, and the pages have hundreds: a warm parent forks them. Of
what is run `apart`, the first block of each language starts in processes that begin with nothing; in `make soak` all
blocks do, and on other pages the first call of the command that a page is about.
"""

import atexit
import os
import re
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from tempfile import mkdtemp

from tests.soak import SOAK
from tests.warm import processes

ROOT = Path(__file__).parent.parent.parent
PAGES = sorted([ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")])
_FENCE = re.compile(r"^```(?P<info>[^\n`]*)\n(?P<body>.*?)^```$", re.MULTILINE | re.DOTALL)


@dataclass(frozen=True)
class Block:
    """A fenced block: its language, the file it shows, its text and where the text stands in the page."""

    language: str
    file: str | None
    text: str
    start: int
    end: int


@dataclass(frozen=True)
class Ran:
    """What a piece of a page should print, what it printed, and where the expectation stands."""

    code: str
    expected: str
    printed: str
    start: int
    end: int


def blocks(page: str) -> list[Block]:
    """Every fenced block of a page."""
    found = []
    for match in _FENCE.finditer(page):
        language, *rest = match["info"].split() or [""]
        file = next((word.removeprefix("file=") for word in rest if word.startswith("file=")), None)
        found.append(Block(language, file, match["body"], match.start("body"), match.end("body")))
    return found


def run_page(page: str, folder: Path, *, apart: bool = False) -> Iterator[Ran]:
    """Write the files of a page, run its commands and Python in order, and tell what came out."""
    steady = Steady()
    for ran in _run_page(page, folder, apart):
        yield replace(ran, printed=steady(ran.printed))


class Steady:
    """Puts what differs from run to run in a page's output to what it always shows: ids and times, in their order.

    The clock is read in UTC: a moment with another offset, or with Z, is out of a file and stands as it is.
    """

    _VARYING = re.compile(
        r"(?P<id>\b\d{8}-\d{6}-[0-9a-f]{6}\b)|"
        r"(?P<moment>\b\d{4}-\d\d-\d\d[ T]\d\d:\d\d(?::\d\d(?:\.\d+)?)?"
        r"(?:\+00:00|(?!\d|[:.]\d|Z|[+-]\d\d:\d\d)))"
    )

    def __init__(self) -> None:
        self._ids: dict[str, str] = {}

    def __call__(self, text: str) -> str:
        return self._VARYING.sub(self._put, text)

    def _put(self, found: re.Match[str]) -> str:
        if found["id"]:
            return self._ids.setdefault(found["id"], f"20261116-090000-{len(self._ids) + 1:06x}")
        zone = "+00:00" if found[0].endswith("+00:00") else ""
        return "2026-11-16T09:00:00.000000"[: len(found[0]) - len(zone)].replace("T", found[0][10]) + zone


def _run_page(page: str, folder: Path, apart: bool) -> Iterator[Ran]:
    before: Ran | None = None
    first = _first_call(page)
    begun: set[str] = set()
    for block in blocks(page):
        anew = apart and (SOAK or block.language not in begun)
        begun.add(block.language)
        if before and block.language == "text":
            yield Ran(before.code, block.text, before.printed, block.start, block.end)
        before = None
        if block.file:
            (folder / block.file).write_text(block.text, "utf-8")
        elif block.language == "console":
            yield from _run_console(block, folder, anew, first)
        elif block.language == "python":
            before = _run_python(block, folder, anew)


def _first_call(page: str) -> int:
    """Where a page that is about a command first calls it; below zero where there is no such place."""
    about = re.match(r"# `(evenhand [\w ]+)`", page)
    call = about and re.search(rf"^\$ .*?\b{about[1]}", page, re.MULTILINE)
    return call.start() if call else -1


def _run_console(block: Block, folder: Path, apart: bool, first: int) -> Iterator[Ran]:
    code = 0
    for match in re.finditer(r"^\$ ((?:.*\\\n)*.*)\n((?:(?!\$ ).*\n)*)", block.text, re.MULTILINE):
        warm = not apart and not (SOAK and block.start + match.start() == first)
        done = _run_shell(f"(exit {code}); {match[1]}", folder, warm=warm)
        code = done.returncode
        start = block.start + match.start(2)
        yield Ran(match[1], match[2], done.stdout + done.stderr, start, block.start + match.end(2))


def _run_python(block: Block, folder: Path, apart: bool) -> Ran:
    python = sys.executable if apart else _warm("python")
    done = _run_shell(f"{python} -c {shlex.quote(block.text)}", folder)
    assert done.returncode == 0, f"{block.text}\n{done.stderr}"
    return Ran(block.text, "", done.stdout, 0, 0)


def _warm(program: str) -> str:
    """The beginning of a command line that has the warm parent start this program."""
    return shlex.join(processes.command_line(program))


def _run_shell(script: str, folder: Path, *, warm: bool = False) -> "subprocess.CompletedProcess[str]":
    environ = _environment()
    if warm:
        environ["PATH"] = f"{_warm_commands()}:{environ['PATH']}"
    return subprocess.run(["bash", "-c", script], cwd=folder, env=environ, capture_output=True, text=True, check=False)


@cache
def _warm_commands() -> Path:
    """A folder with an `evenhand` that the warm parent starts: found by scripts of a page too."""
    folder = Path(mkdtemp(prefix="evenhand-warm-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    command = folder / "evenhand"
    command.write_text(f'#!/bin/sh\nexec {_warm("evenhand")} "$@"\n', "utf-8")
    command.chmod(0o755)
    return folder


def _environment() -> dict[str, str]:
    """What a user at a terminal has: no settings of ours, no build server whose presence changes what tools print."""
    ours = ("LLM_COUNCIL_", "EVENHAND_", "OPENAI_", "ANTHROPIC_", "ORACLE_", "OLLAMA_")
    builds = ("CI", "BUILD_NUMBER", "GITHUB_", "PYTEST_", "PY_COLORS", "FORCE_COLOR")
    kept = {name: value for name, value in os.environ.items() if not name.startswith(ours + builds)}
    binaries = str(Path(sys.executable).parent)
    return {**kept, "PATH": f"{binaries}:{kept['PATH']}", "COLUMNS": "80", "NO_COLOR": "1"}
