"""A contest that keeps texts masked: personal data of others reaches neither judges, nor the store, nor a record."""

import json
from pathlib import Path

import yaml

from tests.cli.command import evenhand

PERSONAL = ("ana.lopez@mail.example.org", "4111 1111 1111 1111", "DE89 3704 0044 0532 0130 00", "219-40-1234")
JUDGE = """
import json
def judge(request):
    text = dict(request.about.texts).get("submission") or dict(request.about.texts).get("output") or ""
    open("seen.txt", "a").write(str(request.messages))
    one = {"evidence": [text[:20]], "reason": "PERSONAL", "score": True, "revision_hint": "PERSONAL"}
    return json.dumps({"criteria": {id: one for id in request.ids}})
"""


def test_personal_data_of_a_submission_is_found_nowhere(tmp_path: Path) -> None:
    """After the run, each view of it, its verification, and in the record of replies."""
    told = ", ".join(PERSONAL)
    (tmp_path / "theirs.py").write_text(JUDGE.replace("PERSONAL", told))
    dimensions = [{"id": id, "asks": id, "weight": 0.25, "fixed": id != "own"} for id in
                  ("substantiveness", "credibility", "completeness", "own")]  # fmt: skip
    task = {"name": "t", "description": "d", "acceptance": ["It is good"], "mode": "fastest_first", "keep": "masked"}
    whole = {**task, "judges": ["python:theirs:judge"], "dimensions": dimensions}
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
