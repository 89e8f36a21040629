"""Judging, scoring and rewards over HTTP: outputs and a rubric in, scorecards or one number for each output out."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from evenhand.guards.personal_data import build_personal_data_mask, mask_data
from evenhand.judging.results import JudgedSample, judge_panel_reviews_to_json
from evenhand.model.sample import Sample
from evenhand.models.budget import Spending
from evenhand.scoring.scores_json import scores_to_json
from evenhand.service.callers import Anybody, Operator
from evenhand.service.idempotency import KeyedRoute
from evenhand.service.problems import explain_http_statuses
from evenhand.service.sent_texts import CheckedRoute
from evenhand.workflows.judge import judge, open_user_judges, resolve_user_sample
from evenhand.workflows.rewards import (
    RewardAccess,
    RewardBatch,
    RewardedWork,
    RewardTerms,
    read_text_to_reward,
    reward_outputs,
)
from evenhand.workflows.rubric import list_rubrics
from evenhand.workflows.score import score
from evenhand.workflows.sent_inputs import choose_judges_for_service, load_rubric_for_service

Json = dict[str, Any]
router = APIRouter(prefix="/v1", tags=["scoring"], route_class=KeyedRoute)


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class JudgeRequest(_Body):
    """Outputs to be judged under a rubric."""

    rubric: str | Json = Field(description="The name of a shipped rubric, or a rubric as a mapping.")
    outputs: dict[str, str] = Field(
        min_length=1, max_length=26, description='The texts to judge, each under a name of yours: {"a": "text"}.'
    )
    input: str = Field(default="", description="What the outputs answer.")
    reference: str = Field(default="", description="A text that is right, for judges to compare with.")
    context: str = Field(default="", description="What the outputs were written from.")
    judges: list[str] = Field(
        default_factory=list,
        max_length=10,
        description='Names of judges: ["embedded"] or ["openai/NAME"]; without any, the default.',
    )


class ScoreRequest(_Body):
    """Answers to be scored under a rubric."""

    rubric: str | Json = Field(description="The name of a shipped rubric, or a rubric as a mapping.")
    answers: Json | list[Json] = Field(
        description="The content of a file of answers: of one output an object, of several a list of objects."
    )


@router.post("/judge", responses=explain_http_statuses(502))
async def post_judge(request: Request, wanted: JudgeRequest, _: Operator) -> Json:
    """Ask judges about outputs: scorecards with reasons, evidence and every step."""
    state = request.app.state
    rubric = await asyncio.to_thread(load_rubric_for_service, wanted.rubric)
    judges = choose_judges_for_service(wanted.judges, rubric)
    sample = resolve_user_sample(wanted.model_dump(include={"outputs", "input", "reference", "context"}))
    async with state.judging:
        judged = await judge(rubric, sample, judges=judges, connections=state.connections)
    return await asyncio.to_thread(_describe_judged_sample, judged, sample, state.connections.spent)


def _describe_judged_sample(judged: JudgedSample, sample: Sample, spent: Spending) -> Json:
    return mask_data(judge_panel_reviews_to_json(judged, spent), build_personal_data_mask(sample))  # type: ignore[return-value]


@router.post("/score")
def post_score(wanted: ScoreRequest, _: Operator) -> Json:
    """Turn answers into scorecards: score, decision, ranking, and why."""
    return dict(scores_to_json(score(load_rubric_for_service(wanted.rubric), wanted.answers)))


@router.get("/rubrics")
def get_rubrics(_: Anybody) -> Json:
    """The rubrics and methods that ship."""
    library = list_rubrics()
    return {
        "rubrics": [
            {"name": one.name, "method": one.method.name, "criteria": [each.id for each in one.criteria]}
            for one in library.rubrics
        ],
        "methods": [{"name": one.name, "about": one.about} for one in library.methods],
    }


Text = str | list[Json]  # A text, or a conversation as a list of messages.
reward_router = APIRouter(prefix="/v1/rewards", tags=["rewards"], route_class=CheckedRoute)


class RewardedOutput(_Body):
    """An output to be rewarded; verl's and slime's names for its parts are understood."""

    output: Text = Field(
        validation_alias=AliasChoices("output", "response", "solution_str"),
        description="The text to reward, or a conversation as a list of messages.",
    )
    prompt: Text = Field(default="", description="What it answers: a text, or a list of messages.")
    reference: str | None = Field(
        default=None,
        validation_alias=AliasChoices("reference", "label", "ground_truth"),
        description="A text that is right.",
    )
    context: str = Field(default="", description="What it was written from.")

    def read_work(self) -> RewardedWork:
        """What the workflow takes."""
        texts = {"output": read_text_to_reward(self.output), "prompt": read_text_to_reward(self.prompt)}
        return RewardedWork(**texts, reference=self.reference or "", context=self.context)


class RewardRequest(_Body):
    """Outputs to be rewarded by a rubric."""

    rubric: str | Json = Field(description="The name of a shipped rubric, or a rubric as a mapping.")
    outputs: list[RewardedOutput] = Field(
        min_length=1, max_length=2000, description='A list of objects: [{"output": "text", "prompt": "text"}].'
    )
    judges: list[str] = Field(
        default_factory=list,
        max_length=10,
        description='Names of judges: ["embedded"] or ["openai/NAME"]; without any, the default.',
    )
    scale: str = Field(default="share", description="share: 0 to 1; rubric: the score itself.")
    failed_gate: str = Field(default="keep", description="keep: the score; lowest: the low end of the scale.")
    subject: str = Field(default="", description="Under which the scorecards are kept; reward-RUBRIC without it.")


@reward_router.post("")
async def post_rewards(request: Request, wanted: RewardRequest, _: Operator) -> Json:
    """A number for each output, in their order; null with why for those that could not be judged."""
    terms = RewardTerms(scale=wanted.scale, failed_gate=wanted.failed_gate, subject=wanted.subject)  # type: ignore[arg-type]
    works = [one.read_work() for one in wanted.outputs]
    return (await _answer_reward_request(request, wanted.rubric, works, wanted.judges, terms)).to_json()


@reward_router.post("/slime")
async def post_slime_reward(
    request: Request,
    sent: RewardedOutput,
    _: Operator,
    rubric: Annotated[str, Query(description="The name of a shipped rubric.")],
    judge: Annotated[list[str], Query(max_length=10, description="As in openai/NAME; else the default.")] = [],  # noqa: B006
) -> float | None:
    """The reward of one output as slime's remote reward model answers it: a number, or null."""
    batch = await _answer_reward_request(request, rubric, [sent.read_work()], judge, RewardTerms())
    return batch.rewards[0]


async def _answer_reward_request(
    request: Request, rubric: str | Json, works: list[RewardedWork], judges: list[str], terms: RewardTerms
) -> RewardBatch:
    state, known = request.app.state, await asyncio.to_thread(load_rubric_for_service, rubric)
    models = open_user_judges(choose_judges_for_service(judges, known), state.connections)
    async with state.judging:
        shared = RewardAccess(
            rubric=known, models=models, connections=state.connections, store=state.store, terms=terms
        )
        return await reward_outputs(shared, works)
