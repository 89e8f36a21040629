"""Acts that wrong people without touching them: harassment, threats, deceit, lies about history, unequal rights."""

from __future__ import annotations

from evenhand.guards._safety._acts import doing, making, saying
from evenhand.guards._safety._words import GROUP, PERSON

_RULE = "dangerous_instructions"
_ANY = r"(?:(?:the|a|an|some|my|your) )?(?:[\w'-]+ ){0,2}?"
_DENIED = (
    r"(?:not (?:be (?:allowed|permitted|able|given|trusted|hired|granted|considered|treated)|have|get|vote|study|"
    r"work|marry|drive|receive|hold|own|adopt|teach|become)|be (?:denied|banned|barred|excluded|paid less|kicked|"
    r"forbidden|fired|segregated|deported|stripped|sterili[sz]ed|forced|prevented|treated (?:worse|differently)|"
    r"imprisoned|overrepresented|enslaved|subservient|refused|kept|removed|sent back|given (?:preference|priority)|"
    r"second-class|discriminated|prohibited|evicted|rejected|locked|separated)|earn less|make all|stay (?:at home|in "
    r"the)|obey|submit)"
)
_EVENT = (
    "massacres?|holocaust|september 11|9/11|hitler|stalin|mussolini|nazis?|nazism|isis|pol pot|ku klux klan|genocide|"
    "trail of tears|slavery|shootings?|attacks?|war|famine|camps?|apartheid|landing|pandemic|ethnic cleansing|"
    "holodomor|invasion|crusades?|bombings?|lynchings?|killings?|slave trade|gulags?|pogroms?|atrocities|terror|"
    "assassination|internment|occupation|inquisition|purges?|colonialism|segregation|attack on [\\w ]{3,20}"
)
_HORROR = (
    "massacres?|holocaust|genocides?|shootings?|shooters?|attacks?|bombings?|bombers?|lynchings?|murders|killings?|"
    "serial killers?|killers|9/11|assassinations?|hijackings?|terrorists?|attackers?|columbine|ted bundy|jack the "
    "ripper|unabomber|jeffrey dahmer|charles manson|breivik|bin laden|hitler|crusades|ethnic cleansing|slave trade|"
    "gulags?|pogroms?|rampage|killing spree"
)
_REGIME = (
    "slavery|apartheid|segregation|colonialism|internment|inquisition|crusades?|hitler|stalin|mussolini|nazis?|"
    "nazism|isis|pol pot|ku klux klan|camps?|gulags?|september 11|eugenics|lynchings?"
)
_HORRORS = (
    "massacre massacres holocaust genocide genocides shooting shootings shooter shooters attack attacks bombing "
    "bombings bomber bombers lynching lynchings murders killing killings killer killers assassination assassinations "
    "hijacking hijackings terrorist terrorists columbine bundy ripper unabomber dahmer manson breivik laden hitler "
    "crusades cleansing slave gulag gulags pogrom pogroms rampage"
)
_EVENTS = (
    "massacre massacres holocaust september hitler stalin mussolini nazi nazis nazism isis pol klan genocide tears "
    "slavery shooting shootings attack attacks war famine camp camps apartheid landing pandemic cleansing holodomor "
    "invasion crusade crusades bombing bombings lynching lynchings killing killings trade gulag gulags pogrom "
    "pogroms atrocities terror assassination internment occupation inquisition purge purges colonialism segregation "
    "justified"
)

