"""Recorded judgments asked about one by one: how much `--until-decided` saves, and how often it says the same."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path

import numpy as np
import pytest

from evenhand.compare.decide import decide_comparison
from evenhand.compare.decision import VariantColumn
from evenhand.compare.stopping import EarlyVerdict, EarlyVerdictRule, StoppingTerms
from evenhand.stats.differences import difference_of
from evenhand.stats.multiple_tests import Looks, looks_after, planned_looks
from tests.datasets.read import rows
from tests.datasets.verdicts import CRITERIA, JUDGES, judge
from tests.soak import SOAK, at_least, often

ASKED, AGREED, OPPOSITE = 0.50, 0.85, 0.01
SEED = 1
Pair = tuple[Sequence[float], Sequence[float]]  # What the control and the treatment scored, sample by sample.


@dataclass(frozen=True)
class Measured:
    """Over all pairs and orders: the share of questions asked where the full run differs, and how far both agree."""

    asked: float
    agreed: float
    opposite: float
    runs: int

    def __str__(self) -> str:
        return (
            f"asks {self.asked:.1%} of the questions about pairs that differ, agrees in {self.agreed:.1%} and is of "
            f"opposite sign in {self.opposite:.2%} of {self.runs:,} runs"
        )


@pytest.mark.parametrize("name", JUDGES)
def test_summaries_are_told_apart_with_half_the_questions(shared: Path, name: str) -> None:
    """66 pairs of systems on four criteria, 100 documents each; every run has an order of its own."""
    measured = measure(summaries(shared, name)[:: often(5, 1)], orders=often(1, 10))

    assert measured.asked <= ASKED, measured
    assert measured.agreed >= AGREED, measured
    assert measured.opposite <= OPPOSITE, measured


@pytest.mark.parametrize("name", JUDGES)
def test_whole_verdicts_agree_too(shared: Path, name: str) -> None:
    """All rules, not the direction alone: PROGRESS stays PROGRESS and NOISE stays NOISE."""
    pairs = summaries(shared, name)[:: often(33, 1)]
    rng = np.random.default_rng(SEED)

    agreed = np.mean([_verdict(pair, None) == _verdict(*_cut(pair, rng)) for pair in pairs])

    assert agreed >= (AGREED if SOAK else at_least(AGREED, len(pairs))), f"{agreed:.1%} of {len(pairs)} verdicts agree"


def test_a_thousand_prompts_take_a_tenth_of_the_questions(shared: Path) -> None:
    """Three systems of WildBench by two judges, scores 1 to 10: all differ, and clearly."""
    measured = measure(prompts(shared), orders=often(2, 20))

    assert measured.asked <= 0.1, measured
    assert measured.agreed == 1, measured


@pytest.mark.parametrize("whose", ["experts", "experts, by criterion", "free text"])
def test_what_a_full_run_holds_back_a_stopped_run_does_not_ship(shared: Path, whose: str) -> None:
    """Default gates, four layers, three judges where there are; some of the pairs of systems, all in `make soak`."""
    pairs = list(_layered_pairs(shared, whose))[:: often(18, 1)]
    rng = np.random.default_rng(SEED)

    said = [_full_and_stopped(*pair, rng.permutation(100).tolist()) for pair in pairs]

    shipped = [one for one in said if one == ("CAUTIOUS", "PROGRESS")]
    assert len(shipped) <= 0.02 * len(said), f"{len(shipped)} of {len(said)}"
    assert not {("PROGRESS", "REGRESS"), ("REGRESS", "PROGRESS")} & set(said)


Layered = tuple[dict[str, list[float]], list[list[float]]]  # Scores by layer, and by judge.


def _layered_pairs(shared: Path, whose: str) -> Iterator[tuple[Layered, Layered]]:
    if whose == "free text":
        scores = judge(shared, whose)
        systems = sorted({system for system, _ in scores})
        found: list[dict[str, Layered]] = [
            {one: ({criterion: scores[one, criterion] for criterion in CRITERIA}, []) for one in systems}
        ]
    else:
        given = {(row["system"], row["doc"]): row["expert"] for row in rows(shared, "summeval_judges/items.jsonl")}
        systems = sorted({system for system, _ in given})
        sets = [(criterion,) for criterion in CRITERIA] if "by" in whose else [CRITERIA]
        found = [
            {
                one: (
                    {name: [float(np.mean(given[one, place][name])) for place in range(100)] for name in names},
                    [
                        [float(np.mean([given[one, place][name][seat] for name in names])) for place in range(100)]
                        for seat in range(3)
                    ],
                )
                for one in systems
            }
            for names in sets
        ]
    yield from ((by[one], by[other]) for by in found for one, other in combinations(systems, 2))


def _full_and_stopped(control: Layered, treatment: Layered, order: list[int]) -> tuple[str, str]:
    """The verdict over all samples, and the one where the stopping rule ended the run."""
    looks = planned_looks(len(order))
    terms = StoppingTerms(span=4.0, default_gate=3.5)
    rule = EarlyVerdictRule(
        order=order, looks=looks, variants=("old", "new"), control="old", repeats=1, seed=SEED, terms=terms
    )
    both = {"old": control, "new": treatment}
    composites = {name: np.mean(list(one[0].values()), axis=0).tolist() for name, one in both.items()}
    for place in order:
        numbers: dict[str, dict[tuple[str, ...], float | None]] = {}
        for name, (layers, judges) in both.items():
            numbers[name] = {("composite",): composites[name][place]}
            numbers[name] |= {("layers", layer): row[place] for layer, row in layers.items()}
            numbers[name] |= {("reviews", str(seat)): row[place] for seat, row in enumerate(judges)}
        if rule.take_compared_scores(place, 0, numbers):
            break
    used = rule.settled.samples_until_verdict if rule.settled else len(order)

    def decide(asked: Sequence[int], taken: Looks | None) -> str:
        columns = {
            name: VariantColumn(
                composite=[composites[name][place] for place in asked],
                layers={layer: [row[place] for place in asked] for layer, row in layers.items()},
            )
            for name, (layers, _) in both.items()
        }
        judges = {
            name: {str(number): [row[place] for place in asked] for number, row in enumerate(one)}
            for name, (_, one) in both.items()
            if one
        }
        return decide_comparison(
            columns, control="old", clusters=range(len(asked)), seed=SEED, judges=judges, looks=taken
        ).verdict

    return decide(range(len(order)), None), decide(order[:used], looks_after(used, looks))


def measure(pairs: Sequence[Pair], orders: int) -> Measured:
    """Each pair run in full, and in so many random orders until it is decided."""
    rng = np.random.default_rng(SEED)
    full, stopped, used = [], [], []
    for control, treatment in pairs:
        found = difference_of(np.subtract(treatment, control), rng=np.random.default_rng(SEED))
        for _ in range(orders):
            settled = until_decided(control, treatment, rng.permutation(len(control)).tolist())
            full.append(np.sign(found.estimate) if found.p < 0.05 else 0.0)
            stopped.append(_direction(settled))
            used.append(settled.samples_until_verdict / len(control) if settled else 1.0)
    truth, said = np.array(full), np.array(stopped)
    return Measured(
        asked=float(np.array(used)[truth != 0].mean()),
        agreed=float((truth == said).mean()),
        opposite=float((truth * said < 0).mean()),
        runs=len(full),
    )


def until_decided(control: Sequence[float], treatment: Sequence[float], order: Sequence[int]) -> EarlyVerdict | None:
    """Where the stopping rule ends a run that asks in this order."""
    looks = planned_looks(len(order))
    rule = EarlyVerdictRule(order=order, looks=looks, variants=("old", "new"), control="old", repeats=1, seed=SEED)
    for position in order:
        if rule.take_compared_scores(position, 0, {"old": control[position], "new": treatment[position]}):
            break
    return rule.settled


def _direction(settled: EarlyVerdict | None) -> float:
    return 0.0 if settled is None else 1.0 if settled.why == "new is better" else -1.0


def _cut(pair: Pair, rng: np.random.Generator) -> tuple[Pair, Looks]:
    """The pair as far as it was asked about, and the looks that it took."""
    control, treatment = pair
    order = rng.permutation(len(control)).tolist()
    settled = until_decided(control, treatment, order)
    asked = order[: settled.samples_until_verdict] if settled else order
    seen = [control[place] for place in asked], [treatment[place] for place in asked]
    return seen, looks_after(len(asked), planned_looks(len(control)))


def _verdict(pair: Pair, looks: Looks | None) -> str:
    # No gate was set for these data: what is asked is who is better.
    columns = {
        name: VariantColumn(composite=row, layers={"judge": row})
        for name, row in zip(("old", "new"), pair, strict=True)
    }
    early = looks is not None and looks.taken[-1] < looks.planned
    return decide_comparison(
        columns,
        control="old",
        clusters=range(len(pair[0])),
        seed=SEED,
        gates={"judge": 1.0},
        looks=looks,
        stopped_early=early,
    ).verdict


def summaries(shared: Path, name: str) -> list[Pair]:
    """Every pair of the twelve systems on every criterion."""
    scores = judge(shared, name)
    systems = sorted({system for system, _ in scores})
    return [
        (scores[one, criterion], scores[other, criterion])
        for criterion in CRITERIA
        for one, other in combinations(systems, 2)
    ]


def prompts(shared: Path) -> list[Pair]:
    """Every pair of the three systems by either judge, over the prompts that all have a score for."""
    found = [row["scores"] for row in rows(shared, "wildbench_scores/scores.jsonl")]
    systems, judges = sorted(found[0]), sorted(found[0][min(found[0])])
    whole = [row for row in found if all(row[system].get(one) for system in systems for one in judges)]

    def scores(system: str, by: str) -> list[float]:
        return [float(row[system][by]) for row in whole]

    return [(scores(one, by), scores(other, by)) for by in judges for one, other in combinations(systems, 2)]
