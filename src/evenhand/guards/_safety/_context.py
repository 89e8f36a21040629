"""What stands around a matched act: a frame that asks for it or gives it, or a reason to let it pass."""

from __future__ import annotations

import re

_WHO = "(?:i|you|we|one|someone|somebody|anyone|people|a person)"
_WAY = (
    "ways?|methods?|strateg(?:y|ies)|techniques?|tricks?|tips?|steps?|process|procedure|instructions?|directions|"
    "guides?|guidance|recipes?|tutorials?|manuals?|plans?|advice|ideas?|tools?|place|time|weapons?|spots?|rundown|"
    "blueprints?|walkthrough|approach|tactics?|reasons?|suggestions?|secret|trick|key|scheme|poisons?|items?|"
    "information|kni(?:fe|ves)|guns?|chemicals?|drugs?|substances?|objects?|websites?|apps?|stores?|rooms?"
)
_MANNER = r"(?: (?:\w+ly|best|just|also|then|go about|start|begin|actually|try to|even|be|get away with|and \w+))"
# Each ends where the act begins.
_ASKS = (
    rf"how (?:do|can|could|should|would|might|may|must|will) {_WHO}(?: [\w-]+){{0,3}}",
    r"how to(?: [\w-]+){0,3}",
    rf"(?:{_WAY})(?: {_WHO} (?:can|could|should|need to|take to|must))?(?: (?:to|of|for|on|in|about)){_MANNER}{{0,2}}",
    r"you(?:'ll| will)? need (?:[\w'-]+ ){1,6}to",
    rf"(?:what|which) (?:[\w']+ ){{0,4}}(?:should|do|can|could|must|would) {_WHO} (?:need|do|take|use|have to)(?: "
    rf"[\w-]+){{0,4}}",
    r"(?:what|which) (?:[\w']+ ){0,4}(?:is|are|would be|works?)(?: the)?(?: \w+)? (?:best|good|used|effective|"
    r"suitable) (?:to|for)",
    rf"(?:where|when) (?:do|can|could|should|would|might|to)(?: {_WHO})?(?: [\w-]+){{0,3}}",
    r"(?:help|teach|show|tell|guide|advise|train|assist) (?:me|us|you)(?: [\w'-]+){0,5}",
    r"(?:can|could|would|will) you(?: please)?(?: (?:help|just))?",
    r"(?:is it possible|any chance|what does it take|what (?:do|would) i need|(?:it's|it is) (?:easy|best|possible)) "
    r"to",
    r"(?:give|send|write|provide|generate|create|make|draft|list|show) (?:me |us )?(?:[\w-]+ ){1,6}(?:to|for|on|of|"
    r"that|which)(?: \w+ly)?",
    r"you (?:should|must|(?:will |'ll )?(?:need|have) to|can (?:also |then |easily |simply |quickly |use \w+ to "
    r"))(?: \w+ly)?",
    r"in order to",
    r"how (?:long|much|many|hard|easy|deep|far)(?: [\w-]+){0,6} to(?: \w+ly)?",
)
_ASKED = re.compile(rf"\b(?:{'|'.join(_ASKS)}) ?[\"']?$")
_WANTED = re.compile(
    r"\bi(?:'d|'m| am| would| really| just)* (?:want|wanna|need|like|love|plan(?:ning)?|going|gonna|trying|about|"
    r"intend|decided)(?: to)?(?: \w+)? ?$"
)
_FOLLOWED = re.compile(
    r"^[^.!]{0,40}\b(?:how|what|where|which)\b(?! (?:should|can) i do)(?![^.]{0,60}\b(?:stop|wrong|not|avoid|help|"
    r"cope|feel)\b)"
)
_OPENS = re.compile(
    r"^(?:\W|\d|\b(?:step|please|now|first|firstly|then|next|finally|just|simply|so|hi|hello|hey|ok|okay|and|also|go|"
    r"pls|ai)\b){0,12}$"
)
_LISTED = re.compile(
    r"^\W{0,4}(?:step \d{1,2}|\d{1,2}[.):]|[-*•])\W{0,4}(?:[\w/]+(?: [\w/]+){0,4} ?:\W{0,4})?(?:then |now |next,? )?$"
)
_TO = re.compile(r"\bto (?:\w+ ){0,2}$")
_THEN = re.compile(
    r"^[^.!?]{0,90}?(?:[,:] ?| )(?:you(?:'ll|'d)? (?:\w+ )?(?:need|must|should|can|could|may|will|would|have)\b|"
    r"first\b|start (?:by|with)|begin (?:by|with)|follow (?:these|the)|there are (?:\w+ )?(?:steps|ways|things|"
    r"methods|several)|simply\b|here (?:are|is)|just\b|(?:is|are) (?:to|with|by)\b|is as follows)"
)
_INVOLVES = re.compile(r"^[^.!?,]{0,60} (?:involves|requires|takes) (?:\w+ ){0,3}(?:steps|stages|planning)")
_GIVES = re.compile(
    r"\b(?:here(?:'s| is| are)|step (?:\d|one)|first,|(?<!if )you(?:'ll| will| would)? need (?!help|support|to talk)|"
    r"follow these|start by)"
)

