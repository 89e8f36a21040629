"""Labels by keyboard: one output after the other, blind to variant and judge, each answer stored before the next."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import RedirectResponse

from evenhand.errors import InputError
from evenhand.report.html.trust_section import build_labelling_progress
from evenhand.service.callers import Caller
from evenhand.service.problems import find_http_problem
from evenhand.web.pages import WorkbenchRoute, quote_page_url_part, read_page_form, render_page
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.labelling import (
    draw_batch_to_label,
    label_queued_output,
    open_labelling,
    undo_labelling_answer,
)
from evenhand.workflows.labelling_progress import export_label_file, measure_labelling_progress
from evenhand.workflows.runs import find_run_listing
from evenhand.workflows.trust import encode_run_trust

router = APIRouter(route_class=WorkbenchRoute)
RaterName = Annotated[str, Query(max_length=80)]
LABEL_FILE_HEADERS = {
    "x-content-type-options": "nosniff",
    "cache-control": "private, no-store",
}


@router.get("/runs/{id}/label")
def get_label_page(request: Request, id: str, viewer: OperatorViewer, rater: RaterName = "") -> Response:
    """What a person labels next; before that, who labels and how much."""
    return _render_labelling_page(request, id, _find_page_rater(viewer, rater))


@router.post("/runs/{id}/label")
async def post_label_answer(request: Request, id: str, viewer: OperatorViewer) -> Response:
    """Store an answer, take one back, or draw more; then what comes next."""
    form = await read_page_form(request)
    rater = _find_page_rater(viewer, form.get("rater", ""))
    try:
        await asyncio.to_thread(_carry_out_page_form, request, id, rater, form)
    except InputError as error:
        fault = find_http_problem(error).faults[0]
        return await asyncio.to_thread(_render_labelling_page, request, id, rater, refused=fault, status=422)
    return RedirectResponse(
        f"/runs/{quote_page_url_part(id)}/label?rater={quote_page_url_part(rater)}", status_code=303
    )


@router.get("/runs/{id}/label/progress")
def get_labelling_progress(
    request: Request, id: str, viewer: OperatorViewer, rater: RaterName = "", done: bool = False
) -> Response:
    """What the labels come to by now: it takes the whole run, so the page asks for it apart."""
    found = measure_labelling_progress(request.app.state.store, id, _find_page_rater(viewer, rater))
    trust = encode_run_trust(found.trust) if found.trust else None
    return render_page(request, "label_progress.html.j2", done=done, **build_labelling_progress(found, trust))


@router.get("/runs/{id}/labels.jsonl")
def get_label_file(request: Request, id: str, _: OperatorViewer) -> Response:
    """The labels of a run as a file that calibrate and trust read."""
    store = request.app.state.store
    text, name = export_label_file(store, id), "labels.jsonl"
    if find_run_listing(store, id).imported:  # A line of such a file has no place for the mark.
        name = f"labels-of-imported-{find_run_listing(store, id).id}.jsonl"
    headers = {**LABEL_FILE_HEADERS, "content-disposition": f'attachment; filename="{name}"'}
    return Response(text, media_type="application/x-ndjson; charset=utf-8", headers=headers)


def _carry_out_page_form(request: Request, run: str, rater: str, form: dict[str, str]) -> None:
    store, action = request.app.state.store, form.get("action", "answer")
    if action == "undo":
        undo_labelling_answer(store, run, rater)
    elif action == "draw":
        count, after = (_read_whole_number_of_page_form(form.get(name, "")) for name in ("count", "after"))
        draw_batch_to_label(store, run, count or 0, after=after)
    else:
        asked = {name.removeprefix("criterion-"): id for name, id in form.items() if name.startswith("criterion-")}
        scores = {id: form[f"score-{at}"] for at, id in asked.items() if f"score-{at}" in form}
        label_queued_output(store, run, rater, form.get("item", ""), scores, form.get("note", "").strip())


def _read_whole_number_of_page_form(text: str) -> int | None:
    return int(text) if text.isdecimal() and len(text) < 6 else None


def _find_page_rater(viewer: Caller, named: str) -> str:
    """Whoever signed in labels under that name; on this machine and without tokens, people say who they are."""
    return viewer.name if viewer.id else named.strip()


def _render_labelling_page(request: Request, run: str, rater: str, *, status: int = 200, **shown: Any) -> Response:
    task = open_labelling(request.app.state.store, run, rater)
    return render_page(request, "label.html.j2", status=status, task=task, **{"refused": None, **shown})
