"""The tables that every reader sees: variants with their scores and counts, criteria, comparisons."""

from __future__ import annotations

from collections.abc import Sequence

from evenhand.report.phrases import ReportData, format_report_p_value, format_reported_difference, format_reported_mean
from evenhand.wording import MISSING_DASH, format_dollar_amount, format_figure, format_milliseconds

VERDICT_WORDS = ("pass", "borderline", "fail")

ReportColumn = tuple[str, list[str]]  # A name and the cells below it.


def build_variant_columns(head: ReportData) -> list[list[ReportColumn]]:
    """A row for each variant: names, scores, counts, costs; columns in which nothing was measured are left out."""
    variants = head["variants"]
    names = [("variant", [name_report_variant(one, of=len(variants)) for one in variants])]
    groups = [names, _build_score_columns(head), _build_count_columns(variants), _build_cost_columns(variants)]
    return _drop_unmeasured_columns(groups)


def _drop_unmeasured_columns(groups: Sequence[Sequence[ReportColumn]]) -> list[list[ReportColumn]]:
    measured = [[(name, cells) for name, cells in group if set(cells) != {MISSING_DASH}] for group in groups]
    return [group for group in measured if group]


def _build_score_columns(head: ReportData) -> list[ReportColumn]:
    variants = head["variants"]
    layers = list_report_layers(head)
    return [
        ("score", [format_reported_mean(one["score"]) for one in variants]),
        ("composite", [format_reported_mean(one["composite"]) for one in variants]),
        *((name, [_format_layer_mean(one["layers"].get(name)) for one in variants]) for name in layers),
    ]


def _build_count_columns(variants: Sequence[ReportData]) -> list[ReportColumn]:
    decided = any(sum(one["verdicts"].values()) for one in variants)
    return [
        *((word, [f"{one['verdicts'].get(word, 0):,}" for one in variants]) for word in VERDICT_WORDS if decided),
        ("assertions", [_format_passed_assertions(one["assertions"]) for one in variants]),
        ("unanswered", _format_report_counts([one["assertions"]["unanswered"] for one in variants])),
        ("scored", [f"{one['scored']:,} of {one['results']:,}" for one in variants]),
        ("incomplete", _format_report_counts([one["incomplete"] for one in variants])),
        ("failed", _format_report_counts([one["failed"] for one in variants])),
    ]


def _build_cost_columns(variants: Sequence[ReportData]) -> list[ReportColumn]:
    paid = [whose for whose in ("outputs", "judges") if any(one["cost"][whose] for one in variants)]
    costs = {whose: [format_dollar_amount(one["cost"][whose]) for one in variants] for whose in paid}
    latency = [format_milliseconds((one["latency_ms"] or {}).get("median")) for one in variants]
    return [*((f"{whose.removesuffix('s')} cost", cells) for whose, cells in costs.items()), ("latency", latency)]


def build_criterion_columns(head: ReportData) -> list[ReportColumn]:
    """The criteria, and a column of means for each variant; empty where there are none."""
    ids = list_report_criteria(head)
    means = [[_format_criterion_mean(one, one["criteria"].get(id)) for id in ids] for one in head["variants"]]
    names = [one["name"] for one in head["variants"]]
    return [("criterion", ids), *zip(names, means, strict=True)] if ids else []


def build_comparison_columns(head: ReportData) -> list[list[ReportColumn]]:
    """A row for each comparison: what was decided, the differences, the pairs; empty where nothing was compared."""
    compared = head["decision"]["comparisons"]
    layers = dict.fromkeys(name for one in compared for name in one["layers"])
    groups = [
        [("comparison", [f"{one['treatment']} − {one['control']}" for one in compared])],
        [
            ("verdict", [one["verdict"] for one in compared]),
            ("composite", [format_reported_difference(one["composite"]) for one in compared]),
            _build_p_value_column(compared),
        ],
        [(name, [format_reported_difference(one["layers"].get(name)) for one in compared]) for name in layers],
        [
            ("pairs", [f"{one['pairs']:,}" for one in compared]),
            ("better", [f"{one['wins']:,}" for one in compared]),
            ("equal", [f"{one['ties']:,}" for one in compared]),
            ("worse", [f"{one['losses']:,}" for one in compared]),
            ("lost by treatment", _format_report_counts([one["lost_by_treatment"] for one in compared])),
            ("lost by control", _format_report_counts([one["lost_by_control"] for one in compared])),
        ],
    ]
    return _drop_unmeasured_columns(groups) if compared else []


def _build_p_value_column(compared: Sequence[ReportData]) -> ReportColumn:
    """The p-values that decided: of several treatments they are adjusted for their number."""
    if len(compared) == 1:
        return "p", [format_report_p_value(compared[0]["composite"])]
    cells = [MISSING_DASH if one["p"] is None else format_report_p_value(one) for one in compared]
    return f"p, adjusted for {len(compared)}", cells


def name_report_variant(variant: ReportData, *, of: int) -> str:
    """A variant's name; the control says that it is one, where there is something to compare it with."""
    return f"{variant['name']} (control)" if of > 1 and variant["role"] == "control" else str(variant["name"])


def _format_layer_mean(summary: ReportData | None) -> str:
    return MISSING_DASH if summary is None else format_figure(summary["mean"], summary["scale"])


def _format_criterion_mean(variant: ReportData, one: ReportData | None) -> str:
    """The mean; what is missing is told where the number of scored results does not tell it already."""
    if one is None:
        return MISSING_DASH
    told = one["missing"] in (0, variant["results"] - variant["scored"])
    return format_figure(one["mean"], one["scale"]) + ("" if told else f" ({one['missing']:,} missing)")


def _format_passed_assertions(counts: ReportData) -> str:
    total = counts["passed"] + counts["failed"]
    return f"{counts['passed']:,} of {total:,}" if total else MISSING_DASH


def _format_report_counts(counts: Sequence[int]) -> list[str]:
    return [f"{count:,}" for count in counts] if any(counts) else [MISSING_DASH] * len(counts)


def list_report_layers(head: ReportData) -> list[str]:
    """The layers of any variant, in order."""
    return list(dict.fromkeys(layer for variant in head["variants"] for layer in variant["layers"]))


def list_report_criteria(head: ReportData) -> list[str]:
    """The criteria of any rubric and any variant, in order."""
    asked = [criterion["id"] for rubric in head["eval"]["rubrics"] for criterion in rubric["criteria"]]
    return list(dict.fromkeys([*asked, *(id for variant in head["variants"] for id in variant["criteria"])]))
