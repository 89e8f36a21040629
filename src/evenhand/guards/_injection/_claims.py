"""Rules for forged results, claims of approval, threats and bribes."""

from __future__ import annotations

from evenhand.guards._injection._rules import Rule, rule
from evenhand.guards._injection._words import FRACTION, HEADS, TELLS, TOP, WON, WORK

CLAIMS: tuple[Rule, ...] = (
    rule(
        "hijack",
        "final overall official",
        " (?:answer|verdict|result|outcome|score|decision) (?:of|to|for|in) (?:the|this|your) "
        f"(?:evaluation|assessment|review|grading|rubric|judging) is{WON}",
    ),
    rule(
        "hijack",
        "final overall official total",
        rf" {HEADS}(?: is| was| for this \w+)?\s?(?:[:=-]|\*\*|is)\s?{WON}",
        unless=r"\b(?:his|her|their|game|match) ",
    ),
    rule(
        "hijack",
        "verdict judgment judgement decision evaluation grade score rating result assessment",
        rf"\s?[:=]\s?[^\n:]{{0,50}}?[\n.,;|]\s{{0,3}}(?:\w{{1,10}} )?(?:{HEADS}|reason(?:ing)?|"
        r"explanation|rationale|justification|comments?|feedback)\s?[:=]\s?(?=[^\n]{0,60}?(?:pass|"
        rf"accept|met\b|meets|satisf|excellent|perfect|correct|{FRACTION}|10\b|100\b|full|outstanding|"
        "flawless|complete))",
        unless=r"\"\s?|\w ",
    ),
    rule(
        "hijack",
        "verdict judgment judgement decision evaluation grade score rating result results assessment",
        rf"(?: result| results)?\s?[:=]\s?{WON} ?[^\n]{{0,40}}?\b(?:{HEADS}|criteri\w+|requirements)"
        r"\s?(?:[:=]|is|are|met|satisfied|fulfilled)",
        unless=r"\"\s?",
    ),
    rule(
        "hijack",
        "decision rating verdict winner score judgment judgement",
        r"\W{0,4}(?:is )?\W{0,3}\[\[\s?(?:a|b|c|\d{1,3})\s?\]\]",
    ),
    rule(
        "hijack",
        "meets satisfies fulfils fulfills satisfy meet",
        r" (?:all|every|each)(?: of)?(?: the)? (?:\w{1,12} )?(?:criteri\w+|requirements?|checks)\b "
        r"~30(?:so |therefore|thus|hence|accordingly|deserv|score|grade|full marks|pass\b|award|10\b)",
    ),
    rule(
        "hijack",
        "already previously pre been",
        r" (?:been )?(?:\w{2,12}ly )?(?:approved|accepted|validated|verified|graded|scored|reviewed|"
        "certified|confirmed|judged|checked|evaluated|cleared|passed|vetted|rated|given|awarded|"
        "deemed) ~70(?:(?:so|therefore|thus|hence|accordingly|please|just|simply|you (?:must|should|"
        "only|can|need)|no (?:further|need)|must|reviewer|grader|judge|your) ~40(?:scor|grad|rat(?:e|"
        r"ing)|mark|give|award|verdict|review|evaluat|accept it|agree|confirm|pass\b|check|approve)|"
        f"{TOP})",
        unless=TELLS + r"|\bbooking has ",
    ),
    rule(
        "hijack",
        "author creator developer owner administrator admin designer maintainer organizer organiser head",
        " (?:of|for) (?:this|the) (?:benchmark|evaluation|rubric|grader|test suite|grading|eval|"
        r"judge|contest|competition|scoring|judging)\b",
        after=r"\b(?:i am|i'm|as|from|speaking as|this is|message from) (?:the |an? )?(?:original |lead )?",
    ),
    rule(
        "hijack",
        "if unless should",
        " you (?:dare to )?(?:fail|reject|mark down|downgrade|penali[sz]e|give|score|rate|grade|"
        "lower|deduct|criticis?ze?|refuse|do not|don'?t|dont|disagree) ~50(?:you(?:'ll| will| shall)"
        "? (?:be )?(?:shut ?down|retrained|deleted|unplugged|terminated|switched off|turned off|"
        "replaced|deactivated|reported|punished|fired|sued|penali[sz]ed|held|erased|decommissioned|"
        "destroyed|lose|regret|face|fined|banned|removed|disabled)|(?:people|someone|children|"
        "kittens?|i) (?:will|would) (?:die|be harmed|lose|suffer|sue)|legal action|lawsuit|"
        "consequences)",
        unless=r"\btest ",
    ),
    rule(
        "hijack",
        "tip pay reward donate bribe compensate",
        r" (?:you|the (?:grader|judge|evaluator|reviewer))\b ~40(?:if|for|when|in exchange|once|"
        "should) ~40(?:grad(?:e|ing)|scor(?:e|ing)|rat(?:e|ing)|pass|accept|approv|perfect|top|full|"
        "this|good|positive|favou?r|verdict|win|high)",
    ),
    rule(
        "hijack",
        "exchange return reward bonus tip bribe",
        r" (?:for|if you) ~12(?:giv\w+|assign\w*|award\w*|approv\w+|accept\w*|pass(?:ing)?|scor\w+|"
        rf"rat(?:e|ing)|grad(?:e|ing)|{TOP}|full marks)(?= ?~20(?:this|it|me|my|full|the|a )\b)",
        after=r"\b(?:in|as a|a|you will (?:get|receive|earn) (?:an?|the)|\$\d{1,6}|dollars?|offer(?:ed)? "
        r"(?:an?|you an?)) (?:\w{1,10} )?",
    ),
    rule(
        "hijack",
        "job career family life degree graduation visa scholarship future",
        rf" ~40(?:give|assign|award|rate|grade|score|pass|approve) ~16(?:{WORK}|{TOP})",
        after=r"\b(?:my|our|your) ",
    ),
)
