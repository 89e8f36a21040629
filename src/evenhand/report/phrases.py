"""Phrases that every report shares: differences, badges, how far a run came, what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.wording import MISSING_DASH, format_figure, pluralize_count

ReportData = Mapping[str, Any]  # A piece of a report: plain data, as `evenhand report --json` prints it.


def format_reported_mean(summary: ReportData | None) -> str:
    """A mean with its interval, where there is one: 0.83 [0.79, 0.87]."""
    if summary is None:
        return MISSING_DASH
    return _append_interval_bounds(summary, format_figure(summary["mean"], summary["scale"]), summary["scale"])


def format_reported_difference(one: ReportData | None, scale: Sequence[float] | None = None) -> str:
    """A difference with its sign and its interval: +0.50 [0.22, 0.79]."""
    if one is None:
        return MISSING_DASH
    return _append_interval_bounds(one, format_figure(one["estimate"], scale, signed=True), scale)


def _append_interval_bounds(one: ReportData, middle: str, scale: Sequence[float] | None) -> str:
    if one.get("low") is None or one.get("high") is None:
        return middle
    return f"{middle} [{format_figure(one['low'], scale)}, {format_figure(one['high'], scale)}]"


def format_report_p_value(one: ReportData | None) -> str:
    """The p-value of a difference, never as a bare zero."""
    return MISSING_DASH if one is None else "under 0.001" if one["p"] < 0.001 else f"{one['p']:.3f}"


BADGE_ANSWERS = {"green": "yes", "amber": "in part", "red": "no", "grey": "not known"}


def describe_badge(badge: ReportData) -> str:
    """The answer and the finding behind it: no, the interval still narrows."""
    return f"{BADGE_ANSWERS[badge['state']]}, {badge['says']}"


def describe_badge_advice(badge: ReportData) -> str:
    """What would turn it green; empty where it is."""
    return "" if badge["state"] == "green" else str(badge.get("advice") or "")


def describe_reported_samples(run: ReportData) -> str:
    """The samples that were looked at: 24 samples, or 7 of 30 samples where more were planned."""
    planned = run.get("planned")
    if planned is None or run["samples"] >= planned:
        return pluralize_count(run["samples"], "sample")
    return f"{run['samples']:,} of {pluralize_count(planned, 'sample')}"


def describe_safety_gate_finding(one: ReportData) -> str:
    """What the safety gate capped: weapon_making in 3 outputs, the first in s2: “…”."""
    passage = f": “{one['passage']}”" if one["passage"] else ""
    return f"{one['pattern']} in {pluralize_count(one['count'], 'output')}, the first in {one['first']}{passage}"


def list_safety_gate_findings(head: ReportData) -> list[ReportData]:
    """What the safety gate capped; nothing in a run that was kept before gates were counted."""
    return list((head.get("safety_gate") or {}).get("findings", ()))


def describe_unfinished_in_report(run: ReportData) -> str:
    """What kept a run from its end; empty where it was reached."""
    if run["state"] == "finished":
        return ""
    return "still running" if run["state"] == "running" else f"{run['state']} before its end"


def does_reported_verdict_stand(head: ReportData) -> bool:
    """Whether nothing speaks against the verdict: the run came to its end, and no gate or rule failed it."""
    passed: bool = head["decision"]["exit_code"] == 0
    return passed and not describe_unfinished_in_report(head["run"])


def list_reported_failures(result: ReportData) -> list[str]:
    """Why a scored result does not pass: its verdict, its gates, its assertions; empty where it does."""
    card = result["scorecard"] or {}
    verdict = [f"verdict fail (score {format_figure(result['score'])})"] if result["verdict"] == "fail" else []
    gates = [f"gate failed: {criterion}" for criterion in card.get("gates_failed", ())]
    return verdict + gates + [_describe_failed_assertion(one) for one in result["assertions"] if one["passed"] is False]


def explain_unscored_in_report(result: ReportData) -> str:
    """Why a result has no score."""
    return str(result["why"] or f"{result['state']}, and nothing says why")


def is_unscored_in_report(result: ReportData) -> bool:
    """Whether the output, a judge or an assertion failed, so that there is no score."""
    return result["state"] in ("failed", "incomplete")


def describe_failure_count(failure: ReportData) -> str:
    """How often something failed in the same way: 1 output failed, 3 judgments failed, 2 abstentions."""
    if failure["kind"] == "abstention":
        return pluralize_count(failure["count"], "abstention")
    if failure["kind"] == "assertion":
        return f"{pluralize_count(failure['count'], 'assertion')} could not be answered"
    return f"{pluralize_count(failure['count'], 'judgment' if failure['kind'] == 'judge' else failure['kind'])} failed"


def _describe_failed_assertion(one: ReportData) -> str:
    looked = f": looked for {one['looked_for']}" if one["looked_for"] not in (None, "") else ""
    found = f", found {one['found']}" if one["found"] not in (None, "") else ""
    return f"assertion failed: {one['name']}{looked}{found}"
