"""Rubrics: those that ship and those in the folder, drawn as steps, edited, and saved as new files."""

from __future__ import annotations

import asyncio
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from evenhand.errors import InputError
from evenhand.report.html.rubric_page import build_rubric_page
from evenhand.service.problems import ProblemError
from evenhand.web.pages import WorkbenchRoute, quote_url_part, read_page_form, render_page
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.rubric import find_rubric, list_rubrics, read_rubric_file_text
from evenhand.workflows.rubric_editing import (
    check_rubric_text,
    list_rubric_files,
    read_rubric_draft,
    save_rubric_text,
)

router = APIRouter(route_class=WorkbenchRoute)
NO_FILES = "files are written from this machine only"


@router.get("/rubrics")
def get_rubrics_page(request: Request, _: OperatorViewer) -> Response:
    """All rubrics that can be opened."""
    files = list_rubric_files() if _has_files(request) else []
    return render_page(request, "rubrics.html.j2", library=list_rubrics(), files=files)


@router.get("/rubrics/shown")
def get_rubric_page(request: Request, _: OperatorViewer, name: str = "", file: str = "") -> Response:
    """One rubric: its criteria with anchors, and its method drawn as steps."""
    text = _read_text(request, name, file)
    if file:
        checked = check_rubric_text(text, file)
        if checked.rubric is None:  # Its faults are shown beside its lines.
            return RedirectResponse(f"/rubrics/edit?file={quote_url_part(file)}", status_code=303)
        found: Any = checked.rubric
    else:
        found = find_rubric(name)
    return render_page(request, "rubric.html.j2", **build_rubric_page(found), shown_name=name, file=file, text=text)


@router.get("/rubrics/edit")
def get_rubric_editor(request: Request, _: OperatorViewer, name: str = "", file: str = "") -> Response:
    """A rubric as text, with what the checker says of each line."""
    text = _read_text(request, name, file)
    target = file or f"my-{name or 'rubric'}.yaml"
    return _render_editor(request, text=text, target=target, is_saved=bool(file))


@router.post("/rubrics/edit")
async def post_rubric_editor(request: Request, _: OperatorViewer) -> Response:
    """Check a text, or save it as a file; a file that is there is replaced only where that is ticked."""
    form = await read_page_form(request)
    text, target = form.get("text", "").replace("\r\n", "\n"), form.get("target", "").strip()
    if form.get("action") != "save":
        return await asyncio.to_thread(_render_editor, request, text=text, target=target)
    if not _has_files(request):
        raise ProblemError(403, NO_FILES, "copy the text")
    checked = await asyncio.to_thread(check_rubric_text, text)
    if checked.rubric is None:
        refused = "It is not saved: fix what is marked first."
        return await asyncio.to_thread(_render_editor, request, text=text, target=target, refused=refused, status=422)
    try:
        await asyncio.to_thread(save_rubric_text, target, text, replace=form.get("replace") == "yes")
    except InputError as error:
        fault = error.faults[0]
        refused = f"{target}: {fault.what}" + (f" ({fault.hint})" if fault.hint else "")
        exists = "already" in fault.what
        return await asyncio.to_thread(
            _render_editor, request, text=text, target=target, refused=refused, exists=exists, status=409
        )
    return RedirectResponse(f"/rubrics/shown?file={quote_url_part(target)}", status_code=303)


def _render_editor(
    request: Request,
    *,
    text: str,
    target: str,
    is_saved: bool = False,
    refused: str = "",
    exists: bool = False,
    status: int = 200,
) -> Response:
    checked = check_rubric_text(text)
    return render_page(
        request,
        "rubric_edit.html.j2",
        status=status,
        text=text,
        target=target,
        checked=checked,
        is_saved=is_saved,
        refused=refused,
        exists=exists,
        has_files=_has_files(request),
        drawn=build_rubric_page(checked.rubric) if checked.rubric else None,
    )


def _read_text(request: Request, name: str, file: str) -> str:
    if file and not _has_files(request):
        raise ProblemError(403, "files are read from this machine only", "open a rubric that ships")
    library = list_rubrics()
    shipped = [*(one.name for one in library.rubrics), *(one.name for one in library.methods)]
    if not file and name not in shipped:
        raise ProblemError(404, f"no rubric {name[:60]!r} ships", "go to the list of rubrics")
    return read_rubric_draft(file) if file else read_rubric_file_text(name)


def _has_files(request: Request) -> bool:
    """Whether files of the folder are shown and written: only to whoever sits at this machine."""
    return bool(request.app.state.settings.is_loopback)
