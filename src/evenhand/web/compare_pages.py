"""The comparison of two runs, or of the variants of one: the verdict, why, and which samples moved."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from evenhand.errors import InputError, StoreError
from evenhand.report.html.comparison_page import build_comparison_page
from evenhand.service.problems import find_problem
from evenhand.web.pages import WorkbenchRoute, quote_url_part, render_page
from evenhand.web.viewers import OperatorViewer
from evenhand.workflows.compare import CompareTerms, compare_runs
from evenhand.workflows.compare_moved import list_moved_samples
from evenhand.workflows.runs import UserRunListing, find_run_listing

router = APIRouter(route_class=WorkbenchRoute)
MOST_COMPARED_AT_ONCE = 10_000  # Samples; of more, the page is there before the comparison is.
NONE_NAMED = {"where": "", "what": "two runs are compared, or the variants of one", "would_work": "tick two runs"}


@router.get("/compare")
def get_compare_page(
    request: Request,
    _: OperatorViewer,
    run: Annotated[list[str] | None, Query()] = None,
    variant: Annotated[list[str] | None, Query()] = None,
    force: bool = False,
    whole: bool = False,
) -> Response:
    """Two runs held against each other, the older one as the control; what cannot be compared says why."""
    store = request.app.state.store
    runs = [find_run_listing(store, one) for one in sorted(run or ())]
    chosen = _choose_variants(runs, variant or [])
    shown: dict[str, Any] = {"runs": list(zip(runs, chosen, strict=True)), "force": force, "faults": (), "later": ""}
    if not 1 <= len(runs) <= 2:
        return render_page(request, "compare.html.j2", status=422, **{**shown, "faults": (NONE_NAMED,)}, compared=None)
    if not whole and sum(one.samples or 0 for one in runs) > MOST_COMPARED_AT_ONCE:
        later = f"/compare?{request.url.query}&whole=true"
        return render_page(request, "compare.html.j2", **{**shown, "later": later}, compared=None)
    named = [f"{one.id}:{name}" if name and len(runs) == 2 else one.id for one, name in shown["runs"]]
    try:
        found = compare_runs(store, *named, terms=CompareTerms(force=force))
    except StoreError:
        raise
    except InputError as error:
        faults = find_problem(error).faults
        return render_page(request, "compare.html.j2", status=422, **{**shown, "faults": faults}, compared=None)
    page = build_comparison_page(found.to_json(), list_moved_samples(found))
    link = f"/runs/{quote_url_part(found.treatments[0].run['id'])}/samples?id=" if found.treatments else ""
    run_shown = {"id": found.control.run["id"]}
    return render_page(request, "compare.html.j2", **shown, **page, compared=found, link_to=link, run=run_shown)


def _choose_variants(runs: list[UserRunListing], asked: list[str]) -> list[str]:
    """The variant of each run: the one that was asked for, else its last one, which is what somebody would ship."""
    named = [*asked, *([""] * len(runs))]
    return [
        want if want in one.variants else (one.variants[-1] if one.variants else "")
        for one, want in zip(runs, named, strict=False)
    ]
