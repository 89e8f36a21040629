"""What looks at an output before any judge: injection, safety, personal data."""

from evenhand.guards.injection import find_injections as injections
from evenhand.guards.output_guards import DONE, GUARDS, RULES
from evenhand.guards.output_guards import guard_sample as guarded
from evenhand.guards.output_guards import guard_text as look
from evenhand.guards.personal_data import TextMask as Hide
from evenhand.guards.personal_data import build_sample_mask as hider_for
from evenhand.guards.personal_data import build_text_mask as hider
from evenhand.guards.personal_data import find_personal_data as personal
from evenhand.guards.personal_data import mask_data as hidden
from evenhand.guards.personal_data import mask_personal_data as masked
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
