"""The shapes of what a run keeps as JSON, by which one of somebody else is held: a page must not stumble over it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from types import NoneType
from typing import Any


@dataclass(frozen=True, slots=True)
class Needed:
    """What must be there, in an object that is described by its keys."""

    shape: Any


@dataclass(frozen=True, slots=True)
class Each:
    """An object with any keys, of which each has the same shape."""

    shape: Any


# A shape is a type, a pattern for a whole text, a list of one shape, an object by its keys, or a tuple: one of several.
# A key that an object lacks is another matter only where it is Needed; keys that are not described are not looked at.
NUMBER = (int, float)
TEXT = (str,)
MAYBE_TEXT = (str, NoneType)
MAYBE_NUMBER = (int, float, NoneType)
EXACT = (int, float, re.compile(r"-?[0-9]{1,400}(?:/0*[1-9][0-9]{0,399})?"))
MAYBE_EXACT = (*EXACT, NoneType)
ANSWER = (int, float, str, bool, NoneType)

SHOWN_RUBRIC = {
    "name": TEXT, "method": TEXT, "about": MAYBE_TEXT, "tags": [TEXT], "key": TEXT, "score_scale": [NUMBER],
    "normalise": TEXT, "ties": [TEXT], "why": MAYBE_TEXT, "gated": [TEXT], "judge_gate": MAYBE_TEXT,
    "grades": [{"grade": TEXT, "from": NUMBER, "label": MAYBE_TEXT, "description": MAYBE_TEXT}],
    "statements": [{"kind": TEXT, "id": TEXT, "asks": MAYBE_TEXT}],
    "verdicts": [{"verdict": TEXT, "from": NUMBER}],
    "layer_weights": Each(EXACT),
    "criteria": [{"id": TEXT, "asks": MAYBE_TEXT, "weight": NUMBER, "scale": TEXT, "ends": [NUMBER]}],
}  # fmt: skip
_SCALE = {"min": EXACT, "max": EXACT, "integers": bool, "yes_no": bool, "bands": [{"id": TEXT, "min": EXACT}]}
_CRITERION: dict[str, Any] = {
    "id": TEXT, "asks": TEXT, "weight": EXACT, "points": MAYBE_EXACT, "scale": _SCALE, "required": bool, "fixed": bool,
    "anchors": [{"min": EXACT, "max": EXACT, "text": TEXT}], "required_min_score": MAYBE_EXACT,
    "examples": [{"passage": TEXT, "score": EXACT, "why": TEXT}],
}  # fmt: skip
_CRITERION["children"] = [_CRITERION]
_METHOD = {
    "name": TEXT, "about": TEXT, "dialogue": TEXT, "required": bool, "weights_sum_to": MAYBE_EXACT,
    "scale": {"min": EXACT, "max": EXACT, "decimals": (int, NoneType)}, "criterion_scale": _SCALE,
    "holistic": (_SCALE, NoneType), "criteria": [_CRITERION], "steps": [dict],
    "grades": [{"grade": TEXT, "from_": EXACT, "label": MAYBE_TEXT}], "verdicts": [{"verdict": TEXT, "from_": EXACT}],
    "ties": [{"by": TEXT, "of": MAYBE_TEXT}], "environment": Each({"sets": TEXT, "of": MAYBE_TEXT}),
}  # fmt: skip
_STATEMENT = {"id": TEXT, "asks": TEXT, "amount": MAYBE_EXACT}
_RUBRIC = {
    "name": TEXT, "about": TEXT, "tags": [TEXT], "safety_gate": bool, "holistic": bool, "too_close": MAYBE_EXACT,
    "method": _METHOD, "criteria": [_CRITERION], "red_flags": [_STATEMENT], "bonuses": [_STATEMENT],
    "gates": [{"criterion": TEXT, "min": EXACT}],
}  # fmt: skip
_SETTINGS = {
    "temperature": MAYBE_NUMBER, "max_tokens": int, "seed": (int, NoneType), "top_logprobs": int
}  # fmt: skip
_CASCADE = {
    "near": MAYBE_EXACT, "least": MAYBE_EXACT, "share": MAYBE_EXACT, "for_width": MAYBE_EXACT, "spend": bool
}  # fmt: skip
_HOW = {
    "language": Needed(TEXT), "settings": Needed(_SETTINGS), "weights": Needed(Each(EXACT)),
    "cascade": Needed((_CASCADE, NoneType)), "refuse": Needed(bool), "seed": int, "each": bool, "samples": int,
    "logprobs": bool, "deadline": MAYBE_NUMBER, "paraphrase_check": bool, "maps": list,
}  # fmt: skip
_FRAME = {
    "name": TEXT, "control": TEXT, "variants": Each(TEXT), "judges": [TEXT], "guards": [TEXT], "assertions": [TEXT],
    "rubrics": [SHOWN_RUBRIC], "gates": Each(EXACT), "smallest_effect": EXACT, "repeats": int, "seed": int,
    "fingerprints": Each(TEXT), "composite": dict, "count_borderline": bool,
}  # fmt: skip
SETUP = {
    "frame": Needed(_FRAME), "variants": Needed(Each({"model": TEXT})), "rubrics": Needed(Each(_RUBRIC)),
    "assertions": Needed([{"kind": TEXT, "check": TEXT}]), "prompts": Needed(Each(TEXT)), "how": Needed(_HOW),
    "judges": Needed([{"name": Needed(TEXT), "weight": Needed(EXACT), "version": TEXT, "maps": Each(list)}]),
    "fingerprints": Each(Each(TEXT)), "evenhand": Needed(TEXT), "python": Needed(TEXT), "fresh": bool,
    "balanced_orders": bool, "until_decided": ({"seed": Needed(int), "looks": Needed([int])}, NoneType),
    "selection": (
        {"limit": Needed((int, NoneType)), "only": Needed([TEXT]), "tags": Needed([TEXT])}, NoneType
    ),
    "rescored_from": TEXT, "scored_by": Each(_RUBRIC),
}  # fmt: skip

_TRACE = ([{"name": Needed(TEXT)}], NoneType)
SAMPLE = {"id": MAYBE_TEXT, "tags": ([TEXT], NoneType), "cluster": MAYBE_TEXT, "metadata": (dict, NoneType)}
OUTPUT = {
    "text": Needed(MAYBE_TEXT), "trace": _TRACE, "cost": MAYBE_TEXT, "latency_ms": MAYBE_NUMBER,
    "turns": (int, NoneType), "author": Needed(MAYBE_TEXT), "input_tokens": MAYBE_NUMBER, "output_tokens": MAYBE_NUMBER,
}  # fmt: skip
_STEPS = [{"step": Needed(TEXT), "before": MAYBE_NUMBER, "after": Needed(MAYBE_NUMBER), "why": Needed(MAYBE_TEXT)}]
_ANSWERS = Each((*ANSWER, {"band": TEXT, "score": NUMBER}))
_SCORECARD = {
    "id": TEXT, "score": MAYBE_NUMBER, "grade": MAYBE_TEXT, "label": MAYBE_TEXT, "description": MAYBE_TEXT,
    "verdict": MAYBE_TEXT, "gates_failed": [TEXT], "gates_open": [TEXT], "flags": [TEXT], "bonuses": [TEXT],
    "missing": ([{"criterion": Needed(TEXT), "why": Needed(TEXT)}], NoneType), "holistic": MAYBE_NUMBER,
    "statements": [{"kind": TEXT, "id": TEXT, "why": MAYBE_TEXT, "amount": NUMBER, "counted": NUMBER,
                    "judge": MAYBE_TEXT}],
    "steps": Needed(_STEPS), "criteria": _ANSWERS, "notes": [TEXT],
    "reviews": Needed(([{"judge": Needed(TEXT), "score": Needed(MAYBE_NUMBER), "holistic": (bool, NoneType),
                         "why_not": MAYBE_TEXT, "steps": Needed(_STEPS), "criteria": Needed(_ANSWERS),
                         "holistic_score": MAYBE_NUMBER, "notes": MAYBE_TEXT}], NoneType)),
}  # fmt: skip
_JUDGMENT = {
    "judge": Needed(TEXT), "output": TEXT, "criterion": Needed(TEXT), "score": Needed(ANSWER), "band": MAYBE_TEXT,
    "why_not": MAYBE_TEXT, "reason": MAYBE_TEXT, "feedback": MAYBE_TEXT, "exact": Needed(MAYBE_EXACT),
    "evidence": [{"text": TEXT, "start": (int, NoneType), "end": (int, NoneType)}], "absent": [TEXT],
    "from_trace": [TEXT], "spread": ({"n": int, "sd": NUMBER, "how": TEXT}, NoneType), "expected": MAYBE_NUMBER,
    "raw": MAYBE_NUMBER,
}  # fmt: skip
_PREFERENCE = {
    "judge": Needed(TEXT), "first": Needed(TEXT), "second": Needed(TEXT), "winner": Needed(MAYBE_TEXT),
    "votes": Needed([MAYBE_TEXT]), "position_bias": Needed(bool), "why_not": MAYBE_TEXT, "gate": MAYBE_TEXT,
    "reasons": Needed([TEXT]), "weight": NUMBER,
}  # fmt: skip
_CASCADE_PATH = {
    "passed_on": Needed(TEXT), "by_strong": Needed(bool), "cheap_score": MAYBE_EXACT, "cheap_layer": MAYBE_EXACT,
    "cheap_verdict": MAYBE_TEXT, "verdict": MAYBE_TEXT,
}  # fmt: skip
RESULT = {
    "why": Needed(MAYBE_TEXT), "cluster": MAYBE_TEXT, "rubric": MAYBE_TEXT, "own_rubric": TEXT,
    "output": Needed((OUTPUT, NoneType)), "scorecard": Needed((_SCORECARD, NoneType)), "composite_steps": _STEPS,
    "original": {"length": Needed((int, NoneType)), "blank": Needed(bool), "digest": Needed(TEXT),
                 "text": re.compile(r"[0-9a-f]{16}")},
    "findings": Needed([{"guard": Needed(TEXT), "rule": Needed(TEXT), "says": TEXT, "text": MAYBE_TEXT,
                         "start": (int, NoneType), "end": (int, NoneType)}]),
    "assertions": Needed([{"name": Needed(TEXT), "kind": TEXT, "layer": Needed(TEXT), "weight": Needed(NUMBER),
                           "passed": Needed((bool, NoneType)), "found": MAYBE_TEXT, "why_not": MAYBE_TEXT,
                           "looked_for": MAYBE_TEXT, "parts": list}]),
    "layers": Needed(Each(MAYBE_EXACT)), "criteria": Needed(Each(MAYBE_EXACT)), "judgments": Needed([_JUDGMENT]),
    "suggestions": [{"problem": TEXT, "suggestion": TEXT, "severity": TEXT}], "decided_by": MAYBE_TEXT,
    "cascade": _CASCADE_PATH, "unsafe": MAYBE_TEXT, "gates_open": [TEXT], "seats": Each(int), "calls": [TEXT],
    "five_layers": (dict, NoneType), "preferences": [_PREFERENCE],
    "unadjusted": ({"layers": Needed(Each(MAYBE_EXACT)), "composite": Needed(MAYBE_EXACT)}, NoneType),
}  # fmt: skip


def list_wrong_shapes(data: Any, shape: Any, path: str = "") -> Iterator[str]:
    """Where a value is not of its shape, and how it is not."""
    fits = next((one for one in (shape if isinstance(shape, tuple) else (shape,)) if _is_of_kind(data, one)), None)
    if fits is None:
        yield f"{path} has another type"
    elif isinstance(fits, list):
        for at, one in enumerate(data):
            yield from list_wrong_shapes(one, fits[0], f"{path}[{at}]")
    elif isinstance(fits, Each):
        for key, one in data.items():
            yield from list_wrong_shapes(one, fits.shape, f"{path}[{key!r}]")
    elif isinstance(fits, dict):
        for key, below in fits.items():
            where = f"{path}.{key}" if path else key
            if key in data:
                yield from list_wrong_shapes(data[key], below.shape if isinstance(below, Needed) else below, where)
            elif isinstance(below, Needed):
                yield f"{where} is missing"


def _is_of_kind(data: Any, shape: Any) -> bool:
    """Whether a value is of a shape as far as is seen without looking into it."""
    if isinstance(shape, type):
        return type(data) is shape
    if isinstance(shape, re.Pattern):
        return isinstance(data, str) and shape.fullmatch(data) is not None
    return isinstance(data, list if isinstance(shape, list) else Mapping)
