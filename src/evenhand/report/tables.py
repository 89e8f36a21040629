"""The tables that every reader sees: variants with their scores and counts, criteria, comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report.phrases import ReportData, format_report_p_value, format_reported_difference, format_reported_mean
from evenhand.wording import MISSING_DASH, format_dollar_amount, format_figure, format_milliseconds

VERDICT_WORDS = ("pass", "borderline", "fail")

ReportColumn = tuple[str, list[str]]  # A name and the cells below it.


def build_variant_columns(head: ReportData) -> list[list[ReportColumn]]:
    """A row for each variant: names, scores, counts, costs; columns in which nothing was measured are left out."""
    variants, assertions = head["variants"], [one["assertions"] for one in head["variants"]]
    roles = [" (control)" if one["role"] == "control" and len(variants) > 1 else "" for one in variants]
    names = [f"{one['name']}{role}" for one, role in zip(variants, roles, strict=True)]
    scores = [(name, [format_reported_mean(one[name]) for one in variants]) for name in ("score", "composite")]
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
                ("composite", [format_reported_difference(one["composite"]) for one in compared]),
                p,
            ],
            [(name, [format_reported_difference(one["layers"].get(name)) for one in compared]) for name in layers],
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
