"""What a page shows of labelling: how many labels give which width, and whether a person agrees with themselves."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from evenhand.report.html.trust_section import NOT_SETTLED, TRUST_LOOKS
from evenhand.wording import MISSING_DASH, format_number, format_percent, pluralize_count


def build_labelling_progress(found: Any, trust: Mapping[str, Any] | None) -> dict[str, Any]:
    """All that the template is given of how far labelling is; `trust` is the JSON of it, where it is known."""
    people, outputs = pluralize_count(len(found.raters), "person", "people"), pluralize_count(found.outputs, "output")
    return {
        "run": {"id": found.run},
        "labelled": f"{pluralize_count(found.labels, 'label')} by {people} on {outputs}",
        "cannot_say": found.cannot_say,
        "trust": trust,
        "trust_tone": TRUST_LOOKS.get(trust["answer"], NOT_SETTLED)[1] if trust else "",
        "no_trust": found.no_trust,
        "consistency": _describe_consistency(found.consistency),
        "width_columns": [_name_more(more) for more in found.widths],
        "width_rows": _list_width_rows(found.widths),
    }


def _name_more(more: int) -> str:
    return "now" if more == 0 else f"+{more:,} samples"


def _list_width_rows(widths: Mapping[int, Sequence[Any]]) -> list[tuple[str, list[str]]]:
    """A row for each estimate: the width of its interval now, and with so many labelled samples more."""
    first = next(iter(widths.values()), ())
    return [
        (_name_estimate(one), [_format_width(several[place], more) for more, several in widths.items()])
        for place, one in enumerate(first)
    ]


def _name_estimate(one: Any) -> str:
    who = one.variant if one.control is None else f"{one.variant} − {one.control}"
    return f"{who}: {one.kind}"


def _format_width(one: Any, more: int) -> str:
    if more == 0:
        return MISSING_DASH if one.now is None else f"±{format_number(one.now / 2)}"
    return MISSING_DASH if one.then is None or one.at != one.labelled_then else f"±{format_number(one.then / 2)}"


def _describe_consistency(found: Any | None) -> str:
    if found is None:
        return ""
    share = format_percent(found.same / found.answers)
    gap = "" if found.gap is None else f"; mean distance {format_percent(found.gap)} of the scale"
    return f"{found.same} of {pluralize_count(found.answers, 'answer')} the same when asked again ({share}){gap}."
