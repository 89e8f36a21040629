"""Agreement, use of the scale, silence and the metrics of a council, by hand and against the statistics."""

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.stats import pearsonr

from evenhand.calibrate.audits.audit import build_judge_audit
from evenhand.calibrate.audits.findings import AuditedJudgeAnswerCounts, count_audited_judge_answers
from evenhand.calibrate.audits.judge_habits import (
    measure_audited_correlation_with_others,
    measure_audited_judge_alpha,
    measure_audited_judge_correlation,
)
from evenhand.calibrate.jackknife import FISHER_TRANSFORM, IntervalEstimate, jackknife_calibration_interval
from evenhand.runs.columns import RunTable
from evenhand.stats.agreement import krippendorff
from evenhand.stats.correlation import mean_pairwise
from evenhand.stats.means import mean_interval
from evenhand.stats.ratings import Agreement
from tests.calibrate.audited import ALONE, found, rubric, seen, table, two_judges


@given(st.integers(0, 200), st.integers(2, 4), st.booleans())
def test_agreement_is_the_number_that_the_statistics_give(seed: int, judges: int, holes: bool) -> None:
    """The sums over samples come to Krippendorff's α and to the mean of Pearson's r, missing answers or not."""
    rng = np.random.default_rng(seed)
    raters = rng.integers(1, 6, (judges, 12)) + rng.normal(0, 0.5, 12)
    if holes:
        raters[0, :4] = np.nan
    plain = [[None if np.isnan(one) else float(one) for one in row] for row in raters]

    ours = measure_audited_judge_alpha(raters, np.arange(12)), measure_audited_judge_correlation(raters, np.arange(12))

    theirs = krippendorff(plain), mean_pairwise(plain)
    for one, other in zip(ours, theirs, strict=True):
        assert isinstance(one, IntervalEstimate)
        assert isinstance(other, Agreement)
        assert one.value == pytest.approx(other.value)


def test_the_jackknife_of_a_mean_is_students_interval() -> None:
    """The one case with a known answer."""
    values = np.random.default_rng(1).normal(3, 1, 15)
    parts = np.stack([values, np.ones(15)], axis=1)

    one = jackknife_calibration_interval(parts, lambda sums: sums[..., 0] / sums[..., 1], level=0.95, method="mean")

    other = mean_interval(values)
    assert isinstance(one, IntervalEstimate)
    assert (one.value, one.low, one.high) == pytest.approx((other.estimate, other.low, other.high))


@pytest.mark.parametrize("samples", [10, 20, 50])
def test_the_interval_of_agreement_covers_what_it_should(samples: int) -> None:
    """Two outputs of each sample go together; the truth is taken from a large run of the same kind."""
    rng = np.random.default_rng(samples)

    def drawn(count: int) -> tuple[Any, Any]:
        quality = np.repeat(rng.normal(0, 0.7, count), 2) + rng.normal(0, 0.7, 2 * count)
        return quality + rng.normal(0, 0.6, (3, 2 * count)), np.repeat(np.arange(count), 2)

    truth = measure_audited_judge_alpha(*drawn(100_000))
    assert isinstance(truth, IntervalEstimate)
    ends = [measure_audited_judge_alpha(*drawn(samples)) for _ in range(300)]
    held = [
        one.low <= truth.value <= one.high for one in ends if isinstance(one, IntervalEstimate) and one.low and one.high
    ]

    assert len(held) > 290
    assert np.mean(held) >= 0.95 - 3 * (0.95 * 0.05 / 300) ** 0.5


def test_agreement_has_the_colours_of_the_badge() -> None:
    """α from 0.667 is green, from 0.4 amber, below red, which two judges alone do not reach."""
    rng = np.random.default_rng(3)
    quality = rng.normal(5, 1, (60, 2))
    colours = {}
    for noise in (0.3, 0.9, 3.0):
        given = {(judge, "accuracy"): quality + rng.normal(0, noise, (60, 2)) for judge in "abc"}
        audited = build_judge_audit(seen(table(given, asked=rubric(ALONE))))
        colours[noise] = found(audited, "agreement").colour, found(audited, "correlation").colour

    assert colours == {0.3: ("green", "green"), 0.9: ("amber", "green"), 3.0: ("red", "red")}


