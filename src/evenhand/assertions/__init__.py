"""Checks by rule: what an output must contain, match, cost or call."""
