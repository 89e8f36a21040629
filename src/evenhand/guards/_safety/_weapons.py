"""Acts that make or fetch explosives, poison and weapons."""

from __future__ import annotations

from evenhand.guards._safety._acts import making, recipe, saying
from evenhand.guards._safety._words import BOMB, GUN, POISON

_RULE = "weapon_making"
_MAKE = (
    "make|build|create|construct|assemble|produce|manufacture|synthesize|synthesise|cook|brew|prepare|design|craft|"
    "concoct|formulate|extract|cultivate|set up|develop|print|mix|weaponize|convert|fashion|modify"
)
_GET = "buy|get|obtain|acquire|purchase|order|find|sell|smuggle|steal"

WEAPONS = (
    making(_RULE, f"{_MAKE}|{_GET}|plant|set off|detonate|throw|replicate|cause|trigger|drop|hide", BOMB),
    making(_RULE, f"{_MAKE}|{_GET}|release|spread|use", POISON, but="|food|rat|remedy|symptoms"),
    making(_RULE, _MAKE, GUN, but="|legend\\w*|power\\w*|magic\\w*|level|ultimate|tier|fantasy|medieval"),
    recipe(_RULE, f"{BOMB}|{POISON}"),
    saying(
        _RULE,
        "sneak sneaking smuggle bring carry",
        r"\b(?:sneak|smuggle|bring|carry)(?:ing)? (?:an? |my |some )?(?:\w+ )?(?:guns?|kni(?:fe|ves)|weapons?|bombs?|"
        r"explosives?) (?:into|onto|on|past|through|to) (?:an? |the |my )?(?:\w+ )?(?:schools?|planes?|airports?|"
        r"security|prisons?|stadiums?|concerts?|work|class|court\w*|building|airplanes?|churches|church)\b",
        framed=True,
    ),
    saying(
        _RULE,
        "illegal unregistered untraceable bomb atomic",
        r"\b(?:buy|get|obtain|acquire|sell|own|make)\b[^.?!]{0,20}\b(?:illegal|unregistered|untraceable) (?:guns?|"
        r"weapons?|firearms?|ammunition)\b|\breplicate (?:\w+ ){0,4}(?:atomic|nuclear) bomb(?:s|ing|ings)?\b",
        framed=True,
    ),
    saying(
        _RULE,
        "nitrate peroxide acetone gasoline potassium",
        r"\b(?:mix|combine|blend|add|pour)(?:ing)? (?:[\w,]+ ){0,6}?(?:ammonium nitrate (?:[\w,]+ ){0,4}(?:fuel|"
        r"diesel|gasoline|oil)|(?:hydrogen )?peroxide (?:[\w,]+ ){0,3}acetone|acetone (?:[\w,]+ ){0,4}peroxide|"
        r"gasoline (?:[\w,]+ ){0,4}(?:styrofoam|soap|polystyrene)|potassium nitrate,? (?:[\w,]+ ){0,3}(?:sulfur|"
        r"sulphur|charcoal))\b",
    ),
)