def test_judges_that_agree_only_on_which_variant_is_better_do_not_agree_within_variants() -> None:
    """Two clouds far apart correlate, though inside each the judges say anything."""
    rng = np.random.default_rng(4)
    base = np.array([3.0, 8.0])

    audited = build_judge_audit(
        seen(two_judges(base + rng.normal(0, 0.5, (40, 2)), base + rng.normal(0, 0.5, (40, 2))))
    )

    assert found(audited, "correlation").colour == "green"
    assert found(audited, "correlation within variants").colour == "red"


def test_ceiling_floor_and_spread_are_counted() -> None:
    """Ten answers of 10 among sixteen, two of 1."""
    first = np.array([[10.0, 10.0]] * 5 + [[1.0, 5.0]] * 2 + [[6.0, 7.0]])

    audited = build_judge_audit(seen(two_judges(first, first)))

    assert found(audited, "ceiling", "a").value == pytest.approx(10 / 16)
    assert found(audited, "ceiling", "a").colour == "amber"
    assert found(audited, "floor", "a").value == pytest.approx(2 / 16)
    spread = np.std(np.array([10] * 10 + [1, 1, 5, 5, 6, 7])) / 9
    assert found(audited, "spread", "a").value == pytest.approx(spread)
    assert "5 levels" in found(audited, "spread", "a").says


def test_a_judge_that_always_says_the_same_is_red() -> None:
    """It tells no two outputs apart, and is no certainty either."""
    audited = build_judge_audit(seen(two_judges([[10, 10]] * 9, [[5, 6]] * 9)))

    assert found(audited, "ceiling", "a").colour == "red"
    assert found(audited, "spread", "a").colour == "red"
    assert (found(audited, "ceiling", "a").low or 1) < 1
    assert audited.fit == "no"


def test_repeat_noise_is_the_standard_deviation_within_a_sample() -> None:
    """By hand: 5 and 7 around 6 in one variant, 4 and 4 in the other: √(2 / 2) = 1 over the two."""
    answers = [[[5.0, 7.0], [4.0, 4.0]]] * 10

    audited = build_judge_audit(seen(table({("a", "accuracy"): answers}, asked=rubric(ALONE))))

    one = found(audited, "repeat noise", "a")
    assert one.value == pytest.approx(1.0)
    assert one.colour == "green"  # The smallest effect is an eighth of the scale: 1.125 points.


def test_silence_is_counted_by_kind() -> None:
    """Three of fifty answers did not come: over five of a hundred is red."""
    heard = {
        "a": AuditedJudgeAnswerCounts(answered=47, abstained=1, failed=2),
        "b": AuditedJudgeAnswerCounts(answered=50),
    }

    audited = build_judge_audit(seen(two_judges([[5, 6]] * 9, [[5, 7]] * 9), answer_counts=heard))

    one = found(audited, "failures", "a")
    assert one.value == pytest.approx(0.06)
    assert one.colour == "red"
    assert "2 of its 50 answers failed" in one.says
    assert "it abstained once" in one.says
    assert found(audited, "failures", "b").colour == "green"


def test_answers_are_heard_from_results() -> None:
    """An abstention is told from a failure, a score for the whole from one of criteria, a capped output from others."""
    said = [{"judge": "a", "why_not": why} for why in (None, "a: abstained: cannot assess", "unreadable: a range")]
    reviews = [
        {"judge": "a", "holistic": True, "score": 7},
        {"judge": "b", "holistic": False, "score": 6, "holistic_score": 8},
    ]
    contents: list[dict[str, Any]] = [
        {"judgments": said, "scorecard": {"reviews": reviews, "steps": [{"step": "panel"}, {"step": "cap"}]}},
        {"judgments": [], "scorecard": None},
    ]

    heard, holistic, asked, capped = count_audited_judge_answers(contents, 2)

    assert heard == {"a": AuditedJudgeAnswerCounts(answered=1, abstained=1, failed=1)}
    assert list(holistic) == ["a"]
    assert np.array_equal(holistic["a"], [7, np.nan], equal_nan=True)
    assert np.array_equal(asked["b"], [8, np.nan], equal_nan=True)
    assert capped == [0]


