"""What a failed test says: where it was asked, what falls short, and what judges and assertions found."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evenhand.guards import hider
from evenhand.pytest_plugin._thresholds import ASSERTION
from evenhand.pytest_plugin._verdict import ScoredOutput
from evenhand.report._inert import folded

Json = Mapping[str, Any]
LONGEST = 300  # Characters of one text.
MOST = 20  # Criteria.


def message_of(scored: ScoredOutput, place: str) -> str:
    """The message to fail with; empty where the output passes. Personal data is masked, and nothing in it acts."""
    if not scored.problems:
        return ""
    output = scored.data["output"]["text"]
    hide = hider([output])

    def shown(text: object) -> str:
        return folded(hide(str(text)), LONGEST)

    first, *others = map(shown, scored.problems)
    lines = [f"{first} ({place})", *(f"also: {one}" for one in others if not one.startswith(ASSERTION))]
    lines += _assertions(scored, shown)
    lines += _criteria(scored, shown)
    return "\n".join([*lines, f"output: {shown(output) or 'empty'}"])


def _assertions(scored: ScoredOutput, shown: Callable[[object], str]) -> Iterator[str]:
    for one in _open(scored.assertions):
        failed = one["passed"] is False
        yield f"{ASSERTION if failed else 'assertion not answered'}: {shown(one['name'])}"
        yield f"    looked for: {shown(one['looked_for'])}"
        yield f"    found: {shown(one['found'] or 'nothing')}" if failed else f"    why not: {shown(one['why_not'])}"


def _open(assertions: Any) -> Iterator[Json]:
    """The assertions that did not pass, and inside sets theirs."""
    for one in assertions:
        if one["passed"] is not True:
            yield one
            yield from _open(one["parts"])


def _criteria(scored: ScoredOutput, shown: Callable[[object], str]) -> Iterator[str]:
    """What judges said on criteria that are not fully met, the lowest first."""
    lacking = sorted((one for one in scored.judgments if _share(scored, one) < 1), key=lambda one: _share(scored, one))
    for one in lacking[:MOST]:
        score = "no answer" if one["score"] is None else f"{one['score']:g}{_of(scored, one['criterion'])}"
        yield f"criterion {shown(one['criterion'])}: {score} by {shown(one['judge'])}"
        why = one["why_not"] or one["reason"]
        if why:
            yield f"    {shown(why)}"
        yield from (f"    quoted: {shown(quote['text'])}" for quote in one["evidence"])
    if len(lacking) > MOST:
        yield f"and {len(lacking) - MOST} more criteria that are not fully met"


def _share(scored: ScoredOutput, one: Json) -> float:
    """How much of a criterion is met; what was not answered comes first."""
    if one["score"] is None:
        return -1.0
    low, high = scored.scales.get(one["criterion"], (0.0, 1.0))
    return float((one["score"] - low) / (high - low))


def _of(scored: ScoredOutput, criterion: str) -> str:
    ends = scored.scales.get(criterion)
    return f" of {ends[0]:g}–{ends[1]:g}" if ends else ""
