"""Runs of other shapes than the example: one variant, no judge, nothing scored or decided, many variants, nothing."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy

from tests.report.example import head, interval, samples
from tests.report.results import Data

LONG = "prompt-v2 with a very long name that somebody typed in without thinking of tables"
NAMES = ["baseline", LONG, "gpt-4o-mini", "claude-haiku-4-5@2025-10", "Llama_3.1_70B_Instruct_Q4_K_M_gguf_local"]


def solo() -> tuple[Data, Iterator[Data]]:
    """One variant, and nothing to compare it with."""
    whole = head()
    whole["variants"] = whole["variants"][1:]
    whole["decision"] |= {"verdict": "SOLO", "comparisons": [], "best": None, "gates": {}}
    return whole, _with(lambda sample: [one for one in sample["results"] if one["variant"] == "new"])


def assertions_only() -> tuple[Data, Iterator[Data]]:
    """No rubric and no judge."""
    whole = head(judges=[], agreement=[])
    whole["eval"] |= {"rubrics": [], "judges": []}
    for variant in whole["variants"]:
        variant |= {"score": None, "criteria": {}, "verdicts": {}}
    nothing: Data = {"score": None, "scorecard": None, "verdict": None, "judgments": [], "calls": []}
    return whole, _with(lambda sample: [one | nothing for one in sample["results"]])


def all_failed() -> tuple[Data, Iterator[Data]]:
    """Not one output came."""
    whole = head(flags=[], cost={"outputs": None, "judges": None, "total": None, "unpriced": 48})
    whole["run"] |= {"state": "stopped", "ended": None, "seconds": None}
    for variant in whole["variants"]:
        variant |= {"scored": 0, "failed": 24, "incomplete": 0, "score": None, "composite": None, "latency_ms": None,
                    "verdicts": dict.fromkeys(variant["verdicts"], 0), "layers": dict.fromkeys(variant["layers"]),
                    "cost": {"outputs": None, "judges": None}, "assertion_rates": [],
                    "distribution": {"of": "composite", "edges": [1, 3, 5], "counts": [0, 0]}}  # fmt: skip
        for criterion in variant["criteria"].values():
            criterion |= {"mean": None, "n": 0, "missing": 24}
    (comparison,) = whole["decision"]["comparisons"]
    comparison |= {"verdict": "UNDERPOWERED", "composite": None, "layers": dict.fromkeys(comparison["layers"])}
    whole["decision"] |= {"verdict": "UNDERPOWERED", "best": None, "reasons": []}
    lost: Data = {
        "state": "failed", "why": "HTTP 500", "score": None, "composite": None, "verdict": None, "output": None,
        "findings": [], "assertions": [], "scorecard": None, "judgments": [], "calls": [],
    }  # fmt: skip
    return whole, _with(lambda sample: [one | lost for one in sample["results"]])


def five_variants() -> tuple[Data, Iterator[Data]]:
    """Four comparisons, long names, three repeats."""
    whole = head()
    roles = ["control", *["treatment"] * 4]
    whole["variants"] = [
        deepcopy(whole["variants"][place % 2]) | {"name": name, "role": role}
        for place, (name, role) in enumerate(zip(NAMES, roles, strict=True))
    ]
    (one,) = whole["decision"]["comparisons"]
    verdicts = {"PROGRESS": (0.2, 0.8), "CAUTIOUS": (0.02, 0.6), "REGRESS": (-0.7, -0.1), "NOISE": (-0.2, 0.25)}
    whole["decision"] |= {"verdict": "CAUTIOUS", "best": LONG, "comparisons": [
        one | {"treatment": name, "control": NAMES[0], "verdict": word, "composite": interval(sum(ends) / 2, *ends)}
        for name, (word, ends) in zip(NAMES[1:], verdicts.items(), strict=True)
    ]}  # fmt: skip
    return whole, _with(lambda sample: [
        sample["results"][place % 2] | {"variant": name, "repeat": repeat}
        for place, name in enumerate(NAMES) for repeat in range(3)
    ])  # fmt: skip


def undecided() -> tuple[Data, Iterator[Data]]:
    """Two variants that cannot be compared, in a run that was stopped."""
    whole = head()
    whole["run"] |= {"state": "stopped", "samples": 7, "planned": 30}
    whole["decision"] |= {
        "verdict": "UNDECIDED", "headline": "Not decided: composites over different layers cannot be compared",
        "sure": "", "reasons": [], "exit_code": 1, "best": None, "comparisons": [],
    }  # fmt: skip
    return whole, samples(7)


def empty() -> tuple[Data, Iterator[Data]]:
    """A run without a single sample."""
    whole = head(variants=[], judges=[], agreement=[], failures=[], flags=[], consistency=[])
    whole["decision"] |= {"verdict": "SOLO", "comparisons": [], "gates": {}, "best": None}
    whole["run"]["samples"] = 0
    return whole, iter(())


SHAPES = [solo, assertions_only, all_failed, five_variants, undecided, empty]


def _with(results: Callable[[Data], list[Data]]) -> Iterator[Data]:
    return (sample | {"results": results(sample)} for sample in samples(60))
