"""What a tool answers: a few lines that a model can use, the same as data, and where there is more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from mcp_types import CallToolResult, TextContent

from evenhand.errors import EvenhandError, InputError, ModelError, RubricError, StoreError
from evenhand.model.rubric import Rubric
from evenhand.report.phrases import IMPORTED_RUN
from evenhand.wording import format_fraction, format_number, format_percent, pluralize_count, shorten_text_to_line

Json = Mapping[str, Any]
MOST_LINES = 14  # Criteria, and cards, that a short result names; explain_scorecard has all.
LONGEST_REASON = 160


def answer_tool(lines: Sequence[str], data: Json, more: str = "") -> CallToolResult:
    """The answer of a tool that did what it was asked."""
    mark = [f"run {data['run']} {IMPORTED_RUN}"] if data.get("imported") else []
    told = [*lines, *mark, *([f"more: {more}"] if more else [])]
    return CallToolResult(content=[TextContent(text="\n".join(told))], structured_content=dict(data))


def refuse_tool(lines: Sequence[str], next_step: str) -> CallToolResult:
    """That a tool could not do it, and what to do next."""
    told = [*lines, *([f"next: {next_step}"] if next_step else [])]
    return CallToolResult(content=[TextContent(text="\n".join(told))], is_error=True)


def refuse_tool_for_error(error: EvenhandError) -> CallToolResult:
    """Each fault with its place and what would work, and the next step for its kind."""
    lines = str(error).splitlines() or [type(error).__name__]
    lines = [shorten_text_to_line(line, 500) for line in lines[:MOST_LINES]]
    lines += [f"run {run} {IMPORTED_RUN}" for run in error.imported_runs]
    return refuse_tool(lines, _choose_next_tool_step(error))


def _choose_next_tool_step(error: EvenhandError) -> str:
    if isinstance(error, ModelError):
        return "the judge could not be asked: wait and call again, or name another judge; there is no score"
    if isinstance(error, StoreError):
        return "run_eval, or judge and score with a subject, store what this looks for; evenhand runs list shows runs"
    if isinstance(error, RubricError):
        return "correct the rubric and call check_rubric; list_rubrics names those that ship"
    if isinstance(error, InputError):
        return "correct what is named and call again"
    return "tell the user what is said here"


def list_next_outputs_in_tool_result(plan: Json) -> list[str]:
    """What to label, from the JSON of `labels next`, and how wide the intervals are now and then."""
    outputs, drawn = plan["outputs"], plan["drawn"]
    lines = [f"label {pluralize_count(len(outputs), 'output')} (batch {drawn['batch']}), drawn from {drawn['left']:,}"]
    lines += [
        f"  {shorten_text_to_line(one['sample'])} · {one['variant']}: chance {format_percent(one['chance'])}, "
        f"text {one['output'] or 'not kept'}"
        for one in outputs[:MOST_LINES]
    ]
    if len(outputs) > MOST_LINES:
        lines.append(f"  and {len(outputs) - MOST_LINES:,} more")
    return lines + [_tell_width_in_tool_result(one) for one in plan["widths"][:MOST_LINES]]


def list_rubric_changes_in_tool_result(found: Json) -> list[str]:
    """What came of `align`, from its JSON: the edits that were kept, or why none was."""
    before, after = (format_percent(found[name]["estimate"]) for name in ("error_before", "error_after"))
    lines = ["kept:" if found["kept"] else f"the present rubric stands: {found['why']}"]
    for edit in found["edits"][:MOST_LINES]:
        lines.append(f"  {edit['place']}: {shorten_text_to_line(edit['after'], LONGEST_REASON)}")
    lines.append(f"error against people: {before} before, {after} after; {found['samples']} samples decided")
    new = "the new rubric is" if found["rubric"] else "the judges with their map are" if found["judges"] else ""
    return [*lines, *([f"{new} in the data, not written to a file"] if new else [])]


def _tell_width_in_tool_result(one: Json) -> str:
    what = f"{one['kind']} of {one['variant']}" + (f" − {one['control']}" if one["control"] else "")
    now, then = ("none" if one[name] is None else format_number(one[name]) for name in ("now", "then"))
    return f"width of the 95% interval, {what}: now {now}, about {then} with {one['at']:,} labelled"


def summarize_scores_in_tool_result(scores: Json, judgments: Sequence[Json] = ()) -> list[str]:
    """The scorecards in a few lines each: score, grade, what moved it, what is missing, how each criterion came out."""
    lines: list[str] = []
    for card in scores["scorecards"][:MOST_LINES]:
        own = [one for one in judgments if one["output"] == card["id"]]
        lines += [_head_of_tool_result_card(card), *(f"  {line}" for line in _list_moves_in_tool_result(card))]
        lines += [f"  {line}" for line in _list_criteria_in_tool_result(card, own)[:MOST_LINES]]
    if scores["ranking"]:
        lines.append("ranking: " + ", ".join(f"{one['rank'] or '–'} {one['id']}" for one in scores["ranking"]))
    return lines + [f"note: {shorten_text_to_line(note)}" for note in scores["notes"][:3]]


def _head_of_tool_result_card(card: Json) -> str:
    score = "no score: incomplete" if card["score"] is None else f"score {card['score']:g}"
    grade = " ".join(filter(None, (card["grade"], card["label"] and f"({card['label']})")))
    verdict = None if card["score"] is None else card["verdict"]
    return f"{card['id']}: " + ", ".join(filter(None, (score, grade, verdict)))


def _list_moves_in_tool_result(card: Json) -> list[str]:
    """What the steps after the first did, what failed, what is missing."""
    first, *moves = card["steps"] or [None]
    lines = [f"before deductions and bonuses: {first['after']:g}"] if moves and first["after"] is not None else []
    lines += [shorten_text_to_line(step["why"]) for step in moves]
    lines += [f"gate failed: {gate}" for gate in card["gates_failed"]]
    lines += [
        f"missing: {one['criterion']} ({shorten_text_to_line(one['why'], LONGEST_REASON)})" for one in card["missing"]
    ]
    return lines + [f"note: {shorten_text_to_line(note)}" for note in card["notes"][:3]]


def _list_criteria_in_tool_result(card: Json, judgments: Sequence[Json]) -> list[str]:
    reasons = {one["criterion"]: one["reason"] for one in judgments if one["score"] is not None}
    return [
        f"{id}: {_word_score_in_tool_result(value)}"
        + (f" – {shorten_text_to_line(reasons[id], LONGEST_REASON)}" if reasons.get(id) else "")
        for id, value in card["criteria"].items()
        if value is not None
    ]


def _word_score_in_tool_result(value: object) -> str:
    return (
        {True: "yes", False: "no"}[value]
        if isinstance(value, bool)
        else f"{value:g}"
        if isinstance(value, float)
        else str(value)
    )


def shorten_scores_in_tool_result(scores: Json) -> dict[str, Any]:
    """The scores as data, without steps and texts that explain_scorecard gives."""
    kept = (
        "id",
        "score",
        "grade",
        "label",
        "verdict",
        "gates_failed",
        "missing",
        "flags",
        "bonuses",
        "statements",
        "criteria",
    )
    return {
        "rubric": scores["rubric"],
        "fingerprint": scores["fingerprint"],
        "scorecards": [{name: card[name] for name in kept} for card in scores["scorecards"]],
        "ranking": scores["ranking"],
    }


def explain_scores_in_tool_result(scores: Json, judgments: Sequence[Json] = ()) -> list[str]:
    """Every step in a sentence, and why each criterion got its score."""
    lines: list[str] = []
    for card in scores["scorecards"]:
        lines += [
            _head_of_tool_result_card(card),
            *([f"  {card['grade']}: {card['description']}"] if card["description"] else []),
        ]
        lines += [f"  {step['why']}" for step in card["steps"]]
        for review in card["reviews"] or ():
            lines += [f"  {review['judge']}: {step['why']}" for step in review["steps"]]
        lines += [f"  gate failed: {gate}" for gate in card["gates_failed"]]
        lines += [f"  missing: {one['criterion']} ({one['why']})" for one in card["missing"]]
        lines += [f"  note: {note}" for note in card["notes"]]
        own = [one for one in judgments if one["output"] == card["id"]]
        lines += [f"  {line}" for one in own for line in _explain_judgment_in_tool_result(one)]
    return [
        shorten_text_to_line(line, 600) if not line.startswith("  ") else f"  {shorten_text_to_line(line, 600)}"
        for line in lines
    ]


def _explain_judgment_in_tool_result(one: Json) -> list[str]:
    if one["score"] is None:
        return [f"{one['judge']} on {one['criterion']}: no score ({one['why_not']})"]
    quotes = [quote["text"] for quote in one["evidence"]] + [f"absent: {text}" for text in one["absent"]]
    said = f"{one['judge']} on {one['criterion']}: {one['score']:g}" + (f" – {one['reason']}" if one["reason"] else "")
    return [said + "".join(f" “{shorten_text_to_line(text, LONGEST_REASON)}”" for text in quotes[:3])]


def describe_rubric_in_tool_result(rubric: Rubric) -> list[str]:
    """What a rubric asks: criteria with levels, red flags, bonuses, gates."""
    lines = [f"{rubric.name} (method {rubric.method.name}): {rubric.about or rubric.method.about}"]
    for criterion in rubric.leaves.values():
        weight = f", weight {format_fraction(criterion.weight)}"
        lines.append(f"{criterion.id} [{criterion.scale}{weight}]: {criterion.asks}")
        lines += [f"  {format_fraction(one.min)}–{format_fraction(one.max)}: {one.text}" for one in criterion.anchors]
    for kind, statements in (("red flag", rubric.red_flags), ("bonus", rubric.bonuses)):
        lines += [f"{kind} {one.id}: {one.asks}" for one in statements]
    lines += [f"gate: {one.criterion} at least {format_fraction(one.min)}" for one in rubric.all_gates]
    return lines


def count_faults_in_tool_result(count: int) -> str:
    """So many faults, in words."""
    return pluralize_count(count, "fault")
