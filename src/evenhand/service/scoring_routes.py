"""Judging and scoring over HTTP: outputs and a rubric in, scorecards with every step out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from fastapi import APIRouter, Request
from pydantic import BaseModel, ConfigDict, Field

from evenhand.errors import suggest_known_word_in_error
from evenhand.files.methods import list_method_yaml_names
from evenhand.files.rubrics import load_rubric
from evenhand.guards.personal_data import build_personal_data_mask, mask_data
from evenhand.judging.results import judge_panel_reviews_to_json
from evenhand.models.model_names import choose_default_model_names
from evenhand.scoring.scores_json import scores_to_json
from evenhand.service.callers import Anybody, Operator
from evenhand.service.problems import ProblemError
from evenhand.workflows.judge import judge, resolve_user_sample
from evenhand.workflows.rubric import list_rubrics
from evenhand.workflows.score import score

Json = dict[str, Any]
router = APIRouter(prefix="/v1", tags=["scoring"])


class _Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class JudgeRequest(_Body):
    """Outputs to be judged under a rubric."""

    rubric: str | Json = Field(description="The name of a shipped rubric, or a rubric as a mapping.")
    outputs: dict[str, str] = Field(min_length=1, max_length=26)
    input: str = ""
    reference: str = ""
    context: str = ""
    judges: list[str] = Field(default_factory=list, max_length=10, description="As in openai/NAME; else the default.")


class ScoreRequest(_Body):
    """Answers to be scored under a rubric."""

    rubric: str | Json
    answers: Json | list[Json]


@router.post("/judge")
async def post_judge(request: Request, wanted: JudgeRequest, _: Operator) -> Json:
    """Ask judges about outputs: scorecards with reasons, evidence and every step."""
    state = request.app.state
    rubric = load_rubric(_refuse_rubric_files(wanted.rubric))
    judges = wanted.judges or choose_default_model_names(rubric.method.dialogue, state.environ)
    sample = resolve_user_sample(wanted.model_dump(include={"outputs", "input", "reference", "context"}))
    async with state.judging:
        judged = await judge(rubric, sample, judges=_refuse_programs(judges), connections=state.connections)
    return mask_data(judge_panel_reviews_to_json(judged, state.connections.spent), build_personal_data_mask(sample))  # type: ignore[return-value]


@router.post("/score")
def post_score(wanted: ScoreRequest, _: Operator) -> Json:
    """Turn answers into scorecards: score, decision, ranking, and why."""
    return dict(scores_to_json(score(_refuse_rubric_files(wanted.rubric), wanted.answers)))


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


def _refuse_rubric_files(rubric: str | Json) -> str | Json:
    """Whoever calls names what ships, or sends the rubric: no file of this machine is read for them."""
    if isinstance(rubric, str):
        if rubric not in {one.name for one in list_rubrics().rubrics}:
            hint = "GET /v1/rubrics lists them; or send it as a mapping"
            raise ProblemError(422, f"no rubric {rubric!r} ships", hint)
    elif (method := rubric.get("method")) is not None and method not in list_method_yaml_names():
        hint = suggest_known_word_in_error(str(method), list_method_yaml_names())
        raise ProblemError(422, f"no method {method!r} ships", hint)
    return rubric


def _refuse_programs(judges: Sequence[str]) -> list[str]:
    """A judge that is code or a file of this machine is named by its operator, not by a request."""
    for name in judges:
        kind = name.partition(":")[0]
        if kind in ("python", "replay", "gguf"):
            raise ProblemError(422, f"a request cannot name a judge of the kind {kind}:", "as in openai/NAME")
    return list(judges)
