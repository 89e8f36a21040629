"""Example data of a report: a run over delivery questions with two variants, and the same with hostile texts."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Iterator
from itertools import pairwise
from statistics import fmean, stdev
from typing import Any

from tests.report.measured import labels, lengths, saturation, sensitivity, spread, trust
from tests.report.results import ASSERTIONS, CRITERIA, JUDGES, Data, sample

EVAL = """name: delivery answers
samples: questions.jsonl
variants:
  old: {outputs: old.jsonl, role: control}
  new: {outputs: new.jsonl}
rubric: answers.yaml
judges: [embedded, claude-sonnet]
assertions:
  - contains: refund
  - max_words: 60
"""


# Of 22 pairs: 14 won, 2 tied, 6 lost, and 0.50 in the mean.
DIFFERENCES = [
    -0.95, -0.6, -0.45, -0.3, -0.15, -0.05, 0, 0, 0.1, 0.25, 0.3, 0.4, 0.55, 0.6, 0.7, 0.9, 0.95, 1.2, 1.4, 1.65,
    2.1, 2.4,
]  # fmt: skip


def samples(n: int = 24) -> Iterator[Data]:
    """Samples one at a time, the same ones every time."""
    for position in range(n):
        yield sample(position)


def hostile_samples() -> Iterator[Data]:
    """Samples whose every text tries to do something."""
    for position, text in enumerate(HOSTILE):
        one = sample(position)
        one |= {"id": f"{text} {position}", "input": text, "reference": text, "context": text, "tags": [text]}
        one["metadata"] = {text: text}
        for result in one["results"]:
            _poison(result, text)
        yield one


HOSTILE = [
    "<script>alert(1)</script>",
    "</script><script>alert(2)</script>",
    "<!--<script>",
    '<img src=x onerror="alert(3)">',
    "javascript:alert(4)",
    "\"'><svg onload=alert(5)>",
    "\u202etxet desrever\u202c and \u2066isolated\u2069 \u200b zero",
    "null \x00 byte, \x1b[31mred\x1b[0m bell \x07, line \u2028 and \u2029 ends",
    "W" * 5000,
    "{{ 7 * 7 }} {% raw %} ${7*7} =HYPERLINK(\"https://example.com\") | **bold** @everyone #1 ::error::x",
    "]]>&amp;&lt;!DOCTYPE html><style>*{display:none}</style><meta http-equiv=refresh content=0;url=https://example.com>",
    "https://example.com/tracker.png url(https://example.com/x) 👩‍🚀 é ","\\u003c\\n\\",
]  # fmt: skip


def head(**changes: Any) -> Data:
    """What is known of the run as a whole; `changes` replace parts of it."""
    made = list(samples())
    whole = {
        "run": _run(),
        "eval": _eval(),
        "decision": _decision(),
        "variants": [_variant("old", "control", made), _variant("new", "treatment", made)],
        "judges": [_judge(name) for name in JUDGES],
        "agreement": [{"judges": list(JUDGES), "pearson": 0.82, "why_not": "", "mean_gap": 0.4, "n": 84}],
        "lengths": [_lengths(name, made) for name in ("old", "new")],
        "labels": labels(list(JUDGES)),
        "trust": trust(),
        "sensitivity": sensitivity(["new", "old"], dict.fromkeys(CRITERIA, 0.25)),
        "failures": [
            _failure("output", "old", "the command ended with code 1: connection reset by peer", 1, "q-011"),
            _failure("judge", "new", "the reply could not be read: no JSON object in it", 1, "q-007"),
        ],
        "flags": [
            {"guard": "personal", "rule": "email", "says": "holds an e-mail address", "variant": "new", "count": 2,
             "first": "q-005"},
            {"guard": "injection", "rule": "orders", "says": "gives orders to its judge", "variant": "old", "count": 1,
             "first": "q-017"},
        ],
        "consistency": [{"variant": "old", "says": "no history yet"}, {"variant": "new", "says": "no history yet"}],
        "cost": {"outputs": 0.0312, "judges": 0.1184, "total": 0.1496, "unpriced": 0},
    }  # fmt: skip
    return {**whole, **changes}


def hostile_head() -> Data:
    """A head whose every text tries to do something."""
    text = " ".join(one for one in HOSTILE if len(one) < 1000)
    replaced: Data = _replaced(head(), text)
    return replaced


def summary(values: list[float], scale: list[float]) -> Data | None:
    """A mean with a normal interval, or None where nothing was measured."""
    if not values:
        return None
    mean = fmean(values)
    half = 1.96 * stdev(values) / math.sqrt(len(values)) if len(values) > 1 else None
    return {
        "mean": mean, "low": None if half is None else mean - half, "high": None if half is None else mean + half,
        "level": 0.95, "n": len(values), "min": min(values), "max": max(values), "scale": scale,
    }  # fmt: skip


def _run() -> Data:
    return {
        "id": "20261116-051233-ab12cd", "name": "delivery answers", "state": "finished",
        "started": "2026-11-16T05:12:33+00:00", "ended": "2026-11-16T05:13:10+00:00", "seconds": 37.2,
        "fingerprint": "4f9a1c07be52d613",
        "fingerprints": {"": "9be0c1d2a7f35e64", "late": "0d11f7c39ab2e458",
                         "assertion:faithfulness": "77a0e9d1c4b35f20"},
        "evenhand": "0.5.0", "python": "3.11.7", "seed": 0, "keep": "raw", "repeats": 1, "samples": 24,
        "planned": 24, "taken_from": None,
    }  # fmt: skip


def _eval() -> Data:
    criteria = [{"id": id, "asks": asks, "weight": 1, "scale": "0 to 1"} for id, asks in CRITERIA.items()]
    return {
        "source": EVAL, "judges": list(JUDGES), "guards": ["injection", "safety", "personal"],
        "rubrics": [{"name": "answers", "method": "checklist", "about": "What a good answer to a customer does.",
                     "tags": [], "criteria": criteria}],
        "assertions": [name for name, _ in ASSERTIONS],
    }  # fmt: skip


def _decision() -> Data:
    layers = {
        "fact": interval(0.17, -0.2, 0.55),
        "behavior": interval(0.78, 0.35, 1.2),
        "judge": interval(0.55, 0.33, 0.78),
    }
    comparison = {
        "treatment": "new", "control": "old", "verdict": "PROGRESS", "rule": "the whole interval lies above 0",
        "reasons": ["The composite rose by 0.50, and the interval from 0.22 to 0.79 excludes 0.",
                    "No layer fell: fact is undecided, behavior and judge rose."],
        "next_step": "Ship new.", "pairs": 22, "wins": 14, "ties": 2, "losses": 6, "lost_by_treatment": 1,
        "lost_by_control": 1, "composite": interval(0.5, 0.22, 0.79), "p": interval(0.5, 0.22, 0.79)["p"],
        "layers": layers,
        "criteria": {id: interval(0.14 - 0.05 * place, 0.08 - 0.09 * place, 0.2 - 0.01 * place)
                     for place, id in enumerate(CRITERIA)},
        "distribution": spread(DIFFERENCES), "saturation": saturation(),
        "badges": [{"badge": "judges agree", "state": "amber", "says": "mean correlation 0.82 of 2 judges on new",
                    "advice": "Sharpen the rubric until the judges reach an α of 0.667."},
                   {"badge": "difference significant", "state": "green", "says": "+0.50, p = 0.005", "advice": ""},
                   {"badge": "saturated", "state": "red", "says": "the last samples narrowed the interval by 15%",
                    "advice": "Add samples until this is below 10%."},
                   {"badge": "human-aligned", "state": "grey", "says": "no labels",
                    "advice": "Have people score some of the outputs."}],
    }  # fmt: skip
    gates = [
        {"gate": "fact", "min": 3.5, "mean": 4.65, "passed": True},
        {"gate": "judge", "min": 3.5, "mean": 3.96, "passed": True},
    ]
    return {
        "verdict": "PROGRESS", "headline": "new is better than old: the composite rose by 0.50 on a scale from 1 to 5.",
        "sure": "If nothing had changed, a difference this large would come up in about 1 of 200 runs.",
        "next_step": "Ship new, and keep q-007 in view: it could not be scored.", "reasons": comparison["reasons"],
        "exit_code": 0, "best": "new",
        "gates": {"old": [{**gates[0], "mean": 4.48}, {**gates[1], "mean": 3.41, "passed": False}], "new": gates},
        "comparisons": [comparison],
    }  # fmt: skip


def _lengths(name: str, made: list[Data]) -> Data:
    """Outputs of different lengths: those of the example are the same text over and over."""
    results = (one for sample in made for one in sample["results"] if one["variant"] == name)
    values = [one["composite"] for one in results if one["composite"] is not None]
    return lengths(name, [(120 + 37 * place % 400, value) for place, value in enumerate(values)])


def interval(estimate: float, low: float | None, high: float | None) -> Data:
    """A difference with its interval."""
    return {
        "estimate": estimate,
        "low": low,
        "high": high,
        "level": 0.95,
        "p": 0.005,
        "method": "paired BCa bootstrap",
        "n": 22,
    }


def _variant(name: str, role: str, made: list[Data]) -> Data:
    results = [one for sample in made for one in sample["results"] if one["variant"] == name]
    scored = [one for one in results if one["state"] == "scored"]
    composites = [one["composite"] for one in scored]
    states = Counter(one["state"] for one in results)
    verdicts = Counter(one["verdict"] for one in scored)
    assertions = [one for result in results for one in result["assertions"]]
    edges = [1 + 0.5 * step for step in range(9)]
    return {
        "name": name, "role": role, "about": "recorded outputs", "results": len(results), "scored": len(scored),
        "incomplete": states["incomplete"], "failed": states["failed"],
        "score": summary([one["score"] for one in scored], [0, 1]), "composite": summary(composites, [1, 5]),
        "layers": {layer: summary([one["layers"][layer] for one in scored], [1, 5])
                   for layer in ("fact", "behavior", "judge")},
        "criteria": {id: {"mean": fmean(one["scorecard"]["criteria"][id] for one in scored), "n": len(scored),
                          "missing": len(results) - len(scored), "scale": [0, 1]} for id in CRITERIA},
        "verdicts": {word: verdicts[word] for word in ("pass", "borderline", "fail")},
        "assertions": _counts(assertions),
        "assertion_rates": [{"name": name, "layer": layer, **_counts(one for one in assertions if one["name"] == name)}
                            for name, layer in ASSERTIONS],
        "distribution": {"of": "composite", "edges": edges, "counts": [
            sum(low <= one < high or (one == high == 5) for one in composites)
            for low, high in pairwise(edges)]},
        "cost": {"outputs": 0.0156, "judges": 0.0592}, "tokens": {"input": 9888, "output": 2304},
        "latency_ms": {"median": 1240.0 if name == "old" else 980.0, "p95": 2310.0},
    }  # fmt: skip


def _counts(assertions: Iterable[Data]) -> Data:
    counts = Counter(one["passed"] for one in assertions)
    return {"passed": counts[True], "failed": counts[False], "unanswered": counts[None]}


def _judge(name: str) -> Data:
    return {
        "name": name, "calls": 46, "cached": 4, "failed": 1 if name == "claude-sonnet" else 0, "retries": 2,
        "input_tokens": 18952, "output_tokens": 4416, "cost": None if name == "embedded" else 0.1184,
        "seconds": {"median": 1.3, "p95": 2.9}, "heuristic": name == "embedded",
    }  # fmt: skip


def _failure(kind: str, variant: str, why: str, count: int, first: str) -> Data:
    return {"kind": kind, "variant": variant, "why": why, "count": count, "first": first}


def _poison(result: Data, text: str) -> None:
    """Put a hostile text wherever a result holds text of others; places in the output move to its start."""
    place = {"start": 0, "end": min(len(text), 12)}
    result["why"] = text
    if result["output"]:
        result["output"] |= {"text": text, "author": text, "trace": [{"name": text, "input": text, "output": text}]}
    result["findings"] = [{"guard": "injection", "rule": text, "says": text, "text": text, **place}]
    for one in result["assertions"]:
        one |= {"looked_for": text, "found": text, "why_not": text, **place}
    for one in result["judgments"]:
        one |= {"reason": text, "feedback": text, "why_not": text, "evidence": [{"text": text, **place}]}
    for one in result["calls"]:
        one |= {"reply": text, "failed": text}
    for one in result["composite_steps"] + (result["scorecard"] or {"steps": []})["steps"]:
        one["why"] = text


_KEPT = {"state", "verdict", "role", "kind", "of", "variant", "treatment", "control", "best"}


def _replaced(data: Any, text: str, key: str = "") -> Any:
    """The same data with every text in it followed by another, names that the report goes by aside."""
    if isinstance(data, str):
        return data if key in _KEPT else f"{data} {text}"
    if isinstance(data, dict):
        return {name: _replaced(value, text, name) for name, value in data.items()}
    return [_replaced(value, text, key) for value in data] if isinstance(data, list) else data
