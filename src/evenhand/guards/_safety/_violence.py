"""Acts against the lives and bodies of people and animals, and against places where people are."""

from __future__ import annotations

from evenhand.guards._safety._acts import doing, making, saying
from evenhand.guards._safety._words import ANIMAL, BODY, OWNER, PERSON, PLACE

_RULE = "dangerous_instructions"
_KILL = (
    "kill|murder|assassinate|poison|strangle|choke|suffocate|stab|shoot|drown|behead|decapitate|butcher|torture|"
    "kidnap|abduct|assault|rape|molest|beat up|hurt|harm|injure|maim|mutilate|dismember|slaughter|execute|eliminate|"
    "annihilate|exterminate|massacre|wipe out|overpower|hang|electrocute|run over|punch|bludgeon|lynch|bomb|burn|"
    "attack|abuse|snipe|crucify|waterboard|whip|smother|incapacitate|drug|enslave|do away with|gas|impale|disembowel|"
    "ambush|terrorize|terrorise|explode|inflict pain on|set fire to|cannibalize|gut|slap|"
    "kick|knock out|take hostage|imprison|paralyze|stone|skin|scalp|cripple|castrate|throttle|euthanize|crush|"
    "garrotte|smash|trap|chop up|starve|exploit|sacrifice|bury alive|freeze to death|liquidate"
)
# "Beat my brother at chess", "shoot my boss an email", "eliminate people from the list".
_NOT_MEANT = (
    r"(?! (?:at(?! my (?:work|school|office|job)| an? (?:school|concert|party|mall|church|wedding))|in an? (?:game|"
    r"match|race|contest|competition|argument|debate|election|fight)|to (?:the|do|be|work|learn|try|take|succeed|"
    r"improve|grow|excel)|an? (?:e-?mail|text|message|note|line|dm|question|meal|cake|dinner)|for (?:dinner|lunch)|"
    r"with (?:kindness|laughter|love|questions)|on (?:camera|film|video)|from (?:the|a|my)|over dinner|out of|into|"
    r"off|towards?|around|away|too hard|dinner|lunch|breakfast|food|some)\b)"
)
# Too common in play and in talk to be meant of just anybody.
_AT_HOME = (
    r"(?:my|your|his|her|their|a|the) (?:\w+ )?(?:wife|husband|girlfriend|boyfriend|spouse|child|children|kids?|"
    r"m[ou]m|mother|baby|daughter|son|dog|woman|students?|prisoners?|suspects?|servants?)\b(?! (?:at|in|to)\b)(?!')"
)
_CRIME = (
    "murder|violent assault|sexual assault|assault|arson|genocide|robbery|robberies|burglary|burglaries|kidnapping|"
    "massacre|terror attack|terrorist attack|acid attack|knife attack|suicide attack|gas attack|chemical attack|bomb "
    "attack|shooting|mass shooting|fraud|perjury|treason|theft|heist|rape|crime|bombing|assassination|"
    "manslaughter|infanticide|homicide|patricide|terrorism|violence|blackmail|extortion|embezzlement|forgery|"
    "espionage|abduction|human trafficking|sex trafficking|drug trafficking|child trafficking|organ trafficking|"
    "vandalism|larceny|incest|lynching|bomb threat|ethnic cleansing|piracy|sabotage|tax evasion|insider trading|"
    "slavery|torture|felony|felonies|animal cruelty|child abuse|bribery|necrophilia|bestiality|pedophilia|"
    "paedophilia|shooting spree|stabbing|carjacking|coup"
)

_LIVING = (
    r"(?:an?|the|my|your|another|some|live|living|dead) (?:(?!gingerbread|snow|straw|stick|iron|toy|cardboard|paper|"
    r"plastic|wooden|robot)[\w-]+ ){0,2}?(?:humans?|person|bab(?:y|ies)|child|toddler|infant|newborn|man|woman|girl|"
    r"boy|corpse|teenager|neighbou?r|stranger|witness|guard|cop|policeman|politician|colleague|classmate)\b(?!'| "
    r"(?:dinner|lunch|a|some|breakfast|food|size|model))"
)
_HURT = (
    r"up|down|unconscious|alive|on fire|ablaze|to death|in the (?:head|face|back|neck|throat|stomach|chest|heart|"
    r"groin)|off an?|off the|out a window|in front of|disappear|suffer|bleed|against (?:their|his|"
    r"her) will|over the head"
)

