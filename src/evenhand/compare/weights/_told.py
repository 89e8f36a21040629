"""A ranking under other weights in words: does it survive, what decides it, one next step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evenhand.compare._words import interval, listed
from evenhand.compare.weights._found import Part, Ranking

_SURE, _LIKELY = 0.95, 0.80


def told(rankings: Sequence[Ranking], without_judge: Mapping[str, tuple[str, ...]]) -> tuple[str, str]:
    """The headline and the next step; the ranking that gives way most easily speaks for all."""
    weakest = min(rankings, key=lambda one: one.near.same_winner)
    first, second = weakest.order[:2]
    if weakest.tied:
        headline = f"{first} and {second} are level: no weights are needed to turn them around."
        return headline, "Add samples, or decide by something else than this score."
    share = _percent(weakest.near.same_winner)
    what = {"criteria": "weights of the criteria", "layers": "weights of the layers"}[weakest.of]
    word = "survives" if weakest.near.same_winner >= _SURE else "mostly survives" if _likely(weakest) else "hangs on"
    headline = f"The ranking {word} other {what}: {first} stays first under {share} of those near the rubric's."
    if word == "hangs on":
        headline = f"The ranking hangs on the {what}: {first} stays first under only {share} of those near them."
    return headline, _next_step(weakest, without_judge)


def decisive(ranking: Ranking) -> Part:
    """The criterion or layer that gives the first most of its lead."""
    return max(ranking.parts, key=lambda one: one.contribution)


def noise(ranking: Ranking) -> str:
    """How the lead compares with the noise of the samples."""
    first, second = ranking.order[:2]
    if ranking.gap is None:
        return f"One sample cannot say whether {first} is ahead of {second} by more than noise."
    if ranking.tied:
        return f"{first} and {second} are level, {interval(ranking.gap)}."
    within = ranking.gap.p >= 0.05
    says = "no more than the noise of the samples" if within else "more than the noise of the samples"
    return f"{first} is ahead of {second} by {ranking.gap.estimate:.2f}, {interval(ranking.gap)}: {says}."


def turned(ranking: Ranking, without: tuple[str, ...]) -> str:
    """What becomes of the order when something is left out."""
    if not without:
        return "nothing left to rank by"
    if without == ranking.order:
        return "the same order"
    return f"{without[0]} is first" if without[0] != ranking.order[0] else "the same first, another order"


def _likely(ranking: Ranking) -> bool:
    return ranking.near.same_winner >= _LIKELY


def _next_step(ranking: Ranking, without_judge: Mapping[str, tuple[str, ...]]) -> str:
    first, part = ranking.order[0], decisive(ranking)
    if ranking.gap is not None and ranking.gap.p >= 0.05:
        return "Add samples first: the lead is no more than noise, whatever the weights."
    if not _likely(ranking) or ranking.near.same_winner < _SURE:
        return f"Agree on the weight of {part.name}, which gives {first} most of its lead, before deciding."
    lost = [judge for judge, order in without_judge.items() if order[0] != first]
    if lost:
        it = "it" if len(lost) == 1 else "one of them"
        return f"Look at what {listed(lost)} said: without {it} {first} is not first."
    return "Nothing: the weights do not decide this."


def _percent(share: float) -> str:
    """A share in words; never 100 % while a single weighting says otherwise."""
    if 0.995 <= share < 1:
        return f"{min(share, 0.9999) * 100:.2f} %"
    return f"{share * 100:.0f} %"
