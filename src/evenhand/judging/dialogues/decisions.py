"""Decisions: every criterion of an output as a typed question in one request, and the probabilities read from its
answer.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction

from evenhand.files.parsing import decode_plain_json
from evenhand.judging.answer_form import (
    CANNOT_ASSESS,
    list_judged_criteria,
    list_questions_for_judge,
    tag_sample_for_judge,
    word_judge_question,
)
from evenhand.judging.dialogues.pointwise import build_review_from_judgments
from evenhand.judging.dialogues.token_odds import MOST_TOKENS_SHOWN, read_yes_leaning_of_reply
from evenhand.judging.fence import MaterialPiece
from evenhand.judging.prompts import JudgePrompts, JudgeSetup, PromptOutline, compose_judge_request
from evenhand.judging.questions import Dialogue, explain_silent_judge
from evenhand.judging.results import OutputReview
from evenhand.judging.traces import label_trace_for_prompt
from evenhand.model.rubric import Rubric
from evenhand.model.sample import Sample
from evenhand.model.scale import Anchor, Criterion, Missing, Scored
from evenhand.model.scorecard import Answers, AnswerSpread, Judgment
from evenhand.models.decisions_format import MOST_QUESTIONS
from evenhand.models.model_names import is_local_model_file
from evenhand.models.requests import DecisionQuestion, NoReply, Reply, Request, TokenLogprobs, read_provider_object
from evenhand.wording import format_fraction, format_percent

MOST_LEVELS = 10  # Of a score, as servers take them; from two on.
NO_EVIDENCE = "{judge} quotes no evidence: it answers with probabilities"


@dataclass(frozen=True, slots=True)
class AskedCriterion:
    """A criterion as a question, with what each option of it means as a score: for a predicate no, then yes."""

    criterion: Criterion
    question: DecisionQuestion
    scores: tuple[Scored, ...]

    @property
    def words(self) -> tuple[str, ...]:
        """The options as readers see them."""
        return tuple(label for label, _ in self.question.options) or ("no", "yes")


def ask_judge_by_decisions(rubric: Rubric, sample: Sample, output: str, manner: JudgeSetup) -> Dialogue[OutputReview]:
    """Ask all criteria at once; a model in a file is asked one token for each, which says as much."""
    prompts, criteria = manner.prompts, list_questions_for_judge(rubric)
    asked = [
        make_decision_question(criterion, f"q{number}", rubric, prompts) for number, criterion in enumerate(criteria, 1)
    ]
    questions = [one for one in asked if isinstance(one, AskedCriterion)]
    pieces = tag_sample_for_judge(rubric, sample, prompts)
    pieces += label_trace_for_prompt(rubric, sample.traces.get(output), prompts)
    pieces.append((prompts.say("output"), "output", sample.outputs[output]))
    ask = _ask_token_by_token if is_local_model_file(manner.judge) else _ask_judge_in_few_requests
    said = iter((yield from ask(questions, pieces, manner)) if questions else ())
    told = [
        _make_judgment(manner.judge, output, criterion, one, next(said), rubric.too_close)
        if isinstance(one, AskedCriterion)
        else Judgment(judge=manner.judge, output=output, criterion=criterion.id, score=one)
        for criterion, one in zip(criteria, asked, strict=True)
    ]
    scores = {one.criterion: one.score for one in told[: len(list_judged_criteria(rubric))]}
    notes = (NO_EVIDENCE.format(judge=manner.judge),)
    blank = Answers(id=output, scores=scores, author=sample.authors.get(output), notes=notes)
    return build_review_from_judgments(rubric, OutputReview(answers=blank, judgments=()), told)


def make_decision_question(
    criterion: Criterion, name: str, rubric: Rubric, prompts: JudgePrompts
) -> AskedCriterion | Missing:
    """A criterion as a question: yes/no as a predicate, bands as a choice, anchors as levels; or why it is none."""
    asks = _word_question(criterion, prompts)
    if criterion.scale.yes_no:
        met = prompts.fill("decisions-met", asks=asks)[0]
        question = DecisionQuestion(name=name, kind="predicate", asks=met)
        return AskedCriterion(criterion, question, (Scored(Fraction(0)), Scored(Fraction(1))))
    if why := explain_criterion_unfit_for_decisions(criterion):
        return Missing("abstained", f"{CANNOT_ASSESS}: {why}")
    level = prompts.fill("decisions-level", asks=asks)[0]
    options, scores = (
        _list_bands_for_judge(criterion, rubric, prompts)
        if criterion.scale.bands
        else _list_levels_for_judge(criterion)
    )
    question = DecisionQuestion(
        name=name, kind="choice" if criterion.scale.bands else "score", asks=level, options=options
    )
    return AskedCriterion(criterion, question, scores)


def explain_criterion_unfit_for_decisions(criterion: Criterion) -> str:
    """Why a decision model cannot be asked about a criterion; empty where it can."""
    scale = criterion.scale
    if (
        scale.yes_no
        or 2 <= len(scale.bands) <= len(LETTERS)
        or 2 <= len(_find_levels_for_judge(criterion)) <= MOST_LEVELS
    ):
        return ""
    return f"its scale has no anchors at two to {MOST_LEVELS} levels, and is not of as few whole numbers"


def _word_question(criterion: Criterion, prompts: JudgePrompts) -> str:
    """What a criterion asks, with what its yes and its no mean where that is said: levels say it themselves."""
    anchors = criterion.anchors if criterion.scale.yes_no else ()
    meant = [f"- {prompts.say('yes' if one.min else 'no')}: {one.text}" for one in anchors]
    return "\n".join([word_judge_question(criterion), *meant])


_Options = tuple[tuple[tuple[str, str], ...], tuple[Scored, ...]]


def _list_bands_for_judge(criterion: Criterion, rubric: Rubric, prompts: JudgePrompts) -> _Options:
    """The bands from low to high, each counted as its middle."""
    meaning = {grade.grade: grade.label for grade in rubric.method.grades}
    options, scores = [], []
    for band in sorted(criterion.scale.bands, key=lambda one: one.min):
        span = prompts.say("band", id=band.id, min=format_fraction(band.min), max=format_fraction(band.max))
        anchors = [one.text for one in criterion.anchors if band.min <= one.min and one.max <= band.max]
        told = [span, prompts.translate(meaning.get(band.id) or ""), *anchors]
        options.append((band.id, ". ".join(part.rstrip(".") for part in told if part)))
        scores.append(Scored(Fraction((band.min + band.max) // 2), band.id))
    return tuple(options), tuple(scores)


def _list_levels_for_judge(criterion: Criterion) -> _Options:
    """The levels of a scale from low to high, each counted as its middle."""
    levels = _find_levels_for_judge(criterion)
    labels = ["–".join(dict.fromkeys(map(format_fraction, (one.min, one.max)))) for one in levels]
    options = tuple((label, one.text) for label, one in zip(labels, levels, strict=True))
    return options, tuple(Scored((one.min + one.max) / 2) for one in levels)


def _find_levels_for_judge(criterion: Criterion) -> list[Anchor]:
    """The anchors where they cover the scale or it has many numbers; else its whole numbers, with their anchors."""
    anchors, scale = sorted(criterion.anchors, key=lambda one: (one.min, one.max)), criterion.scale
    ends_are_whole = scale.min.denominator == scale.max.denominator == 1
    few = ends_are_whole and scale.max - scale.min < MOST_LEVELS
    # Of two numbers that have decimals between them, most answers would be neither.
    if not few or (scale.max - scale.min == 1 and not scale.integers):
        return anchors
    numbers = [Fraction(one) for one in range(int(scale.min), int(scale.max) + 1)]
    texts = {one: [own.text for own in anchors if own.min <= one <= own.max] for one in numbers}
    if all(texts.values()) and len(anchors) > 1:
        return anchors
    return [Anchor(min=one, max=one, text=" ".join(texts[one])) for one in numbers]


def _ask_judge_in_few_requests(
    asked: Sequence[AskedCriterion], pieces: Sequence[MaterialPiece], manner: JudgeSetup
) -> Dialogue[list[JudgeDecisionAnswer | Missing]]:
    """All questions in one request, or in as few as a server takes."""
    parts = [asked[start : start + MOST_QUESTIONS] for start in range(0, len(asked), MOST_QUESTIONS)]
    halves = manner.prompts.fill("decisions")
    settings = replace(manner.settings, max_tokens=0)  # Such a model writes nothing.
    requests = []
    for part in parts:
        outline = PromptOutline(halves=halves, ids=tuple(one.criterion.id for one in part))
        request = compose_judge_request("decisions", outline, pieces, manner, settings=settings)
        requests.append(replace(request, questions=tuple(one.question for one in part)))
    replies = yield tuple(requests)
    return [
        answer
        for part, reply in zip(parts, replies, strict=True)
        for answer in read_decision_answers([one.question for one in part], reply)
    ]


def _ask_token_by_token(
    asked: Sequence[AskedCriterion], pieces: Sequence[MaterialPiece], manner: JudgeSetup
) -> Dialogue[list[JudgeDecisionAnswer | Missing]]:
    """One request for each question, with one token to answer: the model tells how likely each one was."""
    requests = tuple(_build_judge_letter_request(one, pieces, manner) for one in asked)
    replies: Sequence[Reply | NoReply] = yield requests
    return [read_letter_answer(one.question, reply) for one, reply in zip(asked, replies, strict=True)]


def _build_judge_letter_request(asked: AskedCriterion, pieces: Sequence[MaterialPiece], manner: JudgeSetup) -> Request:
    """The material first and the question last: what comes before the question is read once for all of them."""
    prompts, question = manner.prompts, asked.question
    if question.options:
        listed = [
            f"{letter}) {label}: {meaning}" if meaning else f"{letter}) {label}"
            for letter, (label, meaning) in zip(LETTERS, question.options, strict=False)
        ]
        text = prompts.fill("decisions-letter", question=question.asks, options="\n".join(listed))[0]
    else:
        text = prompts.fill("odds-met", asks=_word_question(asked.criterion, prompts))[0]
    system, task = prompts.fill("decisions")
    outline = PromptOutline(halves=(system, f"{task}\n\n{text}"), ids=())
    settings = replace(manner.settings, temperature=0.0, max_tokens=1, top_logprobs=MOST_TOKENS_SHOWN)
    request = compose_judge_request("decisions", outline, pieces, manner, settings=settings)
    return replace(request, ids=(asked.criterion.id,))


def _make_judgment(
    judge: str,
    output: str,
    criterion: Criterion,
    asked: AskedCriterion,
    said: JudgeDecisionAnswer | Missing,
    too_close: Fraction | None,
) -> Judgment:
    """The most likely answer, with its spread and the mean over all answers beside it."""
    blank = Judgment(judge=judge, output=output, criterion=criterion.id, score=Missing("failed", "not answered"))
    if isinstance(said, Missing):
        return replace(blank, score=said)
    values = [one.value for one in asked.scores]
    best, lead = said.find_most_likely()
    likely = f"{asked.words[best]}: {format_percent(said.chances[best])} likely"
    if too_close is not None and lead < too_close:
        why = f"{CANNOT_ASSESS}: {likely}, {format_percent(lead)} ahead of the next: too close to call"
        return replace(blank, score=Missing("abstained", why))
    mean = said.compute_mean(values)
    return replace(
        blank,
        score=replace(asked.scores[best], why=likely),
        reason=likely,
        spread=AnswerSpread(n=1, sd=said.compute_deviation(values), how="probabilities"),
        expected=Fraction(f"{mean:.6f}"),
    )


LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SUM_TOLERANCE = 0.02  # Servers round; what sums to something else is no list of probabilities.
LEAST_MASS = 0.2  # Of one token, the chances of all letters together: below it the question was not answered.


@dataclass(frozen=True, slots=True)
class JudgeDecisionAnswer:
    """How likely each option of a question is, in their order: no, then yes, for a predicate."""

    chances: tuple[float, ...]

    def find_most_likely(self) -> tuple[int, float]:
        """The place of the most likely option, the lower one of equals, and how far it is ahead of the next."""
        ranked = sorted(range(len(self.chances)), key=lambda place: (-self.chances[place], place))
        return ranked[0], self.chances[ranked[0]] - self.chances[ranked[1]]

    def compute_mean(self, values: Sequence[Fraction]) -> float:
        """The mean over the values of the options."""
        return sum(float(value) * chance for value, chance in zip(values, self.chances, strict=True))

    def compute_deviation(self, values: Sequence[Fraction]) -> float:
        """The standard deviation over the values of the options."""
        mean = self.compute_mean(values)
        squares = [(float(value) - mean) ** 2 * chance for value, chance in zip(values, self.chances, strict=True)]
        return math.sqrt(sum(squares))


def read_decision_answers(
    questions: Sequence[DecisionQuestion], reply: Reply | NoReply
) -> list[JudgeDecisionAnswer | Missing]:
    """The answer to each question of a request, or why there is none."""
    if isinstance(reply, NoReply):
        return [explain_silent_judge(reply)] * len(questions)
    try:
        listed = read_provider_object(decode_plain_json(reply.text)).get("answers")
    except (ValueError, RecursionError):
        listed = None
    if not isinstance(listed, list):
        return [Missing("unreadable", "the reply is no list of answers")] * len(questions)
    answers = [read_provider_object(one) for one in listed]
    if len(answers) == len(questions) and all(one.get("name") is None for one in answers):
        # A server that drops names: answers come in the order of the questions.
        answers = [{**one, "name": asked.name} for one, asked in zip(answers, questions, strict=True)]
    return [_read_named_answer(asked, [one for one in answers if one.get("name") == asked.name]) for asked in questions]


def _read_named_answer(
    question: DecisionQuestion, found: Sequence[Mapping[str, object]]
) -> JudgeDecisionAnswer | Missing:
    if len(found) != 1:
        return Missing("unreadable", "the answer is given more than once" if found else "no answer was given")
    answer = found[0]
    if answer.get("type") == "refusal":
        return Missing("abstained", "the model declined to answer")
    if answer.get("type") != question.kind:
        kind = f"is of type {str(answer['type'])[:40]!r}" if answer.get("type") else "has no type"
        return Missing("unreadable", f"the answer {kind}, where {question.kind!r} was asked for")
    if question.kind == "predicate":
        chance = _read_chance_in_reply(answer.get("probability"))
        return chance if isinstance(chance, Missing) else JudgeDecisionAnswer((1 - chance, chance))
    return _read_option_chances_in_reply(question, answer)


def _read_option_chances_in_reply(
    question: DecisionQuestion, answer: Mapping[str, object]
) -> JudgeDecisionAnswer | Missing:
    """The probability of each option, once each, and together 1."""
    listed = answer.get("probabilities")
    key = "value" if question.kind == "choice" else "label"
    entries = [read_provider_object(one) for one in listed] if isinstance(listed, list) else []
    chances = []
    for label, _ in question.options:
        own = [one.get("probability") for one in entries if one.get(key) == label]
        if len(own) != 1:
            times = "more than one probability" if own else "no probability"
            return Missing("unreadable", f"{times} for {label!r}")
        chance = _read_chance_in_reply(own[0])
        if isinstance(chance, Missing):
            return Missing("unreadable", f"{chance.why} for {label!r}")
        chances.append(chance)
    if len(entries) != len(chances):
        return Missing("unreadable", "a probability for an option that was not asked about")
    total = math.fsum(chances)
    if abs(total - 1) > SUM_TOLERANCE:
        return Missing("unreadable", f"the probabilities sum to {total:.2f}, not to 1")
    told = JudgeDecisionAnswer(tuple(chance / total for chance in chances))
    return _refuse_contradictory_reply(question, answer, told)


def _refuse_contradictory_reply(
    question: DecisionQuestion, answer: Mapping[str, object], told: JudgeDecisionAnswer
) -> JudgeDecisionAnswer | Missing:
    """The answer, unless the choice that it names is not the most likely one."""
    chosen = answer.get("choice")
    labels = [label for label, _ in question.options]
    if question.kind != "choice" or chosen is None:
        return told
    if chosen not in labels or told.chances[labels.index(str(chosen))] < max(told.chances) - SUM_TOLERANCE:
        return Missing("unreadable", f"the choice {str(chosen)[:40]!r} is not the most likely one")
    return told


def _read_chance_in_reply(value: object) -> float | Missing:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Missing("unreadable", "no probability" if value is None else "a probability that is no number")
    # A comparison with NaN is false.
    return float(value) if 0 <= value <= 1 else Missing("unreadable", f"a probability of {value}")


def read_letter_answer(question: DecisionQuestion, reply: Reply | NoReply) -> JudgeDecisionAnswer | Missing:
    """How likely each option was as the one token of a reply: yes and no, or letters."""
    if not question.options:
        leaning = read_yes_leaning_of_reply(reply)
        if isinstance(leaning, Missing):
            return leaning
        yes = 1 / (1 + math.exp(-leaning))
        return JudgeDecisionAnswer((1 - yes, yes))
    if isinstance(reply, NoReply):
        return explain_silent_judge(reply)
    place = next((one for one in reply.places if one.token.strip()), None)
    if place is None or not place.likely:
        return Missing("unreadable", "the reply does not say how likely its words were")
    return _weigh_letters(LETTERS[: len(question.options)], place)


def _weigh_letters(letters: str, place: TokenLogprobs) -> JudgeDecisionAnswer | Missing:
    """The share of each letter among all of them."""
    chances = dict.fromkeys(letters, 0.0)
    for token, logprob in place.likely:
        letter = token.strip().strip("().*\"'").upper()
        if letter in chances:
            chances[letter] += math.exp(min(logprob, 0.0))
    total = math.fsum(chances.values())
    if total < LEAST_MASS:
        said = f"{place.token.strip()[:40]!r} where a letter was asked for ({total:.0%} of the chances)"
        return Missing("unreadable", said)
    # A letter that is not among the tokens shown is less likely than the last of them: next to nothing.
    return JudgeDecisionAnswer(tuple(chance / total for chance in chances.values()))
