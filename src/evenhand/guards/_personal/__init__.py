"""The guard for personal data: what it finds, and how that is masked."""

from evenhand.guards._personal._guard import HIDDEN, RULES, mask, masked, personal

__all__ = ["HIDDEN", "RULES", "mask", "masked", "personal"]
