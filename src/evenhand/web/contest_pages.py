"""Contests: all of them, and each as whoever is signed in may see it now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import EventSourceResponse
from fastapi.sse import ServerSentEvent

from evenhand.report.contest.contest_page import CONTEST_PACKAGE, build_contest_report_page, mask_reported_contest
from evenhand.web.pages import WorkbenchRoute, render_page
from evenhand.web.viewers import Viewer
from evenhand.workflows.contest_listing import list_contests
from evenhand.workflows.contests import load_contest
from evenhand.workflows.live_contest import view_live_contest

router = APIRouter(route_class=WorkbenchRoute)
FOLLOW_SECONDS = 2.0
CLOSED = "closed"


@router.get("/contests")
def get_contests_page(request: Request, viewer: Viewer) -> Response:
    """The contests; others than the operator learn which there are, and no more."""
    here = f"http://127.0.0.1:{request.url.port or 80}"
    return render_page(request, "contests.html.j2", contests=list_contests(request.app.state.store), here=here)


@router.get("/contests/{id}")
def get_contest_page(request: Request, id: str, viewer: Viewer, author: str = "", public: bool = False) -> Response:
    """A contest: whole for the operator, else what the viewer may see of it; an operator may look as others do."""
    store = request.app.state.store
    if viewer.role == "operator" and not author and not public:
        record = load_contest(store, id)
        shown = build_contest_report_page(mask_reported_contest(record))
        authors = sorted({one["author"] for one in record["submissions"]})
        live = record["state"] != CLOSED
        return render_page(
            request, "contest_whole.html.j2", package=CONTEST_PACKAGE, **shown, live=live, authors=authors
        )
    own = author if viewer.role == "operator" else viewer.author
    view = view_live_contest(store, id, None if public else own or None)
    return render_page(request, "contest_view.html.j2", view=view, seen_as=own or "", live=view["state"] != CLOSED)


FollowedContest = Callable[[], dict[str, Any]]


def find_followed_contest(request: Request, id: str, viewer: Viewer) -> FollowedContest:
    """How to look at a contest again as the viewer may see it; an operator also sees what holds it up."""
    store = request.app.state.store
    contest = view_live_contest(store, id, viewer.author)["contest"]

    def look() -> dict[str, Any]:
        view = view_live_contest(store, contest, viewer.author)
        if viewer.role == "operator":
            view = {**view, "stopped": load_contest(store, contest).get("stopped")}
        return view

    return look


@router.get("/contests/{id}/events", response_class=EventSourceResponse)
async def get_contest_events(
    request: Request, look: Annotated[FollowedContest, Depends(find_followed_contest)]
) -> AsyncIterator[ServerSentEvent]:
    """That something happened that the viewer may see, whenever it did."""
    state, last = request.app.state, None
    while not state.closing.is_set():
        view = await asyncio.to_thread(look)
        # A page that follows was made before the end: where it is over at the first look, that is news too.
        if view["state"] == CLOSED or (last is not None and view != last):
            yield ServerSentEvent(event="changed", raw_data=view["state"])
        if view["state"] == CLOSED:
            return
        last = view
        await asyncio.sleep(FOLLOW_SECONDS)
