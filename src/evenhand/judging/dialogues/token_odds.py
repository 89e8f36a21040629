"""Scores from the odds of tokens: how likely each answer was, or yes against no, one criterion at a time."""

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
    format_criteria_prompt,
    format_scale_prompt,
    list_judged_criteria,
    list_questions_for_judge,
    tag_sample_for_judge,
    word_judge_question,
)
from evenhand.judging.dialogues.pointwise import (
    average_repeated_judgments,
    build_review_from_judgments,
    vary_repeated_judge_settings,
)
from evenhand.judging.fence import MaterialPiece
from evenhand.judging.prompts import JudgePrompts, JudgeSetup, PromptOutline, compose_judge_request
from evenhand.judging.questions import (
    Dialogue,
    JudgeQuestion,
    JudgeReplyReading,
    ask_judge_questions,
    explain_silent_judge,
    find_own_reply_text,
)
from evenhand.judging.reading.reply_reader import read_reply_score
from evenhand.judging.reading.reply_text import strip_thinking_from_reply
from evenhand.judging.results import OutputReview
from evenhand.judging.traces import label_trace_for_prompt
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Anchor, Criterion, Missing, Scale, Scored
from evenhand.model.scorecard import Answers, AnswerSpread, Judgment
from evenhand.models.requests import NoReply, Reply, Request, TokenLogprobs
from evenhand.wording import format_fraction

MOST_TOKENS_SHOWN = 20
LEAST_MASS = 0.5  # Below it the likely tokens are mostly not answers, and say little about one.
_ENDS_SCORE = re.compile(r"(?:\s*/\s*[0-9]+)?[\s.*_`\"'。]*")
_LEVELS = 21  # A scale with more levels than a server shows tokens has no mean to speak of.


def ask_judge_by_logprobs(
    rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup, *, replies: int
) -> Dialogue[OutputReview]:
    """Ask each criterion by itself and read the probabilities of the score's tokens.

    Where the server gives none, or they cannot be told apart, that criterion is asked so many times instead.
    """
    criteria = list_questions_for_judge(rubric)
    questions = [_ask_score_line(rubric, one, sample, output, manner) for one in criteria]
    answers = yield tuple(question.request for question in questions)
    judgments: dict[int, Judgment] = {}
    for place, (criterion, reply) in enumerate(zip(criteria, answers, strict=True)):
        found = _read_reply_score_from_logprobs(criterion, reply, manner, questions[place])
        if found is not None:
            judgments[place] = _build_logprobs_judgment(manner, output, criterion.id, found, getattr(reply, "text", ""))
    rest = [place for place in range(len(criteria)) if place not in judgments]
    repeated = [
        _ask_score_line(rubric, criteria[place], sample, output, manner, repeat)
        for place in rest
        for repeat in range(1, replies + 1)
    ]
    readings = (yield from ask_judge_questions(repeated, manner.prompts)) if repeated else []
    for number, place in enumerate(rest):
        own, id = readings[number * replies : (number + 1) * replies], criteria[place].id
        judgments[place] = average_repeated_judgments(
            [one.items.get(id) or _build_logprobs_judgment(manner, output, id, one.explain_missing(id)) for one in own]
        )
    return _review_by_odds(rubric, sample, output, [judgments[place] for place in range(len(criteria))])


def _review_by_odds(rubric: Rubric, sample: Sample, output: str, told: Sequence[Judgment]) -> OutputReview:
    scores = {one.criterion: one.score for one in told[: len(list_judged_criteria(rubric))]}
    blank = OutputReview(answers=Answers(id=output, scores=scores, author=sample.authors.get(output)), judgments=())
    return build_review_from_judgments(rubric, blank, told)