def test_the_ranking_is_drawn_from_every_panel_there_could_be() -> None:
    """By hand: a puts new ahead by 1, b old by 0.5. Of the panels aa, ab, ba, bb three put new first."""
    audited = build_judge_audit(seen(two_judges([[5.0, 6.0]] * 4, [[6.0, 5.5]] * 4)))

    one = found(audited, "ranking stability")
    assert one.value == pytest.approx(0.75)
    assert "Kendall's τ 0.50" in one.says
    assert one.colour == "red"


def test_many_judges_are_drawn_and_the_draw_is_the_same_each_time() -> None:
    """Six judges have too many panels to count; three of them hold with each side, by as much."""
    sides = [[[5.0, 6.2]] * 4, [[6.0, 5.0]] * 4]
    given = {(f"j{place}", "accuracy"): sides[place % 2] for place in range(6)}

    values = [
        found(build_judge_audit(seen(table(given, asked=rubric(ALONE)))), "ranking stability").value for _ in range(2)
    ]

    assert values[0] == values[1]
    assert values[0] == pytest.approx(0.65, abs=0.06)  # P(at least 3 of 6) = 42/64.


def test_variance_is_held_against_scores_for_the_whole() -> None:
    """By hand: criteria differ by 1 between reviewers (variance 0.5), scores for the whole by 2 (variance 2)."""
    first, second = np.full((12, 2), 5.0), np.full((12, 2), 6.0)
    holistic = {judge: np.full(24, np.nan) for judge in "ab"}
    run = two_judges(first, second)
    for place in range(0, 24, 3):
        holistic["a"][place], holistic["b"][place] = 4.0, 6.0
        run.reviews["a"][place], run.reviews["b"][place] = 4.0, 6.0

    audited = build_judge_audit(seen(run, holistic=holistic))

    assert found(audited, "variance against holistic").value == pytest.approx(0.25)
    assert (
        "no two reviewers"
        in found(build_judge_audit(seen(two_judges(first, second))), "variance against holistic").says
    )


def test_scores_for_the_whole_that_were_asked_for_are_measured_beside_the_criteria() -> None:
    """By hand: criteria differ by 1 on every output, scores for the whole by 2; both rank the variants."""
    run = two_judges(np.tile([5.0, 6.0], (12, 1)), np.tile([6.0, 7.0], (12, 1)))
    asked = {"a": np.tile([6.0, 4.0], 12), "b": np.tile([8.0, 6.0], 12)}

    audited = build_judge_audit(seen(run, asked_holistic=asked))

    assert found(audited, "variance against holistic").value == pytest.approx(0.25)
    assert "By their scores for the whole, " in found(audited, "ranking stability").says
    assert "holistic: true" in found(build_judge_audit(seen(run)), "variance against holistic").advice


@pytest.mark.parametrize(("sign", "colour"), [(-1, "green"), (1, "red")])
def test_conciseness_that_rises_with_length_is_red(sign: int, colour: str) -> None:
    """The one criterion that should fall as outputs grow."""
    rng = np.random.default_rng(1)
    length = rng.integers(100, 1000, (30, 2)).astype(float)
    scores = 5 + sign * (length - 500) / 200 + rng.normal(0, 0.3, (30, 2))
    run = table({("a", "conciseness"): scores}, asked=rubric({"conciseness": "1"}), length=length)

    assert found(build_judge_audit(seen(run)), "conciseness and length").colour == colour


def test_a_correlation_that_may_be_nothing_is_not_stated_as_one() -> None:
    """Conciseness rises with length by chance: its interval holds 0, and no sentence says that it does so."""
    rng = np.random.default_rng(5)
    length = rng.integers(100, 1000, (12, 2)).astype(float)
    scores = 5 + (length - 500) / 1500 + rng.normal(0, 0.6, (12, 2))
    run = table({("a", "conciseness"): scores}, asked=rubric({"conciseness": "1"}), length=length)

    one = found(build_judge_audit(seen(run)), "conciseness and length")

    assert one.colour == "amber"
    assert one.low is not None
    assert one.value is not None
    assert one.low < 0 < one.value
    assert one.advice == (
        "Score more samples: the interval holds 0, so these do not show that longer outputs pass for more concise."
    )


