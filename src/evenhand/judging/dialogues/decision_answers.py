"""Reading probabilities: those that a decision model gives for each question, and those of one token."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction

from evenhand.files.parsing import decode_plain_json
from evenhand.judging.dialogues.yes_no_odds import read_yes_leaning_of_reply
from evenhand.judging.prompts import explain_silent_judge
from evenhand.model.scale import Missing
from evenhand.models.requests import DecisionQuestion, NoReply, Reply, TokenLogprobs, read_provider_object

LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
SUM_TOLERANCE = 0.02  # Servers round; what sums to something else is no list of probabilities.
LEAST_MASS = 0.2  # Of one token, the chances of all letters together: below it the question was not answered.


@dataclass(frozen=True, slots=True)
class DecisionAnswer:
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
) -> list[DecisionAnswer | Missing]:
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


def _read_named_answer(question: DecisionQuestion, found: Sequence[Mapping[str, object]]) -> DecisionAnswer | Missing:
    if len(found) != 1:
        return Missing("unreadable", "the answer is given more than once" if found else "no answer was given")
    answer = found[0]
    if answer.get("type") == "refusal":
        return Missing("abstained", "the model declined to answer")
    if answer.get("type") != question.kind:
        kind = f"is of type {str(answer['type'])[:40]!r}" if answer.get("type") else "has no type"
        return Missing("unreadable", f"the answer {kind}, where {question.kind!r} was asked for")
    if question.kind == "predicate":
        chance = _read_chance(answer.get("probability"))
        return chance if isinstance(chance, Missing) else DecisionAnswer((1 - chance, chance))
    return _read_option_chances(question, answer)


def _read_option_chances(question: DecisionQuestion, answer: Mapping[str, object]) -> DecisionAnswer | Missing:
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
        chance = _read_chance(own[0])
        if isinstance(chance, Missing):
            return Missing("unreadable", f"{chance.why} for {label!r}")
        chances.append(chance)
    if len(entries) != len(chances):
        return Missing("unreadable", "a probability for an option that was not asked about")
    total = math.fsum(chances)
    if abs(total - 1) > SUM_TOLERANCE:
        return Missing("unreadable", f"the probabilities sum to {total:.2f}, not to 1")
    told = DecisionAnswer(tuple(chance / total for chance in chances))
    return _refuse_contradiction(question, answer, told)


def _refuse_contradiction(
    question: DecisionQuestion, answer: Mapping[str, object], told: DecisionAnswer
) -> DecisionAnswer | Missing:
    """The answer, unless the choice that it names is not the most likely one."""
    chosen = answer.get("choice")
    labels = [label for label, _ in question.options]
    if question.kind != "choice" or chosen is None:
        return told
    if chosen not in labels or told.chances[labels.index(str(chosen))] < max(told.chances) - SUM_TOLERANCE:
        return Missing("unreadable", f"the choice {str(chosen)[:40]!r} is not the most likely one")
    return told


def _read_chance(value: object) -> float | Missing:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return Missing("unreadable", "no probability" if value is None else "a probability that is no number")
    # A comparison with NaN is false.
    return float(value) if 0 <= value <= 1 else Missing("unreadable", f"a probability of {value}")


def read_letter_answer(question: DecisionQuestion, reply: Reply | NoReply) -> DecisionAnswer | Missing:
    """How likely each option was as the one token of a reply: yes and no, or letters."""
    if not question.options:
        leaning = read_yes_leaning_of_reply(reply)
        if isinstance(leaning, Missing):
            return leaning
        yes = 1 / (1 + math.exp(-leaning))
        return DecisionAnswer((1 - yes, yes))
    if isinstance(reply, NoReply):
        return explain_silent_judge(reply)
    place = next((one for one in reply.places if one.token.strip()), None)
    if place is None or not place.likely:
        return Missing("unreadable", "the reply does not say how likely its words were")
    return _weigh_letters(LETTERS[: len(question.options)], place)


def _weigh_letters(letters: str, place: TokenLogprobs) -> DecisionAnswer | Missing:
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
    return DecisionAnswer(tuple(chance / total for chance in chances.values()))
