"""Length and score: the slope by hand, hard prompts that do not pose as length, and a difference at equal length."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats as scipy_stats

from evenhand.errors import InputError
from evenhand.stats.regression import LengthControlled, LengthControlledVariant, length_bias, length_controlled

ROWS = st.lists(st.tuples(st.integers(1, 5), st.integers(1, 4000)), min_size=10, max_size=30).filter(
    lambda rows: len({score for score, _ in rows}) > 1 and len({length for _, length in rows}) > 2
)

TWICE = [place // 2 for place in range(20)]


def _of(found: LengthControlled, variant: str) -> LengthControlledVariant:
    return next(one for one in found.variants if one.variant == variant)


def test_a_slope_by_hand() -> None:
    """Lengths 100 and 300, five outputs each, scores 1, 2, 2, 2, 3 and 2, 3, 3, 3, 4: one point per 200 characters.

    Sums of products: lengths with scores 500, lengths 100,000, scores 6.5, so that r² = 500² / 650,000. Without an
    output that lies 1 off its mean of five that mean moves by ¼, and the slope by ⅛ per 100 characters. There are four
    of those: variance 9/10 · 4/64 = 0.056, above the usual 4/8 · 100² / 100,000 = 0.05. t(9) is 2.26216.
    """
    scores, lengths = [1, 2, 2, 2, 3, 2, 3, 3, 3, 4], [100] * 5 + [300] * 5

    found = length_bias(scores, lengths)

    reach = 2.26216 * math.sqrt(0.9 * 4 / 64)
    assert (found.slope, found.low, found.high) == pytest.approx((0.5, 0.5 - reach, 0.5 + reach), abs=1e-5)
    assert (found.explained, found.correlation) == pytest.approx((0.25 / 0.65, math.sqrt(0.25 / 0.65)))
    assert (found.method, found.n, found.outputs, found.alone) == ("least squares, jackknife", 10, 10, 0)


def test_slope_and_correlation_are_those_of_scipy() -> None:
    """A second opinion; for even spread its interval is near too."""
    rng = np.random.default_rng(1)
    lengths = rng.uniform(200, 3000, 200)
    scores = 0.0004 * lengths + rng.normal(0, 1, 200)
    expected = scipy_stats.linregress(lengths, scores)

    found = length_bias(scores, lengths)

    assert (found.slope, found.correlation) == pytest.approx((100 * expected.slope, expected.rvalue))
    assert found.high - found.low == pytest.approx(2 * 1.972 * 100 * expected.stderr, rel=0.1)


def test_hard_prompts_do_not_pose_as_length() -> None:
    """Hard samples get longer outputs and lower scores, while within each sample the longer output scores higher."""
    hard = np.repeat(np.arange(12), 2)
    lengths = 300 * (hard + 1) + np.tile([0, 100], 12)
    scores = 5 - 0.25 * hard + np.tile([0, 0.2], 12) + np.linspace(0, 0.01, 24)

    pooled = length_bias(scores, lengths)
    within = length_bias(scores, lengths, groups=hard)

    assert pooled.high < 0
    assert within.slope == pytest.approx(0.2, abs=0.01)
    assert within.low > 0
    assert (within.method, within.n) == ("least squares within samples, jackknife", 12)


def test_an_output_without_company_is_left_out_and_counted() -> None:
    """There is nothing of its own sample to compare it with."""
    rng = np.random.default_rng(2)
    groups = [*np.repeat(np.arange(10), 2), 77]
    lengths, scores = rng.integers(100, 900, 21), rng.integers(1, 6, 21)

    found = length_bias(scores, lengths, groups=groups)

    assert (found.outputs, found.alone, found.n) == (20, 1, 10)
    assert found.slope == pytest.approx(length_bias(scores[:20], lengths[:20], groups=groups[:20]).slope)


def test_repeats_widen_nothing_and_narrow_nothing() -> None:
    """The same answers told thrice are one cluster each: the interval is that of the answers."""
    rng = np.random.default_rng(3)
    lengths = np.linspace(100, 900, 20)
    scores = (lengths - 500) / 100 * rng.normal(0, 1, 20)

    once = length_bias(scores, lengths)
    thrice = length_bias(np.tile(scores, 3), np.tile(lengths, 3), clusters=[*range(20)] * 3)

    assert (thrice.slope, thrice.low, thrice.high) == pytest.approx((once.slope, once.low, once.high))
    assert (once.n, thrice.n) == (20, 20)


def test_samples_that_share_a_prompt_are_one_unit() -> None:
    """Clusters may be coarser than samples, or finer: the coarser division is what is independent."""
    rng = np.random.default_rng(4)
    lengths, scores = rng.integers(100, 900, 80), rng.integers(1, 6, 80)
    samples, prompts, outputs = np.arange(80) // 4, np.arange(80) // 8, np.arange(80) // 2

    assert length_bias(scores, lengths, groups=samples, clusters=prompts).n == 10
    assert length_bias(scores, lengths, groups=samples, clusters=outputs).n == 20
    with pytest.raises(InputError, match="cut across each other"):
        length_bias(scores, lengths, groups=samples, clusters=np.arange(80) % 7)


@given(ROWS, st.randoms())
def test_order_and_scale_do_not_matter(rows: list[tuple[int, int]], random: st.DataObject) -> None:
    """Shuffled outputs give the same, scores in percent a slope in percent, half the characters twice the slope."""
    shuffled = sorted(rows, key=lambda _: random.random())  # type: ignore[attr-defined]
    try:
        found = length_bias(*zip(*rows, strict=True))
    except InputError as refused:
        assert "one sample " in str(refused)
        return

    other = length_bias([20 * score - 7 for score, _ in shuffled], [length / 2 for _, length in shuffled])

    assert (other.slope, other.low, other.high) == pytest.approx(
        (40 * found.slope, 40 * found.low, 40 * found.high), rel=1e-6, abs=1e-9
    )
    assert (other.correlation, other.explained) == pytest.approx((found.correlation, found.explained), abs=1e-9)


def test_the_interval_covers() -> None:
    """No effect of length, 1–5 scores, lengths with a long tail: 95% less what 300 repetitions may stray."""
    rng = np.random.default_rng(5)

    found = [length_bias(rng.integers(1, 6, 25), np.exp(rng.normal(6, 0.7, 25))) for _ in range(300)]

    assert np.mean([one.low <= 0 <= one.high for one in found]) >= 0.95 - 0.03


def _pairs(
    scores: list[float], longer: list[float], factor: float
) -> tuple[list[float], list[float], list[str], list[int]]:
    """Samples with an output of the control and one of the treatment."""
    n = len(scores)
    return [*scores, *longer], [400.0] * n + [400.0 * factor] * n, ["old"] * n + ["new"] * n, [*range(n)] * 2


def test_length_that_explains_everything_leaves_no_difference() -> None:
    """Scores that are 1 + log₂(length / 100) exactly: a doubling adds 1, and at equal length the variants are equal."""
    rng = np.random.default_rng(6)
    lengths = np.concatenate([rng.uniform(100, 800, 15), rng.uniform(300, 2400, 15)])
    variants, groups = ["old"] * 15 + ["new"] * 15, [*range(15)] * 2

    found = length_controlled(1 + np.log2(lengths / 100), lengths, variants, control="old", groups=groups)

    typical = math.exp(np.log(lengths).mean())
    new = _of(found, "new")
    assert (found.per_doubling.estimate, found.length) == pytest.approx((1.0, typical))
    assert found.scores == pytest.approx([1 + math.log2(typical / 100)] * 30)
    assert new.difference_before is not None
    assert new.difference_before.low > 0
    assert new.difference_after is not None
    assert new.difference_after.estimate == pytest.approx(0, abs=1e-9)


def test_a_better_variant_keeps_what_it_is_better_by() -> None:
    """The treatment writes twice as much and is a point better; within variants length does nothing: nothing goes."""
    noise = np.resize([0, 1, -1, 0, 1, -1, 0, -1, 1, 0, 0, 0], 24)
    jitter = np.resize([1.0, 1.1, 0.9, 1.1], 24)
    lengths = np.concatenate([400 * jitter, 800 * np.roll(jitter, 1)])
    scores = np.concatenate([3.0 + noise, 4.0 + noise])

    found = length_controlled(scores, lengths, ["old"] * 24 + ["new"] * 24, control="old", groups=[*range(24)] * 2)

    new = _of(found, "new")
    assert (new.after - _of(found, "old").after) == pytest.approx(1.0)
    assert new.difference_after is not None
    assert new.difference_after.estimate == pytest.approx(1.0)


@given(st.lists(st.tuples(*[st.integers(1, 5)] * 2, *[st.integers(1, 3000)] * 2), min_size=10, max_size=20))
def test_paired_differences_are_those_of_the_adjusted_means(rows: list[tuple[int, int, int, int]]) -> None:
    """With both variants on every sample, the fitted difference and the difference of means are one number."""
    old, new, short, long = (list(column) for column in zip(*rows, strict=True))
    variants, groups = ["old"] * len(rows) + ["new"] * len(rows), [*range(len(rows))] * 2

    try:
        found = length_controlled([*old, *new], [*short, *long], variants, control="old", groups=groups)
    except InputError:
        return

    ours, theirs = _of(found, "new"), _of(found, "old")
    assert (theirs.difference_before, theirs.difference_after) == (None, None)
    assert ours.difference_before is not None
    assert ours.difference_after is not None
    assert ours.difference_before.estimate == pytest.approx(ours.before - theirs.before, abs=1e-8)
    assert ours.difference_after.estimate == pytest.approx(ours.after - theirs.after, abs=1e-6)


def test_without_samples_the_groups_are_the_variants() -> None:
    """Unpaired outputs: the difference before control is that of the means."""
    rng = np.random.default_rng(7)
    scores, lengths = rng.normal(3, 1, 40), rng.uniform(100, 900, 40)

    found = length_controlled(scores, lengths, ["b", "a"] * 20, control="a")

    ours = _of(found, "b")
    assert ours.difference_before is not None
    assert ours.difference_before.estimate == pytest.approx(scores[::2].mean() - scores[1::2].mean())
    assert (found.method, found.n) == ("least squares on log length, jackknife", 40)


def test_one_variant_is_adjusted_too() -> None:
    """There is no difference then, only scores at the typical length, with the same mean."""
    rng = np.random.default_rng(8)
    scores, lengths = rng.normal(3, 1, 20), rng.uniform(100, 900, 20)

    found = length_controlled(scores, lengths, ["only"] * 20, control="only")

    assert np.mean(found.scores) == pytest.approx(scores.mean())
    assert np.corrcoef(found.scores, np.log(lengths))[0, 1] == pytest.approx(0, abs=1e-9)


def test_length_that_cannot_be_told_from_the_variant_is_refused() -> None:
    """Every output of the treatment is twice as long as the control's: whose doing the point is nobody can say."""
    scores, lengths, variants, groups = _pairs([3, 4, 2, 3, 5, 1] * 2, [4, 5, 3, 3, 5, 2] * 2, factor=2)

    with pytest.raises(InputError, match="lengths differ between variants only"):
        length_controlled(scores, lengths, variants, control="old", groups=groups)


