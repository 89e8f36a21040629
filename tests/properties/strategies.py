"""Hypothesis strategies for the domain: rubrics, answers, panels."""

from collections.abc import Callable
from typing import Any

from hypothesis import strategies as st

from evenhand import Rubric, load_rubric
from evenhand.files.methods import list_rubric_file_names
from evenhand.model.scale import Scale

OWN: list[dict[str, Any]] = [
    {"name": "mixed checklist", "criteria": [
        "a plain item",
        {"id": "heavy", "asks": "?", "weight": 2.5, "required": False},
        {"id": "ranged", "weight": 0.3, "score_ranges": {"0": "no", "5": "yes"}, "required_min_score": 4},
    ]},
    {"name": "oracle of five", "method": "oracle", "criteria": [
        {"id": "substantiveness", "asks": "?", "weight": 0.21, "fixed": True},
        {"id": "credibility", "asks": "?", "weight": 0.27, "fixed": True},
        {"id": "completeness", "asks": "?", "weight": 0.31, "fixed": True},
        {"id": "novelty", "asks": "?", "weight": 0.11},
        {"id": "fit", "asks": "?", "weight": 0.1},
    ]},
    {"name": "points", "method": "points", "criteria": [
        {"id": "a", "asks": "?", "points": 5},
        {"id": "b", "asks": "?", "points": 2.5},
        {"id": "c", "asks": "?", "points": 3, "scale": "1-5"},
        {"id": "d", "asks": "?", "points": 0.5},
    ]},
    {"name": "plain mean", "scale": {"min": 0, "max": 10, "decimals": 2}, "steps": ["weighted_mean"], "criteria": [
        {"id": "a", "asks": "?", "weight": 3},
        {"id": "b", "asks": "?", "weight": 0.5},
    ]},
    {"name": "tree", "method": "tree", "criteria": [
        {"id": "left", "weight": 3, "children": ["x", {"id": "deep", "children": [{"asks": "y", "weight": 2}, "z"]}]},
        {"id": "right", "asks": "?", "weight": 0.7},
    ]},
    {"name": "own method", "scale": {"min": 0, "max": 10, "decimals": 1}, "steps": [
        "weighted_sum",
        {"ceiling": {"criterion": "truth", "below": 6, "at": 5.5}},
        {"deduct": {"each": 0.7, "most": 1.5}},
        {"clamp": {"min": 0}},
        {"round": {"decimals": 1}},
    ], "criteria": [
        {"id": "truth", "asks": "?", "weight": 0.6},
        {"id": "form", "asks": "?", "weight": 0.4},
    ], "red_flags": ["rude", {"id": "false", "asks": "?", "amount": 1.1}]},
    {"name": "judge-skill with flags", "method": "judge-skill", "red_flags": [
        "one", "two", "three", "four", {"id": "five", "asks": "?", "amount": 1.25},
    ], "bonuses": ["neat", "quick", "kind", "short", "sharp"]},
]  # fmt: skip

RUBRICS: dict[str, Rubric] = {name: load_rubric(name) for name in list_rubric_file_names()}
RUBRICS |= {str(rubric["name"]): load_rubric(rubric) for rubric in OWN}

rubrics = st.sampled_from(sorted(RUBRICS)).map(RUBRICS.__getitem__)


def numbers_on(scale: Scale) -> st.SearchStrategy[Any]:
    """Plain numbers on a scale, as judges write them."""
    low, high = int(scale.min), int(scale.max)
    if scale.yes_no:
        return st.booleans()
    if scale.integers:
        return st.integers(low, high)
    tenths = st.integers(low * 10, high * 10).map(lambda number: number / 10)
    return st.one_of(st.integers(low, high), tenths, st.integers(low * 100, high * 100).map(lambda n: n / 100))


def answer_on(scale: Scale) -> st.SearchStrategy[Any]:
    """Answers as they stand in a file."""
    if not scale.bands:
        return numbers_on(scale)
    return numbers_on(scale).map(lambda number: banded(scale, number))


def banded(scale: Scale, number: int) -> dict[str, object]:
    """A number with the band it lies in."""
    return {"band": next(band.id for band in scale.bands if band.min <= number <= band.max), "score": number}


@st.composite
def scored(draw: Callable[[st.SearchStrategy[Any]], Any], rubric: Rubric) -> dict[str, Any]:
    """A complete output, without its id."""
    scores = {id: draw(answer_on(leaf.scale)) for id, leaf in rubric.leaves.items()}
    flags = [flag.id for flag in rubric.red_flags if draw(st.booleans())]
    bonuses = [bonus.id for bonus in rubric.bonuses if draw(st.booleans())]
    unsafe = draw(st.sampled_from([None, None, "malware_hacking"]))
    return {"scores": scores, "red_flags": flags, "bonuses": bonuses, "unsafe": unsafe}
