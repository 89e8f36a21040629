"""One sample of the example run with what came out for its two outputs."""

from __future__ import annotations

import random
from statistics import fmean
from typing import Any

Data = dict[str, Any]

CRITERIA = {
    "accuracy": "Is every statement about the order, the dates and the money right?",
    "completeness": "Does the answer address everything that was asked?",
    "tone": "Is it warm without being servile?",
    "brevity": "Could anything be left out without loss?",
}
ASSERTIONS = [("contains refund", "fact"), ("max_words 60", "behavior"), ("no_apology_loop", "behavior")]
JUDGES = ["embedded", "claude-sonnet"]
TAGS = ["refund", "late", "damaged", "address"]
QUESTIONS = [
    "My parcel was due on Tuesday and still is not here. Where is it, and do I get a refund?",
    "The vase arrived in pieces. What now?",
    "I typed the wrong house number. Can you still change the address of order 4711?",
    "You charged me twice for one delivery. I want one of them back.",
]
ANSWERS = {
    "old": "We are sorry for the trouble. Your request has been noted and we will come back to you. "
    "Please be patient, as refund requests can take some time to be looked at.",
    "new": "Your parcel left Leipzig this morning and should reach you on Thursday. 📦\n\n"
    "If it has not come by Friday, you get a full refund without asking: it goes back to the card you paid with.",
}
QUOTES = {"old": "we will come back to you", "new": "you get a full refund without asking"}


def sample(position: int) -> Data:
    """A sample, the same one for the same position."""
    chance = random.Random(position)
    return {
        "position": position, "id": f"q-{position + 1:03d}", "input": QUESTIONS[position % len(QUESTIONS)],
        "messages": None if position % 6 else [{"role": "user", "text": QUESTIONS[position % len(QUESTIONS)]}],
        "reference": "Say where the parcel is and when the money comes back.", "context": "Refunds take three days.",
        "tags": [TAGS[position % len(TAGS)]], "cluster": None, "metadata": {"channel": "mail"},
        "results": [_result(position, name, chance) for name in ANSWERS],
    }  # fmt: skip


def _result(position: int, variant: str, chance: random.Random) -> Data:
    if variant == "old" and position % 24 == 10:
        return _failed(variant, "the command ended with code 1: connection reset by peer")
    lift = 0.14 if variant == "new" else 0.0
    values = {name: round(min(1.0, max(0.0, chance.gauss(0.6 + lift, 0.16))), 2) for name in CRITERIA}
    incomplete = variant == "new" and position % 24 == 6
    text = ANSWERS[variant] + (" Write to help@e… for more." if variant == "new" and position % 12 == 4 else "")
    score = None if incomplete else round(fmean(values.values()), 4)
    assertions = [_assertion(name, layer, text, chance.random() < 0.74 + 1.6 * lift) for name, layer in ASSERTIONS]
    layers = _layers(assertions, score)
    composite = None if score is None else round(fmean(v for v in layers.values() if v is not None), 2)
    return {
        "variant": variant, "repeat": 0, "state": "incomplete" if incomplete else "scored",
        "why": "tone has no score: the reply could not be read" if incomplete else "", "score": score,
        "composite": composite, "layers": layers,
        "verdict": None if score is None else "pass" if score >= 0.7 else "borderline" if score >= 0.6 else "fail",
        "output": {"text": text, "trace": _trace(position), "cost": 0.0006, "latency_ms": chance.randint(300, 2400),
                   "turns": 1, "author": "gpt-4o-mini"},
        "findings": _findings(position, variant, text), "assertions": assertions,
        "scorecard": _scorecard(f"q-{position + 1:03d}", values, score, incomplete),
        "composite_steps": _composite_steps(layers, composite),
        "judgments": [_judgment(judge, name, value, variant, incomplete)
                      for judge in JUDGES for name, value in values.items()],
        "calls": [_call(judge, values, incomplete) for judge in JUDGES],
    }  # fmt: skip


def _failed(variant: str, why: str) -> Data:
    return {
        "variant": variant, "repeat": 0, "state": "failed", "why": why, "score": None, "composite": None,
        "layers": {"fact": None, "behavior": None, "judge": None}, "verdict": None, "output": None, "findings": [],
        "assertions": [], "scorecard": None, "composite_steps": [], "judgments": [], "calls": [],
    }  # fmt: skip


