"""A cascade in words: every figure on the strong judge's scale, what the cheap judge alone would have missed, and what
was saved.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.wording import (
    MISSING_DASH,
    format_dollar_amount,
    format_number,
    format_percent,
    format_signed,
    pluralize_count,
)

Json = Mapping[str, Any]
CASCADE_TITLE = "On the strong judge's scale [95% interval]"


def build_cascade_columns(found: Json) -> dict[str, list[str]]:
    """A row for each figure: the cheap judge's own number, and the strong judge's over all samples."""
    rows = found["estimates"]
    return {
        "": [_name_estimate(one) for one in rows],
        "cheap alone": [_format_value(one, one["strong"] and one["strong"]["cheap"]) for one in rows],
        "strong judge": [_format_ends(one) for one in rows],
        "seen": [_format_seen(one["strong"]) for one in rows],
    }


def describe_cascade(found: Json) -> list[str]:
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
    lines += [*_describe_missed(found["missed"]), *_describe_saved(found["saved"])]
    whys = dict.fromkeys(one["why"] for one in found["estimates"] if one["why"])
    return [*lines, *(f"{MISSING_DASH} {why}" for why in whys)]


def _describe_missed(missed: Json | None) -> list[str]:
    if missed is None:
        return []
    parts = [f"{missed[name]:,} of {missed[f'{name}_of']:,} {where}" for name, where in _WHERE if missed[f"{name}_of"]]
    if not parts:
        return []
    rest = ""
    if missed["unseen"] is not None and missed["unseen_of"]:
        rest = f"; so about {missed['unseen']:.0f} of the {missed['unseen_of']:,} that only the cheap judge saw"
    return [f"Cheap judge alone, another verdict on {' and '.join(parts)}{rest}."]


_WHERE = (("near", "outputs near a threshold"), ("drawn", "drawn at random"))


def _describe_saved(saved: Json) -> list[str]:
    if not saved["calls_saved"]:
        return ["Nothing was saved: the strong judge saw every sample."]
    cost = "" if saved["cost_saved"] is None else f", about {format_dollar_amount(saved['cost_saved'])}"
    return [f"Saved {pluralize_count(saved['calls_saved'], 'call')} of the strong judge{cost}."]


def _name_estimate(one: Json) -> str:
    if one["control"] is not None:
        return f"{one['variant']} − {one['control']}: composite"
    return f"{one['variant']}: {'passing' if one['kind'] == 'pass rate' else one['kind']}"


def _format_value(one: Json, value: float | None) -> str:
    if value is None:
        return MISSING_DASH
    if one["control"] is not None:
        return format_signed(value)
    return format_percent(value) if one["kind"] == "pass rate" else format_number(value)


def _format_ends(one: Json) -> str:
    """An estimate with its interval; without one where it is known."""
    if one["strong"] is None:
        return MISSING_DASH
    middle, low, high = (_format_value(one, one["strong"][name]) for name in ("estimate", "low", "high"))
    return middle if one["strong"]["low"] == one["strong"]["high"] else f"{middle} [{low}, {high}]"


def _format_seen(found: Json | None) -> str:
    return MISSING_DASH if found is None else f"{found['near'] + found['drawn']:,} of {found['n']:,}"
