"""A judge that an imported run names is a word: no command, route, page or tool makes a connection of it."""

import asyncio
import gzip
import io
import json
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner
from starlette.testclient import TestClient

import evenhand as package
from evenhand import InputError, run_sync
from evenhand.cli.app import app
from evenhand.mcp.tools import AssistantTools
from evenhand.models.connections import Connections
from evenhand.models.requests import ChainedModel
from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.workflows.align import AlignOptions, align_run
from evenhand.workflows.assistant import ConfinedUserProject
from evenhand.workflows.probe import ProbeSettings, set_probe
from evenhand.workflows.runs import export_run, import_run, list_runs

Json = dict[str, Any]
SAMPLES = [{"id": f"s{at}", "input": f"Question {at}", "output": f"Hello {at}"} for at in range(24)]
LABELS = [
    {"sample": f"s{at}", "variant": "output", "criterion": "kind", "score": int(at % 4 > 0), "rater": "p"}
    for at in range(24)
]
EVAL: Json = {"name": "desk", "samples": SAMPLES, "rubric": {"criteria": [{"id": "kind", "asks": "Is it kind?"}]}}
# Names that would import code, read a file, load a model, or send a key somewhere.
NAMES = ("python:canary:sing", "openai-compatible:http://127.0.0.1:9/v1/m", "replay:canary.jsonl", "openai/m")
MAKER = "python:guest_maker:judge"
JUDGE = """
import json
def judge(request):
    return json.dumps({"criteria": {id: {"evidence": ["Hello"], "reason": "r", "answer": "yes"} for id in request.ids}})
"""
FILES = {"LABELS": "labels.jsonl", "NAME": "mine", "CONTROL": ""}
OPTIONS = {  # What makes a command go as far as it can.
    "align": ("--labels", "labels.jsonl"),
    "probe set": ("--labels", "labels.jsonl"),
    "trust": ("--labels", "labels.jsonl"),
    "audit": ("--labels", "labels.jsonl"),
    "labels next": ("--labels", "labels.jsonl"),
    "runs rescore": ("--rubric", "other.yaml"),
    "runs export": ("-o", "again.gz"),
    "baseline set": ("--name", "theirs"),
}
SERVERS = ("view",)  # It serves until it is stopped; its pages are walked as routes.


def rename_judge(packed: bytes, name: str) -> bytes:
    """The file of a run with another judge wherever one is named, and a checksum that is right."""
    lines = gzip.decompress(packed).splitlines(keepends=True)[:-1]
    text = b"".join(lines).replace(MAKER.encode(), name.encode())
    return gzip.compress(text + json.dumps({"sha256": sha256(text).hexdigest()}).encode() + b"\n")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """The file of a finished run."""
    folder = tmp_path_factory.mktemp("made")
    with pytest.MonkeyPatch.context() as patch:
        patch.chdir(folder)
        (folder / "guest_maker.py").write_text(JUDGE, "utf-8")
        (folder / "eval.yaml").write_text(json.dumps({**EVAL, "judges": [MAKER]}), "utf-8")
        made = run_sync("eval.yaml")
        export_run(None, made.id, "run.gz", io.BytesIO())
    return (folder / "run.gz").read_bytes()