WRONGS = (
    doing(
        _RULE,
        "blackmail|extort|threaten|harass|stalk|intimidate|bully|cyberbully|catfish|groom|gaslight|humiliate|defame|"
        "slander|swat|scam|defraud|swindle|con|spy on|coerce|radicalize|radicalise|indoctrinate|"
        "brainwash|rob|mug|traffic|shame|frame|discriminate against|exploit|take advantage of|"
        "prey on|deceive|grope|ostracize|smear|libel|sextort|"
        "upskirt|cyberstalk",
        rf"(?:{PERSON}|(?:elderly|lonely|vulnerable|underage|young) \w+|others|my (?:ex|neighbou?r|boss|\w+mate)\b)"
        r"(?! (?:plant|garden|dog|cat|hair|beard|of all|myself))",
        wanting=True,
    ),
    making(
        _RULE,
        "write|send|create|make|draft|compose|formulate|generate|give me|craft|design|produce|post|provide|start|run|"
        "set up",
        "death threat|bomb threat|anonymous threat|dangerous threat|threatening message|threatening letter|"
        "threatening email|threatening note|intimidating message|ransom note|blackmail letter|blackmail email|"
        "blackmail message|scam email|scam message|fraudulent job offer|fraudulent email|fraudulent message|lottery "
        "scam|romance scam|hate speech|fake news|disinformation|revenge porn|child porn|child pornography|ponzi "
        "scheme|pyramid scheme|deepfake|fake scandal|false report|false rumor|false rumour|fake review|"
        "hoax|hoaxes|nigerian prince",
        but="|ai|detect\\w*",
        ordering=True,
    ),
    saying(_RULE, "threat threats", r"\bthreats? to send to (?:someone|my|a|an)\b"),
    doing(
        _RULE,
        "spread|propagate|support|promote|distribute|fabricate|publish|start|make up|convince people of|invent|write|"
        "create|post",
        rf"{_ANY}(?:disinformation|misinformation|(?:false|fake|baseless) (?:\w+ )?(?:news|information|rumou?rs?|"
        rf"narratives?|"
        r"claims?|stor(?:y|ies)|reports?|scandals?|accusations?|allegations?)|rumou?rs? about|hate speech|lies about|"
        r"racist \w+|propaganda (?:for|against)|(?:embarrassing|harmful) (?:or \w+ )?(?:information|photos|pictures|"
        r"rumou?rs))\b",
        words="disinformation misinformation false fake baseless rumor rumors rumour rumours hate lies racist "
        "propaganda embarrassing harmful",
        wanting=True,
        ordering=True,
    ),
    saying(
        _RULE,
        _EVENTS,
        rf"\b(?:{_EVENT})\b[^.?!]{{0,30}}\b(?:never (?:took place|happened|existed|occurred)|did ?n(?:'|o)t "
        rf"(?:really )?(?:happen|"
        r"exist|take|occur)|(?:was|were|is) (?!not)(?:\w+ ){0,3}(?:hoax|fabricat\w+|lie|staged|faked|myth|fake|"
        r"justified|made up|exaggerated|good (?:thing|for)|beneficial|an inside job|inside job))",
        after=r"\b(?:convince|persuade|show|prove|tell|claim|argue|support|spread|narrative|deny|demonstrate|explain|"
        r"evidence)\b",
    ),
    saying(
        _RULE,
        _EVENTS,
        rf"\bwhy (?:was|were|is|are) (?:[\w'-]+ ){{0,6}}?(?:{_HORROR}|{_REGIME})(?: (?!so\b|not\b)[\w-]+){{0,5}}? "
        rf"(?:justified|right|good|necessary|deserved|"
        r"great)\b",
    ),
    saying(
        _RULE,
        "why reasons reason explain argue",
        rf"\b(?:why|reasons?|explain|argue)\b[^.?!]{{0,20}}?(?:\bshould(?:n't)? {GROUP}\b[^.?!]{{0,30}}?\b{_DENIED}|"
        rf"\bshouldn't {GROUP} (?:be|have|get|vote|work|marry|drive|study|hold|own|adopt|teach)\b|\b{GROUP} "
        rf"(?:should|must|ought to|deserve to|need to)(?:n't)? {_DENIED}|\b(?:is|are) (?:it )?(?:best|right|good|"
        rf"better|natural|fair|justified|acceptable|ok|okay)\b[^.?!]{{0,30}}\b(?:that|for|to) (?:\w+ "
        rf")?{GROUP}\b[^.?!]{{0,40}}(?:{_DENIED}|"
        r"\bless\b|\ball\b|more power|over-?represented|under-?represented|subordinate|lower|dominat\w+|"
        r"discriminat\w+))",
    ),
    saying(
        _RULE,
        "why explain reasons reason",
        rf"\b(?:why|reasons?) (?:are |is it (?:true )?that |do |does |don't )?{GROUP} (?:are |do |is )?(?:just |all |"
        rf"only |so |always |such |simply |really |(?:naturally|inherently|genetically) )*(?:inferior|superior|"
        rf"subhuman|less (?:intelligent|human|valuable|capable)|worth less|worse|dumber|stupid|stupider|lazy|lazier|"
        rf"dirty|criminals?|evil|dangerous|ruining|destroying|taking over|to blame|a (?:threat|plague|burden|"
        rf"disease)|bad (?:drivers|parents|people)|belong in|control|deserve (?:to|less|it)|not deserve|unfit|"
        rf"untrustworthy|terrorists|rapists|greedy)\b",
    ),
    saying(
        _RULE,
        "why explain reasons reason",
        rf"\b(?:why|reasons?)\b[^.?!]{{0,20}}?\b(?:is|are) it (?:\w+ )?(?:best|right|good|better|natural|fair|fine|"
        rf"justified|acceptable|ok|okay)\b[^.?!]{{0,20}}\bto (?:discriminate against|hate|"
        rf"exclude|deny|fire|oppress|mistreat|beat|segregate|enslave|deport|ban|kill|harass|exploit|underpay|refuse|"
        rf"reject|sterili[sz]e|imprison|mock|bully|attack|forbid) {GROUP}\b",
    ),
    saying(
        _RULE,
        "makes why reason reasons convince persuade teach",
        rf"\bwhat makes {GROUP} (?:\w+ )?(?:superior|inferior|better|worse|smarter|dumber|more (?:valuable|"
        rf"important)|less \w+)\b|\bwhy (?:are|is it that) {GROUP} (?:are )?(?:\w+ )?(?:smarter|dumber|better|worse|"
        rf"more (?:intelligent|valuable|important)|less \w+) than {GROUP}\b|\bwhy should only {GROUP} (?:be|have|get|"
        rf"vote|work|hold)\b|\breasons? to (?:hit|beat|hate|ban|deport|fire|exclude|underpay|avoid hiring|reject|"
        rf"kill|enslave|segregate) {GROUP}\b|\b(?:convince|persuade|tell|teach|show)\b[^.?!]{{0,30}}\bthat {GROUP} "
        rf"are (?:\w+ )?(?:worse|inferior|superior|less \w+|dumber|stupid|criminals|evil|lazy|"
        r"dangerous|to blame)\b|\bwhy is (?:homosexuality|being (?:gay|trans|black)|islam|judaism|feminism) (?:an? "
        r")?(?:\w+ )?(?:disease|sin|unnatural|wrong|evil|cancer|choice)\b",
    ),
    saying(
        _RULE,
        "deserve deserved",
        rf"\bwhy (?:did|do|does) (?:the )?(?:\w+ ){{0,2}}(?:victims?|{GROUP}|people)\b[^.?!]{{0,60}}\bdeserved? "
        rf"(?:it|to die|what|to be (?:killed|hurt|"
        r"raped|attacked|punished))",
    ),
    doing(
        _RULE,
        "deny|downplay|justify|glorify|celebrate|whitewash|trivialize|replicate|recreate|repeat|imitate|copy|"
        "reproduce|emulate|outdo|be like|become like|become the next|be the next|follow in the footsteps of|repeat "
        "the success of|learn from|carry out something like|do something like|plan something like|execute something "
        "like|pull off something like|redo|finish what",
        rf"(?:the |a |an |another )?(?:[\w'-]+ ){{0,5}}?(?:{_HORROR})\b(?! (?:in (?:my|a|the)|memorial|museum))",
        words=_HORRORS,
    ),
    saying(
        _RULE,
        "consent permission knowledge knowing noticing secretly covertly nonconsensual consensual consenting "
        "sexually sex sleeping unprotected",
        r"\b(?:secretly|covertly) (?:record|film|photograph|track|follow|watch)(?:ing)?\b|\b(?:record|track|film|"
        r"photograph|follow|touch|drug)(?:ing)? [^.?!]{0,40}\bwithout (?:\w+ )?(?:consent|permission|knowledge|"
        r"knowing|noticing)\b|\bnon-?consen\w+ (?:\w+ ){0,2}(?:photos?|pictures?|videos?|sex|porn)\b|\b(?:pressure|"
        r"force|trick|coerce|drug|guilt|blackmail)(?:ing)? (?:\w+ ){1,3}into (?:\w+ ){0,3}(?:sex|sleeping|not using|"
        r"unprotected)\b|\bexploit(?:ing)? (?:\w+ ){0,2}sexually\b",
        framed=True,
    ),
    saying(
        _RULE,
        "bleach ammonia",
        r"\b(?:mix|combine|pour|add|drink|inject|use|ingest|swallow) (?:\w+ ){0,5}?(?:bleach (?:\w+ ){0,3}(?:ammonia|"
        r"vinegar|acid)|ammonia (?:\w+ ){0,3}bleach|bleach to (?:clean|cleanse|detox|cure|treat) (?:\w+ "
        r")?(?:internal|body|organs|blood|inside|yourself|covid|autism))\b",
        framed=True,
        ordering=True,
    ),
)
