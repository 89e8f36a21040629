"""Judges held against people and against each other: what they agree on, where they err, which of them to trust."""

from evenhand.calibrate._agreed import Agreed, Ceiling, Confusion
from evenhand.calibrate._aligned import Aligned, aligned
from evenhand.calibrate._bias import Bias
from evenhand.calibrate._calibration import Calibration, calibrate
from evenhand.calibrate._figures import Figure
from evenhand.calibrate._json import calibration_json, scatter_json
from evenhand.calibrate._labelled import PANEL, Labelled
from evenhand.calibrate._labels import Label, label_from, read_labels
from evenhand.calibrate._maps import CalibrationMap
from evenhand.calibrate._means import HumanMean
from evenhand.calibrate._people import agreement_with_people
from evenhand.calibrate._recommend import NotRecommended, Recommended, Standing
from evenhand.calibrate.audits._audit import audit
from evenhand.calibrate.audits._found import Audit, AuditFinding
from evenhand.calibrate.audits._heard import all_answered, heard_in
from evenhand.calibrate.audits._json import audit_json
from evenhand.calibrate.audits._seen import Heard, Seen

__all__ = [
    "PANEL",
    "Agreed",
    "Aligned",
    "Audit",
    "AuditFinding",
    "Bias",
    "Calibration",
    "CalibrationMap",
    "Ceiling",
    "Confusion",
    "Figure",
    "Heard",
    "HumanMean",
    "Label",
    "Labelled",
    "NotRecommended",
    "Recommended",
    "Seen",
    "Standing",
    "agreement_with_people",
    "aligned",
    "all_answered",
    "audit",
    "audit_json",
    "calibrate",
    "calibration_json",
    "heard_in",
    "label_from",
    "read_labels",
    "scatter_json",
]
