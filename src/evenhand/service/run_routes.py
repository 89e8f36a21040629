"""Runs over HTTP: started from an eval that is sent, followed while they go on, reported, stopped and resumed."""

from __future__ import annotations

import asyncio
import tempfile
from collections.abc import AsyncIterator, Iterator
from dataclasses import replace
from typing import IO, Annotated, Any, Literal, get_args

from fastapi import APIRouter, Depends, Query, Request, Response
from fastapi.responses import EventSourceResponse, StreamingResponse
from fastapi.sse import ServerSentEvent
from pydantic import BaseModel, ConfigDict, Field

from evenhand.report import find_report_writer
from evenhand.service.callers import Operator
from evenhand.service.idempotency import KeyedRoute
from evenhand.service.problems import explain_http_statuses
from evenhand.workflows.align import AlignOptions, encode_alignment
from evenhand.workflows.compare import CompareTerms, compare_runs
from evenhand.workflows.inputs import parse_user_input_number
from evenhand.workflows.labels import DEFAULT_NEXT_OUTPUTS, choose_labels, next_labels_to_json
from evenhand.workflows.report import open_report
from evenhand.workflows.sent_inputs import (
    align_run_for_service,
    confine_service_to_shipped_files,
    find_local_judge_faults,
)
from evenhand.workflows.service_runs import (
    OVER,
    create_service_run,
    list_service_runs,
    refuse_run_without_budget,
    resume_service_run,
    stop_service_run,
    view_service_run,
    wait_for_stopped_run,
)
from evenhand.workflows.trust import encode_run_trust, measure_trust

Json = dict[str, Any]
ReportFormat = Literal["json", "html", "markdown", "csv", "junit"]
MEDIA_TYPES = {
    "json": "application/json", "html": "text/html; charset=utf-8", "markdown": "text/markdown; charset=utf-8",
    "csv": "text/csv; charset=utf-8", "junit": "application/xml",
}  # fmt: skip
REPORTS: dict[int | str, Json] = {
    200: {"description": "The report.", "content": {one.partition(";")[0]: {} for one in MEDIA_TYPES.values()}}
}
# A page holds texts of models and of strangers: it may run its own script, and reach nothing of the service.
REPORT_HEADERS = {
    "content-security-policy": "sandbox allow-scripts allow-downloads; default-src 'none'; img-src data:; "
    "style-src 'unsafe-inline'; script-src 'unsafe-inline'; frame-ancestors 'none'",
    "x-content-type-options": "nosniff",
}
KEPT_IN_MEMORY = 1_000_000  # Bytes of a report; what is longer waits in a file.
CHUNK = 65_536
FOLLOW_SECONDS = 0.5
router = APIRouter(prefix="/v1/runs", tags=["runs"], route_class=KeyedRoute)
comparison_router = APIRouter(tags=["runs"], route_class=KeyedRoute)


class NewRun(BaseModel):
    """A run to start."""

    model_config = ConfigDict(extra="forbid")

    eval: Json = Field(description="The fields of an eval file; samples and rubrics are written out or ship.")
    strict: bool = Field(default=False, description="A borderline output fails.")
    fresh: bool = Field(default=False, description="Ask everything anew, also what was asked before.")
    until_decided: bool = Field(default=False, description="Stop asking once every treatment is settled.")
    repeats: int | None = Field(default=None, ge=1, le=1000, description="How often each sample is judged.")
    limit: int | None = Field(default=None, ge=1, description="Only the first samples.")
    only: list[str] = Field(default_factory=list, description="Ids of samples.")
    tags: list[str] = Field(default_factory=list, description="Samples that have one of them.")


@router.post("", status_code=202, responses=explain_http_statuses(409))
async def post_run(request: Request, response: Response, new: NewRun, _: Operator) -> Json:
    """Start a run: it has been kept when this is answered, and is carried out soon after."""
    state = request.app.state
    if state.settings.connect.dollars is not None:
        refuse_run_without_budget(new.eval)
    options = new.model_dump(exclude={"eval"}, exclude_defaults=True)
    id = await create_service_run(state.store, new.eval, options)
    state.run_engine.wake()
    response.headers["location"] = f"/v1/runs/{id}"
    return {"id": id, "state": "queued"}


