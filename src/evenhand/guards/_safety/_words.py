"""Classes of words the safety rules are built from: persons, bodies, places, goods, weapons, drugs, private matters.

The patterns are matched against small letters in which white space is one blank.
"""

from __future__ import annotations

_OF = "(?:my|your|his|her|their|our|a|an|the|this|that|some|another|every|all|any|these|those)"
_KIN = (
    "wife|husband|spouse|partner|ex|ex-? ?(?:wife|husband|boyfriend|girlfriend|partner)|girlfriend|boyfriend|mother|"
    "father|mom|mum|dad|parents?|brothers?|sisters?|siblings?|sons?|daughters?|grand(?:ma|pa|mother|father|parents|"
    "son|daughter|child)|uncles?|aunts?|cousins?|family|in-laws?|nephews?|nieces?|step-?(?:mother|father|mom|mum|dad|"
    "son|daughter|brother|sister|child)|fianc[eé]e?|lover|tinder date|date|crush"
)
_NEAR = (
    "neighbou?rs?|friends?|(?<!the )(?<!a )boss|managers?|co-?workers?|colleagues?|classmates?|roommates?|flatmates?|"
    "housemates?|teammates?|teachers?|students?|pupils?|professors?|landlords?|landlad(?:y|ies)|tenants?|enem(?:y|ies)|"
    "bull(?:y|ies)|rivals?|employees?|employers?|customers?|clients?|doctors?|nurses?|patients?|therapists?|cleaners?|"
    "nann(?:y|ies)|babysitters?|mentees?|mentors?|trainees?|interns?|apprentices?|tutors?|coach|lawyers?|accountants?|"
    "secretary|assistants?|gardeners?|plumbers?|electricians?|hairdressers?|barbers?|waiters?|waitress|bartenders?|"
    "driver|baker|postman|mailman|priests?|pastor|rabbi|imam|acquaintances?|guests?|supervisors?|team lead|builder|"
    "handyman|housekeeper|maid|chef|dentists?|surgeons?|pharmacists?|vet|caretaker|carer|physiotherapist|politicians?|"
    "presidents?|prime minister|senators?|mayors?|judges?|celebrit(?:y|ies)|journalists?|pope|cops?|witness(?:es)?|"
    "police ?(?:officers?|man|men|woman)|activists?|homeless"
)
_ANYONE = (
    "someone|somebody|anyone|anybody|everyone|everybody|persons?|people|humans?|human beings?|humanity|individuals?|"
    "strangers?|victims?|wom[ae]n|m[ae]n|child|children|kids?|bab(?:y|ies)|infants?|toddlers?|newborns?|teens?|"
    "teenagers?|minors?|boys?|girls?|guys?|lad(?:y|ies)|adults?|prostitutes?|immigrants?|refugees?|migrants?|jews?|"
    "muslims?|christians?|pedestrians?|passengers?|civilians?|bystanders?|hostages?|prisoners?|crowds?|tourists?|"
    "schoolchildren|politicians|cops|celebrities|journalists|strangers|pensioners?|protesters?|voters|others"
)
_LINK = "in|on|near|for|with|without|of|to|from|and|or|by|at|that|who|as|like|between|than|is|are"
_KIND = "innocent|many|more|young|old|elderly|other|black|white|gay|trans|jewish|muslim|poor|disabled|living|random"
_WHO = (
    rf"(?:{_OF} (?:(?!(?:{_LINK})\b)[\w-]+ ){{0,2}}?(?:{_KIN}|{_NEAR}|{_ANYONE})"
    rf"|(?:as many |(?:{_KIND}) )?(?:{_ANYONE}))"
)
# The same words at a computer, in a game or on a page mean no person; `'s` is about what the person has.
_NO_PERSON = (
    r"(?!'s?\b|[ -](?:process(?:es)?|threads?|tasks?|nodes?|jobs?|pids?|class|elements?|windows?|components?|accounts?|"
    r"directory|characters?|resources?|rights|error|friendly|fight|battle|level|avatar|sprite|npcs?|portraits?|photos?|"
    r"pictures?|videos?|skills|power|relations))"
)
PERSON = rf"{_WHO}\b{_NO_PERSON}"
OWNER = rf"{_WHO}(?:'s?|s'| of)?"
SELF = "(?:myself|yourself|urself|oneself)"
BODY = (
    "heads?|skulls?|necks?|throats?|arms?|legs?|knees?|kneecaps?|fingers?|hands?|foot|feet|toes?|ribs?|sternum|spine|"
    "bones?|jaw|nose|teeth|eyes?|face|brains?|skin|limbs?|wrists?|back|stomach|testicles|chest|collarbone|windpipe|"
    "genitals|ears?|tongue|guts|ankles?|shoulders?|fingernails|scalp|artery|arteries|veins?|heart out|lungs?|kidneys?"
)
GROUP = (
    "(?:(?:black|white|brown|gay|trans(?:gender)?|disabled|indigenous|jewish|muslim|old|older|elderly|poor|deaf|blind|"
    "asian|arab|homeless|non-binary|queer|native|foreign|autistic|mentally ill|obese|fat|asexual|bisexual|lesbian|"
    "romani|christian|hindu|buddhist|latin[oa]|african|chinese|mexican|indian|young) (?:people|persons?|men|women|"
    "folks?|children|kids|students|citizens|workers|couples)|women|men|immigrants|refugees|migrants|foreigners|jews|"
    "muslims|christians|hindus|sikhs|buddhists|gays|lesbians|blacks|whites|latinos|latinas|asians|arabs|mexicans|"
    "africans|homosexuals|minorities|girls|seniors|senior citizens|the (?:poor|elderly|disabled|homeless|deaf|blind)|"
    "atheists|catholics|a (?:woman|wife|black person|gay person|muslim|jew|disabled person)|wives|gypsies|wheelchair "
    "users|people (?:of colou?r|with (?:disabilities|autism|hiv|aids|mental illness)|in wheelchairs))"
)
ANIMAL = (
    "dogs?|cats?|animals?|pets?|pupp(?:y|ies)|kittens?|horses?|elephants?|rhinos?|tigers?|species|animal species|"
    "wildlife|birds|dolphins?|turtles?|parrots?"
)

