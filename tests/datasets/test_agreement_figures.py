"""Published figures of agreement and correlation, from the recorded ratings and replies, to the printed digits."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from pathlib import Path
from statistics import median_high

import numpy as np
import pytest

from evenhand.stats.agreement import cohen_kappa, fleiss_kappa, krippendorff
from evenhand.stats.arrays import Undefined
from evenhand.stats.correlation import kendall_tau, pearson, spearman
from evenhand.stats.ratings import Agreement, Correlation
from tests.datasets.read import rows

DIMENSIONS = ("coherence", "consistency", "fluency", "relevance")
DOCUMENTS = range(100)
COUNCIL = {
    "Claude Opus 4.7 (OpenRouter)": (537, 0.4792),
    "Claude Sonnet 4.6 (OpenRouter)": (537, 0.5123),
    "GPT-5.5 (reasoning=low)": (537, 0.4789),
    "GPT-4o (chat)": (537, 0.4065),
    "Gemini 3.1 Pro Preview (OpenRouter)": (127, 0.4092),
    "Gemini 2.5 Pro (OpenRouter)": (92, 0.5513),
    "DeepSeek V4 Pro (OpenRouter)": (212, 0.4705),
    "Qwen 3.6 Plus (OpenRouter)": (537, 0.4141),
    "Gemma 4 26B (OpenRouter)": (537, 0.3958),
}


@pytest.mark.parametrize(
    ("replies", "rho", "r", "tau"),
    [
        ("mcq", [0.424, 0.343, 0.343, 0.384], [0.416, 0.487, 0.431, 0.395], [0.35, 0.32, 0.305, 0.329]),
        ("rts", [0.444, 0.423, 0.285, 0.448], [0.467, 0.532, 0.302, 0.463], [0.349, 0.378, 0.24, 0.357]),
    ],
)
def test_summeval_over_all_summaries(
    shared: Path, replies: str, rho: list[float], r: list[float], tau: list[float]
) -> None:
    """1,200 summaries: the judge against the mean of three experts."""
    experts, judge = _experts(shared), _judge(shared, replies)

    found = [
        [_rounded(measure(*_columns(judge, experts, dimension, experts))) for dimension in DIMENSIONS]
        for measure in (spearman, pearson, kendall_tau)
    ]

    assert found == [rho, r, tau]


@pytest.mark.parametrize(
    ("replies", "rho", "tau"),
    [
        ("mcq", [0.427, 0.429, 0.408, 0.311], [0.37, 0.409, 0.379, 0.277]),
        ("rts", [0.4, 0.448, 0.32, 0.433], [0.333, 0.414, 0.283, 0.372]),
    ],
)
def test_summeval_within_documents(shared: Path, replies: str, rho: list[float], tau: list[float]) -> None:
    """The mean over documents of the correlation over systems; a document where a side is constant has none."""
    experts, judge = _experts(shared), _judge(shared, replies)
    documents = [[key for key in experts if key[0] == document] for document in DOCUMENTS]

    found = [
        [_mean(measure(*_columns(judge, experts, dimension, keys)) for keys in documents) for dimension in DIMENSIONS]
        for measure in (spearman, kendall_tau)
    ]

    assert found == [rho, tau]


@pytest.mark.parametrize(("replies", "right"), [("mcq", [54, 56, 60, 58]), ("rts", [54, 56, 62, 62])])
def test_summeval_pairs_of_systems_won_right(shared: Path, replies: str, right: list[int]) -> None:
    """Of two systems the one that is better on more documents wins; the judge names the experts' winner."""
    experts, judge = _experts(shared), _judge(shared, replies)
    systems = list(dict.fromkeys(system for _, system in experts))

    found = []
    for dimension in DIMENSIONS:
        columns = _columns(judge, experts, dimension, [(d, system) for system in systems for d in DOCUMENTS])
        sides = [np.reshape(column, (len(systems), -1)) for column in columns]
        pairs = combinations(range(len(systems)), 2)
        found.append(sum(len({_winner(side[one], side[other]) for side in sides}) == 1 for one, other in pairs))

    assert found == right


PRINTED = {
    ("geval", "coherence"): (0.468, 0.391),
    ("geval", "engagingness"): (0.551, 0.515),
    ("geval_no_auto_cot", "coherence"): (0.443, 0.402),
    ("geval_no_auto_cot", "engagingness"): (0.564, 0.535),
    ("llm_eval_no_cot", "coherence"): (0.524, 0.424),
    ("llm_eval_no_cot", "engagingness"): (0.611, 0.56),
}
PUBLISHED = {
    ("geval", "coherence"): (0.468, 0.391),
    ("geval", "engagingness"): (0.549, 0.513),
    ("geval_no_auto_cot", "coherence"): (0.443, 0.404),
    ("geval_no_auto_cot", "engagingness"): (0.557, 0.535),
    ("llm_eval_no_cot", "coherence"): (0.524, 0.426),
    ("llm_eval_no_cot", "engagingness"): (0.611, 0.557),
}


@pytest.mark.parametrize(("mode", "dimension"), PRINTED)
def test_topical_chat_by_the_last_number_that_stands_alone(shared: Path, mode: str, dimension: str) -> None:
    """This reader is the one that gives the printed digits: 2.5 stays 2.5, and "1. Engagingness: 2" is a 2."""
    pattern = re.compile(r"\b[1-3](?:\.\d+)?\b")

    found = _topical_chat(shared, mode, dimension, lambda reply: next(iter(pattern.findall(reply)[::-1]), None))

    assert found == PRINTED[mode, dimension]