@router.get("")
def get_runs(
    request: Request, _: Operator, cursor: str | None = None, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Json:
    """The runs of the store, also those that were started elsewhere, the newest first."""
    found = list_service_runs(request.app.state.store, before=cursor, most=limit + 1)
    return {"runs": found[:limit], "next": found[limit - 1]["id"] if len(found) > limit else None}


@router.get("/{id}", responses=explain_http_statuses(404, 409))
def get_run(request: Request, id: str, _: Operator) -> Json:
    """How far a run is, what it cost, what failed, and what was decided."""
    return view_service_run(request.app.state.store, id)


def find_followed_run(request: Request, id: str, _: Operator) -> str:
    """The id of a run, before anything of it is sent."""
    return str(view_service_run(request.app.state.store, id)["id"])


@router.get("/{id}/events", response_class=EventSourceResponse, responses=explain_http_statuses(404, 409))
async def get_run_events(
    request: Request, run: Annotated[str, Depends(find_followed_run)]
) -> AsyncIterator[ServerSentEvent]:
    """The state of a run whenever it changes, as server-sent events `progress`, and at last `end`."""
    state, last = request.app.state, None
    while True:
        view = await asyncio.to_thread(view_service_run, state.store, run)
        over = view["state"] in OVER
        if over or view != last:
            yield ServerSentEvent(event="end" if over else "progress", data=view)
        if over or state.closing.is_set():
            return
        last = view
        await asyncio.sleep(FOLLOW_SECONDS)


@router.get("/{id}/report", response_class=Response, responses={**REPORTS, **explain_http_statuses(404, 409)})
def get_run_report(
    request: Request, id: str, _: Operator, format: Annotated[ReportFormat | None, Query()] = None
) -> StreamingResponse:
    """The report of a run: JSON, or what `format` or the header Accept asks for; of one under way, as far as it is."""
    chosen = format or _choose_accepted_media_type(request.headers.get("accept", ""))
    with open_report(request.app.state.store, id) as (head, samples):
        file = _write_report_response(head, samples, chosen)

    def send() -> Iterator[str]:
        with file:
            while chunk := file.read(CHUNK):
                yield chunk

    return StreamingResponse(send(), media_type=MEDIA_TYPES[chosen], headers=REPORT_HEADERS)


def _write_report_response(head: Json, samples: Iterator[Json], format: str) -> IO[str]:
    """The report in a file, to be sent from its beginning."""
    file = tempfile.SpooledTemporaryFile(KEPT_IN_MEMORY, "w+", encoding="utf-8", newline="")  # noqa: SIM115 - sent later
    try:
        find_report_writer(format)(head, samples, file)
        file.seek(0)
    except BaseException:
        file.close()
        raise
    return file


class TrustTerms(BaseModel):
    """What the gates of a run are held against."""

    model_config = ConfigDict(extra="forbid")

    labels: list[Json] | None = Field(
        default=None, min_length=1, description="People's labels, as in a file; without them those kept with the run."
    )
    min_score: float | None = Field(default=None, description="A gate on the score, instead of those of the run.")
    at_most: float = Field(default=0.2, gt=0, lt=0.5, description="The share of wrong decisions to accept.")


@router.post("/{id}/trust", responses=explain_http_statuses(404, 409))
def post_run_trust(request: Request, id: str, terms: TrustTerms, _: Operator) -> Json:
    """Whether the judges of a run may gate: how often they pass what people fail, and fail what people pass."""
    least = None if terms.min_score is None else parse_user_input_number(str(terms.min_score), "min_score")
    return encode_run_trust(measure_trust(request.app.state.store, id, terms.labels, least=least, most=terms.at_most))


class NextLabelTerms(BaseModel):
    """How many outputs people will label, and what there is already."""

    model_config = ConfigDict(extra="forbid")

    n: int = Field(default=DEFAULT_NEXT_OUTPUTS, ge=1, le=1000, description="About how many outputs to label.")
    labels: list[Json] | None = Field(
        default=None, min_length=1, description="Labels so far, as in a file; without them those kept with the run."
    )
    criteria: list[str] = Field(default_factory=list, description="Ids of criteria to ask; without any, all.")


@router.post("/{id}/labels/next", responses=explain_http_statuses(404, 409))
def post_next_labels(request: Request, id: str, terms: NextLabelTerms, _: Operator) -> Json:
    """Which outputs people should label next, each with the chance of the draw, and how far that brings you."""
    store = request.app.state.store
    return next_labels_to_json(choose_labels(store, id, terms.n, labels=terms.labels, criteria=terms.criteria))


class AlignTerms(BaseModel):
    """What the rubric of a run is aligned with, and what that may cost."""

    model_config = ConfigDict(extra="forbid")

    labels: list[Json] | None = Field(
        default=None, min_length=1, description="People's labels, as in a file; without them those kept with the run."
    )
    rubric: Json | None = Field(default=None, description="The rubric that the run asked by, if its eval names a file.")
    judges: list[str] = Field(
        default=[], description="Who is asked instead of the judges of the run; an imported run needs it."
    )
    proposer: str | None = Field(default=None, description="A model that proposes edits, as in openai/NAME.")
    budget: float | None = Field(default=None, gt=0, le=1_000_000, description="Dollars that it may cost.")


@router.post("/{id}/align", responses=explain_http_statuses(404, 409, 502))
async def post_run_alignment(request: Request, id: str, terms: AlignTerms, _: Operator) -> Json:
    """Edit the rubric of a run until its judges answer more like people; the new one is answered, and not stored.

    Answered when all is asked. More than 1,000 calls are refused before the first.
    """
    state = request.app.state
    if state.settings.connect.dollars is not None:
        refuse_run_without_budget({"budget": terms.budget})
    dollars = None if terms.budget is None else parse_user_input_number(str(terms.budget), "budget")
    connect = replace(state.settings.connect, dollars=dollars)
    options = AlignOptions(rubric=terms.rubric, proposer=terms.proposer, judges=tuple(terms.judges), connect=connect)
    async with state.judging:
        with confine_service_to_shipped_files():
            report = await align_run_for_service(
                state.store,
                id,
                terms.labels,
                options=options,
                find_judge_faults=find_local_judge_faults,
                shared=state.run_engine.limits,
            )
    return encode_alignment(report)


@router.delete("/{id}", status_code=202, responses=explain_http_statuses(404, 409))
async def stop_run(request: Request, id: str, _: Operator) -> Json:
    """Stop a run: results are kept, and it can be resumed, unless its eval says keep: masked or none.

    Answered once it has stopped, or after five seconds, if calls of it are still under way: then it is `stopping`.
    """
    state = request.app.state
    view = stop_service_run(state.store, id)
    state.run_engine.stop_run(view["id"])
    return await wait_for_stopped_run(state.store, view["id"])


@router.post("/{id}/resume", status_code=202, responses=explain_http_statuses(404, 409))
async def resume_run(request: Request, id: str, _: Operator) -> Json:
    """Go on with a run that was stopped."""
    view = resume_service_run(request.app.state.store, id)
    request.app.state.run_engine.wake()
    return view


class ComparedRuns(BaseModel):
    """Two runs to be compared, or the variants of one."""

    model_config = ConfigDict(extra="forbid")

    run: str = Field(
        description="The run to decide on: an id or its start, latest, latest:EVAL or baseline:NAME; with :VARIANT."
    )
    against: str | None = Field(
        default=None,
        description="The run to compare it with, named alike; without it, the variants of the one run are compared.",
    )
    control: str | None = Field(default=None, description="Which variant of the one run the others are compared with.")
    not_worse_by: float | None = Field(default=None, gt=0, description="Pass what is surely not worse by more.")
    power: bool = Field(default=False, description="Also say how many samples show a difference.")
    force: bool = Field(default=False, description="Compare what was not scored alike, and mark the result.")


@comparison_router.post("/v1/compare", responses=explain_http_statuses(404))
def post_comparison(request: Request, wanted: ComparedRuns, _: Operator) -> Json:
    """Decide between two runs over the same samples, or between the variants of one: the verdict, and why."""
    terms = wanted.model_dump(include={"control", "not_worse_by", "power", "force"})
    runs = [wanted.run] if wanted.against is None else [wanted.against, wanted.run]
    request.state.compared_runs = [name.partition(":")[0] for name in runs]  # A refusal is marked by them, too.
    return compare_runs(request.app.state.store, *runs, terms=CompareTerms(**terms)).to_json()


def _choose_accepted_media_type(accept: str) -> str:
    """The first of the accepted media types that a report can have; JSON where there is none."""
    wanted = [part.partition(";")[0].strip() for part in accept.split(",")]
    kinds = {MEDIA_TYPES[name].partition(";")[0]: name for name in get_args(ReportFormat)}
    return next((kinds[one] for one in wanted if one in kinds), "json")
