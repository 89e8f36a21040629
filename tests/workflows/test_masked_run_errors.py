"""What a judge's server says of a question, and of its answers, in a run that keeps no personal data."""

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from evenhand.store.store import Store
from evenhand.testing import FakeServer
from evenhand.workflows.service_runs import RunWorkflowControl, carry_out_run
from tests.cli.command import evenhand
from tests.workflows.test_masked_contest_judges import ESCAPED, TOLD, Naming, Refusing, find_personal
from tests.workflows.test_masked_contests import PERSONAL

REPLY = json.dumps({"criteria": {"a": {"evidence": [], "reason": "REASON", "answer": "yes"}}})


def put_eval(folder: Path, keep: str, judge: str, **changes: Any) -> None:
    (folder / "sent.jsonl").write_text(json.dumps({"id": "s", "input": "q", "output": "hello"}))
    whole = {
        "name": "said",
        "keep": keep,
        "samples": "sent.jsonl",
        "variants": {"output": {}},
        "rubric": {"criteria": [{"id": "a", "asks": "Is it?"}]},
        "judges": [judge],
        **changes,
    }
    (folder / "eval.yaml").write_text(yaml.safe_dump(whole))


@pytest.mark.parametrize("keep", ["masked", "none"])
@pytest.mark.parametrize("status", [400, 401, 413])
def test_why_a_server_refuses_is_not_kept_as_it_came(tmp_path: Path, keep: str, status: int) -> None:
    """Of a judge, and of a model under test."""
    with Refusing(lambda _: status) as server:
        variants = {"output": {}, "live": {"model": server.judge, "prompt": "{input}"}}
        put_eval(tmp_path, keep, server.judge, variants=variants)
        done = evenhand("run", "eval.yaml", folder=tmp_path)
        shown = evenhand("report", "latest", "--json", folder=tmp_path)

    assert find_personal(tmp_path, done, shown) == []


@pytest.mark.parametrize("keep", ["masked", "none"])
@pytest.mark.parametrize("kind", [Naming, FakeServer])
def test_what_a_server_replies_is_not_kept_as_it_came(tmp_path: Path, keep: str, kind: type[FakeServer]) -> None:
    """Also where escapes hide it, in a reply and in what is read from it."""
    with kind(lambda _: f"```json\n{REPLY.replace('REASON', ESCAPED)}\n```") as server:
        put_eval(tmp_path, keep, server.judge)
        done = evenhand("run", "eval.yaml", folder=tmp_path)
        shown = evenhand("report", "latest", "--json", folder=tmp_path)

    assert done.returncode in (0, 1), done.stderr
    assert find_personal(tmp_path, done, shown) == []


@pytest.mark.parametrize("keep", ["masked", "none"])
def test_why_a_run_of_a_service_failed_is_not_kept_as_it_came(tmp_path: Path, keep: str) -> None:
    """It may quote what was sent: a worker of another version can refuse what was taken."""
    sample = {"id": "s", "input": "q", "output": "o", TOLD: 1}
    sent = {"eval": {"name": "e", "keep": keep, "samples": [sample]}, "options": {}}
    with Store.open(tmp_path, {}) as store:
        store.requests.add_run({"id": "r", "name": "e", "made": "2026-01-01", "content": json.dumps(sent)})

        carry_out_run(store, "r", RunWorkflowControl())

        kept = store.requests.find_run("r")
    assert kept is not None
    assert (kept["state"], "•••@•••" in kept["why"]) == ("failed", True)
    assert [value for value in PERSONAL if value in json.dumps(kept)] == []
