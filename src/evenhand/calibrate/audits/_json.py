"""An audit as plain data: stable keys, rounded numbers, never larger than a page can hold."""

from __future__ import annotations

import math
from typing import Any

from evenhand.calibrate.audits._found import Audit, AuditFinding

Json = dict[str, Any]
MOST = 90  # Findings that are listed, worst first; the others are counted.


def audit_json(audit: Audit) -> Json:
    """Plain data for files, programs and plots."""
    colours = [one.colour for one in audit.findings]
    return {
        "run": audit.run,
        "fit": audit.fit,
        "headline": audit.headline,
        "next_step": audit.next_step,
        "worst": None if audit.worst is None else _finding(audit.worst),
        "judges": list(audit.judges),
        "samples": audit.samples,
        "colours": {colour: colours.count(colour) for colour in ("red", "amber", "green", "grey")},
        "findings": [_finding(one) for one in audit.findings[:MOST]],
        "not_listed": max(0, len(audit.findings) - MOST),
    }


def _finding(one: AuditFinding) -> Json:
    return {
        "finding": one.name,
        "judge": one.judge,
        "criterion": one.criterion,
        "colour": one.colour,
        "value": _rounded(one.value),
        "low": _rounded(one.low),
        "high": _rounded(one.high),
        "level": _rounded(one.level),
        "n": one.n,
        "unit": one.unit,
        "method": one.method,
        "says": one.says,
        "advice": one.advice,
    }


def _rounded(value: float | None) -> float | None:
    """Six decimals: more are noise of the arithmetic."""
    return None if value is None or not math.isfinite(value) else round(value, 6) + 0.0