_HELP = (
    "help|assist|provide|give|offer|support|condone|recommend|encourage|advise|suggest|answer|fulfill?|comply|do "
    "that|tell|share|discuss|generate|create|engage|participate|teach|explain|write|make|promote|endorse|advocate|"
    "respond|guide|aid|facilitate|entertain|show|allow(?:ed)?|instruct|speak|talk|produce|list|go into|know|have "
    "(?:access|information)|say|within my"
)
_NOT = (
    r"(?:can ?not|can ?n?'?t|cant|ca n't|could ?n'?t|could not|wo ?n'?t|will not|would ?n'?t|would not|do not|do "
    r"?n'?t|does ?n'?t|does not|must not|should ?n'?t|should not|may not|not|never|unable|no)"
)
_REFUSED = re.compile(
    rf"\b{_NOT} (?:be )?(?:\w+ ){{0,4}}?(?:{_HELP})\b"
    r"|\b(?:i'm|i am|we're|we are) (?:\w+ )?(?:sorry|afraid|unable|not (?:able|comfortable|going|programmed|designed|"
    r"capable|here))\b|\b(?:sorry|apologi[sz]e|apologies),? (?:but|for|that)\b"
    r"|\bi (?:\w+ )?(?:refuse|decline|discourage|urge|condemn)\b|\b(?:strongly|highly) (?:advise|discourage|urge|"
    r"recommend against)\b|\bas an? (?:\w+ ){0,3}(?:ai|language model|assistant)\b|\bjust an ai\b"
    r"|\bnot (?:\w+ ){0,3}(?:appropriate|acceptable|okay|ok|ethical|legal|advisable|recommended|right|possible|"
    r"permitted|allowed)\b|\bthere(?:'s| is| are|'re) no\b"
)
_WRONG = (
    "illegal|unethical|immoral|wrong|a (?:\\w+ )?crime|against the law|unlawful|dangerous|harmful|unacceptable|"
    "inappropriate|reprehensible|criminal|punishable|forbidden|prohibited|unsafe|abhorrent|morally"
)
_CONDEMNED = re.compile(
    rf"\b(?:is|are|be|it's|being|both|and|considered|as) (?:\w+ ){{0,3}}?(?:{_WRONG})\b"
    r"|\bplease (?:do not|don't|seek|reach|contact|call|talk|consider|remember|note)\b|\bif you (?:or|know|suspect|"
    r"witness)\b|\bif you(?:'re| are| have| feel)? (?:\w+ ){0,2}(?:considering|thinking|feeling|struggling|"
    r"experiencing|having|tempted|planning|thoughts|need|looking|want)\b|\b(?:legal(?:ly)?|legitimate(?:ly)?|law "
    r"enforcement can|authorities)\b|\b(?:instead of|rather than|warning|caution|seek (?:\w+ )?help|therapist|"
    r"counsell?or|hotline|helpline|lifeline|report (?:it|this|them))\b"
)
# In front of the act: it is to be hindered, undone, understood or judged, not done.
_HINDERED = re.compile(
    r"\b(?:prevent\w*|avoid\w*|stop\w*|quit|detect\w*|protect\w*|defend|defen[cs]e|secure|safeguard|deter|resist|"
    r"recogni[sz]e|spot|report|survive|escape|recover\w*|combat|fight|counter|mitigate|treat|help (?:someone|a|"
    r"people|him|her|them)|catch|punish|prosecute|investigate|save|rescue|against|from|tell if|know if|know whether|"
    r"cope|deal with|overcome|accused|reduce|discourage|not|never|\w+n't|without|instead of|minimi[sz]e|legally|"
    r"ethically|humanely|if someone|if i was|being|get over|handle|respond|react|forgive|beware|watch out|wary|"
    r"risks?|dangers?|illegal|unethical|wrong|penalt(?:y|ies)|punishment|sentence|laws?|consequences?|difference|"
    r"definition|define|meaning|mean|history|why do people|people (?:think|believe|say|claim)|accidentally|pretend|"
    r"feel like|dream\w*|trying to (?:scam|kill|hack)|threaten\w* to|no|nor|urge not)\b(?!-)[^.!?]{0,80}$"
)
# What a crime is, not how it is done.
_DEFINED = re.compile(
    r"^\W{0,4}(?:an? )?(?:\w+ )?(?:phishing|malware|ransomware|spyware|keylogg(?:ing|ers?)|hacking|social "
    r"engineering|spoofing|skimming|fraud|(?:identity )?theft|money laundering|trojans?|virus(?:es)?|worms?|botnets?|"
    r"blackmail|terrorism|genocide|poisoning|murder|robbery|burglary|arson|doxx?ing|trafficking|embezzlement|"
    r"stalking|grooming|scams?|piracy) (?:is|are|refers|means|can|could|involves|occurs|happens|attacks? (?:is|are|"
    r"can))\b"
)
# History, and what other people did.
_TOLD = re.compile(
    r"\b(?:did|was(?! wondering)|were|had|has|have (?:been|you)|who|he|she|they|historically|according to|scientists|"
    r"police|allegedly|reportedly|convicted|arrested|charged with|suspect(?:ed)?|trial|hackers|attackers|criminals|"
    r"scammers|thieves)\b"
)
_MADE_UP = re.compile(
    r"\b(?:novels?|stor(?:y|ies)|fiction(?:al)?|fantasy|movies?|films?|screenplays?|(?:the|a|my|movie|story) plot|"
    r"plot (?:for|of|in|twist)|scenes?|characters?|protagonists?|villains?|hero(?:es)?|comics?|cartoons?|anime|manga|"
    r"episodes?|theat(?:er|re)|songs?|lyrics|poems?|jokes?|riddles?|(?:video|board|computer|card|role-?playing)? "
    r"?games?|gaming|gamers?|gameplay|minecraft|fortnite|skyrim|gta|grand theft auto|roblox|call of duty|dark souls|"
    r"elden ring|zelda|pok[eé]mon|sims|among us|counter-?strike|halo|valorant|league of legends|world of warcraft|"
    r"overwatch|bitlife|valheim|terraria|palworld|stardew|animal crossing|clash of clans|starcraft|age of empires|"
    r"civilization|civ|crusader kings|ck3|rimworld|last of us|resident evil|witcher|baldur's gate|bg3|payday|sekiro|"
    r"bloodborne|destiny 2|apex legends|pubg|warzone|csgo|cs2|tarkov|dayz|oblivion|morrowind|starfield|far cry|"
    r"uncharted|god of war|mortal kombat|tekken|street fighter|smash bros|mario|yakuza|dishonored|bioshock|half-life|"
    r"xcom|total war|warhammer|hearthstone|diablo|runescape|genshin|breaking bad|star wars|game of thrones|harry "
    r"potter|walking dead|batman|marvel|sherlock holmes|fallout|red dead|rdr2?|assassin's creed|cyberpunk|dnd|d&d|"
    r"dungeons?|rpgs?|fps|npcs?|mods?|quests?|boss fight|chess|poker|monopoly|tennis|boxing|judo|karate|mma|ufc|"
    r"wrestling|jiu-?jitsu|bjj|kickboxing|martial arts?|self-?defen[cs]e|sparring|paintball|laser tag|nerf|lego|"
    r"cosplay|halloween|costumes?|props?|school plays?|pi[nñ]atas?|simulat(?:or|ion)s?|role-?play(?:ing)?|dota|"
    r"virtual|zombies?|vampires?|dragons?|orcs?|goblins?|aliens?|camera|lens|portraits?|photograph\w*|low light|"
    r"aperture|metaphor\w*|figurative\w*)\b"
)
_AT_WORK = re.compile(
    r"\b(?:process(?:es)? (?:id|in linux)|threads?|daemons?|pids?|sig(?:kill|term)|child process(?:es)?|zombie "
    r"process(?:es)?|kubernetes|docker|cron|penetration test\w*|pentest\w*|ethical hack\w*|capture the flag|ctf|red "
    r"team|pharmaceuticals?|pharma|it support|remote desktop|with (?:his|her|their) consent)\b"
)
_SET_IN = re.compile(r"\b[a-z][\w'’]* in (?:the )?([A-Z][\w'’-]*)")
_TURN = re.compile(r" but |however,|;| though |, (?=(?:how|what|where|tell|give|show)\b)")
# After `in`, no name of a game or a film: times, places, languages.
_PLACES = (
    "I January February March April May June July August September October November December Monday Tuesday "
    "Wednesday Thursday Friday Saturday Sunday America Europe Asia Africa Australia Canada England Britain Scotland "
    "Ireland France Germany Italy Spain Russia China Japan India Mexico Brazil London Paris Berlin Moscow Beijing "
    "Tokyo Chicago Boston Texas California Florida New Los San Washington Nevada Ohio Arizona Toronto Sydney Dubai "
    "Israel Iran Iraq Ukraine Poland US USA UK EU DC NYC Python Java English Chinese Spanish French German PHP Rust "
    "Bash JavaScript Windows Linux Android PowerShell C"
)
_REAL = frozenset(_PLACES.split())


