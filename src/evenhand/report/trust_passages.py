"""The passages behind a disagreement: what the judges quoted of the output, or how it begins."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from evenhand.report.untrusted_text import fold_to_report_line

ReportJson = Mapping[str, Any]
LONGEST_PASSAGE = 280  # Characters of a passage, and of a reason.
MOST_PASSAGES = 3  # Of one output.


def add_passages_to_disagreements(
    differing: Sequence[ReportJson], samples: Iterable[ReportJson]
) -> list[dict[str, Any]]:
    """Each disagreement with passages of its output: judge, text and reason; without a judge, how the output begins."""
    results: dict[tuple[str, str], ReportJson] = {}
    for sample in samples:
        for result in sample["results"]:
            results.setdefault((sample["id"], result["variant"]), result)
    return [
        {**one, "passages": list(_list_passages(results.get((one["sample"], one["variant"])), one["question"]))}
        for one in differing
    ]


def _list_passages(result: ReportJson | None, question: str) -> Iterator[dict[str, Any]]:
    text = (result["output"] or {}).get("text", "") if result else ""
    begins = fold_to_report_line(text, LONGEST_PASSAGE)
    judgments = [one for one in result["judgments"] if _is_about(one, question)] if result else []
    for one in judgments[:MOST_PASSAGES]:
        quoted = fold_to_report_line(" … ".join(quote["text"] for quote in one["evidence"]), LONGEST_PASSAGE)
        reason = fold_to_report_line(one["reason"] or "", LONGEST_PASSAGE)
        yield {"judge": one["judge"], "quoted": bool(quoted), "text": quoted or begins, "reason": reason}
    if begins and not judgments:
        yield {"judge": None, "quoted": False, "text": begins, "reason": ""}


def _is_about(judgment: ReportJson, question: str) -> bool:
    """Criteria of rubrics that samples bring stand behind the rubric's name."""
    return question == judgment["criterion"] or question.endswith(f".{judgment['criterion']}")
