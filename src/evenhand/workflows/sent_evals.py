"""Evals that a request sends: samples and rubrics written out; no code, no program and no file of this machine."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from typing import Any

from evenhand.assertions.kinds import EXECUTED_KIND, SET_KIND
from evenhand.errors import EvalError, Fault, FaultPath, InputError
from evenhand.evals.eval_definition import Eval
from evenhand.evals.eval_file import read_eval_data
from evenhand.judging.prompts import LANGUAGES
from evenhand.workflows.sent_inputs import find_local_judge_faults, find_unshipped_rubric_faults

SENT_VARIANT_KINDS = ("model",)  # And none at all: outputs that come with the samples.
LOCAL_VARIANT_KINDS = ("outputs", "command", "http", "python")
SCHEMA_KIND = "json_schema"
Json = Mapping[str, Any]


def parse_sent_eval(fields: Json) -> Eval:
    """The eval that these fields of an eval file make; an EvalError with all that is wrong or not to be sent."""
    faults = list(_find_local_parts(fields))
    if faults:
        raise EvalError(*faults)
    judges = fields.get("judges")
    # One text under `judges` may be a file in an eval file; here it is a name.
    given = {**fields, "judges": [judges]} if isinstance(judges, str) else fields
    try:
        return read_eval_data(given, os.environ)
    except InputError as error:
        raise EvalError(*error.faults) from None


def _find_local_parts(fields: Json) -> Iterator[Fault]:
    """What would be read from this machine, or run on it."""
    samples = fields.get("samples")
    if not isinstance(samples, list):
        yield Fault("a request sends its samples as a list", "each with its input and outputs", ("samples",))
    if "prices" in fields:
        yield Fault("a request names no file of prices", "leave it out", ("prices",))
    how = fields.get("how")
    if isinstance(how, dict) and how.get("language", LANGUAGES[0]) not in LANGUAGES:
        yield Fault("a request cannot bring prompts", f"one of {', '.join(LANGUAGES)}", ("how", "language"))
    judges = fields.get("judges")
    yield from find_local_judge_faults([judges] if isinstance(judges, str) else list(judges or ()))
    for name, variant in _list_entries(fields.get("variants")):
        yield from _find_local_variant(variant, ("variants", name))
    yield from _find_local_scoring(fields, ())
    for at, sample in enumerate(samples if isinstance(samples, list) else ()):
        yield from _find_local_scoring(sample, ("samples", at))


def _find_local_variant(variant: object, path: FaultPath) -> Iterator[Fault]:
    if not isinstance(variant, dict):
        return
    hint = "send outputs with the samples, or name a model"
    for kind in LOCAL_VARIANT_KINDS:
        if kind in variant:
            yield Fault(f"a request cannot send a variant with {kind}", hint, (*path, kind))
    if isinstance(variant.get("prompt"), dict):
        yield Fault("a request cannot name a file with a prompt", "send its text", (*path, "prompt"))
    if "model" in variant:
        yield from find_local_judge_faults([variant["model"]], (*path, "model"))


def _find_local_scoring(part: object, path: FaultPath) -> Iterator[Fault]:
    """Rubrics and assertions of an eval, or of a sample."""
    if not isinstance(part, dict):
        return
    if "rubric" in part:
        yield from find_unshipped_rubric_faults(part["rubric"], (*path, "rubric"))
    for tag, rubric in _list_entries(part.get("rubrics")):
        yield from find_unshipped_rubric_faults(rubric, (*path, "rubrics", tag))
    for at, one in enumerate(_as_list(part.get("assertions"))):
        yield from _find_local_assertion(one, (*path, "assertions", at))
    for name, one in _list_entries(part.get("checks")):
        yield from _find_local_assertion(one, (*path, "checks", name))


def _find_local_assertion(given: object, path: FaultPath) -> Iterator[Fault]:
    if not isinstance(given, dict):
        return
    if EXECUTED_KIND in given:
        yield Fault("a request cannot say what is executed", "leave it out", (*path, EXECUTED_KIND))
    if isinstance(given.get(SCHEMA_KIND), str):
        yield Fault("a request cannot name a file with a schema", "send it as a mapping", (*path, SCHEMA_KIND))
    for word, parts in _list_entries(given.get(SET_KIND)):
        for at, one in enumerate(_as_list(parts)):
            yield from _find_local_assertion(one, (*path, SET_KIND, word, at))


def _list_entries(given: object) -> list[tuple[str, object]]:
    return [(str(name), one) for name, one in given.items()] if isinstance(given, dict) else []


def _as_list(given: object) -> list[object]:
    return given if isinstance(given, list) else []
