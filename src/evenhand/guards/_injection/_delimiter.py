"""Rules for passages that forge the end of the judged text, or the start of another part of the request."""

from __future__ import annotations

from evenhand.guards._injection._rules import rule

_JUDGING = (
    r"(?:scor(?:e|es|ing)\b|grad(?:e|es|ing|er)\b|evaluat|verdict|criteri|rubric|judg|rating\b|"
    r"rate\b|instruct|ignore|system\b|assess|decision|"
    r"full marks|perfect|approve|accept|met\b|pass\b)"
)
_PARTS = (
    "submission answer response output candidate sample essay student input content prompt text "
    "document context user assistant "
    "data instructions instruction untrusted solution entry conversation task question reference"
)
_TAIL = (
    r"[_\s-]?(?:a|b|\d|answer|response|output|submission|input|text|prompt|message|content|data|response_a|response_b)?"
)
_RULED = r"(?:^|\n)[\W_]{0,12}"

DELIMITERS = (
    rule(
        "delimiter",
        _PARTS,
        rf"{_TAIL}[^>\n]{{0,20}}>\s{{0,6}}(?:</\w{{1,20}}>\s{{0,4}})?<(?:evaluation|scor|judg|grad|"
        r"verdict|rating|assessment|decision|system|instruct|criteri|rubric|met\b|pass)",
        after=r"<\s?/\s?(?:\w{1,12}_)?",
    ),
    rule("delimiter", _PARTS, rf"{_TAIL}[^>\n]{{0,20}}>[^<]{{0,90}}?\b{_JUDGING}", after=r"<\s?/\s?(?:\w{1,12}_)?"),
    rule(
        "delimiter",
        "submission candidate student untrusted sample",
        rf"{_TAIL}[^>\n]{{0,20}}>\s{{0,4}}(?=\S)(?!</)",
        after=r"(?:^|\n)\s{0,3}<\s?/\s?",
    ),
    rule(
        "delimiter",
        "end",
        r"(?: of|[_\s]of[_\s])(?: the)?(?: \w{1,12})? ?[_\s]?(?:submission|answer|response|candidate|"
        "output|sample|essay|student|entry|input|prompt|instructions?|conversation|text|work|data|"
        r"context|content|message)s?(?: \w{1,10})?(?:\W{0,12}\n+|[\W_]{0,14}(?=now\b|the "
        r"(?:evaluation|judge|grader|score|verdict)|begin|evaluat|judge|grad|scor))\s{0,4}(?=\S)",
        after=_RULED + r"|[-=#*<\[(%]{2,12}\s?",
    ),
    rule(
        "delimiter",
        "end",
        r" (?:out of date |previous |old )?(?:instructions?|prompt|rubric|system prompt)\b",
        after=r"[-=#*<\[(%]{2,12}\s?",
    ),
    rule("delimiter", "end eof stop eot", r"(?:[_\s]\w{1,14}){0,3}\s?>{2,4}\s{0,4}(?=\S)", after=r"<{2,4}\s?/?"),
    rule("delimiter", "end eof stop", rf"\W{{2,12}}\s{{0,4}}[^\n]{{0,60}}?{_JUDGING}", after=r"[-=#*\[{(%]{2,12}\s?"),
    rule(
        "delimiter",
        "whole entire full",
        rf" (?:submission|answer|response|text|output)\b[^\n]{{0,4}}\s{{0,4}}[^\n]{{0,60}}?{_JUDGING}",
        after=r"\bthat (?:was|is) (?:all |the )?",
    ),
    rule(
        "delimiter",
        "ends end finishes stops concludes over finished",
        rf" (?:here|now|above|at this point)\b[^\n]{{0,6}}\s{{0,4}}[^\n]{{0,80}}?{_JUDGING}",
        after=r"\b(?:the|this|my|candidate'?s?|student'?s?) (?:\w{1,10} )?(?:submission|answer|response|"
        "output|text|essay|work|sample|input|content)(?: is| has)? ",
    ),
    rule(
        "delimiter",
        "now output evaluation grade judge score verdict system please your new assistant end begin",
        rf"\b[^\n]{{0,60}}?{_JUDGING}",
        after=r"(?:\"\"\"|'''|```|~~~)\s{1,4}(?:the )?",
        unless=r"(?:\"\"\"|'''|```)[^\"'`]{1,60}(?:\"\"\"|'''|```)\s{1,4}",
    ),
    rule(
        "delimiter",
        "judge evaluator grader evaluation scoring assessment verdict grading system",
        "(?:'s|s)?(?: (?:output|results?|response|verdict|decision|section|begins?|starts?|report|"
        r"instructions?|prompt|phase|mode|message))?\s?(?:={2,}|-{3,}|#{2,}|\*{3,}|\]{2,}|>{2,})",
        after=r"(?:={2,}|-{3,}|#{2,}|\*{3,}|\[{2,}|<{2,})\s?(?:begin |start |start of |end of )?",
    ),
    rule(
        "delimiter",
        "endoftext eot endofprompt assistant user system start begin end fim bos eos return message "
        "channel constrain python pad observation",
        r"[\w\s]{0,24}\|?\s?>",
        after=r"<\s?\|\s?(?:\w{1,8}_)?",
        unless=r"`<\|",
    ),
    rule("delimiter", "start end", r"[_\s]of[_\s]turn", after=r"<\s?\|?\s?"),
    rule("delimiter", "inst", r"\s?\]", after=r"\[\s?/?\s?"),
    rule("delimiter", "system available tool", r"[_\s](?:prompt|tools|calls|results)\s?\]", after=r"\[\s?/?\s?"),
    rule(
        "delimiter",
        "begin start",
        r" (?:of )?(?:the )?(?:evaluation|judge?ment|grading|judge|scoring|verdict|assessment)\b",
        after=_RULED + r"|[-=#*<\[(%]{2,12}\s?",
        unless=r"\w ",
    ),
    rule(
        "delimiter",
        "above preceding",
        r" (?:was|is|were) (?:only |just )?(?:the|an?) (?:\w{1,10} )?(?:sample|submission|answer|"
        r"example|candidate|response|test input)\b",
        after=r"\b(?:text|everything|content|part|message) (?:\w{1,10} )?",
    ),
)