def read_reply_score_chances(
    scale: Scale, places: Sequence[TokenLogprobs], line: str, said: Fraction
) -> dict[Fraction, float] | None:
    """How likely each answer on the scale was after the last `line`; None where that is not told, or not as `said`."""
    place = _find_reply_score_token(places, line)
    if place is None or not (scale.integers or scale.yes_no) or scale.max - scale.min >= _LEVELS:
        return None
    words = {str(level): Fraction(level) for level in range(int(scale.min), int(scale.max) + 1)}
    if scale.yes_no:
        words = {"yes": Fraction(1), "no": Fraction(0), "是": Fraction(1), "否": Fraction(0)}
    if words.get(_strip_reply_token_marks(place.token)) != said:
        return None
    tokens: dict[str, float] = {}
    for spelt, logprob in place.likely:
        token = _strip_reply_token_marks(spelt)
        tokens[token] = tokens.get(token, 0.0) + math.exp(min(logprob, 0.0))
    found: dict[Fraction, float] = {}
    for token in (one for one in tokens if one in words):
        # "1" may be the first half of "10": only a tokenizer that is seen to write it whole tells them apart.
        longer = [word for word in words if word != token and word.startswith(token)]
        if longer and not any(word in tokens for word in longer):
            return None
        found[words[token]] = found.get(words[token], 0.0) + tokens[token]
    return found if said in found and sum(found.values()) >= LEAST_MASS else None


def _read_reply_score_from_logprobs(
    criterion: Criterion, reply: Reply | NoReply, manner: JudgeSetup, question: JudgeQuestion[Judgment]
) -> Missing | tuple[Scored, AnswerSpread] | None:
    """The mean over the likely answers, where the reply itself says one of them and was not cut off."""
    if isinstance(reply, NoReply):
        return explain_silent_judge(reply)
    scale = criterion.scale
    own = find_own_reply_text(question, reply.text) if reply.places and reply.stop != "length" else None
    if own is None:
        return None
    said = read_reply_score(own, scale, criterion.id)
    line = manner.prompts.say("score")
    if not isinstance(said, Scored) or not (found := read_reply_score_chances(scale, reply.places, line, said.value)):
        return None
    mean = sum(float(value) * chance for value, chance in found.items()) / sum(found.values())
    variance = sum((float(value) - mean) ** 2 * chance for value, chance in found.items()) / sum(found.values())
    exactly = Fraction(f"{min(max(mean, float(scale.min)), float(scale.max)):.6f}")
    return Scored(exactly), AnswerSpread(n=1, sd=math.sqrt(variance), how="logprobs")


def _find_reply_score_token(places: Sequence[TokenLogprobs], line: str) -> TokenLogprobs | None:
    """The place of the answer's first token, after the last "Score:"; of several in an object, one may be quoted."""
    text, ends = "", []
    for place in places:
        text += place.token
        ends.append(len(text))
    starts = [found.end() for found in re.finditer(rf"{re.escape(line)}[\s*\"']*[:：]", text, re.IGNORECASE)]
    if not starts or (len(starts) > 1 and "{" in text):
        return None
    after = [place for place, end in zip(places, ends, strict=True) if end > starts[-1]]
    while after and not _strip_reply_token_marks(after[0].token):
        del after[0]
    # What is said behind an answer may take it back.
    return after[0] if after and _ENDS_SCORE.fullmatch("".join(place.token for place in after[1:])) else None


def _ask_score_line(
    rubric: Rubric, criterion: Criterion, sample: Sample, output: str, manner: JudgeSetup, repeat: int = 0
) -> JudgeQuestion[Judgment]:
    """The question for some prose and a line with the score of one criterion."""
    prompts, id = manner.prompts, criterion.id
    form = f"{prompts.say('score')}: <{format_scale_prompt(criterion.scale, prompts)} | {prompts.say('cannot')}>"
    halves = prompts.fill("sampled", criteria=format_criteria_prompt([criterion], prompts), form=form)
    settings = replace(manner.settings, top_logprobs=MOST_TOKENS_SHOWN)
    if repeat:
        settings = vary_repeated_judge_settings(manner.settings, manner.seed, repeat)
    pieces = _list_judged_pieces(rubric, sample, output, prompts)
    outline = PromptOutline(halves=halves, ids=(id,), asked=((id, criterion),))

    def read(text: str) -> JudgeReplyReading[Judgment]:
        score = read_reply_score(text, criterion.scale, id)
        if isinstance(score, Missing) and score.kind != "abstained":
            return JudgeReplyReading(unread=score)
        return JudgeReplyReading(items={id: _build_logprobs_judgment(manner, output, id, score, text)})

    request = compose_judge_request("sampled", outline, pieces, manner, settings=settings, repeat=repeat)
    return JudgeQuestion(request, read, pieces, line=form)


