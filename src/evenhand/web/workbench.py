"""The workbench on a service: its pages with their styles and scripts, and signing in where tokens are asked for."""

from __future__ import annotations

import asyncio

from fastapi import APIRouter, FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from evenhand.service.problems import show_missing_pages
from evenhand.web.contest_pages import router as contest_router
from evenhand.web.label_pages import router as label_router
from evenhand.web.output_pages import router as output_router
from evenhand.web.pages import WorkbenchRoute, read_page_form, render_missing_page, render_page
from evenhand.web.pages import router as asset_router
from evenhand.web.rubric_pages import router as rubric_router
from evenhand.web.run_pages import router as run_router
from evenhand.web.viewers import SESSION_COOKIE, refuse_foreign_page
from evenhand.workflows.tokens import find_service_token

# Signing in takes a token, and keeps it in a cookie that no script and no other site reads.
sign_in_router = APIRouter(route_class=WorkbenchRoute)
ROUTERS = (
    asset_router,
    sign_in_router,
    run_router,
    output_router,
    label_router,
    rubric_router,
    contest_router,
)
WRONG_TOKEN = "This token is not known here, has expired, or was revoked."


def add_workbench(app: FastAPI) -> None:
    """Serve the pages of the workbench beside the API of a service."""
    for router in ROUTERS:
        app.include_router(router, include_in_schema=False)
    show_missing_pages(app, render_missing_page)


@sign_in_router.get("/sign-in")
def get_sign_in_page(request: Request, next: str = "/") -> Response:
    """The form that asks for a token."""
    return render_page(request, "sign_in.html.j2", next=_keep_own_page_path(next), wrong="")


@sign_in_router.post("/sign-in")
async def post_sign_in(request: Request) -> Response:
    """Take a token, and go on to where it was asked for."""
    refuse_foreign_page(request)
    state, form = request.app.state, await read_page_form(request)
    state.rates.take_turn("sign-in")  # Nobody guesses 256 bits, and nobody needs to try often.
    target, secret = _keep_own_page_path(form.get("next", "/")), form.get("token", "").strip()
    if await asyncio.to_thread(find_service_token, state.store, secret) is None:
        return render_page(request, "sign_in.html.j2", status=401, next=target, wrong=WRONG_TOKEN)
    answer = RedirectResponse(target, status_code=303)
    secure = request.url.scheme == "https"
    answer.set_cookie(SESSION_COOKIE, secret, httponly=True, samesite="strict", secure=secure)
    return answer


@sign_in_router.post("/sign-out")
def post_sign_out(request: Request) -> Response:
    """Forget the token."""
    refuse_foreign_page(request)
    answer = RedirectResponse("/sign-in", status_code=303)
    answer.delete_cookie(SESSION_COOKIE)
    return answer


def _keep_own_page_path(path: str) -> str:
    """A path of this service; where it would lead elsewhere, the first page."""
    own = path.startswith("/") and not path.startswith(("//", "/\\")) and path.isprintable()
    return path if own else "/"
