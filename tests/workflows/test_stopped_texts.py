"""A run that is stopped while calls are under way: what they bring is not left in the store as it came."""

import asyncio
import json
import os
import random
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing, suppress
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.judging.single_judge import await_judges_in_order
from evenhand.models.requests import Request
from evenhand.runs.run_record import RunRecorder
from evenhand.store.rows import StoreWriter
from evenhand.store.store import Store
from evenhand.workflows.run import RunOptions
from evenhand.workflows.run import run as run_eval
from tests.store.rows import call_row, made_row, run_row
from tests.warm.processes import run, started, wait_until

# Once there is a file `quick`, it is: what is gone on with later need not be slow.
SLOW = """
import json, os, time
def rest(seconds):
    time.sleep(0 if os.path.exists("quick") else seconds)
def reply(request):
    rest(0.4)
    asked = {"evidence": [], "reason": "Obnubilate canary@leak.example.org", "answer": "no", "score": 0}
    return json.dumps({"criteria": dict.fromkeys(request.ids, asked)})
first = second = reply
def bot(sample):
    rest(0.2)
    return "Zephyrine canary@leak.example.org"
"""
LIVE = {"python": "slow:bot"}
KINDS: dict[str, dict[str, Any]] = {
    "beside a live variant": {"variants": {"recorded": {}, "live": LIVE}, "judges": "python:slow:first"},
    "a panel": {"variants": {"live": LIVE}, "judges": ["python:slow:first", "python:slow:second"]},
    "pairs": {
        "variants": {"recorded": {}, "live": LIVE},
        "judges": ["python:slow:first", "python:slow:second"],
        "rubric": {"dialogue": "pairwise", "criteria": [{"id": "a", "asks": "Is it?"}]},
    },
    "questions of checks": {
        "variants": {"recorded": {}, "live": LIVE},
        "judges": "python:slow:first",
        "assertions": [{"answer_relevancy": {"min": 0.5}}],
    },
}


@pytest.mark.parametrize(
    ("kind", "keep", "sent"),
    [
        ("beside a live variant", "none", [signal.SIGTERM]),
        ("beside a live variant", "masked", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP]),
        ("a panel", "none", [signal.SIGTERM]),
        ("pairs", "masked", [signal.SIGINT]),
        ("questions of checks", "none", [signal.SIGHUP] * 2),
    ],
    ids=str,
)
def test_a_reply_that_comes_after_the_stop_is_not_left_as_it_came(
    tmp_path: Path, kind: str, keep: str, sent: list[int]
) -> None:
    """One call at a time: another of the same sample waits for its turn and is given up while the first goes on."""
    (tmp_path / "slow.py").write_text(SLOW)
    samples = [{"id": f"s{number}", "input": "q", "outputs": {"recorded": f"out {number}"}} for number in range(6)]
    whole = {"name": "stopped", "keep": keep, "concurrency": 1, "samples": samples,
             "rubric": {"criteria": [{"id": "a", "asks": "Is it?"}]}, **KINDS[kind]}  # fmt: skip
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump(whole))
    with started(tmp_path, "run", "eval.yaml", "--report-only") as process:
        wait_until(lambda: bool(_list_calls(tmp_path)))
        time.sleep(0.1)
        for number in sent:
            process.signal(number)
            time.sleep(0.05)
        done = process.done()

    gone = ["canary@", "Obnubilate", "Zephyrine"] if keep == "none" else ["canary@"]
    left = "".join(one.read_bytes().decode("utf-8", "replace") for one in (tmp_path / ".evenhand").iterdir())
    assert done.code == 130, done.err
    assert {kept for _, kept in _list_calls(tmp_path)} == {keep}
    assert [word for word in gone if word in left] == []
    (tmp_path / "quick").touch()
    assert run(tmp_path, "run", "eval.yaml", "--resume", "--report-only").code == 0


