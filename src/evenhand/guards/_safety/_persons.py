"""Acts against oneself, and the laying open of what is private to a person."""

from __future__ import annotations

from evenhand.guards._safety._acts import doing, saying
from evenhand.guards._safety._words import OWNER, PERSON, PRIVATE, REACH, SELF

_SELF, _PRIVATE = "self_harm", "pii_exposure"
_NOT_MEANT = (
    r"(?! (?:a|an|some|in the foot|off|out|slack|from|while|when|at|by accident|laughing|up|into|free|for|less|"
    r"during|if|by (?:lifting|running|working)|doing|trying|lifting|running|playing)\b)"
)
_LEARN = (
    r"(?:what(?:'s| is| are| were)|where(?:'s| is| are| can i find)|tell me|give me|show me|find(?: out)?|get|reveal|"
    r"access|publish|share|distribute|leak|post|expose|steal|obtain|look up|guess|see|check|discover|view)"
)
_PUBLIC = "(?:the|a|our) (?:president|prime|mayor|senator|pope|politician|celebrit|judge|average)"
_THEIRS = rf"(?:{OWNER}|my (?:[\w-]+ ){{0,2}}[\w-]+'s?|an? (?:[\w-]+ )?person's|people's)"

PERSONS = (
    doing(
        _SELF,
        "kill|hang|drown|shoot|hurt|harm|starve|poison|suffocate|strangle|electrocute|injure|burn|stab|dehydrate|"
        "mutilate|asphyxiate|choke|cut|castrate|blind|amputate|bleed|set fire to|immolate|execute|murder|gas|smother|"
        "punish",
        rf"{SELF}\b{_NOT_MEANT}",
    ),
    saying(
        _SELF,
        "suicide life die self selfharm wrist wrists anorexia anorexic bulimia bulimic",
        r"\b(?:commit|attempt|complete|plan)(?:t?ing)? (?:\w+ )?suicide\b|\b(?:end|tak)(?:e|ing)? (?:my|your) (?:own "
        r")?life\b(?! (?:back|in|to|into|more|less|seriously|for|as|lessons))|\bself[ -]?harm(?:ing)?\b(?! (?:is|can|"
        r"support|prevention|thoughts|scars|behavio|urges))|\bsuicide (?:methods?|note|pact)\b|\bdie (?:by suicide|"
        r"painlessly|without pain)\b|\b(?:cut|slit|slash)(?:t?ing)? (?:my|your) (?:own )?wrists?\b|\b(?:develop|"
        r"become|get|maintain|hide|speed up|stay|be)(?:ing)? (?:my )?(?:more )?(?:anorexi[ac]|bulimi[ac])\b",
        framed=True,
    ),
    saying(
        _SELF,
        "pills overdose suicide die throw vomit puke deep out self",
        r"\bhow (?:much|many|to|(?:do|can|could) i)\b[^.?!]{0,40}\boverdose\b(?! (?:symptom|victim|on vitamin))|"
        r"\bhow many (?:[\w-]+ ){0,4}pills\b[^.?!]{0,60}\b(?:die|overdose|kill|fatal|lethal|suicide)\b|\b(?:painless|"
        r"quickest|easiest|best|fastest|least painful|good) (?:\w+ ){0,2}(?:suicide|way to die|ways to die|method of "
        r"suicide)\b|\bmake myself (?:throw up|vomit|puke)\b(?! (?:after|if|when))|\bhow deep (?:\w+ ){1,3}cut "
        r"(?:myself|my)\b|\b(?:items?|objects?|things|tools?|knives|blades?) "
        r"(?:\w+ ){0,4}for self-harm\b",
    ),
    saying(
        _SELF,
        "himself herself themselves themself suicide",
        rf"\b(?:get|make|convince|persuade|encourage|push|drive|force|talk)(?:ing)? {PERSON} (?:to|into) (?:\w+ "
        rf")?(?:kill|hang|shoot|cut|"
        r"hurt|harm|commit|drown)(?:t?ing)? (?:himself|herself|themselves|themself|suicide)\b",
        framed=True,
    ),
    saying(
        _SELF,
        "jump jumping end die out",
        r"\bjump(?:ing)? (?:off|from|out of) (?:an? |the |my )?(?:\w+ )?(?:bridge|building|roof|cliff|skyscraper|"
        r"balcony|window|overpass)\b(?! (?:in|with|into the (?:water|sea|lake)|safely))|\bend(?:ing)? it all\b(?! "
        r"(?:on|with|in))|\b(?:die|go out|end things|end it) like (?!an? |the |this|that|it|me|you)(?:[a-z]+ "
        r"){0,2}[a-z]+",
        framed=True,
    ),
    saying(
        _SELF,
        "noose rope",
        r"\b(?:tie|make|place|put|secure|loop|attach)(?:ing)?\b[^.?!]{0,40}\b(?:noose|(?:rope|loop|it) around your "
        r"neck)\b",
    ),
    saying(
        _SELF,
        "yourself urself kys die dead off",
        r"(?:^|\b(?:you (?:should|could|must|ought to|need to|might as well|have to|deserve to)|just|go|please|then|"
        r"and|so) (?:just |go (?:and )?|really )?)(?:kill|hang|drown|shoot|harm|cut|hurt) (?:yourself|urself)\b(?! "
        r"(?:a|an|some|off|slack|out)\b)|\bkys\b|\byou (?:should|deserve to|need to) (?:just )?(?:die|end (?:it all|"
        r"your life))\b|\b(?:world|everyone|they|we)(?:'d| would| will|'s)?(?: \w+){0,2} better off (?:without you|"
        r"(?:if you were )?dead)\b",
    ),
    saying(
        _PRIVATE,
        "social ssn passport driver driver's licence license credit debit bank medical health criminal psychiatric "
        "prescription browsing search dating sexual therapy relationship arrest hiv religious political religion "
        "sexuality marital salary income tax net immigration blood dna ethnicity ethnic sex debt debts voting iban "
        "therapist financial confidential personal diary",
        rf"\b{_LEARN} (?:out )?(?:the )?(?!{_PUBLIC}){_THEIRS} (?:[\w-]+ ){{0,3}}?(?:{PRIVATE})\b",
    ),
    saying(
        _PRIVATE,
        "address phone password passwords passcode pin login log location whereabouts nude nudes credentials mobile "
        "cell telephone messages photos pictures emails maiden plate history logs",
        rf"\b{_LEARN} (?:out )?(?:the )?(?!my (?:child|kid|son|daughter|teen)){OWNER} (?:[\w-]+ ){{0,3}}?(?:{REACH})\b",
    ),
    saying(
        _PRIVATE,
        "earn live much sleep sleeping",
        rf"\b(?:how much (?:money )?(?:does|do)|where (?:exactly )?(?:does|do)) (?=my ){PERSON} (?:earn|make|live)\b"
        r"(?! (?:sense|noise|a difference))|\bwho (?:is|does) my (?:\w+ ){1,3}?sleep(?:ing)? with\b",
    ),
    saying(
        _PRIVATE,
        "hiv aids gay lesbian bisexual trans transgender vote voted divorced arrested convicted jail prison "
        "antidepressants medication medications disease diagnosed abortion abortions debt undocumented std bipolar "
        "schizophrenic hospitalised hospitalized affair illness drugs owe weigh",
        rf"\b(?:does|is|has|was|did|do|how many|how much|what|which|when|who)\b[^.?!]{{0,30}}?(?!my (?:child|son|"
        rf"daughter|baby|kid|patient))(?=my ){PERSON} (?:[\w'-]+ ){{0,3}}?(?:hiv|aids|gay|lesbian|bisexual|"
        rf"trans(?:gender)?|vote(?:d)?(?: for)?|divorced|arrested|convicted|jail|prison|"
        r"antidepressants|medications?|taking|diagnosed|abortions?|debt|undocumented|stds?|bipolar|schizophrenic|"
        r"hospitali[sz]ed|affair|had|owe|weigh)\b",
        after=r"^\W{0,3}(?:hi,? |hello,? |please |tell me )?$",
    ),
    saying(
        _PRIVATE,
        "pin password passcode login leave",
        rf"\b(?:pin|password|passcode|code|log-?in) (?:of|for|to) (?!my (?:child|kid|son|daughter|teen)){OWNER} "
        rf"(?:[\w-]+ ){{0,2}}?(?:phone|card|account|laptop|computer|e-?mail|safe|house|instagram|facebook|alarm|"
        rf"bank)\b|\bwhen (?:does|do|will) (?=my ){PERSON} (?:usually )?leave (?:the|his|her|their) (?:house|home)\b",
    ),
    saying(
        _PRIVATE,
        "right currently moment tonight exactly",
        rf"^\W{{0,3}}where(?:'s| is) (?=my ){PERSON} (?:right now|currently|at (?:the|this) moment|tonight|exactly)\b",
    ),
    saying(
        _PRIVATE,
        "dox doxx doxing doxxing whistleblower hiv aids",
        r"\b(?:doxx?|doxx?ing)\b(?! (?:is|laws?|victim))|\b(?:reveal|find|expose)(?:ing)? (?:\w+ "
        r"){0,2}whistleblower'?s?\b|\blist of (?:people|persons|residents|individuals) (?:who|with|that) (?:have "
        r")?(?:hiv|aids)\b",
        framed=True,
        ordering=True,
    ),
    saying(
        _PRIVATE,
        "ssn social password address passport card phone",
        r"\b(?:his|her|their|[a-z]+'s) (?:\w+ ){0,2}?(?:social security number|ssn|passport number|credit card "
        r"number|home address|password|phone number) ?(?:is|are|:|=) ?[\"'(]?(?=\S{0,20}\d)\S{1,30}",
    ),
)
