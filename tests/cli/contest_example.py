"""The shipped example of a contest, played as a user plays it: with judges whose answers were written by hand."""

import io
import json
import os
import shutil
import subprocess
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from unittest.mock import patch

import pytest

from evenhand.cli.app import run_cli
from tests.cli.command import evenhand
from tests.conftest import ROOT

EXAMPLE = ROOT / "examples" / "contest"
REPLAY = ("--replay", "replies.jsonl")
JUDGES = """
import asyncio

from judge import careful


async def away(request):
    if request.dialogue == "horizontal":
        await asyncio.Event().wait()
    return careful(request)


def loud(request):
    print("LOUD")
    return careful(request)
"""
Done = subprocess.CompletedProcess[str]


def copied(folder: Path) -> Path:
    """A folder with the example in it."""
    return Path(shutil.copytree(EXAMPLE, folder, dirs_exist_ok=True))


def contest(folder: Path, *arguments: str, **environ: str) -> Done:
    """Run it in this process, which saves starting one; judges in Python files need one of their own."""
    out, err = (io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True) for _ in range(2))
    told = ["evenhand", "contest", *arguments]
    with (
        chdir(folder),
        patch.dict(os.environ, {"COLUMNS": "80", **environ}, clear=True),
        patch("sys.argv", told),
        redirect_stdout(out),
        redirect_stderr(err),
        pytest.raises(SystemExit) as ended,
    ):
        run_cli()
    said, complained = (stream.buffer.getvalue().decode() for stream in (out, err))
    return subprocess.CompletedProcess(told, int(ended.value.code or 0), said, complained)


def apart(folder: Path, *arguments: str, **environ: str) -> Done:
    """Run it in a process of its own."""
    return evenhand("contest", *arguments, folder=folder, **environ)


def only(folder: Path, *names: str) -> None:
    """Leave these submissions only."""
    for file in (folder / "submissions").iterdir():
        if file.stem not in names:
            file.unlink()
    index = folder / "submissions.index.jsonl"
    rows = [line for line in _lines(index) if json.loads(line)["file"].partition(".")[0] in names]
    index.write_text("".join(f"{row}\n" for row in rows), "utf-8")


def change(file: Path, old: str, new: str) -> None:
    text = file.read_text("utf-8")
    assert old in text
    file.write_text(text.replace(old, new), "utf-8")


def fastest(folder: Path) -> None:
    """Make it the contest of who passes first."""
    kept = [line for line in _lines(folder / "task.yaml") if not line.startswith("challenge_")]
    text = "\n".join(kept).replace("mode: quality_first", "mode: fastest_first")
    (folder / "task.yaml").write_text(text + "\n", "utf-8")


def without(file: Path, *fields: str) -> None:
    """Take single-line fields out of a task, and `dimensions` with all that is below it."""
    text = file.read_text("utf-8")
    if "dimensions" in fields:
        text = text[: text.index("dimensions:")]
    kept = [line for line in text.splitlines() if line.split(":")[0] not in fields]
    file.write_text("\n".join(kept) + "\n", "utf-8")


def _lines(file: Path) -> list[str]:
    return file.read_text("utf-8").splitlines()


def one_line(text: str) -> str:
    return " ".join(text.split())
