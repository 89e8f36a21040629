"""How long pages of the workbench take over a run of 100,000 samples, beside a bare page of the same framework."""

import random
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from starlette.testclient import TestClient
from tests.runs.stored import keep_run

from benchmarks.figure import Figure
from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.store.store import Store
from evenhand.web.workbench import add_workbench

MANY, TAKES = 100_000, 9
RUN = "20261116-090000-aaaaaa"
MILLISECONDS, KILOBYTES = 100, 500
PAGES = {
    "first page of its samples": f"/runs/{RUN}",
    "a page far down": f"/runs/{RUN}?page=900",
    "those that moved most": f"/runs/{RUN}?order=moved",
    "one sample": f"/runs/{RUN}/samples/5",
}


def measure_workbench() -> Iterator[Figure]:
    """The least of several takes, after one that fills what is kept; and the first take of all, before anything is."""
    chance = random.Random(0)
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder) / "store"
        with Store.open(place, {}) as store:
            scores = {name: [chance.choice((1.0, 2.5, 4.0)) for _ in range(MANY)] for name in ("old", "new")}
            keep_run(store, RUN, scores)
        app = build_service(ServiceSettings(store=place, requests_per_minute=1_000_000))
        add_workbench(app)
        with TestClient(app, base_url="http://127.0.0.1:8321") as client:
            bare, _ = _take(client, "/healthz")
            first = _time_page(client, PAGES["first page of its samples"])[0]
            client.get(f"/runs/{RUN}?whole=true")  # Its samples are ranked once.
            for name, path in PAGES.items():
                took, size = _take(client, path)
                value = f"{took:.0f} ms ({took / bare:.0f} × bare)"
                holds = took < MILLISECONDS and size < 1000 * KILOBYTES
                target = f"< {MILLISECONDS} ms, {KILOBYTES} kB"
                yield Figure(f"workbench, {MANY:,} samples: {name}", value, target, holds)
            print(f"        the first page that a new process sends of it: {first:.0f} ms")


def _take(client: TestClient, path: str) -> tuple[float, int]:
    return min(_time_page(client, path) for _ in range(TAKES))


def _time_page(client: TestClient, path: str) -> tuple[float, int]:
    began = time.perf_counter()
    answer = client.get(path)
    assert answer.status_code == 200, path
    return 1000 * (time.perf_counter() - began), len(answer.content)
