"""Why the scores of two runs are not comparable, part by part."""

from copy import deepcopy
from typing import Any

import pytest

from evenhand.compare.setup_differences import list_compared_run_differences, list_setup_differences

Data = dict[str, Any]


def setup() -> Data:
    criterion = {"id": "tone", "asks": "Is it kind?", "weight": "1/1", "required": True, "anchors": []}
    shown = {"id": "tone", "asks": "Is it kind?", "weight": 1.0, "scale": "1–5", "ends": [1.0, 5.0]}
    method = {"name": "council", "about": "", "steps": [{"aggregate": "mean"}], "verdicts": []}
    return {
        "frame": {"assertions": ["contains 'x'"],
                  "rubrics": [{"name": "r", "method": "council", "about": "", "tags": [], "criteria": [shown]}]},
        "rubrics": {"": {"name": "r", "about": "", "method": method, "criteria": [criterion], "gates": [],
                         "red_flags": []}},
        "assertions": [{"kind": "contains", "arguments": {"text": "x"}, "weight": "1", "not": False}],
        "judges": [{"name": "a", "weight": "1/1", "temperature": 0.0, "max_tokens": None}],
        "prompts": {"system": "Judge.", "pointwise": "Score."},
        "how": {"refuse": False, "seed": 3},
    }  # fmt: skip


def change(*path: Any, to: Any) -> Any:
    def changed(data: Data) -> None:
        inner: Any = data
        for part in path[:-1]:
            inner = inner[part]
        inner[path[-1]] = to

    return changed


RUBRIC = ("rubrics", "")
FRAME = ("frame", "rubrics", 0)
OTHER = {"name": "b", "weight": "1/1", "temperature": 0.0, "max_tokens": None}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (change("judges", 0, "name", to="b"), ["judge: a → b"]),
        (change("frame", "composite", to={"standardise": "z"}), ["composite: standardise none → z"]),
        (
            change("frame", "composite", to={"weights": {"fact": "3", "judge": "1"}, "why": "?"}),
            ["composite: weights none → \"fact 3, judge 1\""],
        ),
        (change("judges", to=[*setup()["judges"], OTHER]), ["judges: a → a, b"]),
        (change("judges", to=[]), ["judges: a → none"]),
        (change("judges", 0, "temperature", to=0.5), ["judge a: temperature 0 → 0.5"]),
        (change("judges", 0, "max_tokens", to=100), ["judge a: max_tokens none → 100"]),
        (change("prompts", "system", to="Judge well."), ["prompt system: changed"]),
        (change("prompts", to={"system": "Judge."}), ["prompt pointwise: removed"]),
        (change("prompts", "likely", to="?"), ["prompt likely: added"]),
        (change(*FRAME, "method", to="points"), ["method: council → points"]),
        (change(*FRAME, "criteria", 0, "weight", to=2.0), ["criterion tone: weight 1 → 2"]),
        (change(*FRAME, "criteria", 0, "asks", to="Is it kind to all who read it?"),
         ['criterion tone: asks "Is it kind?" → "Is it kind to all who read it?"']),
        (change("judges", 0, "weight", to="69307/500000"), ["judge a: weight 1 → 0.138614"]),
        (change(*FRAME, "criteria", 0, "scale", to="1–10"), ["criterion tone: scale 1–5 → 1–10"]),
        (change(*FRAME, "criteria", to=[]), ["criterion tone: removed"]),
        (change(*RUBRIC, "criteria", 0, "required", to=False), ["criterion tone: required yes → no"]),
        (change(*RUBRIC, "criteria", 0, "anchors", to=["a"]), ["criterion tone: anchors changed"]),
        (change(*RUBRIC, "method", "steps", to=[]), ["method: steps changed"]),
        (change(*RUBRIC, "red_flags", to=["x"]), ["rubric: red_flags changed"]),
        (change(*RUBRIC, "gates", to=[{"criterion": "tone", "min": "3/1"}]), ["rubric: gates changed"]),
        (change(*FRAME, "tags", to=["hard"]), ["rubric: removed", "rubric for hard: added"]),
        (change("assertions", 0, "arguments", to={"text": "y"}), ["assertion removed: contains 'x'",
                                                                  "assertion added: contains 'x'"]),
        (change("assertions", 0, "weight", to="3/2"), ["assertion contains 'x': weight 1 → 1.5"]),
        (change("assertions", 0, "not", to=True), ["assertion removed: contains 'x'",
                                                   "assertion added: contains 'x'"]),
        (change("how", "refuse", to=True), ["how: refuse no → yes"]),
    ],
)  # fmt: skip
def test_what_differs_is_named(change: Any, says: list[str]) -> None:
    """By what somebody wrote into an eval file, not by a digest."""
    changed = deepcopy(setup())
    change(changed)

    assert sorted(list_setup_differences(setup(), changed)) == sorted(says)


