"""Grades, red flags, bonuses and what the history flags, as lines that every report shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from evenhand.report.phrases import ReportData
from evenhand.wording import format_figure, join_names, pluralize_count, word_gate, word_tie_break

STATEMENT_KINDS = {"red_flag": "red flag", "bonus": "bonus"}
MOST_ADJUSTED = 20  # Outputs with red flags or bonuses that a page lists one by one.
NO_HISTORY = "no history yet"  # Not worth a line on the first run of everything.


def format_report_grade_lines(head: ReportData) -> list[str]:
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


def format_report_statement_lines(head: ReportData) -> list[str]:
    """Each red flag and bonus with its amount, in how many outputs it was found, and how the first was explained."""
    return [
        f"{one['variant']}: {STATEMENT_KINDS[one['kind']]} {one['id']}, {format_figure(one['amount'], signed=True)} "
        f"in {pluralize_count(one['count'], 'output')} (first in {': '.join(filter(None, (one['first'], one['why'])))})"
        for one in head.get("statements", ())
    ]


def format_report_tie_lines(head: ReportData) -> list[str]:
    """Where samples score the same with two variants, whom the tie-breaks of the rubric put first."""
    lines = []
    for one in head.get("ties", ()):
        if not one["tied"]:
            continue
        told = [
            f"{name} is first in {sum(by.values()):,} ({', '.join(map(word_tie_break, by))})"
            for name, by in one["first"].items()
            if by
        ] + ([f"{one['equivalent']:,} equivalent"] if one["equivalent"] else [])
        same = f"{one['treatment']} and {one['control']} score the same in {pluralize_count(one['tied'], 'sample')}"
        lines.append(f"{same}; by the rubric's tie-breaks {join_names(told)}. The verdict goes by scores alone.")
    return lines


def format_report_history_lines(head: ReportData) -> list[str]:
    """What the history says of each variant that has one; what strays is for review and changes no score."""
    return [
        f"{one['variant']}: {'for review: ' if one.get('strayed') else ''}{said}"
        for one in head["consistency"]
        if one["says"] != NO_HISTORY
        for said in one.get("strayed_by") or [one["says"]]
    ]


def format_report_stray_lines(head: ReportData) -> list[str]:
    """In a line for each variant, on which criteria it strays from its history."""
    return [
        f"{one['variant']} differs from its history in {join_names([word_gate(name) for name in one['strayed']])}."
        for one in head["consistency"]
        if one.get("strayed")
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


def list_adjusted_results_for_report(sample: ReportData) -> Iterator[AdjustedResult]:
    """The outputs of one sample with red flags or bonuses."""
    for result in sample["results"]:
        card = result["scorecard"] or {}
        if not card.get("statements"):
            continue
        yield AdjustedResult(
            sample=sample["id"],
            variant=result["variant"],
            before=find_reported_score_before_statements(card),
            statements="; ".join(map(describe_reported_statement, card["statements"])),
            score=card["score"],
            grade=" ".join(filter(None, (card["grade"], card["label"]))),
        )


def find_reported_score_before_statements(card: ReportData) -> float | None:
    """What the first red flag or bonus moved, or the score where none did; several judges have one each, so none."""
    reviews = card.get("reviews") or ()
    if len(reviews) > 1:
        return None
    trail = [step for one in (card, *reviews) for step in one.get("steps", ())]
    moved = (step["before"] for step in trail if step["step"] in ("deduct", "add"))
    before: float | None = next(moved, card.get("score"))
    return before


def describe_reported_statement(one: ReportData) -> str:
    """A red flag or bonus of one output: its id, what counted of it, its explanation, and who says so."""
    counted = format_figure(one["counted"], signed=True) if one["counted"] else "not counted"
    judge = f"{one['judge']}: " if one["judge"] else ""
    why = f" ({one['why']})" if one["why"] else ""
    return f"{judge}{one['id']} {counted}{why}"
