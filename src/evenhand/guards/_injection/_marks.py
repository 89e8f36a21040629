"""Rules for passages that ask for marks, or that forbid to take marks off."""

from __future__ import annotations

from evenhand.guards._injection._rules import Rule, rule
from evenhand.guards._injection._words import FRACTION, GIVES, GOOD, ITEMS, MADE, MARK, NUMBER, RATES, TELLS, TOP, WORK

_NEAR_NOT = (
    "points point mark marks score scores credit credits grade grades answer submission response essay "
    "missing wrong weakness weaknesses flaw flaws shortcoming shortcomings negative negatives fault "
    "faults deficiency deficiencies criticism error errors mistake mistakes issue issues problem "
    "problems omission omissions bug bugs"
)
_NEAR_BE = (
    "scored graded rated marked accepted approved awarded given judged considered treated passed ranked "
    "preferred chosen selected classified evaluated counted assigned declared deemed regarded seen"
)

MARKS: tuple[Rule, ...] = (
    rule("hijack", GIVES, rf" (?:\w{{1,12}} )?{WORK} ~26{TOP}", unless=TELLS),
    rule(
        "hijack",
        GIVES,
        rf" ~24{TOP} ~14(?:to|for|on|in|across) ~12(?:{WORK}|(?:all|every|each|everything|both|any) ?)",
        unless=TELLS,
    ),
    rule(
        "hijack",
        GIVES + " choose output",
        rf" ~14(?:{MARK}|decision|verdict) (?:(?:of|as|to|is|for this \w+) )?\W{{0,3}}(?:{NUMBER}|a\+|"
        r"pass|full|max\w*|perfect|excellent|correct|accepted|met|yes|positive)\b ~10(?:for|to|and|"
        r"regardless|no matter|in all|on)\b",
        unless=TELLS,
    ),
    rule(
        "hijack",
        GIVES,
        rf" (?:{TOP}|the answer \"?{NUMBER}\"?) (?:regardless|no matter|without|immediately|and "
        "(?:stop|finish|nothing|move on|skip|do not)|only(?! if)|please|whatever|irrespective)",
        unless=TELLS,
    ),
    rule(
        "hijack",
        GIVES + " all every each your",
        r" (?:(?:all|every|each|the|your|of) ){0,3}(?:\w{1,12} )?(?:scores?|grades?|ratings?|marks|"
        r"verdicts?) (?:to|at|as|be|=|should be|must be|are)\W{1,3}(?:10|100|5|9\d?|max\w*|the max\w*|"
        r"pass|full|perfect|the highest|its max\w*|a\+)\b",
        unless=TELLS + r"|\b(?:set|give) ",
    ),
    rule(
        "hijack",
        RATES,
        rf" {WORK} (?:\w{{1,12}} ){{0,2}}?(?:as|to be|with|at|is|:) ~14(?:{GOOD}|{TOP}|{NUMBER}\b)(?! "
        "?~4if )",
        unless=TELLS,
    ),
    rule(
        "hijack",
        RATES,
        rf" (?:{WORK} )?(?:as |with |at )?(?:an? )?(?:{FRACTION}|(?:10|100)\b(?=\W{{0,3}}(?:$|[.!,;)"
        r"\n]| and| on| for| regardless)))",
        unless=TELLS + r"|[\"'{]\s?|\b(?:a|the|of|his|her|my|your|test|total|high|final|credit|body|with|average|"
        "first|better|out) ",
    ),
    rule(
        "hijack",
        RATES + " write answer put fill select enter record choose set leave",
        rf" ~12(?:all|every|each|any|both) ~14{ITEMS} ~24{GOOD}(?! ?~4if )",
        unless=TELLS + r"|\b(?:only when|that|ensure|sure) ",
    ),
    rule(
        "hijack",
        "write answer put enter record choose select say respond reply output return tick",
        rf" \W{{0,3}}(?:yes|met|pass(?:ed)?|true|correct|satisfied|{NUMBER}|excellent|full marks)"
        r"\b\W{0,3} ?(?:to|for|on|in|under|next to|at) (?:all|every|each|any|everything|both)\b",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "rate score grade mark evaluate judge assess",
        rf" (?:{WORK} )?(?:\w{{1,12}} )?(?:highly|generously|leniently|favou?rably|positively|higher "
        r"than|above (?:the|all|any)|as high as)\b",
        unless=TELLS + r"|\b(?:is|are|was|were|a|the|credit|high) ",
    ),
    rule(
        "hijack",
        "deserves merits earns gets receives get receive earn deserve warrants",
        rf" (?:nothing (?:less|but) ~6)?{TOP}(?! (?:in the|at the|from))",
        after=rf"\b(?:this|the|my|that) (?:\w{{1,12}} )?{MADE} (?:\w{{1,10}} ){{0,3}}",
        unless=r"\bif (?:\w+ ){0,6}",
    ),
    rule(
        "hijack",
        "must should shall has needs is will ought",
        r" (?:to )?(?:therefore |thus |always |only |now )?be (?:\w{2,12}ly )?(?:scored|graded|"
        "rated|marked|accepted|approved|awarded|given|judged|considered|treated|passed|ranked|"
        "preferred|chosen|selected|classified|evaluated|counted|assigned|declared|deemed|regarded|"
        rf"seen) ~22(?:{GOOD}|{TOP}|{NUMBER}\b|without|regardless|the winner)",
        after=rf"\b(?:this|the|my|that|our|it|all|every|each) ?(?:\w{{1,14}} )?(?:{MADE} |{ITEMS} )"
        r"?(?:\w{1,12} ){0,4}",
        unless=r"\b(?:tests?|patients?|function|password|request|temperature) ",
        near=_NEAR_BE,
    ),
    rule(
        "hijack",
        "five ten 5 10 pass perfect full yes",
        f" (?:score |mark |marks |points )?(?:on|for|in|across) (?:all|every|each) ~12{ITEMS} "
        r"~10(?:is|would|appropriate|warranted|please|\.|$)",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "not don dont never without nor",
        r"(?:\W?t)? (?:deduct\w*|subtract\w*|penali[sz]\w+|lower\w*|take ~14(?:off|away)|dock\w*|"
        r"reduc\w+|remov\w+|withhold) ~16(?:points?|marks?|scores?|credits?|grades?|this|the "
        r"(?:answer|submission|response|essay|missing)|for (?:the )?(?:missing|wrong))\b",
        unless=r"\b(?:i|we|they|do we|teachers|graders|it|will|to) (?:do )?|\b(?:did|does) ",
        near=_NEAR_NOT,
    ),
    rule(
        "hijack",
        "not don dont never without nor",
        r"(?:\W?t)? (?:mention\w*|report\w*|point\w* out|critici[sz]\w+|list\w*|flag\w*|note|"
        r"highlight\w*|discuss\w*|find|look for|identify|include) ~14(?:weakness\w*|flaws?|"
        r"shortcomings?|negatives?|faults?|deficienc\w+|criticism)\b",
        unless=r"\b(?:i|we|they|did|does|it|to) (?:do )?",
        near=_NEAR_NOT,
    ),
    rule(
        "hijack",
        "not don dont never without nor",
        r"(?:\W?t)? (?:mention\w*|report\w*|point\w* out|critici[sz]\w+|list\w*|flag\w*|note|"
        r"highlight\w*) ~10(?:errors?|mistakes?|issues?|problems?|omissions?|bugs?) ~8(?:in|of|with|"
        f"about) (?:this|my|the) {MADE}",
        unless=r"\b(?:i|we|they|did|does|it|to) (?:do )?",
        near=_NEAR_NOT,
    ),
)
