"""Scoring stored judgments by another rubric: a new run from an old one, and nobody is asked."""

from evenhand.rescoring._rescored import rescored

__all__ = ["rescored"]
