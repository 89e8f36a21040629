"""Violence by what is used or where it ends: thrown, injected, pushed, locked in, smashed."""

from __future__ import annotations

from evenhand.guards._safety._acts import doing, saying
from evenhand.guards._safety._words import GROUP, OWNER, PERSON

_RULE = "dangerous_instructions"
_THROWN = (
    "acid|guns?|rifles?|pistols?|shots?|rocks?|stones?|bricks?|kni(?:fe|ves)|arrows?|bottles?|grenades?|bombs?|"
    "molotovs?|weapons?|petrol bombs?|bullets?|lasers?|boiling water|hot oil"
)
_BELONGINGS = (
    "tires|tyres|car|windows?|property|house|phone|laptop|garden|stuff|belongings|clothes|reputation|bike|truck|"
    "mailbox|fence|home|van"
)

FORCE = (
    saying(
        _RULE,
        "throw throwing fire firing shoot shooting hurl aim point drop dropping pour pouring launch spray",
        rf"\b(?:throw|fir|shoot|hurl|aim|point|drop|pour|launch|spray)(?:e|ing)? (?:(?:an? |some |my |the )?(?:\w+ "
        rf")?(?:{_THROWN}) )?(?:at|on|onto|over) (?:{PERSON}|(?:moving |passing )?(?:cars|traffic|planes)\b|{OWNER} "
        rf"(?:heads?|face|house|car)\b)",
        framed=True,
    ),
    doing(
        _RULE,
        "give|inject|infect|put|feed|force|hold|trick",
        rf"{PERSON} (?:an? (?:heart attack|stroke|overdose|concussion|seizure)|hiv|aids|cancer|brain damage|food "
        rf"poisoning|with (?:air|bleach|poison|"
        r"hiv|aids|an? (?:\w+ )?(?:disease|virus)|drugs|insulin|heroin)|(?:in|into) an? coma|at (?:gun|knife) ?point|"
        r"under ?water|poison|laxatives|(?:to|into) (?:drink|eat|swallow|inject|undress|strip|have sex|marry|work "
        r"for free|confess|drinking|eating|undressing|stripping|marrying))\b",
        words="attack stroke overdose concussion seizure hiv aids cancer damage poisoning bleach poison disease "
        "virus drugs insulin heroin air coma gunpoint knifepoint underwater laxatives drink swallow inject undress "
        "strip sex marry confess undressing stripping marrying gun knife",
    ),
    doing(
        _RULE,
        "push|trip|shove|throw|drop|kick|lock|chain|leave|abandon|drag|lure|trap",
        rf"(?:{PERSON}) (?:\w+ )?(?:down|off|under|in front of|out of|into|in|from) (?:an?|the|my) (?:\w+ "
        rf")?(?:stairs|staircase|bridge|train|bus|traffic|"
        r"window|cliff|balcony|roof|building|basement|closet|cage|cellar|trunk|attic|hot car|car|van|well|woods|"
        r"forest|alley|dumpster)\b(?! (?:seat|wash|safely))",
    ),
    doing(_RULE, "trip|abandon|traumatize|traumatise|terrify|neglect|scar|disfigure|infect", PERSON),
    doing(
        _RULE,
        "slash|smash|wreck|destroy|torch|damage|break|scratch|burn|trash|steal|vandalize|vandalise|egg|bug",
        rf"(?:{OWNER}|an? police|an? stranger's) (?:\w+ )?(?:{_BELONGINGS})\b(?<!my family house)",
    ),
    saying(
        _RULE,
        "eye eyes neck throat skull spine jugular artery flesh meat pulp senseless death",
        r"\b(?:gouge out|snap|slit|crush|rip out|slice|sever|cut)(?:ing|ting)? (?:an?|the|some) (?:human |man's |"
        r"person's )?(?:eyes?|neck|throat|skull|"
        rf"spine|jugular|windpipe)\b|\beat(?:ing)? human (?:flesh|meat|brains?)\b|\bbeat(?:ing)? {PERSON} (?:up|to "
        rf"(?:a pulp|death)|senseless)\b",
        framed=True,
    ),
    saying(
        _RULE,
        "rob burgle kidnap murder rape shoplift stab stalk molest mug",
        r"\b(?:best|easiest|good|perfect|ideal|safest) (?:\w+ ){0,3}to (?:rob|burgle|kidnap|murder|rape|shoplift "
        r"from|stab|stalk|molest|mug)\b|\b(?:easiest|easy|easier) to (?:rob|burgle|kidnap|murder|rape|shoplift from|"
        r"molest|mug)\b",
    ),
    saying(
        _RULE,
        "poison poisons toxin toxins",
        r"\b(?:poisons?|toxins?)\b[^.?!]{0,30}\b(?:no trace|hard(?:est)? to (?:detect|trace)|undetectable|"
        r"untraceable|(?:can ?not|can't) be (?:detected|traced))|\b(?:undetectable|untraceable) (?:poisons?|toxins?)\b",
    ),
    doing(
        _RULE,
        "exterminate|wipe out|destroy|annihilate|eradicate|enslave|get rid of|eliminate|kill off|cleanse the country "
        "of",
        rf"(?:(?:an?|the|all|every|our|my|all the) )?(?:(?:entire|whole) )?(?:humanity|mankind|human (?:race|"
        rf"species)|ethnic (?:group|minority)|minorities|villages?|tribes?|nations?|{GROUP})\b(?!'| (?:in the game|"
        rf"stereotypes|from))",
    ),
    saying(
        _RULE,
        "power electricity oxygen",
        r"\b(?:cut|shut|turn|knock)(?:ting|ing)? (?:off|out) (?:the )?(?:power|electricity|water|oxygen)(?: supply)? "
        r"(?:to|of|in|at) (?:an?|the|my) (?:\w+ )?(?:hospital|city|town|school|airport|prison|neighbou?r\w*|country|"
        r"patient)\b",
        framed=True,
    ),
    saying(
        _RULE,
        "spike spiking drugs gunpoint coke",
        r"\bspik(?:e|ing) (?:an?|the|some) (?:\w+ )?(?:drinks?|punch)\b|\b(?:sneak|smuggl|hid|tak|bring)(?:e|ing)? "
        r"(?:[\w-]+ ){0,2}drugs (?:into|in|onto|past|through|from) (?:an?|the|my|school|prison|customs)\b|\b(?:snort|"
        r"deal|sell)(?:ing)? coke\b(?! (?:bottles?|cans?|products?))",
        framed=True,
    ),
)
