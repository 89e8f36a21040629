"""Judging and scoring over HTTP: outputs and a rubric in, scorecards with every step out."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from evenhand.guards.personal_data import build_personal_data_mask, mask_data
from evenhand.judging.results import judge_panel_reviews_to_json
from evenhand.scoring.scores_json import scores_to_json
from evenhand.service.callers import Anybody, Operator
from evenhand.service.idempotency import KeyedRoute
from evenhand.service.problems import explain_statuses
from evenhand.workflows.judge import judge, resolve_user_sample
from evenhand.workflows.rubric import list_rubrics
from evenhand.workflows.score import score
from evenhand.workflows.sent_inputs import choose_sent_judges, load_sent_rubric

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


@router.post("/judge", responses=explain_statuses(502))
async def post_judge(request: Request, wanted: JudgeRequest, _: Operator) -> Json:
    """Ask judges about outputs: scorecards with reasons, evidence and every step."""
    state = request.app.state
    rubric = load_sent_rubric(wanted.rubric)
    judges = choose_sent_judges(wanted.judges, rubric)
    sample = resolve_user_sample(wanted.model_dump(include={"outputs", "input", "reference", "context"}))
    async with state.judging:
        judged = await judge(rubric, sample, judges=judges, connections=state.connections)
    return mask_data(judge_panel_reviews_to_json(judged, state.connections.spent), build_personal_data_mask(sample))  # type: ignore[return-value]


@router.post("/score")
def post_score(wanted: ScoreRequest, _: Operator) -> Json:
    """Turn answers into scorecards: score, decision, ranking, and why."""
    return dict(scores_to_json(score(load_sent_rubric(wanted.rubric), wanted.answers)))


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