def test_long_texts_are_cut_to_where_they_differ() -> None:
    """Two beginnings that are alike would show nothing."""
    start = "Does the answer say which page to open and what "
    first, second = setup(), setup()
    change(*FRAME, "criteria", 0, "asks", to=f"{start}to press there?")(first)
    change(*FRAME, "criteria", 0, "asks", to=f"{start}the customer has to do there,\nstep by step?")(second)

    assert list_setup_differences(first, second) == [
        'criterion tone: asks "…n and what to press there?" → "…n and what the customer has to do there,…"'
    ]


def test_each_of_several_assertions_is_held_against_its_own() -> None:
    """One weighed anew, one gone, one new, one twice as often; what stayed is not named, and order does not count."""

    def assertion(text: str, weight: str = "1") -> Data:
        return {"kind": "contains", "arguments": {"text": text}, "weight": weight, "not": False}

    first, second = setup(), setup()
    first["assertions"] = [assertion("a"), assertion("b"), assertion("c"), assertion("d")]
    second["assertions"] = [assertion("d"), assertion("e"), assertion("b", "2"), assertion("c"), assertion("c")]
    first["frame"]["assertions"], second["frame"]["assertions"] = list("abcd"), list("debcc")

    assert list_setup_differences(first, second) == [
        "assertion b: weight 1 → 2",
        "assertion removed: a",
        "assertion added: e",
        "assertion added: c",
    ]


@pytest.mark.parametrize(
    "change", [change(*RUBRIC, "name", to="q"), change(*RUBRIC, "method", "about", to="q"), change("how", "seed", to=4)]
)
def test_what_changes_no_score_is_not_named(change: Any) -> None:
    """Names are for readers."""
    changed = deepcopy(setup())
    change(changed)

    assert list_setup_differences(setup(), changed) == []


RUN = {"gates": {"judge": "7/2"}, "guards": [], "control": "old", "repeats": 1, "smallest_effect": "1/2"}
VARIANTS = {"old": {"recorded": "with the samples"}, "new": {"model": "m", "prompt": "Be brief."}}


def run_setup() -> Data:
    known = setup()
    return {**known, "frame": {**known["frame"], **deepcopy(RUN)}, "variants": deepcopy(VARIANTS)}


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (change("variants", "new", "prompt", to="Be very brief."), ["variant new: changed"]),
        (change("variants", "third", to={"recorded": "1"}), ["variant third: added"]),
        (change("variants", to={"old": VARIANTS["old"]}), ["variant new: removed"]),
        (change("frame", "gates", "judge", to="4"), ["gates changed"]),
        (change("frame", "guards", to=["injection"]), ["guards changed"]),
        (change("frame", "repeats", to=3), ["eval: repeats 1 → 3"]),
        (change("how", "seed", to=4), ["how: seed 3 → 4"]),
        (change("judges", 0, "name", to="b"), ["judge: a → b"]),
        (change("variants", "old", to=VARIANTS["old"]), ["samples"]),
    ],
)
def test_a_run_that_cannot_be_continued_says_what_changed(change: Any, says: list[str]) -> None:
    """By name: whoever is told of variants, samples or gates must look through all of them."""
    changed = run_setup()
    change(changed)

    assert list_compared_run_differences(run_setup(), changed) == says


def test_the_folder_of_a_program_may_have_changed_where_there_is_one() -> None:
    """A run does not keep it."""
    known = {**run_setup(), "variants": {"new": {"command": ["./make"]}}}

    assert list_compared_run_differences(known, deepcopy(known)) == ["samples, or the folder of a program"]
