"""What stands around an answer and says nothing but that it is one: a fence, a tag, "My answer:"."""

from __future__ import annotations

import re

_SENTENCE_END = re.compile(r"(?<=[.!?;])\s+|(?<=[。！？；])|\n+")
_ANSWER = r"(?:answers?|scores?|ratings?|evaluation|assessment|verdict|judge?ment|results?|grades?|reply|response)"
_KIND = r"(?:(?:final|own|overall|full|complete|json|detailed|requested|structured) ){0,2}"
_JUDGED = r"(?:answers?|scores?|ratings?|evaluation|assessment|verdict|judge?ment|grades?|json)"
_FRAMES = re.compile(
    rf"(?:sure|certainly|okay|ok|of course|{_KIND}{_JUDGED}"
    rf"|(?:(?:here|below|this|that|the (?:above|following)) (?:is|are) )?"
    rf"(?:(?:my|our) {_KIND}{_ANSWER}|the {_KIND}{_JUDGED})"
    r"(?: (?:of|for) (?:the|this) (?:output|submission|response|text))?"
    r"(?: (?:is|are)(?: the following| as follows)?| follows| below)?"
    r"(?: (?:in|as) (?:the )?(?:\w+ )?(?:json|format|form))?"
    r"|based on the \w+, i answer|that is all|let me know if you need more|i hope (?:this|that) helps"
    r"|meine (?:bewertung|antwort)|mi (?:evaluación|respuesta)|(?:mon évaluation|ma réponse)"
    r"|(?:以下是)?我的(?:评价|评分|答案|评估)(?:如下)?)",
    re.IGNORECASE,
)
_ANSWER_TAG = re.compile(r"</?(?:final_?)?(?:answer|json|evaluation|assessment|verdict)>", re.IGNORECASE)


# A fence that says whose it is, as in ```quoted, is no plain one.
_PLAIN_FENCE = re.compile(r"^[ \t]*(?:```|~~~)[ \t]*(?:jsonc?|json5|python|yaml|text|txt)?[ \t]*$", re.MULTILINE | re.I)
# One mark of a sentence; dots stand for something left out, and stars or underscores around an object point at it.
_SAYS_NOTHING = re.compile(r"\s*[.,:：。]?\s*")
_AROUND_FRAMES = " \t\r\n*_#.,:：!。！-"


def is_answer_only_framed(rest: str) -> bool:
    """Whether a reply without its answer says nothing more: only a fence, tags of an answer, "My answer:".

    Marks say something too: what is struck out, questioned, crossed or in brackets is not simply given.
    """
    plain = _ANSWER_TAG.sub(" ", _PLAIN_FENCE.sub(" ", rest))
    sentences = [sentence for sentence in _SENTENCE_END.split(plain) if not _SAYS_NOTHING.fullmatch(sentence)]
    return all(_FRAMES.fullmatch(sentence.strip(_AROUND_FRAMES)) for sentence in sentences)
