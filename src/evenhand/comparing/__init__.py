"""Comparing what is stored: two runs over the same samples, or the variants of one, by the rules of every verdict."""

from evenhand.comparing._compared import compare_runs
from evenhand.comparing._terms import Terms

__all__ = ["Terms", "compare_runs"]
