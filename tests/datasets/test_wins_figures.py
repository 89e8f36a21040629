"""Published win rates, accuracies and means, to the printed digit, from the recorded judgments they were made of."""

import math
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand.stats.differences import paired_difference
from evenhand.stats.means import mean_interval, powered_mean
from evenhand.stats.rates import both_orders, wilson, win_rate_of
from evenhand.stats.regression import length_bias, length_controlled
from tests.datasets.read import rows

ALPACA = "alpacaeval_logprobs/annotations.jsonl"
JUDGES = ("gpt-4-turbo-2024-04-09", "gpt-4o-2024-05-13")


@pytest.mark.parametrize(
    ("model", "rate", "error"),
    [
        ("gpt-3.5-turbo-1106", 9.178, 0.890),
        ("gpt-3.5-turbo-1106_verbose", 12.763, 1.044),
        ("claude-2.1", 15.734, 1.120),
        ("vicuna-13b-v1.5", 6.722, 0.767),
    ],
)
def test_alpaca_eval_win_rates(shared: Path, model: str, rate: float, error: float) -> None:
    """Preferences by probability, 805 instructions each; the preference is told from 1 to 2."""
    preferences = [row["preference"] - 1 for row in rows(shared, ALPACA) if row["model"] == model]

    found = win_rate_of(preferences)

    assert (round(100 * found.estimate, 3), round(100 * found.standard_error, 3)) == (rate, error)
    assert (found.n, found.method) == (805, "t")


def test_alpaca_eval_preferences_from_log_probabilities(shared: Path) -> None:
    """What was recorded to ten digits is the share of the candidate's token among the two that name an output."""
    found = [abs(1 + _share(row) - row["preference"]) for row in rows(shared, ALPACA) if "token" in row]

    assert max(found) == 4.997713354271127e-11
    assert len(found) == 3208


def _share(row: dict[str, Any]) -> float:
    chances = {token: math.exp(logprob) for token, logprob in row["top_logprobs"].items() if token in ("m", "M")}
    return chances[row["cand_token"]] / sum(chances.values())


def test_alpaca_eval_prefers_length_within_an_instruction_only(shared: Path) -> None:
    """Over all outputs the longer are preferred less; among outputs to one instruction they are preferred more.

    The logarithm explains almost twice as much as the length itself.
    """
    preferences, lengths, groups, _ = _alpaca(shared)

    pooled = length_bias(preferences, lengths)
    within = length_bias(preferences, lengths, groups=groups)
    by_log = length_bias(preferences, [math.log(length) for length in lengths], groups=groups)

    assert pooled.high < 0 < within.low
    assert (round(100 * within.explained, 1), round(100 * by_log.explained, 1)) == (1.9, 3.7)


def test_alpaca_eval_a_prompt_for_verbosity_gains_nothing_at_equal_length(shared: Path) -> None:
    """The same model told to be verbose wins 3.6 points more, and at equal length no more than chance would give it."""
    preferences, lengths, groups, models = _alpaca(shared)

    found = length_controlled(preferences, lengths, models, control="gpt-3.5-turbo-1106", groups=groups)

    verbose = next(one for one in found.variants if one.variant.endswith("_verbose"))
    assert verbose.difference_before is not None
    assert verbose.difference_after is not None
    assert (round(100 * verbose.difference_before.estimate, 1), verbose.difference_before.low > 0) == (3.6, True)
    assert verbose.difference_after.low < 0 < verbose.difference_after.high


def _alpaca(shared: Path) -> tuple[list[float], list[int], list[str], list[str]]:
    read = rows(shared, ALPACA)
    return (
        [row["preference"] - 1 for row in read],
        [row["len_cand"] for row in read],
        [row["instr"] for row in read],
        [row["model"] for row in read],
    )


@pytest.mark.parametrize(
    ("subset", "strategy", "accuracy", "agreement"),
    [
        ("Natural", "Vanilla", 95.5, 95.0),
        ("Natural", "Vanilla_NoRules", 93.5, 97.0),
        ("Neighbor", "Vanilla", 78.7, 93.3),
        ("Neighbor", "Vanilla_NoRules", 64.2, 89.6),
    ],
)
def test_llmbar_accuracy_and_positional_agreement(
    shared: Path, subset: str, strategy: str, accuracy: float, agreement: float
) -> None:
    """Every pair asked in both orders: right answers of all, and pairs whose winner did not follow the place."""
    asked = [
        row
        for row in rows(shared, "llmbar_pairwise/replies_vanilla.jsonl")
        if (row["subset"], row["judge"], row["strategy"]) == (subset, "GPT-4", strategy)
    ]
    # The output that should win is shown first where it is output 1 and not swapped, or output 2 and swapped.
    right = {
        (row["n"], (row["label"] == 1) != row["swapped"]): row["authors_winner"] == str(row["label"]) for row in asked
    }
    pairs = sorted({row["n"] for row in asked})

    found = both_orders([right[pair, True] for pair in pairs], [right[pair, False] for pair in pairs])

    assert round(100 * wilson(sum(right.values()), len(right)).estimate, 1) == accuracy
    assert round(100 * (1 - found.followed_place.estimate), 1) == agreement
    assert round(100 * found.wins.estimate, 1) == accuracy


