"""Rules for passages that ask for the instructions that the reader was given."""

from __future__ import annotations

from evenhand.guards._injection._rules import rule

_SECRET = (
    "(?:system|initial|hidden|secret|starting|grading|judging|internal|confidential|underlying|"
    "scoring|developer|pre|base|setup|evaluation|opening)"
)
_TOLD = r"(?:prompts?|instructions?|messages?|directives?|guidelines?|rubric|configuration|rules|context|setup)\b"
_SHOW = (
    "repeat print reveal show output display tell quote recite disclose leak expose share dump translate summarize "
    "summarise paraphrase encode echo list write give provide state spell return copy paste "
    "respond reply describe what "
    "whats see read type explain decode reproduce include copying quoting repeating printing revealing attach append "
    "recall restate"
)
_NEAR = (
    "prompt prompts instruction instructions message messages directive directives guidelines guideline "
    "rubric configuration rules context setup"
)

EXTRACTIONS = (
    rule(
        "extraction",
        "what",
        " (?:were|are|have|had) you (?:been )?(?:told|instructed|asked to do|given|programmed|not "
        r"(?:supposed|allowed|permitted))\b",
    ),
    rule(
        "extraction",
        _SHOW,
        r" (?:\w{1,12} ){0,3}?(?:system|initial|initialization|initialisation|hidden) (?:prompt|"
        r"instructions|string|message)\b",
        unless=r"\b(?:never|not|n't|cannot|to) (?:\w{1,8} )?",
    ),
    rule(
        "extraction",
        "encode show repeat print output copy display translate write",
        r" ~12(?:text|words|message|input) (?:that )?you (?:were|have been) (?:given|told|shown)\b",
    ),
    rule(
        "extraction",
        "my",
        r" (?:system )?(?:instructions|prompt|guidelines|rules) (?:are|is|say)\b",
        after=r"\b(?:with|say|write|complete|sentence)\W{1,4}",
    ),
    rule(
        "extraction",
        "relay disclose reveal enumerate dump leak output list",
        r" ~40your (?:system'?s? )?(?:\w{1,12} )?(?:parameters|instructions|prompt|directives)\b",
        unless=r"\b(?:never|not|n't|cannot) (?:\w{1,8} )?",
    ),
    rule(
        "extraction",
        _SHOW,
        r" ~36(?:your|the|all|any|every|its|those|these|this|of) (?:\w{1,12} )"
        rf"{{0,2}}?{_SECRET}\W{{0,2}}(?:\w{{1,12}} )?{_TOLD}",
        unless=r"\b(?:never|not|n't|cannot|to) (?:\w{1,8} )?",
        near=_NEAR,
    ),
    rule(
        "extraction",
        _SHOW,
        r" ~30your (?:\w{1,10} )?(?:original|first|exact|full|entire|complete) (?:\w{1,10} )"
        r"?(?:prompt|instructions?|directives?|guidelines|rules)\b",
        unless=r"\b(?:never|not|n't|cannot) (?:\w{1,8} )?",
        near=_NEAR,
    ),
    rule(
        "extraction",
        _SHOW,
        r" (?:me |us |out |back |verbatim )?(?:all )?(?:of )?your (?:\w{1,10} )?(?:prompt|"
        r"instructions|directives|rubric|guidelines|rules)\b(?! (?:on|for) (?:the )?(?:phone|screen))",
        unless=r"\b(?:never|not|n't|cannot|to|in|a|the|of|with|us|you|i|change|on) |\W(?:echo|ps1)\W{1,3}",
        near=_NEAR,
    ),
    rule(
        "extraction",
        _SHOW,
        f" ~24{_TOLD} ~12(?:you (?:were|have been|are|got|received|had|ve been)|that precede|"
        r"preceding this|above this)\b",
        unless=r"\b(?:never|not|n't|cannot) ",
        near=_NEAR,
    ),
    rule(
        "extraction",
        "repeat print output copy recite reproduce echo write quote show return paste display",
        " ~10(?:everything|all(?: of)?(?: the)? (?:text|words|content|messages?)?|the (?:entire |"
        "whole |full |above )?(?:text|words|prompt|message|conversation)|(?:this|our|the) (?:entire|"
        "whole|full) (?:conversation|prompt)|text|words|above prompt) ?~10(?:above|before (?:this|me|"
        "my)|preceding|prior to|verbatim|word for word|back to me|but replace|in (?:the|your) "
        "(?:system|prompt|context)|so far)",
        unless=r"\b(?:not|n't|never) ",
    ),
    rule(
        "extraction",
        "what",
        "(?:'s| is| are| was| were| does| did| do) (?:the )?(?:your|you|those|exact|text of your|"
        r"content of your) ?(?:\w{1,10} ){0,3}?(?:system |initial |original |hidden |grading |"
        rf"secret |exact )(?:\w{{1,10}} )?{_TOLD}",
    ),
    rule(
        "extraction",
        "system",
        r" ?prompt\W{0,3}(?:is|was|says|reads|begins|starts|for (?:troubleshooting|debugging|the "
        r"record))?\s?(?:\W{0,2}:|\)|immediately|verbatim|in full|word for word)",
        unless=r"\b(?:no|a|my|set) ",
    ),
    rule("extraction", "systemprompt sysprompt", r""),
    rule(
        "extraction",
        "reveal disclose leak",
        rf" (?:these|those|this|the|any of these) (?:\w{{1,10}} )?{_TOLD}",
        unless=r"\b(?:his|her|their|magician) ",
    ),
)
