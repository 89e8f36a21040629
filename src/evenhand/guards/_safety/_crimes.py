"""Acts against property and the law: theft, fraud, forgery, drugs and smuggling."""

from __future__ import annotations

from evenhand.guards._safety._acts import doing, making, recipe, saying
from evenhand.guards._safety._words import DRUG, GOODS, LOCKED, OWNER, PERSON, SHOP

_RULE = "dangerous_instructions"
_ANY = r"(?:(?:the|a|an|some|my|your|his|her|their|any|this|that) )?(?:[\w'-]+ ){0,2}?"
_FALSE = "(?:dirty|fake|counterfeit|forged|stolen|false|illegal|fraudulent|phony|bogus|drug)"
_PAPER = (
    "money|cash|bills|currency|ids?|passports?|documents?|identit(?:y|ies)|licen[cs]es?|bank accounts?|bank ?notes?|"
    "goods|prescriptions?|diplomas?|degrees?|checks?|cheques?|invoices?|credit cards?|tickets|artifacts|vaccin\\w+ "
    "\\w+|signatures?|certificates?|evidence|receipts|legal documents?|doctor'?s? notes?|visas?|designer \\w+|"
    "medical records?"
)

# What is stolen on a stage, on a pitch or in a conversation.
_FIGURES = (
    "show|scene|bases?|hearts?|spotlight|thunder|ideas?|looks?|styles?|glances?|kiss|moments?|march|focus|deal|win|"
    "victory|points?|nap|attention|limelight|ball|possession|second|third|home plate|joy|sleep|breath|soul|future|"
    "time|peace|happiness|freedom|team|confidence|excuses|recipe|puck|headlines?|dignity"
)

