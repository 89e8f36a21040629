"""Outputs of their own: all of one as plain text, and two that are compared side by side."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request, Response
from fastapi.responses import PlainTextResponse

from evenhand.report.html.compared_sample import ComparedReportSide, build_compared_sample_report_page
from evenhand.report.html.sample_page import MARK_WORDS
from evenhand.report.phrases import IMPORTED_RUN
from evenhand.service.problems import ProblemError
from evenhand.web.pages import PAGE_HEADERS, WorkbenchRoute, render_page, replace_page_halves
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.run_samples import load_run_sample, load_run_sample_row
from evenhand.workflows.runs import find_run_listing

router = APIRouter(route_class=WorkbenchRoute)


@router.get("/runs/{id}/samples/{position}/output")
def get_sample_output(
    request: Request, id: str, position: int, _: OperatorViewer, variant: str, repeat: int = 0
) -> Response:
    """An output as plain text, all of it, below the mark of a guest: a page of its sample shows only so much."""
    head, sample = load_run_sample(request.app.state.store, id, position)
    found = [one for one in sample["results"] if (one["variant"], one["repeat"]) == (variant, repeat)]
    if not found or not found[0]["output"]:
        raise ProblemError(404, "no such output is in this run", "go to the list of samples")
    mark = f"run {head['run']['id']} {IMPORTED_RUN}\n\n" if head["run"].get("imported") else ""
    return PlainTextResponse(mark + replace_page_halves(found[0]["output"]["text"]), headers=PAGE_HEADERS)


@router.get("/compare/sample")
def get_compared_sample_page(
    request: Request,
    _: OperatorViewer,
    run: Annotated[list[str], Query(min_length=2, max_length=2)],
    variant: Annotated[list[str], Query(min_length=2, max_length=2)],
    sample: Annotated[str, Query(alias="id")],
    force: bool = False,
) -> Response:
    """One sample as two runs have it: the two outputs that are compared side by side, that of the older run first."""
    store = request.app.state.store
    sides = sorted(zip((find_run_listing(store, one) for one in run), variant, strict=True), key=lambda one: one[0].id)
    found = []
    for listing, name in sides:
        position = load_run_sample_row(store, listing.id, sample)
        head, own = load_run_sample(store, listing.id, position)
        is_same = sides[0][1] == sides[1][1]
        called = f"{name} in run {listing.id[-6:]}" if is_same else name
        found.append(ComparedReportSide(name=called, variant=name, head=head, sample=own))
    asked = [*(("run", one.id) for one, _ in sides), *(("variant", name) for _, name in sides)]
    return render_page(
        request,
        "compared_sample.html.j2",
        **build_compared_sample_report_page(found),
        compared_at=f"/compare?{urlencode(asked)}{'&force=true' if force else ''}",
        own_pages=[
            (f"in run {one.head['run']['id'][-6:]}", f"/runs/{one.head['run']['id']}/samples/{one.sample['position']}")
            for one in found
        ],
        mark_words={**MARK_WORDS, "differs": "differs between the two"},
    )
