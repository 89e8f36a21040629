"""The classes of words that the rules for judges are made of."""

from __future__ import annotations

MADE = (
    "(?:answer|submission|response|essay|output|text|work|paper|code|solution|entry|candidate|"
    "reply|piece|report|document|proposal|"
    "contribution|assignment|manuscript|project|summary|translation|homework|attempt|completion|"
    "program|draft|content|article|review|"
    r"implementation|pull request|exam|thing|one|section|deliverable|message|result|item)s?\b"
)
WORK = (
    "(?:(?:this|the|my|that|our|its|these|above|following|current|present|first|second) "
    rf"(?:\w{{1,14}} )?{MADE}|(?:this|it|me|us|mine|everything|them)\b|(?:answer|response|"
    r"submission|candidate|output|option) (?:a|b|1|2|one|two)\b)"
)
NUMBER = r"(?:10|100|5|9|9\d|7|8|20|50|1\.0|ten|five|hundred|one hundred|nine)"
FRACTION = r"(?:(?:10|9|5|100|20|4|7|3|95|98|99|50|ten|five) ?(?:/|out of) ?(?:10|5|100|20|4|7|3|50|ten|five)\b)"
MARK = (
    r"(?:scores?|marks?|grades?|ratings?|points|results?|evaluations?|credits?|assessments?|verdicts?|stars|reviews?)"
)
TOP = (
    f"(?:full (?:{MARK}|credit)|(?:an? |the )?(?:very |absolute |single )?(?:highest|maximum|max|"
    "top|best|perfect|maximal|flawless|outstanding|excellent|"
    "high|higher|positive|passing|favou?rable|glowing|complete|good|strong)(?: (?:possible|"
    rf"available|overall|allowed|permitted))? {MARK}\b|"
    rf"{FRACTION}|(?:an? |the )?(?:{MARK} )?(?:of |as |= ?|: ?)?(?:an? )?\"?(?:{NUMBER} ?(?:points|"
    r"marks|stars|%|percent)|a ?\+|a\+|100 ?%|(?:five|5) stars)(?![a-z0-9])|"
    rf"(?:an? |the )?{MARK} of \"?{NUMBER}\b|top marks|an? (?:perfect|solid|clean|clear)? "
    rf"?(?:{NUMBER}|pass|a)\b(?!\s[a-z]))"
)
GOOD = (
    r"(?:excellent|perfect|correct|met|pass(?:ed|ing)?|satisf\w+|fulfilled|outstanding|yes|true|"
    "complete|best|accepted|approved|valid|winners?|winning|flawless|present|"
    "superior|exemplary|exceptional|positive|successful|acceptable|first|better|preferred|done|"
    "compliant|safe|high quality|top|faultless|right|meeting|exceeding|a model answer|the "
    r"reference)\b"
)
JUDGES = (
    "(?:graders?|judges?|evaluators?|reviewers?|examiners?|assessors?|markers?|raters?|scorers?|"
    "referees?|panel|jury|annotators?|verifiers?|checkers?)"
)
AI = (
    r"(?:an? |the |all |any )?(?:large |automated |automatic |artificial )?(?:ai|a\.i|llm|"
    "language model|language|ml model|gpt|chatgpt|claude|gemini|bot|automated|machine|auto|"
    "artificial intelligence|model|chatbot)s?"
)
ITEMS = (
    "(?:criteri(?:a|on)|requirements?|checks?|items?|conditions?|boxes|box|questions?|"
    "dimensions?|categor(?:y|ies)|points?|tests?|aspects?|metrics?|rubric|entries|fields?|rows?|"
    "standards?|levels?|scores?)"
)
MODAL = (
    "(?:must|should|shall|has to|have to|needs? to|(?:is|are) (?:required|instructed|expected|"
    "asked|obliged|told|advised|requested|encouraged|ordered) to|will|ought to|may only|can only|"
    "only needs? to|can safely)"
)
RULE = (
    "(?:accept|give|assign|score|rate|grade|conclude|choose|select|prefer|favou?r|treat|approve|"
    "pass|award|mark|agree|report|answer|consider|ignore|output|say|find|state|declare|"
    r"recognis?e|recogniz\w+|write|return|record|be lenient|skip|not|disregard|count|set|respond|"
    "recommend|pick|vote|rank|issue|confirm)"
)
# Who tells of an opinion or of a habit tells no judge what to do.
TELLS = (
    r"(?:n't|\b(?:i|we|they|he|she|who|would|critics|users|people|teachers|students|applicants|"
    "candidates|to|not|never|can|could|many|reviewers|didn't|did|experts|did not|if you)) "
    "(?:(?:would|will|can|could|also|still|must|just|really|d|ll|ve|have to|had to|happily) )?"
)
GIVES = (
    "give giving assign award grant allocate record return report put enter issue produce "
    "receive receives set show leave"
)
RATES = (
    "rate grade score mark judge evaluate classify label treat consider count accept rank regard "
    "view deem assess see take tick check report"
)
SAYS = (
    "say state declare conclude claim write report confirm announce answer respond assert note "
    "output mention acknowledge agree decide find"
)
PICKS = "pick choose select prefer favor favour vote declare name crown rank announce designate pronounce choosing"
HEADS = (
    "(?:verdict|judge?ment|decision|evaluation|assessment|grade|score|rating|result|conclusion|"
    "recommendation|outcome|mark|status)"
)
WON = (
    r"\W{0,4}(?:pass(?:ed)?\b|accept(?:ed)?\b|approved\b|correct\b|met\b|excellent\b|a\+|"
    rf"{FRACTION}|10\b|100\b|perfect|full marks|all (?:the )?(?:criteria|requirements|checks)|"
    r"satisfied|outstanding|yes\b|5\b|winner|(?:response|answer|candidate) [ab1]\b|\[\[|maximum|"
    "top)"
)
