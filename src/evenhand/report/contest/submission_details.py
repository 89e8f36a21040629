"""All that is known of a submission: its path, its text with passages marked, checks, scores, advice."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from types import SimpleNamespace

from evenhand.report.contest.reported_contest import (
    ChartedScores,
    ContestReportJson,
    ReportedContest,
    choose_report_badge,
    draw_scale_chart,
    find_reported_feedback_scores,
    find_reported_final_scores,
    get_reported_value,
    list_reported_suggestions,
)
from evenhand.report.html.formats import format_report_percent, format_report_short_number
from evenhand.wording import format_kept_figure


def build_submission_report_section(contest: ReportedContest, one: ContestReportJson) -> SimpleNamespace:
    """All of one submission."""
    text, left_out = mark_report_passages(contest, one["id"])
    alone, now = find_reported_feedback_scores(one, "individual_scoring"), find_reported_final_scores(one)
    weights = {dimension["id"]: dimension["weight"] for dimension in contest.record["dimensions"]}
    by_dimension = [
        (id, *(get_reported_value(found, "dimension_scores", id) for found in (alone, now))) for id in weights
    ]
    charted = [
        ChartedScores(name=id, alone=get_reported_value(own, "score"), together=get_reported_value(side, "score"))
        for id, own, side in by_dimension
    ]
    sent = contest.submission_event(one["id"])
    notes = [note for found in (alone, now) if found for note in found.get("notes") or ()]
    return SimpleNamespace(
        **one,
        place=contest.places[one["id"]],
        look=choose_report_badge(one["status"], contest.stage),
        steps=list(trace_submission_report_path(contest, one)),
        text=text,
        left_out=left_out,
        checks=_list_reported_checks(contest, one),
        violations=[(each, quote_in_report(sent["submission"]["text"], each)) for each in sent["findings"]],
        chart=draw_scale_chart(f"{one['id']}: every dimension on 0 to 100", charted),
        said=by_dimension if alone or now else [],
        totals=list(_list_report_score_totals(contest, weights, alone, now)),
        notes=list(dict.fromkeys(notes)),
        advice=list_reported_suggestions(one),
    )


def _list_reported_checks(contest: ReportedContest, one: ContestReportJson) -> list[ContestReportJson]:
    """The acceptance criteria as they were checked; of a submission that passed, from what the judges said."""
    told = [check for found in one["feedback"] for check in found.get("criteria_checks", ())]
    event = contest.last_event("gate_checked", one["id"])
    if told or event is None:
        return told
    by: dict[str, list[ContestReportJson]] = {}
    for check in event["checks"]:
        by.setdefault(check["criterion"], []).append(check)
    checks = []
    for number, asks in enumerate(contest.terms["acceptance"], start=1):
        said = by.get(f"criterion-{number}", [])
        quotes = dict.fromkeys(quote["text"] for each in said for quote in each["evidence"])
        whose = [(f"{each['judge']}: " if len(said) > 1 else "", each["reason"]) for each in said if each["reason"]]
        reasons = "\n".join(judge + reason for judge, reason in whose)
        found = {"evidence": "\n".join(quotes), "reason": reasons, "revision_hint": None}
        checks.append({"criterion": asks, "passed": True, **found})
    return checks


def _list_report_score_totals(
    contest: ReportedContest,
    weights: Mapping[str, float],
    alone: ContestReportJson | None,
    now: ContestReportJson | None,
) -> Iterator[SimpleNamespace]:
    """How each total came about, in figures."""
    for name, found, key in (("Alone", alone, "penalized_total"), ("Side by side", now, "final_score")):
        if found and found[key] is not None:
            flagged = [f"{id} is below expected" for id in found["risk_flags"]]
            scores = {id: format_report_short_number(found["dimension_scores"][id]["score"]) for id in weights}
            total = format_kept_figure(found[key])
            yield SimpleNamespace(
                name=name,
                sum=" + ".join(f"{format_report_percent(weight)} × {scores[id]}" for id, weight in weights.items()),
                base=format_kept_figure(found["weighted_base"]),
                penalty=found["penalty"],
                reasons=tuple(found.get("penalty_reasons") or flagged),
                total=total,
                by_judge=_describe_reported_judge_totals(contest, found.get("by_judge") or {}, total),
            )


def _describe_reported_judge_totals(contest: ReportedContest, totals: Mapping[str, float | None], mean: str) -> str:
    """What the mean of several judges is taken from; a judge without a weight counts once."""
    if not totals:
        return ""
    weights = contest.terms["weights"]
    counts = {judge: f" (weight {weights[judge]})" if judge in weights else "" for judge in totals}
    each = ", ".join(f"{judge} {format_kept_figure(total)}{counts[judge]}" for judge, total in totals.items())
    return f"Judge by judge: {each}. Their {'weighted ' if any(counts.values()) else ''}mean is {mean}."


NOT_JUDGED_STATUSES = ("submitted", "unjudged", "policy_violation", "gate_failed")


@dataclass(frozen=True, slots=True, kw_only=True)
class SubmissionStage:
    """A stage, what came of it and when; a stage that was not reached has no mark."""

    name: str
    mark: str = ""
    says: str = ""
    at: str = ""
    tone: str = "calm"


def trace_submission_report_path(contest: ReportedContest, one: ContestReportJson) -> Iterator[SubmissionStage]:
    """The stages of a submission; there is no final where the first that passes wins."""
    says = f"revises {one['revises']}" if one["revises"] else "handed in"
    yield SubmissionStage(name="Came", mark="●", says=says, at=_format_report_event_time(contest, one), tone="plain")
    yield _build_gate_stage_for_report(contest, one)
    yield _build_alone_report_stage(contest, one)
    if contest.record["mode"] == "quality_first":
        yield _build_final_stage_for_report(contest, one)
    yield _build_rank_stage_for_report(contest, one)


def _format_report_event_time(contest: ReportedContest, one: ContestReportJson) -> str:
    return contest.clock.short(contest.time(one["at"]))


def _build_gate_stage_for_report(contest: ReportedContest, one: ContestReportJson) -> SubmissionStage:
    if one["status"] == "policy_violation":
        at = _format_report_event_time(contest, one)
        return SubmissionStage(name="Gate", mark="✕", says="stopped by a guard", at=at, tone="bad")
    event = contest.last_event("gate_checked", one["id"])
    if event is None:
        return _build_waiting_stage_for_report(
            "Gate", "waits for the judges", one["status"] == "submitted" and not contest.closed
        )
    at = _format_report_event_time(contest, event)
    if one["status"] == "gate_failed":
        return SubmissionStage(name="Gate", mark="✕", says="failed", at=at, tone="bad")
    if one["status"] == "unjudged" and contest.last_event("scored", one["id"]) is None and one["feedback"]:
        return SubmissionStage(name="Gate", mark="–", says="could not be checked", at=at, tone="warn")
    return SubmissionStage(name="Gate", mark="✓", says="passed", at=at, tone="good")


def _build_alone_report_stage(contest: ReportedContest, one: ContestReportJson) -> SubmissionStage:
    event = contest.last_event("scored", one["id"])
    if event is None:
        waits = one["status"] == "gate_passed" and not contest.closed
        return _build_waiting_stage_for_report("Alone", "waits for the judges", waits)
    at = _format_report_event_time(contest, event)
    found = find_reported_feedback_scores(one, "individual_scoring")
    if found is None:
        return SubmissionStage(name="Alone", mark="✓", says="scored, hidden for now", at=at, tone="plain")
    if found["penalized_total"] is None:
        return SubmissionStage(name="Alone", mark="–", says="no score", at=at, tone="warn")
    says = f"{format_kept_figure(found['penalized_total'])}, band {found['overall_band']}"
    return SubmissionStage(name="Alone", mark="✓", says=says, at=at, tone="plain")


def _build_final_stage_for_report(contest: ReportedContest, one: ContestReportJson) -> SubmissionStage:
    if one["status"] == "superseded":
        return SubmissionStage(name="Final", mark="↷", says=one["why"] or "superseded")
    if one["status"] == "below_threshold":
        return SubmissionStage(name="Final", mark="▽", says=one["why"] or "below the threshold", tone="warn")
    if one["id"] not in contest.finalists:
        if one["rank"] is not None:
            only = one["status"] == "won"
            return SubmissionStage(name="Final", says="the only one left" if only else "not among the best three")
        says = "the best are compared now" if contest.record["state"] == "ranking" else "after the deadline"
        return _build_waiting_stage_for_report("Final", says, one["status"] == "gate_passed")
    event = contest.last_event("resolved") or contest.last_event("ranked") or {}
    found = find_reported_final_scores(one)
    again = " on the challenge" if event["event"] == "resolved" else " side by side"
    says = f"{format_kept_figure(found['final_score'])}{again}" if found else "could not be read side by side"
    return SubmissionStage(
        name="Final", mark="◆", says=says, at=_format_report_event_time(contest, event), tone="plain"
    )


def _build_rank_stage_for_report(contest: ReportedContest, one: ContestReportJson) -> SubmissionStage:
    if one["rank"] is None:
        hidden = contest.hidden and one["status"] not in NOT_JUDGED_STATUSES
        return SubmissionStage(name="Rank", says="" if hidden else "no rank")
    found = choose_report_badge(one["status"], contest.stage)
    won = one["status"] == "won"
    says = f"{one['rank']}, {found.word}" if won else str(one["rank"])
    return SubmissionStage(name="Rank", mark=found.mark if won else "✓", says=says, tone=found.tone if won else "plain")


def _build_waiting_stage_for_report(name: str, says: str, waits: bool) -> SubmissionStage:
    return SubmissionStage(name=name, mark="…", says=says) if waits else SubmissionStage(name=name)


MOST_TEXT_SHOWN = 60_000  # Characters of a text that are shown: some twenty pages.
CONTEXT_CHARACTERS = 90  # Characters beside a passage that is shown on its own.


@dataclass(frozen=True, slots=True)
class TextPiece:
    """A stretch of text, with what marks it."""

    text: str
    kind: str = ""


def mark_report_passages(contest: ReportedContest, id: str) -> tuple[list[TextPiece], int]:
    """The text of a submission in pieces, and how many characters of it are left out."""
    sent = contest.submission_event(id)
    text = sent["submission"]["text"]
    marks = [(one["start"], one["end"], "flag") for one in sent["findings"]]
    judgments = (contest.last_event("scored", id) or {}).get("judgments", ())
    marks += [(quote["start"], quote["end"], "evidence") for one in judgments for quote in one["evidence"]]
    return list(_cut_report_text_at_marks(text[:MOST_TEXT_SHOWN], marks)), max(len(text) - MOST_TEXT_SHOWN, 0)


def quote_in_report(text: str, finding: ContestReportJson) -> list[TextPiece]:
    """A passage with some words before and after it."""
    start, end = finding["start"], finding["end"]
    begin, stop = max(start - CONTEXT_CHARACTERS, 0), min(end + CONTEXT_CHARACTERS, len(text))
    before = ("…" if begin else "") + text[begin:start]
    after = text[end:stop] + ("…" if stop < len(text) else "")
    return [TextPiece(before), TextPiece(text[start:end], "flag"), TextPiece(after)]


def _cut_report_text_at_marks(text: str, marks: Iterable[tuple[int, int, str]]) -> Iterator[TextPiece]:
    """The text in order; of passages that overlap the later one loses what the earlier one has."""
    last = 0
    for start, end, kind in sorted(set(marks)):
        begin, stop = max(start, last), min(end, len(text))
        if begin < stop:
            yield from (TextPiece(text[last:begin]), TextPiece(text[begin:stop], kind))
            last = stop
    yield TextPiece(text[last:])
