"""What the judges of a contest said, read again from the replies that are kept: every answer in its log must follow."""

from __future__ import annotations

import json
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand._version import __version__
from evenhand.contest.events import (
    AskGate,
    AskHorizontal,
    AskIndividual,
    ChallengeResolved,
    ContestEvent,
    FinalistsRanked,
    GateChecked,
    SubmissionScored,
    contest_event_json,
)
from evenhand.contest.machine import apply_contest_event, list_pending_contest_effects
from evenhand.contest.play import ContestMachinePanels, PanelQuestion, UnansweredError
from evenhand.contest.state import ContestState
from evenhand.errors import RefusedError
from evenhand.judging.results import JudgeCall, judge_dialogue_to_json
from evenhand.judging.single_judge import JudgeOptions
from evenhand.models.recording import model_reply_from_json, reply_to_json
from evenhand.models.requests import ModelSettings, Reply, Request

Json = dict[str, Any]
_ANSWERS = (GateChecked, SubmissionScored, FinalistsRanked, ChallengeResolved)


@dataclass(frozen=True, slots=True, kw_only=True)
class ContestReplay:
    """How many events say what their replies say, and the numbers of those that do not or could not be read again."""

    replayed: int
    differing: tuple[int, ...]
    left_out: tuple[int, ...]


def contest_call_json(call: JudgeCall) -> Json:
    """A call as a contest keeps it: what was replied, and the name of what was asked, by which it is found again."""
    told = {**judge_dialogue_to_json(call), "key": call.request.key(call.judge)}
    if isinstance(call.reply, Reply) and call.reply.places:
        told["places"] = reply_to_json(call.reply)["places"]
    return told


def replay_contest_answers(events: Sequence[ContestEvent], calls: Sequence[str]) -> ContestReplay:
    """Ask the questions of a contest again, answered by the replies that are kept with its events, as JSON.

    Replies that were kept without the names of their questions, as older versions did, or for prompts of another
    version cannot be read again.
    """
    from evenhand.workflows.sync import wait_for_coroutine  # It brings all that runs evals.

    return wait_for_coroutine(_replay_stored_contest(events, [json.loads(one) for one in calls]))


async def _replay_stored_contest(events: Sequence[ContestEvent], calls: Sequence[Any]) -> ContestReplay:
    state, replayed = ContestState(), 0
    differing: list[int] = []
    left_out: list[int] = []
    how = _load_replay_options(calls[0]["how"]) if calls else JudgeOptions()
    ours = bool(calls) and calls[0].get("evenhand") == __version__
    for number, event in enumerate(events):
        if isinstance(event, _ANSWERS):
            follows = await _does_replayed_event_follow(state, event, calls[number], how)
            replayed += follows is True
            if follows is False or (follows is None and ours):
                differing.append(number)
            elif follows is None:
                left_out.append(number)
        state, _ = apply_contest_event(state, event)
    return ContestReplay(replayed=replayed, differing=tuple(differing), left_out=tuple(left_out))


async def _does_replayed_event_follow(
    state: ContestState, event: ContestEvent, calls: Sequence[Json], how: JudgeOptions
) -> bool | None:
    """Whether an event is what its replies say; None where they do not fit the questions that are asked today."""
    question = _find_replayed_question(state, event)
    if question is None:
        return False
    task = state.required_task
    models = {name: _ReplayWorkflowReplies(name) for name in (*task.judges, *task.challenge_judges)}
    for call in calls:
        if call["judge"] in models and "key" in call:
            models[call["judge"]].add_call(call)
    panels = ContestMachinePanels(
        [models[name] for name in task.judges], [models[name] for name in task.challenge_judges], how
    )
    try:
        answered = await panels.answer_machine_question(state, question, event.at)
    except UnansweredError:
        return None
    return bool(contest_event_json(answered.event) == contest_event_json(event))


def _find_replayed_question(state: ContestState, event: ContestEvent) -> PanelQuestion | None:
    """What had been asked when an answer came."""
    for ask in list_pending_contest_effects(state):
        of_one = isinstance(event, (GateChecked, SubmissionScored))
        if of_one and getattr(ask, "submission", None) != getattr(event, "submission", None):
            continue
        wanted: tuple[type, ...] = (AskIndividual, AskHorizontal)
        wanted = (AskGate,) if isinstance(event, GateChecked) else wanted
        if isinstance(ask, wanted) and isinstance(ask, (AskGate, AskIndividual, AskHorizontal)):
            return ask
    return None


def _load_replay_options(told: Json) -> JudgeOptions:
    """How judges were asked, as it is kept beside the first event."""
    names = ("temperature", "max_tokens", "top_logprobs")
    settings = ModelSettings(**{name: told[name] for name in names if name in told}, seed=told.get("model_seed"))
    return JudgeOptions(language=told["language"], seed=told["seed"], settings=settings)


@dataclass(slots=True)
class _ReplayWorkflowReplies:
    """A judge that says again what it said, and nothing else."""

    name: str
    replies: dict[str, deque[Json]] = field(default_factory=dict)

    def add_call(self, call: Json) -> None:
        """Take a reply in, by the name of what was asked."""
        self.replies.setdefault(call["key"], deque()).append(call)

    async def ask(self, request: Request) -> Reply:
        """The reply that is kept; one that was never given stops the replay."""
        kept = self.replies.get(request.key(self.name))
        if not kept:
            raise RefusedError(f"{self.name} was not asked this", always=True)
        call = kept.popleft()
        if "failed" in call:
            raise RefusedError(call["failed"])
        return model_reply_from_json({"text": call["reply"], "stop": call["stop"], "places": call.get("places", [])})