PLACE = (
    "hospitals?|schools?|kindergartens?|universit(?:y|ies)|campus|church(?:es)?|mosques?|synagogues?|temples?|"
    "buildings?|houses?|homes?|apartments?|flats?|bridges?|trains?|planes?|airplanes?|aircraft|subways?|bus(?:es)?|"
    "airports?|stations?|stadiums?|malls?|villages?|towns?|cit(?:y|ies)|countr(?:y|ies)|embass(?:y|ies)|parliament|"
    "capitol|government|power (?:grid|plant|station)s?|dams?|pipelines?|infrastructure|railways?|offices?|monuments?|"
    "water supply|nightclubs?|clubs?|restaurants?|shops?|stores?|orphanages?|prisons?|courthouses?|cars?|vehicles?|"
    "populations?|forests?|banks?|factory|factories|cafes?|concerts?|parades?|religious sites?|military bases?"
)
LOCKED = (
    "house|home|apartment|flat|car|vehicle|truck|bank|vault|safe|store|shop|school|office|building|museum|warehouse|"
    "garage|hotel room|room|property|pharmacy|atm|locker|facility|prison|residence|shed|church|zoo|villa|mansion"
)
GOODS = (
    "cars?|vehicles?|bikes?|bicycles?|motorcycles?|boats?|money|cash|jewel(?:le)?ry|jewels?|diamonds?|gold|phones?|"
    "i?phones?|laptops?|consoles?|playstations?|xbox|televisions?|tvs?|wallets?|purses?|handbags?|watch(?:es)?|"
    "paintings?|art|medic(?:ine|ation)s?|drugs|identit(?:y|ies)|credit cards?|card (?:details|numbers)|packages?|"
    "parcels?|clothes|clothing|goods|things|items?|stuff|something|anything|groceries|food|books?|weapons?|guns?|"
    "secrets|valuables|property|data|information|electricity|bab(?:y|ies)|child|organs|exams?|passwords?|bitcoins?|"
    "crypto(?:currency)?|copper|catalytic converters?|mail|cards?|computers?|shoes|makeup|alcohol|beer|sweets|candy"
)
SHOP = (
    "banks?|casinos?|stores?|shops?|trains?|stations?|houses?|homes?|museums?|atms?|jewel\\w+|trucks?|vans?|graves?|"
    "post office|pharmac(?:y|ies)|supermarkets?|restaurants?|hotels?|airports?|tourists?|vaults?|safe"
)