@pytest.mark.parametrize(("mode", "dimension"), PUBLISHED)
def test_topical_chat_by_the_first_digit(shared: Path, mode: str, dimension: str) -> None:
    """The reader of the paper, which makes 2.5 a 2, gives the paper's figures."""
    pattern = re.compile(r"[1-3]")

    found = _topical_chat(shared, mode, dimension, lambda reply: next(iter(pattern.findall(reply)), None))

    assert found == PUBLISHED[mode, dimension]


def test_pandalm_annotators(shared: Path) -> None:
    """Three people on 999 pairs of answers."""
    items = rows(shared, "pandalm_3annotators/items.jsonl")
    raters = [[item[f"annotator{number}"] for item in items] for number in (1, 2, 3)]

    kappas = [_rounded(cohen_kappa(one, other)) for one, other in combinations(raters, 2)]
    several = [_rounded(found) for found in (fleiss_kappa(raters), krippendorff(raters, "nominal"))]

    assert kappas == [0.852, 0.879, 0.862]
    assert several == [0.864, 0.864]


def test_dices_crowd(shared: Path) -> None:
    """123 raters say Yes, No or Unsure."""
    given = [row["ratings"] for row in rows(shared, "multirater_humans/dices_350_crowd.jsonl")]

    found = krippendorff(_raters(given), "nominal")

    assert isinstance(found, Agreement)
    assert (round(found.value, 4), found.n) == (0.1609, 350)


@pytest.mark.parametrize(
    ("metric", "alpha"),
    [("Informativeness", 0.2849), ("Relevance", 0.1151), ("Fluency", -0.0158), ("Coherence", 0.065)],
)
def test_newsroom(shared: Path, metric: str, alpha: float) -> None:
    """Ordinal ratings, with units that have fewer raters than others."""
    given = [row["ratings"] for row in rows(shared, "multirater_humans/newsroom.jsonl") if row["metric"] == metric]

    found = krippendorff(_raters(given), "ordinal")

    assert _rounded(found, 4) == alpha


def test_council_against_people(shared: Path) -> None:
    """Quadratic κ of nine judges with the labels, three of whom answered only part, and of their upper median."""
    items = rows(shared, "council_9judges/trec_rag_2024.jsonl")
    human = [item["human"] for item in items]
    columns = {judge: [item["judges"][judge] for item in items] for judge in COUNCIL}
    given = [[score for score in scores if score is not None] for scores in zip(*columns.values(), strict=True)]

    found = {judge: cohen_kappa(human, scores, weights="quadratic") for judge, scores in columns.items()}
    upper = cohen_kappa(human, [median_high(scores) for scores in given], weights="quadratic")

    assert {judge: (kappa.n, _rounded(kappa, 4)) for judge, kappa in found.items()} == COUNCIL
    assert _rounded(upper, 4) == 0.4941


def test_council_among_themselves(shared: Path) -> None:
    """Ordinal α over the nine, with two thirds missing from some."""
    items = rows(shared, "council_9judges/trec_rag_2024.jsonl")

    found = krippendorff([[item["judges"][judge] for item in items] for judge in COUNCIL], "ordinal")

    assert _rounded(found, 4) == 0.6896


Key = tuple[int, str]


def _experts(shared: Path) -> dict[Key, dict[str, float]]:
    """The mean of the three experts, by document and system."""
    return {
        (item["doc"], item["system"]): {name: float(np.mean(given)) for name, given in item["expert"].items()}
        for item in rows(shared, "summeval_judges/items.jsonl")
    }


def _judge(shared: Path, replies: str) -> dict[Key, dict[str, float]]:
    """The score that was read from each reply; of repeated records the last."""
    found: dict[Key, dict[str, float]] = defaultdict(dict)
    for row in rows(shared, f"summeval_judges/replies_gpt-3.5-turbo-0301_{replies}.jsonl"):
        found[row["doc"], row["system"]][row["dim"]] = row["authors_score"]
    return found


def _columns(
    judge: dict[Key, dict[str, float]], experts: dict[Key, dict[str, float]], dimension: str, keys: Iterable[Key]
) -> tuple[list[float], list[float]]:
    keys = list(keys)
    return [judge[key][dimension] for key in keys], [experts[key][dimension] for key in keys]


def _winner(one: Sequence[float], other: Sequence[float]) -> int:
    """1 or -1, whichever is higher on more documents; 0 where neither is."""
    return int(np.sign(np.sign(np.round(np.subtract(one, other), 9)).sum()))


def _topical_chat(shared: Path, mode: str, dimension: str, read: Callable[[str], str | None]) -> tuple[float, float]:
    """Pearson over all, τ-b as the mean over dialogues; the judge's score is the mean of the replies that were read."""
    groups = defaultdict(list)
    for row in rows(shared, f"topicalchat_geval/{mode}.jsonl"):
        if row["dim"] == dimension:
            scores = [float(score) for score in map(read, row["replies"]) if score is not None]
            groups[row["group"]].append((float(np.mean(scores)), row["human"]))
    judged, human = zip(*(pair for pairs in groups.values() for pair in pairs), strict=True)
    return _rounded(pearson(judged, human)), _mean(kendall_tau(*zip(*pairs, strict=True)) for pairs in groups.values())


def _raters(units: list[list[float | str]]) -> list[list[float | str | None]]:
    """Ratings by unit as rows by rater; who rated is not told, so the first of each unit make one row."""
    most = max(map(len, units))
    padded = [[*ratings, *[None] * (most - len(ratings))] for ratings in units]
    return [list(row) for row in zip(*padded, strict=True)]


def _mean(found: Iterable[Correlation | Undefined]) -> float:
    values = [one.value for one in found if isinstance(one, Correlation)]
    return round(float(np.mean(values)), 3)


def _rounded(found: Agreement | Correlation | Undefined, digits: int = 3) -> float:
    assert not isinstance(found, Undefined)
    return round(found.value, digits)
