"""What others put into a contest: judges and the store get it without keys, and masked where the task says so."""

import asyncio
import json
from pathlib import Path

import pytest
import yaml

from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.hidden_keys import HIDDEN
from evenhand.workflows.contest import ContestResult
from evenhand.workflows.contest_files import ContestFiles, play_contest_files
from evenhand.workflows.contests import verify_contest
from evenhand.workflows.models import ConnectionOptions
from tests.cli.command import evenhand
from tests.contest.answering import server

SECRET = "tok-Zq8vR2pLw5TnXe7Kc3Yb"

PERSONAL = ("ana.lopez@mail.example.org", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "219-40-1234")
JUDGE = """
import json
def judge(request):
    text = dict(request.about.texts).get("submission") or dict(request.about.texts).get("output") or ""
    open("seen.txt", "a").write(str(request.messages))
    one = {"evidence": [text[:20]], "reason": "PERSONAL", "score": True, "revision_hint": "PERSONAL"}
    return json.dumps({"criteria": {id: one for id in request.ids}})
"""


TASK = {"name": "t", "description": "d", "acceptance": ["It is good"],
        "dimensions": [{"id": id, "asks": id, "weight": 0.25, "fixed": id != "own"}
                       for id in ("substantiveness", "credibility", "completeness", "own")]}  # fmt: skip


def test_personal_data_of_a_submission_is_found_nowhere(tmp_path: Path) -> None:
    """After the run, each view of it, its verification, and in the record of replies."""
    told = ", ".join(PERSONAL)
    (tmp_path / "theirs.py").write_text(JUDGE.replace("PERSONAL", told))
    whole = {**TASK, "mode": "fastest_first", "keep": "masked", "judges": ["python:theirs:judge"]}
    (tmp_path / "task.yaml").write_text(yaml.safe_dump(whole))
    sent = {"id": "a", "author": "ana", "at": "2026-01-01T00:00:00Z", "text": f"Gold is good. {told}"}
    (tmp_path / "sent.jsonl").write_text(json.dumps(sent))

    run = evenhand("contest", "run", "task.yaml", "sent.jsonl", "--record", "record.jsonl", folder=tmp_path)
    views = [
        evenhand("contest", *one, folder=tmp_path)
        for one in (("show", "latest", "--json"), ("verify", "latest", "--json"), ("report", "latest", "-o", "r.html"))
    ]

    assert [done.returncode for done in views] == [0, 0, 0], [done.stderr for done in (run, *views)]
    assert json.loads(views[1].stdout)["not_replayed"] == []
    given = ("theirs.py", "sent.jsonl")
    files = [one for one in tmp_path.rglob("*") if one.is_file() and one.name not in given and one.suffix != ".pyc"]
    assert {"record.jsonl", "seen.txt", "store.sqlite", "r.html"} <= {one.name for one in files}
    everything = "".join(one.read_bytes().decode("utf-8", "replace") for one in files)
    everything += "".join(done.stdout + done.stderr for done in (run, *views))
    assert [value for value in PERSONAL if value in everything] == []


@pytest.mark.parametrize("keep", ["raw", "masked"])
def test_a_known_secret_in_a_contest_is_found_nowhere(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, keep: str
) -> None:
    """In a submission, a challenge, the reason of what was set aside, or a comment of the task."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("SHOP_TOKEN", SECRET)
    sent = [{"id": id, "author": id, "at": "2026-01-01T00:00:00Z", "text": f"It is worth {worth}. {SECRET} {id}"}
            for worth, id in ((80, "ana"), (75, "ben"))]  # fmt: skip
    wrong = {"id": "cy", "author": "cy", "at": SECRET, "text": "x"}
    (tmp_path / "sent.jsonl").write_text("\n".join(map(json.dumps, [*sent, wrong])))
    doubt = {"by": "ben", "at": "2026-01-03T00:00:00Z", "reason": f"It is {SECRET[::-1]}."}
    (tmp_path / "doubts.jsonl").write_text(json.dumps(doubt))
    files = ContestFiles(task=Path("task.yaml"), submissions=Path("sent.jsonl"), challenges=Path("doubts.jsonl"))
    with server() as judge, server() as other:
        times = {"deadline": "2026-01-02T00:00:00Z", "challenge_period": "2 days"}
        judges = {"judges": [judge.judge], "challenge_judges": [other.judge]}
        whole = {**TASK, **times, **judges, "mode": "quality_first", "keep": keep}
        (tmp_path / "task.yaml").write_text(f"# {SECRET}\n{yaml.safe_dump(whole)}")

        played = [_play(files) for _ in range(2)]

    assert [one.exit_code for one in played] == [0, 4]
    record = played[0].record
    assert record["set_aside"][0]["why"].startswith(f"at must be a time in ISO 8601, got '{HIDDEN}'")
    assert verify_contest(None, "latest").not_replayed == ()
    given = ("sent.jsonl", "doubts.jsonl", "task.yaml")
    kept = [one for one in tmp_path.rglob("*") if one.is_file() and one.name not in given]
    everything = "".join(one.read_bytes().decode("utf-8", "replace") for one in kept)
    everything += json.dumps([[one.record for one in played], judge.asked, other.asked])
    assert [form for form in (SECRET, SECRET[::-1]) if form in everything] == []
    assert all(HIDDEN in json.dumps(asked) for asked in (judge.asked, other.asked, record["events"]))


def _play(files: ContestFiles) -> ContestResult:
    return asyncio.run(play_contest_files(files, how=JudgeOptions(), connect=ConnectionOptions())).result
