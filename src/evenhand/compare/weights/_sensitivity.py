"""Does the ranking of variants survive other weights: of the criteria, of the layers, without one judge."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenhand.compare.weights._found import Sensitivity
from evenhand.compare.weights._told import told
from evenhand.errors import Fault, InputError

if TYPE_CHECKING:
    from evenhand.runs import Table

MOST_DRAWS = 1_000_000
MOST_VARIANTS = 50  # Beyond, the pairs of variants outgrow what a page can hold.


def sensitivity(
    table: Table, rubrics: Mapping[str, Any], *, draws: int = 10_000, seed: int = 0, spread: float = 0.2
) -> Sensitivity:
    """Rank the variants of a run under random weights, without each criterion, layer and judge.

    `rubrics` are the run's, by tag, as it keeps them. `spread` is how far near weights stray: each weight w has a
    standard deviation of spread · √(w(1 − w)).
    """
    # Whoever shows a ranking needs no NumPy.
    from evenhand.compare.weights._ranking import ranking, without_judge  # noqa: PLC0415
    from evenhand.compare.weights._weighed import weighed_criteria, weighed_layers  # noqa: PLC0415

    _check(table, draws, spread)
    weighed = [one for one in (weighed_criteria(table, rubrics), weighed_layers(table)) if one is not None]
    if not weighed:
        what = "the run has one criterion and one layer at most: there are no weights to change"
        raise InputError(Fault(what, "it takes two criteria in the rubric, or assertions beside it"))
    whole = [one for one in weighed if len(one.values)]
    if not whole:
        raise InputError(Fault("no sample has all scores of every variant", "score the same samples with all variants"))
    rankings = tuple(ranking(one, draws, seed, spread) for one in whole)
    without = without_judge(table)
    headline, next_step = told(rankings, without)
    return Sensitivity(
        run=table.run,
        headline=headline,
        next_step=next_step,
        draws=draws,
        seed=seed,
        spread=spread,
        rankings=rankings,
        without_judge=without,
    )


def _check(table: Table, draws: int, spread: float) -> None:
    if len(table.variants) < 2:
        raise InputError(Fault("the run has one variant: there is no ranking", "run it with a second variant"))
    if len(table.variants) > MOST_VARIANTS:
        raise InputError(Fault(f"{len(table.variants)} variants are too many", f"at most {MOST_VARIANTS}"))
    if not 1 <= draws <= MOST_DRAWS:
        raise InputError(Fault(f"draws must be 1 to {MOST_DRAWS:,}, got {draws:,}", "10000 is enough for two digits"))
    if not 0 < spread < 1:
        raise InputError(Fault(f"spread must be between 0 and 1, got {spread}", "0.2 strays a little, 0.5 far"))