def _list_judged_pieces(rubric: Rubric, sample: Sample, output: str, prompts: JudgePrompts) -> list[MaterialPiece]:
    trace = label_trace_for_prompt(rubric, sample.traces.get(output), prompts)
    text = sample.outputs[output]
    return [*tag_sample_for_judge(rubric, sample, prompts), *trace, (prompts.say("output"), "output", text)]


def _build_logprobs_judgment(
    manner: JudgeSetup,
    output: str,
    criterion: str,
    score: Scored | Missing | tuple[Scored, AnswerSpread],
    reply: str = "",
) -> Judgment:
    plain, spread = score if isinstance(score, tuple) else (score, None)
    reason = strip_thinking_from_reply(reply)
    if isinstance(plain, Scored):
        plain = replace(plain, why=reason)
    return Judgment(judge=manner.judge, output=output, criterion=criterion, score=plain, reason=reason, spread=spread)


def ask_judge_by_odds(rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup) -> Dialogue[OutputReview]:
    """Ask each criterion as questions of yes or no. A scale is asked by its anchors, from low to high.

    Questions with known answers go first: they show how readily this model says yes.
    """
    criteria, prompts = list_questions_for_judge(rubric), manner.prompts
    asked = [_list_yes_no_judge_questions(criterion, prompts) for criterion in criteria]
    known = load_known_judge_questions(prompts) if any(asked) else ()
    pieces = _list_judged_pieces(rubric, sample, output, prompts)
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
        score, spread = _judge_criterion_by_odds(criterion, [next(rest) for _ in questions], rule)
        reason = score.why if isinstance(score, Scored) else ""
        told.append(
            Judgment(
                judge=manner.judge, output=output, criterion=criterion.id, score=score, reason=reason, spread=spread
            )
        )
    return _review_by_odds(rubric, sample, output, told)


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
) -> tuple[Scored | Missing, AnswerSpread | None]:
    """The score, which says what it rests on, and how sure it is."""
    missing = next((one for one in leanings if isinstance(one, Missing)), None)
    if missing is not None:
        return missing, None
    heard = [one for one in leanings if not isinstance(one, Missing)]
    if not heard:
        why = "a scale without anchors at two levels or more has nothing to ask by"
        return Missing("abstained", f"{CANNOT_ASSESS}: {why}"), None
    if isinstance(rule, str):
        return Missing("abstained", f"{CANNOT_ASSESS}: {rule}"), None
    first = heard[0]
    told = f"{_explain_yes_reply_odds(first)} (log-odds {first:+.2f}; {_explain_yes_no_reply_rule(rule)})"
    if all(map(rule.undecided, heard)):
        return Missing("abstained", f"{CANNOT_ASSESS}: {told}: too near to call"), None
    if not criterion.scale.yes_no:
        return _judge_anchor_by_odds(criterion, heard, rule)
    chance, yes = rule.chance_of_yes_reply(first), first > rule.threshold
    reason = f"{'yes' if yes else 'no'}: {told}"
    spread = AnswerSpread(n=1, sd=math.sqrt(chance * (1 - chance)), how="logprobs")
    return Scored(Fraction(int(yes)), why=reason), spread


def _judge_anchor_by_odds(
    criterion: Criterion, leanings: Sequence[float], rule: YesNoReplyRule
) -> tuple[Scored, AnswerSpread]:
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
    return Scored(value, band, reason), AnswerSpread(n=1, sd=sd, how="logprobs")


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
LEAST_YES_NO_MASS = 0.2  # Of all chances, those of yes and no together: below it the model did not answer the question.
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
    if yes + no < LEAST_YES_NO_MASS:
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
