"""The page of one sample: what was asked, every output side by side, and how each came to its score."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from evenhand.report.html.sample_page import MARK_WORDS, build_sample_page
from evenhand.web.pages import WorkbenchRoute, render_page
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.run_samples import find_sample_neighbours, load_run_sample

router = APIRouter(route_class=WorkbenchRoute)


@router.get("/runs/{id}/samples/{position}")
def get_sample_page(request: Request, id: str, position: int, _: OperatorViewer) -> Response:
    """One sample in full, with the next one to look at."""
    store = request.app.state.store
    head, sample = load_run_sample(store, id, position)
    beside = find_sample_neighbours(store, id, position)
    return render_page(
        request, "sample.html.j2", **build_sample_page(head, sample), beside=beside, mark_words=MARK_WORDS
    )
