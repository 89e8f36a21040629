"""Pairs of a run in words: who is preferred to whom, how strong each variant is, and which judges follow the place."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.report.phrases import ReportColumn, ReportData
from evenhand.wording import MISSING_DASH


@dataclass(frozen=True, slots=True, kw_only=True)
class PreferenceTable:
    """A table with its title, and what its numbers mean."""

    title: str
    columns: list[ReportColumn]
    note: str


def build_report_preference_tables(head: ReportData) -> list[PreferenceTable]:
    """The tables of a run whose judges compared outputs in pairs; empty for any other."""
    found = head.get("preferences")
    if not found:
        return []
    tables = [_build_report_pair_table(found["pairs"])]
    if found["strengths"] and found["strengths"]["variants"]:
        tables.append(_build_report_strength_table(found))
    if found["position_bias"]:
        tables.append(_build_report_position_table(found["position_bias"]))
    return tables


def _build_report_pair_table(pairs: list[ReportData]) -> PreferenceTable:
    columns = [("pair", [f"{one['first']} over {one['second']}" for one in pairs])]
    columns += [(name, [f"{one[name]:,}" for one in pairs]) for name in ("won", "tied", "lost")]
    if any(one["undecided"] for one in pairs):
        columns.append(("undecided", [f"{one['undecided']:,}" for one in pairs]))
    columns.append(("preferred", [_format_report_share(one["rate"], one["low"], one["high"]) for one in pairs]))
    note = "Each pair is asked about in both orders. A judge that names the same place both times counts as a tie."
    return PreferenceTable(title="Pairs", columns=columns, note=note)


def _build_report_strength_table(found: ReportData) -> PreferenceTable:
    variants, control = found["strengths"]["variants"], found["of"]
    columns = [
        ("strength", [one["variant"] for one in variants]),
        (f"over {control}", [f"{one['preferred']:.0%}" for one in variants]),
        ("log odds", [_format_report_log_odds(one, control) for one in variants]),
    ]
    note = f"Bradley–Terry: all pairs in one model, each variant against {control}."
    return PreferenceTable(title="Strengths", columns=columns, note=note)


def _build_report_position_table(judges: list[ReportData]) -> PreferenceTable:
    columns = [
        ("position bias", [one["judge"] for one in judges]),
        ("pairs", [f"{one['pairs']:,}" for one in judges]),
        ("followed the place", [_format_report_share(one["share"], one["low"], one["high"]) for one in judges]),
        ("the first", [f"{one['first_place']:,} of {one['followed_place']:,}" for one in judges]),
    ]
    note = "Pairs in which a judge named the same place in both orders, and how often that was the first place."
    return PreferenceTable(title="Position bias", columns=columns, note=note)


def _format_report_share(share: float | None, low: float | None, high: float | None) -> str:
    if share is None:
        return MISSING_DASH
    return f"{share:.0%}" if low is None or high is None else f"{share:.0%} [{low:.0%}, {high:.0%}]"


def _format_report_log_odds(one: ReportData, control: str) -> str:
    if one["variant"] == control:
        return "0"
    return f"{one['log_odds']:+.2f} [{one['low']:.2f}, {one['high']:.2f}]".replace("-", "−")
