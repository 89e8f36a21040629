"""What a page shows of a sample that two runs have: the outputs that are compared, and no more."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from evenhand.report.html.sample_page import build_sample_report_page


@dataclass(frozen=True, slots=True, kw_only=True)
class ComparedReportSide:
    """One variant of one run that is held against another: what it is called beside it, its run and its sample."""

    name: str
    variant: str
    head: Mapping[str, Any]
    sample: Mapping[str, Any]


def build_compared_sample_report_page(sides: Sequence[ComparedReportSide]) -> dict[str, Any]:
    """The same for a sample of several runs, of which only what is compared is shown; the first is the control."""
    results = [
        # Each keeps where it is from, for links to it.
        {**one, "variant": side.name, "own_variant": side.variant, "run": side.head["run"]["id"],
         "position": side.sample["position"]}
        for side in sides
        for one in side.sample["results"]
        if one["variant"] == side.variant
    ]  # fmt: skip
    variants = [{"name": side.name, "role": "treatment" if place else "control"} for place, side in enumerate(sides)]
    last = sides[-1]
    return build_sample_report_page({**last.head, "variants": variants}, {**last.sample, "results": results})
