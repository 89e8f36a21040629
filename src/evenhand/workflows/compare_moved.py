"""The samples of a comparison that moved most, for pages that show why it came out as it did."""

from __future__ import annotations

from evenhand.runs.columns import join_run_result_rows
from evenhand.runs.moved_samples import SampleMove, find_moved_samples
from evenhand.workflows.compare import CompareResult

MOST_MOVED_SAMPLES = 12


def list_moved_samples(found: CompareResult, most: int = MOST_MOVED_SAMPLES) -> dict[str, list[SampleMove]]:
    """For each treatment, by its name, the samples that differ most from the control."""
    sides = (found.control, *found.treatments)
    if len(sides) < 2:
        return {}
    pairs = join_run_result_rows([side.member for side in sides])
    return {side.name: find_moved_samples(pairs, place, most) for place, side in enumerate(sides) if place}