@pytest.mark.parametrize(
    ("scores", "lengths", "groups", "says"),
    [
        ([1, 2] * 6, [500] * 12, None, "all outputs have the same length"),
        ([3] * 12, [*range(12)], None, "all scores are the same"),
        ([0] * 12, [*range(12)], None, "all scores are the same"),
        ([1, 2] * 6, [0] * 12, None, "all outputs have the same length"),
        ([1, 2] * 10, TWICE, TWICE, "no sample has outputs of two lengths"),
        (TWICE, [*range(20)], TWICE, "all scores are the same within samples"),
        ([1, 2, 3], [1, 2, 3], None, "3 independent samples are too few"),
        ([1, 2] * 6, [*range(12)], [*range(12)], "0 independent samples with two outputs or more are too few"),
        ([], [], None, "0 independent samples are too few"),
        ([1] * 12, [1] * 11, None, "11 lengths for 12 scores"),
        ([1, 2] * 6, [-1, 2] * 6, None, "a length cannot be -1"),
        ([1, 2] * 6, [500] * 11 + [700], None, "one sample alone differs in length"),
        ([1, 2] * 6, [1, 2] * 6, [1], "1 groups for 12 scores"),
        ([1, math.nan] * 6, [1, 2] * 6, None, "not a finite number"),
    ],
)  # fmt: skip
def test_data_that_show_nothing_about_length_are_refused(
    scores: list[float], lengths: list[float], groups: list[int] | None, says: str
) -> None:
    """With the reason, never as NaN."""
    with pytest.raises(InputError, match=says):
        length_bias(scores, lengths, groups=groups)


