"""A forged run is refused when it is imported, or commands, pages and routes can read it."""

import io
import json
import random
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

from evenhand import StoreError, run_sync
from evenhand.cli.app import app
from evenhand.errors import EvenhandError
from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.store.store import Store
from evenhand.web.workbench import add_workbench
from evenhand.workflows.runs import export_run, import_run
from evenhand.workflows.starter import write_starter_eval
from tests.cli.test_calibrate import SECOND
from tests.conftest import ROOT
from tests.workflows.mutations import mutate_json
from tests.workflows.test_guests import Rows, packed, unpacked

SETUP = ("how", "prompts", "fingerprints", "judges", "frame", "variants", "assertions", "selection", "rubrics")
RESULT = ("preferences", "composite_steps", "scorecard", "judgments", "assertions", "output", "findings", "seats")
MUTATIONS = 8
CALLS = 3  # Of each kind, for one forged run: all of them are called in the course of a test.
COMMANDS = (
    "runs show RUN --full",
    "report RUN --junit",
    "report RUN --markdown",
    "align RUN --labels labels.jsonl --model embedded",
    "probe set mine RUN --labels labels.jsonl --judge embedded --repeats 2 --force",
    "calibrate labels.jsonl RUN",
    "runs rescore RUN --rubric other.yaml",
    "trust RUN --labels labels.jsonl",
    "labels next RUN",
    "compare RUN",
)
REQUESTS = (
    "GET /runs/RUN",
    "GET /runs/RUN/samples/0",
    "GET /runs/RUN/what-if",
    "GET /judges?run=RUN",
    "GET /judges/audit?run=RUN",
    "GET /v1/runs/RUN/report?format=junit",
    "POST /v1/runs/RUN/trust",
    "POST /v1/runs/RUN/labels/next",
    "POST /v1/runs/RUN/align",
)
PAIRS = """name: pairs
dialogue: pairwise
samples: [{id: a, input: "?", outputs: {old: "1", new: "2"}}, {id: b, input: "?", outputs: {old: "3", new: "2"}}]
rubric: {criteria: [Is it the larger number?]}
judges: ["python:tests.runs.test_pairs:fair"]
"""


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The rows of two runs: the starter with two judges, and one whose outputs were compared in pairs."""
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(tmp_path_factory.mktemp("made"))
        write_starter_eval(".")
        Path("second.py").write_text(SECOND, "utf-8")
        text = Path("eval.yaml").read_text("utf-8")
        Path("eval.yaml").write_text(text.replace("[embedded]", '[embedded, "python:second:generous"]'), "utf-8")
        Path("pairs.yaml").write_text(PAIRS, "utf-8")
        found = {}
        for name in ("eval", "pairs"):
            export_run(None, run_sync(f"{name}.yaml").id, "run", io.BytesIO())
            found[name] = json.dumps(unpacked(Path("run")))
        return found


@pytest.fixture
def client(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[TestClient]:
    monkeypatch.chdir(tmp_path)
    labels = (ROOT / "examples" / "labels.jsonl").read_text("utf-8").splitlines(keepends=True)
    last = json.loads(labels[-1])["sample"]  # It is left to be labelled.
    Path("labels.jsonl").write_text("".join(line for line in labels if json.loads(line)["sample"] != last), "utf-8")
    Path("other.yaml").write_text("criteria: [{id: page, asks: Does it name the page?}]\n", "utf-8")
    service = build_service(ServiceSettings(store=Path(".evenhand"), requests_per_minute=100_000))
    add_workbench(service)
    with TestClient(service, base_url="http://127.0.0.1:8321", raise_server_exceptions=False) as client:
        yield client


def _call_command(form: str, run: str) -> str:
    """What breaks in it; empty where it was done, or refused in words of ours."""
    done = CliRunner().invoke(app, form.replace("RUN", run).split())
    return "" if isinstance(done.exception, EvenhandError | SystemExit | None) else repr(done.exception)


def _send_request(client: TestClient, form: str, run: str, most: int = 499) -> str:
    method, path = form.replace("RUN", run).split()
    labels = [json.loads(line) for line in Path("labels.jsonl").read_text("utf-8").splitlines()]
    body = {"labels": labels, **({"judges": ["embedded"]} if path.endswith("/align") else {})}
    answer = client.request(method, path, json=body if method == "POST" else None)
    return answer.text if answer.status_code > most or "cannot be read (" in answer.text else ""


def test_no_door_refuses_the_run_as_it_was(made: dict[str, str], client: TestClient) -> None:
    """One that does would find nothing in a forged run."""
    rows: Rows = [(kind, row) for kind, row in json.loads(made["eval"])]
    run = import_run(None, str(packed(rows, Path("whole.evenhand"))))

    for form in COMMANDS:
        done = CliRunner().invoke(app, form.replace("RUN", run).split())
        assert isinstance(done.exception, SystemExit | None) and done.exit_code in (0, 1), (form, done.output)
    assert [form for form in REQUESTS if _send_request(client, form, run, most=399)] == []


@pytest.mark.parametrize(("name", "seed"), [("eval", 6), ("eval", 8), ("pairs", 9)])
def test_whatever_is_changed_in_a_run_breaks_no_door(
    name: str, seed: int, made: dict[str, str], client: TestClient
) -> None:
    """Settings, prompts and fingerprints of judges, steps, statements and pairs were not looked at when a run came."""
    chance, taken, broken = random.Random(seed), 0, []
    for _ in range(MUTATIONS):
        rows: Rows = [(kind, row) for kind, row in json.loads(made[name])]
        kind, column, below = chance.choice([("runs", "setup", SETUP), ("results", "content", RESULT)])
        row = chance.choice([row for own, row in rows if own == kind])
        before, row[column] = row[column], mutate_json(row[column], chance, below)
        try:
            run = import_run(None, str(packed(rows, Path("mutated.evenhand"))))
        except StoreError:
            continue
        taken += 1
        found = {form: _call_command(form, run) for form in chance.sample(COMMANDS, CALLS)}
        found |= {form: _send_request(client, form, run) for form in chance.sample(REQUESTS, CALLS)}
        broken += [(form, why, before, row[column]) for form, why in found.items() if why]
        with Store.open(None, {}) as store:
            for one in store.list_runs():
                store.delete_run(one["id"])

    assert broken == []
    assert 0 < taken < MUTATIONS
