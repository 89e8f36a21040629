"""The safety guard: its five rules, and the context that excuses a passage."""

from evenhand.guards._safety._guard import LONGEST, RULES, unsafe

__all__ = ["LONGEST", "RULES", "unsafe"]