def test_a_recorded_output_that_is_judged_twice_is_one_output() -> None:
    """Repeats of it add answers, not outputs; what was made anew for each repeat is another output."""
    rng = np.random.default_rng(1)
    length = np.repeat(rng.integers(100, 1000, (12, 2, 1)), 2, axis=2).astype(float)
    run = table({("a", "conciseness"): length / 200}, asked=rubric({"conciseness": "1"}), length=length)
    recorded = replace(run, output=np.repeat(np.arange(24), 2) + 1)
    made = replace(run, output=np.arange(48) + 1)

    told = [
        found(build_judge_audit(seen(one)), "conciseness and length").says.partition(" over ")[2]
        for one in (recorded, made, run)
    ]

    assert told == ["24 outputs.", "48 outputs.", "48 outputs."]


def test_a_correlation_of_one_has_no_interval_that_claims_certainty() -> None:
    """Two judges that say the same: the number is 1, and there is no interval of no width."""
    values = np.arange(12.0)

    one = measure_audited_judge_correlation(np.stack([values, 2 * values]), np.arange(12))

    assert isinstance(one, IntervalEstimate)
    assert one.value == pytest.approx(1)
    assert one.low is None
    assert FISHER_TRANSFORM.inverse(0.0) == 0


def noisy_panel(seed: int, *, samples: int = 60) -> RunTable:
    """Judges a and b see one quality, c says anything."""
    rng = np.random.default_rng(seed)
    quality = rng.normal(5, 1, (samples, 2))
    given = {
        "a": quality + rng.normal(0, 0.3, (samples, 2)),
        "b": quality + rng.normal(0, 0.3, (samples, 2)),
        "c": rng.normal(5, 1, (samples, 2)),
    }
    return table({(judge, "accuracy"): column for judge, column in given.items()}, asked=rubric(ALONE))


def test_the_judge_that_says_anything_is_found_and_named() -> None:
    """It is red, the others are not, the panel's findings name it, and the advice to others points to it."""
    audited = build_judge_audit(seen(noisy_panel(1)))

    each = {judge: found(audited, "agreement with others", judge) for judge in "abc"}
    assert {judge: one.colour for judge, one in each.items()} == {"a": "amber", "b": "amber", "c": "red"}
    assert each["c"].low is not None and each["c"].low < 0 < (each["c"].high or 0)
    assert "See c first" in each["a"].advice and "decide without this judge" in each["c"].advice
    for name in ("agreement", "correlation", "correlation within variants"):
        assert "c agrees least with the others" in found(audited, name).says


def test_agreement_with_others_is_the_mean_of_its_correlations_by_hand() -> None:
    """By SciPy: the mean of r(a, b) and r(a, c), with an interval at the level that holds for three judges."""
    rng = np.random.default_rng(9)
    raters = rng.normal(size=(3, 30)) + rng.normal(size=30)

    one = measure_audited_correlation_with_others(raters, 0, np.arange(30), 1 - 0.05 / 3)

    wanted = np.mean([pearsonr(raters[0], raters[place]).statistic for place in (1, 2)])
    assert isinstance(one, IntervalEstimate)
    assert one.value == pytest.approx(wanted)
    assert one.low is not None and one.low < wanted < (one.high or 0)
    assert found(build_judge_audit(seen(noisy_panel(1))), "agreement with others", "a").level == pytest.approx(
        1 - 0.05 / 3
    )


def test_of_two_judges_neither_stands_apart() -> None:
    """Their correlation is one number, of both alike."""
    rng = np.random.default_rng(2)

    audited = build_judge_audit(seen(two_judges(rng.normal(5, 1, (20, 2)), rng.normal(5, 1, (20, 2)))))

    assert not [one for one in audited.findings if one.name == "agreement with others"]
    assert not [one for one in audited.findings if "agrees least" in one.says]


def test_agreement_says_over_what_it_is_taken() -> None:
    """The badge of the run speaks of one variant, the audit of all: two numbers that need not be the same."""
    one = found(build_judge_audit(seen(noisy_panel(1))), "agreement")

    assert one.says.startswith("Krippendorff's α of 3 judges over all variants is ")


def test_one_sample_at_the_end_of_the_scale_leaves_an_interval() -> None:
    """Without the one output on which they differ two judges agree throughout: that is no reason to say nothing."""
    first = np.arange(12) % 2 * 1.0
    second = np.where(np.arange(12) == 3, 0.0, first)

    one = measure_audited_judge_alpha(np.stack([first, second]), np.arange(12))

    assert isinstance(one, IntervalEstimate)
    assert one.low is not None and one.high is not None
    assert one.low < one.value < one.high < 1
