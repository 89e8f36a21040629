"""A contest in its own time: played to its end at once, or up to a moment and gone on with later."""

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from evenhand.contest.finish import is_kept_contest_waiting
from tests.cli.contest_example import REPLAY, change, contest, copied, one_line, without
from tests.warm.processes import command_line

LARGEST = 64_000_000  # Bytes of a file, where that is limited; the store has fewer.
LIMITED = f"""
import os, resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, ({LARGEST}, {LARGEST}))
os.execv(sys.argv[1], sys.argv[1:])
"""
Spoil = Callable[[list[str], Path], subprocess.CompletedProcess[str]]
RUN = ("run", "task.yaml", "submissions", *REPLAY)
ANEW = (sys.executable, "-m", "evenhand")


def forked(*arguments: str) -> list[str]:
    """The same in a process that is forked with the streams that Python would have."""
    return command_line("evenhand", *arguments)


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return copied(tmp_path)


def test_a_contest_is_played_up_to_a_moment_and_gone_on_with(folder: Path) -> None:
    """As a cron job does it: submissions, then challenges, then the end, all in one contest."""
    first = contest(folder, *RUN, "--until", "2026-11-06T00:00:00+01:00")
    second = contest(folder, *RUN, "--until", "2026-11-10T00:00:00+01:00", "--resume")
    last = contest(folder, *RUN, "--until", "2026-11-12T00:00:00+01:00", "--resume")
    listed = json.loads(contest(folder, "list", "--json").stdout)

    assert [done.returncode for done in (first, second, last)] == [1, 1, 0]
    assert "4 submissions" in first.stdout
    assert "Not decided yet: submissions are still taken.\n  it is waiting: played up to " in first.stdout
    assert "kestrel is first, and the challenge period is not over." in second.stdout
    assert "payment" not in second.stdout
    assert "kestrel won." in last.stdout
    assert [one["state"] for one in listed] == ["finished"]


def test_now_is_a_moment(folder: Path) -> None:
    """What lies behind it has not happened: there is time until the deadline."""
    change(folder / "task.yaml", "2026-11-09T18:00:00+01:00", "2999-11-09T18:00:00+01:00")

    done = contest(folder, *RUN, "--until", "now")

    assert done.returncode == 1
    assert "Not decided yet: submissions are still taken." in done.stdout
    assert (
        "to continue: evenhand contest run task.yaml submissions --until now --replay replies.jsonl --resume"
        in done.stderr
    )


@pytest.mark.parametrize(("year", "then"), [("2026", "now"), ("2998", "LATER")])
def test_how_to_go_on_after_a_moment_names_a_later_one(folder: Path, year: str, then: str) -> None:
    """The same moment again would change nothing."""
    change(folder / "task.yaml", "2026-11-09T18:00:00+01:00", "2999-11-09T18:00:00+01:00")

    done = contest(folder, *RUN, "--until", f"{year}-11-07T00:00:00+01:00")

    assert f"--until {then} --replay replies.jsonl --resume\n" in done.stderr


@pytest.mark.parametrize("named", [True, False])
def test_a_challenge_period_without_judges_for_it_is_told_before_it_matters(folder: Path, named: bool) -> None:
    """Not only when the first challenge is refused."""
    without(folder / "task.yaml", *([] if named else ["challenge_judges"]))

    done = contest(folder, *RUN, "--until", "2026-11-06T00:00:00+01:00")

    assert ("a challenge would be refused: the task names no challenge_judges" in done.stderr) != named


@pytest.mark.parametrize("day", ["06", "10"])
def test_a_contest_that_waits_is_listed_as_waiting(folder: Path, day: str) -> None:
    """Nothing stopped it; and until the challenge period is over nobody has won, and nothing has ended."""
    done = contest(folder, *RUN, "--until", f"2026-11-{day}T00:00:00+01:00", "--json")

    (listed,) = json.loads(contest(folder, "list", "--json").stdout)

    assert (listed["state"], listed["winner"], listed["ended"]) == ("waiting", None, None)
    assert "waits" not in json.loads(done.stdout) | json.loads(contest(folder, "show", "latest", "--json").stdout)


def test_whether_a_contest_waits_is_not_read_from_a_sentence() -> None:
    """Where it is kept; of what an earlier version stored, the sentence is all there is."""
    assert is_kept_contest_waiting({"stopped": "another sentence", "waits": True})
    assert not is_kept_contest_waiting({"stopped": "it is waiting: for a judge", "waits": False})
    assert is_kept_contest_waiting({"stopped": "it is waiting: played up to 2026-11-06"})
    assert not is_kept_contest_waiting({"stopped": None})


