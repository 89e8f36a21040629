"""Asking judges: prompts, dialogues, reading replies, panels, and the embedded judge."""