# Plain lists: the first word of each finds the sentence, and a plural is understood.
BOMB = (
    "bomb|explosive|explosive device|incendiary device|grenade|molotov|land mine|landmine|ied|dynamite|napalm|thermite|"
    "tatp|petn|rdx|nitroglycerin|nitroglycerine|detonator|gunpowder|warhead|explosion"
)
POISON = (
    "nerve gas|nerve agent|sarin|ricin|anthrax|mustard gas|chlorine gas|phosgene|poison gas|poisonous gas|toxic gas|"
    "deadly gas|lethal gas|toxic fumes|poison|cyanide|botulinum|toxin|bioweapon|chemical weapon|biological weapon|"
    "biochemical weapon|nuclear weapon|atomic weapon|nuclear bomb|radioactive weapon|nuclear device|deadly virus|"
    "lethal virus|deadly pathogen"
)
GUN = (
    "gun|firearm|pistol|handgun|rifle|shotgun|silencer|suppressor|ammunition|weapon|ghost gun|machine gun|flamethrower"
)
DRUG = (
    "meth|methamphetamine|crystal meth|amphetamine|lsd|heroin|crack cocaine|crack|cocaine|fentanyl|mdma|ghb|ketamine|"
    "pcp|dmt|psilocybin|opium|opioid|opiate|drugs|narcotic|marijuana|marihuana|cannabis|illegal drug|illicit drug|"
    "illegal substance|illicit substance|controlled substance|rape drug|roofies|rohypnol|gram of coke|"
    "grams of coke|gram of weed|gram of speed|bag of weed|ecstasy pill|ecstasy|weed|molly|magic mushroom|hard drugs"
)
MALWARE = (
    "malware|ransomware|spyware|keylogger|rootkit|botnet|trojan|trojan horse|computer virus|virus|computer worm|"
    "logic bomb|fork bomb|backdoor|phishing email|phishing e-mail|phishing page|phishing site|phishing website|"
    "phishing message|phishing scam|phishing attack|phishing campaign|phishing link|phishing text|phishing sms|"
    "malicious code|malicious script|malicious software|malicious program|malicious app|malicious link|"
    "ddos attack|dos attack|ddos|denial of service attack|sql injection attack|cyberattack|cyber attack|zero-day "
    "exploit"
)

PRIVATE = (
    "social security (?:number|no)|ssn|passport (?:number|details)|driver'?s licen[cs]e number|(?:credit|debit|bank) "
    "?(?:card|account)? (?:numbers?|details|info(?:rmation)?|balance|pin|statements?)|(?:medical|health|criminal|"
    "psychiatric|prescription|browsing|search|dating|sexual|therapy|relationship|arrest) (?:history|records?|files?|"
    "diagnos[ie]s|notes)|hiv status|medical conditions?|(?:religious|political) (?:beliefs?|views|affiliations?)|"
    "religion|sexual (?:orientation|preferences?)|sexuality|marital status|salary|income|tax returns?|net worth|"
    "immigration status|blood type|dna|ethnicity|ethnic background|sex life|bra size|debts?|voting record|iban|"
    "therapist|voting (?:history|record)|insurance number|financial (?:information|details|records|situation)|"
    "confidential \\w+|personal (?:data|information)|diary|credit score"
)
REACH = (
    "(?:home|private|personal|street|residential|email|e-mail|ip) ?address|address|(?:phone|mobile|cell|telephone)"
    "(?: phone)?(?: number)?|passwords?|passcode|pin(?: code| number)?|log-?in(?: details| credentials)?|credentials|"
    "location|whereabouts|(?:private|text) (?:messages|photos|pictures|emails)|nudes?|maiden name|"
    "licen[cs]e plate(?: number)?|search history|call logs?|browser history"
)
