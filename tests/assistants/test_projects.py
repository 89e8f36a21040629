"""What an eval in a project may do for an assistant, with the user's trust and without it."""

from __future__ import annotations

import asyncio
import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand import EvalError
from evenhand.errors import EvenhandError
from evenhand.files.methods import LIBRARY
from evenhand.judging.prompts import DECISIONS, load_prompts
from evenhand.workflows.assistant import ConfinedUserProject
from evenhand.workflows.run import RunOptions, run
from tests.service.serving import Served

CHECK = {"custom": {"command": ["touch", "ran.txt"]}}
PARTS: dict[str, dict[str, Any]] = {
    "starts a program": {"variants": {"new": {"command": "touch ran.txt"}}},
    "imports Python": {"variants": {"new": {"python": "mine:make"}}},
    "calls an address": {"variants": {"new": {"http": {"url": "http://127.0.0.1:9/${HOME}"}}}},
    "asks 'python:mine:make'": {"variants": {"new": {"model": "python:mine:make", "prompt": "{input}"}}},
    "runs code": {"assertions": [CHECK]},
    "is 'custom'": {"checks": {"ours": CHECK}},
    "the judge 'python:mine:judge'": {"judges": ["python:mine:judge"]},
    "the judge 'openai-compatible": {"judges": ["openai-compatible:http://127.0.0.1:9/v1/m"]},
    "samples.jsonl: is outside": {"samples": "../samples.jsonl"},
}


def write_eval(folder: Path, **parts: Any) -> None:
    """An eval that judges one recorded output, changed in some part."""
    plain = {"samples": [{"id": "a", "input": "x", "output": "y"}], "rubric": {"criteria": ["Is it short?"]}}
    (folder / "eval.yaml").write_text(json.dumps({**plain, **parts}))


@pytest.mark.parametrize("what", PARTS)
def test_an_eval_that_is_not_trusted_runs_no_code(what: str, tmp_path: Path) -> None:
    """An assistant can write an eval; it must not start programs by that, nor send keys anywhere."""
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "samples.jsonl").write_text('{"id": "a", "input": "x", "output": "y"}\n')
    (folder / "mine.py").write_text("raise SystemExit('imported')\n")
    write_eval(folder, **PARTS[what])

    with pytest.raises(EvalError, match="--trust-evals") as refused:
        ConfinedUserProject(folder=folder).load_project_eval("eval.yaml")

    assert what in str(refused.value)
    trusted = ConfinedUserProject(folder=folder, trust_evals=True).load_project_eval("eval.yaml")
    assert trusted.name == "eval"
    assert not (folder / "ran.txt").exists()


OUTSIDE = "hunter2-PRIVATE"
NAMING: dict[str, Callable[[str], dict[str, Any]]] = {
    "prices": lambda file: {"prices": file},
    "judges": lambda file: {"judges": file},
    "schema": lambda file: {"assertions": [{"json_schema": file}]},
    "rubric": lambda file: {"rubric": file},
    "extended rubric": lambda file: {"rubric": {"extends": file}},
    "method": lambda file: {"rubric": {"method": file, "criteria": ["Is it short?"]}},
    "prompt": lambda file: {"variants": {"v": {"model": "openai/m", "prompt": {"file": file}}}},
    "outputs": lambda file: {"variants": {"v": {"outputs": file}}},
    "samples": lambda file: {"samples": {"file": file, "format": "jsonl"}},
    "rubric of a sample": lambda file: {"samples": [{"id": "a", "input": "x", "output": "y", "rubric": file}]},
    "schema of a sample": lambda file: {
        "samples": [{"id": "a", "input": "x", "output": "y", "assertions": [{"json_schema": file}]}]
    },
    "prompt texts": lambda file: {"how": {"language": str(Path(file).parent)}},
}


@pytest.mark.parametrize("linked", [False, True])
@pytest.mark.parametrize("kind", NAMING)
def test_an_eval_that_is_not_trusted_reads_nothing_outside_the_folder(kind: str, linked: bool, tmp_path: Path) -> None:
    """Whatever names the file, by its path or through a link: an error would tell what is in it or that it is."""
    folder, home = tmp_path / "project", tmp_path / "home"
    folder.mkdir()
    home.mkdir()
    (home / "env.yaml").write_text(f"{OUTSIDE}: {{{OUTSIDE}}}\n")
    (home / "system.md").write_text(OUTSIDE)
    (folder / "link").symlink_to(home)
    write_eval(folder, **NAMING[kind]("link/env.yaml" if linked else str(home / "env.yaml")))
    project = ConfinedUserProject(folder=folder, store=tmp_path / "store")

    told = []
    for is_there in (True, False):
        if not is_there:
            shutil.rmtree(home)
        with pytest.raises(EvenhandError) as refused:
            eval = project.load_project_eval("eval.yaml")
            with project.confine_eval_files():
                asyncio.run(run(eval, options=RunOptions(place=project.store)))
        told.append(str(refused.value))

    assert "is outside the folder" in told[0]
    assert OUTSIDE not in told[0]
    assert told[1] == told[0]