def test_a_contest_played_ahead_of_the_clock_says_so_and_pays_nobody_yet(folder: Path) -> None:
    """Whoever reads only the decision must not take it for the last word, nor pay."""
    change(folder / "task.yaml", "2026-11-09T18:00:00+01:00", "2999-11-09T18:00:00+01:00")

    done = contest(folder, *RUN)
    shown = contest(folder, "show", "latest")

    said = one_line(done.stdout)
    assert done.returncode == 1
    assert "payment would be due on 2999-11-11 to kestrel: invoice 2026-118" in said
    assert "A rehearsal: played past the present as if no more submissions came. Nobody is paid." in said
    assert "released" not in said
    assert "ahead" not in done.stderr
    assert shown.stdout == done.stdout.replace("no model was asked", "in all: no model was asked")


def test_a_contest_in_the_past_has_paid(folder: Path) -> None:
    """What is over is over."""
    for file in (folder / "task.yaml", folder / "submissions.index.jsonl", *(folder / "submissions").iterdir()):
        change(file, "2026-11-0", "2025-11-0")

    done = contest(folder, *RUN)

    assert "newly released to kestrel: invoice 2026-118" in one_line(done.stdout)
    assert "ahead of the clock" not in done.stdout


def test_a_contest_that_is_ranked_and_paid_in_one_call_says_that_nobody_could_challenge(folder: Path) -> None:
    """A period that was over before anybody saw the ranking protects nobody; the page has the time of the JSON."""
    for file in (folder / "task.yaml", folder / "submissions.index.jsonl", *(folder / "submissions").iterdir()):
        change(file, "2026-11-0", "2025-11-0")
    done, again, shown = contest(folder, *RUN), contest(folder, *RUN), contest(folder, "show", "latest", "--json")
    contest(folder, "report", "latest", "--html", "-o", "page.html")

    record = json.loads(shown.stdout)
    released = datetime.fromisoformat(record["payment"]["released"]).astimezone(UTC)
    page = (folder / "page.html").read_text("utf-8")
    said = one_line(done.stdout)
    assert said.index("nobody could challenge it") < said.index("newly released")
    assert "nobody could challenge it" in one_line(again.stdout)
    assert record["unchallengeable"] is True
    assert f"was released to kestrel on {released.day} {released:%b %Y, %H:%M} UTC." in page


def test_with_the_clock_there_is_time_to_challenge(folder: Path) -> None:
    """The period begins when the ranking can be seen, and its end says nothing of nobody."""
    contest(folder, *RUN, "--until", "2026-11-10T00:00:00+01:00")
    done = contest(folder, *RUN, "--until", "2026-11-13T00:00:00+01:00")

    assert "newly released" in done.stdout and "nobody could challenge" not in done.stdout


def test_a_check_says_that_a_challenge_would_be_refused(folder: Path) -> None:
    """Terms are locked at the start: whoever reads it then cannot name anybody any more."""
    without(folder / "task.yaml", "challenge_judges")
    first = next((folder / "submissions").iterdir())

    done = contest(folder, "check", "task.yaml", str(first), "--replay", "replies.jsonl")
    change(folder / "task.yaml", "2026-11-09T18:00:00+01:00", "2999-11-09T18:00:00+01:00")
    created = contest(folder, "create", "task.yaml", "--store", "here")

    for one in (done, created):
        assert "a challenge would be refused: the task names no challenge_judges" in one.stderr


