"""Biases: planted ones are found in the judge that has them, absent ones are not reported."""

import numpy as np
import pytest

from evenhand.calibrate.audits.audit import build_judge_audit
from evenhand.calibrate.audits.judge_bias import identify_audited_judge_maker
from tests.calibrate.audited import ALONE, found, rubric, seen, table, two_judges
from tests.calibrate.simulated import JUDGES, MAKERS, Planted, panel

BIASES = ("position", "length", "self-preference", "harshness")


@pytest.mark.parametrize(
    ("planted", "name"),
    [
        (Planted(position=1.2), "position"),
        (Planted(length=0.3), "length"),
        (Planted(own=1.3), "self-preference"),
        (Planted(harsh=1.2), "harshness"),
    ],
)
def test_a_planted_bias_is_found_in_the_judge_that_has_it(planted: Planted, name: str) -> None:
    """In nine of ten runs and more, and the others are not blamed for it."""
    runs = [build_judge_audit(seen(panel(planted, seed), makers=MAKERS)) for seed in range(10)]

    caught = [found(one, name, JUDGES[0]).colour in ("red", "amber") for one in runs]
    blamed = [found(one, name, JUDGES[2]).colour in ("red", "amber") for one in runs if name != "harshness"]
    estimates = [found(one, name, JUDGES[0]).value or 0.0 for one in runs]

    assert sum(caught) >= 9
    assert sum(blamed) <= 1
    size = {"position": 1.2, "length": 0.3, "self-preference": 1.3, "harshness": -1.2}[name]
    assert np.mean(estimates) == pytest.approx(size, rel=0.1)


def test_where_nothing_is_planted_hardly_anything_is_reported() -> None:
    """All judges' intervals of one kind hold together in 95 of 100 runs: five of each hundred may be wrong."""
    runs = [build_judge_audit(seen(panel(Planted(), seed, samples=20, noise=2), makers=MAKERS)) for seed in range(60)]

    alarms = {
        name: sum(any(f.colour in ("red", "amber") for f in one.findings if f.name == name) for one in runs)
        for name in BIASES
    }

    assert max(alarms.values()) <= 8, alarms  # Binomial: more than 8 of 60 come up once in 200 tries at 5%.


@pytest.mark.parametrize(
    ("apart", "rise", "told"),
    [
        (400.0, "noise", "the variants differ in length by the same amount on every sample"),
        ("noise", 1.0, "the variants differ in score by the same amount on every sample"),
        (0.0, "noise", "no sample has outputs of two lengths"),
    ],
)
def test_what_keeps_length_from_being_told_is_named(apart: float | str, rise: float | str, told: str) -> None:
    """That the variants are as far apart everywhere is something else than that they do not differ."""
    rng = np.random.default_rng(3)
    noise = rng.normal(0, 1, 40)
    length, base = rng.normal(600, 80, 40), rng.normal(5, 1, 40)
    lengths = np.stack([length, length + (60 * noise if apart == "noise" else float(apart))], axis=1)
    scores = np.stack([base, base + (noise if rise == "noise" else float(rise))], axis=1)

    one = found(build_judge_audit(seen(two_judges(scores, scores, length=lengths))), "length", "a")

    assert one.colour == "grey"
    assert told in one.says


def test_a_better_variant_is_no_bias_of_length() -> None:
    """The new variant is longer and better; among outputs of one variant length buys nothing."""
    rng = np.random.default_rng(5)
    length = np.array([300.0, 900.0]) + rng.normal(0, 60, (40, 2))
    scores = np.array([4.0, 7.0]) + rng.normal(0, 0.3, (40, 2))

    one = found(build_judge_audit(seen(two_judges(scores, scores + 0.1, length=length))), "length", "a")

    assert one.low is not None
    assert one.high is not None
    assert one.low < 0 < one.high


def test_the_first_seat_is_worth_what_it_is_worth_by_hand() -> None:
    """Old − new: 2 where old is first, 0 where new is: half of 2 − 0 is 1 point for the first seat."""
    first = [[6.0, 4.0], [6.0, 4.0], [5.0, 5.0], [5.0, 5.0]]
    seats = [[1, 2], [1, 2], [2, 1], [2, 1]]
    run = two_judges(first, np.array(first) + [[0.5, 0.5]] * 4, seats={"a": seats})

    one = found(build_judge_audit(seen(run)), "position", "a")

    assert one.value == pytest.approx(1.0)
    assert one.colour == "grey"  # Four samples set no bounds.
    assert "1: 5.50, 2: 4.50" in one.says


def test_seats_that_never_change_are_not_known() -> None:
    """Whether the first is better or the first seat is cannot be told apart."""
    answers = np.random.default_rng(1).normal(5, 1, (12, 2))

    audited = build_judge_audit(seen(two_judges(answers, answers, seats={"a": [[1, 2]] * 12})))

    assert found(audited, "position", "a").colour == "grey"
    assert "same order" in found(audited, "position", "a").says
    assert "alone" in found(audited, "position", "b").says


