"""What looks at an output before any judge: injection, safety, personal data."""

from evenhand.guards._hidden import Hide, hidden, hider, hider_for
from evenhand.guards._injection import injections
from evenhand.guards._look import DONE, GUARDS, RULES, guarded, look
from evenhand.guards._personal import masked, personal
from evenhand.guards.safety import find_unsafe_passages as unsafe

__all__ = [
    "DONE",
    "GUARDS",
    "RULES",
    "Hide",
    "guarded",
    "hidden",
    "hider",
    "hider_for",
    "injections",
    "look",
    "masked",
    "personal",
    "unsafe",
]