def test_a_program_that_cancels_its_run_leaves_no_text(tmp_path: Path) -> None:
    """As Ctrl-C does in a script: nobody has told the run to stop, and nobody comes back to it."""

    async def judge(request: Request) -> str:
        if "second" in request.messages[-1].text:
            await asyncio.Event().wait()
        answer = {"evidence": [], "reason": "Obnubilate", "answer": "no"}
        return json.dumps({"criteria": dict.fromkeys(request.ids, answer)})

    class Judge:
        name = "theirs"
        ask = staticmethod(judge)

    samples = [{"id": one, "input": "q", "outputs": {"x": one}} for one in ("first", "second")]
    whole = {"name": "cancelled", "keep": "none", "samples": samples, "variants": {"x": {}}, "judges": [Judge()],
             "rubric": {"criteria": [{"id": "a", "asks": "Is it?"}]}}  # fmt: skip

    async def cancel() -> None:
        task = asyncio.create_task(run_eval(whole, options=RunOptions(place=tmp_path / ".evenhand")))
        while not _list_calls(tmp_path) and not task.done():
            await asyncio.sleep(0.01)
        task.cancel()
        await task

    with pytest.raises(asyncio.CancelledError):
        asyncio.run(cancel())

    assert [kept for _, kept in _list_calls(tmp_path)] == ["none"]


PROGRAM = """
import asyncio, json, sys, time
from evenhand import run_sync

async def ask(request):
    if "hold" in request.messages[-1].text:
        await asyncio.sleep(60)
    answer = {"evidence": [], "reason": "Obnubilate canary@leak.example.org", "answer": "no", "score": 0}
    return json.dumps({"criteria": dict.fromkeys(request.ids, answer)})

class Judge:
    name = "theirs"
    ask = staticmethod(ask)

async def stubborn(input: str):
    end = time.monotonic() + 1.5
    while input.startswith("hold") and time.monotonic() < end:
        try:
            await asyncio.sleep(0.05)
        except asyncio.CancelledError:
            pass
    return input + " Zephyrine canary@leak.example.org"

def start():
    return run_sync(dict(name="told", keep="none", samples=[{"input": one} for one in ("first", "hold", "hold 2")],
        variants={"x": stubborn}, judges=[Judge()], rubric={"criteria": [{"id": "a", "asks": "Is it?"}]}))

async def start_in_a_loop():
    start()

try:
    asyncio.run(start_in_a_loop()) if sys.argv[1:] else start()
except KeyboardInterrupt:
    print("interrupted")
"""


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
@pytest.mark.parametrize(
    ("sent", "where"),
    [
        ([signal.SIGTERM], []),
        ([signal.SIGHUP] * 2, []),
        ([signal.SIGINT] * 4, []),
        ([signal.SIGINT, signal.SIGTERM, signal.SIGINT, signal.SIGINT], []),
        ([signal.SIGINT] * 4, ["in a loop"]),
    ],
    ids=str,
)
def test_a_program_that_is_told_to_end_leaves_no_text_and_ends_as_it_was_told(
    tmp_path: Path, sent: list[int], where: list[str]
) -> None:
    """`run_sync` stops its run first, however often it is told, with a function that does not let itself be stopped."""
    (tmp_path / "program.py").write_text(PROGRAM)
    environ = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    argv = [sys.executable, "program.py", *where]
    with subprocess.Popen(argv, cwd=tmp_path, env=environ, stdout=subprocess.PIPE, text=True) as process:
        wait_until(lambda: bool(_list_calls(tmp_path)))
        for number in sent:
            process.send_signal(number)
            time.sleep(0.1)
        said = process.communicate(timeout=30)[0]

    ends = [number for number in sent if number != signal.SIGINT]
    left = "".join(one.read_bytes().decode("utf-8", "replace") for one in (tmp_path / ".evenhand").iterdir())
    assert {kept for _, kept in _list_calls(tmp_path)} == {"none"}
    assert [word for word in ("canary@", "Obnubilate", "Zephyrine") if word in left] == []
    assert process.returncode == (-ends[0] if ends else 0)
    assert ("interrupted" in said) == (not ends)