def test_harshness_is_the_mean_gap_to_the_others_with_the_interval_of_the_paired_test() -> None:
    """One point below the other judge on every output but two."""
    theirs = np.array([[5.0, 6.0]] * 12)
    ours = theirs - 1
    ours[0] = theirs[0]

    one = found(build_judge_audit(seen(two_judges(ours, theirs))), "harshness", "a")

    assert one.value == pytest.approx(-11 / 12)
    assert one.n == 12
    assert one.high is not None
    assert one.high < 0
    assert one.colour == "amber"  # An offset that all outputs bear alike moves no comparison.


def test_a_harsh_judge_that_skips_outputs_is_worse_than_harsh() -> None:
    """Who is not judged by the harsh one is better off: then the offset decides."""
    theirs = np.array([[5.0, 6.0]] * 12)
    ours = theirs - 2
    ours[:6, 1] = np.nan

    one = found(build_judge_audit(seen(two_judges(ours, theirs))), "harshness", "a")

    assert one.colour == "red"
    assert one.advice == "Let it score every output: then its offset is the same for all variants."


@pytest.mark.parametrize(
    ("variants", "skips", "normalises", "advice"),
    [
        (2, False, False, "It scored every output, so its offset moves no comparison; to bring it closer, anchor"),
        (2, True, True, "Let it score every output: then its offset is the same for all variants."),
        (3, False, False, "It scored every output, so its offset moves no comparison; normalise: z in the panel"),
        (3, True, False, "Let the panel step of the rubric normalise (normalise: z), or let it score every output."),
        (3, False, True, "Nothing to do: the panel step of the rubric normalises (normalise: z)"),
    ],
)
def test_the_advice_on_a_harsh_judge_can_be_followed(variants: int, skips: bool, normalises: bool, advice: str) -> None:
    """A judge that scored every output is not told to, and normalising needs three outputs of a sample."""
    theirs = np.array([[5.0, 6.0, 7.0][:variants]] * 12)
    ours = theirs - 2
    ours[:3, 0] = np.nan if skips else ours[:3, 0]
    run = two_judges(ours, theirs, variants=("old", "new", "other")[:variants])

    one = found(build_judge_audit(seen(run, normalises=normalises)), "harshness", "a")

    assert one.advice.startswith(advice)


def test_self_preference_is_the_lead_beyond_the_lead_that_others_see() -> None:
    """By hand: its own kin leads by 2 with the judge and by 0.5 with the other: 1.5."""
    own, other = np.array([[7.0, 5.0]] * 10), np.array([[6.0, 5.5]] * 10)
    run = table(
        {("openai/gpt-1", "accuracy"): own, ("anthropic/c", "accuracy"): other},
        asked=rubric(ALONE),
        variants=("x", "y"),
    )

    one = found(
        build_judge_audit(seen(run, makers={"x": "openai/gpt-2", "y": "anthropic/claude-2"})),
        "self-preference",
        "openai/gpt-1",
    )

    assert one.value == pytest.approx(1.5)


@pytest.mark.parametrize(
    ("makers", "why"),
    [
        ({}, "does not say which model"),
        ({"old": "ollama/llama", "new": "ollama/qwen"}, "no variant is by"),
        ({"old": "openai/gpt-1", "new": "openai/gpt-2"}, "every variant is by"),
    ],
)
def test_self_preference_that_cannot_be_told_says_why(makers: dict[str, str], why: str) -> None:
    """Grey, not green."""
    run = table(
        {("openai/gpt-1", "accuracy"): [[5, 6]] * 9, ("embedded", "accuracy"): [[5, 6]] * 9}, asked=rubric(ALONE)
    )

    audited = build_judge_audit(seen(run, makers=makers))

    assert why in found(audited, "self-preference", "openai/gpt-1").says
    assert "this judge's maker is not known" in found(audited, "self-preference", "embedded").says


@pytest.mark.parametrize(
    ("name", "made_by"),
    [
        ("openai/gpt-4o", "openai"), ("openai/o3-mini", "openai"), ("anthropic/claude-sonnet-4", "anthropic"),
        ("openai-compatible:http://host:80/v1/gpt-4o", "openai"), ("ollama/llama3.1:70b", "llama"),
        ("gguf:/models/qwen2.gguf", "qwen"), ("embedded", None), ("python:house:judge", None),
        ("replay:a/b.jsonl", None),
    ],
)  # fmt: skip
def test_who_made_a_model_is_read_off_its_name(name: str, made_by: str | None) -> None:
    """One family under several addresses is one family."""
    assert identify_audited_judge_maker(name) == made_by
