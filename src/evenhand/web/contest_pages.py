"""Contests: all of them, and each as whoever is signed in may see it now."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response
from fastapi.responses import EventSourceResponse
from fastapi.sse import ServerSentEvent

from evenhand.report.contest.contest_page import CONTEST_PACKAGE, build_contest_page, mask_reported_contest
from evenhand.web.pages import WorkbenchRoute, render_page
from evenhand.web.viewers import Viewer
from evenhand.workflows.contests import list_contests, load_contest
from evenhand.workflows.live_contest import view_live_contest

router = APIRouter(route_class=WorkbenchRoute)
FOLLOW_SECONDS = 2.0
CLOSED = "closed"


@router.get("/contests")
def get_contests_page(request: Request, viewer: Viewer) -> Response:
    """The contests; others than the operator learn which there are, and no more."""
    return render_page(request, "contests.html.j2", contests=list_contests(request.app.state.store))


@router.get("/contests/{id}")
def get_contest_page(request: Request, id: str, viewer: Viewer, author: str = "", public: bool = False) -> Response:
    """A contest: whole for the operator, else what the viewer may see of it; an operator may look as others do."""
    store = request.app.state.store
    if viewer.role == "operator" and not author and not public:
        record = load_contest(store, id)
        shown = build_contest_page(mask_reported_contest(record))
        authors = sorted({one["author"] for one in record["submissions"]})
        live = record["state"] != CLOSED
        return render_page(
            request, "contest_whole.html.j2", package=CONTEST_PACKAGE, **shown, live=live, authors=authors
        )
    own = author if viewer.role == "operator" else viewer.author
    view = view_live_contest(store, id, None if public else own or None)
    return render_page(request, "contest_view.html.j2", view=view, seen_as=own or "", live=view["state"] != CLOSED)


def find_followed_contest(request: Request, id: str, viewer: Viewer) -> tuple[str, str | None]:
    """The id of a contest, and whose submissions the viewer may see."""
    view = view_live_contest(request.app.state.store, id, viewer.author)
    return view["contest"], viewer.author


@router.get("/contests/{id}/events", response_class=EventSourceResponse)
async def get_contest_events(
    request: Request, followed: Annotated[tuple[str, str | None], Depends(find_followed_contest)]
) -> AsyncIterator[ServerSentEvent]:
    """That something happened that the viewer may see, whenever it did."""
    state, (contest, author), last = request.app.state, followed, None
    while not state.closing.is_set():
        view = await asyncio.to_thread(view_live_contest, state.store, contest, author)
        if last is not None and view != last:
            yield ServerSentEvent(event="changed", raw_data=view["state"])
        if view["state"] == CLOSED:
            return
        last = view
        await asyncio.sleep(FOLLOW_SECONDS)
