"""What judges bring into a masked contest by themselves: nothing of it is kept, recorded or printed as it came."""

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.testing import FakeServer, FakeServerJson
from tests.cli.command import evenhand
from tests.contest.answering import answer
from tests.workflows.test_masked_contests import PERSONAL, TASK

TOLD = ", ".join(PERSONAL)
ESCAPED = "".join(f"\\u{ord(letter):04x}" for letter in TOLD)


class Refusing(FakeServer):
    """It answers with a status, and says whose data it is about."""

    def complete_request(self, body: FakeServerJson) -> tuple[int, FakeServerJson]:
        status, _ = super().complete_request(body)
        return status, {"error": {"message": f"the text with {TOLD} is refused", "type": TOLD, "code": PERSONAL[0]}}


class Naming(FakeServer):
    """It calls its model and its answers after somebody."""

    def complete_request(self, body: FakeServerJson) -> tuple[int, FakeServerJson]:
        status, said = super().complete_request(body)
        return status, {**said, "id": f"id {TOLD}", "model": f"model {TOLD}"}


def put_task(folder: Path, judge: str, **changes: Any) -> None:
    whole = {**TASK, "mode": "fastest_first", "keep": "masked", "judges": [judge], **changes}
    (folder / "task.yaml").write_text(yaml.safe_dump({name: one for name, one in whole.items() if one is not None}))
    sent = {"id": "a", "author": "ana", "at": "2026-01-01T00:00:00Z", "text": "It is worth 80."}
    (folder / "sent.jsonl").write_text(json.dumps(sent))


def run(folder: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """A command of a contest, its replies recorded."""
    return evenhand("contest", *arguments, "--record", "record.jsonl", folder=folder)


def find_personal(folder: Path, *done: subprocess.CompletedProcess[str]) -> list[str]:
    """What is left of the personal data in any file, and in what was printed; escapes are read."""
    given = ("sent.jsonl", "theirs.py", "task.md")
    files = [one for one in folder.rglob("*") if one.is_file() and one.name not in given and one.suffix != ".pyc"]
    everything = "".join(one.read_bytes().decode("utf-8", "replace") for one in files)
    everything += "".join(one.stdout + one.stderr for one in done)
    return [value for value in (*PERSONAL, *ESCAPED.split("\\u002c"), "lopez") if value in everything]


@pytest.mark.parametrize("status", [400, 401, 404, 413])
def test_why_a_server_refuses_is_masked(tmp_path: Path, status: int) -> None:
    """Its message stands in the log, in what is kept beside it, and in what is printed."""
    with Refusing(lambda _: status) as server:
        put_task(tmp_path, server.judge)
        done = run(tmp_path, "run", "task.yaml", "sent.jsonl")
        shown = evenhand("contest", "show", "latest", "--json", folder=tmp_path)

    assert find_personal(tmp_path, done, shown) == []
    assert "•••@•••" in shown.stdout
    assert shown.returncode == 0, shown.stderr


def test_why_dimensions_were_not_chosen_is_masked(tmp_path: Path) -> None:
    """Nothing is stored then, but it is printed."""
    with Refusing(lambda _: 400) as server:
        put_task(tmp_path, server.judge, dimensions=None)
        done = run(tmp_path, "run", "task.yaml", "sent.jsonl")

    assert (done.returncode, "•••@•••" in done.stderr) == (2, True)
    assert find_personal(tmp_path, done) == []


def test_what_a_server_calls_its_model_and_its_answers_is_masked(tmp_path: Path) -> None:
    """Its own words, too: they are kept with each call, and recorded."""
    with Naming(answer) as server:
        put_task(tmp_path, server.judge)
        done = run(tmp_path, "run", "task.yaml", "sent.jsonl")

    assert done.returncode == 0, done.stderr
    assert find_personal(tmp_path, done) == []
    reply = json.loads((tmp_path / "record.jsonl").read_text().splitlines()[0])["reply"]
    assert [reply[name].split()[0] for name in ("model", "request_id")] == ["model", "id"]


def escaped(body: FakeServerJson) -> str:
    """An answer with personal data in every reason and every dimension, in escapes."""
    said = answer(body)
    for word in ('"read"', '"weighed"', '"noted"', '"short"', 'sources?"'):
        said = said.replace(word, f'{word[:-1]} {ESCAPED}"')
    return said


@pytest.mark.parametrize("dimensions", [TASK["dimensions"], None])
def test_escapes_in_a_reply_hide_nothing(tmp_path: Path, dimensions: Any) -> None:
    """In the store, the record, and in dimensions that a judge chose; what is kept says the same when read again."""
    with FakeServer(escaped) as server:
        put_task(tmp_path, server.judge, dimensions=dimensions)
        done = run(tmp_path, "run", "task.yaml", "sent.jsonl")
        verified = evenhand("contest", "verify", "latest", "--json", folder=tmp_path)
        again = ("run", "task.yaml", "sent.jsonl", "--again", "b", "--replay", "record.jsonl", "--json")
        replayed = evenhand("contest", *again, folder=tmp_path)

    assert [one.returncode for one in (done, verified, replayed)] == [0, 0, 0], [done.stderr, replayed.stderr]
    assert json.loads(verified.stdout)["not_replayed"] == []
    assert find_personal(tmp_path, done, replayed) == []


@pytest.mark.parametrize("command", ["check", "dimensions"])
def test_what_is_recorded_before_a_contest_is_masked(tmp_path: Path, command: str) -> None:
    """A record of advice, or of dimensions, is a record of the same texts."""
    (tmp_path / "task.md").write_text("It is worth 80.")
    with FakeServer(escaped) as server:
        put_task(tmp_path, server.judge, dimensions=TASK["dimensions"] if command == "check" else None)
        done = run(tmp_path, command, "task.yaml", *(["task.md"] if command == "check" else []))

    assert done.returncode in (0, 1), done.stderr
    assert find_personal(tmp_path, done) == []
    assert "•••@•••" in (tmp_path / "record.jsonl").read_text("utf-8").encode().decode("unicode_escape", "replace")


TOKENS = """
import json
from evenhand.models.requests import Reply, TokenLogprobs
def judge(request):
    text = dict(request.about.texts).get("submission") or dict(request.about.texts).get("output") or ""
    one = {"evidence": [text[:20]], "reason": "r", "score": True, "revision_hint": "h"}
    said = json.dumps({"criteria": {id: one for id in request.ids}})
    tokens = ("ana", ".lopez@mail", ".example.org") if "SPELT" else ("{",)
    likely = (("x", -0.1), ("LIKELY", -2.0))
    return Reply(text=said, places=tuple(TokenLogprobs(one, likely) for one in tokens))
"""


@pytest.mark.parametrize(("spelt", "likely"), [("yes", "x"), ("", PERSONAL[0]), ("", "harmless")])
def test_tokens_that_tell_are_not_kept(tmp_path: Path, spelt: str, likely: str) -> None:
    """A reply brings the tokens that it was made of, and those that it might have been."""
    (tmp_path / "theirs.py").write_text(TOKENS.replace("SPELT", spelt).replace("LIKELY", likely))
    put_task(tmp_path, "python:theirs:judge")
    done = evenhand("contest", "run", "task.yaml", "sent.jsonl", folder=tmp_path)
    kept = (tmp_path / ".evenhand" / "store.sqlite").read_bytes()

    assert "returned" not in done.stderr
    assert find_personal(tmp_path, done) == []
    assert (b"harmless" in kept, b'"places"' in kept) == ((likely == "harmless"),) * 2
