"""Evenhand scores the work of language models against rubrics, explains every step, and decides.

Importing it costs nothing: public names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module

from evenhand._version import __version__

TYPE_CHECKING = False  # Type checkers read it as true; the module of that name costs 5 ms.

if TYPE_CHECKING:
    from evenhand.api import load_rubric, score
    from evenhand.asking import judge, prefer
    from evenhand.comparing import compare_runs
    from evenhand.contest import Submission, Task
    from evenhand.contesting import Contest, Played, run_contest
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
    from evenhand.judging import How, Judged, Preferred, Settings
    from evenhand.judging.models import Budget, Connections, Limits
    from evenhand.model import (
        Answers,
        Criterion,
        Method,
        Review,
        Rubric,
        Sample,
        Scale,
        Scorecard,
        Scored,
        Scores,
        Unscored,
    )
    from evenhand.running import Options, Ran, run
    from evenhand.runs import Eval, load_eval

_HOMES = {
    "api": ("load_rubric", "score"),
    "asking": ("judge", "prefer"),
    "comparing": ("compare_runs",),
    "contest": ("Submission", "Task"),
    "contesting": ("Contest", "Played", "run_contest"),
    "errors": (
        "AnswersError", "BudgetError", "BusyError", "ContestError", "EvalError", "EvenhandError", "InputError",
        "JudgeError", "ModelError", "OutputError", "RefusedError", "RubricError", "StoreError",
    ),
    "judging": ("How", "Judged", "Preferred", "Settings"),
    "judging.models": ("Budget", "Connections", "Limits"),
    "model": (
        "Answers", "Criterion", "Method", "Review", "Rubric", "Sample", "Scale", "Scorecard", "Scored", "Scores",
        "Unscored",
    ),
    "running": ("Options", "Ran", "run"),
    "runs": ("Eval", "load_eval"),
}  # fmt: skip

__all__ = [
    "Answers",
    "AnswersError",
    "Budget",
    "BudgetError",
    "BusyError",
    "Connections",
    "Contest",
    "ContestError",
    "Criterion",
    "Eval",
    "EvalError",
    "EvenhandError",
    "How",
    "InputError",
    "JudgeError",
    "Judged",
    "Limits",
    "Method",
    "ModelError",
    "Options",
    "OutputError",
    "Played",
    "Preferred",
    "Ran",
    "RefusedError",
    "Review",
    "Rubric",
    "RubricError",
    "Sample",
    "Scale",
    "Scorecard",
    "Scored",
    "Scores",
    "Settings",
    "StoreError",
    "Submission",
    "Task",
    "Unscored",
    "__version__",
    "compare_runs",
    "judge",
    "load_eval",
    "load_rubric",
    "prefer",
    "run",
    "run_contest",
    "score",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"evenhand.{home}"), name)
    raise AttributeError(f"module 'evenhand' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
