"""What to label next: mixed by need and chance, never what has a label, and the same each time it is asked."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from evenhand.calibrate.labelled_outputs import collect_labelled_outputs
from evenhand.calibrate.labels import Label
from evenhand.calibrate.next_labels import choose_next_labels, expect_widths_with_more_labels, mix_label_draw_priorities
from evenhand.calibrate.people_scale import PeopleScaleEstimate, estimate_on_people_scale, list_people_sides
from evenhand.calibrate.trust import TrustGate
from evenhand.errors import InputError
from evenhand.stats.means import mean_interval, powered_mean
from tests.calibrate.tables import labels, table

SCORES = [1, 2, 3, 4, 5] * 20
ONE = table({"j": {"tone": SCORES}})
TWO = table({"a": {"tone": SCORES}, "b": {"tone": [1, 2, 5, 4, 5] * 20}})
SPAN = (1.0, 5.0)


def label(sample: str, batch: int | None = None) -> Label:
    plain = Label(sample=sample, variant="only", criterion="tone", rater="r", score=Fraction(3))
    return plain if batch is None else replace(plain, batch=batch, chance=Fraction(1, 10))


def test_outputs_near_the_gate_and_disputed_ones_are_drawn_more_often() -> None:
    """Half of the draw is random: nothing has less than half the chance that it would have at random."""
    found = choose_next_labels(TWO, [], 10, gate=3.6, span=SPAN)

    chances = {int(one.sample[1:]) % 5: one.chance for one in found.samples}
    assert found.parts == {"at_random": 0.5, "near_gate": 0.25, "judges_disagree": 0.25}
    assert chances[3] > chances[0] >= 0.05
    assert chances[2] > chances[0]
    assert sum(one.near_gate for one in found.samples) > 0


def test_without_a_gate_and_with_one_judge_all_is_left_to_chance() -> None:
    """There is nothing to go by, and no weight to pay for it."""
    found = choose_next_labels(ONE, [], 10, gate=None, span=SPAN)

    assert found.parts == {"at_random": 1.0}
    assert [one.chance for one in found.samples] == pytest.approx([0.1] * 10)


def test_a_draw_can_be_repeated_and_the_next_one_differs() -> None:
    """From the seed of the run and the number of the batch, which counts from those that labels name."""
    first, again = (choose_next_labels(TWO, [], 12, gate=3, span=SPAN) for _ in range(2))
    known = [label(one.sample, batch=1) for one in first.samples]
    second = choose_next_labels(TWO, known, 12, gate=3, span=SPAN)

    assert first == again
    assert (first.batch, second.batch) == (1, 2)
    assert second.left == 100 - len(first.samples)
    assert not {one.sample for one in first.samples} & {one.sample for one in second.samples}


def test_all_variants_of_a_sample_are_labelled_together() -> None:
    """A difference between variants takes a label on both: 12 outputs are 6 samples."""
    both = table({"j": {"tone": SCORES}}, variants=("old", "new"))

    assert len(choose_next_labels(both, [], 12, gate=3, span=SPAN).samples) == 6


def test_what_cannot_be_drawn_is_said() -> None:
    """Nothing is left, or nothing was asked for; more than there are is all that there are."""
    with pytest.raises(InputError, match="every sample with an output has a label"):
        choose_next_labels(ONE, [label(id) for id in ONE.samples], 5, gate=None, span=SPAN)
    with pytest.raises(InputError, match="-n 0 draws nothing"):
        choose_next_labels(ONE, [], 0, gate=None, span=SPAN)
    assert len(choose_next_labels(ONE, [], 1_000, gate=None, span=SPAN).samples) == 100


def test_priorities_add_up() -> None:
    """Each part has its share of the draw, whatever the units are in which it was measured."""
    found, parts = mix_label_draw_priorities(np.array([0.0, 1.0]), np.array([0.0, 1000.0]))

    assert found.tolist() == [0.25, 0.75]
    assert sum(parts.values()) == 1


def test_labels_drawn_with_unequal_chances_are_weighed() -> None:
    """Half as likely counts twice; labels of no draw are a batch at random before."""
    given = [replace(label(f"s{place:04}", batch=1), chance=Fraction(1, 10 if place < 2 else 20)) for place in range(4)]

    weighed = collect_labelled_outputs(ONE, given)
    plain = collect_labelled_outputs(ONE, [label("s0000")])

    assert plain.weight is None
    assert weighed.weight is not None
    assert weighed.weight.tolist() == pytest.approx([100 / 6, 100 / 6, 100 / 3, 100 / 3])


def test_the_expected_width_is_that_of_labels_that_go_on_as_they_are() -> None:
    """With 20 of 100 labelled at random it is about what 40 then have; and without labels it goes by the judges."""
    rng = np.random.default_rng(4)
    people = rng.integers(1, 6, 100).astype(float)
    judged = np.ones(100) + rng.random(100)

    def estimate(known: int) -> PeopleScaleEstimate:
        said = [float(one) if place < known else None for place, one in enumerate(people)]
        return PeopleScaleEstimate(
            kind="mean",
            question="score",
            variant="only",
            judges=mean_interval(judged),
            people=powered_mean(judged, said) if known else None,
            outputs=100,
            labelled=known,
            spread=float(judged.std(ddof=1)),
        )

    (now,), (before,) = (list(expect_widths_with_more_labels([estimate(known)], 20)) for known in (20, 0))
    then = estimate(40).people

    assert then is not None and now.then == pytest.approx(then.high - then.low, rel=0.25)
    assert (before.now, before.labelled_then, before.at) == (None, 20, 20)
    assert before.then is not None and before.then > 0


def test_pass_rates_and_differences_are_on_peoples_scale_too() -> None:
    """20 of 60 samples labelled: each with the judges' own interval, people's, and that of the labels alone."""
    rng = np.random.default_rng(5)
    said = rng.integers(1, 6, 120).astype(float)
    run = table({"j": {"tone": said.tolist()}}, variants=("old", "new"))
    people = [min(5.0, max(1.0, one + rng.integers(-1, 2))) if place < 40 else None for place, one in enumerate(said)]
    labelled = collect_labelled_outputs(run, labels(run, {"r": {"score": people}}))
    gate = TrustGate(id="verdict", about="", least={"score": 3.0})

    found = list(estimate_on_people_scale(list_people_sides(run, labelled, gate)))

    kinds = [(one.kind, one.variant, one.control) for one in found]
    assert kinds == [
        ("mean", "old", None),
        ("mean", "new", None),
        ("difference", "new", "old"),
        ("pass rate", "old", None),
        ("pass rate", "new", None),
        ("difference of pass rates", "new", "old"),
    ]
    for one in found:
        assert (one.outputs, one.labelled) == (60, 20)
        assert one.people is not None and one.judges is not None
        assert one.people.high - one.people.low <= one.people.labels_only.high - one.people.labels_only.low + 1e-9
    assert found[5].people is not None and -1 <= found[5].people.low <= found[5].people.high <= 1