def test_empty_outputs_and_unknown_variants_are_refused() -> None:
    """An empty output is no short one; a control that nobody has is a slip of the pen."""
    scores, lengths, variants = [1, 2, 3] * 4, [10, 20, 30] * 4, ["old", "new"] * 6

    with pytest.raises(InputError, match="output 3 is empty"):
        length_controlled(scores, [10, 20, 30, 0, *lengths[4:]], variants, control="old")
    with pytest.raises(InputError, match=r"no output is of the control 'odl'.*did you mean 'old'"):
        length_controlled(scores, lengths, variants, control="odl")
    with pytest.raises(InputError, match="2 variants for 12 scores"):
        length_controlled(scores, lengths, ["old", "new"], control="old")
    with pytest.raises(InputError, match="a variant has outputs of one sample only"):
        length_controlled(scores, lengths, ["old"] * 11 + ["new"], control="old")


def test_a_slope_that_hangs_on_one_sample_is_refused() -> None:
    """By hand: lengths 100 and 300, five each, and 1,000,000. Of 11 the mean is 91,090.909, so that the squares come to
    9.090000e11 within a millionth, of which the others, 100² · 10 = 100,000 about their own mean, are 1.1e-7.
    """
    scores, lengths = [1, 2, 2, 2, 3, 2, 3, 3, 3, 4, 3], [*[100] * 5, *[300] * 5, 1_000_000]

    with pytest.raises(InputError, match=r"one sample makes up 100% of the differences in length"):
        length_bias(scores, lengths)
    whole = length_bias(scores[:-1], lengths[:-1])
    assert whole.slope == pytest.approx(0.5)


@pytest.mark.parametrize(("longest", "refused"), [(1600, False), (1800, True)])
def test_one_sample_may_make_up_much_of_the_spread(longest: int, refused: bool) -> None:
    """The others have 100,000. One at 200 + d adds d² · 10/11: of 1,400 it makes up 94.7%, of 1,600 95.9%."""
    scores, lengths = [1, 2, 2, 2, 3, 2, 3, 3, 3, 4, 3], [*[100] * 5, *[300] * 5, longest]

    if refused:
        with pytest.raises(InputError, match=r"95\.9%"):
            length_bias(scores, lengths)
    else:
        assert length_bias(scores, lengths).n == 11


def test_within_samples_it_is_the_sample_that_may_not_stand_alone() -> None:
    """Ten samples of two outputs: nine differ by 20 characters, one by 100,000."""
    lengths = [200, 220] * 9 + [200, 100_200]

    with pytest.raises(InputError, match="one sample makes up 100%"):
        length_bias([3, 4] * 10, lengths, groups=TWICE)
