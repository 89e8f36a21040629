"""Pages of runs: every eval with its trend, and one run."""

from __future__ import annotations

from dataclasses import asdict
from typing import Annotated

from fastapi import APIRouter, Query, Request, Response

from evenhand.report.html.run_page import UNKNOWN_LOOK, VERDICT_LOOKS
from evenhand.report.html.trend_charts import draw_trend_plots
from evenhand.web.pages import WorkbenchRoute, render_page
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.eval_trends import EvalTrend, list_eval_trends

router = APIRouter(route_class=WorkbenchRoute)
EVALS_PER_PAGE = 10
RUNS_PER_EVAL = 6  # Listed below its charts; a page of the eval alone has more.
PageNumber = Annotated[int, Query(ge=1, le=100_000)]


@router.get("/")
def get_runs_page(
    request: Request, _: OperatorViewer, search: str = "", verdict: str = "", page: PageNumber = 1
) -> Response:
    """Every eval with its trend and its newest runs."""
    skip = (page - 1) * EVALS_PER_PAGE
    found = list_eval_trends(request.app.state.store, search=search, verdict=verdict, skip=skip, most=EVALS_PER_PAGE)
    return render_page(
        request,
        "runs.html.j2",
        evals=[_show_eval(one) for one in found.evals],
        found=found,
        asked={"search": search, "verdict": verdict},
        page=page,
        pages=max(1, -(-found.found // EVALS_PER_PAGE)),
        verdicts=list(VERDICT_LOOKS),
        looks=VERDICT_LOOKS,
        unknown_look=UNKNOWN_LOOK,
        runs_per_eval=RUNS_PER_EVAL,
    )


def _show_eval(trend: EvalTrend) -> dict[str, object]:
    return {"trend": trend, "plots": draw_trend_plots([asdict(one) for one in trend.points], trend.best)}
