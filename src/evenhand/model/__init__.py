"""What things are: frozen values that refuse nonsense at birth."""

from evenhand.model._answers import Answers, Review
from evenhand.model._criterion import Anchor, Criterion, Gate, Statement
from evenhand.model._finding import Finding
from evenhand.model._judgment import Evidence, Judgment, Spread
from evenhand.model._kept import Kept
from evenhand.model._made import Made, ToolCall
from evenhand.model._method import Dialogue, Grade, Method, ScoreScale, Setting, Threshold, TieBreak
from evenhand.model._numbers import Number, exact, number_for_json, rounded, written
from evenhand.model._panel_view import Differing, Dissent, Harshness, PanelView
from evenhand.model._rubric import Rubric, not_asked
from evenhand.model._sample import Sample
from evenhand.model._scale import SHARE, YES_NO, ZERO_TO_TEN, Band, CriterionScore, Scale, Scored, Unscored
from evenhand.model._scorecard import Missing, Moved, Ranked, Reviewed, Scorecard, Scores, Verdict
from evenhand.model._steps import (
    STEPS,
    Add,
    Cap,
    Ceiling,
    Clamp,
    Deduct,
    LayerMean,
    Panel,
    PointsShare,
    Round,
    Shortfall,
    Step,
    WeightedMean,
    WeightedSum,
)

__all__ = [
    "SHARE",
    "STEPS",
    "YES_NO",
    "ZERO_TO_TEN",
    "Add",
    "Anchor",
    "Answers",
    "Band",
    "Cap",
    "Ceiling",
    "Clamp",
    "Criterion",
    "CriterionScore",
    "Deduct",
    "Dialogue",
    "Differing",
    "Dissent",
    "Evidence",
    "Finding",
    "Gate",
    "Grade",
    "Harshness",
    "Judgment",
    "Kept",
    "LayerMean",
    "Made",
    "Method",
    "Missing",
    "Moved",
    "Number",
    "Panel",
    "PanelView",
    "PointsShare",
    "Ranked",
    "Review",
    "Reviewed",
    "Round",
    "Rubric",
    "Sample",
    "Scale",
    "ScoreScale",
    "Scorecard",
    "Scored",
    "Scores",
    "Setting",
    "Shortfall",
    "Spread",
    "Statement",
    "Step",
    "Threshold",
    "TieBreak",
    "ToolCall",
    "Unscored",
    "Verdict",
    "WeightedMean",
    "WeightedSum",
    "exact",
    "not_asked",
    "number_for_json",
    "rounded",
    "written",
]
