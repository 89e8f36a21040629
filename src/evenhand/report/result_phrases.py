"""A rubric and parts of a run in words: steps, pairs, costs, a cascade on the strong judge's scale, and people's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields
from fractions import Fraction
from typing import Any

from evenhand.model.method import Method, Step
from evenhand.model.scale import Anchor, Scale
from evenhand.report.phrases import ReportColumn, ReportData
from evenhand.wording import (
    MISSING_DASH,
    format_dollar_amount,
    format_fraction,
    format_number,
    format_percent,
    format_rounded,
    format_signed,
    join_names,
    pluralize_count,
    word_criterion,
    word_gate,
)

Json = Mapping[str, Any]
CASCADE_TITLE = "On the strong judge's scale [95% interval]"


def build_cascade_table_columns(found: Json) -> dict[str, list[str]]:
    """A row for each figure: the cheap judge's own number, and the strong judge's over all samples."""
    rows = found["estimates"]
    return {
        "": [_name_reported_cascade_estimate(one) for one in rows],
        "cheap alone": [_format_reported_value(one, one["strong"] and one["strong"]["cheap"]) for one in rows],
        "strong judge": [_format_reported_cascade_ends(one) for one in rows],
        "seen": [_format_reported_seen_share(one["strong"]) for one in rows],
    }


def describe_reported_cascade(found: Json) -> list[str]:
    """Who saw what, what would have been missed, what was saved, and why a figure is not there."""
    near, drawn, left = (found[name] for name in ("near", "drawn", "left"))
    seen = f"{near + drawn:,} of {pluralize_count(near + drawn + left, 'sample')}"
    lines = [
        f"{found['cheap']} saw all, {found['strong']} {seen}: {near:,} near a threshold, {drawn:,} at random. "
        "Intervals are about these samples; the verdict between variants also allows for other samples."
    ]
    if found["unanswered"]:
        outputs = pluralize_count(found["unanswered"], "output")
        lines.append(f"{found['strong']} gave no score for {outputs} that it was passed.")
    lines += [*_describe_reported_missed_verdicts(found["missed"]), *_describe_reported_savings(found["saved"])]
    whys = dict.fromkeys(one["why"] for one in found["estimates"] if one["why"])
    return [*lines, *(f"{MISSING_DASH} {why}" for why in whys)]


def _describe_reported_missed_verdicts(missed: Json | None) -> list[str]:
    if missed is None:
        return []
    parts = [f"{missed[name]:,} of {missed[f'{name}_of']:,} {where}" for name, where in _WHERE if missed[f"{name}_of"]]
    if not parts:
        return []
    rest = ""
    if missed["unseen"] is not None and missed["unseen_of"]:
        unseen = f"{format_rounded(missed['unseen'], 0)} of the {missed['unseen_of']:,}"
        rest = f"; so about {unseen} that only the cheap judge saw"
    return [f"Cheap judge alone, another verdict on {' and '.join(parts)}{rest}."]


_WHERE = (("near", "outputs near a threshold"), ("drawn", "drawn at random"))


def _describe_reported_savings(saved: Json) -> list[str]:
    if not saved["calls_saved"]:
        return ["Nothing was saved: the strong judge saw every sample."]
    cost = "" if saved["cost_saved"] is None else f", about {format_dollar_amount(saved['cost_saved'])}"
    return [f"Saved {pluralize_count(saved['calls_saved'], 'call')} of the strong judge{cost}."]


def _name_reported_cascade_estimate(one: Json) -> str:
    if one["control"] is not None:
        return f"{one['variant']} − {one['control']}: composite"
    words = {"pass rate": "passing", "judge layer": word_gate("judge")}
    return f"{one['variant']}: {words.get(one['kind'], one['kind'])}"


def _format_reported_value(one: Json, value: float | None) -> str:
    if value is None:
        return MISSING_DASH
    if one["control"] is not None:
        return format_signed(value)
    return format_percent(value) if one["kind"] == "pass rate" else format_number(value)


def _format_reported_cascade_ends(one: Json) -> str:
    """An estimate with its interval; without one where it is known."""
    if one["strong"] is None:
        return MISSING_DASH
    middle, low, high = (_format_reported_value(one, one["strong"][name]) for name in ("estimate", "low", "high"))
    return middle if one["strong"]["low"] == one["strong"]["high"] else f"{middle} [{low}, {high}]"


def _format_reported_seen_share(found: Json | None) -> str:
    return MISSING_DASH if found is None else f"{found['near'] + found['drawn']:,} of {found['n']:,}"


PEOPLE_SCALE_TITLE = "On people's scale [95% interval]"


def build_people_scale_table_columns(found: Json) -> dict[str, list[str]]:
    """A row for each estimate: the judges' number, people's, what the labels alone say, and how many there are."""
    rows = found["estimates"]
    several = len({one["question"] for one in rows if not _is_reported_share(one)}) > 1
    columns = {
        "": [_name_reported_people_estimate(one, several=several) for one in rows],
        "judges say": [_format_reported_people_ends(one, one["judges"]) for one in rows],
        "people would": [_format_reported_people_ends(one, one["people"]) for one in rows],
        "labels alone": [
            _format_reported_people_ends(one, one["people"] and one["people"]["labels_only"]) for one in rows
        ],
        "labelled": [f"{one['labelled']:,} of {one['outputs']:,}" for one in rows],
    }
    return columns if any(one["people"] for one in rows) else {name: columns[name] for name in ("", "labelled")}


def describe_reported_people_scale(found: Json) -> list[str]:
    """What the numbers rest on, and why there are none where there are none."""
    people = pluralize_count(found["raters"], "person", "people")
    outputs = pluralize_count(found["outputs"], "output")
    drawn = ", drawn with unequal chances that are weighed back" if found["weighted"] else ""
    whys = dict.fromkeys(one["why"] for one in found["estimates"] if one["why"])
    return [
        f"{pluralize_count(found['labels'], 'label')} by {people} on {outputs}{drawn}.",
        *found["notes"],
        *(f"{MISSING_DASH} {why}" for why in whys),
    ]


def _is_reported_share(one: Json) -> bool:
    return str(one["kind"]).endswith(("pass rate", "pass rates"))


def _name_reported_people_estimate(one: Json, *, several: bool) -> str:
    what = (
        "passing"
        if _is_reported_share(one)
        else "score"
        if one["question"] == "score" or not several
        else word_criterion(one["question"])
    )
    who = one["variant"] if one["control"] is None else f"{one['variant']} − {one['control']}"
    return f"{who}: {what}"


def _format_reported_people_ends(one: Json, interval: Json | None) -> str:
    """An estimate with its interval; without one where it is known."""
    if interval is None:
        return MISSING_DASH
    signed = one["control"] is not None

    def show(value: float) -> str:
        if _is_reported_share(one) and not signed:
            return format_percent(value)
        return format_signed(value) if signed else format_number(value)

    middle, low, high = (show(interval[name]) for name in ("estimate", "low", "high"))
    return middle if interval["low"] == interval["high"] else f"{middle} [{low}, {high}]"


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
    note = "Each pair is asked about in both orders. A judge that names the same position both times counts as a tie."
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
        ("followed the position", [_format_report_share(one["share"], one["low"], one["high"]) for one in judges]),
        ("the first one", [f"{one['first_place']:,} of {one['followed_place']:,}" for one in judges]),
    ]
    note = "Pairs in which a judge named the same position in both orders, and how often that was the first one."
    return PreferenceTable(title="Position bias", columns=columns, note=note)


def _format_report_share(share: float | None, low: float | None, high: float | None) -> str:
    if share is None:
        return MISSING_DASH
    return f"{share:.0%}" if low is None or high is None else f"{share:.0%} [{low:.0%}, {high:.0%}]"


def _format_report_log_odds(one: ReportData, control: str) -> str:
    if one["variant"] == control:
        return "0"
    return f"{format_signed(one['log_odds'])} [{format_number(one['low'])}, {format_number(one['high'])}]"


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodStepPhrase:
    """A step of a method: its word, what it is given, and what it does."""

    word: str
    given: tuple[str, ...]
    about: str


def list_reported_method_steps(method: Method) -> list[MethodStepPhrase]:
    """Each step of a method, in order."""
    return [
        MethodStepPhrase(
            word=step.word,
            given=tuple(_list_reported_step_parameters(step)),
            about=(step.__doc__ or "").splitlines()[0].replace("`", ""),
        )
        for step in method.steps
    ]


def _list_reported_step_parameters(step: Step) -> Iterator[str]:
    for field in fields(step):
        value = getattr(step, field.name)
        if value is not None:
            shown = format_fraction(value) if isinstance(value, Fraction) else str(value)
            yield f"{field.name.rstrip('_')} {shown.lower() if isinstance(value, bool) else shown}"


def describe_reported_method_scale(method: Method) -> str:
    """The ends of the score, and its decimals."""
    places = method.scale.decimals
    decimals = "exact" if places is None else "1 decimal" if places == 1 else f"{places} decimals"
    return f"{format_fraction(method.scale.min)}–{format_fraction(method.scale.max)}, {decimals}"


def format_reported_anchor_place(anchor: Anchor, scale: Scale) -> str:
    """The levels that an anchor pins."""
    if scale.yes_no:
        return format_reported_scale_score(anchor.min, scale)
    least, most = format_fraction(anchor.min), format_fraction(anchor.max)
    ends = least if anchor.min == anchor.max else f"{least}–{most}"
    return next((band.id for band in scale.bands if (band.min, band.max) == (anchor.min, anchor.max)), ends)


def format_reported_scale_score(score: Fraction, scale: Scale) -> str:
    """A score as an answer on its scale."""
    return ("yes" if score else "no") if scale.yes_no else format_fraction(score)


UNKNOWN_COST = "unknown"


def describe_reported_cost(cost: ReportData) -> str:
    """What a run cost, or at least: $0.41, or at least $0.20; 24 calls of openai/NAME have no known price."""
    known, unpriced = describe_reported_known_cost(cost), describe_reported_unpriced_calls(cost)
    return (": " if known == UNKNOWN_COST else "; ").join(filter(None, (known, unpriced)))


def describe_reported_known_cost(cost: ReportData) -> str:
    """What a run cost, or what it cost at least where some price is unknown; nothing known is not $0."""
    cost = leave_recorded_cost_out_of_report(cost)
    if not cost["unpriced"]:
        return format_dollar_amount(cost["total"])
    least = cost.get("at_least")
    return f"at least {format_dollar_amount(least)}" if least else UNKNOWN_COST


def leave_recorded_cost_out_of_report(cost: ReportData) -> ReportData:
    """What was spent on a run: what recorded outputs had cost before is none of it. Earlier runs do not tell it."""
    recorded = cost.get("recorded") or 0
    spent = {name: cost.get(name) and round(cost[name] - recorded, 12) for name in ("outputs", "total", "at_least")}
    return {**cost, **spent}


def describe_reported_recorded_cost(cost: ReportData) -> str:
    """What recorded outputs had cost before; empty where nothing is known of it."""
    recorded = cost.get("recorded")
    return f"recorded outputs had cost {format_dollar_amount(recorded)} before" if recorded else ""


def describe_reported_unpriced_calls(cost: ReportData) -> str:
    """Whose calls have no known price: 24 calls of openai/NAME have no known price; empty where all have one."""
    if not cost["unpriced"]:
        return ""
    named = cost.get("unpriced_calls") or {}  # Earlier versions kept the number alone.
    calls = [f"{pluralize_count(count, 'call')} of {name}" for name, count in named.items()]
    has = "has" if cost["unpriced"] == 1 else "have"
    return f"{join_names(calls or [pluralize_count(cost['unpriced'], 'call')])} {has} no known price"


def list_reported_cost_parts(cost: ReportData) -> list[str]:
    """What a run cost, on what it was spent, and what recorded outputs had cost before."""
    parts = {"outputs": leave_recorded_cost_out_of_report(cost)["outputs"] or None, "judges": cost["judges"]}
    shown = [f"{name} {format_dollar_amount(one)}" for name, one in parts.items() if one is not None]
    return list(filter(None, [f"cost {describe_reported_cost(cost)}", *shown, describe_reported_recorded_cost(cost)]))
