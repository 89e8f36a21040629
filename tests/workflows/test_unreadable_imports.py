"""What is found unreadable in an imported run only later is refused then, as that run's problem, at every door."""

import asyncio
import io
import json
import sqlite3
from pathlib import Path
from typing import Any

import pytest
from mcp_types import CallToolResult
from starlette.testclient import TestClient

from evenhand import run_sync
from evenhand.mcp.server import build_assistant_server
from evenhand.models.connections import Connections
from evenhand.report.phrases import IMPORTED_RUN
from evenhand.service.app import build_service
from evenhand.service.settings import ServiceSettings
from evenhand.web.workbench import add_workbench
from evenhand.workflows.assistant import ConfinedUserProject
from evenhand.workflows.rescore import rescore_run
from evenhand.workflows.runs import export_run, import_run, list_runs
from evenhand.workflows.starter import write_starter_eval
from tests.cli.command import evenhand

TOLD = "was imported, and its file holds something that cannot be read (TypeError)"
ADDRESS = "http://127.0.0.1:8321"


@pytest.fixture(params=["imported", "own"])
def run(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> tuple[str, bool]:
    """A run whose rows nobody can read, written past every check; and whether it is a guest."""
    monkeypatch.chdir(tmp_path)
    write_starter_eval(".")
    id = run_sync("eval.yaml").id
    if request.param == "imported":
        export_run(None, id, "run.evenhand", io.BytesIO())
        for file in Path(".evenhand").glob("store*"):
            file.unlink()
        import_run(None, "run.evenhand")
    store = sqlite3.connect(".evenhand/store.sqlite")
    for rowid, text in store.execute("SELECT rowid, content FROM results").fetchall():
        content = {**json.loads(text), "judgments": 5}
        store.execute("UPDATE results SET content = ? WHERE rowid = ?", (json.dumps(content), rowid))
    store.execute("DELETE FROM columns")  # They are worked out from the rows.
    store.commit()
    store.close()
    return id, request.param == "imported"


def test_a_command_refuses_it(run: tuple[str, bool]) -> None:
    """It was told as a fault of Evenhand (exit code 3); what breaks on a run of ours still is one."""
    id, guest = run

    done = evenhand("audit", id)

    assert done.returncode == (2 if guest else 3), done.stderr
    assert (f"run {id} {TOLD}" in done.stderr.replace("\n", " ")) is guest
    assert (f"run {id} {IMPORTED_RUN}" in done.stderr) is guest
    assert ("a fault of Evenhand itself" in done.stderr) is not guest


def test_a_route_and_a_page_refuse_it(run: tuple[str, bool], caplog: pytest.LogCaptureFixture) -> None:
    """A problem with the mark of a guest, and a page with it; no traceback is logged of either."""
    id, guest = run
    service = build_service(ServiceSettings(store=Path(".evenhand")))
    add_workbench(service)
    with TestClient(service, base_url=ADDRESS, raise_server_exceptions=False) as client:
        answer = client.get(f"/v1/runs/{id}/report?format=markdown")
        page = client.get(f"/judges/audit?run={id}")

    told: dict[str, Any] = answer.json()
    assert (answer.status_code, page.status_code) == ((422, 422) if guest else (500, 500)), (told, page.text)
    assert (TOLD in told["detail"], told.get("imported")) == ((True, True) if guest else (False, None))
    assert (TOLD in page.text, IMPORTED_RUN in page.text) == (guest, guest)
    assert any(one.exc_info for one in caplog.records) is not guest


def test_a_tool_refuses_it(run: tuple[str, bool]) -> None:
    """An assistant is told which run it is, and no name of an exception of ours alone."""
    id, guest = run
    server = build_assistant_server(ConfinedUserProject(folder=Path()), Connections({}))

    async def call() -> CallToolResult:
        return await server.call_tool("compare_runs", {"control": id})  # type: ignore[return-value]

    if not guest:
        with pytest.raises(Exception, match="Error executing tool"):
            asyncio.run(call())
        return
    (told,) = asyncio.run(call()).content
    assert told.type == "text"
    assert TOLD in told.text and f"run {id} {IMPORTED_RUN}" in told.text


def test_what_is_rescored_from_a_guest_is_a_guest(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Its rows are those of the file, scored anew."""
    monkeypatch.chdir(tmp_path)
    write_starter_eval(".")
    Path("other.yaml").write_text("criteria: [{id: page, asks: Does it name the page?}]\n", "utf-8")
    export_run(None, run_sync("eval.yaml").id, "run.evenhand", io.BytesIO())
    for file in Path(".evenhand").glob("store*"):
        file.unlink()

    rescore_run(None, import_run(None, "run.evenhand"), "other.yaml")

    assert [one.imported for one in list_runs(None)] == [True, True]
