"""The pairs of a run in numbers: who is preferred to whom, how far the place decided, how strong each variant is."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import combinations
from typing import Any

from evenhand.errors import InputError
from evenhand.runs.run_record import RunEvalRecord
from evenhand.stats.arrays import CountedPer
from evenhand.stats.bradley_terry import bradley_terry
from evenhand.stats.rates import WinRate, wilson, win_rate_of

Json = dict[str, Any]


@dataclass(slots=True)
class RunPairTally:
    """Every pair of variants, sample by sample: the share of the judges that preferred the first, and undecided ones;
    and of every judge, how many pairs it answered, and in how many it named the same place both times.
    """

    games: list[tuple[str, str, float, int, int]] = field(default_factory=list)  # Share of first, sample, cluster.
    undecided: dict[tuple[str, str], int] = field(default_factory=dict)
    judges: dict[str, list[int]] = field(default_factory=dict)  # Answered, followed the place, first place named.

    def add(self, content: Mapping[str, Any], sample: int, cluster: int) -> None:
        """Count the pairs that a result keeps."""
        by_pair: dict[tuple[str, str], list[Json]] = {}
        for one in content["preferences"]:
            by_pair.setdefault((one["first"], one["second"]), []).append(one)
            if not one["why_not"] and not one.get("gate"):  # What the safety gate decided says nothing of a judge.
                counts = self.judges.setdefault(one["judge"], [0, 0, 0])
                counts[0] += 1
                counts[1] += bool(one["position_bias"])
                counts[2] += one["votes"][0] == one["first"] and bool(one["position_bias"])
        for pair, several in by_pair.items():
            decided = [one for one in several if not one["why_not"]]
            if not decided:
                self.undecided[pair] = self.undecided.get(pair, 0) + 1
                continue
            total = sum(one["weight"] for one in decided)
            shares = (one["weight"] * (0.5 if one["winner"] is None else one["winner"] == pair[0]) for one in decided)
            self.games.append((*pair, sum(shares) / total, sample, cluster))


def summarise_run_pairs(frame: RunEvalRecord, tally: RunPairTally) -> Json:
    """Every pair with its win rate, every judge with its position bias, and the strengths of three variants or more."""
    asked = {*((one[0], one[1]) for one in tally.games), *tally.undecided}
    # A pair is told as a treatment against the control.
    pairs = [
        (second, first) if first == frame.control else (first, second)
        for first, second in combinations(frame.variants, 2)
        if (first, second) in asked
    ]
    return {
        "of": frame.control,
        "pairs": [
            _summarise_tallied_pair(*pair, tally, frame.composite.per)
            for pair in sorted(pairs, key=lambda pair: pair[1] != frame.control)
        ],
        "position_bias": [_summarise_run_position_bias(judge, *counts) for judge, counts in tally.judges.items()],
        "strengths": _summarise_run_pair_strengths(frame, tally),
    }


def _summarise_tallied_pair(first: str, second: str, tally: RunPairTally, per: CountedPer) -> Json:
    shares, samples, clusters = [], [], []
    for one, other, share, sample, cluster in tally.games:
        if {one, other} == {first, second}:
            shares.append(share if one == first else 1 - share)
            samples.append(sample)
            clusters.append(cluster)
    undecided = tally.undecided.get((first, second), 0) + tally.undecided.get((second, first), 0)
    counts = {
        "won": sum(share > 0.5 for share in shares),
        "tied": sum(share == 0.5 for share in shares),
        "lost": sum(share < 0.5 for share in shares),
    }
    rate: WinRate | None = None
    if len(set(clusters)) > 1:
        rate = win_rate_of(shares, clusters=clusters, samples=samples, per=per)
    return {
        "first": first,
        "second": second,
        **counts,
        "undecided": undecided,
        "rate": round(sum(shares) / len(shares), 4) if shares else None,
        "low": round(rate.low, 4) if rate else None,
        "high": round(rate.high, 4) if rate else None,
        "level": rate.level if rate else None,
        "method": rate.method if rate else None,
    }


def _summarise_run_position_bias(judge: str, answered: int, followed: int, first: int) -> Json:
    interval = wilson(followed, answered)
    return {
        "judge": judge,
        "pairs": answered,
        "followed_place": followed,
        "first_place": first,
        "share": round(interval.estimate, 4),
        "low": round(interval.low, 4),
        "high": round(interval.high, 4),
        "level": interval.level,
    }


def _summarise_run_pair_strengths(frame: RunEvalRecord, tally: RunPairTally) -> Json | None:
    """Bradley and Terry's strengths against the control; None for two variants, whose win rate says the same."""
    seen = {name for game in tally.games for name in game[:2]}
    names = [name for name in frame.variants if name in seen]
    if len(names) < 3 or frame.control not in names:
        return None
    games = [(first, second, share) for first, second, share, *_ in tally.games]
    try:
        found = bradley_terry(
            games, contestants=names, reference=frame.control, clusters=[cluster for *_, cluster in tally.games]
        )
    except InputError as error:
        return {"variants": [], "why_not": str(error)}
    variants = [
        {
            "variant": one.name,
            **{figure: round(getattr(one, figure), 4) for figure in ("log_odds", "low", "high", "preferred")},
        }
        for one in sorted(found.strengths, key=lambda one: -one.log_odds)
    ]
    return {"variants": variants, "level": found.level, "method": found.method, "n": found.n, "why_not": ""}
