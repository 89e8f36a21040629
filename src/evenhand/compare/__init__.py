"""Decisions between variants: what is measured, the rules that make a verdict, and how far it depends on weights."""
