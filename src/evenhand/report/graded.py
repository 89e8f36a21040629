"""Grades, red flags, bonuses and what the history flags, as lines that every report shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.report.phrases import ReportData
from evenhand.wording import format_figure, pluralize_count

STATEMENT_KINDS = {"red_flag": "red flag", "bonus": "bonus"}
MOST_ADJUSTED = 20  # Outputs with red flags or bonuses that a page lists one by one.
NO_HISTORY = "no history yet"  # Not worth a line on the first run of everything.


def format_grade_lines(head: ReportData) -> list[str]:
    """How many outputs of each variant have which grade, and what those grades mean."""
    known = {one["grade"]: one for rubric in head["eval"]["rubrics"] for one in rubric.get("grades", ())}
    counted = {one["name"]: one.get("grades") or {} for one in head["variants"]}
    lines = [
        f"{name}: {', '.join(f'{grade} {grades[grade]:,}' for grade in known if grade in grades)}"
        for name, grades in counted.items()
        if grades
    ]
    met = [one for grade, one in known.items() if any(grade in grades for grades in counted.values())]
    return lines + [_describe_reported_grade(one) for one in met if one["description"]]


def _describe_reported_grade(grade: ReportData) -> str:
    label = f" ({grade['label']})" if grade["label"] else ""
    return f"{grade['grade']}{label}: {grade['description']}"


def format_statement_lines(head: ReportData) -> list[str]:
    """Each red flag and bonus with its amount, in how many outputs it was found, and how the first was explained."""
    return [
        f"{one['variant']}: {STATEMENT_KINDS[one['kind']]} {one['id']}, {format_figure(one['amount'], signed=True)} "
        f"in {pluralize_count(one['count'], 'output')} (first in {': '.join(filter(None, (one['first'], one['why'])))})"
        for one in head.get("statements", ())
    ]


def format_report_history_lines(head: ReportData) -> list[str]:
    """What the history says of each variant that has one; what strays is for review and changes no score."""
    return [
        f"{one['variant']}: {'for review: ' if one.get('strayed') else ''}{one['says']}"
        for one in head["consistency"]
        if one["says"] != NO_HISTORY
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class AdjustedResult:
    """An output whose score red flags or bonuses moved: from what, by what and why, to what."""

    sample: str
    variant: str
    before: float | None
    statements: str
    score: float | None
    grade: str


def list_adjusted_results(sample: ReportData) -> Iterator[AdjustedResult]:
    """The outputs of one sample with red flags or bonuses."""
    for result in sample["results"]:
        card = result["scorecard"] or {}
        if not card.get("statements"):
            continue
        trails = [card["steps"], *(review["steps"] for review in card["reviews"] or ())]
        moved = [step for trail in trails for step in trail if step["step"] in ("deduct", "add")]
        yield AdjustedResult(
            sample=sample["id"],
            variant=result["variant"],
            before=moved[0]["before"] if moved else None,
            statements="; ".join(map(describe_reported_statement, card["statements"])),
            score=card["score"],
            grade=" ".join(filter(None, (card["grade"], card["label"]))),
        )


def describe_reported_statement(one: ReportData) -> str:
    """A red flag or bonus of one output: its id, what counted of it, its explanation, and who says so."""
    counted = format_figure(one["counted"], signed=True) if one["counted"] else "not counted"
    judge = f"{one['judge']}: " if one["judge"] else ""
    why = f" ({one['why']})" if one["why"] else ""
    return f"{judge}{one['id']} {counted}{why}"
