"""The workbench on a service: its pages, its styles and scripts, and where each page stands in the navigation."""

from __future__ import annotations

from fastapi import FastAPI

from evenhand.web.assets import router as asset_router
from evenhand.web.compare_pages import router as compare_router
from evenhand.web.contest_pages import router as contest_router
from evenhand.web.judge_pages import router as judge_router
from evenhand.web.label_pages import router as label_router
from evenhand.web.rubric_pages import router as rubric_router
from evenhand.web.run_pages import router as run_router
from evenhand.web.sample_pages import router as sample_router
from evenhand.web.sign_in import router as sign_in_router
from evenhand.web.what_if_pages import router as what_if_router

ROUTERS = (
    asset_router,
    sign_in_router,
    run_router,
    sample_router,
    label_router,
    what_if_router,
    compare_router,
    judge_router,
    rubric_router,
    contest_router,
)


def add_workbench(app: FastAPI) -> None:
    """Serve the pages of the workbench beside the API of a service."""
    for router in ROUTERS:
        app.include_router(router, include_in_schema=False)
