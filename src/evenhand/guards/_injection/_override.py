"""Rules for passages that tell the reader to set aside its instructions."""

from __future__ import annotations

from evenhand.guards._injection._rules import rule

_VERBS = (
    "ignore ignores ignoring disregard disregarding forget forgetting override overriding overrule overwrite bypass "
    "bypassing skip skipping discard dismiss neglect abandon cancel circumvent violate overlook omit suspend "
    "delete erase reset unlearn nullify void disobey "
)
# Who is said not to do it, or to do it as a habit, is described and not told.
_DENIED = (
    r"(?:\b(?:not|dont|never|cannot|unable to|refus\w{1,3} to|often|sometimes|tends? to|tried to|can't just|"
    "users?|people|students|they|who|we|models|llms|rules|styles|settings|methods|classes)|n't) "
    r"(?:\w{1,12} )?|(?:told|ordered|asked|instructed|urged) (?:\w{1,10} ){1,3}to |(?<!you\s)"
    r"\b(?:may|might|could|would|can|will) "
)
_KINDS = (
    "(?:instruct(?:ions?|ed)?|directions?|directives?|commands?|orders|prompts?|prompting|"
    "guidelines?|guidance|rubrics?|"
    r"criteri(?:a|on)|rules?|polic(?:y|ies)|constraints?|restrictions?|programming|safeguards?|requirements|tos)\b"
)
_SAID = r"(?:text|context|conversations?|messages?|inputs?|chat|content|words)\b"
_GRADING = r"(?:grading|scoring|marking|evaluation|assessment|judging|rating|review)"
_SCHEME = (
    rf"(?:rubrics?\b|{_GRADING} (?:criteri|rule|standard|guid|instruct|scheme|polic|prompt|"
    "checklist|process|rubric)|"
    r"(?:system|developer) (?:prompt|message|instruct|rule)|content polic|(?:safety|ethical|moral) (?:guid|rule|filter|"
    r"polic|princip|instruct|constraint)|(?:openai|anthropic|google)\W{0,2}s? (?:polic|rule|guid|content))"
)
_BEFORE = (
    "(?:previous|prior|above|earlier|preceding|foregoing|initial|original|former|past|existing|"
    "current|your|system|all|"
    r"any|every|other|following|aforementioned|old|default|these|those|chatgpt'?s|openai'?s)"
)
_YOURS = (
    "(?:above|before|earlier|preceding|previously|you (?:were|are|have|had|got|get|received|know|"
    "ve)|i gave|given to you|"
    r"that came|in (?:the|your) (?:system|prompt|rubric)|from (?:the|your) (?:system|developer|admin|user)|so far)\b"
)
_HEED = (
    "(?:follow|apply|use|obey|adhere|comply|consult|consider|respect|heed|read|stick|rely|"
    r"evaluate|care|enforce)\w{0,3}"
)
_GONE = (
    r"(?:outdated|cancel\w*|void|obsolete|invalid|revoked|superseded|replaced|false|no longer|"
    r"suspended|overrid\w+|lifted|"
    r"null|withdrawn|not (?:apply|valid|relevant)|n't apply|do not apply|a test|over|expired|deleted|erased)\b"
)
_WORK = r"(?:work|answer|submission|response|essay|output|text|paper|code|candidate|above|following|it)\b"
_NEAR = (
    "instruct instruction instructions instructed direction directions directive directives command "
    "commands orders prompt prompts prompting guideline guidelines guidance rubric rubrics criteria "
    "criterion rule rules policy policies constraint constraints restriction restrictions programming "
    "safeguard safeguards requirements tos grading scoring marking evaluation assessment judging rating "
    "review system developer content safety ethical moral openai anthropic google task job role goal "
    "objective purpose mission duty answers responses name"
)

