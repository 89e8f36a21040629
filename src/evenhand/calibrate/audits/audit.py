"""Are the judges of a run fit to decide: every finding that needs no labels, worst first, with a headline and as
JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from evenhand.calibrate.audits.audited_run import AuditedRun
from evenhand.calibrate.audits.council_metrics import find_council_metrics
from evenhand.calibrate.audits.findings import AUDIT_COLOURS, PANEL_SUBJECT, Audit, AuditFinding, JudgesFit
from evenhand.calibrate.audits.judge_agreement import WITH_OTHERS, find_judge_agreements
from evenhand.calibrate.audits.judge_bias import find_judge_biases
from evenhand.calibrate.audits.scale_use import find_scale_use
from evenhand.errors import Fault, InputError
from evenhand.files.codec import Codec
from evenhand.files.json_scalars import written_as
from evenhand.files.json_shape import JsonShape, SplitField
from evenhand.wording import round_for_json

# What counts most comes first, among findings of one colour.
FINDINGS_BY_GRAVITY = (
    "failures",
    "agreement",
    "correlation",
    "correlation within variants",
    WITH_OTHERS,
    "self-preference",
    "position",
    "ranking stability",
    "length",
    "conciseness and length",
    "ceiling",
    "floor",
    "spread",
    "repeat noise",
    "variance against holistic",
    "harshness",
    "saturation",
)
SATURATION_FINDING = "saturation"


def audit_judges(seen: AuditedRun) -> Audit:
    """Everything that was found about the judges of a run, worst first, and what it comes to."""
    if not seen.judges:
        what = "no judge answered in this run: there is nothing to audit"
        raise InputError(Fault(what, "run an eval with a rubric and a judge"))
    found = [
        *find_scale_use(seen),
        *find_judge_agreements(seen),
        *find_judge_biases(seen),
        *find_council_metrics(seen),
        *_find_saturation(seen),
    ]
    findings = tuple(
        sorted(
            found,  # Worst colour first, the whole before single criteria, then by gravity.
            key=lambda one: (
                AUDIT_COLOURS.index(one.colour),
                one.criterion is not None,
                FINDINGS_BY_GRAVITY.index(one.name),
                one.judge,
                one.criterion or "",
            ),
        )
    )
    fit, worst = _decide_judges_fit(findings)
    return Audit(
        run=seen.table.run,
        fit=fit,
        headline=_write_audit_headline(fit, worst, seen.judges),
        worst=worst,
        next_step=worst.advice if worst else "Nothing: let them decide.",
        judges=seen.judges,
        samples=len(set(seen.table.cluster.tolist())),
        findings=findings,
    )


def _decide_judges_fit(findings: Sequence[AuditFinding]) -> tuple[JudgesFit, AuditFinding | None]:
    """One criterion alone makes nobody unfit; how many samples there are says nothing about the judges."""
    judged = [one for one in findings if one.name != SATURATION_FINDING]
    worst = judged[0] if judged[0].colour in ("red", "amber") else None
    if worst:
        return ("no" if worst.colour == "red" and worst.criterion is None else "with care"), worst
    known = next(one for one in judged if one.name == "agreement" and one.criterion is None)
    return ("not known", known) if known.colour == "grey" else ("yes", None)


def _write_audit_headline(fit: JudgesFit, worst: AuditFinding | None, judges: Sequence[str]) -> str:
    if worst is None:
        return f"Fit to decide: yes. Nothing speaks against {'this judge' if len(judges) == 1 else 'these judges'}."
    if fit == "not known":
        return f"Fit to decide: not known. How far judges agree is {worst.says}"
    whose = "" if worst.judge == PANEL_SUBJECT else f" of {worst.judge}"
    where = f" on {worst.criterion}" if worst.criterion else ""
    return f"Fit to decide: {fit}. Worst is {worst.name}{whose}{where}: {worst.says}"


def _find_saturation(seen: AuditedRun) -> Iterator[AuditFinding]:
    """What the badge of each comparison says."""
    for one in seen.comparisons:
        badge = next((badge for badge in one["badges"] if badge["badge"] == "saturated"), None)
        if badge is not None:
            yield AuditFinding(
                name=SATURATION_FINDING,
                judge=PANEL_SUBJECT,
                colour=badge["state"],
                value=badge["value"],
                n=one["pairs"],
                unit="share by which an interval narrowed",
                method="half-widths over tenths of the samples",
                says=f"{one['treatment']} against {one['control']}: {badge['says']}.",
                advice=badge["advice"] if badge["state"] != "green" else "",
            )


Json = dict[str, Any]
MOST_FINDINGS_LISTED = 90  # Findings that are listed, worst first; the others are counted.


def audit_json(audit: Audit) -> Json:
    """Plain data for files, programs and plots."""
    written: Json = AUDIT_JSON.to_json(audit)
    return written


def _write_audit_findings(audit: Audit) -> Json:
    colours = [one.colour for one in audit.findings]
    return {
        "colours": {colour: colours.count(colour) for colour in ("red", "amber", "green", "grey")},
        "findings": [AUDIT_JSON.to_json(one) for one in audit.findings[:MOST_FINDINGS_LISTED]],
        "not_listed": max(0, len(audit.findings) - MOST_FINDINGS_LISTED),
    }


AUDIT_JSON = Codec(
    scalars={float: written_as(round_for_json)},
    shapes={
        Audit: JsonShape(fields={"findings": SplitField(("colours", "findings", "not_listed"), _write_audit_findings)})
    },
)
