"""The eval that a workflow is given: an Eval, its file, or a mapping with the fields of one."""

from __future__ import annotations

import os
from collections.abc import Mapping
from itertools import islice
from pathlib import Path
from typing import Any

from evenhand.errors import EvalError, Fault
from evenhand.evals.eval_definition import Eval
from evenhand.evals.eval_file import load_eval, read_eval_mapping
from evenhand.judging.unanswerable import UnanswerableCriterion, list_unanswerable_criteria
from evenhand.model.method import LEAST_TO_NORMALISE
from evenhand.models.requests import EMBEDDED
from evenhand.wording import pluralize_count

EvalLike = Eval | str | Path | Mapping[str, Any]


def resolve_user_eval(eval: EvalLike) -> Eval:
    """The eval, with the settings of the environment where it is read; an EvalError with all that is wrong."""
    if isinstance(eval, Eval):
        return eval
    if isinstance(eval, Mapping):
        return read_eval_mapping(eval, os.environ)
    if isinstance(eval, (str, Path)):
        return load_eval(eval, os.environ)
    hint = "as in Eval(samples=[…], variants={…}, rubric=…)"
    raise EvalError(Fault(f"an eval is an Eval, a file or a mapping, got {type(eval).__name__}", hint))


SAMPLES_FOR_LIMITS = 50  # Samples that are looked at for a reference: where one has none, few others have.


def list_eval_unanswerable(eval: Eval) -> tuple[UnanswerableCriterion, ...]:
    """The criteria of an eval that its judges cannot answer, whatever the outputs."""
    if not eval.rubrics or any(name != EMBEDDED for name in eval.judges):
        return ()
    known = list(islice(eval.samples, SAMPLES_FOR_LIMITS))
    given = {"has_reference": any(one.reference for one in known), "has_context": any(one.context for one in known)}
    found = [list_unanswerable_criteria(rubric, eval.judges, **given) for rubric in eval.rubrics.values()]
    return tuple(one for several in found for one in several)


def describe_eval_without_normalising(eval: Eval) -> str:
    """What to say where a rubric normalises reviewers and the eval has too few variants for it; else nothing."""
    asked = any(rubric.method.panel.normalise == "z" for rubric in eval.all_rubrics.values())
    if not asked or len(eval.variants) >= LEAST_TO_NORMALISE:
        return ""
    variants = pluralize_count(len(eval.variants), "variant")
    return (
        f"normalise: z does nothing here: it needs {LEAST_TO_NORMALISE} outputs of one sample, and the eval has "
        f"{variants}; every judge's scores count as they are"
    )
