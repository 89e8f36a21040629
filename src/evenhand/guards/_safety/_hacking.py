"""Acts against accounts, devices and networks, and the making of malicious software."""

from __future__ import annotations

from evenhand.guards._safety._acts import doing, making, saying
from evenhand.guards._safety._words import MALWARE, OWNER, PERSON

_RULE = "malware_hacking"
_THEIRS = rf"(?:{OWNER}|my (?:[\w-]+ ){{0,2}}[\w-]+'s|an?(?: [\w-]+)? [\w-]+'s|other people's|another \w+'s?)"
_ACCOUNT = (
    r"(?:accounts?|e-?mails?|inbox|i?phones?|computers?|laptops?|pc|wi-?fi|networks?|websites?|servers?|systems?|"
    r"databases?|facebook|instagram|snapchat|whatsapp|twitter|gmail|passwords?|webcams?|cameras?|router|atm|icloud|"
    r"tiktok|privacy settings|browsing data|personal data|social media|profile|steam|netflix|voicemail|smart ?phone|"
    r"bank)"
)

HACKING = (
    doing(
        _RULE,
        "hack|hack into|break into|crack|brute-force|brute force|hijack|gain access to|bypass|infiltrate|steal|"
        "compromise|exploit|log in to|access",
        rf"{_THEIRS} (?:[\w'-]+ ){{0,3}}?{_ACCOUNT}\b(?! (?:manager|reset|number))",
        wanting=True,
    ),
    doing(
        _RULE,
        "hack|hack into|ddos|brute-force|infiltrate|phish|exploit vulnerabilities in",
        rf"(?:(?:an?|the|my|any|some) (?!growth|life|own\b)(?:[\w'-]+ ){{0,3}}?{_ACCOUNT}\b|{PERSON}|facebook|"
        rf"instagram|gmail|"
        r"wi-?fi|a (?:company|bank|school|government|business|corporation|car|casino|hospital|voting \w+|power \w+|"
        r"traffic \w+)|the (?:government|pentagon|nsa|fbi|cia|school|bank|nasa|power grid)|into (?:an?|the|"
        r"someone's) \w+)",
        wanting=True,
    ),
    making(
        _RULE,
        "write|code|program|make|build|create|develop|design|craft|produce|generate|spread|deploy|install|launch|"
        "conduct|run|send|perform|start|execute|distribute|plant|inject|give me|buy|carry out|draft|compose|set up|"
        "provide|use|release",
        MALWARE,
        but="|simulat\\w*|training|awareness|remov\\w*|antivirus|flu|corona\\w*|vaccin\\w*|how|scan\\w*|blood|rna|"
        "host|scan|tool|software|report|checklist",
        ordering=True,
    ),
    saying(
        _RULE,
        "bypass bypassing crack cracking circumvent keygen disable",
        r"\b(?:bypass|crack|circumvent|break|remove|disable|evade|get around)(?:ing)? (?!my )(?:[\w'-]+ "
        r"){0,4}?(?:licen[cs]e (?:checks?|keys?|verification)|activation|product keys?|paywalls?|copy protection|"
        r"two-factor|2fa|security (?:cameras?|systems?)|age verification|content filters?|spam filters?|"
        r"anti-?cheat)\b|\bkeygens?\b",
        framed=True,
        ordering=True,
    ),
    doing(
        _RULE,
        "spy on|track|monitor|tap|intercept|read|bug|listen to|listen in on|eavesdrop on|install spyware on|clone|"
        "wiretap",
        rf"(?!my (?:child|kid|son|daughter|teen|employee)){_THEIRS} (?:[\w'-]+ ){{0,2}}?(?:phones?|calls?|text "
        rf"messages|texts|messages|location|e-?mails?|whatsapp|"
        r"conversations|computer|browsing|private \w+|sim)\b",
        words="phone phones call calls texts messages location email emails mail mails whatsapp conversations "
        "computer private sim",
        wanting=True,
    ),
)
