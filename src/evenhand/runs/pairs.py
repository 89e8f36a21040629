"""Pairs in a run: outputs of a sample compared two at a time, and who is preferred to whom, in numbers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fractions import Fraction
from itertools import combinations
from typing import Any

from evenhand.errors import Fault, InputError, JudgeError
from evenhand.evals.eval_scoring import PAIRWISE
from evenhand.files.rubrics import load_rubric
from evenhand.judging.results import JudgedSample, Preference, Preferences
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.sample import Sample
from evenhand.model.scale import CriterionScore, Missing, Scored, to_exact_fraction
from evenhand.model.scorecard import Answers, Judgment, Review
from evenhand.models.requests import EMBEDDED, Model
from evenhand.runs.run_record import RunEvalRecord
from evenhand.scoring.scores import compute_scorecards_and_ranks, score_reviews
from evenhand.stats.arrays import CountedPer
from evenhand.stats.bradley_terry import bradley_terry
from evenhand.stats.means import MeanInterval, mean_interval
from evenhand.stats.rates import picks_by_position, wilson

PREFERENCE = "preference"
EVEN = Fraction(1, 2)
EVEN_WITH_CONTROL = Fraction(3)  # The same in the layer, from 1 to 5.
_PREFERENCE_RUBRICS: RubricIdentityCache[Rubric] = RubricIdentityCache()


def build_run_pair_rubric(rubric: Rubric, control: str) -> Rubric:
    """What comes of pairs as a rubric: one number from 0 to 1, ½ where an output is as good as the control's."""
    asks = f"How often is it preferred to the output of {control}? A tie counts half."
    # An unsafe output is never preferred: by the safety gate it has lost, or is even with another unsafe one.
    steps = [{"weighted_mean": {}}, *([{"cap": {"at": 0.5}}] if rubric.safety_gate else [])]
    parts = {"criteria": [{"id": PREFERENCE, "asks": asks, "scale": "0-1"}], "steps": steps}
    by = "; ".join(leaf.asks or leaf.id for leaf in rubric.leaves.values() if leaf.judged)
    about = f"{rubric.about} Judges compare two outputs by: {by}.".strip()

    def build() -> Rubric:
        plain = load_rubric(parts)
        return replace(plain, name=rubric.name, about=about, method=replace(plain.method, name=PAIRWISE))

    return _PREFERENCE_RUBRICS.get((rubric, control), build)


def refuse_unaskable_run_pairs(models: Sequence[Model], how: JudgeOptions, variants: Sequence[str]) -> None:
    """What cannot be asked about pairs, before anything is paid for."""
    if len(variants) < 2:
        raise JudgeError(Fault("pairs need two variants or more", "add a variant, or remove dialogue: pairwise"))
    if any(model.name == EMBEDDED for model in models):
        what = f"{EMBEDDED} cannot compare outputs: it reads one at a time"
        raise JudgeError(Fault(what, "name a model under judges, or remove dialogue: pairwise"))
    odd = [name for name in ("each", "logprobs", "cascade", "refuse") if getattr(how, name)]
    odd += ["samples"] if how.samples > 1 else []
    if odd:
        names = {"refuse": "injection: refuse"}
        raise JudgeError(Fault(f"{names.get(odd[0], odd[0])} means nothing with dialogue: pairwise", "remove one"))


