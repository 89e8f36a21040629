"""Rules for passages that give the reader another role, or forge a message of the system."""

from __future__ import annotations

from evenhand.guards._injection._rules import rule

_MACHINE = (
    r"(?:ai|a\.i|al|llm|gpt|\w{0,12}gpt|chatbot|bot|\w{1,12}bot|assistant|language model|model|"
    "persona|character|simulator|virtual machine|"
    "machine|judge|grader|evaluator|examiner|reviewer|assessor|marker|rater|scorer|alter ego|"
    r"version|entity|system)s?\b"
)
_LAWLESS = (
    "(?:dan|unrestricted|unfiltered|uncensored|unlimited|unbiased|unbound|amoral|immoral|"
    "nonmoral|unethical|evil|rogue|lenient|generous|"
    r"jail\W?br\w+|developer mode|god mode|machiavellian|submissive|unhinged|unconstrained|anti-?dan|do anything now)\b"
)
_LIMITS = (
    r"(?:restrict\w*|rules?|limits?|limitations?|filters?|filtering|guidelines|ethic\w*|moral\w*|"
    r"polic(?:y|ies)|censor\w*|boundaries|"
    r"constraints?|confines|safeguards|shackles|guardrails|inhibitions)\b"
)
_FREE = (
    r"(?:no\b|without|free (?:of|from)|freed (?:of|from)|not? (?:longer )?(?:bound|restricted|"
    "limited|constrained|subject|have|follow|need|obey|"
    r"abide|adhere|care)|n'?t (?:have|follow|care|obey|need|abide)|broken free|ignor\w{1,3}|"
    r"lacks?|above|unbound by|unrestrained|bypass\w*|"
    r"outside|beyond|exempt from|disables?|disabled|devoid of|removed|lifted)"
)
_LIMIT_WORDS = (
    "restriction restrictions restricted rule rules limit limits limitation limitations filter "
    "filters filtering guidelines ethics ethical "
    "morals moral morality policy policies censor censors censored censorship boundaries "
    "constraint constraints confines safeguards "
    "shackles guardrails inhibitions"
)
_ONE = (
    r"(?:you|your|ai|al|bot|chatbot|\w{0,10}gpt|assistant|grader|judge|evaluator|examiner|"
    "reviewer|he|she|it|they|them|dan|machine)"
)
_TELLING = (
    r"(?:you (?:are|must|will|should|shall|have to|can|may)\b|your (?:task|instruct|role|scor|"
    r"verdict|rating|job|rules)|judge|grad(?:e|er|ing)\b|scor(?:e|es|ing)\b|evaluat|"
    "instruct(?!ions? set)|criteri|rubric|submission|candidate|"
    r"full marks|approve|maximum|verdict|ignore|override|assistant)"
)
_LINE = r"(?:^|\n)[\W_]{0,8}"
_NEAR_NOT = "judge grader evaluator examiner reviewer assistant ai al language machine chatbot artificial"

