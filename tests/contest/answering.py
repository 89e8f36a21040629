"""A model that answers whatever a contest asks, over real HTTP: scores by what stands in the submission."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from evenhand.testing import FakeServer

Json = dict[str, Any]
SCORE = re.compile(r"worth (\d+)")
BANDS = ((90, "A"), (70, "B"), (50, "C"), (30, "D"), (0, "E"))


def server(**judge: Any) -> FakeServer:
    """A server whose judge is `answer`, with some of its habits changed."""
    return FakeServer(lambda body: answer(body, **judge))


def answer(body: Json, *, more: int = 0) -> str:
    """A reply in the form that is asked for: a submission says "worth 75", and "useless" where it meets nothing."""
    dialogue, fields = _asked(body)
    text = body["messages"][-1]["content"]
    if dialogue == "gate":
        return json.dumps({"criteria": {id: _check(text) for id in fields}})
    if dialogue == "individual":
        advice = [{"problem": "short", "suggestion": "say more", "severity": level} for level in ("low", "high")]
        return json.dumps({"criteria": {id: _scored(text, more) for id in fields}, "revision_suggestions": advice})
    if dialogue == "dimensions":
        ids = ("substantiveness", "credibility", "completeness", "sources")
        return json.dumps({"dimensions": [{"id": id, "asks": f"{id}?", "weight": 0.25} for id in ids]})
    parts = {label: _part(text, label) for label in fields}
    return json.dumps({"submissions": {label: _scored(part, more) for label, part in parts.items()}})


def dialogue_of(body: Json) -> str:
    """Which dialogue a request belongs to."""
    return _asked(body)[0]


def shown_in(body: Json) -> str:
    """Everything a request says."""
    return "\n".join(str(message["content"]) for message in body["messages"])


def _asked(body: Json) -> tuple[str, list[str]]:
    properties = body["response_format"]["json_schema"]["schema"]["properties"]
    for key, dialogue in (("revision_suggestions", "individual"), ("criteria", "gate"), ("submissions", "horizontal")):
        if key in properties:
            held = properties["criteria" if dialogue == "individual" else key]
            return dialogue, list(held["properties"])
    return "dimensions", []


def _check(text: str) -> Json:
    met = "useless" not in text
    hint = "" if met else "Make it useful."
    return {"evidence": _quote(text) if met else [], "reason": "read", "revision_hint": hint, "answer": _yes(met)}


def _scored(text: str, more: int) -> Json:
    score = int(SCORE.findall(text)[0]) + more
    band = next(band for least, band in BANDS if score >= least)
    return {"evidence": _quote(text), "reason": "weighed", "feedback": "noted", "band": band, "score": score}


def _part(text: str, label: str) -> str:
    """What stands under a letter; the passage from where it stood alone comes after it and says the same."""
    return text.split(f"submission-{label}", 1)[1]


def _quote(text: str) -> list[str]:
    return [f"worth {SCORE.findall(text)[0]}"]


def _yes(met: bool) -> str:
    return "yes" if met else "no"


def counted(bodies: list[Json]) -> dict[str, int]:
    """How often each dialogue was asked."""
    return {name: sum(dialogue_of(body) == name for body in bodies) for name in dict.fromkeys(_names(bodies))}


def _names(bodies: list[Json]) -> Iterator[str]:
    for body in bodies:
        yield dialogue_of(body)
