"""An imported run is marked wherever it is shown: by every command, on every page, in every answer, in every file."""

import asyncio
import io
import json
import re
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import click
import pytest
from click.testing import CliRunner
from fastapi.routing import APIRoute
from starlette.testclient import TestClient

from evenhand import run_sync
from evenhand.cli.app import app
from evenhand.mcp.tools import TOOL_NAMES, AssistantTools
from evenhand.models.connections import Connections
from evenhand.report.phrases import IMPORTED_RUN
from evenhand.service.app import build_service
from evenhand.service.run_routes import MEDIA_TYPES
from evenhand.service.settings import ServiceSettings
from evenhand.web.workbench import ROUTERS, add_workbench
from evenhand.workflows.assistant import ConfinedUserProject
from evenhand.workflows.runs import export_run, import_run, list_runs
from evenhand.workflows.starter import write_starter_eval
from evenhand.workflows.tokens import create_service_token
from tests.cli.command import evenhand
from tests.cli.test_calibrate import SECOND
from tests.conftest import ROOT
from tests.workflows.test_guest_judges import COMMANDS, list_commands
from tests.workflows.test_guests import packed, unpacked

Json = dict[str, Any]
ADDRESS = "http://127.0.0.1:8321"
SHOW_NOTHING = {  # Commands that take a run, and their flags, and why they need no mark.
    "view": "it serves until it is stopped; its pages are walked as routes",
    "runs delete": "it says that the run is gone",
    "runs export": "its file is no view of the run: whoever imports it marks it",
    "calibrate --maps": "it says what --write writes",
}
WORDS = {"LABELS": "labels.jsonl", "NAME": "mine", "CONTROL": ""}
NEEDED = {  # What a command needs to come to its end; OUT is a file that is looked into.
    "runs rescore": ("--rubric", "other.yaml"),
    "trust": ("--labels", "labels.jsonl"),
    "labels next": ("--labels", "labels.jsonl"),
    "align": ("--labels", "labels.jsonl", "--model", "embedded"),
    "probe set": ("--labels", "labels.jsonl", "--judge", "embedded", "--repeats", "2", "--force"),
    "compare --html": ("-o", "OUT.html"),
    "report --parquet": ("-o", "OUT.parquet"),
}
# Commands that show runs without being given one, once a probe and a baseline rest on the run.
LISTS = (
    "runs list",
    "history",
    "history --json",
    "history help-desk",
    "history help-desk --json",
    "baseline list",
    "baseline list --json",
    "probe list",
    "probe list --json",
    "probe show mine",
    "probe show mine --json",
    "probe check mine",
    "probe check mine --json",
)


def list_forms() -> Iterator[str]:
    """Every command that takes a run, plain and with each of its flags."""
    for name, command in list_commands():
        if name in COMMANDS and name not in SHOW_NOTHING:
            yield name
            options = [one for one in command.params if isinstance(one, click.Option) and one.is_flag]
            forms = [f"{name} {max(one.opts, key=len)}" for one in options]
            yield from (form for form in forms if form not in SHOW_NOTHING)


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished run of the starter with two judges, its file, and labels for it."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        write_starter_eval(".")
        Path("other.yaml").write_text("criteria: [{id: page, asks: Does it name the page?}]\n", "utf-8")
        Path("second.py").write_text(SECOND, "utf-8")
        labels = (ROOT / "examples" / "labels.jsonl").read_text("utf-8").splitlines(keepends=True)
        last = {json.loads(line)["sample"]: None for line in labels}.popitem()[0]
        left = [line for line in labels if json.loads(line)["sample"] != last]  # One is left to be labelled.
        Path("labels.jsonl").write_text("".join(left), "utf-8")
        text = Path("eval.yaml").read_text("utf-8")
        Path("eval.yaml").write_text(text.replace("[embedded]", '[embedded, "python:second:generous"]'), "utf-8")
        export_run(None, run_sync("eval.yaml").id, "run.evenhand", io.BytesIO())
    return folder


class Stored(NamedTuple):
    """A run in the store of this folder, and whether it is a guest there."""

    id: str
    guest: bool


