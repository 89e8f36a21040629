"""The injection guard: its rules, and the views of a text in which they look."""

from evenhand.guards._injection._guard import MOST_SHOWN, RULES, injections

__all__ = ["MOST_SHOWN", "RULES", "injections"]
