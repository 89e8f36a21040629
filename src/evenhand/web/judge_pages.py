"""The judges of a run: cost and speed, agreement, bias, and whether they may gate where people labelled."""

from __future__ import annotations

from fastapi import APIRouter, Request, Response

from evenhand.report.html.judge_page import build_audit_part, build_judge_page
from evenhand.web.pages import WorkbenchRoute, render_page
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.audit import audit_run
from evenhand.workflows.eval_trends import list_finished_runs
from evenhand.workflows.report import load_labelled_run_head
from evenhand.workflows.runs import load_run_head

router = APIRouter(route_class=WorkbenchRoute)


@router.get("/judges")
def get_judges_page(request: Request, _: OperatorViewer, run: str = "") -> Response:
    """The judges of a run, else of the newest finished one."""
    store = request.app.state.store
    finished = list_finished_runs(store)
    if not run and not finished:
        return render_page(request, "judges_page.html.j2", finished=(), run=None)
    head = load_run_head(store, run or finished[0].id)
    return render_page(request, "judges_page.html.j2", finished=finished, **build_judge_page(head))


@router.get("/judges/audit")
def get_audit_part(request: Request, _: OperatorViewer, run: str) -> Response:
    """What takes longer: the audit of the judges, and the gates held against people."""
    store = request.app.state.store
    shown = build_audit_part(audit_run(store, run), load_labelled_run_head(store, run))
    return render_page(request, "audit.html.j2", **shown)
