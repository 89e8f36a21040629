"""A run that was stopped: its counts say of what they are, and what was spent before goes on being counted."""

import json
import re
from datetime import datetime

import pytest
import requests
from starlette.testclient import TestClient

from evenhand.store.run_holds import name_lock_process
from evenhand.web.pages import render_fragment
from evenhand.workflows.report import load_user_report_head
from evenhand.workflows.run_following import view_run_following
from evenhand.workflows.run_resuming import add_pause_of_resumed_run
from tests.runs.stored import keep_run, result, sample
from tests.service.serving import wait_until
from tests.web.watched_runs import HeldJudge, start_watched_run, view_run


def read_page(address: str, run: str) -> str:
    text = re.sub(r"<[^>]*>", " ", requests.get(f"{address}/runs/{run}", timeout=30).text)
    return re.sub(r"\s+", " ", text)


def stop_run(address: str, run: str, held: HeldJudge) -> None:
    wait_until(lambda: (view_run(address, run)["progress"] or {}).get("done", 0) >= 2)
    requests.post(f"{address}/runs/{run}/stop", headers={"origin": address}, timeout=30)
    held.free.set()
    wait_until(lambda: view_run(address, run)["state"] == "stopped")


def test_tokens_of_a_resumed_run_go_on_from_those_before(workbench: str, held: HeldJudge) -> None:
    """Somebody who watches what a run costs would see it fall."""
    held.limit = 5  # Each sample is asked about again, as nothing is quoted: with fewer, it would hold the second.
    run = start_watched_run(workbench, held)
    stop_run(workbench, run, held)
    before = view_run(workbench, run)["progress"]
    held.hold_again(2)
    requests.post(f"{workbench}/runs/{run}/resume", headers={"origin": workbench}, timeout=30)
    wait_until(lambda: view_run(workbench, run)["progress"]["done"] > before["done"])
    after = view_run(workbench, run)["progress"]

    assert after["tokens"] > before["tokens"] > 0
    assert f"{after['tokens']:,} tokens" in read_page(workbench, run)


def test_counts_of_a_stopped_run_say_of_what_they_are(workbench: str, held: HeldJudge) -> None:
    """Of 8 samples with 2 repeats there are 16 to score, and samples that were read are not samples with a result."""
    held.limit = 5
    run = start_watched_run(workbench, held, repeats=2)
    wait_until(lambda: (view_run(workbench, run)["progress"] or {}).get("done", 0) >= 2)
    live = read_page(workbench, run)
    stop_run(workbench, run, held)
    page = read_page(workbench, run)
    done = view_run(workbench, run)["progress"]["done"]

    assert re.search(r"Samples × 2 repeats \d of 16", live)
    said = re.search(r"(\d) samples? with a result and (\d) without one yet(?:, (\d|none) of these in the list)?", page)
    listed, without, read = said.groups()  # type: ignore[union-attr]
    assert page.count("no result yet") == (int(without) if read is None else int(read.replace("none", "0")))
    assert int(listed) + int(without) == 8
    assert int(listed) == -(-done // 2)
    assert f"Stopped before its end: {listed} of 8 samples." in page
    assert re.findall(r"(\d) of 8\b", page) == [listed] * 2


RUN = "20261116-090000-aaaaaa"


def test_a_stopped_run_has_one_count_of_its_samples(client: TestClient) -> None:
    """A sample counts once it has a result, whether all variants have theirs, or it was only read."""
    results = [result(at, name, 3.0) for at in range(9) for name in ("old", "new")]
    results += [result(9, "old", 3.0), result(10, "new", 3.0)]
    store = client.app.state.store  # type: ignore[attr-defined]
    read = [sample(at, tags=["even" if at % 2 == 0 else "odd"]) for at in range(17)]
    planned = {"samples": 120}
    scores: dict[str, list[float]] = {"old": [], "new": []}
    keep_run(store, RUN, scores, samples=read, results=results, state="stopped", setup_changes=planned)
    page = client.get(f"/runs/{RUN}").text
    following = view_run_following(store, RUN)

    assert (following.done, following.total) == (11, 120)
    assert set(re.findall(r"(\d+) of 120", page)) == {"11"}
    assert "11 samples with a result and 109 without one yet, 6 of these in the list" in page
    tags = re.findall(r'<th scope="row">(even|odd)</th><td class="n">(\d+)</td>', page)
    assert tags == [("even", "6"), ("odd", "5")]


def test_a_run_that_goes_on_says_what_fails_and_counts_it_once(client: TestClient) -> None:
    """Who sees “judge” alone pays until the end for replies that nobody can read."""
    store = client.app.state.store  # type: ignore[attr-defined]
    given: dict[str, object] = {"judge": "strict", "evidence": [], "reason": "", "score": None}
    unread = [given | {"criterion": id, "why_not": "strict: unreadable: no answer was given"} for id in ("a", "b")]
    shy = given | {"criterion": "a", "why_not": "strict: abstained: it cannot see the file"}
    results = [result(at, "old", None, judgments=unread + [shy] * (at == 0), state="incomplete") for at in range(3)]
    keep_run(store, RUN, {"old": []}, results=results, state="stopped", samples=[sample(at) for at in range(9)])
    following = view_run_following(store, RUN)
    page = " ".join(re.sub(r"<[^>]*>", " ", render_fragment("progress.html.j2", following=following)).split())

    assert list(following.failures) == ["judge", "abstention"]
    assert "Without a score 3 outputs, most often judge: strict: unreadable: no answer was given ; abstention:" in page


def test_the_pause_before_a_resume_is_no_time_of_the_run(client: TestClient, monkeypatch: pytest.MonkeyPatch) -> None:
    """A run that was stopped overnight did not take a day; neither while it goes on nor when it is over."""
    store = client.app.state.store  # type: ignore[attr-defined]
    keep_run(store, RUN, {"old": [3.0]}, state="stopped")  # From 9:00 to 9:01.
    row = add_pause_of_resumed_run(store, store.find_run(RUN), "2026-11-17T09:00:00+00:00")
    store.hold_run(RUN, name_lock_process(), row["setup"])
    monkeypatch.setattr(type(store), "now", lambda _: datetime.fromisoformat("2026-11-17T09:00:30+00:00"))
    live = view_run_following(store, RUN)
    ended = {**store.find_run(RUN), "ended": "2026-11-17T09:02:00+00:00", "state": "finished"}

    assert (live.state, live.seconds) == ("running", 90)
    assert load_user_report_head(store, ended)["run"]["seconds"] == 180


def test_a_killed_run_was_left_at_its_last_result(client: TestClient) -> None:
    """Nobody noted its end, and what came after was not work."""
    store = client.app.state.store  # type: ignore[attr-defined]
    at = {"at": "2026-11-16T09:00:40+00:00"}
    keep_run(store, RUN, {"old": []}, results=[{**result(0, "old", 3.0), **at}], state="stopped")
    killed = {**store.find_run(RUN), "ended": None, "state": "running"}

    row = add_pause_of_resumed_run(store, killed, "2026-11-16T10:00:40+00:00")

    assert json.loads(row["setup"])["paused"] == 3600
