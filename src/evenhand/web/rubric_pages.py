"""Rubrics drawn as steps, edited and saved as new files; and what if a run had been scored with other numbers."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from evenhand.errors import InputError
from evenhand.report.html.rubric_page import build_rubric_report_page, build_what_if_report_page, draw_weight_map
from evenhand.service.problems import ProblemError, find_http_problem
from evenhand.web.pages import WorkbenchRoute, quote_page_url_part, read_page_form, render_page
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.rubric import (
    check_user_rubric_text,
    find_rubric,
    find_user_rubric_files,
    list_rubrics,
    list_user_rubric_files,
    load_user_rubric_draft,
    read_rubric_file_text,
    save_user_rubric_text,
    suggest_user_rubric_file,
)
from evenhand.workflows.what_if import ask_what_if_of_run, map_weights_of_stored_run, save_what_if_rubric_file

router = APIRouter(route_class=WorkbenchRoute)
WHAT_IF_FILE = "what-if"
NO_FILES = "files are written from this machine only"


@router.get("/rubrics")
def get_rubrics_page(request: Request, _: OperatorViewer) -> Response:
    """All rubrics that can be opened."""
    files = list_user_rubric_files() if _shows_workbench_files(request) else []
    return render_page(request, "rubrics.html.j2", library=list_rubrics(), files=files)


@router.get("/rubrics/shown")
def get_rubric_page(
    request: Request, _: OperatorViewer, name: str = "", file: str = "", saved: bool = False
) -> Response:
    """One rubric: its criteria with anchors, and its method drawn as steps."""
    text = _read_editor_page_text(request, name, file)
    if file:
        checked = check_user_rubric_text(text, file)
        if checked.rubric is None:  # Its faults are shown beside its lines.
            return RedirectResponse(f"/rubrics/edit?file={quote_page_url_part(file)}", status_code=303)
        found: Any = checked.rubric
    else:
        found = find_rubric(name)
    drawn, saved = build_rubric_report_page(found), saved and bool(file)
    return render_page(request, "rubric.html.j2", **drawn, shown_name=name, file=file, text=text, saved=saved)


@router.get("/rubrics/edit")
def get_rubric_editor(request: Request, _: OperatorViewer, name: str = "", file: str = "") -> Response:
    """A rubric as text, with what the checker says of each line."""
    text = _read_editor_page_text(request, name, file)
    target = file or suggest_user_rubric_file(f"my-{name or 'rubric'}")
    return _render_editor_page(request, text=text, target=target, exists=bool(file))


@router.post("/rubrics/edit")
async def post_rubric_editor(request: Request, _: OperatorViewer) -> Response:
    """Check a text, or save it as a file; a file that is there is replaced only where that is ticked."""
    form = await read_page_form(request)
    text, target = form.get("text", "").replace("\r\n", "\n"), form.get("target", "").strip()
    if form.get("action") != "save":
        return await asyncio.to_thread(_render_editor_page, request, text=text, target=target)
    if not _shows_workbench_files(request):
        raise ProblemError(403, NO_FILES, "copy the text")
    checked = await asyncio.to_thread(check_user_rubric_text, text)
    if checked.rubric is None:
        refused = "It is not saved: fix what is marked first."
        return await asyncio.to_thread(
            _render_editor_page, request, text=text, target=target, refused=refused, status=422
        )
    try:
        await asyncio.to_thread(save_user_rubric_text, target, text, replace=form.get("replace") == "yes")
    except InputError as error:
        fault = error.faults[0]
        refused = f"{target}: {fault.what}" + (f" ({fault.hint})" if fault.hint else "")
        exists = "already" in fault.what
        return await asyncio.to_thread(
            _render_editor_page, request, text=text, target=target, refused=refused, exists=exists, status=409
        )
    return RedirectResponse(f"/rubrics/shown?file={quote_page_url_part(target)}&saved=true", status_code=303)


def _render_editor_page(
    request: Request,
    *,
    text: str,
    target: str,
    refused: str = "",
    exists: bool = False,
    status: int = 200,
) -> Response:
    checked = check_user_rubric_text(text)
    return render_page(
        request,
        "rubric_edit.html.j2",
        status=status,
        text=text,
        target=target,
        checked=checked,
        refused=refused,
        exists=exists,
        has_files=_shows_workbench_files(request),
        drawn=build_rubric_report_page(checked.rubric) if checked.rubric else None,
    )


def _read_editor_page_text(request: Request, name: str, file: str) -> str:
    if file and not _shows_workbench_files(request):
        raise ProblemError(403, "files are read from this machine only", "open a rubric that ships")
    library = list_rubrics()
    shipped = [*(one.name for one in library.rubrics), *(one.name for one in library.methods)]
    if not file and name not in shipped:
        raise ProblemError(404, f"no rubric {name[:60]!r} ships", "go to the list of rubrics")
    return load_user_rubric_draft(file) if file else read_rubric_file_text(name)


def _shows_workbench_files(request: Request) -> bool:
    """Whether files of the folder are shown and written: only to whoever sits at this machine."""
    return bool(request.app.state.settings.is_loopback)


@router.get("/runs/{id}/what-if")
def get_what_if_page(request: Request, id: str, _: OperatorViewer) -> Response:
    """What a run comes to with the numbers in the address; without any, as it is stored."""
    saved = find_user_rubric_files(request.query_params.getlist("saved")) if _shows_workbench_files(request) else []
    return _render_what_if_page(request, id, dict(request.query_params), saved=saved)


@router.get("/runs/{id}/what-if/map")
def get_weight_map(request: Request, id: str, _: OperatorViewer, across: str = "", up: str = "") -> Response:
    """Over which weights each variant wins, with the other numbers in the address."""
    store, changed = request.app.state.store, dict(request.query_params)
    try:
        found = map_weights_of_stored_run(store, id, across, up, changed)
    except InputError:  # A rubric that cannot be so: the page says it, and shows the run as it is stored.
        found = map_weights_of_stored_run(store, id, across, up)
    missing = found if isinstance(found, str) else ""
    shown = None if missing else draw_weight_map(found)
    return render_page(request, "weight_map.html.j2", map=shown, missing=missing)


@router.post("/runs/{id}/what-if")
async def post_what_if(request: Request, id: str, _: OperatorViewer) -> Response:
    """Save the changed rubric as a file; one that is there is replaced only where that is ticked."""
    form = await read_page_form(request)
    if not request.app.state.settings.is_loopback:
        raise ProblemError(403, NO_FILES, "write the numbers into the rubric")
    target, store = form.get("target", "").strip(), request.app.state.store
    try:
        saved = await asyncio.to_thread(
            save_what_if_rubric_file, store, id, form, target, replace_file=form.get("replace") == "yes"
        )
    except InputError as error:
        fault = find_http_problem(error).faults[0]
        shown = {"refused": fault, "target": target, "exists": "already" in fault["what"]}
        return await asyncio.to_thread(_render_what_if_page, request, id, form, status=409, **shown)
    kept = [(name, value) for name, value in form.items() if name not in ("target", "replace")]
    query = urlencode([*kept, *(("saved", name) for name in saved)])
    return RedirectResponse(f"/runs/{quote_page_url_part(id)}/what-if?{query}", status_code=303)


def _render_what_if_page(
    request: Request, id: str, changed: Mapping[str, str], *, status: int = 200, **shown: Any
) -> Response:
    """A rubric that cannot be so is said to, beside the run as it is stored."""
    store, wrong = request.app.state.store, None
    try:
        asked = ask_what_if_of_run(store, id, changed)
    except InputError as error:
        asked = ask_what_if_of_run(store, id)  # Where the run itself cannot answer, this says why.
        wrong, status = find_http_problem(error).faults[0], 422
    given = {"refused": None, "saved": [], "target": suggest_user_rubric_file(WHAT_IF_FILE), "exists": False, **shown}
    page = build_what_if_report_page(asked)
    moved = {one.name: changed[one.name] for one in asked.controls if one.name in changed and not wrong}
    page["map_query"] = f"?{urlencode(moved)}" if moved else ""
    has_files = request.app.state.settings.is_loopback
    return render_page(
        request, "what_if.html.j2", status=status, wrong=wrong, has_files=has_files, sent=changed, **page, **given
    )
