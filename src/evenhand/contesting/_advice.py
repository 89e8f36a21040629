"""Before a contest: the dimensions of its task, and what the author of a submission would be told."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from evenhand.contest import Created, State, Submission, Task, apply, hand_in, pending, seen, task_from, task_json
from evenhand.contest._effects import AskGate, AskIndividual
from evenhand.contest._feedback import gate_feedback
from evenhand.contest._panel import Panels, UnansweredError
from evenhand.contest._task import METHOD
from evenhand.errors import ContestError, Fault
from evenhand.judging import Driver, How, Model, manner_of, spent_json
from evenhand.judging.dialogues import dimensions
from evenhand.judging.models import Connections
from evenhand.loading import load_method
from evenhand.model import Rubric

Json = dict[str, Any]
DEFAULT = How()


async def generate_dimensions(task: Task, judge: str, *, connections: Connections, how: How = DEFAULT) -> Rubric:
    """The dimensions of a task, as a judge reads them out of its description."""
    model = connections.open(judge)
    found = await Driver(model, how.deadline).run(
        dimensions(task.description, load_method(METHOD), manner_of(model, how))
    )
    if found.rubric is None:
        hint = "write them under dimensions in the task, or ask another judge"
        raise ContestError(Fault(f"{judge} gave no dimensions: {found.why_not}", hint))
    return found.rubric


async def check_submission(task: Task, submission: Submission, *, connections: Connections, how: How = DEFAULT) -> Json:
    """What the author of a submission would see, were it handed in now; nothing is kept."""
    locked = await with_dimensions(task, connections, how)
    at = locked.deadline or submission.at
    state, _ = apply(State(), Created(at=at, task=locked))
    state, _ = apply(state, hand_in(replace(submission, at=at, revises=None)))
    panels = Panels(opened(task.judges, connections), (), how)
    while asks := [one for one in pending(state) if isinstance(one, AskGate | AskIndividual)]:
        try:
            answered = await panels.answer(state, asks[0], at)
        except UnansweredError as error:
            raise ContestError(Fault(str(error))) from None
        state, _ = apply(state, answered.event)
    entry = state.entries[submission.id]
    told = {"criteria_checks": gate_feedback(state, entry)["criteria_checks"], "why": entry.why or None}
    return {**seen(state, submission.id), **told, "spent": spent_json(connections.spent)}


async def with_dimensions(task: Task, connections: Connections, how: How) -> Task:
    """The task with its dimensions, as the log keeps it."""
    if not task.judges:
        raise ContestError(Fault("a contest needs a judge", "name one under judges, as in openai/NAME"))
    if task.dimensions is None:
        rubric = await generate_dimensions(task, task.judges[0], connections=connections, how=how)
        task = replace(task, dimensions=rubric)
    return task_from(task_json(task))


def opened(names: Sequence[str], connections: Connections) -> list[Model]:
    """Judges by their names."""
    return [connections.open(one) for one in names]
