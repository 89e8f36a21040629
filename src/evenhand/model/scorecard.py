"""Judgments and answers about an output, maps of their scores, and the scorecard with every step."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal

from evenhand.errors import Fault, InputError
from evenhand.model.quick_init import set_slots_directly
from evenhand.model.rubric import Rubric
from evenhand.model.scale import CriterionScore, Missing
from evenhand.wording import round_number_half_away

Verdict = Literal["pass", "borderline", "fail", "incomplete"]


@dataclass(frozen=True, slots=True)
class AppliedStep:
    """A step that moved the number. Its sentence is made when it is asked for."""

    step: str
    before: Fraction | None
    after: Fraction
    tell: Callable[[AppliedStep], str] = field(repr=False)
    facts: tuple[Any, ...] = field(default=(), repr=False)
    decimals: int | None = None

    @property
    def why(self) -> str:
        """What happened, in a sentence."""
        return self.tell(self)


@dataclass(frozen=True, slots=True)
class MissingCriterion:
    """A criterion without a score."""

    criterion: str
    missing: Missing

    @property
    def why(self) -> str:
        """Why it has none, in the words that readers see."""
        return self.missing.text


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerScore:
    """What one reviewer's answers came to for one output."""

    judge: str
    exact: Fraction | None
    holistic: bool = False
    why_not: str = ""
    steps: tuple[AppliedStep, ...] = ()
    criteria: Mapping[str, CriterionScore] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    remark: str = ""
    whole: CriterionScore | None = None


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class Scorecard:
    """All that came out for one output. `exact` decides; `score` is what is shown."""

    id: str
    exact: Fraction | None
    decimals: int | None
    grade: str | None = None
    label: str | None = None
    verdict: Verdict | None = None
    gates_failed: tuple[str, ...] = ()
    gates_open: tuple[str, ...] = ()  # Nobody answered what they look at: not failed, and never passed.
    missing: tuple[MissingCriterion, ...] = ()
    flags: tuple[str, ...] = ()
    bonuses: tuple[str, ...] = ()
    unsafe: str | None = None
    passage: str | None = None
    author: str | None = None
    steps: tuple[AppliedStep, ...] = ()
    criteria: Mapping[str, CriterionScore] = field(default_factory=dict)
    reviews: tuple[ReviewerScore, ...] | None = None
    notes: tuple[str, ...] = ()
    remark: str = ""  # What a judge wrote about the output as a whole.
    whole: CriterionScore | None = None  # A score for the whole, asked beside the criteria; it decides nothing.

    @property
    def holistic(self) -> tuple[str, ...] | None:
        """Whose score for the whole stands in for answers that could not be read; None where nobody's does."""
        if self.reviews is not None:
            return tuple(one.judge for one in self.reviews if one.holistic) or None
        return () if any(moved.step == "holistic" for moved in self.steps) else None

    @property
    def score(self) -> Decimal | float | None:
        """The score as shown: with the method's decimals, or the exact value as a float."""
        if self.exact is None:
            return None
        return float(self.exact) if self.decimals is None else round_number_half_away(self.exact, self.decimals)

    def explain(self) -> list[str]:
        """Each step that moved the number, in a sentence."""
        return [moved.why for moved in self.steps]