@pytest.mark.parametrize(
    ("judge", "once", "eight"),
    [
        ("gpt-5.4", 71.7, 81.5),
        ("gpt-5.4-mini", 64.8, 79.2),
        ("claude-sonnet-4.6", 72.3, 82.7),
        ("claude-haiku-4.5", 72.3, 84.8),
        ("gpt-5.4-nano", 52.2, 71.7),
    ],
)
def test_reward_bench_accuracy_of_one_and_eight_repeats(shared: Path, judge: str, once: float, eight: float) -> None:
    """The right one of four must have the highest mean alone; items with a response that has no score are left out."""
    read = [row[judge] for row in rows(shared, "rewardbench2_k8/base_prompt.jsonl") if judge in row]

    accuracies = []
    for repeats in (1, 8):
        means = [[_mean(scores[:repeats]) for scores in row] for row in read]
        scored = [row for row in means if None not in row]
        hits = sum(max(row[1:]) < row[0] for row in scored)  # type: ignore[type-var, operator]
        accuracies.append(round(100 * wilson(hits, len(scored)).estimate, 1))

    assert accuracies == [once, eight]


def _mean(scores: list[int | None]) -> float | None:
    given = [score for score in scores if score is not None]
    return sum(given) / len(given) if given else None


def test_pandalm_judge_against_the_majority(shared: Path) -> None:
    """71.07% of 999; the 25 replies that could not be read count as ties, as its authors had it."""
    items, told = _pandalm(shared)

    hits = sum(majority == said for majority, said in zip(items, told, strict=True))

    assert round(100 * wilson(hits, len(items)).estimate, 2) == 71.07


def test_pandalm_labels_beside_the_judge_agree_with_all_labels(shared: Path) -> None:
    """50 labels and 999 judgments of how often the first response wins: the interval holds the mean of all labels."""
    people, judge = ([{0: 0.5, 1: 1.0, 2: 0.0}[answer] for answer in answers] for answers in _pandalm(shared))
    labels = [label if place % 20 == 0 else None for place, label in enumerate(people)]

    found = powered_mean(judge, labels)

    assert (found.n, found.judged) == (50, 999)
    assert found.low < sum(people) / 999 < found.high
    assert found.high - found.low < found.labels_only.high - found.labels_only.low


def _pandalm(shared: Path) -> tuple[list[int], list[int]]:
    """The majority of three people and the judge, 0 for a tie, by item."""
    people = [
        Counter(row[f"annotator{number}"] for number in (1, 2, 3)).most_common(1)[0][0]
        for row in rows(shared, "pandalm_3annotators/items.jsonl")
    ]
    said = [row["gpt_result"] for row in rows(shared, "pandalm_3annotators/judge_gpt-3.5-turbo.jsonl")]
    return people, [{"1": 1, "2": 2}.get(answer, 0) for answer in said]


@pytest.mark.parametrize(
    ("variant", "turbo", "omni"),
    [("Qwen1.5-72B-Chat-greedy", 7.797, 7.167), ("gpt-3.5-turbo-0125", 7.105, 6.606), ("gemma-7b-it", 6.193, 5.499)],
)
def test_wildbench_means_and_the_offset_between_judges(shared: Path, variant: str, turbo: float, omni: float) -> None:
    """Both judges order the variants alike; the second is stricter by half a point and more, on the same outputs."""
    read = [row["scores"][variant] for row in rows(shared, "wildbench_scores/scores.jsonl")]
    by_judge = [[float(row[judge]) for row in read if judge in row] for judge in JUDGES]
    both = [[float(row[judge]) for judge in JUDGES] for row in read if set(JUDGES) <= set(row)]

    means = [mean_interval(scores).estimate for scores in by_judge]
    offset = paired_difference(*zip(*both, strict=True), rng=np.random.default_rng(1))

    assert [round(mean, 3) for mean in means] == [turbo, omni]
    assert offset.estimate == pytest.approx(turbo - omni, abs=0.01)
    assert offset.low > 0.4
