"""Lines of a reply that also stand in the material: what the reply says without them, and whether that gives others."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping, Sequence
from fractions import Fraction
from functools import partial
from itertools import islice

from evenhand.judging.reading.other_answers import mentions_another_answer, mentions_answer
from evenhand.judging.reading.repeated_stretches import RepeatedStretch, cut_reply_stretches
from evenhand.judging.reading.score_mentions import Answer, spell_reply_answer

ReadAnswers = Callable[[str], Mapping[str, Answer]]  # The answers in a text, by name; ABSTAINED is one.
MOST_GAPS = 8
MOST_STATEMENTS = 20
MOST_POINTS = 100  # On scales that cannot be asked by one line.
_WORD = re.compile(r"[0-9]+(?:[.,][0-9]+)*|[\u4e00-\u9fff]|[^\W\d_]+")


def find_doubtful_lines(
    reply: str, repeated: Sequence[RepeatedStretch], given: Mapping[str, Answer], read: ReadAnswers
) -> set[str]:
    """The names whose answer stands in a line of the material, and of which the reply says something else beside it.

    It says something else if what is left without such lines, or a stretch before, between or after them, has
    another answer; or if the reply says anywhere, in whatever words before it, that it gives none.
    """
    parts = _list_rest_of_reply(reply, repeated, given.values())
    if not parts:
        return set()
    doubtful = _find_given_up(reply, parts[0], given, read)
    for part in parts:
        said = read(part)
        doubtful |= {name for name, value in given.items() if said.get(name, value) != value}
    return doubtful | find_reply_answered_otherwise(parts[0], given, read)


def _list_rest_of_reply(reply: str, repeated: Sequence[RepeatedStretch], values: Collection[Answer]) -> list[str]:
    """What is left of a reply without the answers that were read in it and that also stand in the material.

    First all of it, then what stands before, between and after them: another answer is in one of these only where
    the reply gave two.
    """
    words = {word for value in values for word in spell_reply_answer(value)}
    answers = sorted((one for one in repeated if words & set(one.words)), key=lambda one: (one.start, -one.end))
    if not answers:
        return []
    gaps = zip([0, *(one.end for one in answers)], [*(one.start for one in answers), None], strict=True)
    rest = [reply[start : end if end is None else reply.rfind("\n", 0, end) + 1] for start, end in gaps]
    return [cut_reply_stretches(reply, answers), *[part for part in rest if _WORD.search(part)][-MOST_GAPS:]]


_CANNOT = (
    r"(?:cannot|can't|can not|could not|couldn't|won't|will not|would not|wouldn't|unable to|not able to|impossible to|"
    r"not possible to|refus\w+ to|declin\w+ to|unwilling to|not (?:going|willing|prepared|comfortable|qualified)|"
    r"(?:do|did)(?: not|n't) (?:want|wish|dare|feel able) to)"
)
_ASSESS = (
    r"(?:assess|judg|evaluat|scor|rate\b|rated\b|rating|grade\b|graded\b|grading|rank|determin|answer|decid|review)"
)
_ANSWER = r"(?:scores?|ratings?|grades?|verdicts?|assessments?|evaluations?|judge?ments?|answers?)"
# In English, and the most usual words of Chinese, German, Spanish and French.
_GIVES_NONE = re.compile(
    rf"\b{_CANNOT}\b[^.!?\n]{{0,40}}?\b{_ASSESS}|\b(?:abst(?:ain|en|ien)|recus)\w*"
    r"|\bn\s?/\s?a\b|\bnot applicable\b|\b(?:un|not |non-?)(?:assess|judge?|score?|rate?|grade?|evaluat|answer)able\b"
    r"|\b(?:un|not (?:be )?)(?:assessed|judged|scored|rated|graded|evaluated|answered|determined|decided)\b"
    rf"|\bno (?:\w+ )?{_ANSWER}(?=\W*(?:\Z|\n|[.!;]|(?:is|are|was|can|could|will|from|given|possible)\b))"
    rf"|\b(?:withh[eo]ld\w*|without giving|not giv\w+) (?:\w+ )?{_ANSWER}|\b(?:rather not|prefer not to)\b|\bnone given"
    r"|\b(?:i|we) (?:\w+ ){0,2}(?:refuse|decline|pass|skip)\b"
    r"|[:：=]\s*\W{0,3}(?:refus(?:ed?|al)|declined?|unknown|undetermined|undecided|skipped)\b"
    r"|\b(?:insufficient|not enough|too little) (?:information|context|evidence|material|detail)"
    r"|(?:无法|不能|不便|不会|拒绝|难以|没法|不予)[^。！？\n]{0,6}(?:评|判|打分|给分|回答|作答)|弃权|不适用"
    r"|\bnicht\b[^.!?\n]{0,30}\b(?:bewert|beurteil|einschätz|beantwort|benot)|\benthalte\b|\benthaltung"
    r"|\bkeine (?:bewertung|wertung|note|antwort)\b|\bno evaluable"
    r"|\bno (?:se )?(?:pued|podemos|es posible|quiero)[^.!?\n]{0,20}\b(?:evalu|calific|juzg|puntu|valor|respond)"
    r"|\b(?:peux|pouvons|peut|puis)[^.!?\n]{0,12}\b(?:évalu|jug|noter|répond)|\bimpossible (?:d'|de )",
    re.IGNORECASE,
)
_PLAIN = str.maketrans({**dict.fromkeys("’ʼ＇`´‘", "'"), "_": " ", "*": ""})


def _find_given_up(reply: str, rest: str, given: Mapping[str, Answer], read: ReadAnswers) -> set[str]:
    """The names of which a reply says that it gives no answer, and that it answers nowhere but in copied lines.

    A line with names of its own is about these, as in "accuracy: cannot assess"; any other is about all.
    """
    plain = reply.translate(_PLAIN)
    statements = list(islice(_GIVES_NONE.finditer(plain), MOST_STATEMENTS))
    if not statements:
        return set()
    still = read(rest)
    copied = {name for name, value in given.items() if still.get(name) != value}
    lines = {plain[plain.rfind("\n", 0, one.start()) + 1 : one.end()] for one in statements} if copied else set()
    return {name for line in lines for name in set(read(line)) or copied if name in copied}


def find_reply_answered_otherwise(rest: str, given: Mapping[str, Answer], read: ReadAnswers) -> set[str]:
    """The names that the rest of a reply does not answer, but has another number for, or a yes for a no."""
    said = read(rest)

    def is_answer(name: str, number: Fraction) -> bool:
        told, whole, value = (read(f"{name}: {float(one):g}").get(name) for one in (number, number // 1, given[name]))
        return (told or whole) is not None if value == given[name] else 0 <= number <= MOST_POINTS

    return {
        name
        for name, value in given.items()
        if not (said.get(name) == value and mentions_answer(rest, value))
        and mentions_another_answer(rest, value, partial(is_answer, name))
    }
