"""What a sample was asked, why an output has its verdict, and what a reply that could not be read should have been."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from evenhand.report.html.formats import format_report_scale, format_report_short_number
from evenhand.report.html.page_file import list_report_yes_no_criteria
from evenhand.wording import format_figure, read_kept_fraction


@dataclass(frozen=True, slots=True)
class PageQuestions:
    """What criteria ask, by id, which are answered by yes or no, on what scales, and from which scores on it passes."""

    asks: Mapping[str, str]
    yes_no: Sequence[str]
    verdicts: Mapping[str, float] = field(default_factory=dict)  # From which score on, the lowest first.
    scales: Mapping[str, Sequence[float]] = field(default_factory=dict)

    def word_value(self, id: str, value: float | None) -> str:
        """What a criterion came to."""
        if value in (0, 1) and (isinstance(value, bool) or id in self.yes_no):
            return "yes" if value else "no"
        return format_figure(value)


def find_report_questions(rubrics: Sequence[dict[str, Any]], tags: Sequence[str]) -> PageQuestions:
    """The questions of a sample: where rubrics are for tags, those of its own tags come before those for all."""
    nearest = sorted(
        rubrics, key=lambda one: 0 if {*one.get("tags", ())} & {*tags} else 1 if not one.get("tags") else 2
    )
    parts = [part for one in nearest for part in (*one["criteria"], *one.get("statements", ()))]
    asks = {part["id"]: part.get("asks") or "" for part in reversed(parts)}
    scales = {part["id"]: part["ends"] for part in reversed(parts) if part.get("ends")}
    return PageQuestions(
        asks, list_report_yes_no_criteria(list(rubrics)), find_verdict_limits_in_report(nearest), scales
    )


LAYER_MEAN_NOTE = "(what each layer came to = the same on 1 to 5)"


def explain_verdict_in_report(one: Mapping[str, Any], limits: Mapping[str, float]) -> str:
    """Why the verdict is what it is: a gate, or the score against the scores that verdicts begin at."""
    card = one["scorecard"] or {}
    if card.get("gates_failed"):
        return "a gate failed"
    if not limits or card.get("score") is None or (one.get("own_rubric") or "").startswith("sample:"):
        return ""
    least = next(iter(limits.values()))
    if one["verdict"] == "fail":
        return f"{format_figure(card['score'], beside=least)} is under {format_report_short_number(least)}"
    if one["verdict"] not in limits:
        return f"a score under {format_report_short_number(least)} fails"
    own = limits[one["verdict"]]
    higher = [(name, limit) for name, limit in limits.items() if limit > own]
    missed = [
        f"{format_figure(card['score'], beside=limit)} is under {format_report_short_number(limit)} for {name}"
        for name, limit in higher[:1]
    ]
    return ", ".join((f"from {format_report_short_number(own)} on", *missed))


def find_verdict_limits_in_report(nearest: Sequence[Mapping[str, Any]]) -> dict[str, float]:
    """From which score on each verdict is given, the lowest first.

    An older run has only the least score that does not fail, as the gate of its layer, on 1 to 5.
    """
    rubric = nearest[0] if nearest else {}
    if rubric.get("verdicts"):
        return {one["verdict"]: one["from"] for one in sorted(rubric["verdicts"], key=lambda one: float(one["from"]))}
    gate, ends = rubric.get("judge_gate"), rubric.get("score_scale")
    if not gate or not ends:
        return {}
    return {"": float(ends[0] + float((read_kept_fraction(gate) - 1) / 4) * (ends[1] - ends[0]))}


def describe_expected_answer_in_report(criterion: str, ends: Sequence[float] | None, *, yes_no: bool) -> str:
    """What was asked for where a reply could not be read; it may hold scores in another shape."""
    on = f" from {format_report_scale(ends)}" if ends else ""
    answer = "yes or no" if yes_no else f"a score{on}"
    return f"Expected: JSON with {criterion} under “criteria”, and {answer} in it."
