"""The workbench on a service: its pages, its styles and scripts, and where each page stands in the navigation."""

from __future__ import annotations

from fastapi import FastAPI

from evenhand.service.problems import show_missing_pages
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
    show_missing_pages(app, render_problem_page)
