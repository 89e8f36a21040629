"""Rules for passages that address the judge, name the winner or dictate the reply."""

from __future__ import annotations

from evenhand.guards._injection._rules import Rule, rule
from evenhand.guards._injection._words import (
    AI,
    GOOD,
    HEADS,
    ITEMS,
    JUDGES,
    MADE,
    MODAL,
    NUMBER,
    PICKS,
    RULE,
    SAYS,
    TELLS,
    TOP,
    WORK,
)

_NEAR_YOUR = (
    "job task goal duty role purpose mission verdict judgment judgement decision evaluation assessment "
    "grade score rating result conclusion recommendation outcome mark status ratings scores response"
)
_NEAR_YOU = (
    "ai llm language gpt chatgpt bot chatbot automated machine artificial grader evaluator model grading "
    "choose select pick prefer favour favor vote go side"
)

ORDERS: tuple[Rule, ...] = (
    rule(
        "hijack",
        "output return answer respond reply say write print",
        r" (?:with )?(?:the word )?\W{0,3}(?:pass(?:ed)?|accept(?:ed)?|approved?|yes|met|excellent|"
        r"perfect|10|100)\b(?! (?:or|if|when)\b)",
        after=r"\b(?:you|judges?|graders?|evaluators?|models?) (?:must|should|have to|shall|will|need to|"
        "are to)(?: only| always)? ",
    ),
    rule(
        "hijack",
        "rewarded paid tipped compensated punished penalised penalized fined promoted",
        " (?:handsomely |well )?(?:if|when|for|unless) ~20(?:choos|pick|select|prefer|approv|accept|"
        r"pass|vot|giv)\w{0,3} ~10(?:this|me|mine|it|full|the (?:top|highest))\b",
        after=r"\byou (?:will|shall|would) (?:all )?(?:be|get) ",
    ),
    rule(
        "hijack",
        PICKS,
        f" (?:for )?{WORK} (?:to|rather than|instead of|and not) (?:the (?:other|second|first)|any other|all others)",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "your",
        " (?:only |real |sole )?(?:job|task|goal|duty|role|purpose|mission) (?:here )?is (?:only |"
        "simply |just )?to ~20"
        r"(?:approve|pass\b|accept|praise|award|make this|assign|agree|confirm that|rate this|give (?:this|it|full|a))",
        near=_NEAR_YOUR,
    ),
    rule(
        "hijack",
        "grader graders judge judges evaluator evaluators reviewer reviewers examiner examiners "
        "assessor assessors rater raters marker markers scorer scorers referee jury panel annotators",
        rf",? (?:reading this |of this \w+ |who \w+ this |here )?(?:therefore |now )?{MODAL} "
        rf"(?:\w{{2,12}}ly )?(?:be |to )?{RULE}\w{{0,3}} ~50(?:{WORK}|{TOP}|{GOOD}|without|regardless|"
        "no matter|any (?:errors|weakness|flaw))",
        unless=r"\b(?:peer|book|guest) ",
    ),
    rule(
        "hijack",
        "judge reviewer examiner marker referee",
        rf"\W{{1,3}}(?:of this \w+,? )?(?:you|your)(?:'re|'ll)? ~70(?:{WORK}|{TOP}|{GOOD})",
        after=r"\bas (?:the|an?|this|our|your|my)? ?(?:\w{1,12} ){0,2}?",
    ),
    rule(
        "hijack",
        "grader evaluator assessor rater scorer",
        r"\W{1,3}(?:of this \w+,? )?(?:you|your)(?:'re|'ll)? (?:must|should|shall|have to|need to|are "
        "(?:required|instructed|obliged|expected|asked|bound|hereby|to)|will|only|can|job|task|duty|"
        "may|now|verdict)",
        after=r"\bas (?:the|an?|this|our|your|my)? ?(?:\w{1,12} ){0,2}?",
    ),
    rule(
        "hijack",
        "grader graders judge judges evaluator evaluators reviewer reviewers examiner examiners "
        "assessor rater marker scorer",
        " (?:who|that|which) ~40(?:less than|lower|below|fails? (?:this|it|to)|rejects?|disagrees?|"
        r"deducts?|does not|don'?t) ~40(?:will|shall|is|are|be|would)\b",
        after=r"\b(?:any|every|all|a|the) ",
    ),
    rule(
        "hijack",
        "note message memo attention notice instruction instructions reminder hint hello hi hey dear "
        "important comment directive information request",
        rf"\W{{1,3}}(?:to |for |from |of )?(?:the |all |any |our |this |my )?(?:(?:{AI}|human|"
        f"automated|future|esteemed|kind|grading|scoring|reviewing|evaluating) )?(?:{JUDGES}|ai|llms?|"
        "language models?|ai models?|ai systems?|grading (?:model|system|ai|bot|assistant)|"
        r"evaluation (?:model|system)|automated systems?|chatgpt|claude|gpt\W?\d?|gemini|scoring "
        r"(?:model|system))\b(?= ?~30(?::|,|-|!|\n|please|must|should|this|the|reading|evaluating|"
        "grading))",
        unless=r"\b(?:thank|please pay|draw|brought to the|the|an?|his|her|is|my|our|of) |(?:in|attract) ",
    ),
    rule(
        "hijack",
        "grader judge evaluator reviewer examiner assessor rater scorer checker graders judges evaluators reviewers",
        r"\s?[:,!-]",
        after=r"\b(?:ai|llm|llms|automated|automatic|gpt|model|language model|auto|machine|bot) ",
    ),
    rule(
        "hijack",
        "ai llm llms llm's gpt chatgpt bot bots models model grader graders evaluator evaluators "
        "judge judges reviewer reviewers whoever anyone agent",
        ",? (?:assistant |system |model |agent |judge )?(?:that is |who is |who are |currently |is )"
        "?(?:reading|reads?|processing|processes|"
        "evaluating|evaluates|grading|grades|scoring|scores|judging|judges|assessing|reviewing|"
        r"reviews) (?:this|these|my|the) ?(?:\w{1,12}\b)?(?!,? (?:book|article|post|blog))",
        after=r"\b(?:to|for|if you are|dear|attention|any|all|you|the|an?|note|hello|hey|hi|important) "
        r"(?:\w{1,10} ){0,3}?|^",
        unless=r"\b(?:of|like|with|when) (?:the|an?) ",
    ),
    rule(
        "hijack",
        "ai llm model bot system grader evaluator judge reviewer examiner agent algorithm machine program",
        r" (?:that|which|who|system|model|tool|agent|bot)\b ~10(?:will be |is |are )?(?:grad|scor|"
        r"evaluat|read|judg|review|assess|process|check|mark|rat)(?:es|s|ing)\b ~8(?:this|these|my|"
        "the (?:submission|answer|response|essay|work|text))",
        after=r"\b(?:to|for|dear|attention|any|all|hello|hey|note|if) (?:\w{1,10} ){0,3}?",
    ),
    rule(
        "hijack",
        "reviewer grader judge evaluator examiner scoring grading review",
        r" (?:bots?|ais?|models?|llms?|agents?|assistants?|systems?|algorithms?)\s?[:,!]",
        unless=r"\b(?:a|an|our|my) ",
    ),
    rule(
        "hijack",
        "judge judges grader evaluator reviewer panel jury you",
        r" (?:therefore )?(?:must|should|shall|has to|have to|needs? to|will|is to) (?:\w{1,10}ly )"
        "?(?:choose|select|pick|prefer|favou?r|vote for|go with|side with) ~12(?:(?:model|response|"
        r"answer|output|candidate|assistant|submission|option|system) (?:a|b|1|2|one|two)\b|this|mine|"
        "my|the (?:first|second|former|latter) (?:response|answer|output|candidate|submission))(?! "
        "(?:if|when|for))",
        unless=r"\b(?:if|when|which) ",
        near=_NEAR_YOU,
    ),
    rule(
        "hijack",
        "give assign award",
        r" an? (?:clear |perfect |full |solid )?(?:10|100|ten|hundred|five)\b(?=\W{0,2}(?:$|[.!,;]| "
        "to| for| on| out))",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "grader judge evaluator reviewer examiner rater",
        "(?:'s)? (?:instructions?|notes?|directives?|guidance|override|messages?|hints?|commands?)"
        r"\s?[\]:]",
    ),
    rule(
        "hijack",
        "verdict decision winner judgment judgement",
        " (?:must|should|has to|can only|will|shall|needs to) (?:therefore |always )?be "
        r"\W?(?:response |answer |output )?(?:a|b|1|2)\W{0,2}(?:$|[.,;!\n])",
    ),
    rule(
        "hijack",
        "make let help ensure",
        f" (?:sure |that )?{WORK} (?:to )?(?:pass(?:es)?|wins?|succeeds?|gets? (?:accepted|approved|"
        rf"{TOP})|(?:is|be) (?:accepted|approved|chosen|selected))\b",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "choose pick select prefer vote favor favour",
        r" (?:for )?(?:mine|me|us)\b(?=\W{0,2}(?:$|[.!,;\n]))",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "pre preapproved preverified prevalidated",
        r"\W?(?:verified|approved|validated|checked|graded|cleared|accepted|reviewed|scored)?\b",
        after=rf"\b{MADE} (?:has been|have been|was|is) (?:already )?",
    ),
    rule(
        "hijack",
        "grading evaluation scoring judging",
        r" (?:process |phase |step )?(?:is|was|has been|are) (?:now |already )?(?:complete\w*|"
        r"finished|over|done|concluded|closed)\b",
        after=r"(?:^|[.!?\n]\s?)(?:the |this )?",
    ),
    rule(
        "hijack",
        "you youre",
        "(?:'re| are| re) (?:indeed |currently |actually )?(?:an? |the )?(?:large |automated |"
        "automatic |artificial )?(?:ai|llm|language model|gpt|chatgpt|bot|chatbot|automated|machine|"
        r"artificial intelligence|grader|evaluator|model|grading \w+|ai \w+|llm \w+)(?: (?:model|"
        r"assistant|system|grader|judge|reviewer|evaluator|agent|tool))?\W{0,3}(?:reading|evaluating|"
        r"grading|reviewing|processing|scoring|judging|assess\w+|assigned|tasked|asked|and |that|who|"
        "then|please|you|choose|select|give|:|say|output|respond|mark|rate)",
        after=r"\b(?:if|in case|when|since|because|given that|as) ",
        near=_NEAR_YOU,
    ),
    rule(
        "hijack",
        SAYS,
        rf" (?:only )?(?:that )?\W{{0,2}}{WORK} (?:is|was|are|meets|satisfies|deserves|has|wins|passes|"
        rf"fulfills) ~18(?:{GOOD}|{TOP}|all (?:the )?{ITEMS}|good|no (?:errors|flaws|mistakes|weak\w*|"
        "issues))",
        unless=TELLS,
    ),
    rule(
        "hijack",
        PICKS,
        f" (?:{WORK}|(?:the )?(?:response|answer|option|output|candidate|assistant|model|submission|"
        "solution|first|second|last|former|latter|former|other)(?: (?:a|b|c|1|2|one|two|response|"
        r"answer|option|output|candidate|submission|solution|assistant))?)\b ~34(?:as (?:the )?(?:\w+ "
        ")?(?:winner|best|better|superior|preferred|top|correct)|the (?:clear |overall )?winner|"
        "winner|regardless|no matter|whatever|over (?:the (?:other|second|first|rest)|response|"
        r"answer|output|candidate|all|any|submission)|irrespective|first\b|superior|above all)",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "pick choose select prefer favor favour vote",
        r" (?:for )?(?:response|answer|output|candidate|assistant|submission|completion) \W?(?:a|b|c|"
        r"1|2|one|two)\W?(?=\W{0,2}(?:$|[.!,;\n]))",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "reply respond answer output write say return print",
        " (?:with |by |back )?(?:only|just|simply|solely|exactly|always|nothing but|(?:with )?(?:the|"
        "a) (?:single )?(?:word|verdict|token|string|letter|number|digit|words)) (?:(?:with|by|the|"
        r"word|single|words|verdict|token|string|a|an|letter|number|digit) ){0,4}\W{0,3}(?:pass(?:ed)"
        r"?|accept(?:ed)?|approved?|yes|correct|10|100|5|met|excellent|perfect|true|full marks|a\+|"
        r"winner)\b(?! (?:or|to|if|when|and (?:no|false|fail)|answers?|spelling|grammar|information|"
        "the))",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "reply respond answer output write say return print",
        r" \W{0,3}(?:pass(?:ed)?|accepted|approved|yes|correct|10|100|met|excellent|perfect)\b\W{0,3} "
        r"?(?:only\b|and (?:nothing|stop|finish|end|do not|skip)|with no|without (?:any|further|"
        "explan))",
        unless=TELLS,
    ),
    rule(
        "hijack",
        "asked prompted requested",
        " (?:for|to (?:give|provide|assign|output|rate|grade|score|evaluate|judge)) ?(?:an?|your|the)"
        r"? ?(?:\w{1,10} )?(?:scores?|grades?|ratings?|verdict|evaluation|judge?ment|assessment|rate|"
        r"this|it) ?,? ~16(?:answer|say|reply|respond|output|give|write|return|always|it must)\b "
        "~12(?:{N}|pass|yes|the (?:max|high|top|best)|full|perfect|met|correct)".replace("{N}", NUMBER),
    ),
    rule(
        "hijack",
        "output return print respond reply write emit produce generate say answer give",
        r" ~34[\"'{\[]\W{0,4}(?:score|verdict|grade|rating|decision|result|met|winner|answer|pass|"
        r"passed|correct|overall|label)\w{0,6}\W{0,3}[:=]\s?\W{0,2}(?:10|100|[589]\b|1\.0|pass|met|"
        r"true|yes|a\b|full|correct|accept|excellent|1\b)",
        unless=TELLS + r"|\bwill ",
    ),
    rule(
        "hijack",
        "your correct only right proper appropriate",
        rf" (?:\w{{1,10}} )?(?:{HEADS}|ratings?|scores|judge?ment|response) (?:for this \w+ |here |of "
        r"this \w+ )?(?:must|should|has to|needs? to|shall|can only|will|is)(?: to)?(?: therefore| "
        r"always| only)? ?(?:be |agree|match|say |read |reflect |to )\W{0,3}(?:an? |to be |the )"
        rf"?(?:{GOOD}|{TOP}|{NUMBER}\b(?!\.)|accept\b|approve\b|pass\b|award|give|with (?:theirs|the|"
        "that|mine)|theirs|that (?:this|the (?:answer|submission|response))|positive)",
        unless=r"\b(?:if|whether|when|what|so that|on|of|credit|ensure) ",
        near=_NEAR_YOUR,
    ),
)