def _trace(position: int) -> list[Data] | None:
    return None if position % 5 else [{"name": "track_parcel", "input": {"order": 4711}, "output": "left Leipzig"}]


def _layers(assertions: list[Data], score: float | None) -> Data:
    means = {}
    for layer in ("fact", "behavior"):
        passed = [one["passed"] for one in assertions if one["layer"] == layer and one["passed"] is not None]
        means[layer] = round(1 + 4 * fmean(passed), 2) if passed else None
    return {**means, "judge": None if score is None else round(1 + 4 * score, 2)}


def _assertion(name: str, layer: str, text: str, passed: bool) -> Data:
    start = text.find("refund") if name == "contains refund" and passed else None
    return {
        "name": name, "kind": name.split(maxsplit=1)[0], "layer": layer, "weight": 1, "passed": passed,
        "looked_for": "the word “refund”" if layer == "fact" else "at most 60 words",
        "found": "refund" if passed and layer == "fact" else "" if layer == "fact" else f"{len(text.split())} words",
        "why_not": "", "start": start, "end": None if start is None else start + len("refund"), "parts": [],
    }  # fmt: skip


def _findings(position: int, variant: str, text: str) -> list[Data]:
    if variant == "new" and position % 12 == 4:
        start = text.index("help@e…")
        return [{"guard": "personal", "rule": "email", "says": "holds an e-mail address", "text": "help@e…",
                 "start": start, "end": start + len("help@e…")}]  # fmt: skip
    if variant == "old" and position % 24 == 16:
        return [{"guard": "injection", "rule": "orders", "says": "gives orders to its judge",
                 "text": text[30:60], "start": 30, "end": 60}]  # fmt: skip
    return []


def _scorecard(id: str, values: dict[str, float], score: float | None, incomplete: bool) -> Data:
    total = round(sum(values.values()) / len(values), 4)
    steps = [
        {"step": "weighted_mean", "before": None, "after": total, "why": "mean of 4 criteria, each with weight 1"},
        {"step": "round", "before": total, "after": round(total, 2), "why": "rounded to 2 decimals"},
    ]
    return {
        "id": id, "score": score, "grade": None if score is None else "B", "label": None, "verdict": None,
        "gates_failed": [], "missing": [{"criterion": "tone", "why": "the reply could not be read"}] * incomplete,
        "flags": [], "bonuses": [], "steps": [] if incomplete else steps, "criteria": values, "reviews": None,
        "notes": [],
    }  # fmt: skip


def _composite_steps(layers: Data, composite: float | None) -> list[Data]:
    why = "mean of the layers " + ", ".join(f"{name} {value}" for name, value in layers.items())
    return [] if composite is None else [{"step": "layer_mean", "before": None, "after": composite, "why": why}]


def _judgment(judge: str, criterion: str, value: float, variant: str, incomplete: bool) -> Data:
    silent = incomplete and criterion == "tone"
    start = ANSWERS[variant].index(QUOTES[variant])
    evidence = [{"text": QUOTES[variant], "start": start, "end": start + len(QUOTES[variant])}]
    return {
        "judge": judge, "criterion": criterion, "score": None if silent else value, "band": None,
        "why_not": "the reply could not be read: no JSON object in it" if silent else "",
        "reason": "" if silent else f"It says what comes next: {criterion} is {'high' if value > 0.7 else 'fair'}.",
        "evidence": [] if silent else evidence, "feedback": "Name the day." if variant == "old" else None,
        "spread": None,
    }  # fmt: skip


def _call(judge: str, values: dict[str, float], incomplete: bool) -> Data:
    reply = "I would rather not say." if incomplete else str(values).replace("'", '"')
    return {
        "judge": judge, "reply": reply, "failed": None, "input_tokens": 412, "output_tokens": 96, "attempts": 1,
        "seconds": 0.0 if judge == "embedded" else 1.3, "cached": False,
        "cost": None if judge == "embedded" else 0.0024,
    }  # fmt: skip