@dataclass(frozen=True, slots=True)
class RankedScorecard:
    """A place in a ranking; incomplete scorecards have none."""

    rank: int | None
    id: str
    exact: Fraction | None
    decimals: int | None
    tie_broken_by: str | None = None

    @property
    def score(self) -> Decimal | float | None:
        """The score as shown."""
        if self.exact is None:
            return None
        return float(self.exact) if self.decimals is None else round_number_half_away(self.exact, self.decimals)


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Scores:
    """The scorecards of several outputs under one rubric, and their ranking where there are two or more."""

    rubric: Rubric
    fingerprint: str
    scorecards: tuple[Scorecard, ...]
    ranking: tuple[RankedScorecard, ...] | None = None
    notes: tuple[str, ...] = ()

    def __getitem__(self, id: str) -> Scorecard:
        for card in self.scorecards:
            if card.id == id:
                return card
        raise KeyError(f"no output {id!r} was scored")

    def __iter__(self) -> Iterator[Scorecard]:
        return iter(self.scorecards)

    def __repr__(self) -> str:
        return f"<Scores {self.describe_scores()}>"

    def describe_scores(self) -> str:
        """The first few outputs with their scores, on one line."""
        shown = [f"{card.id}: {card.score if card.score is not None else card.verdict}" for card in self.scorecards[:5]]
        more = len(self.scorecards) - len(shown)
        return ", ".join([*shown, *([f"and {more:,} more"] if more else [])])


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class Answers:
    """Everything said about one output: criterion scores, statements found, and what was claimed."""

    id: str
    scores: Mapping[str, CriterionScore] = field(default_factory=dict)
    red_flags: Mapping[str, str] = field(default_factory=dict)
    bonuses: Mapping[str, str] = field(default_factory=dict)
    unanswered: Mapping[str, Missing] = field(default_factory=dict)  # Red flags and bonuses asked for in vain, and why.
    unsafe: str | None = None  # The pattern of the safety guard that matched.
    passage: str | None = None  # The passage that it matched.
    author: str | None = None
    holistic: CriterionScore | None = None
    claims: Mapping[str, object] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
    ignored: tuple[str, ...] = ()  # Those of the notes that name an id which the rubric does not have.
    unknown_red_flags: tuple[str, ...] = ()  # Found, but not among the rubric's: they take nothing off.
    remark: str = ""  # What was written about the output as a whole.
    whole: CriterionScore | None = None  # A score for the whole, asked beside the criteria; it decides nothing.


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class Review:
    """One reviewer's answers on several outputs, or its statement that it gives none."""

    judge: str
    outputs: tuple[Answers, ...] = ()
    abstained: str | None = None
    ranking: tuple[str, ...] | None = None
    weight: Fraction = Fraction(1)


@set_slots_directly
@dataclass(frozen=True, slots=True)
class Evidence:
    """A quotation, and where in the output it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True, kw_only=True)
class AnswerSpread:
    """How far the answers behind a mean lie apart."""

    n: int
    sd: float
    how: str  # "replies"; "logprobs" or "probabilities" where the model told how likely each answer was.


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class Judgment:
    """One judge's answer on one criterion of one output."""

    judge: str
    output: str
    criterion: str
    score: CriterionScore
    reason: str = ""
    evidence: tuple[Evidence, ...] = ()
    absent: tuple[str, ...] = ()  # What the judge states is not there, which nothing can be quoted for.
    from_trace: tuple[str, ...] = ()  # What it quotes from how the output came about, not from the output.
    feedback: str = ""
    spread: AnswerSpread | None = None
    expected: Fraction | None = None  # The mean over how likely each answer was, where `score` is the most likely one.
    raw: Fraction | None = None  # What the judge gave, where a map has put `score` on people's scale.


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionDisagreement:
    """How far reviewers lie apart on a criterion, and the output on which they do most: who gave least and most."""

    criterion: str
    mean_gap: Fraction
    output: str
    low: tuple[Fraction, str]
    high: tuple[Fraction, str]


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerHarshness:
    """How far a reviewer's scores lie from the mean of the others', on how many outputs; below 0 is harsh."""

    judge: str
    by: Fraction
    outputs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ReviewerDissent:
    """A reviewer whose own scores put other outputs first than the panel does."""

    judge: str
    first: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class PanelDisagreement:
    """Disagreement, harshness, dissent, and the reviewers that gave no score, each with why."""

    differing: tuple[CriterionDisagreement, ...] = ()
    harshness: tuple[ReviewerHarshness, ...] = ()
    dissent: tuple[ReviewerDissent, ...] = ()
    silent: tuple[tuple[str, str], ...] = ()


MAPPED_DECIMALS = 4  # Of a mapped score: beyond, a map knows nothing.


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreMap:
    """Points between which the map is straight, and beyond which it is level; it never falls.

    `fingerprint` is that of the judge asked about the rubric as it was when people's labels were held against it.
    """

    judge: str
    criterion: str
    fingerprint: str
    points: tuple[tuple[Fraction, Fraction], ...]

    def __post_init__(self) -> None:
        said, people = ([point[side] for point in self.points] for side in (0, 1))
        if not self.points or said != sorted(set(said)) or people != sorted(people):
            what = f"the map of {self.judge} on {self.criterion} must rise: {len(self.points)} points"
            raise InputError(Fault(what, "as in points: [[1, 1.4], [5, 4.6]]"))

    def map_score(self, score: Fraction) -> Fraction:
        """What people would say where the judge says this."""
        (first, lowest), (last, highest) = self.points[0], self.points[-1]
        if score <= first or score >= last:
            return lowest if score <= first else highest
        place = next(number for number, (said, _) in enumerate(self.points) if said >= score)
        (low, below), (high, above) = self.points[place - 1], self.points[place]
        exact = below + (above - below) * (score - low) / (high - low)
        return Fraction(round(exact * 10**MAPPED_DECIMALS), 10**MAPPED_DECIMALS)
