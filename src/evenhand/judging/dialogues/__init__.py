"""Dialogues with a judge, as generators that yield requests and are sent replies."""
