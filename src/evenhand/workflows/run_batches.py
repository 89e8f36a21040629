"""Batches of a run: who can be asked so, what is under way from before, and waiting until it is there."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

from evenhand.errors import EvalError, Fault, JudgeError
from evenhand.evals.eval_definition import Eval
from evenhand.models.connections import Connections
from evenhand.models.requests import ChainedModel
from evenhand.runs.batches import RunBatches
from evenhand.runs.live_batches import RunBatchFollower, RunBatchPace, describe_run_batch_counts
from evenhand.runs.reply_cache import ReplyCache
from evenhand.store.store import Store

if TYPE_CHECKING:
    from evenhand.models.batch_endpoint import ProviderBatchEndpoint

POLL_VARIABLE = "EVENHAND_BATCH_SECONDS"


def refuse_run_without_batches(eval: Eval, judges: Sequence[ChainedModel], connections: Connections) -> None:
    """An error with all judges that no batch can be asked of, before anything is asked."""
    if eval.how.deadline is not None:
        raise EvalError(Fault("how.deadline cannot be kept in a batch, which may take a day", "leave one of them out"))
    faults = []
    for judge in judges:
        price = connections.price(judge.name)
        if judge.name not in open_batch_endpoints_of_run([judge]):
            hint = "--batch asks openai/NAME and anthropic/NAME, or a server that has batches as they do"
            faults.append(Fault("it has no batches", hint, where=judge.name))
        elif eval.budget is not None and eval.budget.money is not None and price and price.in_batch() is None:
            what = "its price in a batch is not known, so a budget of money cannot be kept"
            faults.append(Fault(what, "bound its tokens, or give a price file with its batch", where=judge.name))
    if faults:
        raise JudgeError(*faults)


async def refuse_missing_batch_endpoints_of_run(judges: Sequence[ChainedModel]) -> None:
    """An error with all judges whose servers have no batches; each is asked once, and nothing is paid."""
    faults: list[Fault] = []
    for endpoint in open_batch_endpoints_of_run(judges).values():
        try:
            await endpoint.refuse_missing()
        except JudgeError as error:
            faults += error.faults
    if faults:
        raise JudgeError(*faults)


def open_batch_endpoints_of_run(judges: Sequence[ChainedModel]) -> dict[str, ProviderBatchEndpoint]:
    """The batch endpoints of the judges that are asked over HTTP, by name; decision models have none."""
    from evenhand.models.batch_endpoint import ProviderBatchEndpoint  # They load a client for HTTP.
    from evenhand.models.remote_model import RemoteModel

    remote = [one.model for one in judges if isinstance(one.model, RemoteModel) and not one.model.decides]
    return {model.name: ProviderBatchEndpoint(model) for model in remote}


def open_run_batches(
    memory: ReplyCache,
    judges: Sequence[ChainedModel],
    connections: Connections,
    show: Callable[[str], None],
    batch: bool,
) -> RunBatches:
    """The batches of a run; without `batch` only those that are under way."""
    follower = RunBatchFollower(memory=memory, pace=read_batch_pace_from_environment(), show=show)
    endpoints = open_batch_endpoints_of_run(judges)
    return RunBatches(follower=follower, ledger=connections.ledger, endpoints=endpoints, direct=not batch)


def read_batch_pace_from_environment() -> RunBatchPace:
    """How often batches are looked at, as the environment says."""
    text = os.environ.get(POLL_VARIABLE, "").strip()
    try:
        seconds = float(text) if text else RunBatchPace().poll
    except ValueError:
        seconds = 0.0
    if not 0 < seconds < 3600:
        hint = "a number of seconds above 0 and below 3600, as in 10"
        raise EvalError(Fault(f"cannot be {text[:40]!r}", hint, where=f"environment variable {POLL_VARIABLE}"))
    return RunBatchPace(poll=seconds)


def describe_run_batches(store: Store, run: str) -> str:
    """What a run has under way in batches, in words; "" where nothing is."""
    counts = store.batches.count_live().get(run)
    return describe_run_batch_counts(counts) if counts is not None else ""
