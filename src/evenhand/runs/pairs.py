"""Pairs in a run: judges compare the outputs of a sample two at a time, and an output's score is how often it is
preferred to the control's.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from fractions import Fraction

from evenhand.errors import Fault, JudgeError
from evenhand.evals.eval_scoring import PAIRWISE
from evenhand.files.rubrics import load_rubric
from evenhand.judging.results import JudgedSample, Preference, Preferences
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric, RubricIdentityCache
from evenhand.model.sample import Sample
from evenhand.model.scale import CriterionScore, Missing, Scored, to_exact_fraction
from evenhand.model.scorecard import Answers, Judgment, Review
from evenhand.models.requests import EMBEDDED, Model
from evenhand.scoring.scores import compute_scorecards_and_ranks, score_reviews

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
