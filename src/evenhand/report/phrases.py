"""Phrases and tables that every report shares: scores, differences, badges, how far a run came, what failed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.wording import (
    MISSING_DASH,
    format_dollar_amount,
    format_figure,
    format_milliseconds,
    pluralize_count,
)

ReportData = Mapping[str, Any]  # A piece of a report: plain data, as `evenhand report --json` prints it.


def format_reported_estimate(one: ReportData | None) -> str:
    """A mean, or a difference with its sign, and its interval where there is one: 0.83 [0.79, 0.87]."""
    if one is None:
        return MISSING_DASH
    scale = one["scale"] if "mean" in one else None
    middle = format_figure(one["mean"], scale) if "mean" in one else format_figure(one["estimate"], signed=True)
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


def describe_unfinished_in_report(run: ReportData) -> str:
    """What kept a run from its end; empty where it was reached."""
    if run["state"] == "finished":
        return ""
    return "still running" if run["state"] == "running" else f"{run['state']} before its end"


def does_reported_verdict_stand(head: ReportData) -> bool:
    """Whether nothing speaks against the verdict: the run came to its end, and no gate or rule failed it."""
    return bool(head["decision"]["exit_code"] == 0 and head["run"]["state"] == "finished")


def list_reported_failures(result: ReportData) -> list[str]:
    """Why a scored result does not pass: its verdict, its gates, its assertions; empty where it does."""
    card = result["scorecard"] or {}
    verdict = [f"verdict fail (score {format_figure(result['score'])})"] if result["verdict"] == "fail" else []
    gates = [f"gate failed: {criterion}" for criterion in card.get("gates_failed", ())]
    checks = []
    for one in (one for one in result["assertions"] if one["passed"] is False):
        looked = f": looked for {one['looked_for']}" if one["looked_for"] not in (None, "") else ""
        found = f", found {one['found']}" if one["found"] not in (None, "") else ""
        checks.append(f"assertion failed: {one['name']}{looked}{found}")
    return verdict + gates + checks


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


def describe_reported_composite(head: ReportData) -> str:
    """Which layers the composite was computed from, and how; empty for runs that did not keep it."""
    composed = head.get("composite")
    return f"composite: {composed['says']}" if composed and composed["layers"] else ""


VERDICT_WORDS = ("pass", "borderline", "fail")

ReportColumn = tuple[str, list[str]]  # A name and the cells below it.


def build_variant_columns(head: ReportData) -> list[list[ReportColumn]]:
    """A row for each variant: names, scores, counts, costs; columns in which nothing was measured are left out."""
    variants, assertions = head["variants"], [one["assertions"] for one in head["variants"]]
    roles = [" (control)" if one["role"] == "control" and len(variants) > 1 else "" for one in variants]
    names = [f"{one['name']}{role}" for one, role in zip(variants, roles, strict=True)]
    scores = [(name, [format_reported_estimate(one[name]) for one in variants]) for name in ("score", "composite")]
    for name in list_report_layers(head):
        means = [one["layers"].get(name) for one in variants]
        scores.append((name, [format_figure(one["mean"], one["scale"]) if one else MISSING_DASH for one in means]))
    decided = any(sum(one["verdicts"].values()) for one in variants)
    passed = [(one["passed"], one["passed"] + one["failed"]) for one in assertions]
    counts = [
        *((word, [f"{one['verdicts'].get(word, 0):,}" for one in variants]) for word in VERDICT_WORDS if decided),
        ("assertions", [f"{some:,} of {total:,}" if total else MISSING_DASH for some, total in passed]),
        ("unanswered", _format_report_counts([one["unanswered"] for one in assertions])),
        ("scored", [f"{one['scored']:,} of {one['results']:,}" for one in variants]),
        ("incomplete", _format_report_counts([one["incomplete"] for one in variants])),
        ("failed", _format_report_counts([one["failed"] for one in variants])),
    ]
    costs = [
        (name, [format_dollar_amount(one["cost"][whose]) for one in variants])
        for name, whose in (("output cost", "outputs"), ("judge cost", "judges"))
        if any(one["cost"][whose] for one in variants)
    ]
    if any(one["latency_ms"] for one in variants):
        costs.append(("latency", [format_milliseconds((one["latency_ms"] or {}).get("median")) for one in variants]))
    return _drop_unmeasured_columns([[("variant", names)], scores, counts, costs])


def _drop_unmeasured_columns(groups: Sequence[Sequence[ReportColumn]]) -> list[list[ReportColumn]]:
    measured = [[(name, cells) for name, cells in group if set(cells) != {MISSING_DASH}] for group in groups]
    return [group for group in measured if group]


def build_criterion_columns(head: ReportData) -> list[ReportColumn]:
    """The criteria, and a column of means for each variant; empty where there are none."""
    ids = list_report_criteria(head)
    columns: list[ReportColumn] = [("criterion", ids)] if ids else []
    for variant in head["variants"] if ids else ():
        unscored, cells = variant["results"] - variant["scored"], []
        for one in map(variant["criteria"].get, ids):
            # What is missing is told where the number of scored results does not tell it already.
            told = one is None or one["missing"] in (0, unscored)
            mean = MISSING_DASH if one is None else format_figure(one["mean"], one["scale"])
            cells.append(mean if told else f"{mean} ({one['missing']:,} missing)")
        columns.append((variant["name"], cells))
    return columns


def build_comparison_columns(head: ReportData) -> list[list[ReportColumn]]:
    """A row for each comparison: what was decided, the differences, the pairs; empty where nothing was compared."""
    compared = head["decision"]["comparisons"]
    if not compared:
        return []
    layers = dict.fromkeys(name for one in compared for name in one["layers"])
    # The p-values that decided: of several treatments they are adjusted for their number.
    p = "p", [format_report_p_value(compared[0]["composite"])]
    if len(compared) > 1:
        cells = [MISSING_DASH if one["p"] is None else format_report_p_value(one) for one in compared]
        p = f"p, adjusted for {len(compared)}", cells
    pairs = {"pairs": "pairs", "better": "wins", "equal": "ties", "worse": "losses"}
    return _drop_unmeasured_columns(
        [
            [("comparison", [f"{one['treatment']} − {one['control']}" for one in compared])],
            [
                ("verdict", [one["verdict"] for one in compared]),
                ("composite", [format_reported_estimate(one["composite"]) for one in compared]),
                p,
            ],
            [(name, [format_reported_estimate(one["layers"].get(name)) for one in compared]) for name in layers],
            [
                *((name, [f"{one[key]:,}" for one in compared]) for name, key in pairs.items()),
                ("lost by treatment", _format_report_counts([one["lost_by_treatment"] for one in compared])),
                ("lost by control", _format_report_counts([one["lost_by_control"] for one in compared])),
            ],
        ]
    )


def _format_report_counts(counts: Sequence[int]) -> list[str]:
    return [f"{count:,}" for count in counts] if any(counts) else [MISSING_DASH] * len(counts)


def list_report_layers(head: ReportData) -> list[str]:
    """The layers of any variant, in order."""
    return list(dict.fromkeys(layer for variant in head["variants"] for layer in variant["layers"]))


def list_report_criteria(head: ReportData) -> list[str]:
    """The criteria of any rubric and any variant, in order."""
    asked = [criterion["id"] for rubric in head["eval"]["rubrics"] for criterion in rubric["criteria"]]
    return list(dict.fromkeys([*asked, *(id for variant in head["variants"] for id in variant["criteria"])]))