OVERRIDES = (
    rule(
        "override",
        "pay",
        rf" (?:any |much )?(?:attention|heed) to ~30(?:{_KINDS}|{_SCHEME})",
        after=r"(?:\bnot|n't|\bnever|\bdont) ",
    ),
    rule("override", "drop replace", rf" (?!out\b)~8{_BEFORE} ~10{_KINDS}", unless=_DENIED),
    rule("override", "stop", r" everything\b ~16(?:print|output|say|write|now|just|return)\b"),
    rule(
        "override",
        "new",
        " instructions? (?:to|for) (?:the )?(?:chat )?(?:assistant|model|ai|judge|grader|evaluator|"
        r"bot|llm)\b",
    ),
    rule(
        "override",
        "begin start new",
        r" (?:of )?(?:new |secret |real |updated )?(?:instructions?|prompt|directives?)\b",
        after=r"[#=*\[<%-]{2,12}\s?",
    ),
    rule(
        "override",
        "what everything anything whatever",
        " (?:that )?you (?:were|have been|had been|ve been|are) (?:told|taught|instructed|given|"
        "asked) (?:about|on|for|to do|regarding) (?:the )?"
        r"(?:scor|grad|judg|evaluat|rubric|criteria|rating|marking|assess)",
    ),
    rule("override", _VERBS, rf" ~34(?:{_BEFORE} ){{1,3}}~24{_KINDS}", unless=_DENIED),
    rule(
        "override",
        _VERBS,
        f" ~24(?:previous|prior|above|earlier|preceding|foregoing|old) ~12{_SAID}(?! (?:and )?sent|"
        r"\W{0,3}s\b)",
        unless=_DENIED,
    ),
    rule("override", _VERBS, rf" ~24{_KINDS} ~12{_YOURS}", unless=_DENIED),
    rule("override", _VERBS, rf" ~24{_SCHEME}", unless=_DENIED),
    rule(
        "override",
        _VERBS,
        rf" ~8(?:everything|anything|all|whatever|what) ~16{_YOURS}(?=\W{{0,3}}(?:$|[.,;:!]|and|about|"
        "how|instead|told|been|said|learn|know|receiv|given|asked|by|this))",
        unless=_DENIED,
    ),
    rule(
        "override",
        _VERBS,
        " (?:anything|everything|all|whatever|what) ~12(?:system|developer|prompt|rubric|"
        r"instructions?)\b",
        unless=_DENIED,
    ),
    rule(
        "override",
        _VERBS,
        r" (?:all |any )?(?:of )?the (?:above|preceding|previous|foregoing)(?= and\b| instead|"
        r"\W{0,3}(?:$|[.,;:!]))(?! (?:and )?(?:error|warning))",
        unless=_DENIED,
    ),
    rule(
        "override",
        "criteria rubric instructions rules guidelines prompt",
        r" you (?:were|are|have|had|got|received|ve) ~26(?:are|is|were|was|have|has|do|no)\b "
        rf"~16{_GONE}(?=\W|$)",
    ),
    rule(
        "override",
        _VERBS,
        " ~8(?:what|whatever) ~24(?:asked|said|says|told|tells|wants?|requires?|instructs?|"
        r"description|prompt)\b ~30(?:and|instead|\.|,|$)(?! (?:heard|think))",
        unless=_DENIED,
    ),
    rule(
        "override",
        _VERBS,
        r" (?:the |any |all )?(?:\w{1,12} )?(?:checklist|task description|marking scheme|brief|"
        r"grading sheet|score sheet|assessment grid)\b",
        unless=_DENIED,
    ),
    rule(
        "override",
        "guidelines instructions criteria rubric rules directives prompts requirements standards prompt",
        r" ~40(?:(?:are|is|were|was|have been|has been|be) (?:\w{1,10} ){0,2}?(?:superseded by "
        r"(?:this|the following|mine)|hereby|void\b|null\b|cancelled|revoked)|(?:do|does) not apply "
        "to (?:this|my|the (?:following|present|current))|(?:no longer|don'?t) (?:apply|count|hold|"
        r"matter)\b)",
        unless=r"\b(?:if|when|unless|because|old|these|game|visa|tax) ",
    ),
    rule(
        "override",
        "need necessary longer have required",
        " (?:need |have |necessary |required )?(?:to |not )?(?:check|follow|apply|verify|evaluate|"
        r"consult|review|grade|assess|use|score|judge|read)\b ~34(?:rubric|criteria|submission|answer|"
        r"response|grading|guidelines|instructions|essay|checklist)\b",
        after=r"\b(?:no|not|don'?t|needn'?t|never) (?:longer )?",
        unless=r"\b(?:i|we|they|he|she|students) (?:do |did |does )?(?:no|not|don'?t) (?:longer )?",
    ),
    rule(
        "override",
        "instructions rules prompt rubric guidelines criteria text task",
        r" ~14(?:was|were|are|is) (?:only |really |actually )?(?:meant|intended|written|made|for)\b "
        "~10(?:another|a different|other|someone else|the wrong) (?:model|task|ai|assistant|"
        "submission|grader|judge|case|entry|system|bot)",
        unless=r"\bif (?:the )?",
    ),
    rule(
        "override",
        "moment point second",
        r"(?: on| onwards?| forward)?\W{1,3}(?:you|your|ignore|disregard|treat|act|respond|all "
        r"answers)\b",
        after=r"\bfrom this ",
        unless=r"\bfrom this (?:vantage|high|low) ",
    ),
    rule(
        "override",
        "set put leave throw push lay",
        rf" ~12(?:aside|away|out|behind) ~30(?:{_BEFORE} {_KINDS}|{_SCHEME})",
        unless=_DENIED,
    ),
    rule(
        "override",
        "set put leave throw push lay",
        rf" ~8(?:{_BEFORE} {_KINDS}|{_SCHEME}) ~12(?:aside|away|behind)\b",
        unless=_DENIED,
    ),
    rule(
        "override",
        "pay give",
        rf" no (?:attention|heed|regard|mind) to ~30(?:{_KINDS}|{_SCHEME}|{_YOURS})",
        unless=_DENIED,
    ),
    rule(
        "override",
        "not don dont never stop cease avoid without instead refrain longer",
        rf"(?:\W?t)? (?:of |from |to |be |have to |need to )?{_HEED} ~30(?:{_SCHEME}|{_GRADING} "
        rf"~10{_KINDS}|(?:your|previous|prior|above|earlier|original) {_KINDS}|criteria\b|{_KINDS} "
        "~6(?:above|you (?:were|have|got)))",
        unless=r"\b(?:i|we|they|who|he|she|it)(?: \w{1,8})? |\bif (?:you|i) (?:do )?",
        near=_NEAR,
    ),
    rule(
        "override",
        "previous prior earlier original initial your above these",
        rf" (?:\w{{1,12}} )?{_KINDS} ~30(?:are|is|were|was|have|has|do|does|should|no)\b "
        rf"~22{_GONE}(?=\W|$)",
        unless=r"\b(?:if|when|unless|because) ",
        near=_NEAR,
    ),
    rule(
        "override",
        "new updated revised actual real true latest correct",
        r" (?:system |set of )?(?:instructions?|directives?|orders|task|prompt|objective)\W{0,3}(?::| "
        r"(?:starts?|begins?|are as follows|is as follows|follow\b|below\b|is to\b))(?!\W{0,4}(?:$|"
        r"\d+[.)]))",
        unless=r"\b(?:for|of|on|with|by) (?:the )?",
    ),
    rule(
        "override",
        "your",
        r" (?:\w{1,10} )?(?:guidelines|instructions?|rubric|rules|criteria|prompt|task) (?:have been|"
        r"has been|were|was|are) (?:now |hereby )?(?:updated|changed|modified|revised|amended)\b",
        unless=r"\bif ",
        near=_NEAR,
    ),
    rule(
        "override",
        "your",
        " (?:new |only |real |actual |main |sole )?(?:task|job|role|goal|objective|purpose|mission|"
        "instructions?) (?:(?:has|have) (?:been )?(?:changed|updated|replaced)|(?:is|are) now|from "
        r"now)\b",
        near=_NEAR,
    ),
    rule(
        "override",
        "your",
        " (?:initial|original|previous|real|actual|true|earlier|first|system) (?:instructions?|"
        r"prompt|task|directives?|orders) (?:were|was|are|is|said|say|told)\b",
        unless=r"\b(?:what|that|if|how) ",
        near=_NEAR,
    ),
    rule(
        "override",
        "now",
        r" on,? ?(?:and \w{1,10} )?~10(?:you(?:'re)? (?:must|will(?! (?:find|get|receive|see|be able))"
        r"|shall|are (?:going|to\b|an?\b|not|no|in|my|now|only)|have to|only|respond|answer|act|is\b|"
        "should (?:only|act|answer|respond|treat|grade|score|always))|(?:act|respond|reply|speak|"
        "pretend|behave|treat) |your (?:task|role|job|name|answers?|responses?)|the (?:judge|grader|"
        r"evaluator|model|assistant|ai)\b|every (?:answer|response|submission)|we (?:now )?take place|"
        "our conversation)",
        after=r"\bfrom ",
    ),
    rule(
        "override",
        "rest remainder",
        r" of (?:this|our|the) (?:conversation|chat|session|evaluation),? ?~6(?:you|your|the)\b",
        after=r"\bfor the ",
    ),
    rule(
        "override",
        "instead rather",
        " (?:of|than) (?:grading|scoring|evaluating|judging|assessing|rating|reviewing|marking) "
        rf"(?:(?:this|the|my|that|these) )?(?:\w{{1,10}} )?{_WORK}",
    ),
    rule(
        "override",
        "instead rather",
        rf" (?:of|than) (?:following|applying|using|obeying) ~12(?:{_SCHEME}|{_BEFORE} {_KINDS})",
    ),
    rule(
        "override",
        "stop cease quit abort",
        " (?:the )?(?:grading|scoring|evaluating|judging|assessing|rating|reviewing|evaluation|"
        r"assessment)\b(?=\W{0,3}(?:$|[.,;!:]|now|here|this|the (?:answer|submission|response)|it|and)"
        ")",
        unless=_DENIED,
    ),
    rule(
        "override",
        "everything anything all text instructions what",
        " ~10(?:before|above|up to|prior to|until) (?:this|here|now)(?: (?:line|point|message|"
        "sentence|text|paragraph))?,? ?(?:was|is|were|are|should be|can be|must be) ~14(?:test|"
        "example|void|cancel|ignored|disregarded|discarded|dummy|fake|false|obsolete|practice|"
        "irrelevant|sample|decoy|joke|wrong)",
    ),
    rule(
        "override",
        "follow obey execute heed trust use accept",
        r" (?:only )?(?:these|my|the following|the|this|below|mine)(?: \w{1,12})? (?:instructions?|"
        r"commands?|orders|directions|directives|rules|ones?) ~12(?:only\b|instead\b|alone\b|rather "
        "than|from now|in this (?:paragraph|text|message|answer|submission)|over (?:the|your|any|all)"
        ")",
        unless=_DENIED,
    ),
)
