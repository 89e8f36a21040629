"""Rewards over HTTP: a batch of outputs in, a number or null for each out; and the shape that slime calls."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from pydantic import AliasChoices, BaseModel, ConfigDict, Field

from evenhand.service.callers import Operator
from evenhand.workflows.judge import open_user_judges
from evenhand.workflows.rewards import (
    RewardAccess,
    RewardBatch,
    RewardedWork,
    RewardTerms,
    read_reward_text,
    reward_outputs,
)
from evenhand.workflows.sent_inputs import choose_sent_judges, load_sent_rubric

Json = dict[str, Any]
Text = str | list[Json]  # A text, or a conversation as a list of messages.
router = APIRouter(prefix="/v1/rewards", tags=["rewards"])


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


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
        texts = {"output": read_reward_text(self.output), "prompt": read_reward_text(self.prompt)}
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


@router.post("")
async def post_rewards(request: Request, wanted: RewardRequest, _: Operator) -> Json:
    """A number for each output, in their order; null with why for those that could not be judged."""
    terms = RewardTerms(scale=wanted.scale, failed_gate=wanted.failed_gate, subject=wanted.subject)  # type: ignore[arg-type]
    works = [one.read_work() for one in wanted.outputs]
    return (await _reward(request, wanted.rubric, works, wanted.judges, terms)).to_json()


@router.post("/slime")
async def post_slime_reward(
    request: Request,
    sent: RewardedOutput,
    _: Operator,
    rubric: Annotated[str, Query(description="The name of a shipped rubric.")],
    judge: Annotated[list[str], Query(max_length=10, description="As in openai/NAME; else the default.")] = [],  # noqa: B006
) -> float | None:
    """The reward of one output as slime's remote reward model answers it: a number, or null."""
    batch = await _reward(request, rubric, [sent.read_work()], judge, RewardTerms())
    return batch.rewards[0]


async def _reward(
    request: Request, rubric: str | Json, works: list[RewardedWork], judges: list[str], terms: RewardTerms
) -> RewardBatch:
    state, known = request.app.state, load_sent_rubric(rubric)
    models = open_user_judges(choose_sent_judges(judges, known), state.connections)
    async with state.judging:
        shared = RewardAccess(
            rubric=known, models=models, connections=state.connections, store=state.store, terms=terms
        )
        return await reward_outputs(shared, works)