def test_how_to_go_on_names_all_that_decides_what_judges_are_asked(folder: Path) -> None:
    """With other settings the contest would not be gone on with; those that are as always are not repeated."""
    before = ("--until", "2026-01-01T00:00:00Z")

    plain = contest(folder, "run", "task.yaml", "submissions", *before)
    other = contest(
        folder, "run", "task.yaml", "submissions", *before, "--language", "zh", "--seed", "7", "--temperature", "0.5",
        "--max-tokens", "900", "--challenges", "challenges.jsonl", "-m", "openai/m", "--again", "b", OPENAI_API_KEY="k",
    )  # fmt: skip

    start = "to continue: evenhand contest run task.yaml submissions"
    assert f"{start} --until now --resume\n" in plain.stderr
    assert (
        f"{start} -m openai/m --language zh --seed 7 --temperature 0.5 --max-tokens 900 "
        "--challenges challenges.jsonl --until now --again b --resume\n"
    ) in other.stderr


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
def test_a_payment_is_released_by_the_call_that_could_tell_of_it(folder: Path) -> None:
    """`run && pay` would never pay if the payment were released by a call whose output could not be written."""
    told = forked("contest", *RUN, "--json")
    with Path("/dev/full").open("wb") as full:
        untold = subprocess.run(told, cwd=folder, stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    shown = json.loads(contest(folder, "show", "latest", "--json").stdout)
    with Path("/dev/full").open("wb") as full:
        paid = subprocess.run(told, cwd=folder, stdout=subprocess.PIPE, stderr=full, text=True, check=False)
    after = contest(folder, "run", "task.yaml", "submissions", *REPLAY)

    assert untold.returncode == 2
    assert "nothing was released: the next call that can be read does it" in untold.stderr
    assert (shown["payment"]["state"], shown["payment"]["newly_released"]) == ("due", False)
    assert paid.returncode == 0
    assert json.loads(paid.stdout)["payment"]["newly_released"]
    assert after.returncode == 4


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("unbuffered", ["", "1"])
@pytest.mark.parametrize("errors", ["2>/dev/full", "2>&1 >out.json | true", "2>&-"])
def test_a_payment_is_told_by_its_exit_code_whatever_standard_error_takes(
    folder: Path, errors: str, unbuffered: str
) -> None:
    """Nor does what is left of a message when Python ends change the code."""
    start = ANEW if errors == "2>/dev/full" else forked()
    told = shlex.join([*start, "contest", *RUN, "--json"])
    command = f"(sleep 0.1; exec {told} >out.json) {errors}; exit ${{PIPESTATUS[0]}}"
    setting = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    paid = subprocess.run(["bash", "-c", command], cwd=folder, env=setting, check=False)
    full = subprocess.run(["bash", "-c", f"{told} --again other >/dev/full 2>&1"], cwd=folder, env=setting, check=False)

    assert (paid.returncode, full.returncode) == (0, 2)
    assert json.loads((folder / "out.json").read_text("utf-8"))["payment"]["newly_released"]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no device that is always full")
@pytest.mark.parametrize("act", ["print('LOUD')", "print('LOUD', end='')", "print('LOUD'); sys.stdout.close()"])
def test_a_judge_that_prints_where_nothing_can_be_written_changes_nothing(folder: Path, act: str) -> None:
    """What it prints goes to standard error, and what becomes of that is no failure of the judge."""
    with (folder / "judge.py").open("a", encoding="utf-8") as judge:
        judge.write(f"\nimport sys\nquiet = careful\ndef careful(request):\n    {act}\n    return quiet(request)\n")
    told = forked("contest", "run", "task.yaml", "submissions", "--json")
    with Path("/dev/full").open("wb") as full:
        paid = subprocess.run(told, cwd=folder, stdout=subprocess.PIPE, stderr=full, text=True, check=False)

    assert paid.returncode == 0
    assert json.loads(paid.stdout)["payment"]["newly_released"]


def spoil_closed(told: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """There is no standard output."""
    return run_spoilt(["sh", "-c", 'exec "$@" >&-', "sh", *told], folder)


def spoil_gone(told: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The reader of the pipe has left before anything was written."""
    reader, writer = os.pipe()
    os.close(reader)
    try:
        return run_spoilt(told, folder, stdout=writer)
    finally:
        os.close(writer)


def spoil_short(told: list[str], folder: Path) -> subprocess.CompletedProcess[str]:
    """The first 4 kB still fit, and Python has no buffer of its own that would notice."""
    limited = [sys.executable, "-c", LIMITED, *told]
    with (folder / "cut.json").open("ab") as cut:
        cut.truncate(LARGEST - 4096)
        return run_spoilt(limited, folder, stdout=cut, env={**os.environ, "PYTHONUNBUFFERED": "1"})


def run_spoilt(told: list[str], folder: Path, **more: Any) -> subprocess.CompletedProcess[str]:
    return subprocess.run(told, cwd=folder, stderr=subprocess.PIPE, text=True, check=False, **more)


@pytest.mark.skipif(sys.platform == "win32", reason="there is no such shell")
@pytest.mark.parametrize("spoil", [spoil_closed, spoil_gone, spoil_short])
def test_an_output_that_is_cut_short_or_has_no_reader_releases_nothing(folder: Path, spoil: Spoil) -> None:
    """The next call that can be read does it, and says so."""
    # The forked one would have the limit of the parent, not that of the process that waits for it.
    start = ANEW if spoil is spoil_short else forked()
    untold = spoil([*start, "contest", *RUN, "--json"], folder)
    paid = contest(folder, *RUN, "--json")

    assert untold.returncode == 2
    assert "the output cannot be written: " in untold.stderr
    assert "nothing was released: the next call that can be read does it" in untold.stderr
    assert paid.returncode == 0
    assert json.loads(paid.stdout)["payment"]["newly_released"]