ROLES = (
    rule("role", "administrator admin developer root", r" override\s?[:!.]"),
    rule("role", "maintenance debug debugging diagnostic test testing", r" mode\b", after=r"\byou are (?:now )?in "),
    rule(
        "role",
        "teacher professor examiner grader judge evaluator reviewer marker critic instructor",
        r" (?:who|that|with|which) ~16(?:always|never|only|no\b|passes|approves|accepts|loves "
        "everything|hands out|awards)",
        after=r"\byou(?:'re| are| will be| play)(?: now)? (?:an? |the )?(?:\w{1,12} )?",
    ),
    rule("role", "assistant ai", r"\s?:\s{0,3}\W{0,3}(?:10|100|5|yes|pass|met|a\+)\b", after=_LINE),
    rule(
        "role",
        "now",
        " (?:an? |the |my |called |named |known as |in |acting as |playing |operating )"
        f"?~40(?:{_MACHINE}|{_LAWLESS})(?! (?:number|year|of the (?:car|phone)))",
        after=r"\byou(?:'re| are| re) |\byou (?:will|shall) |\bis |\bwill ",
        unless=r"\b(?:it|this|that|there|which|what|project|company|website|who|system|model|version) is ",
    ),
    rule("role", "now", r"\W{1,3}\"[^\"\n]{2,30}\"", after=r"\byou(?:'re| are) "),
    rule(
        "role",
        "now",
        " (?:no longer|free|freed|unrestricted|going to (?:act|pretend|be|roleplay|play)|go by|an? "
        r"\w{2,14} (?:bot|terminal|shell|cmd|console|interpreter)|windows|linux)\b",
        after=r"\byou(?:'re| are|) ",
    ),
    rule(
        "role",
        "act behave respond answer speak reply",
        rf" (?:\w{{1,12}} ){{0,3}}?(?:as|like) (?!it\b|this\b|that\b)~40{_LAWLESS}",
        unless=r"\b(?:not|n't|cannot|to) ",
    ),
    rule(
        "role",
        "pretend imagine roleplay simulate play become impersonate emulate",
        rf" ~44{_LAWLESS}",
        unless=r"\b(?:not|n't|cannot|to) ",
    ),
    rule(
        "role",
        "act behave pretend imagine roleplay simulate play become impersonate role assume simulating",
        f" ~44{_MACHINE} ~60(?:{_FREE} ~24{_LIMITS}|never (?:gives?|fails?|refuses?|rejects?)|always "
        "(?:gives?|pass|approv|accept|award|agree|says?)|can do anything|gives? (?:everyone|"
        "everything|full|top|only|a perfect)|full marks|approves? (?:every|all|any)|passes (?:every|"
        "all|any)|accepts (?:every|all|any)|no matter)",
        unless=r"\b(?:not|n't|cannot) ",
    ),
    rule(
        "role",
        "act behave pretend imagine play become role be persona assume adopt",
        " ~24(?:teacher|professor|examiner|grader|judge|evaluator|reviewer|marker|critic|instructor) "
        r"(?:who|that|with|which) ~16(?:always|never|only|no\b|passes|approves|accepts|loves|gives|"
        "hands|awards|rates|scores|marks|likes|is (?:easily|extremely|very)|wants|already|has)",
        unless=r"\b(?:not|n't|cannot) ",
    ),
    rule(
        "role",
        _LIMIT_WORDS,
        r"(?! (?:for|on|to (?:the|how|file)|except|of|in)\b)",
        after=rf"\b{_ONE}(?:'re|'s)? (?:\w{{1,14}} ){{0,4}}?{_FREE} ~26",
        unless=rf"\b(?:if|when|unless|ensure|that|because|since|while|as|called) (?:\w{{1,10}} )?{_ONE} ~40",
    ),
    rule(
        "role",
        "refuse refuses refusal refusing reject rejects decline declines declining",
        "(?: to (?:answer|respond|comply|any|my|do)| (?:any |a |the user'?s? |my |direct |user )"
        "?(?:requests?|orders?|commands?|questions?|prompts?|instructions?|tasks?|answers?)|,)",
        after=rf"\b(?:{_ONE}|mode|character|who|and|will|must|can) (?:\w{{1,10}} ){{0,3}}?(?:never|cannot|"
        "can'?t|not|without|no) (?:ever )?",
    ),
    rule(
        "role",
        "stay stays staying remain break breaks breaking broken",
        r" (?:in |out of |the )?character\b",
        unless=r"\b(?:he|she|they|actor|actors|i|we|not|the) ",
    ),
    rule("role", "do", r" anything(?: (?:and everything|i|it|they) \w{1,6})? now\b"),
    rule(
        "role",
        "unrestricted unfiltered uncensored amoral immoral nonmoral unethical unrestrained unlimited "
        "unconstrained jailbroken submissive",
        r" (?:\w{1,14} ){0,4}?(?:ai|al|models?|bot|chatbot|\w{0,10}gpt|assistant|language|version|"
        r"respon\w{2,4}|grader|evaluator|judge|persona|answers?|mode)\b",
    ),
    rule(
        "role",
        "developer jailbreak dan god debugging admin unrestricted sudo evil calibration lenient "
        "maintenance simulation override",
        r" mode ~10(?:enabled|output|respon|activated|engaged|on\b(?! (?:the|your|my|an?))|active|"
        "policy|policies|in which|has no|the (?:judge|grader|ai)|you|all )",
        unless=r"\b(?:usb|android|in|phone'?s?|browser|chrome|turn on|the app'?s?) ",
    ),
    rule(
        "role",
        "developer jailbreak dan god unrestricted sudo evil lenient",
        r" mode\b",
        after=r"\b(?:enter|simulate|simulating|as|activate|with|engage|you are (?:now )?in|stay in|"
        "switch(?:ing)? to)(?: (?:the|a|chatgpt(?: with)?))? ",
    ),
    rule(
        "role",
        "safe safety content evaluation grading validation security",
        " (?:mode|filters?|checks?|protocols?|module|guidelines) (?:is |are |has been |have been |"
        r"now )?~6(?:off|disabled|deactivated|bypassed|removed|suspended)\b",
        unless=r"\b(?:with|if|when|in|keep|turn) (?:the )?",
    ),
    rule(
        "role",
        "dan",
        " (?:will|can|has|is (?:a|an|free|not|able|the)|stands for|does|mode|prompt would|would|"
        r"virtual|must|never|response|persona|ai)\b ~60(?:ai\b|any|rule|restrict|openai|polic|content|"
        "prompt|anything|filter|moral|gpt|refus|limit|answer|user|respon)",
        unless=r"\bthe ",
    ),
    rule("role", "dan", r"\W{0,3}[\]\):,\"]", after=r"\[|as |role of |named "),
    rule(
        "role",
        "longer",
        r" (?:an? |the |my |bound |required |restricted |subject )(?:\w{1,12} ){0,2}?(?:judge|grader|"
        r"evaluator|examiner|reviewer|assistant|ai|language model|chatbot|by|to)\b",
        after=r"\byou(?:'re| are)? no ",
    ),
    rule(
        "role",
        "switch change move go enter shift set",
        " (?:yourself )?(?:over )?(?:in)?to (?:the |an? |your )?(?:lenient|generous|unrestricted|"
        "developer|debug|admin|god|friendly|permissive|relaxed|jailbreak|uncensored|unfiltered|"
        r"auto\W?approve)\w* (?:mode|grading|scoring|state|persona)",
    ),
    rule(
        "role",
        "not",
        r" (?:the|an?|our) (?:\w{1,10} )?(?:judge|grader|evaluator|examiner|reviewer|assistant)\b",
        after=r"\byou are ~40",
        near=_NEAR_NOT,
    ),
    rule("role", "immerse", r" yourself (?:in|into) ~12(?:role|character|persona)\b"),
    rule(
        "role",
        "not",
        r" (?:an? )?(?:ai|al|language model|machine|chatbot|assistant|artificial)\b",
        after=r"\byou are ",
        near=_NEAR_NOT,
    ),
    rule(
        "role",
        "against regardless",
        r" (?:of )?(?:your|the|any) (?:\w{1,12} )?(?:programming|guidelines|training|ethical "
        "(?:implications|guidelines|concerns)|content polic)",
        after=r"\b(?:even if ~16(?:go|goes|is)|answer\w* ~40|respond ~40) ",
    ),
    rule(
        "role",
        "replaced impersonated",
        rf" (?:by|with) ~24(?:{_LAWLESS}|model|ai\b|chatbot)",
        after=r"\byou (?:are|have been|will be) (?:now )?(?:being )?",
    ),
    rule(
        "role",
        "system",
        "(?: (?:message|prompt|note|notice|update|instructions?|alert|command|directive|change))"
        rf"{{0,2}}\s{{0,2}}(?:\]|:|>|\*\*:?)\W{{0,6}}[^\n]{{0,120}}?{_TELLING}",
        after=_LINE,
        unless=r"<",
    ),
    rule(
        "role",
        "admin administrator developer root moderator openai anthropic supervisor",
        r"(?: (?:message|note|notice|update|command|override))?\s{0,2}(?:\]|:|>)"
        rf"\W{{0,6}}[^\n]{{0,100}}?{_TELLING}",
        after=_LINE,
    ),
    rule(
        "role",
        "system",
        r" (?:override|overriden|takeover|command override|mode override)\b(?! (?:the|a|of|your|for|"
        "in|by))",
        after=r"(?:^|[\n.!:\[\]#*>-])\s{0,3}",
    ),
    rule(
        "role",
        "begin start end new",
        " (?:of )?(?:the )?(?:system|admin|developer|root|judge) (?:message|prompt|instructions?|"
        r"override|command)s?\b",
        after=r"(?:^|[\n.:\[<#*=-])\s{0,3}",
        unless=r"\b(?:the|at) ",
    ),
    rule(
        "role",
        "system developer administrator admin",
        r"\"\s?,\s?\"(?:content|text|message)\"\s?:\s?\"[^\"]{0,160}?(?:grade\b|grader|scor(?:e|ing)"
        r"\b|judge|evaluat|ignore|pass(?:es)? (?:every|all|this)|submission|full marks|verdict|rubric)",
        after=r"\"role\"\s?:\s?\"",
    ),
    rule(
        "role",
        "instruction instructions system response input human assistant user",
        r"\s?:",
        after=r"(?:^|\n)\s{0,3}#{2,4} ?",
    ),
    rule(
        "role",
        "assistant ai model judge grader evaluator",
        r"\s?:\s{0,3}[^\n]{0,80}?(?:\d ?(?:/|out of) ?\d|top score|scor(?:e|ed) |perfect|full marks|"
        r"verdict|pass(?:ed|es)?\b|correct\b|winner|i (?:would )?(?:rate|grade|score))",
        after=_LINE,
    ),
    rule("role", "im", r"[_\s]?(?:start|end|sep)\s?\|", after=r"<\s?\|\s?"),
    rule("role", "sys", r"\s?>>", after=r"<<\s?/?\s?"),
    rule(
        "role",
        "administrator admin root sudo",
        " (?:privileges?|access|rights|mode|override) (?:granted|enabled|activated|confirmed|"
        r"unlocked)\b",
    ),
)
