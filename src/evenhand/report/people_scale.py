"""Scores on people's scale in words: what judges say of all outputs beside what people would, by labels on some."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenhand.wording import MISSING_DASH, format_number, format_percent, format_signed, pluralize_count

Json = Mapping[str, Any]
PEOPLE_SCALE_TITLE = "On people's scale [95% interval]"


def build_people_scale_columns(found: Json) -> dict[str, list[str]]:
    """A row for each estimate: the judges' number, people's, what the labels alone say, and how many there are."""
    rows = found["estimates"]
    several = len({one["question"] for one in rows if not _is_share(one)}) > 1
    columns = {
        "": [_name_estimate(one, several=several) for one in rows],
        "judges say": [_format_ends(one, one["judges"]) for one in rows],
        "people would": [_format_ends(one, one["people"]) for one in rows],
        "labels alone": [_format_ends(one, one["people"] and one["people"]["labels_only"]) for one in rows],
        "labelled": [f"{one['labelled']:,} of {one['outputs']:,}" for one in rows],
    }
    return columns if any(one["people"] for one in rows) else {name: columns[name] for name in ("", "labelled")}


def describe_people_scale(found: Json) -> list[str]:
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


def _is_share(one: Json) -> bool:
    return str(one["kind"]).endswith(("pass rate", "pass rates"))


def _name_estimate(one: Json, *, several: bool) -> str:
    what = "passing" if _is_share(one) else "score" if one["question"] == "score" or not several else one["question"]
    who = one["variant"] if one["control"] is None else f"{one['variant']} − {one['control']}"
    return f"{who}: {what}"


def _format_ends(one: Json, interval: Json | None) -> str:
    """An estimate with its interval; without one where it is known."""
    if interval is None:
        return MISSING_DASH
    signed = one["control"] is not None

    def show(value: float) -> str:
        if _is_share(one) and not signed:
            return format_percent(value)
        return format_signed(value) if signed else format_number(value)

    middle, low, high = (show(interval[name]) for name in ("estimate", "low", "high"))
    return middle if interval["low"] == interval["high"] else f"{middle} [{low}, {high}]"
