"""The stopping rule: what it waits for, when it is content, and how seldom it is wrong."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import CompareDecision, VariantColumn
from evenhand.compare.facts import LossShare
from evenhand.compare.measure import adjust_treatment_losses_for_looks
from evenhand.compare.paired_rows import ComparedRows
from evenhand.compare.stopping import EarlyVerdict, EarlyVerdictRule, RowsBeforeVerdict, StoppingTerms
from evenhand.stats.multiple_tests import Looks, looks_after, planned_looks
from evenhand.stats.rates import mcnemar_worse
from tests.compare.drawing import SHARES, scores
from tests.soak import at_most, often

PLANNED = 50
BETTER = [4.0 + place % 2 for place in range(PLANNED)]  # Half a point more than EQUAL, and as scattered.
EQUAL = [4.0 + (place % 3 - 1) for place in range(PLANNED)]
FLAT = [4.0] * PLANNED
Row = Sequence[float | None]


def rule(planned: int = PLANNED, variants: Sequence[str] = ("old", "new"), repeats: int = 1) -> EarlyVerdictRule:
    return EarlyVerdictRule(
        order=range(planned),
        looks=planned_looks(planned),
        variants=variants,
        control="old",
        repeats=repeats,
        seed=1,
        terms=StoppingTerms(span=4.0, default_gate=3.5),
    )


def told(columns: Mapping[str, Row], positions: Iterable[int] | None = None) -> EarlyVerdict | None:
    """What the rule says once it was told all, in the order of the positions."""
    planned = len(columns["old"])
    stopping = rule(planned, tuple(columns))
    for position in range(planned) if positions is None else positions:
        stopping.take_compared_scores(position, 0, {name: row[position] for name, row in columns.items()})
    return stopping.settled


def test_a_clear_difference_is_settled_at_the_first_look() -> None:
    """Twenty samples, never fewer, however clear it is."""
    settled = told({"old": FLAT, "new": BETTER})

    assert settled is not None
    assert (settled.samples_until_verdict, settled.looks.planned, settled.why) == (20, PLANNED, "new is better")


def test_a_difference_to_the_worse_is_told_as_such() -> None:
    """What settles it is said in a few words."""
    settled = told({"old": BETTER, "new": FLAT})

    assert settled is not None
    assert settled.why == "new is worse"


def test_no_difference_is_never_settled() -> None:
    """Then all samples are asked about."""
    assert told({"old": FLAT, "new": EQUAL}) is None


def test_nothing_is_said_before_the_first_look() -> None:
    """Nineteen equal signs are not enough to stop."""
    stopping = rule()

    said = [stopping.take_compared_scores(position, 0, {"old": 1.0, "new": 5.0}) for position in range(20)]

    assert said == [""] * 19 + ["new is better"]


@given(st.permutations(range(24)))
def test_what_comes_first_by_chance_changes_nothing(positions: list[int]) -> None:
    """Quick samples may be easy ones: a look waits for the first so many of the order, and counts no others."""
    columns = {"old": FLAT[:24], "new": [3.0 if place >= 20 else 4.0 + place % 2 for place in range(24)]}

    assert told(columns, positions) == told(columns)


def test_samples_without_a_pair_do_not_count_towards_the_twenty() -> None:
    """Twenty asked about, nineteen with both scores: the next look is the first that can settle it."""
    control = [None, *BETTER[1:]]

    settled = told({"old": control, "new": FLAT})

    assert settled is not None
    assert settled.samples_until_verdict == planned_looks(PLANNED)[1]


def test_all_treatments_have_to_be_settled_at_one_look() -> None:
    """One clear treatment does not end the questions about another."""
    late = [4.0 + (place > 16) for place in range(PLANNED)]

    clear, unclear = told({"old": FLAT, "new": BETTER}), told({"old": FLAT, "new": BETTER, "newer": late})

    assert clear is not None
    assert unclear is not None
    assert clear.samples_until_verdict < unclear.samples_until_verdict < PLANNED
    assert unclear.why == "new is better and newer is better"
    assert told({"old": FLAT, "new": BETTER, "newer": EQUAL}) is None


def test_several_treatments_share_the_chance_of_settling_it() -> None:
    """Five higher of twenty, none lower, are p = 0.031: enough for one treatment, 0.063 for each of two."""
    flat, higher = FLAT[:20], [4.0 + (place < 5) for place in range(20)]

    assert told({"old": flat, "new": higher}) is not None
    assert told({"old": flat, "new": higher, "newer": higher}) is None


def test_repeats_of_a_sample_are_waited_for_and_count_once() -> None:
    """Three repeats of ten samples are no thirty samples."""
    stopping = rule(repeats=3)

    for position in range(20):
        for repeat in range(3):
            assert stopping.settled is None
            stopping.take_compared_scores(position, repeat, {"old": 2.0, "new": 3.0 + position % 2})

    assert stopping.settled is not None
    assert stopping.settled.samples_until_verdict == 20


def test_samples_of_one_cluster_count_once() -> None:
    """Two questions about one document are one unit: twenty-four samples are twelve."""
    stopping = rule()

    for position in range(24):
        stopping.take_compared_scores(
            position, 0, {"old": 2.0, "new": 3.0 + position % 2}, cluster=f"document {position // 2}"
        )

    assert stopping.settled is None


def test_lost_outputs_settle_it_too() -> None:
    """A treatment that fails on half the samples regresses, whatever the others scored."""
    halves = [None if place % 2 else 4.0 for place in range(200)]

    settled = told({"old": [4.0] * 200, "new": halves})

    assert settled is not None
    assert settled.why == "new lost outputs"
    assert settled.samples_until_verdict < 200
    assert decided({"old": [4.0] * 200, "new": halves}, settled).verdict == "REGRESS"


def test_lost_outputs_are_held_to_the_level_of_the_look() -> None:
    """Seven lost on one side only are p = 1/128: below the 1% of a run that is looked at once, not at a look."""
    lost = mcnemar_worse(7, 0)

    early = adjust_treatment_losses_for_looks(lost, looks_after(24, planned_looks(PLANNED)))
    once = adjust_treatment_losses_for_looks(lost, Looks(taken=(PLANNED,), planned=PLANNED))

    assert once.p == pytest.approx(1 / 128, rel=1e-3)
    assert early.p > 0.01 > lost.p
    assert adjust_treatment_losses_for_looks(lost, None) == lost


@given(st.integers(0, 2**32))
def test_what_the_rule_settles_the_decision_says(seed: int) -> None:
    """Both look at the same samples by the same test, so a run never stops for a verdict that it does not give."""
    rng = np.random.default_rng(seed)
    columns = {"old": rng.integers(1, 5, PLANNED).tolist(), "new": rng.integers(2, 6, PLANNED).tolist()}

    settled = told(columns)
    decision = decided(columns, settled)

    assert (settled is not None) == (decision.comparisons[0].p is not None and decision.comparisons[0].p < 0.05)


def test_the_interval_and_p_of_a_stopped_run_are_those_of_its_look() -> None:
    """They say so, and they are wider than if nobody had looked before."""
    columns = {"old": FLAT, "new": [4.0 + (place % 4 > 0) for place in range(PLANNED)]}
    settled = told(columns)
    assert settled is not None

    stopped = decided(columns, settled).comparisons[0].composite
    plain = decided({name: row[: settled.samples_until_verdict] for name, row in columns.items()}, None, looked=False)

    assert stopped is not None
    assert (plain_found := plain.comparisons[0].composite) is not None
    assert "alpha spending" in stopped.method
    assert stopped.low < plain_found.low
    assert stopped.p > plain_found.p


def test_layers_of_a_stopped_run_are_held_to_its_look() -> None:
    """A layer that makes a REGRESS must be sure although it was looked at several times."""
    columns = {"old": FLAT, "new": BETTER}
    settled = told(columns)

    layer = decided(columns, settled).comparisons[0].layers["judge"]

    assert layer is not None
    assert "alpha spending" in layer.method


def test_a_settled_run_follows_the_rules_of_a_full_one() -> None:
    """As many samples of the same say the same without looks: neither calls few what the other calls settled."""
    scattered = [5.0 if place % 5 else 1.0 for place in range(PLANNED)]
    columns = {"old": [1.0] * PLANNED, "new": scattered}
    settled = told(columns)
    assert settled is not None

    stopped = decided(columns, settled)
    plain = decided({name: row[: settled.samples_until_verdict] for name, row in columns.items()}, None, looked=False)

    assert plain.verdict == stopped.verdict == "PROGRESS"


def test_outputs_lost_by_one_of_several_treatments_are_settled_by_the_decision_s_own_test() -> None:
    """Ten lost by one treatment out of three are significant alone, and not as one of three that were looked at."""
    lost = [None if 2 <= place <= 11 else 4.0 for place in range(PLANNED)]

    alone = told({"old": FLAT, "new": lost})
    beside = told({"old": FLAT, "new": lost, "a": BETTER, "b": BETTER})

    assert alone is not None
    assert alone.why == "new lost outputs"
    if beside is not None:
        assert decided({"old": FLAT, "new": lost, "a": BETTER, "b": BETTER}, beside).verdict == "REGRESS"


# What else a verdict looks at: a better treatment is settled once the rest of the samples will hardly turn it.


def _foreseen(treatment: Mapping[str, Row], control: Mapping[str, Row] | None = None, **more: Any) -> bool | None:
    """What a look at the first rows of PLANNED says; the composite has a name like any other number."""
    seen = len(next(iter(treatment.values()), FLAT[:24]))
    rows = [
        [{tuple(name.split("/")): row[place] for name, row in ({"composite": [4.0] * seen} | dict(one)).items()}
         for place in range(seen)]
        for one in (treatment, control or {})
    ]  # fmt: skip
    looked = RowsBeforeVerdict(
        treatment=rows[0],
        control=rows[1],
        rows=ComparedRows.number(range(seen), None, "sample"),
        looks=looks_after(seen, planned_looks(PLANNED)),
    )
    return looked.foresee_objection(StoppingTerms(span=4.0, default_gate=3.5, **more))


@pytest.mark.parametrize(("mean", "says"), [(3.0, True), (3.45, None), (3.55, None), (4.0, False)])
def test_a_layer_near_its_gate_is_open(mean: float, says: bool | None) -> None:
    """Half a point of scatter: 24 of 50 samples say nothing about 0.05 points."""
    layer = {"layers/judge": [mean + (0.5 if place % 2 else -0.5) for place in range(24)]}

    assert _foreseen(layer, {"layers/judge": [3.0] * 24}) is says


@pytest.mark.parametrize(("by", "says"), [(-0.5, True), (-0.2, None), (0.0, None), (0.3, False)])
def test_a_layer_that_may_come_out_lower_is_open(by: float, says: bool | None) -> None:
    """It need not have risen, but what is left of the samples must not be able to make it fall significantly."""
    control = [4.0] * 24
    moved = {"layers/judge": [4.0 + by + (0.5 if place % 2 else -0.5) for place in range(24)]}

    assert _foreseen(moved, {"layers/judge": control}, layer_gates={"judge": 1.0}) is says


def test_a_lost_output_is_an_objection_for_good_and_one_of_the_control_leaves_it_open() -> None:
    """The treatment that alone lost one is never PROGRESS; where the control loses some, the treatment may yet."""
    gap = [None, *[4.0] * 23]

    assert _foreseen({"composite": gap}, {"composite": [4.0] * 24}) is True
    assert _foreseen({"composite": [4.0] * 24}, {"composite": gap}) is None
    assert _foreseen({"composite": [4.0] * 24}, {"composite": [4.0] * 24}) is False


@pytest.mark.parametrize(("noise", "says"), [(0.1, False), (3.0, None), (-30.0, True)])
def test_judges_on_the_edge_of_agreement_are_open(noise: float, says: bool | None) -> None:
    """Correlations of 1.00, 0.47 and −0.12 over 40 of 50 samples, beside a bound of 0.4."""
    rng = np.random.default_rng(4)
    first = rng.normal(size=40)
    second = first + noise * rng.normal(size=40)

    assert _foreseen({"reviews/a": first.tolist(), "reviews/b": second.tolist()}) is says


def test_agreement_that_hangs_on_one_row_is_open() -> None:
    """Without it the judges would have no correlation at all, as those who gave the same throughout."""
    row = [*[4.0] * 23, 2.0]

    assert _foreseen({"reviews/a": row, "reviews/b": row}) is None
    assert _foreseen({"reviews/a": row, "reviews/b": [4.0] * 24}) is None


def test_other_gates_and_losses_are_foreseen_too() -> None:
    """A pass rate of 23 in 24 is not surely 0.9; no loss in 24 may become few enough in 50, two cannot."""
    passed = {"passed": [0.0, *[1.0] * 23]}
    share = LossShare(points=2.0, share=0.06)
    losses = {"composite": [1.0, 1.0, *[4.0] * 22]}

    assert _foreseen(passed, other_gates={("passed",): 0.9}) is None
    assert _foreseen(passed, other_gates={("passed",): 0.5}) is False
    assert _foreseen({}, smallest_loss=share) is None
    assert _foreseen(losses, smallest_loss=share) is True
    assert _foreseen(losses, smallest_loss=replace(share, share=0.3)) is False


def test_a_treatment_that_is_better_near_its_gate_is_not_settled_early() -> None:
    """By its composite alone it would be at the first look: a mean of 3.6 may end below 3.5."""
    old, new = [1.0 + place % 2 for place in range(50)], [3.6 + (0.5 if place % 2 else -0.5) for place in range(50)]
    alone, whole = rule(), rule()
    for position in range(50):
        scores = {"old": old[position], "new": new[position]}
        alone.take_compared_scores(position, 0, scores)
        whole.take_compared_scores(
            position, 0, {name: {("composite",): one, ("layers", "judge"): one} for name, one in scores.items()}
        )

    assert alone.settled is not None
    assert whole.settled is not None
    assert (alone.settled.samples_until_verdict, whole.settled.samples_until_verdict) == (20, 41)


@pytest.mark.parametrize("name", SHARES)
@pytest.mark.parametrize("planned", [20, 50, 200])
def test_equal_variants_are_seldom_settled(planned: int, name: str) -> None:
    """Over all looks and the last: 2.5% to either side, as if there had been one."""
    tries = often(100 if planned < 200 else 50, 10_000)
    rng = np.random.default_rng([planned, len(name)])

    ends = Counter(_end(rng, name, planned) for _ in range(tries))

    assert ends["new is better"] / tries <= at_most(0.025, tries), ends
    assert ends["new is worse"] / tries <= at_most(0.025, tries), ends


@pytest.mark.parametrize("planned", [20, 50, 200])
def test_equal_variants_seldom_get_a_verdict(planned: int) -> None:
    """All rules together, two layers and their gates included: PROGRESS ≤ 2.5%, REGRESS ≤ 5%."""
    tries = often(6, 2_000)
    rng = np.random.default_rng(planned)
    names = list(SHARES)

    verdicts = Counter(_verdict(rng, names[place % len(names)], planned) for place in range(tries))

    assert verdicts["PROGRESS"] / tries <= at_most(0.025, tries), verdicts
    assert verdicts["REGRESS"] / tries <= at_most(0.05, tries), verdicts


@pytest.mark.parametrize("planned", [50, 200])
def test_three_treatments_share_the_chance_of_a_false_alarm(planned: int) -> None:
    """Each is tested as one of three: none of them is wrongly settled in more than 5% of runs."""
    tries = often(4, 1_000)
    rng = np.random.default_rng(planned)

    alarms = sum(_any_alarm(rng, planned) for _ in range(tries)) / tries

    assert alarms <= at_most(0.05, tries)


def decided(columns: Mapping[str, Row], settled: EarlyVerdict | None, *, looked: bool = True) -> CompareDecision:
    """The decision where the rule ended it: on the samples up to its look, or on all."""
    planned = len(columns["old"])
    used = settled.samples_until_verdict if settled else planned
    found = {name: VariantColumn(composite=row[:used], layers={"judge": row[:used]}) for name, row in columns.items()}
    looks = looks_after(used, planned_looks(planned)) if looked else None
    early = looked and used < planned
    return decide_comparison(
        found, control="old", clusters=range(used), seed=1, gates={"judge": 1.0}, looks=looks, stopped_early=early
    )


def _end(rng: np.random.Generator, name: str, planned: int) -> str:
    old, new = (scores(name, rng, planned).ravel().tolist() for _ in range(2))
    settled = told({"old": old, "new": new})
    return settled.why if settled else ""


def _verdict(rng: np.random.Generator, name: str, planned: int) -> str:
    layers = {
        variant: {layer: scores(name, rng, planned).ravel() for layer in ("judge", "fact")}
        for variant in ("old", "new")
    }
    composites = {name: ((one["judge"] + one["fact"]) / 2).tolist() for name, one in layers.items()}
    settled = told(composites)
    used = settled.samples_until_verdict if settled else planned
    columns = {
        name: VariantColumn(
            composite=composites[name][:used],
            layers={layer: row[:used].tolist() for layer, row in layers[name].items()},
        )
        for name in layers
    }
    looks = looks_after(used, planned_looks(planned))
    return decide_comparison(
        columns, control="old", clusters=range(used), seed=1, looks=looks, stopped_early=used < planned
    ).verdict


def _any_alarm(rng: np.random.Generator, planned: int) -> bool:
    """Whether some treatment is significant, at the look that settled all of them or at the last one."""
    columns = {name: scores("skewed", rng, planned).ravel().tolist() for name in ("old", "one", "two", "three")}
    found = decided(columns, told(columns))
    return any(one.p is not None and one.p < 0.05 for one in found.comparisons)
