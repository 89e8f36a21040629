"""Who looks at the workbench: whoever signed in with a token, or, on this machine and without tokens, its operator."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, Request

from evenhand.service.callers import LOCAL_OPERATOR, Caller, read_token_caller, refuse_other_sites
from evenhand.service.problems import ProblemError
from evenhand.workflows.tokens import find_service_token, has_service_tokens

SESSION_COOKIE = "evenhand_token"
SAFE_METHODS = ("GET", "HEAD")


class SignInNeededError(ProblemError):
    """Nobody is signed in, or not with a token that is good now."""


def find_viewer(request: Request) -> Caller:
    """Whoever looks; what another site's page sends is refused before anything is read."""
    refuse_foreign_page(request)
    state, viewer = request.app.state, LOCAL_OPERATOR
    secret = request.cookies.get(SESSION_COOKIE)
    if secret is not None and (token := find_service_token(state.store, secret)) is not None:
        viewer = read_token_caller(token)
    elif not state.settings.is_loopback or has_service_tokens(state.store):
        raise SignInNeededError(401, "a token is needed", "sign in with one: evenhand token create")
    else:
        refuse_other_sites(request)
    state.rates.take_turn(viewer.id)
    request.state.viewer = viewer
    return viewer


def find_operator_viewer(viewer: Annotated[Caller, Depends(find_viewer)]) -> Caller:
    """An operator: runs, judges and rubrics are theirs alone."""
    if viewer.role != "operator":
        raise ProblemError(403, f"a {viewer.role} sees contests only", "sign in as an operator, or go to Contests")
    return viewer


def refuse_foreign_page(request: Request) -> None:
    """A page of another site may link here; it may neither change anything nor load anything in the background."""
    site = request.headers.get("sec-fetch-site")
    own = site in ("same-origin", "none")
    if request.method in SAFE_METHODS:
        refused = site is not None and not own and request.headers.get("sec-fetch-mode") != "navigate"
    else:
        origin = request.headers.get("origin")
        refused = not own if site is not None else origin is None or urlsplit(origin).netloc != request.url.netloc
    if refused:
        raise ProblemError(403, "a page of another site may not do this", "do it from the workbench itself")


Viewer = Annotated[Caller, Depends(find_viewer)]
OperatorViewer = Annotated[Caller, Depends(find_operator_viewer)]
