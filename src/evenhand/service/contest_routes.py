"""Contests over HTTP: created by the operator, submitted to and challenged by authors, seen by each as they may."""

from __future__ import annotations

import asyncio
from dataclasses import asdict
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import BaseModel, ConfigDict, Field

from evenhand.contest.record import encode_contest_state
from evenhand.service.callers import Anybody, Operator, Submitter
from evenhand.service.idempotency import KeyedRoute
from evenhand.service.problems import ProblemError, explain_http_statuses
from evenhand.workflows.contest_listing import list_contests
from evenhand.workflows.contest_receiving import ChallengeWorkflowArrival, ContestReceipt, SubmitWorkflowArrival
from evenhand.workflows.contests import load_contest, open_contest_log_for_user
from evenhand.workflows.live_contest import create_live_contest, view_live_contest
from evenhand.workflows.sent_inputs import parse_task_for_service
from evenhand.workflows.webhooks import ContestHooks

Json = dict[str, Any]
router = APIRouter(prefix="/v1/contests", tags=["contests"], route_class=KeyedRoute)
LONGEST_TEXT = 1_000_000


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class NewContest(_Body):
    """A contest to begin."""

    task: Json = Field(description="The fields of a task file.")
    payment_hook: str | None = Field(default=None, description="Where to send the payment, once it is released.")
    operator_hook: str | None = Field(default=None, description="Where to send each change of state.")
    again: str | None = Field(default=None, description="The name of a deliberate repetition of this task's contest.")


class NewSubmission(_Body):
    """A submission to hand in."""

    text: str = Field(min_length=1, max_length=LONGEST_TEXT, description="The submission itself.")
    id: str | None = Field(default=None, max_length=200, description="For operators only: a name of its own.")
    author: str | None = Field(default=None, description="For operators only: whose it is.")
    notify: str | None = Field(default=None, description="Where to send feedback on it.")


class NewChallenge(_Body):
    """That an author doubts the ranking."""

    reason: str = Field(min_length=1, max_length=20_000, description="Why; the operator and the report show it.")
    author: str | None = Field(default=None, description="For operators only: who doubts it.")


@router.post("", status_code=201, responses=explain_http_statuses(502))
async def create_contest(request: Request, new: NewContest, _: Operator) -> Json:
    """Begin a contest; where its task names no dimensions, its first judge chooses them now."""
    task, source = await asyncio.to_thread(parse_task_for_service, new.task)
    state = request.app.state
    hooks = ContestHooks(
        payment=state.hook_targets.check(new.payment_hook), operator=state.hook_targets.check(new.operator_hook)
    )
    async with state.judging:
        id = await create_live_contest(
            state.store, task, connections=state.connections, hooks=hooks, source=source, again=new.again
        )
    await state.engine.wake_contest(id)
    return {"id": id}


@router.get("")
def get_contests(
    request: Request, caller: Anybody, cursor: str | None = None, limit: Annotated[int, Query(ge=1, le=200)] = 50
) -> Json:
    """The contests, the newest first; others than the operator learn which there are, and no more."""
    found = [one for one in list_contests(request.app.state.store) if cursor is None or one.id < cursor]
    page = found[:limit]
    next_cursor = page[-1].id if len(found) > limit else None
    if caller.role == "operator":
        return {"contests": [asdict(one) for one in page], "next": next_cursor}
    return {"contests": [{"id": one.id, "task": one.task} for one in page], "next": next_cursor}


@router.get("/{id}", responses=explain_http_statuses(404, 409))
def get_contest(request: Request, id: str, caller: Anybody, author: str | None = None, public: bool = False) -> Json:
    """A contest: whole for the operator, else what the caller may see of it now; an operator may look as others do."""
    store = request.app.state.store
    if caller.role == "operator" and author is None and not public:
        return load_contest(store, id)
    if caller.role != "operator" and author not in (None, caller.author):
        raise ProblemError(403, f"a {caller.role} sees nothing of other authors", "leave out author")
    return view_live_contest(store, id, None if public else author or caller.author)


@router.post("/{id}/submissions", status_code=202, responses=explain_http_statuses(404))
async def post_submission(request: Request, id: str, new: NewSubmission, caller: Submitter) -> Json:
    """Hand in a submission; it has been received when this is answered, and is judged soon after."""
    state, author = request.app.state, _name_request_author(caller.author, new.author)
    target = state.hook_targets.check(new.notify)
    if caller.author is not None and new.id is not None:
        # Whether a name is taken would tell who else is here.
        raise ProblemError(403, "a submitter chooses no id", "leave it out: the answer names it")
    arrival = SubmitWorkflowArrival(contest=id, author=author, text=new.text, id=new.id, notify=target)
    receipt = await state.receiver.receive(arrival)
    await state.engine.wake_contest(receipt.contest)
    return _answer_http_receipt(receipt)


@router.post("/{id}/challenges", status_code=202, responses=explain_http_statuses(404))
async def post_challenge(request: Request, id: str, new: NewChallenge, caller: Submitter) -> Json:
    """Challenge the ranking; judges who did not judge before look at it."""
    state, author = request.app.state, _name_request_author(caller.author, new.author)
    receipt = await state.receiver.receive(ChallengeWorkflowArrival(contest=id, author=author, text=new.reason))
    await state.engine.wake_contest(receipt.contest)
    return _answer_http_receipt(receipt)


@router.get("/{id}/log", responses=explain_http_statuses(404, 409))
def get_contest_log(request: Request, id: str, _: Operator) -> Json:
    """Every event of a contest, for the operator."""
    store = request.app.state.store
    return encode_contest_state(open_contest_log_for_user(store, store.contests.find_contest(id)["id"]))


def _name_request_author(own: str | None, given: str | None) -> str:
    """Who hands in: the caller, or, for an operator, whoever is named."""
    if own is not None:
        if given not in (None, own):
            raise ProblemError(403, "a submitter hands in under their own name", f"leave out author, or say {own}")
        return own
    if given is None:
        raise ProblemError(422, "whose is it?", "an operator names the author, as in --author heron")
    return given


def _answer_http_receipt(receipt: ContestReceipt) -> Json:
    return asdict(receipt)
