"""Evenhand scores the work of language models against rubrics, explains every step, and decides.

Importing it costs nothing: public names are loaded when they are first used.
"""

from __future__ import annotations

from importlib import import_module

from evenhand._version import __version__

TYPE_CHECKING = False  # Type checkers read it as true; the module of that name costs 5 ms.

if TYPE_CHECKING:
    from evenhand.api import load_rubric, score
    from evenhand.errors import AnswersError, EvenhandError, InputError, RubricError
    from evenhand.model import (
        Answers,
        Criterion,
        Method,
        Review,
        Rubric,
        Scale,
        Scorecard,
        Scored,
        Scores,
        Unscored,
    )

_HOMES = {
    "api": ("load_rubric", "score"),
    "errors": ("AnswersError", "EvenhandError", "InputError", "RubricError"),
    "model": (
        "Answers", "Criterion", "Method", "Review", "Rubric", "Scale", "Scorecard", "Scored", "Scores", "Unscored",
    ),
}  # fmt: skip

__all__ = [
    "Answers",
    "AnswersError",
    "Criterion",
    "EvenhandError",
    "InputError",
    "Method",
    "Review",
    "Rubric",
    "RubricError",
    "Scale",
    "Scorecard",
    "Scored",
    "Scores",
    "Unscored",
    "__version__",
    "load_rubric",
    "score",
]


def __getattr__(name: str) -> object:
    for home, names in _HOMES.items():
        if name in names:
            return getattr(import_module(f"evenhand.{home}"), name)
    raise AttributeError(f"module 'evenhand' has no attribute {name!r}")


def __dir__() -> list[str]:
    return __all__