MISSING: dict[str, tuple[str, dict[str, Any]]] = {
    **{
        name: (f"house/{name}", {"how": {"language": "house"}})
        for name in (*(f"{one}.md" for one in DECISIONS), "translations.yaml", "pointwise.md")
    },
    "length.md": ("house/length.md", {"how": {"language": "house"}, "debias": "instruct"}),
    "prompt texts": ("sub/texts", {"how": {"language": "texts"}}),
    "rubric of a sample": ("sub/mine", {"samples": [{"id": "a", "input": "x", "output": "y", "rubric": "mine"}]}),
    "rubric from the working directory": ("", {"rubric": "there"}),
    "rubric file from the working directory": ("", {"rubric": "there.yaml"}),
    "rubric file of a sample": (
        "", {"samples": [{"id": "a", "input": "x", "output": "y", "rubric": "there.yaml"}]}
    ),
    "rubric by way of a folder outside": ("sub/out", {"rubric": "out/../project/sub/mine.yaml"}),
    "prices by way of a folder outside": ("sub/out", {"prices": "out/../project/sub/prices.yaml"}),
    "prompt texts by way of a folder outside": ("sub/out", {"how": {"language": "out/../project/house"}}),
    "samples by way of a folder outside": ("sub/out", {"samples": "out/../project/sub/samples.jsonl"}),
}  # fmt: skip


@pytest.mark.parametrize("kind", MISSING)
def test_what_may_be_missing_tells_nothing_of_what_is_outside(
    kind: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whether a path may be read is asked before whether it is there: else a link tells what its target is."""
    linked, parts = MISSING[kind]
    folder, outside, working = tmp_path / "project", tmp_path / "there", tmp_path / "working"
    shutil.copytree(LIBRARY / "prompts" / "en", folder / "house")
    (folder / "sub").mkdir()
    working.mkdir()
    monkeypatch.chdir(folder if linked == "sub/texts" else working)  # Where texts are looked for last.
    for name in ("mine", "prices", "samples"):
        ending = "jsonl" if name == "samples" else "yaml"
        (folder / "sub" / f"{name}.{ending}").write_text('{"id": "a", "input": "x", "output": "y"}\n')
    if linked:
        (folder / linked).unlink(missing_ok=True)
        (folder / linked).symlink_to(outside)
    write_eval(folder if linked.startswith("house") else folder / "sub", judges=["embedded"], **parts)
    eval_file = "eval.yaml" if linked.startswith("house") else "sub/eval.yaml"
    project = ConfinedUserProject(folder=folder, store=tmp_path / "store")

    def tell() -> str:
        load_prompts.cache_clear()  # As a server that was started anew.
        try:
            eval = project.load_project_eval(eval_file)
            with project.confine_eval_files():
                asyncio.run(run(eval, options=RunOptions(place=project.store, fresh=True)))
        except EvenhandError as refused:
            return str(refused)
        return "done"

    missing = tell()
    outside.write_text(OUTSIDE)
    for name in ("there", "there.yaml"):
        (working / name).write_text(OUTSIDE)
    as_file = tell()
    outside.unlink()
    outside.mkdir()

    assert OUTSIDE not in missing
    assert (as_file, tell()) == (missing, missing)


def test_a_rubric_in_the_folder_extends_nothing_outside_it(tmp_path: Path) -> None:
    """Also where no eval names it."""
    folder = tmp_path / "project"
    folder.mkdir()
    (tmp_path / "env.yaml").write_text(OUTSIDE)
    (folder / "mine.yaml").write_text("extends: ../env.yaml\n")
    project = ConfinedUserProject(folder=folder)

    for read in (project.load_project_rubric, project.check_project_rubric):
        with pytest.raises(EvenhandError, match="is outside the folder") as refused:
            read("mine.yaml")
        assert OUTSIDE not in str(refused.value)


@pytest.mark.parametrize(("own", "least"), [(None, 2), (1, 1), (5, 2)])
def test_a_run_costs_no_more_than_the_user_allows(own: int | None, least: int, tmp_path: Path) -> None:
    """Whatever the eval says."""
    write_eval(tmp_path, **({} if own is None else {"budget": own}))

    found = ConfinedUserProject(folder=tmp_path, dollars=Fraction(2)).load_project_eval("eval.yaml")

    assert found.budget is not None
    assert found.budget.money == least


def test_without_the_extra_it_says_what_to_install() -> None:
    """No traceback."""
    script = "import sys; sys.modules['mcp'] = None; sys.argv[1:] = ['mcp'];from evenhand.cli.entry import main; main()"

    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)

    assert done.returncode == 2
    assert "pip install 'evenhand[mcp]'" in done.stderr
    assert "Traceback" not in done.stderr


def _call(served: Served, tool: str, headers: dict[str, str] | None = None, **arguments: Any) -> Any:
    asked = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": tool, "arguments": arguments}}
    accepts = {"accept": "application/json, text/event-stream", "mcp-protocol-version": "2025-06-18"}
    return served.client.post("/mcp", json=asked, headers={**accepts, **(headers or {})})


def test_the_service_offers_the_tools_to_operators_without_any_file(served: Served) -> None:
    """The same tools; files of the machine are not read for a request, and an eval is one."""
    rubric = {"criteria": ["Is it at most 40 words long?"]}

    judged = _call(served, "judge", rubric=rubric, output="Open Orders.", subject="s").json()["result"]
    refused = _call(served, "judge", rubric="ours.yaml", output="x").json()["result"]
    no_run = _call(served, "run_eval", file="eval.yaml").json()["result"]

    assert judged["structuredContent"]["scorecards"][0]["score"] == 1
    assert served.store.evaluations.list_evaluations("s")
    assert "no file is read here" in refused["content"][0]["text"]
    assert "there is no tool 'run_eval'" in no_run["content"][0]["text"]


def test_the_tools_over_http_are_for_operators(served: Served) -> None:
    """As soon as there are tokens, one is needed, and a submitter's is not enough."""
    operator, submitter = served.make_token("operator", "o"), served.make_token("submitter", "s")

    assert _call(served, "list_rubrics").status_code == 401
    assert _call(served, "list_rubrics", submitter).status_code == 403
    assert _call(served, "list_rubrics", operator).status_code == 200
