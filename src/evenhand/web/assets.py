"""Styles and scripts of the workbench: files of the package, those of the static report among them."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from typing import Any

from fastapi import APIRouter, Response
from fastapi.routing import APIRoute
from fastapi.sse import EventSourceResponse

from evenhand.report.html.page_file import load_page_part
from evenhand.service.problems import ProblemError

ASSET_FILES = {  # Each with its package and its place there.
    "report.css": ("evenhand.report.html", "report.css"),
    "contest.css": ("evenhand.report.contest", "contest.css"),
    "workbench.css": ("evenhand.web", "static/workbench.css"),
    "workbench.js": ("evenhand.web", "static/workbench.js"),
    "label.css": ("evenhand.web", "static/label.css"),
    "label.js": ("evenhand.web", "static/label.js"),
    "what_if.css": ("evenhand.web", "static/what_if.css"),
    "what_if.js": ("evenhand.web", "static/what_if.js"),
}
MEDIA_TYPES = {"css": "text/css; charset=utf-8", "js": "text/javascript; charset=utf-8"}
# The address of a file changes with its content: a browser that has it need not ask again.
ASSET_HEADERS = {"cache-control": "public, max-age=31536000, immutable", "x-content-type-options": "nosniff"}


class ReadRoute(APIRoute):
    """A route that answers HEAD as it answers GET, without the body; a stream, which has no end, is only for GET."""

    def __init__(self, *args: Any, **options: Any) -> None:
        super().__init__(*args, **options)
        if self.methods == {"GET"} and self.response_class is not EventSourceResponse:
            self.methods = {"GET", "HEAD"}


router = APIRouter(route_class=ReadRoute)


@cache
def link_asset(name: str) -> str:
    """The address of a file, which changes with its content."""
    digest = sha256(load_page_part(*ASSET_FILES[name]).encode()).hexdigest()
    return f"/assets/{name}?v={digest[:12]}"


@router.get("/assets/{name}")
def get_asset(name: str) -> Response:
    """A style or a script."""
    if name not in ASSET_FILES:
        raise ProblemError(404, f"no file {name!r}", "reload the page")
    content = load_page_part(*ASSET_FILES[name])
    return Response(content, media_type=MEDIA_TYPES[name.rpartition(".")[2]], headers=ASSET_HEADERS)
