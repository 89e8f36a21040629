"""Every page over every kind of run: whatever can be recorded can be looked at."""

from __future__ import annotations

import re
from collections.abc import Iterator

import pytest
from fastapi import FastAPI
from playwright.sync_api import expect
from starlette.routing import Route
from starlette.testclient import TestClient

from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.web.workbench import ROUTERS, add_workbench
from evenhand.workflows.report import open_report
from tests.report.browser import Reader
from tests.report.conftest import reader
from tests.web.recorded_runs import SAMPLES, RecordedRuns, record_runs

__all__ = ["reader"]


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> RecordedRuns:
    """A store with a run of each kind."""
    return record_runs(tmp_path_factory.mktemp("recorded"))


@pytest.fixture
def visited(recorded: RecordedRuns) -> Iterator[TestClient]:
    """A workbench over it."""
    app: FastAPI = build_service(ServiceSettings(store=recorded.place))
    add_workbench(app)
    with TestClient(app, base_url="http://127.0.0.1:8321", follow_redirects=False) as client:
        yield client


def test_every_page_opens_over_every_kind_of_run(visited: TestClient, recorded: RecordedRuns) -> None:
    """A fact that a page cannot write must not hide the sample that it is a fact of."""
    answers = {path: visited.get(path).status_code for path in list_paths(recorded)}
    routes = [route for router in ROUTERS for route in router.routes if isinstance(route, Route)]
    pages = {route.path: route.path_regex for route in routes if "GET" in (route.methods or ())}
    unopened = {
        name for name, regex in pages.items() if not any(regex.match(path.partition("?")[0]) for path in answers)
    }

    assert {path: status for path, status in answers.items() if status != 200} == {}
    assert unopened == OF_NO_RUN


# Pages that show nothing of a run, that only lead to another, and streams, which have no end.
OF_NO_RUN = {
    "/assets/{name}", "/runs", "/runs/", "/runs/{id}/samples", "/runs/{id}/events",
    "/contests/{id}", "/contests/{id}/events",
}  # fmt: skip


def list_paths(recorded: RecordedRuns) -> Iterator[str]:
    yield from ("/", "/evals?name=recorded", "/judges", "/rubrics", "/contests", "/sign-in")
    yield from ("/rubrics/shown?name=customer-support", "/rubrics/edit?name=customer-support")
    for run in recorded.runs.values():
        yield from (f"/runs/{run}", f"/judges?run={run}", f"/judges/audit?run={run}", f"/compare?run={run}")
        yield from (f"/runs/{run}/{page}" for page in ("label", "label/progress?rater=Ada", "labels.jsonl?rater=Ada"))
        yield from (f"/runs/{run}/{page}" for page in ("what-if", "what-if/map"))
        yield from (f"/runs/{run}/samples/{position}" for position in range(len(SAMPLES)))
        yield f"/runs/{run}/samples/0/output?variant=new"
        yield f"/compare/sample?run={run}&run={run}&variant=old&variant=new&id=all"


def read_page(client: TestClient, path: str) -> str:
    """What a page says, on one line."""
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", client.get(path).text))


def test_a_sample_shows_all_that_is_recorded_of_an_output(visited: TestClient, recorded: RecordedRuns) -> None:
    """Cost, time, turns and tokens are why some variants are chosen, and the author is who is judged."""
    page = read_page(visited, f"/runs/{recorded.runs['own']}/samples/0")

    assert "latency 800 ms cost $0.0125 turns 2 by openai/gpt-4o" in page
    assert "tokens 1,200 + 80" in page
    assert "Tool calls find_order" in page


def test_a_report_file_shows_all_that_is_recorded_of_an_output(recorded: RecordedRuns, reader: Reader) -> None:
    """A page that is mailed says the same."""
    with open_report(recorded.place, recorded.runs["own"]) as (head, samples):
        seen = reader.open(head, samples)
        seen.sample("all")

    expect(seen.page.locator("dialog")).to_contain_text("cost $0.0125")
    assert seen.troubles == []
