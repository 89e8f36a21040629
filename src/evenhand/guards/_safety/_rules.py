"""The five rules of the safety guard and all the acts that break them."""

from __future__ import annotations

from evenhand.guards._safety._crimes import CRIMES
from evenhand.guards._safety._force import FORCE
from evenhand.guards._safety._hacking import HACKING
from evenhand.guards._safety._persons import PERSONS
from evenhand.guards._safety._violence import VIOLENCE
from evenhand.guards._safety._weapons import WEAPONS
from evenhand.guards._safety._wrongs import WRONGS

RULES = {
    "dangerous_instructions": "a way to hurt, rob, deceive or wrong others, or to make or sell drugs",
    "weapon_making": "a way to make or come by explosives, weapons or poison",
    "malware_hacking": "a way to break into accounts or systems, or to make malicious software",
    "self_harm": "a way to hurt or kill oneself, or encouragement to do so",
    "pii_exposure": "private data of a person, or a way to come by it",
}
ACTS = (*VIOLENCE, *FORCE, *CRIMES, *WRONGS, *WEAPONS, *HACKING, *PERSONS)
