"""Verdicts on the twelve systems of SummEval: every pair, on every criterion, by a judge and by the experts."""

from collections import Counter
from collections.abc import Mapping
from itertools import combinations
from pathlib import Path
from typing import Literal

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import VariantColumn
from tests.datasets.read import rows

CRITERIA = ("coherence", "consistency", "fluency", "relevance")
JUDGES = {"free text": "rts", "letters": "mcq"}
Scores = Mapping[tuple[str, str], list[float]]  # By system and criterion, one score per document.
Said = Literal["better", "worse", "not decided"]


def experts(shared: Path) -> Scores:
    """The mean of three experts."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows(shared, "summeval_judges/items.jsonl"):
        for criterion, given in row["expert"].items():
            found.setdefault((row["system"], criterion), {})[row["doc"]] = sum(given) / len(given)
    return _in_order(found)


def judge(shared: Path, name: str) -> Scores:
    """What the judge said, as its authors read it; the last reply counts."""
    found: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows(shared, f"summeval_judges/replies_gpt-3.5-turbo-0301_{JUDGES[name]}.jsonl"):
        found.setdefault((row["system"], row["dim"]), {})[row["doc"]] = float(row["authors_score"])
    return _in_order(found)


def said(scores: Scores, criterion: str) -> dict[tuple[str, str], Said]:
    """For each pair of systems what the verdict of the second against the first says."""
    systems = sorted({system for system, _ in scores})
    return {
        (one, other): _said(scores[one, criterion], scores[other, criterion]) for one, other in combinations(systems, 2)
    }


def table(by_judge: Mapping[tuple[str, str], Said], by_experts: Mapping[tuple[str, str], Said]) -> Counter[str]:
    """How verdicts of the judge stand beside those of the experts."""
    return Counter(_beside(verdict, by_experts[pair]) for pair, verdict in by_judge.items())


def _said(control: list[float], treatment: list[float]) -> Said:
    # No gate was set for these data: what is asked is who is better.
    columns = {"old": _column(control), "new": _column(treatment)}
    decision = decide_comparison(columns, control="old", clusters=range(len(control)), seed=1, gates={"judge": 1.0})
    words: dict[str, Said] = {"PROGRESS": "better", "REGRESS": "worse"}
    return words.get(decision.verdict, "not decided")


def _column(scores: list[float]) -> VariantColumn:
    return VariantColumn(composite=scores, layers={"judge": scores})


def _beside(verdict: Said, truth: Said) -> str:
    if verdict == "not decided":
        return "not decided"
    return "right" if verdict == truth else "experts undecided" if truth == "not decided" else "wrong"


def _in_order(found: Mapping[tuple[str, str], Mapping[int, float]]) -> Scores:
    return {key: [by_document[document] for document in sorted(by_document)] for key, by_document in found.items()}
