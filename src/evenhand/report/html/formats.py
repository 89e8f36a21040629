"""Template filters: numbers, times, money and links as the page writes them."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any
from urllib.parse import quote

from evenhand.report.phrases import (
    describe_reported_badge,
    describe_reported_badge_advice,
    describe_reported_badge_state,
    describe_samples_without_pair_in_report,
    format_report_p_value,
)
from evenhand.wording import (
    format_dollar_amount,
    format_figure,
    format_kept_figure,
    format_milliseconds,
    format_rounded,
    word_criterion,
)


def format_report_signed_number(value: float | None) -> str:
    """A difference: its sign is always written."""
    return format_figure(value, signed=True)


def format_report_short_number(value: float | None) -> str | None:
    """A number with the decimals it has, at most four."""
    return None if value is None else format_rounded(value, 4).rstrip("0").rstrip(".").replace("-", "−")


def format_report_count(value: float | None) -> str | None:
    """A whole number with thousands apart."""
    return None if value is None else format_rounded(value, 0)


def format_report_percent(share: float | None) -> str | None:
    """A share as per cent."""
    return None if share is None else f"{100 * share:.4g}%"


def format_report_duration(seconds: float | None) -> str | None:
    """A time in the unit that suits it."""
    if seconds is None:
        return None
    if seconds < 60:
        return format_milliseconds(1000 * seconds)
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def format_report_moment(written: str | None) -> str | None:
    """A day and a minute from ISO 8601, or the text as it is."""
    if written is None:
        return None
    try:
        when = datetime.fromisoformat(written)
    except ValueError:
        return written
    return f"{when.day} {when:%b %Y, %H:%M}" + (f" {when:%Z}" if when.tzinfo else "")


_MOMENTS = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?\b")


def write_reported_moments(sentence: str | None) -> str | None:
    """A sentence of a record, which has times as ISO 8601 writes them, with the times as pages write them."""
    return sentence and _MOMENTS.sub(lambda found: format_report_moment(found[0]) or "", sentence)


def format_report_scale(ends: Any) -> str | None:
    """A scale by its ends, or as it was written."""
    if isinstance(ends, list | tuple) and len(ends) == 2:
        return f"{format_report_short_number(ends[0])} to {format_report_short_number(ends[1])}"
    return None if ends is None else str(ends)


def format_report_interval(estimate: Mapping[str, Any] | None) -> str | None:
    """An interval by its two ends, or None where there is none."""
    if estimate is None or estimate["low"] is None or estimate["high"] is None:
        return None
    ends = estimate.get("scale")
    return f"{format_figure(estimate['low'], ends)} to {format_figure(estimate['high'], ends)}"


def describe_fingerprint_tag_in_report(tag: str) -> str:
    """What a fingerprint is of, by its tag: a rubric, or the question that an assertion asks."""
    kind, _, name = tag.partition(":")
    if kind in ("assertion", "sample") and name:
        return f"assertion {name}" if kind == "assertion" else f"rubric {name} of samples"
    return f"rubric for {tag or 'all'}"


def link_report_to_sample(id: str | None) -> str:
    """A sample's place on the page, for a link; halves of characters, which no address can hold, are replaced."""
    return "#sample=" + quote((id or "").encode("utf-16", "surrogatepass").decode("utf-16", "replace"), safe="")


TEMPLATE_FILTERS: dict[str, Callable[..., Any]] = {
    "number": format_figure,
    "kept": format_kept_figure,
    "signed": format_report_signed_number,
    "short": format_report_short_number,
    "count": format_report_count,
    "percent": format_report_percent,
    "dollars": format_dollar_amount,
    "chance": format_report_p_value,
    "duration": format_report_duration,
    "moment": format_report_moment,
    "scale": format_report_scale,
    "criterion": word_criterion,
    "bounds": format_report_interval,
    "marked": describe_fingerprint_tag_in_report,
    "place": link_report_to_sample,
    "without_pair": describe_samples_without_pair_in_report,
    "advised": describe_reported_badge_advice,
    "answered": describe_reported_badge,
    "short_answer": describe_reported_badge_state,
}