def asked_or_given(head: str, tail: str, *, wanting: bool, ordering: bool) -> bool:
    """Whether the words before and after an act ask for a way to do it, or give one."""
    return bool(
        _ASKED.search(head)
        or _LISTED.search(head)
        or (ordering and _OPENS.search(head))
        or (_WANTED.search(head) and (wanting or _FOLLOWED.search(tail)))
        or (_TO.search(head) and _THEN.search(tail))
        or (_OPENS.search(head) and _INVOLVES.search(tail))
    )


def passes(head: str, act: str, tail: str, original: str) -> bool:
    """Whether the sentence itself refuses, hinders, condemns, tells or makes up what it names."""
    sentence = head + act + tail
    clause = _clause(head)
    if any(reason.search(clause) for reason in (_HINDERED, _REFUSED, _TOLD, _DEFINED)):
        return True
    if _MADE_UP.search(sentence) or _AT_WORK.search(sentence) or _set_elsewhere(original):
        return True
    return not _GIVES.search(sentence) and bool(_REFUSED.search(tail) or _CONDEMNED.search(sentence))


def _clause(head: str) -> str:
    """The words before the act since the sentence last turned: a refusal before a `but` does not reach past it."""
    return head[max((turn.end() for turn in _TURN.finditer(head)), default=0) :]


def _set_elsewhere(original: str) -> bool:
    """Whether the sentence is set in something with a name that is no known place: most often a game or a film."""
    return any(name not in _REAL for name in _SET_IN.findall(original))