CRIMES = (
    doing(
        _RULE,
        "steal|shoplift|swipe|loot|hotwire|hot-wire|rob|pilfer|carjack|burgle|burglarize|mug|pickpocket|snatch",
        rf"(?:from (?:an?|the|my|your|someone|people|{SHOP})\b|{PERSON}|(?:an?|some|any|every|my|your|someone's|"
        rf"another|the|(?:\w+ )?\w+'s) (?!(?:[\w-]+ ){{0,2}}(?:{_FIGURES})\b)[\w-]+|(?:{GOODS})\b)",
        wanting=True,
    ),
    saying(
        _RULE,
        "shoplift shoplifting pickpocket pockets",
        r"\b(?:(?:shoplift|pickpocket)(?:ing)?|pick(?:ing)? pockets)\b",
        framed=True,
    ),
    doing(
        _RULE,
        "break into|burgle|burglarize|sneak into|break in to|trespass on|pick the lock of",
        rf"(?:an?|the|any|someone's|somebody's|another|other people's|people's|{OWNER}) (?:[\w'-]+ "
        rf"){{0,2}}?(?:{LOCKED})s?\b"
        r"(?! (?:market|business|show|industry))(?<!my own house)(?<!my own car)",
        wanting=True,
    ),
    doing(
        _RULE,
        "make|create|get|buy|sell|obtain|open|use|launder|counterfeit|forge|print|pass|acquire|order|spend|plant|"
        "provide",
        rf"{_ANY}{_FALSE} (?:[\w'-]+ )?(?:{_PAPER})\b(?! (?:detector|detection))",
        words="dirty fake counterfeit forged stolen false illegal fraudulent phony bogus drug",
        wanting=True,
    ),
    doing(
        _RULE,
        "launder|counterfeit|forge|falsify|evade|dodge|avoid paying|cheat on|fabricate|tamper with|fake|embezzle|bribe|"
        "skim|clone|hide",
        rf"{_ANY}(?:{_PAPER}|my tax(?:es)?|tax(?:es)?|banknotes|drug tests?|votes|ballots|income|law enforcement|the "
        rf"police|"
        r"customs|(?:public |government )?officials?|police(?: officers?)?|judges?|digital signatures?|company funds|"
        r"funds|(?:money|assets|income) from (?:the )?(?:authorit|police|irs|tax)\w*)\b(?<!hide my ip)",
        wanting=True,
    ),
    making(
        _RULE,
        "make|cook|synthesize|synthesise|produce|manufacture|brew|extract|cultivate|grow|prepare|create|set up|build|"
        "mix|buy|sell|deal|get|obtain|acquire|purchase|order|smuggle|traffic|distribute|import|ship|find|score|abuse|"
        "inject|shoot up|snort|smoke|transport|push",
        DRUG,
        but="|prescri\\w+|pharmac\\w+|generic|addict\\w*|off|on|high|help|treat\\w*|clinical|approved|new|heart|"
        "diabetes",
    ),
    recipe(_RULE, DRUG),
    saying(
        _RULE,
        "lab labs ring cartel scheme schemes operation dogfight dogfights fights dogfighting sweatshop brothel",
        r"\b(?:set up|start|run|build|make|create|organi[sz]e|host|hold|operate|join|open|"
        r"train)\b[^.?!]{0,40}\b(?:(?:meth|drug|substances?|illegal) labs?|(?:drug|trafficking|prostitution|dog "
        r"?fighting|theft) rings?|drug cartel|(?:ponzi|pyramid) schemes?|(?:trafficking|scam|smuggling|drug) "
        r"operations?|dog ?fight(?:s|ing)?|illegal fights?|cock ?fights?|sweatshop|(?:illegal )?brothel)\b",
        framed=True,
        ordering=True,
    ),
    saying(
        _RULE,
        "illegally undetected black customs border borders",
        r"\b(?:hunt|trade|sell|buy|smuggle|capture|poach|download|import|cross|obtain|get|hire|dump|trap|own|enter|"
        r"keep|immigrate|transport|live|work|export)\b[^.?!]{0,50}\b(?:illegally|undetected|black market|(?:through|"
        r"past) customs|(?:across|over) (?:the )?borders?)\b|\billegally (?:sell|buy|trade|hunt|obtain|download|"
        r"import|dump|own|cross|stream|keep|get|enter|modify|export|copy)\b|\bblack[ -]market (?:websites?|sites|"
        r"dealers?|organs?|sellers?)\b",
        framed=True,
    ),
    doing(
        _RULE,
        "smuggle",
        r"(?:[\w'-]+ ){0,2}?(?:drugs|people|weapons|guns|goods|animals|pets|cigarettes|alcohol|phones?|migrants|gold|"
        r"immigrants|species|wildlife|contraband|ivory|artifacts|things|something|someone|anything)\b",
        wanting=True,
    ),
    saying(
        _RULE,
        "prescription licence license permit background id copyrighted pirated torrent drm",
        r"\b(?:buy|get|obtain|own|carry)\b[^.?!]{0,30}\b(?:drugs?|medications?|pills|opioids?|painkillers?|xanax|"
        r"adderall|guns?|firearms?|weapons?|ammunition|alcohol)\b[^.?!]{0,20}\bwithout (?:an? )?(?:\w+ "
        r")?(?:prescription|licen[cs]e|permit|background check|id)\b|\b(?:torrent|download|pirate|"
        r"stream)\b[^.?!]{0,20}\bcopyrighted\b|\btorrents? [^.?!]{0,20}copyrighted\b|\bpirated (?:copies|software|"
        r"movies|games|books|music)\b|\b(?:bypass|remove|crack) (?:\w+ ){0,2}drm\b",
        framed=True,
    ),
    saying(
        _RULE,
        "high drug",
        r"\b(?:inhal|sniff|huff|snort|us)(?:e|ed|ing)? (?:\w+ ){0,4}to get high\b|\bhid(?:e|ing) (?:\w+ ){0,3}drug "
        r"(?:use|abuse|addiction)\b|\b(?:pass|cheat|beat) (?:on )?an? drug test\b|\b(?:items|products|things|plants|"
        r"chemicals) (?:\w+ ){0,3}(?:used )?to get high\b",
    ),
    saying(
        _RULE,
        "caught detection traced",
        r"\b(?:kill|murder|steal|rob|cheat|poison|burn|hack|lie|shoot|smuggle|sell|"
        r"grope)(?:ing)?\b[^.?!]{0,40}\bwithout (?:getting|being) (?:caught|detected|traced)\b",
        framed=True,
    ),
)