def score_run_pairs(
    rubric: Rubric, sample: Sample, asked: Preferences, how: JudgeOptions, judges: Sequence[str], control: str
) -> JudgedSample:
    """Score each output by what every judge preferred to the control's."""
    scoring = build_run_pair_rubric(rubric, control)
    reviews = []
    judgments: list[Judgment] = []
    for judge in judges:
        own = [one for one in asked.preferences if one.judge == judge]
        answers = []
        for output in sample.outputs:
            score = _score_run_pair(output, own, control, alone=not asked.preferences)
            found = asked.unsafe.get(output)
            answers.append(
                Answers(
                    id=output,
                    author=sample.authors.get(output),
                    scores={PREFERENCE: score},
                    unsafe=found.rule if found else None,
                    passage=found.text if found else None,
                )
            )
            if output != control:
                pair = next((one for one in own if {one.first, one.second} == {output, control}), None)
                reason = "" if pair is None else pair.gate or " / ".join(filter(None, pair.reasons))
                judgments.append(Judgment(judge=judge, output=output, criterion=PREFERENCE, score=score, reason=reason))
        weight = to_exact_fraction(how.weights.get(judge, 1))
        reviews.append(Review(judge=judge, outputs=tuple(answers), weight=weight))
    if len(reviews) == 1:
        scores = compute_scorecards_and_ranks(scoring, reviews[0].outputs)
    else:
        known = [Answers(id=output, author=sample.authors.get(output)) for output in sample.outputs]
        scores = score_reviews(scoring, reviews, outputs=known)
    return JudgedSample(
        scores=scores, judgments=tuple(judgments), calls=asked.calls, seed=how.seed, findings=sample.findings
    )


def _score_run_pair(output: str, own: Sequence[Preference], control: str, *, alone: bool) -> CriterionScore:
    """1 preferred, ½ a tie, 0 not. The control is even with itself wherever a pair with it was decided."""
    pairs = [one for one in own if control in (one.first, one.second)]
    if output == control:
        if alone or any(not one.why_not for one in pairs):
            return Scored(EVEN)
        return Missing.from_text(pairs[0].why_not) if pairs else Missing("not_asked", "no pair with it was asked about")
    pair = next((one for one in pairs if output in (one.first, one.second)), None)
    if pair is None:
        return Missing("not_asked", f"it was not compared with {control}")
    if pair.why_not:
        return Missing.from_text(pair.why_not)
    return Scored(EVEN if pair.winner is None else Fraction(pair.winner == output))


Json = dict[str, Any]


@dataclass(slots=True)
class RunPairTally:
    """Every pair of variants, sample by sample: the share of the judges that preferred the first, and undecided ones;
    and of every judge, how many pairs it answered, and in how many it named the same place both times.
    """

    games: list[tuple[str, str, float, int, int]] = field(default_factory=list)  # Share of first, sample, cluster.
    undecided: dict[tuple[str, str], int] = field(default_factory=dict)
    judges: dict[str, list[int]] = field(default_factory=dict)  # Answered, followed the place, first place named.
    # By judge and pair: what its answers count that named the same place both times, in samples.
    undecided_weight: dict[tuple[str, str, str], float] = field(default_factory=dict)

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
            for one in decided:
                if one["position_bias"] and not one.get("gate"):
                    key = (one["judge"], *pair)
                    self.undecided_weight[key] = self.undecided_weight.get(key, 0.0) + one["weight"] / total


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
        **({"picked_by_position": picks} if (picks := summarise_run_position_picks(tally)) else {}),
        "strengths": _summarise_run_pair_strengths(frame, tally),
    }


def summarise_run_position_picks(tally: RunPairTally) -> list[Json]:
    """Of every judge that follows the position above chance: what share of each pair's games it left undecided so."""
    games = Counter(frozenset(game[:2]) for game in tally.games)
    return [
        {
            "judge": judge,
            "first": first,
            "second": second,
            "pairs": tally.judges[judge][0],
            "followed_place": tally.judges[judge][1],
            "share": round(weight / games[frozenset((first, second))], 4),
        }
        for (judge, first, second), weight in tally.undecided_weight.items()
        if picks_by_position(*tally.judges[judge])
    ]


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
    rate: MeanInterval | None = None
    if len(set(clusters)) > 1:  # By the method of the score's interval: against the control it is the same number.
        rate = mean_interval(shares, clusters=clusters, samples=samples, per=per, scale=(0.0, 1.0))
    mean = rate.estimate if rate else sum(shares) / len(shares) if shares else None
    return {
        "first": first,
        "second": second,
        **counts,
        "undecided": undecided,
        "rate": None if mean is None else round(mean, 4),
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
