"""Pages of runs: every eval with its trend, a run live or finished, its samples, its judges, and two runs compared."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import asdict
from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import EventSourceResponse, RedirectResponse
from fastapi.sse import ServerSentEvent

from evenhand.errors import InputError, StoreError
from evenhand.report.html.comparison_page import build_comparison_report_page
from evenhand.report.html.judge_page import build_audit_section, build_judge_report_page
from evenhand.report.html.run_page import UNKNOWN_LOOK, VERDICT_LOOKS, build_run_report_page
from evenhand.report.html.sample_page import (
    MARK_WORDS,
    build_sample_report_page,
)
from evenhand.report.html.score_charts import draw_trend_plots
from evenhand.runs.sample_ranking import SampleOrder, SampleState
from evenhand.service.problems import find_http_problem
from evenhand.web.pages import (
    WorkbenchRoute,
    build_page_query_link,
    quote_page_url_part,
    render_fragment,
    render_page,
)
from evenhand.web.viewers import OperatorViewer, Viewer
from evenhand.workflows.audit import audit_run_once
from evenhand.workflows.compare import CompareTerms, compare_runs
from evenhand.workflows.compare_sides import FORCE_HINT
from evenhand.workflows.history import (
    EvalTrend,
    list_eval_trends,
    list_finished_runs_in_history,
    load_eval_history_trend,
)
from evenhand.workflows.report import load_labelled_run_head
from evenhand.workflows.run_following import FollowRunWorkflow
from evenhand.workflows.run_samples import (
    SampleQuestion,
    can_load_run_samples,
    list_run_samples,
    load_moved_samples,
    load_run_sample,
    load_run_sample_row,
    load_sample_neighbours,
)
from evenhand.workflows.runs import UserRunListing, find_run_listing, load_run_head
from evenhand.workflows.service_runs import resume_service_run, stop_service_run, view_service_run
from evenhand.workflows.what_if import can_ask_what_if

router = APIRouter(route_class=WorkbenchRoute)
EVALS_PER_PAGE = 10
RUNS_PER_EVAL = 6  # Listed below its charts; a page of the eval alone has more.
SAMPLES_PER_PAGE = 50
MOST_RANKED_AT_ONCE = 20_000
FOLLOW_SECONDS = 0.5
WITH_REPORT = ("finished", "stopped")  # A run that goes on, or was killed, has no numbers that are kept.
PageNumber = Annotated[int, Query(ge=1, le=100_000)]


@router.get("/")
def get_runs_page(
    request: Request, viewer: Viewer, search: str = "", verdict: str = "", page: PageNumber = 1
) -> Response:
    """Every eval with its trend and its newest runs; others than operators begin with the contests."""
    if viewer.role != "operator":
        return RedirectResponse("/contests", status_code=303)
    skip = (page - 1) * EVALS_PER_PAGE
    found = list_eval_trends(request.app.state.store, search=search, verdict=verdict, skip=skip, most=EVALS_PER_PAGE)
    pages = _count_pages(found.found, EVALS_PER_PAGE)
    if page > pages:
        return RedirectResponse(build_page_query_link({"search": search, "verdict": verdict, "page": pages}), 303)
    return render_page(
        request,
        "runs.html.j2",
        evals=[_show_eval_on_workbench_page(one) for one in found.evals],
        found=found,
        asked={"search": search, "verdict": verdict},
        page=page,
        pages=pages,
        verdicts=list(VERDICT_LOOKS),
        runs_per_eval=RUNS_PER_EVAL,
        **VERDICT_WORDS,
    )


@router.get("/runs")
@router.get("/runs/")
def get_runs_list(_: Viewer) -> Response:
    """The list of runs is the first page."""
    return RedirectResponse("/", status_code=303)


@router.get("/evals")
def get_eval_page(request: Request, _: OperatorViewer, name: str) -> Response:
    """One eval with all of its runs."""
    trend = load_eval_history_trend(request.app.state.store, name)
    return render_page(request, "eval.html.j2", one=_show_eval_on_workbench_page(trend), **VERDICT_WORDS)


VERDICT_WORDS: dict[str, Any] = {"looks": VERDICT_LOOKS, "unknown_look": UNKNOWN_LOOK}


def _show_eval_on_workbench_page(trend: EvalTrend) -> dict[str, Any]:
    return {"trend": trend, "plots": draw_trend_plots([asdict(one) for one in trend.points], trend.best)}


def _count_pages(found: int, each: int) -> int:
    return max(1, -(-found // each))


@router.get("/runs/{id}")
def get_run_page(
    request: Request,
    id: str,
    _: OperatorViewer,
    search: str = "",
    state: SampleState = "",
    order: SampleOrder = "attention",
    page: PageNumber = 1,
    whole: bool = False,
) -> Response:
    """A run: how far it is, or what came out, and a page of its samples."""
    store = request.app.state.store
    run = view_service_run(store, _find_run_id_for_page(request, id))
    if run["id"] != id:
        return RedirectResponse(f"/runs/{run['id']}", status_code=303)
    if run["state"] not in WITH_REPORT or run["started"] is None:
        return render_page(request, "live.html.j2", following=FollowRunWorkflow(store, id).look(), run=run)
    asked = SampleQuestion(
        search=search, state=state, order=order, skip=(page - 1) * SAMPLES_PER_PAGE, most=SAMPLES_PER_PAGE
    )
    shown = build_run_report_page(load_run_head(store, id))
    # The samples of a large run are ranked once, after the page is there.
    later = shown["run"]["samples"] > MOST_RANKED_AT_ONCE and not whole and not can_load_run_samples(store, id)
    listed = None if later else list_run_samples(store, id, asked)
    shown["samples_page"] = {
        "listed": listed,
        "orders": name_page_orders(shown["variants"]),
        "states": name_page_states(shown, state),
        "in_order": link_page_order(order),
        "asked": {"search": search, "state": state, "order": "" if order == "attention" else order},
        "page": page,
        "pages": _count_pages(listed.found, SAMPLES_PER_PAGE) if listed else 1,
    }
    following = FollowRunWorkflow(store, id).look() if run["state"] == "stopped" else None
    if following and following.is_requested:
        shown["decision"] = {**shown["decision"], "next_step": "Press Resume to finish the run."}
    shown["following"] = following
    shown["has_what_if"] = can_ask_what_if(store.find_run(id))
    return render_page(request, "run.html.j2", **shown)


def _find_run_id_for_page(request: Request, named: str) -> str:
    """The id of a run that is named as a command names it; one that was only asked for has its id alone."""
    store = request.app.state.store
    return named if store.requests.find_run(named) is not None else str(store.find_run(named)["id"])


@router.get("/runs/{id}/samples")
def get_sample_of_id(
    request: Request, id: str, _: OperatorViewer, sample: Annotated[str, Query(alias="id")]
) -> Response:
    """Go to the page of a sample by its id."""
    position = load_run_sample_row(request.app.state.store, id, sample)
    return RedirectResponse(f"/runs/{quote_page_url_part(id)}/samples/{position}", status_code=303)


def find_followed_run(request: Request, id: str, _: OperatorViewer) -> str:
    """The id of a run, before anything of it is sent."""
    return str(view_service_run(request.app.state.store, id)["id"])


@router.get("/runs/{id}/events", response_class=EventSourceResponse)
async def get_run_events(
    request: Request, run: Annotated[str, Depends(find_followed_run)]
) -> AsyncIterator[ServerSentEvent]:
    """How far a run is, as a piece of the page, whenever it has changed; at last `end`."""
    state = request.app.state
    follower, last = FollowRunWorkflow(state.store, run), None
    while not state.closing.is_set():
        found = await asyncio.to_thread(follower.look)
        told = render_fragment("progress.html.j2", following=found)
        if told != last:
            yield ServerSentEvent(event="progress", raw_data=told)
        if found.is_over:
            yield ServerSentEvent(event="end", raw_data=found.state)
            return
        last = told
        await asyncio.sleep(FOLLOW_SECONDS)


@router.post("/runs/{id}/stop")
async def post_stop(request: Request, id: str, _: OperatorViewer) -> Response:
    """Stop a run that the service carries out."""
    state = request.app.state
    view = await asyncio.to_thread(stop_service_run, state.store, id)
    state.run_engine.stop_run(view["id"])
    return RedirectResponse(f"/runs/{view['id']}", status_code=303)


@router.post("/runs/{id}/resume")
async def post_resume(request: Request, id: str, _: OperatorViewer) -> Response:
    """Go on with a run that was stopped."""
    view = await asyncio.to_thread(resume_service_run, request.app.state.store, id)
    request.app.state.run_engine.wake()
    return RedirectResponse(f"/runs/{view['id']}", status_code=303)


SAMPLE_ORDERS: dict[SampleOrder, str] = {
    "attention": "what deserves a look",
    "gates": "failed gates",
    "judges": "judges far apart",
    "moved": "moved most",
    "threshold": "near a gate",
    "lowest": "lowest composite",
    "file": "as in the file",
}


def name_page_orders(variants: Sequence[object]) -> dict[SampleOrder, str]:
    """What each order is called; of several variants, only what may be shipped is put in order."""
    lowest = "lowest composite" if len(variants) == 1 else "lowest composite of a treatment"
    return {**SAMPLE_ORDERS, "lowest": lowest}


SAMPLE_STATES: dict[SampleState, str] = {
    "": "all",
    "gate": "failed a gate of the rubric",
    "unscored": "without a score",
    "flagged": "flagged by a guard",
    "fail": "verdict fail",
    "borderline": "verdict borderline",
    "pass": "verdict pass",
}


VERDICTS: frozenset[str] = frozenset({"fail", "borderline", "pass"})


def name_page_states(head: Mapping[str, Any], asked: SampleState) -> dict[SampleState, str]:
    """What samples can be shown by; of several variants, verdicts and gates are those of treatments."""
    whose = "" if len(head["variants"]) == 1 else " of a treatment"
    return {
        name: f"{word}{whose}" if name == "gate" or name in VERDICTS else word
        for name, word in SAMPLE_STATES.items()
        if name in _list_page_states(head, asked)
    }


def _list_page_states(head: Mapping[str, Any], asked: SampleState) -> frozenset[str]:
    """What samples can be shown by: verdicts where the method gives some, findings where guards looked."""
    given = {word for one in head["variants"] for word, count in one["verdicts"].items() if count}
    verdicts = VERDICTS if given & VERDICTS else frozenset()
    # Gates of the eval are about means: no single sample fails one.
    gated = any(rubric.get("gated", True) for rubric in head["eval"]["rubrics"])
    states = {"", "unscored", asked, *(["gate"] if gated else []), *(["flagged"] if head["eval"]["guards"] else [])}
    return verdicts | states


def link_page_order(order: SampleOrder) -> str:
    """What the address of a sample or a list ends in so that an order is kept."""
    return "" if order == "attention" else build_page_query_link({"order": order})


@router.get("/runs/{id}/samples/{position}")
def get_sample_page(
    request: Request, id: str, position: int, _: OperatorViewer, order: SampleOrder = "attention"
) -> Response:
    """One sample in full, with those beside it in the order of the list that it was chosen from."""
    store = request.app.state.store
    head, sample = load_run_sample(store, id, position)
    beside = load_sample_neighbours(store, id, position, order)
    shown = build_sample_report_page(head, sample)
    return render_page(
        request,
        "sample.html.j2",
        **shown,
        beside=beside,
        in_order=link_page_order(order),
        order_name=name_page_orders(head["variants"])[order],
        mark_words=MARK_WORDS,
    )


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
    asked = [find_run_listing(store, one) for one in run or ()]
    sides = sorted(zip(asked, [*(variant or []), *[""] * len(asked)], strict=False), key=lambda side: side[0].id)
    runs, chosen = [one for one, _ in sides], _choose_variants_for_page(sides)
    shown: dict[str, Any] = {"runs": list(zip(runs, chosen, strict=True)), "force": force, "faults": (), "later": ""}
    shown["can_force"] = True
    if not 1 <= len(runs) <= 2:
        return render_page(request, "compare.html.j2", status=422, **{**shown, "faults": (NONE_NAMED,)}, compared=None)
    if len(runs) == 2 and not all(chosen):
        return render_page(request, "compare.html.j2", **shown, compared=None)
    if not whole and sum(one.samples or 0 for one in runs) > MOST_COMPARED_AT_ONCE:
        later = f"/compare?{request.url.query}&whole=true"
        return render_page(request, "compare.html.j2", **{**shown, "later": later}, compared=None)
    named = [f"{one.id}:{name}" if name and len(runs) == 2 else one.id for one, name in shown["runs"]]
    try:
        found = compare_runs(store, *named, terms=CompareTerms(force=force))
    except StoreError:
        raise
    except InputError as error:
        faults = [dict(one) for one in find_http_problem(error).faults]
        can_force = all(one["would_work"].endswith(FORCE_HINT) for one in faults)
        for one in faults:
            one["would_work"] = one["would_work"].removesuffix(FORCE_HINT)
        shown |= {"faults": faults, "can_force": can_force}
        return render_page(request, "compare.html.j2", status=422, **shown, compared=None)
    page = build_comparison_report_page(found.to_json(), load_moved_samples(found))
    link = f"/runs/{quote_page_url_part(found.control.run['id'])}/samples?id="
    if len(runs) == 2:  # What is compared stands side by side on a page of its own.
        pair = [*(("run", one.id) for one in runs), *(("variant", name) for name in chosen)]
        link = f"/compare/sample?{urlencode(pair)}{'&force=true' if force else ''}&id="
    run_shown = {"id": found.control.run["id"]}
    return render_page(request, "compare.html.j2", **shown, **page, compared=found, link_to=link, run=run_shown)


def _choose_variants_for_page(sides: Sequence[tuple[UserRunListing, str]]) -> list[str]:
    """The variant of each run, as `evenhand compare` chooses it; of several nobody named one of, none."""
    chosen = [
        want if want in one.variants else one.variants[0] if len(one.variants) == 1 else "" for one, want in sides
    ]
    return [
        name or next((other for other in chosen if other in one.variants), "")
        for name, (one, _) in zip(chosen, sides, strict=True)
    ]


@router.get("/judges")
def get_judges_page(request: Request, _: OperatorViewer, run: str = "") -> Response:
    """The judges of a run, else of the newest finished one, which is a guest only where nothing else is here."""
    store = request.app.state.store
    finished = list_finished_runs_in_history(store)
    if not run and not finished:
        return render_page(request, "judges_page.html.j2", finished=(), run=None)
    newest = next((one.id for one in finished if not one.imported), finished[0].id if finished else "")
    head = load_run_head(store, run or newest)
    return render_page(request, "judges_page.html.j2", finished=finished, **build_judge_report_page(head))


@router.get("/judges/audit")
def get_audit_part(request: Request, _: OperatorViewer, run: str) -> Response:
    """What takes longer: the audit of the judges, and the gates held against people."""
    store = request.app.state.store
    shown = build_audit_section(audit_run_once(store, run), load_labelled_run_head(store, run))
    return render_page(request, "audit.html.j2", **shown)
