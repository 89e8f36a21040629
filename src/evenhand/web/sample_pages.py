"""The page of one sample: what was asked, every output side by side, and how each came to its score."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from evenhand.report.html.sample_page import MARK_WORDS, build_sample_page
from evenhand.runs.sample_ranking import SampleOrder
from evenhand.web.pages import WorkbenchRoute, build_query_link, render_page
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.run_samples import find_sample_neighbours, load_run_sample

router = APIRouter(route_class=WorkbenchRoute)
SAMPLE_ORDERS: dict[SampleOrder, str] = {
    "attention": "what deserves a look",
    "gates": "failed gates",
    "judges": "judges far apart",
    "moved": "moved most",
    "threshold": "near a gate",
    "lowest": "lowest composite",
    "file": "as in the file",
}


def link_order(order: SampleOrder) -> str:
    """What the address of a sample or a list ends in so that an order is kept."""
    return "" if order == "attention" else build_query_link({"order": order})


@router.get("/runs/{id}/samples/{position}")
def get_sample_page(
    request: Request, id: str, position: int, _: OperatorViewer, order: SampleOrder = "attention"
) -> Response:
    """One sample in full, with those beside it in the order of the list that it was chosen from."""
    store = request.app.state.store
    head, sample = load_run_sample(store, id, position)
    beside = find_sample_neighbours(store, id, position, order)
    shown = build_sample_page(head, sample)
    return render_page(
        request,
        "sample.html.j2",
        **shown,
        beside=beside,
        in_order=link_order(order),
        order_name=SAMPLE_ORDERS[order],
        mark_words=MARK_WORDS,
    )