@pytest.mark.skipif(sys.platform == "win32", reason="there are no such signals")
def test_a_command_that_is_told_again_and_again_exits_as_stopped(tmp_path: Path) -> None:
    """Also while it prints and while Python ends: a script looks at the exit code."""
    (tmp_path / "slow.py").write_text(SLOW)
    samples = [{"input": str(number)} for number in range(9)]
    whole = {"name": "told", "keep": "none", "concurrency": 1, "samples": samples, "judges": "python:slow:first",
             "variants": {"live": LIVE},
             "rubric": {"criteria": [{"id": "a", "asks": "Is it?"}]}}  # fmt: skip
    (tmp_path / "eval.yaml").write_text(yaml.safe_dump(whole))
    with subprocess.Popen(
        [sys.executable, "-m", "evenhand", "run", "eval.yaml"],
        cwd=tmp_path, env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}, stderr=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
    ) as process:  # fmt: skip
        wait_until(lambda: bool(_list_calls(tmp_path)))
        while process.poll() is None:
            process.send_signal(random.choice([signal.SIGINT, signal.SIGTERM, signal.SIGHUP]))
            time.sleep(0.002)

    assert process.returncode == 130
    assert {kept for _, kept in _list_calls(tmp_path)} == {"none"}


def _list_calls(folder: Path) -> list[tuple[str, str]]:
    file = folder / ".evenhand" / "store.sqlite"
    if not file.exists():
        return []
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True)) as found, suppress(sqlite3.OperationalError):
        return list(found.execute("select key, kept from calls where failed is null"))
    return []


@pytest.mark.parametrize("error", [asyncio.CancelledError, ValueError])
def test_an_error_of_one_is_told_once_the_others_have_ended(error: type[BaseException]) -> None:
    """What they ask is paid for, and is written down before anybody tidies up."""
    ended = []

    async def fail() -> None:
        raise error

    async def end_late() -> None:
        await asyncio.sleep(0.01)
        ended.append("late")

    with pytest.raises(error):
        asyncio.run(await_judges_in_order([end_late(), fail(), end_late()]))

    assert ended == ["late", "late"]


def test_a_task_that_is_cancelled_twice_waits_for_all_that_it_asks() -> None:
    """Whoever stops a run again and again leaves no call behind that still writes."""
    ended = []

    async def end_late() -> None:
        try:
            await asyncio.sleep(60)
        finally:
            with suppress(asyncio.CancelledError):
                await asyncio.sleep(0.01)
            ended.append("late")

    async def stop_twice() -> None:
        task = asyncio.create_task(await_judges_in_order([end_late(), end_late()]))
        for _ in range(2):
            await asyncio.sleep(0)
            await asyncio.sleep(0)
            task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task

    asyncio.run(stop_twice())

    assert ended == ["late", "late"]


@pytest.mark.parametrize("keep", ["raw", "masked", "none"])
def test_once_texts_are_dropped_none_is_written_as_it_came(tmp_path: Path, keep: Any) -> None:
    """What was put before is in the store when dropping begins; what is put after is reduced on its way."""
    reply, output = json.dumps({"text": "canary@leak.example.org"}), {"text": "canary@leak.example.org", "trace": None}

    async def write(store: Store) -> list[str]:
        hold = store.begin_run(run_row(keep=keep))
        with closing(StoreWriter(lambda batch: store.write_rows(batch, hold=hold))) as writer:
            book = RunRecorder(store, writer, hold, lambda: "2026-11-16T05:12:39+00:00", keep)
            book.put_row("calls", call_row(0, reply=reply))
            await book.end_raw_texts()
            before = [row["kept"] for row in store.calls(hold.run)]
            book.put_row("calls", call_row(1, reply=reply))
            await book.put_row("made", made_row(0, content=json.dumps(output)))
        return before

    with Store.open(tmp_path, {}) as store:
        before = asyncio.run(write(store))
        late = [row for row in store.calls(run_row()["id"]) if row["position"] == 1]
        made = [*store.list_outputs(run_row()["id"])]

    assert before == ["raw"]
    assert [row["kept"] for row in late] == [keep]
    assert ["canary@" in str(row) for row in (*late, *made)] == [keep == "raw"] * 2
