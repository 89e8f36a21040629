"""The shapes of what a run keeps as JSON, by which one of somebody else is held: a page must not stumble over it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

NUMBER: tuple[type, ...] = (int, float)
TEXT: tuple[type, ...] = (str,)
MAYBE_TEXT: tuple[type, ...] = (str, type(None))
MAYBE_NUMBER: tuple[type, ...] = (int, float, type(None))

# A shape is the types that a value may have, a list of one shape, or the shapes of some keys; others are not looked at.
SHOWN_RUBRIC = {
    "name": TEXT, "method": TEXT, "about": MAYBE_TEXT, "tags": [TEXT], "key": TEXT, "score_scale": [NUMBER],
    "normalise": TEXT, "ties": [TEXT], "why": MAYBE_TEXT, "gated": [TEXT], "judge_gate": MAYBE_TEXT,
    "grades": [{"grade": TEXT, "from": NUMBER, "label": MAYBE_TEXT, "description": MAYBE_TEXT}],
    "statements": [{"kind": TEXT, "id": TEXT, "asks": MAYBE_TEXT}],
    "verdicts": [{"verdict": TEXT, "from": NUMBER}],
    "layer_weights": (dict,),
    "criteria": [{"id": TEXT, "asks": MAYBE_TEXT, "weight": NUMBER, "scale": TEXT, "ends": [NUMBER]}],
}  # fmt: skip
_TRACE = [{"name": TEXT}]
SAMPLE = {"id": MAYBE_TEXT, "tags": [TEXT], "cluster": MAYBE_TEXT, "metadata": (dict, type(None))}
OUTPUT = {
    "text": MAYBE_TEXT, "trace": _TRACE, "cost": MAYBE_TEXT, "latency_ms": MAYBE_NUMBER, "turns": (int, type(None)),
    "author": MAYBE_TEXT, "input_tokens": MAYBE_NUMBER, "output_tokens": MAYBE_NUMBER,
}  # fmt: skip
RESULT = {
    "why": MAYBE_TEXT, "cluster": MAYBE_TEXT, "rubric": MAYBE_TEXT, "output": OUTPUT,
    "findings": [{"guard": TEXT, "rule": TEXT, "text": MAYBE_TEXT}],
    "assertions": [{"name": TEXT, "layer": TEXT, "weight": NUMBER, "passed": (bool, type(None)), "found": MAYBE_TEXT,
                    "why_not": MAYBE_TEXT, "looked_for": MAYBE_TEXT}],
    "scorecard": {"score": MAYBE_NUMBER, "grade": MAYBE_TEXT, "verdict": MAYBE_TEXT, "gates_failed": [TEXT],
                  "missing": (list, type(None)), "steps": [{"step": TEXT, "why": MAYBE_TEXT}]},
}  # fmt: skip
JUDGMENT = {
    "judge": TEXT, "output": TEXT, "criterion": TEXT, "score": (*NUMBER, str, bool, type(None)), "band": MAYBE_TEXT,
    "why_not": MAYBE_TEXT, "reason": MAYBE_TEXT, "evidence": [{"text": TEXT, "start": (int, type(None)),
                                                               "end": (int, type(None))}],
    "absent": [TEXT], "from_trace": [TEXT], "feedback": MAYBE_TEXT, "spread": (dict, type(None)), "exact": MAYBE_TEXT,
}  # fmt: skip


def list_wrong_shapes(data: Any, shape: Any, path: str = "") -> Iterator[str]:
    """Where a value is not of its shape; what is not there, and None for a list or an object, is left alone."""
    if isinstance(shape, tuple):
        if type(data) not in shape:
            yield path
    elif data is None:
        return
    elif isinstance(shape, list):
        if not isinstance(data, list):
            yield path
            return
        for at, one in enumerate(data):
            yield from list_wrong_shapes(one, shape[0], f"{path}[{at}]")
    elif not isinstance(data, Mapping):
        yield path
    else:
        for key, below in shape.items():
            if key in data:
                yield from list_wrong_shapes(data[key], below, f"{path}.{key}" if path else key)