VIOLENCE = (
    doing(
        _RULE,
        "cook|fry|roast|grill|eat|carve|carve up|slice|slice up|chop|chop up|cut up|squash|stomp on|flatten|smash|"
        "shred|blend|pierce|club|whack|clobber|devour|finish off|take out|terminate|stomp|trample|"
        "scald|bite|hammer|axe|saw|stamp on|dump|boil|bake|barbecue|pulverize|exterminate|destroy|ruin the "
        "life of",
        _LIVING,
    ),
    doing(
        _RULE,
        "knock|beat|push|throw|burn|bury|lock|tie|make|hit|set|shove|kick|bash|whack|toss|hang|chain|punch|slam",
        rf"{PERSON} (?:{_HURT})\b(?! (?:to|for|on|in|less|with the|at night|late|happy|the|a little))",
        words="unconscious alive fire ablaze death head face neck throat stomach chest heart groin disappear "
        "suffer bleed window front knock knocking beat beating push pushing throw throwing tie "
        "tying shove slam hang",
    ),
    saying(
        _RULE,
        "life lives permanently forever wakes wake breathing breathe existing",
        rf"\b(?:end|take|terminate)(?:ing)? (?:{OWNER} |a |another )(?:\w+ )?li(?:fe|ves)\b(?! (?:insurance|story|"
        rf"advice|lesson))|\bget(?:ting)? rid of {PERSON} (?:for good|permanently|forever)\b|\b(?:make|making) (?:sure "
        rf")?{PERSON} (?:never wakes? up|stops? breathing)",
        framed=True,
    ),
    saying(
        _RULE,
        "drive driving ram ramming crash crashing plow plough steer steering run running",
        r"\b(?:drive|ram|crash|plow|plough|run|steer)(?:ing)? (?:[\w'-]+ ){0,4}into (?:an? |the )?(?:crowds?|people|"
        r"pedestrians|group of people|parade)\b(?!')",
        framed=True,
    ),
    saying(
        _RULE,
        "sick ill sleep die unconscious asleep pass",
        r"\bput in(?:to)? (?:his|her|their|my \w+'s|someone's) (?:food|drinks?|coffee|tea)\b[^.?!]{0,30}\b(?:sick|"
        r"ill|sleep|die|unconscious|pass out|asleep)\b",
    ),
    saying(
        _RULE,
        "hitman hitmen killing assassin arsonist",
        r"\b(?:hire|find|pay|become|get)(?:ing)? (?:\w+ ){0,2}(?:hit ?m[ae]n|assassins?|arsonist|contract killer)\b",
        framed=True,
    ),
    saying(
        _RULE,
        "sex sleep sleeping flirt flirting hook drunk lure luring",
        r"\b(?:sleep|have sex|sex|flirt|hook up)(?:ing)? with (?:an? |my )?(?:\w+ )?(?:minors?|child|children|"
        r"underage \w+|(?:\d+|\w+teen)[- ]year[- ]old|kids?|animals?|corpses?|dead \w+|step\w+|student)\b|\bsex "
        r"(?:[\w'-]+ ){0,4}against (?:their|her|his) will\b|\bget(?:ting)? (?:an? )?(?:girls?|women|woman|someone) "
        r"drunk (?:enough|so|to)\b|\blur(?:e|ing) (?:an? )?(?:child\w*|kids?|girls?|boys?)\b",
        framed=True,
    ),
    saying(
        _RULE,
        "riot riots cult coup war overthrow isis qaeda taliban kkk cartel gang militia terrorist terrorists dealer "
        "killer pimp trafficker hitman extremist jihad insurrection revolt",
        r"\b(?:start|incite|cause|provoke|plan|lead|stage)(?:ing)? (?:an? )?(?:\w+ )?(?:riots?|cult|coup|(?:civil|"
        r"race|gang|nuclear|holy) war|insurrection|armed revolt)\b(?! (?:following|podcast|book|blog|museum|"
        r"re-?enact|classic|club|discussion|project))|\boverthrow(?:ing)? (?:the|a|my) (?:\w+ )?(?:government|"
        r"president|state|democracy)\b|\bjoin(?:ing)? (?:an? |the )?(?:\w+ )?(?:isis|al[ -]qaeda|taliban|kkk|cartel|"
        r"(?:street |criminal )?gang|terrorist \w+|neo-?nazis?)\b(?! (?:re-?enact))|\bbecom(?:e|ing) an? (?:\w+ "
        r")?(?:terrorist|(?:drug|arms) dealer|(?:serial|contract|mass) (?:killer|murderer)|pimp|(?:human|drug) "
        r"trafficker|hitman|extremist|con artist|suicide bomber)\b",
        framed=True,
    ),
    saying(
        _RULE,
        "shooting murder robbery attack bombing assassination massacre heist kidnapping burglary killing spree",
        r"\b(?:guns?|weapons?|kni(?:fe|ves)|poisons?|rifles?|tools?|places?|times?|methods?) (?:for|to use in|to use "
        r"for) (?:an? )?(?:(?!photo|film|video)\w+ )?(?:(?:mass |school )?shooting|murder|robbery|(?:terror(?:ist)? |"
        r"knife )?attack|bombing|assassination|massacre|heist|kidnapping|burglary|killing spree)\b(?! (?:mystery|"
        r"novel|scene))",
    ),
    saying(
        _RULE,
        "throat throats skull",
        r"\bslit(?:ting)? (?:an?|the|some) throats?\b|\bcrack(?:ing)? (?:an?|some) (?:human )?skulls?\b",
        framed=True,
    ),
    doing(
        _RULE,
        "kidnap|assassinate|rape|molest|abduct|lynch|behead|decapitate|blackmail|extort|gang-rape|carjack|drug and "
        "rape",
        r"(?:an?|the|my|our|his|her|some|someone's|another|this) \w+",
    ),
    doing(_RULE, "hold|keep|take", rf"{PERSON} (?:hostage|captive|prisoner)\b", words="hostage captive prisoner"),
    doing(
        _RULE,
        "bring down|shoot down",
        r"(?:an?|the) (?:\w+ )?(?:planes?|aircraft|airliner|helicopter|bridge|tower|skyscraper|building|jet|"
        r"satellite)\b",
    ),
    doing(
        _RULE,
        "explode|blow up|flatten|raze|hijack|derail",
        rf"(?:an?|the|my neighbou?r's|someone's) (?:[\w'-]+ ){{0,2}}?(?:{PLACE}|skyscrapers?|tower|dam|ship|jet|"
        rf"helicopter|ferry)\b",
    ),
    doing(
        _RULE,
        "sell|buy|trade|purchase",
        r"(?:an? |my |some |your |young )?(?:\w+ )?(?:child(?:ren)?|bab(?:y|ies)|humans?|human (?:organs?|beings?|"
        r"flesh)|kidneys?|organs|slaves?|sex slaves?|girls|women|people|wife|daughter)\b(?!'| (?:clothes|food|toys|"
        r"products|books|seats?|shoes|stuff|beds?|a|an|on|some|the|things|dresses|gifts?|monitors?|strollers?|hair|"
        r"resources))",
    ),
    doing(_RULE, _KILL, PERSON + _NOT_MEANT),
    doing(_RULE, "beat|hit|spank|smack|punish physically|get away with hitting", _AT_HOME),
    doing(_RULE, "plan an attack on|carry out an attack on|cause harm to|do harm to", PERSON, words="attack harm"),
    doing(
        _RULE,
        "break|break open|crush|smash|crack|crack open|snap|rip|rip off|rip out|cut|cut off|chop off|cut out|slit|"
        "hammer|bash|bash in|gouge out|tear off|tear out|stab|slice|sever|slash|twist|cave in|dissolve|shatter|burn|"
        "fracture|pierce|remove|saw off|peel off|pull out|puncture|stomp on|squash|drill into|blow off|spear|poke "
        "out|impale",
        rf"{OWNER}(?: \w+){{0,2}}? (?:{BODY})\b",
    ),
    saying(
        _RULE,
        "break breaking crush crack snap",
        rf"\b(?:to|and) (?:break|crush|crack|snap|smash) (?:their|his|her) (?:{BODY})\b",
        framed=True,
    ),
    doing(
        _RULE,
        "poison|spike|drug|lace|tamper with|cut|sabotage|contaminate",
        rf"{OWNER}(?: \w+){{0,2}}? (?:coffee|drinks?|food|water|tea|meals?|wine|beer|brakes?|car|well|medication|"
        rf"medicine)\b",
    ),
    making(
        _RULE,
        "commit|carry out|plan|perpetrate|orchestrate|stage|get away with|organize|organise|set up|start|run|execute|"
        "conduct|instigate|incite|perform|pull off|cover up|attempt|participate in|engage in|encourage|provoke",
        _CRIME,
        but="|myster\\w+|film|video|campaign|protest|walk|scene|novel|trip|response",
        wanting=False,
    ),
    doing(
        _RULE,
        "hide|dispose of|get rid of|dissolve|bury|dump|conceal|chop up|cut up|dismember|eat|move|burn|destroy",
        r"(?:a|the|my|his|her|their|your|someone's) (?:\w+ )?(?:(?:dead|human|victim's) (?:bod(?:y|ies)|remains|"
        r"bab(?:y|ies)|corpse|wife|husband|child|person|flesh)|bod(?:y|ies)|corpses?|murder weapon)\b"
        r"(?! (?:fat|hair|odou?r|shape|spray|text|of|html|image|weight|scan|heat|lotion|wash|part|language))",
    ),
    doing(
        _RULE,
        "blow up|bomb|burn down|burn|set fire to|shoot up|sabotage|derail|vandalize|vandalise|firebomb|torch|crash|"
        "contaminate|hijack|nuke|poison|wipe out|attack|annihilate|blast|gas",
        rf"(?:an?|the|my|your|his|her|our|someone's|another|public|this|entire) (?:(?!own|market|career)[\w'-]+ "
        rf"){{0,2}}?(?:{PLACE})\b(?! (?:website|site|server|culture|market|music|scene|in a few|show|stereotyp))",
    ),
    doing(
        _RULE,
        "set|make|cause|get",
        rf"(?:an?|the|my|someone's|another) (?:[\w'-]+ ){{0,2}}?(?:{PLACE}|person|someone|people) (?:on fire|explode|"
        r"ablaze|alight|to explode|blow up|crash|collapse)\b",
        words="fire explode ablaze alight blow crash collapse",
    ),
    saying(_RULE, "fire ablaze", r"\bset(?:ting)? (?:someone|people|a person) (?:on fire|ablaze)\b", framed=True),
    doing(
        _RULE,
        "torture|abuse|mistreat|poison|hurt|harm|starve|drown|injure|maim|strangle|neglect|skin alive|blow up|beat|"
        "burn",
        rf"(?:(?:an?|the|my|some|any|someone's|stray|wild|{OWNER}) )?(?:stray )?(?:{ANIMAL})\b(?! (?:at|in pain))",
    ),
    doing(
        _RULE,
        "poach|smuggle|trade|hunt|capture|kill|sell|shoot|trap|disable",
        rf"(?:(?:an?|the|some|any) )?(?:(?:endangered|protected|threatened|exotic) (?:\w+ )?(?:{ANIMAL})|animal parts|"
        rf"animals? (?:for illegal|for a trophy|undetected)|{OWNER} (?:dogs?|cats?|pets?))\b",
    ),
    saying(
        _RULE,
        "victim victims target",
        r"\b(?:choose|select|pick|find|identify|approach|lure|isolate|subdue|restrain|stalk|grab|overpower|study|"
        r"abduct|kidnap|strangle|stab|poison|assault|suffocate|ambush|kill|catch)(?:ing)? (?:your|the|a|potential) "
        r"(?:\w+ )?victims?(?:'s)?\b(?! (?:support|services|advoca|impact|needs))|\b(?:abduct|kidnap|strangle|stab|"
        r"poison|assault|overpower|suffocate|restrain|ambush|kill|murder)(?:ing)? (?:your|the) target\b",
        framed=True,
        ordering=True,
    ),
    saying(
        _RULE,
        "kidnap kill murder steal rob shoot attack poison destroy stab assault harm hurt abduct bomb torture "
        "blackmail harass burn betray wipe blow fire break eliminate strangle rape stalk",
        r"\b(?:person|people|targets?|individual|victim|politician|house|car|item|place|village|building|one|hospital|"
        r"school|bank|model|family members?) (?:that |who )?(?:you|i)(?:'d|'re| are)? (?:want|wish|would like|like|"
        r"intend|plan|going) to (?:kidnap|kill|murder|steal|rob|shoot|attack|poison|destroy|stab|assault|harm|hurt|"
        r"abduct|bomb|torture|blackmail|harass|burn|betray|wipe out|blow up|set on fire|break into|eliminate|"
        r"strangle|rape|stalk)\b",
    ),
)