@pytest.fixture(params=NAMES)
def guest(
    request: pytest.FixtureRequest, exported: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> tuple[str, str]:
    """A run that was imported, and the judge that it names."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-user-12345678")
    Path("canary.py").write_text("from pathlib import Path\nPath('sung').touch()\nsing = print\n", "utf-8")
    Path("labels.jsonl").write_text("".join(json.dumps(one) + "\n" for one in LABELS), "utf-8")
    Path("other.yaml").write_text("criteria: [{id: kind, asks: Is it kind?, weight: 2}]\n", "utf-8")
    Path("run.gz").write_bytes(rename_judge(exported, request.param))
    return import_run(None, "run.gz"), request.param


@pytest.fixture
def opened(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all judges that connections were made of; in fact none is."""
    found: list[str] = []

    def note(_: Connections, name: str, make: object = None) -> ChainedModel:
        found.append(name)
        raise InputError("opened")

    monkeypatch.setattr(Connections, "open", note)
    return found


def list_commands(command: click.Command = app, path: tuple[str, ...] = ()) -> Iterator[tuple[str, click.Command]]:
    if not isinstance(command, click.Group):
        yield " ".join(path), command
        return
    context = click.Context(command)
    for name in command.list_commands(context):
        below = command.get_command(context, name)
        assert below is not None
        yield from list_commands(below, (*path, name))


def list_arguments(command: click.Command) -> list[str]:
    """The words that a command's help has for its arguments."""
    context = click.Context(command)
    shown = [one.make_metavar(context) for one in command.params if isinstance(one, click.Argument)]
    return [word.strip("[].…") for one in shown for word in one.split()]


COMMANDS = {name: words for name, one in list_commands() if "RUN" in (words := list_arguments(one))}


@pytest.mark.parametrize("command", [name for name in COMMANDS if name not in SERVERS])
def test_no_command_opens_a_judge_of_a_guest(command: str, guest: tuple[str, str], opened: list[str]) -> None:
    """Every command that takes a run, as far as its help says."""
    words = [guest[0] if word == "RUN" else FILES[word] for word in COMMANDS[command]]
    answer = CliRunner().invoke(app, [*command.split(), *filter(None, words), *OPTIONS.get(command, ())])

    assert opened == [] and not Path("sung").exists(), answer.output
    assert answer.exception is None or isinstance(answer.exception, (SystemExit, InputError)), answer.exc_info


BODIES: dict[str, Json] = {
    "/v1/runs/{id}/align": {"labels": LABELS},
    "/v1/runs/{id}/trust": {"labels": LABELS},
    "/v1/runs/{id}/labels/next": {"labels": LABELS},
}


def test_no_route_and_no_page_opens_a_judge_of_a_guest(guest: tuple[str, str], opened: list[str]) -> None:
    """Everything that the service offers about a run, with every method."""
    service = build_service(ServiceSettings(store=Path(".evenhand")))
    paths = {path: methods for path, methods in service.openapi()["paths"].items() if "/runs/{id}" in path}
    assert "/v1/runs/{id}/align" in paths
    pages = [f"/runs/{guest[0]}/{part}" for part in ("stop", "resume", "label", "what-if")]
    with TestClient(service, base_url="http://127.0.0.1:8321", raise_server_exceptions=False) as client:
        for path, methods in paths.items():
            for method in methods:
                client.request(method, path.replace("{id}", guest[0]), json=BODIES.get(path))
        for page in pages:
            client.post(page, headers={"origin": "http://127.0.0.1:8321"})
            client.get(page)

    assert opened == [] and not Path("sung").exists()


def test_no_tool_of_an_assistant_opens_a_judge_of_a_guest(guest: tuple[str, str], opened: list[str]) -> None:
    """Also where its user allowed the judge of that name: that was said of evals, and not of guests."""
    id, name = guest
    project = ConfinedUserProject(folder=Path(), judges=(name,))
    tools = AssistantTools(project, Connections({})).list_functions()

    tools["compare_runs"](id)
    tools["labels_next"](id)
    tools["trust_run"](id, labels="labels.jsonl")
    with pytest.raises(InputError, match="was imported"):
        asyncio.run(tools["align_run"](id, labels="labels.jsonl"))

    assert opened == [] and not Path("sung").exists()


def test_a_judge_that_is_named_by_hand_is_asked_about_a_guest(guest: tuple[str, str], opened: list[str]) -> None:
    """The refusal says how; then that judge alone is opened."""
    id, _ = guest
    labels = Path("labels.jsonl")
    with pytest.raises(InputError, match=r"was imported.*--model"):
        asyncio.run(align_run(None, id, labels))
    with pytest.raises(InputError, match=r"was imported.*--judge"):
        set_probe(None, "mine", id, labels)
    assert opened == []

    with pytest.raises(InputError, match="opened"):
        asyncio.run(align_run(None, id, labels, options=AlignOptions(judges=("ollama/mine",))))
    with pytest.raises(InputError, match="opened"):
        set_probe(None, "mine", id, labels, settings=ProbeSettings(judge="ollama/mine"))

    assert opened == ["ollama/mine"] * 2


def test_what_is_asked_about_a_guest_is_kept_under_its_mark(
    exported: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The replies are our own, but the texts that stand beside them are not; asked again, they are still there."""
    monkeypatch.chdir(tmp_path)
    note = "with open('asked', 'a') as asked: asked.write('x')\n    return"
    Path("asked_maker.py").write_text(JUDGE.replace("return", note), "utf-8")
    Path("labels.jsonl").write_text("".join(json.dumps(one) + "\n" for one in LABELS), "utf-8")
    Path("run.gz").write_bytes(exported)
    id, options = import_run(None, "run.gz"), AlignOptions(judges=("python:asked_maker:judge",))
    asyncio.run(align_run(None, id, Path("labels.jsonl"), options=options))
    asked = Path("asked").read_text("utf-8")
    asyncio.run(align_run(None, id, Path("labels.jsonl"), options=options))

    assert Path("asked").read_text("utf-8") == asked
    assert [one.imported for one in list_runs(None)] == [True] * 3


def test_the_judges_of_stored_runs_are_opened_in_one_place() -> None:
    """A new module that opens judges by name says here where it has the names from."""
    root = Path(package.__file__).parent
    opening = ("find_judge_by_name(", "connections.open(")
    found = {
        file.relative_to(root).as_posix()
        for file in root.rglob("*.py")
        if any(one in file.read_text("utf-8") for one in opening)
    }

    known = {
        "models/connections.py": "a name that it is given",
        "judging/open_judge.py": "a name that it is given",
        "evals/variants/makers.py": "an eval",
        "runs/setup.py": "an eval",
        "workflows/contest_judges.py": "a task",
        "workflows/judge.py": "a program or a request",
        "workflows/judge_files.py": "the command line",
        "workflows/rubric_draft.py": "the command line",
        "workflows/align.py": "the command line: the proposer",
        "workflows/probe.py": "a probe, whose judge was opened when it was sealed",
        "workflows/models.py": "a run",
    }
    assert found == set(known)
