"""What judging gives: reviews, preferences, suggestions and calls, on people's scale where maps say so, and their
JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Literal

from evenhand.errors import Fault, JudgeError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import DerivedField, JsonField, JsonShape, SplitField, json_write_only_scalar
from evenhand.model.quick_init import set_slots_directly
from evenhand.model.rubric import Rubric
from evenhand.model.sample import GuardFinding
from evenhand.model.scale import CriterionScore, Missing, Scored
from evenhand.model.scorecard import Answers, Judgment, Scorecard, ScoreMap, Scores
from evenhand.models.budget import Spending
from evenhand.models.requests import EMBEDDED, NoReply, Reply, Request
from evenhand.scoring.scores_json import scores_to_json
from evenhand.wording import word_score_for_json

Severity = Literal["high", "medium", "low"]
SEVERITIES: tuple[Severity, ...] = ("high", "medium", "low")


@dataclass(frozen=True, slots=True, kw_only=True)
class Suggestion:
    """Advice for a revision."""

    problem: str
    suggestion: str
    severity: Severity


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True)
class OutputReview:
    """What one judge said about one output."""

    answers: Answers
    judgments: tuple[Judgment, ...]
    suggestions: tuple[Suggestion, ...] = ()


def explain_output_hidden_from_judge(says: str, text: str) -> Missing:
    """What stands for answers about an output that is hidden from the judges for what a guard says and quotes."""
    return Missing("not_asked", f"refused: it {says} (“{text}”), so no judge was shown it")


@dataclass(frozen=True, slots=True, kw_only=True)
class ListwiseReview:
    """What one judge said about several outputs at once, and in which order it saw them."""

    reviews: tuple[OutputReview, ...]
    order: tuple[str, ...]
    ranking: tuple[str, ...] | None = None
    abstained: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Preference:
    """Which of two outputs one judge prefers, asked in both orders."""

    judge: str
    first: str
    second: str
    winner: str | None  # None is a tie, or no answer where `why_not` says so.
    votes: tuple[str | None, str | None] = (None, None)  # What it said with `first` shown first, and last.
    position_bias: bool = False
    why_not: str = ""
    reasons: tuple[str, ...] = ()
    gate: str = ""  # What made an output unsafe, where the safety gate decided and the judge was not asked.


@dataclass(frozen=True, slots=True, kw_only=True)
class AcceptanceCheck:
    """One acceptance criterion, checked."""

    judgment: Judgment
    revision_hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class GateCheck:
    """Whether a submission meets every acceptance criterion; None where it could not be found out."""

    checks: tuple[AcceptanceCheck, ...]
    passed: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class TaskDimensions:
    """The locked dimensions of a task, as a rubric; None where they could not be generated."""

    rubric: Rubric | None
    why_not: str = ""


@set_slots_directly
@dataclass(frozen=True, slots=True)
class JudgeCall:
    """One request and what came of it."""

    judge: str
    request: Request
    reply: Reply | NoReply


PassedOn = Literal["near", "drawn", ""]  # Why a cascade passed a sample on: for its score, at random, or not at all.


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadePath:
    """How a sample went through a cascade, and by output what the cheap judge alone came to."""

    cheap: str
    strong: str
    passed_on: PassedOn
    cheap_cards: Mapping[str, Scorecard]


@dataclass(frozen=True, slots=True, kw_only=True)
class CascadeSavings:
    """What a cascade did not have to ask: how many outputs stayed with an earlier judge, of how many, and its price."""

    outputs: int
    of: int
    cost: Decimal | None  # US dollars; None where a price is unknown.


@set_slots_directly
@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class JudgedSample:
    """Scores with all that they rest on."""

    scores: Scores
    judgments: tuple[Judgment, ...]
    calls: tuple[JudgeCall, ...]
    seed: int
    suggestions: Mapping[str, tuple[Suggestion, ...]] = field(default_factory=dict)  # By output.
    overall_bands: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # By output and judge, as claimed.
    orders: Mapping[str, tuple[str, ...]] = field(default_factory=dict)  # By reviewer: what it saw first, second, …
    decided_by: Mapping[str, str] = field(default_factory=dict)  # In a cascade, by output: whose answers count.
    saved: CascadeSavings | None = None
    cascade: CascadePath | None = None
    findings: Mapping[str, tuple[GuardFinding, ...]] = field(default_factory=dict)  # What guards found, by output.

    @property
    def heuristic(self) -> tuple[str, ...]:
        """The judges here that go by rules and not by understanding."""
        return tuple(dict.fromkeys(one.judge for one in self.judgments if one.judge == EMBEDDED))

    def __repr__(self) -> str:
        judges = ", ".join(dict.fromkeys(one.judge for one in self.judgments))
        return f"<JudgedSample {self.scores.describe_scores()}; judged by {judges}>"


@dataclass(frozen=True, slots=True, kw_only=True)
class PairwiseJudgeStanding:
    """How one output did against the others: pairs won, tied and lost, over all judges."""

    output: str
    won: int
    tied: int
    lost: int
    undecided: int

    @property
    def rate(self) -> float | None:
        """The share of decided pairs it won, a tie counted as half."""
        decided = self.won + self.tied + self.lost
        return (self.won + self.tied / 2) / decided if decided else None


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Preferences:
    """Every pair as every judge saw it, and how each output stands."""

    preferences: tuple[Preference, ...]
    standings: tuple[PairwiseJudgeStanding, ...]
    calls: tuple[JudgeCall, ...]
    seed: int
    findings: Mapping[str, tuple[GuardFinding, ...]] = field(default_factory=dict)  # What guards found, by output.
    unsafe: Mapping[str, GuardFinding] = field(default_factory=dict)  # By output: why it fails the safety gate, if set.

    def position_bias(self, judge: str) -> tuple[int, int]:
        """How many pairs this judge decided by place, of how many it answered."""
        own = [one for one in self.preferences if one.judge == judge and not one.why_not and not one.gate]
        return sum(one.position_bias for one in own), len(own)

    def __repr__(self) -> str:
        told = [f"{one.output}: {one.won} won, {one.tied} tied, {one.lost} lost" for one in self.standings[:5]]
        return f"<Preferences {'; '.join(told)}>"


JudgingJson = dict[str, object]


# A number, or why there is none.
_SCORE_JSON = SplitField(
    ("score", "band", "why_not"),
    lambda one: (
        {"score": word_score_for_json(one.score.value), "band": one.score.band, "why_not": None}
        if isinstance(one.score, Scored)
        else {"score": None, "band": None, "why_not": one.score.text}
    ),
)
_NULL_IF_EMPTY = JsonField(scalar=json_write_only_scalar(lambda text: text or None))

_SPARSE_SCORE = JsonField(scalar=json_write_only_scalar(word_score_for_json), sparse=True)
JUDGMENT_SHAPE = JsonShape(
    fields={"score": _SCORE_JSON, "feedback": _NULL_IF_EMPTY, "expected": _SPARSE_SCORE, "raw": _SPARSE_SCORE}
)

JUDGING_JSON = Codec(
    scalars={Decimal: json_write_only_scalar(float)},
    shapes={
        Judgment: JUDGMENT_SHAPE,
        Preference: JsonShape(fields={"why_not": _NULL_IF_EMPTY, "gate": _NULL_IF_EMPTY}),
        PairwiseJudgeStanding: JsonShape(derived={"rate": DerivedField(lambda one: one.rate)}),
        Spending: JsonShape(
            only=("requests", "input", "output", "cached", "cost", "unpriced", "replayed"),
            fields={
                "input": JsonField(key="input_tokens"),
                "output": JsonField(key="output_tokens"),
                "cached": JsonField(key="cached_tokens"),
                "unpriced": JsonField(key="requests_without_price"),
            },
        ),
    },
)

judgment_to_json = JUDGING_JSON.writer(Judgment)
guard_finding_to_json = JUDGING_JSON.writer(GuardFinding)
suggestion_to_json = JUDGING_JSON.writer(Suggestion)
preference_to_json = JUDGING_JSON.writer(Preference)
spending_to_json = JUDGING_JSON.writer(Spending)


def judge_panel_reviews_to_json(judged: JudgedSample, spent: Spending) -> JudgingJson:
    """What `evenhand judge --json` prints."""
    return {
        **scores_to_json(judged.scores),
        "heuristic": list(judged.heuristic),
        "judgments": [judgment_to_json(one) for one in judged.judgments],
        "suggestions": {output: list(map(suggestion_to_json, given)) for output, given in judged.suggestions.items()},
        "seed": judged.seed,
        "orders": {judge: list(order) for judge, order in judged.orders.items()},
        "decided_by": dict(judged.decided_by) or None,
        "passed_on": None if judged.cascade is None else judged.cascade.passed_on,
        "guards": _judge_panel_findings_to_json(judged.findings),
        "saved": None if judged.saved is None else JUDGING_JSON.to_json(judged.saved),
        "calls": [judge_dialogue_to_json(call) for call in judged.calls],
        "spent": spending_to_json(spent),
    }


def judge_panel_preferences_to_json(preferred: Preferences, spent: Spending) -> JudgingJson:
    """What `evenhand judge --pairwise --json` prints."""
    judges = dict.fromkeys(one.judge for one in preferred.preferences)
    return {
        "standings": [JUDGING_JSON.to_json(one) for one in preferred.standings],
        "preferences": [JUDGING_JSON.to_json(one) for one in preferred.preferences],
        "position_bias": {
            judge: dict(zip(("pairs", "of"), preferred.position_bias(judge), strict=True)) for judge in judges
        },
        "seed": preferred.seed,
        "guards": _judge_panel_findings_to_json(preferred.findings),
        "safety_gate": {
            "failed_models": list(preferred.unsafe),
            "findings": [
                {"id": output, "pattern": one.rule, "passage": one.text} for output, one in preferred.unsafe.items()
            ],
        },
        "calls": [judge_dialogue_to_json(call) for call in preferred.calls],
        "spent": spending_to_json(spent),
    }


def _judge_panel_findings_to_json(findings: Mapping[str, tuple[GuardFinding, ...]]) -> JudgingJson:
    return {output: [guard_finding_to_json(one) for one in found] for output, found in findings.items()}


def judge_dialogue_to_json(call: JudgeCall) -> JudgingJson:
    """What a judge was asked, and what it replied."""
    reply = call.reply
    shared: JudgingJson = {"judge": call.judge, "dialogue": call.request.dialogue, "attempts": reply.attempts}
    if isinstance(reply, NoReply):
        return {**shared, "failed": reply.why}
    return {
        **shared,
        "model": reply.model,
        "stop": reply.stop,
        "input_tokens": reply.usage.input,
        "output_tokens": reply.usage.output,
        "cached_tokens": reply.usage.cached,
        "request_id": reply.request_id,
        "recorded": reply.recorded,
        "reply": reply.text,
    }


def map_review_to_people(review: OutputReview, maps: Mapping[str, ScoreMap]) -> OutputReview:
    """What a judge said of an output with its scores on people's scale, each beside the one that it gave."""
    if not maps:
        return review

    def mapped(criterion: str, score: CriterionScore) -> CriterionScore:
        if criterion not in maps or not isinstance(score, Scored):
            return score
        return Scored(maps[criterion].map_score(score.value), why=score.why)

    scores = {id: mapped(id, score) for id, score in review.answers.scores.items()}
    judgments = tuple(
        replace(one, score=mapped(one.criterion, one.score), raw=one.score.value)
        if one.criterion in maps and isinstance(one.score, Scored)
        else one
        for one in review.judgments
    )
    return replace(review, answers=replace(review.answers, scores=scores), judgments=judgments)


def refuse_foreign_score_maps(maps: Sequence[ScoreMap], known: Mapping[str, Sequence[str]]) -> None:
    """An error for maps of judges that are asked otherwise now; `known` are the fingerprints by judge."""
    if faults := list(_list_foreign_judge_maps(maps, known)):
        raise JudgeError(*faults)


def _list_foreign_judge_maps(maps: Sequence[ScoreMap], known: Mapping[str, Sequence[str]]) -> Iterator[Fault]:
    for one in maps:
        if one.judge not in known:
            yield Fault(f"a map for {one.judge!r}, which is not a judge here", "remove it, or name the judge")
        elif one.fingerprint not in known[one.judge]:
            now = " or ".join(dict.fromkeys(known[one.judge]))
            what = (
                f"the map of {one.judge} on {one.criterion} is for fingerprint {one.fingerprint}, and it is {now} now"
            )
            yield Fault(what, "the rubric, a prompt or the judge changed: label again, then evenhand calibrate --maps")
