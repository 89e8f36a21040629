"""Notes beside labels: no keys, no half of one, and no personal data that the run does not keep."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from starlette.testclient import TestClient

from evenhand import run_sync
from evenhand.evals.variants.variant import EndpointVariant
from evenhand.workflows.labelling import LONGEST_NOTE
from evenhand.workflows.run import RunOptions
from tests.web.stored_runs import build_help_desk
from tests.web.test_label_pages import OWN, answer


def test_a_note_does_not_keep_what_a_service_was_sent_in_the_run(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process that serves the page has not run the eval, but the run names the variable."""
    monkeypatch.setenv("SVC_AUTH", "svcauthvalue-12")
    desk = build_help_desk()
    sent = EndpointVariant(url="http://127.0.0.1:9/${SVC_AUTH}")
    eval = replace(desk, variants={**desk.variants, "sent": sent})
    run = run_sync(eval, options=RunOptions(place=tmp_path / "store")).id
    client.post(f"/runs/{run}/label", data={"rater": "ada", "action": "draw", "count": "1"}, headers=OWN)

    answer(client, run, note="it said svcauthvalue-12")

    [line, *_] = [json.loads(line) for line in client.get(f"/runs/{run}/labels.jsonl").text.splitlines()]
    assert line["note"] == "it said [key hidden]"


@pytest.mark.parametrize("secret", ["sk-label-note-123456", "ada.lovelace@example.org"])
def test_no_half_of_a_key_or_an_address_is_left_at_the_end_of_a_long_note(
    client: TestClient, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, secret: str
) -> None:
    """Cut first, what is left of it is not known for one."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-label-note-123456")
    run = run_sync(replace(build_help_desk(), keep="masked"), options=RunOptions(place=tmp_path / "store")).id
    client.post(f"/runs/{run}/label", data={"rater": "ada", "action": "draw", "count": "1"}, headers=OWN)

    answer(client, run, note="n " * ((LONGEST_NOTE - len(secret)) // 2 + 2) + secret)

    stored = b"".join(path.read_bytes() for path in (tmp_path / "store").glob("store.sqlite*"))
    assert secret[:-4].encode() not in stored