@pytest.fixture(params=["imported", "own"])
def run(request: pytest.FixtureRequest, exported: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Stored:
    """The run as a guest in a store of its own, and as it was made."""
    shutil.copytree(exported, tmp_path, dirs_exist_ok=True)
    monkeypatch.chdir(tmp_path)
    if request.param == "own":
        return Stored(list_runs(None)[0].id, guest=False)
    shutil.rmtree(".evenhand")
    return Stored(import_run(None, "run.evenhand"), guest=True)


def is_marked(shown: str) -> bool:
    return re.search(r"\bimported\b", re.sub(r'"imported": ?(false|null)', "", shown)) is not None


def call(form: str, run: Stored) -> str:
    """All that a command prints and writes."""
    name = next((one for one in COMMANDS if f"{form} ".startswith(f"{one} ")), "")
    given = filter(None, [run.id if word == "RUN" else WORDS[word] for word in COMMANDS.get(name, ())])
    more = dict.fromkeys((*NEEDED.get(name, ()), *(NEEDED.get(form, ()) if form != name else ())))
    answer = CliRunner().invoke(app, [*form.split(), *given, *more], env={"COLUMNS": "200"})
    allowed = answer.exception is None or (isinstance(answer.exception, SystemExit) and answer.exception.code in (0, 1))
    assert allowed, (form, answer.output, answer.exc_info)
    written = [file.read_bytes().decode("utf-8", "replace") for file in Path().glob("OUT*")]
    for file in Path().glob("OUT*"):
        file.unlink()
    return "\n".join(written) if written and form in NEEDED else answer.stdout


def test_every_command_that_shows_a_run_marks_a_guest(run: Stored) -> None:
    """Found from the tree of commands, so that a new one or a new form cannot be forgotten; an own run has no mark."""
    forms = [*list_forms(), "baseline set", *LISTS]
    assert {"audit --json", "runs show --setup", "report --parquet", "labels check"} <= set(forms)

    wrong = [form for form in forms if is_marked(call(form, run)) is not run.guest and form != "baseline set"]

    assert wrong == []


TELLING_ON_STDERR = {  # Commands that say on standard error what they did or refused, and their exit codes.
    "compare RUN:nope": 2,
    "compare RUN --control nope": 2,
    "compare baseline:main RUN:nope": 2,
    "compare RUN --html -o OUT.html": 0,
    "labels check wrong.jsonl RUN": 2,
    "labels next RUN --criterion nope": 2,
    "labels next RUN --labels labels.jsonl -o OUT.jsonl": 0,
    "report RUN -o OUT.json": 0,
    "runs delete RUN": 2,
    "runs export RUN -o OUT.evenhand": 0,
    "runs rescore RUN --rubric wrong.yaml": 2,
    "trust RUN --labels wrong.jsonl": 2,
}


def test_what_is_said_of_a_guest_on_standard_error_is_marked_there(run: Stored) -> None:
    """A refusal may quote the run, and whoever reads it may see nothing else of the command."""
    Path("wrong.jsonl").write_text('{"sample": "nobody", "rater": "ann", "score": 1}\n', "utf-8")
    Path("wrong.yaml").write_text("criteria: [{id: other, asks: Is it something else?}]\n", "utf-8")
    assert evenhand("baseline", "set", run.id, "--name", "main").returncode == 0

    for form, code in TELLING_ON_STDERR.items():
        done = evenhand(*(run.id if word == "RUN" else word.replace("RUN:", f"{run.id}:") for word in form.split()))
        assert done.returncode in (code, 1 if code == 0 else code), (form, done.stderr)
        assert (f"run {run.id} {IMPORTED_RUN}" in done.stderr) is run.guest, (form, done.stderr)
    taken = evenhand("baseline", "set", run_sync("eval.yaml").id, "--name", "main")
    assert is_marked(taken.stdout) is run.guest
    evenhand("baseline", "set", run.id, "--name", "main")
    gone = evenhand("baseline", "remove", "main")
    assert is_marked(gone.stdout) is run.guest


def test_a_run_that_is_refused_when_it_is_imported_is_no_guest(exported: Path, tmp_path: Path) -> None:
    """It is not here, and was looked up only to be checked."""
    rows = [
        (kind, {**row, **({"number": -1.0} if kind == "results" else {})})
        for kind, row in unpacked(exported / "run.evenhand")
    ]
    done = evenhand("runs", "import", str(packed(rows, tmp_path / "run.evenhand")), folder=tmp_path)

    assert done.returncode == 2
    assert not is_marked(done.stderr)


def test_a_parquet_report_names_the_origin_in_every_row(run: Stored) -> None:
    """As CSV does, for whoever joins files and never sees their heads."""
    parquet = pytest.importorskip("pyarrow.parquet")
    CliRunner().invoke(app, ["report", run.id, "-o", "run.parquet"])

    rows = parquet.read_table("run.parquet").to_pylist()

    assert {row.get("origin") for row in rows} == {"imported" if run.guest else None}


BODIES: dict[str, Json] = {
    "/v1/runs/{id}/align": {"judges": ["embedded"]},
    "/v1/runs/{id}/trust": {},
    "/v1/runs/{id}/labels/next": {},
}
REFUSED = {  # A finished run is refused there, and nothing of it is shown.
    ("/v1/runs/{id}/resume", "post"),
}


def test_every_route_below_a_run_marks_a_guest(run: Stored) -> None:
    """Found from the description of the API."""
    call("calibrate", run)  # It keeps the labels.
    service = build_service(ServiceSettings(store=Path(".evenhand"), requests_per_minute=100_000))
    found: dict[str, bool] = {}
    with TestClient(service, base_url=ADDRESS) as client:
        for path, methods in service.openapi()["paths"].items():
            for method in methods:
                if not path.startswith("/v1/runs/{id}"):
                    continue
                forms = [f"?format={one}" for one in MEDIA_TYPES] if path.endswith("/report") else [""]
                for form in forms:
                    answer = client.request(method, path.replace("{id}", run.id) + form, json=BODIES.get(path))
                    refused = (path, method) in REFUSED
                    assert (answer.status_code >= 400) is refused, (path, answer.text)
                    found |= {} if refused else {f"{method} {path}{form}": is_marked(answer.text)}

    assert len(found) > 6
    assert [name for name, marked in found.items() if marked is not run.guest] == []


LEAD_ON = {  # What is below a run and is no page about it.
    "/runs/{id}/samples": "it leads to the page of a sample",
    "/runs/{id}/events": "pieces of a page that has the mark",
    "/runs/{id}/labels.jsonl": "what people said of it, as a file that calibrate reads",
}


PAGE_QUERIES = {  # What else a page asks for.
    "/compare/sample": "&run=ID&variant=old&variant=new&id=late-parcel",
    "/runs/{id}/samples/{position}/output": "?variant=new",
}


def test_every_page_of_a_run_marks_a_guest(run: Stored) -> None:
    """Those with a run in their path, and those that are asked for one."""
    call("calibrate", run)
    service = build_service(ServiceSettings(store=Path(".evenhand"), requests_per_minute=100_000))
    add_workbench(service)
    known = [one for router in ROUTERS for one in router.routes if isinstance(one, APIRoute)]
    routes = [one for one in known if "GET" in (one.methods or ())]
    below = [one.path for one in routes if one.path.startswith("/runs/{id}") and one.path not in LEAD_ON]
    asked = [one.path for one in routes if any(each.name == "run" for each in one.dependant.query_params)]
    assert len(below) > 4 and {"/compare", "/judges", "/judges/audit"} <= set(asked)
    paths = [f"{path}{PAGE_QUERIES.get(path, '')}".replace("{id}", run.id).replace("{position}", "0") for path in below]
    paths += [f"{path}?run={run.id}{PAGE_QUERIES.get(path, '').replace('ID', run.id)}" for path in asked]
    paths += ["/", "/judges", "/evals?name=help-desk"]

    with TestClient(service, base_url=ADDRESS) as client:
        answers = {path: client.get(path) for path in paths}
    found = {path: answer.text for path, answer in answers.items()}

    assert {answer.status_code for answer in answers.values()} == {200}
    assert [path for path, text in found.items() if is_marked(text) is not run.guest] == []
    options = re.findall(r"<option[^>]*>([^<]*)", found["/judges"])
    assert [is_marked(one) for one in options] == [run.guest]


def test_whoever_may_not_see_a_run_learns_nothing_of_it(run: Stored) -> None:
    """A page that asks for a token does not say whether the run in its address is a guest."""
    create_service_token(None, role="operator", name="ann")
    service = build_service(ServiceSettings(store=Path(".evenhand")))
    add_workbench(service)
    with TestClient(service, base_url=ADDRESS) as client:
        paths = (f"/runs/{run.id}/label", f"/sign-in?run={run.id}", f"/nowhere?run={run.id}")
        pages = [client.get(path) for path in paths]

    assert not any(is_marked(page.text) for page in pages)


def test_every_tool_of_an_assistant_that_shows_a_run_marks_a_guest(run: Stored) -> None:
    """In the lines that the assistant reads, and in the data."""
    call("calibrate", run)
    tools = AssistantTools(ConfinedUserProject(folder=Path()), Connections({})).list_functions()
    shown = {"compare_runs", "trust_run", "labels_next", "align_run"}
    assert {name for name in TOOL_NAMES if "run" in name or "labels" in name} - shown == {"run_eval"}

    for name in sorted(shown):
        given = {"judges": ["embedded"]} if name == "align_run" else {}
        answer = tools[name](run.id, **given)
        answer = asyncio.run(answer) if asyncio.iscoroutine(answer) else answer
        for told in (answer.content[0].text, json.dumps(answer.structured_content)):
            assert is_marked(told) is run.guest, name


def test_the_mark_says_what_it_means() -> None:
    """The word alone could be anything; what the tests look for is the beginning of a sentence."""
    assert is_marked(IMPORTED_RUN) and not is_marked('{"imported": false}')
