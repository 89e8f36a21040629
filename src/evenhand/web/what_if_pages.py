"""What if the rubric had other numbers: they are moved, the run answers at once, and the rubric is saved as a file."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any

from fastapi import APIRouter, Request, Response
from fastapi.responses import RedirectResponse

from evenhand.errors import InputError
from evenhand.report.html.what_if_page import build_weight_map, build_what_if_page
from evenhand.service.problems import ProblemError, find_problem
from evenhand.web.pages import WorkbenchRoute, quote_url_part, read_page_form, render_page
from evenhand.web.rubric_pages import NO_FILES
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.what_if import ask_what_if, map_run_weights, save_what_if

router = APIRouter(route_class=WorkbenchRoute)


@router.get("/runs/{id}/what-if")
def get_what_if_page(request: Request, id: str, _: OperatorViewer) -> Response:
    """What a run comes to with the numbers in the address; without any, as it is stored."""
    return _render_what_if(request, id, dict(request.query_params))


@router.get("/runs/{id}/what-if/map")
def get_weight_map(request: Request, id: str, _: OperatorViewer, across: str = "", up: str = "") -> Response:
    """Over which weights each variant wins."""
    found = map_run_weights(request.app.state.store, id, across, up)
    return render_page(request, "weight_map.html.j2", map=build_weight_map(found) if found else None)


@router.post("/runs/{id}/what-if")
async def post_what_if(request: Request, id: str, _: OperatorViewer) -> Response:
    """Save the changed rubric as a file; one that is there is replaced only where that is ticked."""
    form = await read_page_form(request)
    if not request.app.state.settings.is_loopback:
        raise ProblemError(403, NO_FILES, "write the numbers into the rubric")
    target, store = form.get("target", "").strip(), request.app.state.store
    try:
        await asyncio.to_thread(save_what_if, store, id, form, target, replace_file=form.get("replace") == "yes")
    except InputError as error:
        fault = find_problem(error).faults[0]
        shown = {"refused": fault, "target": target, "exists": "already" in fault["what"]}
        return await asyncio.to_thread(_render_what_if, request, id, form, status=409, **shown)
    return RedirectResponse(f"/rubrics/shown?file={quote_url_part(target)}", status_code=303)


def _render_what_if(
    request: Request, id: str, changed: Mapping[str, str], *, status: int = 200, **shown: Any
) -> Response:
    """A rubric that cannot be so is said to, beside the run as it is stored."""
    store, wrong = request.app.state.store, None
    try:
        asked = ask_what_if(store, id, changed)
    except InputError as error:
        asked = ask_what_if(store, id)  # Where the run itself cannot answer, this says why.
        wrong, status = find_problem(error).faults[0], 422
    given = {"refused": None, "target": "", "exists": False, **shown}
    page = build_what_if_page(asked)
    has_files = request.app.state.settings.is_loopback
    return render_page(
        request, "what_if.html.j2", status=status, wrong=wrong, has_files=has_files, sent=changed, **page, **given
    )
