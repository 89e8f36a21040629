"""Are the judges of a run fit to decide: every bias, agreement and gap that can be measured without labels."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from evenhand.calibrate.audits._agreement import WITH_OTHERS, agreements
from evenhand.calibrate.audits._bias import biases
from evenhand.calibrate.audits._council import council_metrics
from evenhand.calibrate.audits._found import COLOURS, PANEL, Audit, AuditFinding, Colour, Fit
from evenhand.calibrate.audits._seen import Seen
from evenhand.calibrate.audits._use import uses
from evenhand.errors import Fault, InputError

# What counts most comes first, among findings of one colour.
GRAVITY = (
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
SATURATION = "saturation"


def audit(seen: Seen) -> Audit:
    """Everything that was found about the judges of a run, worst first, and what it comes to."""
    if not seen.judges:
        what = "no judge answered in this run: there is nothing to audit"
        raise InputError(Fault(what, "run an eval with a rubric and a judge"))
    found = [*uses(seen), *agreements(seen), *biases(seen), *council_metrics(seen), *_saturation(seen)]
    findings = tuple(sorted(found, key=_severity))
    fit, worst = _fit(findings)
    return Audit(
        run=seen.table.run,
        fit=fit,
        headline=_headline(fit, worst, seen.judges),
        worst=worst,
        next_step=worst.advice if worst else "Nothing: let them decide.",
        judges=seen.judges,
        samples=len(set(seen.table.cluster.tolist())),
        findings=findings,
    )


def _severity(finding: AuditFinding) -> tuple[int, bool, int, str, str]:
    """Worst colour first, the whole before single criteria, then by gravity."""
    place = GRAVITY.index(finding.name)
    return COLOURS.index(finding.colour), finding.criterion is not None, place, finding.judge, finding.criterion or ""


def _fit(findings: Sequence[AuditFinding]) -> tuple[Fit, AuditFinding | None]:
    """One criterion alone makes nobody unfit; how many samples there are says nothing about the judges."""
    judged = [one for one in findings if one.name != SATURATION]
    worst = judged[0] if judged[0].colour in ("red", "amber") else None
    if worst:
        return ("no" if worst.colour == "red" and worst.criterion is None else "with care"), worst
    known = next(one for one in judged if one.name == "agreement" and one.criterion is None)
    return ("not known", known) if known.colour == "grey" else ("yes", None)


def _headline(fit: Fit, worst: AuditFinding | None, judges: Sequence[str]) -> str:
    if worst is None:
        return f"Fit to decide: yes. Nothing speaks against {'this judge' if len(judges) == 1 else 'these judges'}."
    if fit == "not known":
        return f"Fit to decide: not known. How far judges agree is {worst.says}"
    whose = "" if worst.judge == PANEL else f" of {worst.judge}"
    where = f" on {worst.criterion}" if worst.criterion else ""
    return f"Fit to decide: {fit}. Worst is {worst.name}{whose}{where}: {worst.says}"


def _saturation(seen: Seen) -> Iterator[AuditFinding]:
    """What the badge of each comparison says."""
    colours: dict[str, Colour] = {"green": "green", "amber": "amber", "red": "red", "grey": "grey"}
    for one in seen.comparisons:
        badge = next((badge for badge in one["badges"] if badge["badge"] == "saturated"), None)
        if badge is not None:
            yield AuditFinding(
                name=SATURATION,
                judge=PANEL,
                colour=colours[badge["state"]],
                value=badge["value"],
                n=one["pairs"],
                unit="share by which an interval narrowed",
                method="half-widths over tenths of the samples",
                says=f"{one['treatment']} against {one['control']}: {badge['says']}.",
                advice=badge["advice"] if badge["state"] != "green" else "",
            )
