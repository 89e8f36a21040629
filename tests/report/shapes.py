"""Runs of other shapes than the example: one variant, no judge, nothing scored or decided, many variants, much."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from copy import deepcopy
from itertools import combinations

from tests.report.example import head, interval, samples
from tests.report.measured import labels, lengths, saturation, sensitivity, spread
from tests.report.results import JUDGES, Data

LONG = "prompt-v2 with a very long name that somebody typed in without thinking of tables"
NAMES = ["baseline", LONG, "gpt-4o-mini", "claude-haiku-4-5@2025-10", "Llama_3.1_70B_Instruct_Q4_K_M_gguf_local"]


def solo() -> tuple[Data, Iterator[Data]]:
    """One variant, and nothing to compare it with."""
    whole = head(sensitivity=None)
    whole["variants"], whole["lengths"] = whole["variants"][1:], whole["lengths"][1:]
    whole["decision"] |= {"verdict": "SOLO", "comparisons": [], "best": None, "gates": {}}
    return whole, _with(lambda sample: [one for one in sample["results"] if one["variant"] == "new"])


def assertions_only() -> tuple[Data, Iterator[Data]]:
    """No rubric and no judge."""
    whole = head(judges=[], agreement=[], labels=None, trust=None, sensitivity=None)
    whole["eval"] |= {"rubrics": [], "judges": []}
    for variant in whole["variants"]:
        variant |= {"score": None, "criteria": {}, "verdicts": {}}
    nothing: Data = {"score": None, "scorecard": None, "verdict": None, "judgments": [], "calls": []}
    return whole, _with(lambda sample: [one | nothing for one in sample["results"]])


def all_failed() -> tuple[Data, Iterator[Data]]:
    """Not one output came."""
    whole = head(
        flags=[],
        labels=None,
        trust=None,
        sensitivity=None,
        lengths=[],
        cost={"outputs": None, "judges": None, "total": None, "unpriced": 48},
    )
    whole["run"] |= {"state": "stopped", "ended": None, "seconds": None}
    for variant in whole["variants"]:
        variant |= {"scored": 0, "failed": 24, "incomplete": 0, "score": None, "composite": None, "latency_ms": None,
                    "verdicts": dict.fromkeys(variant["verdicts"], 0), "layers": dict.fromkeys(variant["layers"]),
                    "cost": {"outputs": None, "judges": None}, "assertion_rates": [],
                    "distribution": {"of": "composite", "edges": [1, 3, 5], "counts": [0, 0]}}  # fmt: skip
        for criterion in variant["criteria"].values():
            criterion |= {"mean": None, "n": 0, "missing": 24}
    (comparison,) = whole["decision"]["comparisons"]
    comparison |= {"verdict": "UNDERPOWERED", "composite": None, "layers": dict.fromkeys(comparison["layers"]),
                   "criteria": dict.fromkeys(comparison["criteria"]), "distribution": None,
                   "saturation": None}  # fmt: skip
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
    whole = head(sensitivity=None)
    whole["run"] |= {"state": "stopped", "samples": 7, "planned": 30}
    whole["decision"] |= {
        "verdict": "UNDECIDED", "headline": "Not decided: composites over different layers cannot be compared",
        "sure": "", "reasons": [], "exit_code": 1, "best": None, "comparisons": [],
    }  # fmt: skip
    return whole, samples(7)


def empty() -> tuple[Data, Iterator[Data]]:
    """A run without a single sample, as runs were kept before there was anything to plot."""
    whole = head(variants=[], judges=[], agreement=[], failures=[], flags=[], consistency=[])
    for name in ("labels", "lengths", "sensitivity"):
        del whole[name]
    whole["decision"] |= {"verdict": "SOLO", "comparisons": [], "gates": {}, "best": None}
    whole["run"]["samples"] = 0
    return whole, iter(())


def crowded() -> tuple[Data, Iterator[Data]]:
    """Twelve criteria with long names on three scales, intervals without bounds, nine judges of which two are mute."""
    whole = head()
    ids = [f"{place}. does it answer all that was asked, and nothing else" for place in range(1, 13)]
    for variant in whole["variants"]:
        variant["criteria"] = {
            id: {"mean": 1, "n": 24, "missing": 0, "scale": [[0, 1], [1, 5], [0, 100]][place % 3]}
            for place, id in enumerate(ids)
        }
    ends = [(None, None), (-0.4, None), (None, 0.6), (0.1, 0.4)]
    (comparison,) = whole["decision"]["comparisons"]
    comparison["criteria"] = {id: interval(0.25, *ends[place % 4]) for place, id in enumerate(ids)}
    names = [f"{name}-{place}" for place, name in enumerate(["gpt-4o-mini", "claude-haiku", LONG] * 3)]
    whole["agreement"] = [_agreement(*pair) for pair in combinations(names, 2)]
    whole["labels"] = labels(names)
    whole["sensitivity"] = sensitivity(NAMES, dict.fromkeys(ids, 1 / 12))
    whole["sensitivity"]["layers"] = sensitivity(NAMES[:2], {"fact": 0.5, "judge": 0.5}) | {"of": "layers"}
    whole["lengths"] = [lengths(name, [(place**2, 1 + place % 9 / 2) for place in range(400)]) for name in NAMES[:2]]
    return whole, samples()


def one_sample() -> tuple[Data, Iterator[Data]]:
    """A single pair, of which nothing more than itself can be said."""
    whole = head(sensitivity=None)
    (comparison,) = whole["decision"]["comparisons"]
    comparison |= {"composite": None, "layers": dict.fromkeys(comparison["layers"]), "criteria": {}, "pairs": 1,
                   "wins": 1, "ties": 0, "losses": 0, "saturation": None, "distribution": spread([0.5])}  # fmt: skip
    whole["lengths"] = [lengths("old", [(88, 3.5)]), lengths("new", [(91, 4)])]
    whole["labels"]["judges"] = [
        {"judge": "embedded", "points": [[4, 3, 1]], "pearson": None, "bias": 1.0, "n": 1, "map": []}
    ]
    whole["agreement"] = []
    return whole, samples(1)


def all_equal() -> tuple[Data, Iterator[Data]]:
    """Two variants that score alike throughout, and judges that always say the same."""
    whole = head()
    (comparison,) = whole["decision"]["comparisons"]
    nothing = interval(0.0, 0.0, 0.0)
    comparison |= {"composite": nothing, "layers": dict.fromkeys(comparison["layers"], nothing), "wins": 0, "ties": 22,
                   "losses": 0, "criteria": dict.fromkeys(comparison["criteria"], nothing),
                   "saturation": saturation(22, 0.0, 0.0), "distribution": spread([0.0] * 22)}  # fmt: skip
    why = "the first gave the same rating throughout"
    whole["agreement"] = [{"judges": JUDGES, "pearson": None, "why_not": why, "mean_gap": 0.0, "n": 46}]
    whole["lengths"] = [lengths(name, [(100, 3.0)] * 24) for name in ("old", "new")]
    for judge in whole["labels"]["judges"]:
        judge |= {"points": [[3, 3, 46]], "pearson": None, "bias": 0.0, "n": 46, "map": []}
    return whole, samples()


def _agreement(one: str, other: str) -> Data:
    mute = "-8" in other and ("-2" in one or "-3" in one)
    value = None if mute else 1 - (len(one) * 7 + int(other[-1]) * 29) % 130 / 100
    why = "the second gave the same rating throughout" if mute else ""
    return {"judges": [one, other], "pearson": value, "why_not": why, "mean_gap": 0.4, "n": 84}


SHAPES = [solo, assertions_only, all_failed, five_variants, undecided, empty, crowded, one_sample, all_equal]


def _with(results: Callable[[Data], list[Data]]) -> Iterator[Data]:
    return (sample | {"results": results(sample)} for sample in samples(60))
