"""Probes: which outputs are asked again, in which order, and what looks say."""

from collections import Counter
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.calibrate.probes import (
    Probe,
    ProbeItem,
    ProbeLook,
    choose_probe_items,
    design_probe_detector,
    follow_probe,
)
from evenhand.errors import InputError
from evenhand.model.sample import Sample
from evenhand.stats.drift import DriftDetector

DETECTOR = DriftDetector(threshold=4, losses=0.02, false_alarms=0.03, daily=4)


def item(number: int, *, people: bool = True, sealed: tuple[bool | None, ...] = (True, True)) -> ProbeItem:
    return ProbeItem(shown=Sample(id=f"s{number}", outputs={"new": "text"}), people=people, sealed=sealed)


def probe(*items: ProbeItem, detector: DriftDetector = DETECTOR) -> Probe:
    return Probe(
        name="p", at="2026-11-17T05:00:00+00:00", run="r", eval="e", judge="j", version="", fingerprint="f",
        gate="score at least 1", least={"score": 1.0}, rubric={}, options={}, repeats=2, items=items,
        detector=detector,
    )  # fmt: skip


def look(number: int, *answers: tuple[int, bool | None]) -> ProbeLook:
    return ProbeLook(number=number, at=f"2026-12-{number:02}T05:00:00+00:00", answers=answers)


def test_only_outputs_on_which_the_judge_was_right_every_time_are_asked_again() -> None:
    """One that wavered or was wrong says little when it is wrong once more; not to assess it is not to be right."""
    found = probe(item(0), item(1, sealed=(True, False)), item(2, people=False), item(3, sealed=(True, None)), item(4))

    assert found.firm == [0, 4]
    assert found.agreement == pytest.approx(6 / 10)
    assert sorted(choose_probe_items(found, ())) == [0, 4]


@given(st.integers(2, 30), st.integers(1, 7), st.integers(1, 40))
def test_each_output_is_asked_once_before_any_is_asked_again(items: int, daily: int, days: int) -> None:
    """Otherwise a judge that slips on one of them would be asked for it, or never."""
    whole = probe(*(item(number) for number in range(items)), detector=replace(DETECTOR, daily=daily))
    looks: list[ProbeLook] = []
    times: Counter[int] = Counter(dict.fromkeys(range(items), 0))
    for day in range(days):
        chosen = choose_probe_items(whole, looks)
        assert len(set(chosen)) == len(chosen) == min(daily, items)
        looks.append(ProbeLook(number=day + 1, at=str(day), answers=tuple((place, True) for place in chosen)))
        times.update(chosen)

    assert max(times.values()) - min(times.values()) <= 1


def test_what_was_not_answered_is_asked_another_time() -> None:
    """A look that was cut off, or killed before it was written, changes nothing about what comes next."""
    whole = probe(*(item(number) for number in range(8)))
    first = choose_probe_items(whole, ())

    half = choose_probe_items(whole, [look(1, *((place, True) for place in first[:2]))])

    assert choose_probe_items(whole, ()) == first
    assert half[:2] == first[2:]


def test_looks_say_what_was_lost_since_when_and_whether_that_is_drift() -> None:
    """A lost answer is one that no longer decides as people do; one that the judge cannot assess any more is lost."""
    whole = probe(*(item(number) for number in range(4)))
    looks = [look(1, (0, True), (1, True)), look(2, (2, False), (3, True)), look(3, (0, None), (1, True))]

    before, after = follow_probe(whole, looks[:2]), follow_probe(whole, looks)

    assert (before.state, before.drifted) == ("steady", None)
    assert before.evidence < DETECTOR.threshold <= after.evidence
    assert (after.state, after.drifted, after.since) == ("drift", looks[2].at, looks[1].at)
    assert [(one.sample, one.now) for one in after.lost] == [("s2", False), ("s0", None)]


def test_a_judge_that_is_seldom_right_cannot_be_probed() -> None:
    """There would be nothing to lose."""
    items = [item(number, people=number < 5) for number in range(40)]

    with pytest.raises(InputError, match="on only 5 of 40 outputs"):
        design_probe_detector(items, 5)
    with pytest.raises(InputError, match="200 a day"):
        design_probe_detector([item(number) for number in range(40)], 200)
