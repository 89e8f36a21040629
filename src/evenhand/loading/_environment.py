"""Settings in the environment: they override the file, and so enter the fingerprint."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction

from evenhand.errors import Fault, RubricError
from evenhand.loading._fields import number_from
from evenhand.model import Cap, Method, Rubric


def with_environment(rubric: Rubric, environ: Mapping[str, str]) -> Rubric:
    """The rubric as the variables that its method listens to make it."""
    settings = rubric.method.environment
    set_ = [name for name in settings if environ.get(name, "").strip()]
    given = {name: _number(name, environ[name]) for name in set_ if settings[name].sets != "guard"}
    guarded = [_switch(name, environ[name]) for name in set_ if settings[name].sets == "guard"]
    weights = {settings[name].of: value for name, value in given.items() if settings[name].sets == "weight"}
    method = rubric.method
    try:
        for name, value in given.items():
            if settings[name].sets == "cap":
                method = _with_cap(method, value)
        criteria = tuple(replace(c, weight=weights.get(c.id, c.weight)) for c in rubric.criteria)
        gate = guarded[-1] if guarded else rubric.safety_gate
        return replace(rubric, criteria=criteria, method=method, safety_gate=gate)
    except RubricError as error:
        where = f"environment ({', '.join(given)})"
        raise RubricError(*(replace(fault, where=where) for fault in error.faults)) from None


def _number(name: str, text: str) -> Fraction:
    value = number_from(text)
    if isinstance(value, str):
        raise RubricError(Fault(value, where=f"environment variable {name}"))
    return value


def _switch(name: str, text: str) -> bool:
    word = text.strip().lower()
    if word not in (*ON, *OFF):
        what = f"{text.strip()[:40]!r} is neither true nor false"
        raise RubricError(Fault(what, where=f"environment variable {name}"))
    return word in ON


ON = ("true", "1", "yes", "on")
OFF = ("false", "0", "no", "off")


def _with_cap(method: Method, at: Fraction) -> Method:
    for step in method.steps:
        if isinstance(step, Cap):
            method = method.with_step(step, replace(step, at=at))
    return method
