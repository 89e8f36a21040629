"""The workbench on a service: its pages, its styles and scripts, and where each page stands in the navigation."""

from __future__ import annotations

from fastapi import FastAPI, Request, Response
from starlette.exceptions import HTTPException

from evenhand.service.problems import ServiceProblem
from evenhand.web.contest_pages import router as contest_router
from evenhand.web.label_pages import router as label_router
from evenhand.web.pages import render_problem_page
from evenhand.web.pages import router as asset_router
from evenhand.web.rubric_pages import router as rubric_router
from evenhand.web.run_pages import router as run_router
from evenhand.web.sign_in import router as sign_in_router

ROUTERS = (
    asset_router,
    sign_in_router,
    run_router,
    label_router,
    rubric_router,
    contest_router,
)


def add_workbench(app: FastAPI) -> None:
    """Serve the pages of the workbench beside the API of a service."""
    for router in ROUTERS:
        app.include_router(router, include_in_schema=False)
    answer_callers = app.exception_handlers[HTTPException]

    async def answer(request: Request, error: Exception) -> Response:
        if isinstance(error, HTTPException) and error.status_code == 404 and _is_read_by_a_person(request):
            fault = {"where": request.url.path, "what": "there is no such page", "would_work": ""}
            return render_problem_page(request, ServiceProblem(status=404, faults=(fault,)))
        return await answer_callers(request, error)  # type: ignore[misc, no-any-return]

    app.add_exception_handler(HTTPException, answer)


def _is_read_by_a_person(request: Request) -> bool:
    return not request.url.path.startswith("/v1") and "text/html" in request.headers.get("accept", "")
