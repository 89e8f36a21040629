"""Scores from yes/no odds: one question of one token at a time, against a threshold calibrated on known questions."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import pairwise
from statistics import fmean

from evenhand.judging.answer_form import (
    CANNOT_ASSESS,
    list_judged_criteria,
    list_questions_for_judge,
    tag_sample_for_judge,
    word_judge_question,
)
from evenhand.judging.dialogues.logprobs import MOST_TOKENS_SHOWN
from evenhand.judging.dialogues.pointwise import build_review_from_judgments
from evenhand.judging.fence import MaterialPiece
from evenhand.judging.prompts import (
    Dialogue,
    JudgePrompts,
    JudgeSetup,
    PromptOutline,
    compose_judge_request,
    explain_silent_judge,
)
from evenhand.judging.results import OutputReview
from evenhand.judging.traces import label_trace_for_prompt
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Anchor, Criterion, Missing, Scored
from evenhand.model.scorecard import Answers, AnswerSpread, Judgment
from evenhand.models.requests import NoReply, Reply, Request
from evenhand.wording import format_fraction


@dataclass(frozen=True, slots=True)
class _OddsAnswer:
    """A score, what it rests on, and how sure it is."""

    score: Scored | Missing
    reason: str = ""
    sd: float | None = None


def ask_judge_by_odds(rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup) -> Dialogue[OutputReview]:
    """Ask each criterion as questions of yes or no. A scale is asked by its anchors, from low to high.

    Questions with known answers go first: they show how readily this model says yes.
    """
    criteria, prompts = list_questions_for_judge(rubric), manner.prompts
    asked = [_list_yes_no_judge_questions(criterion, prompts) for criterion in criteria]
    known = load_known_judge_questions(prompts) if any(asked) else ()
    pieces = tag_sample_for_judge(rubric, sample, prompts)
    pieces += label_trace_for_prompt(rubric, sample.traces.get(output), prompts)
    pieces.append((prompts.say("output"), "output", sample.outputs[output]))
    requests = [
        _build_judge_odds_prompt(
            prompts.fill("odds-met", asks=one.asks)[0], [(prompts.say("output"), "output", one.text)], manner
        )
        for one in known
    ]
    requests += [
        _build_judge_odds_prompt(question, pieces, manner, criterion.id)
        for criterion, questions in zip(criteria, asked, strict=True)
        for question in questions
    ]
    leanings = list(map(read_yes_leaning_of_reply, (yield tuple(requests))))
    rule = find_yes_no_reply_rule([one.answer for one in known], leanings[: len(known)])
    told, rest = [], iter(leanings[len(known) :])
    for criterion, questions in zip(criteria, asked, strict=True):
        answered = _judge_criterion_by_odds(criterion, [next(rest) for _ in questions], rule)
        told.append(
            Judgment(
                judge=manner.judge,
                output=output,
                criterion=criterion.id,
                score=answered.score,
                reason=answered.reason,
                spread=None if answered.sd is None else AnswerSpread(n=1, sd=answered.sd, how="logprobs"),
            )
        )
    scores = {one.criterion: one.score for one in told[: len(list_judged_criteria(rubric))]}
    blank = OutputReview(answers=Answers(id=output, scores=scores, author=sample.authors.get(output)), judgments=())
    return build_review_from_judgments(rubric, blank, told)


def _list_yes_no_judge_questions(criterion: Criterion, prompts: JudgePrompts) -> list[str]:
    """What is asked: whether it is met, or whether each level above the lowest is reached."""
    if criterion.scale.yes_no:
        return [prompts.fill("odds-met", asks=word_judge_question(criterion))[0]]
    levels = _list_anchors_to_ask_judge(criterion)[1:]
    return [prompts.fill("odds-level", asks=word_judge_question(criterion), level=anchor.text)[0] for anchor in levels]


def _list_anchors_to_ask_judge(criterion: Criterion) -> list[Anchor]:
    return sorted(criterion.anchors, key=lambda anchor: (anchor.min, anchor.max))


def _build_judge_odds_prompt(question: str, pieces: Sequence[MaterialPiece], manner: JudgeSetup, *ids: str) -> Request:
    """The material first and the question last: what comes before the question is read once for all of them."""
    halves = manner.prompts.fill("odds", question=question)
    settings = replace(manner.settings, temperature=0.0, max_tokens=1, top_logprobs=MOST_TOKENS_SHOWN)
    # Composed without ids, which would go into the marker and part the beginnings of the questions.
    return replace(
        compose_judge_request("odds", PromptOutline(halves=halves, ids=()), pieces, manner, settings=settings), ids=ids
    )


def _judge_criterion_by_odds(
    criterion: Criterion, leanings: Sequence[float | Missing], rule: YesNoReplyRule | str
) -> _OddsAnswer:
    missing = next((one for one in leanings if isinstance(one, Missing)), None)
    if missing is not None:
        return _OddsAnswer(missing)
    heard = [one for one in leanings if not isinstance(one, Missing)]
    if not heard:
        why = "a scale without anchors at two levels or more has nothing to ask by"
        return _OddsAnswer(Missing("abstained", f"{CANNOT_ASSESS}: {why}"))
    if isinstance(rule, str):
        return _OddsAnswer(Missing("abstained", f"{CANNOT_ASSESS}: {rule}"))
    first = heard[0]
    told = f"{_explain_yes_reply_odds(first)} (log-odds {first:+.2f}; {_explain_yes_no_reply_rule(rule)})"
    if all(map(rule.undecided, heard)):
        return _OddsAnswer(Missing("abstained", f"{CANNOT_ASSESS}: {told}: too near to call"))
    if not criterion.scale.yes_no:
        return _judge_anchor_by_odds(criterion, heard, rule)
    chance, yes = rule.chance_of_yes_reply(first), first > rule.threshold
    reason = f"{'yes' if yes else 'no'}: {told}"
    return _OddsAnswer(Scored(Fraction(int(yes)), why=reason), reason, math.sqrt(chance * (1 - chance)))


def _judge_anchor_by_odds(criterion: Criterion, leanings: Sequence[float], rule: YesNoReplyRule) -> _OddsAnswer:
    """The mean over the middles of the anchors, each as likely as the questions leave it."""
    levels = _list_anchors_to_ask_judge(criterion)
    reached = [1.0, *pool_judge_odds([rule.chance_of_yes_reply(one) for one in leanings]), 0.0]
    chances = [here - above for here, above in pairwise(reached)]
    middles = [float(anchor.min + anchor.max) / 2 for anchor in levels]
    mean = sum(middle * chance for middle, chance in zip(middles, chances, strict=True))
    sd = math.sqrt(sum((middle - mean) ** 2 * chance for middle, chance in zip(middles, chances, strict=True)))
    value = Fraction(f"{mean:.6f}")
    band = None
    if criterion.scale.bands:
        value = Fraction(round(mean))
        band = next(one.id for one in criterion.scale.bands if one.min <= value <= one.max)
    said = [
        f"at least {format_fraction(level.min)}: {_explain_yes_reply_odds(one)}"
        for level, one in zip(levels[1:], leanings, strict=True)
    ]
    reason = f"{'; '.join(said)} ({_explain_yes_no_reply_rule(rule)})"
    return _OddsAnswer(Scored(value, band, reason), reason, sd)


def pool_judge_odds(chances: Sequence[float]) -> list[float]:
    """The nearest chances that never rise: whoever reaches a level has reached those below it."""
    pools: list[tuple[float, int]] = []
    for chance in chances:
        total, count = chance, 1
        while pools and pools[-1][0] / pools[-1][1] < total / count:
            above = pools.pop()
            total, count = total + above[0], count + above[1]
        pools.append((total, count))
    return [total / count for total, count in pools for _ in range(count)]


def _explain_yes_no_reply_rule(rule: YesNoReplyRule) -> str:
    return f"this model means yes above {round(rule.threshold, 2) + 0.0:+.2f}"  # Plus zero: no "-0.00".


def _explain_yes_reply_odds(leaning: float) -> str:
    more, less = ("yes", "no") if leaning >= 0 else ("no", "yes")
    times = math.exp(min(abs(leaning), 50.0))
    if times < 1.05:
        return "yes and no are equally likely"
    spelt = f"{times:,.0f}" if times >= 10 else f"{times:.1f}".removesuffix(".0")
    return f"{more} is {spelt} times as likely as {less}"


YES = frozenset({"yes", "是", "是的"})
NO = frozenset({"no", "否", "不", "不是"})
LEAST_MASS = 0.2  # Of all chances, those of yes and no together: below it the model did not answer the question.
LEAST_ORDERED = 0.8  # Of all pairs of a known yes and a known no; whoever guesses gets there once in fifty times.
BAND = 0.1  # Of half the distance between known yeses and known noes: as near to the threshold nothing is decided.
NOISE = 0.2  # At least so near: a question gets as much more or less after other questions than as the first one.
_MARKS = "*\"'`.,。，“”‘’「」"
_PAIR = re.compile(r"(?P<text>.+)\nyes: (?P<yes>.+)\nno: (?P<no>.+)")


@dataclass(frozen=True, slots=True)
class KnownQuestion:
    """A question about a short text whose answer is known."""

    text: str
    asks: str
    answer: bool


@dataclass(frozen=True, slots=True)
class YesNoReplyRule:
    """From which log-odds on a model means yes, and how near to that it means nothing."""

    threshold: float
    band: float

    def chance_of_yes_reply(self, leaning: float) -> float:
        """The chance of a yes, once the leaning of the model itself is taken off."""
        return 1 / (1 + math.exp(min(max(self.threshold - leaning, -50.0), 50.0)))

    def undecided(self, leaning: float) -> bool:
        """Whether it is too near the threshold to call."""
        return abs(leaning - self.threshold) < self.band


def load_known_judge_questions(prompts: JudgePrompts) -> tuple[KnownQuestion, ...]:
    """The shipped questions, as many with yes as with no."""
    blocks, _ = prompts.fill("odds-known")
    pairs = [found for block in blocks.split("\n\n") if (found := _PAIR.fullmatch(block.strip()))]
    return tuple(KnownQuestion(pair["text"], pair[word], word == "yes") for pair in pairs for word in ("yes", "no"))


def read_yes_leaning_of_reply(reply: Reply | NoReply) -> float | Missing:
    """The log-odds of yes against no, or why there are none."""
    if isinstance(reply, NoReply):
        return explain_silent_judge(reply)
    place = next((place for place in reply.places if _strip_reply_token_marks(place.token)), None)
    if place is None or not place.likely:
        return Missing("unreadable", "the reply does not say how likely its words were")
    likely = [(_strip_reply_token_marks(token), math.exp(min(logprob, 0.0))) for token, logprob in place.likely]
    yes, no = (sum(chance for token, chance in likely if token in words) for words in (YES, NO))
    if yes + no < LEAST_MASS:
        said = f"{place.token.strip()[:40]!r} where yes or no was asked for ({yes + no:.0%} of the chances)"
        return Missing("unreadable", said)
    # A word that is not among those shown is at most as likely as the last of them.
    least = math.exp(min(logprob for _, logprob in place.likely))
    return math.log(max(yes, least) / max(no, least))


def find_yes_no_reply_rule(answers: Sequence[bool], leanings: Sequence[float | Missing]) -> YesNoReplyRule | str:
    """The threshold half way between the faintest known yeses and noes, or why there is none.

    The faintest quarter of each, since real outputs miss a criterion narrowly: the middle of all lies too low for them.
    """
    heard = [(answer, one) for answer, one in zip(answers, leanings, strict=True) if not isinstance(one, Missing)]
    yes, no = (sorted(one for answer, one in heard if answer is wanted) for wanted in (True, False))
    if 2 * min(len(yes), len(no)) <= len(answers) // 2:
        why = next((one.text for one in leanings if isinstance(one, Missing)), "nothing was asked")
        return f"this model does not answer known questions with yes or no ({why})"
    if fmean(one > other for one in yes for other in no) < LEAST_ORDERED:
        return "this model cannot tell known yeses from known noes"
    faint_yes, faint_no = yes[: max(1, len(yes) // 4)], no[-max(1, len(no) // 4) :]
    return YesNoReplyRule((fmean(faint_yes) + fmean(faint_no)) / 2, max(NOISE, BAND * (fmean(yes) - fmean(no)) / 2))


def _strip_reply_token_marks(token: str) -> str:
    return token.strip().strip(_MARKS).strip().lower()
