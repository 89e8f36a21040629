"""Arithmetic on scorecards: steps, decisions, ranking, panels, history, fingerprints."""

from evenhand.scoring._advice import Advice, advise
from evenhand.scoring._contract import as_json, scorecard_json
from evenhand.scoring._decide import gates_failed, grade_of, verdict_of
from evenhand.scoring._disagreement import panel_view
from evenhand.scoring._engine import scorecard
from evenhand.scoring._fingerprint import fingerprint, plain
from evenhand.scoring._history import Consistency, Past, Strayed, consistency
from evenhand.scoring._panel import panel_scorecards
from evenhand.scoring._ranking import asked_ties, equivalents, rank
from evenhand.scoring._score import Asked, score_outputs, score_reviews

__all__ = [
    "Advice",
    "Asked",
    "Consistency",
    "Past",
    "Strayed",
    "advise",
    "as_json",
    "asked_ties",
    "consistency",
    "equivalents",
    "fingerprint",
    "gates_failed",
    "grade_of",
    "panel_scorecards",
    "panel_view",
    "plain",
    "rank",
    "score_outputs",
    "score_reviews",
    "scorecard",
    "scorecard_json",
    "verdict_of",
]
