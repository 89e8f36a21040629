"""Arithmetic on scorecards: steps, panels, rankings and decisions, exact, for one scorecard or a column of them."""
