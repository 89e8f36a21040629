"""A run that was stopped: its counts say of what they are, and what was spent before goes on being counted."""

import re

import requests

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
    assert f"Samples × 2 repeats {done} of 16" in page
    listed, without = re.search(r"(\d) samples, (\d) of them without a result", page).groups()  # type: ignore[union-attr]
    assert page.count("no result yet") == int(without) > 0
    assert int(listed) - int(without) == -(-done // 2)
