"""The eval that a workflow is given: an Eval, its file, or a mapping with the fields of one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from evenhand.errors import EvalError, Fault
from evenhand.evals.eval_definition import Eval
from evenhand.evals.eval_file import load_eval, read_eval_mapping

EvalLike = Eval | str | Path | Mapping[str, Any]


def read_user_eval(eval: EvalLike) -> Eval:
    """The eval, with the settings of the environment where it is read; an EvalError with all that is wrong."""
    if isinstance(eval, Eval):
        return eval
    if isinstance(eval, Mapping):
        return read_eval_mapping(eval, os.environ)
    if isinstance(eval, (str, Path)):
        return load_eval(eval, os.environ)
    hint = "as in Eval(samples=[…], variants={…}, rubric=…)"
    raise EvalError(Fault(f"an eval is an Eval, a file or a mapping, got {type(eval).__name__}", hint))
