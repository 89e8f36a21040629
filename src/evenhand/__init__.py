"""Evenhand scores the work of language models against rubrics, explains every step, and decides.

Importing it costs nothing: public names are loaded when they are first used.
"""

from __future__ import annotations

import sys
from importlib import import_module

from evenhand._version import __version__

TYPE_CHECKING = False  # Type checkers read it as true; the module of that name costs 5 ms.

if TYPE_CHECKING:
    from evenhand.contest.task import Submission, Task
    from evenhand.errors import (
        AnswersError,
        BudgetError,
        BusyError,
        ContestError,
        EvalError,
        EvenhandError,
        InputError,
        JudgeError,
        ModelError,
        OutputError,
        RefusedError,
        RubricError,
        StoreError,
    )
    from evenhand.evals.eval_definition import Eval
    from evenhand.evals.eval_file import load_eval
    from evenhand.files.rubrics import load_rubric
    from evenhand.judging.results import JudgedSample, Preferences
    from evenhand.judging.single_judge import JudgeOptions
    from evenhand.model.method import Method
    from evenhand.model.rubric import Rubric
    from evenhand.model.sample import Sample
    from evenhand.model.scale import Criterion, Missing, Scale, Scored
    from evenhand.model.scorecard import Answers, Review, Scorecard, Scores
    from evenhand.models.budget import Budget
    from evenhand.models.connections import Connections
    from evenhand.models.limits import Limits
    from evenhand.models.requests import ModelSettings
    from evenhand.workflows.compare import CompareResult, CompareTerms, compare, compare_runs
    from evenhand.workflows.contest import Contest, ContestResult, run_contest
    from evenhand.workflows.judge import judge, prefer
    from evenhand.workflows.run import RunOptions, RunResult, run
    from evenhand.workflows.score import score
    from evenhand.workflows.sync import judge_sync, prefer_sync, run_sync

_HOMES = {
    "contest.task": ("Submission", "Task"),
    "errors": (
        "AnswersError",
        "BudgetError",
        "BusyError",
        "ContestError",
        "EvalError",
        "EvenhandError",
        "InputError",
        "JudgeError",
        "ModelError",
        "OutputError",
        "RefusedError",
        "RubricError",
        "StoreError",
    ),
    "evals.eval_definition": ("Eval",),
    "evals.eval_file": ("load_eval",),
    "files.rubrics": ("load_rubric",),
    "judging.results": ("JudgedSample", "Preferences"),
    "judging.single_judge": ("JudgeOptions",),
    "model.method": ("Method",),
    "model.rubric": ("Rubric",),
    "model.sample": ("Sample",),
    "model.scale": ("Criterion", "Missing", "Scale", "Scored"),
    "model.scorecard": ("Answers", "Review", "Scorecard", "Scores"),
    "models.budget": ("Budget",),
    "models.connections": ("Connections",),
    "models.limits": ("Limits",),
    "models.requests": ("ModelSettings",),
    "workflows.compare": ("CompareResult", "CompareTerms", "compare", "compare_runs"),
    "workflows.contest": ("Contest", "ContestResult", "run_contest"),
    "workflows.judge": ("judge", "prefer"),
    "workflows.run": ("RunOptions", "RunResult", "run"),
    "workflows.score": ("score",),
    "workflows.sync": ("judge_sync", "prefer_sync", "run_sync"),
}

__all__ = [
    "Answers",
    "AnswersError",
    "Budget",
    "BudgetError",
    "BusyError",
    "CompareResult",
    "CompareTerms",
    "Connections",
    "Contest",
    "ContestError",
    "ContestResult",
    "Criterion",
    "Eval",
    "EvalError",
    "EvenhandError",
    "InputError",
    "JudgeError",
    "JudgeOptions",
    "JudgedSample",
    "Limits",
    "Method",
    "Missing",
    "ModelError",
    "ModelSettings",
    "OutputError",
    "Preferences",
    "RefusedError",
    "Review",
    "Rubric",
    "RubricError",
    "RunOptions",
    "RunResult",
    "Sample",
    "Scale",
    "Scorecard",
    "Scored",
    "Scores",
    "StoreError",
    "Submission",
    "Task",
    "__version__",
    "compare",
    "compare_runs",
    "judge",
    "judge_sync",
    "load_eval",
    "load_rubric",
    "prefer",
    "prefer_sync",
    "run",
    "run_contest",
    "run_sync",
    "score",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"evenhand.{home}"), name)
    raise AttributeError(f"module 'evenhand' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__


class _Package(type(sys)):  # type: ignore[misc]
    """This package: `compare` is the public function, although the room of that name would take its place."""

    @property
    def compare(self) -> object:
        return __getattr__("compare")

    @compare.setter
    def compare(self, room: object) -> None:
        """Called by the import system once the room is loaded; whoever imports from the room finds it all the same."""


sys.modules[__name__].__class__ = _Package
