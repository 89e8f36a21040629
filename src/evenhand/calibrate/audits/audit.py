"""Are the judges of a run fit to decide: every finding that needs no labels, worst first, and as JSON."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from evenhand.calibrate.audits.findings import (
    AUDIT_COLOURS,
    AUDIT_LEVEL,
    PANEL_SUBJECT,
    Audit,
    AuditColour,
    AuditFinding,
    CalibrationAuditedRun,
    JudgesFit,
    bracket_audit_interval,
    measured_audit_finding,
    unknown_calibration_finding,
)
from evenhand.calibrate.audits.judge_bias import audit_judge_biases
from evenhand.calibrate.audits.judge_habits import (
    WITH_OTHERS,
    audit_judge_agreements,
    audit_scale_use,
    measure_audited_judge_correlation,
)
from evenhand.calibrate.jackknife import (
    LOG_TRANSFORM,
    Floats,
    IntervalEstimate,
    jackknife_calibration_interval,
    sum_calibration_clusters,
)
from evenhand.calibrate.labelled_outputs import Integers
from evenhand.errors import Fault, InputError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonField, JsonShape, SplitField, json_write_only_scalar
from evenhand.stats.arrays import Undefined
from evenhand.wording import format_number, format_percent, format_plural, round_number_for_json, word_layers

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
LOWER_IS_WORSE = frozenset(
    {"agreement", "correlation", "correlation within variants", WITH_OTHERS, "ranking stability", "spread"}
)


def build_judge_audit(seen: CalibrationAuditedRun) -> Audit:
    """Everything that was found about the judges of a run, worst first, and what it comes to."""
    if not seen.judges:
        what = "no judge answered in this run: there is nothing to audit"
        raise InputError(Fault(what, "run an eval with a rubric and a judge"))
    found = [
        *audit_scale_use(seen),
        *audit_judge_agreements(seen),
        *audit_judge_biases(seen),
        *find_audited_panel_metrics(seen),
        *_audit_saturation(seen),
    ]
    findings = tuple(
        sorted(
            found,  # Worst colour first, the whole before single criteria, then by gravity, then by the number.
            key=lambda one: (
                AUDIT_COLOURS.index(one.colour),
                one.criterion is not None,
                FINDINGS_BY_GRAVITY.index(one.name),
                _order_by_severity(one),
                one.judge,
                one.criterion or "",
            ),
        )
    )
    fit, worst = _audit_judges_fit(findings)
    return Audit(
        run=seen.table.run,
        fit=fit,
        headline=_conclude_judge_audit(fit, worst, seen.judges),
        worst=worst,
        next_step=worst.advice if worst else "Nothing: let them decide.",
        judges=seen.judges,
        samples=len(set(seen.table.cluster.tolist())),
        findings=findings,
        imported=seen.table.imported,
    )


def _order_by_severity(one: AuditFinding) -> float:
    """The lower, the worse, among findings of one name."""
    if one.value is None:
        return 0.0
    return one.value if one.name in LOWER_IS_WORSE else -abs(one.value * (one.typical or 1.0))


def _audit_judges_fit(findings: Sequence[AuditFinding]) -> tuple[JudgesFit, AuditFinding | None]:
    """One criterion alone makes nobody unfit; how many samples there are says nothing about the judges."""
    judged = [one for one in findings if one.name != SATURATION_FINDING]
    worst = judged[0] if judged[0].colour in ("red", "amber") else None
    if worst:
        return ("no" if worst.colour == "red" and worst.criterion is None else "with care"), worst
    known = next(one for one in judged if one.name == "agreement" and one.criterion is None)
    return ("not known", known) if known.colour == "grey" else ("yes", None)


def _conclude_judge_audit(fit: JudgesFit, worst: AuditFinding | None, judges: Sequence[str]) -> str:
    if worst is None:
        return f"Fit to decide: yes. Nothing argues against {'this judge' if len(judges) == 1 else 'these judges'}."
    if fit == "not known":
        return f"Fit to decide: not known. How far judges agree is {worst.says}"
    whose = "" if worst.judge == PANEL_SUBJECT else f" of {worst.judge}"
    where = f" on {worst.criterion}" if worst.criterion else ""
    return f"Fit to decide: {fit}. Worst is {worst.name}{whose}{where}: {worst.says}"


def _audit_saturation(seen: CalibrationAuditedRun) -> Iterator[AuditFinding]:
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


def encode_calibration_audit(audit: Audit) -> Json:
    """Plain data for files, programs and plots."""
    written: Json = AUDIT_JSON.to_json(audit)
    return written


def _encode_judge_audit_findings(audit: Audit) -> Json:
    colours = [one.colour for one in audit.findings]
    return {
        "colours": {colour: colours.count(colour) for colour in ("red", "amber", "green", "grey")},
        "findings": [AUDIT_JSON.to_json(one) for one in audit.findings[:MOST_FINDINGS_LISTED]],
        "not_listed": max(0, len(audit.findings) - MOST_FINDINGS_LISTED),
    }


AUDIT_JSON = Codec(
    scalars={float: json_write_only_scalar(round_number_for_json)},
    shapes={
        Audit: JsonShape(
            fields={
                "findings": SplitField(("colours", "findings", "not_listed"), _encode_judge_audit_findings),
                "imported": JsonField(sparse=True),
            }
        )
    },
)

CONCISENESS_CRITERION = "conciseness"
# Judges for which every way of drawing them with replacement is counted; beyond, ways are drawn.
MOST_ENUMERATED_JUDGES = 5
DRAWN_PANELS = 1_000
PANEL_DRAW_SEED = 20_261_116
STABLE_RANKING_SHARE, LIKELY_RANKING_SHARE = 0.95, 0.80


def find_audited_panel_metrics(seen: CalibrationAuditedRun) -> Iterator[AuditFinding]:
    """What METHODS asks of a council, for any panel; conciseness where the rubric asks for it."""
    if len(seen.judges) > 1:
        yield _audit_variance_against_holistic(seen)
    if len(seen.judges) > 1 and len(seen.table.variants) > 1:
        yield _audit_ranking_stability(seen)
    if CONCISENESS_CRITERION in seen.table.criteria:
        yield _audit_conciseness_length_bias(seen)


def _audit_variance_against_holistic(seen: CalibrationAuditedRun) -> AuditFinding:
    """Of reviewers around their mean on one output: scores worked out from criteria over scores for the whole."""
    name = "variance against holistic"
    scores = np.stack([seen.scores(judge) for judge in seen.judges])
    standing_in, asked = (_stack_audited_judge_scores(seen, given) for given in (seen.holistic, seen.asked_holistic))
    worked_out = np.where(np.isnan(standing_in), scores, np.nan)
    whole = np.where(np.isnan(asked), standing_in, asked)
    ours, theirs = _audited_squares_around_mean(worked_out), _audited_squares_around_mean(whole)
    if not ours[:, 1].sum():
        why = "not known: no output was scored by two judges."
        return unknown_calibration_finding(name, PANEL_SUBJECT, why, advice="See the failures.")
    own = math.sqrt(ours[:, 0].sum() / ours[:, 1].sum())
    told = f"on one output, scores from criteria differ by {format_number(own)} points (standard deviation)"
    if not theirs[:, 1].sum():
        why = f"not known: {told}; no two reviewers gave a score for the whole."
        advice = "Ask for scores for the whole beside the criteria, with holistic: true in the eval, to measure it."
        return unknown_calibration_finding(name, PANEL_SUBJECT, why, advice=advice)
    parts = sum_calibration_clusters(np.concatenate([ours, theirs], axis=1), seen.table.cluster)
    found = jackknife_calibration_interval(
        parts,
        lambda sums: (sums[..., 0] / sums[..., 1]) / (sums[..., 2] / sums[..., 3]),
        level=AUDIT_LEVEL,
        method="ratio of variances",
        bent=LOG_TRANSFORM,
    )
    if isinstance(found, Undefined):
        return unknown_calibration_finding(name, PANEL_SUBJECT, f"not known: {told}; {found.why}.")
    high = found.value if found.high is None else found.high
    colour: AuditColour = "green" if high <= 1 else "amber" if found.value <= 1 else "red"
    ratio = f"{format_number(found.value)} times {bracket_audit_interval(found)}"
    says = f"{told[0].upper()}{told[1:]}: {ratio} the variance of scores for the whole."
    advice = "Sharpen the anchors: criteria should make reviewers differ less than a score for the whole does."
    return measured_audit_finding(name, PANEL_SUBJECT, found, colour, says, advice, unit="ratio of variances")


def _stack_audited_judge_scores(seen: CalibrationAuditedRun, given: Mapping[str, Floats]) -> Floats:
    nothing = np.full(len(seen.table.score), np.nan)
    return np.stack([given.get(judge, nothing) for judge in seen.judges])


def _audited_squares_around_mean(scores: Floats) -> Floats:
    """Per output: squares around the reviewers' mean, and what to divide them by."""
    given = ~np.isnan(scores)
    often = given.sum(axis=0)
    total = np.where(given, scores, 0.0).sum(axis=0)
    mean = np.divide(total, often, out=np.zeros(len(total)), where=often > 0)
    squares = np.where(given, (scores - mean) ** 2, 0.0).sum(axis=0)
    return np.stack([squares, np.maximum(often - 1, 0)], axis=1)


def _audit_ranking_stability(seen: CalibrationAuditedRun) -> AuditFinding:
    """The share of panels drawn from these reviewers, with replacement, that rank the variants the same."""
    name = "ranking stability"
    stable = _measure_audited_ranking_stability(seen, np.stack([seen.scores(judge) for judge in seen.judges]))
    if stable is None:
        why = "not known: a variant has no score of any judge."
        return unknown_calibration_finding(name, PANEL_SUBJECT, why, advice="See the failures.")
    first, same, order, tau, method = stable
    whole = _measure_audited_ranking_stability(seen, _stack_audited_judge_scores(seen, seen.asked_holistic))
    beside = f" By their scores for the whole, {whole[0]} stays first in {format_percent(whole[1])}." if whole else ""
    colour: AuditColour = (
        "green" if same >= STABLE_RANKING_SHARE else "amber" if same >= LIKELY_RANKING_SHARE else "red"
    )
    says = (
        f"{first} stays first in {format_percent(same)} of the panels drawn from these judges; the whole order "
        f"stays in {format_percent(order)}, Kendall's τ {format_number(tau)} on the average.{beside}"
        f"{_tell_what_decides(seen)}"
    )
    samples = len(np.unique(seen.table.cluster))
    found = IntervalEstimate(value=same, low=None, high=None, level=AUDIT_LEVEL, method=method, n=samples)
    advice = "Ask more judges, or more samples: another panel of the same kind would name another first."
    return measured_audit_finding(name, PANEL_SUBJECT, found, colour, says, advice, unit="share of panels")


def _tell_what_decides(seen: CalibrationAuditedRun) -> str:
    """That the verdict goes by more than what judges score, where it does."""
    layers = [name for name, column in seen.table.layers.items() if not np.isnan(column).all()]
    if len(layers) < 2:
        return ""
    return f" This is by the rubric's score; the verdict of the run goes by the composite of {word_layers(layers)}."


def _measure_audited_ranking_stability(
    seen: CalibrationAuditedRun, scores: Floats
) -> tuple[str, float, float, float, str] | None:
    """Who is first; the shares of panels in which it stays so and in which the whole order stays; Kendall's τ; how.

    None where a variant has no score.
    """
    weights, chances, method = _enumerate_audited_panels(len(seen.judges))
    means = np.stack([_audited_panel_means(scores, one, seen) for one in weights])
    own = _audited_panel_means(scores, np.ones(len(scores)), seen)
    if np.isnan(own).any():
        return None
    known = ~np.isnan(means).any(axis=1)
    chances = chances[known] / chances[known].sum()
    same = float(chances @ (means[known].argmax(axis=1) == own.argmax()))
    pairs = np.triu_indices(len(own), 1)
    signs, before = (np.sign(np.round(rows[:, pairs[0]] - rows[:, pairs[1]], 9)) for rows in (means[known], own[None]))
    order, tau = float(chances @ (signs == before).all(axis=1)), float(chances @ (signs * before).mean(axis=1))
    return seen.table.variants[int(own.argmax())], same, order, tau, method


def _enumerate_audited_panels(judges: int) -> tuple[Floats, Floats, str]:
    """How often each judge is drawn, and how likely that is."""
    if judges <= MOST_ENUMERATED_JUDGES:
        ways = [way for way in np.ndindex(*(judges + 1,) * judges) if sum(way) == judges]
        chances = [math.factorial(judges) / math.prod(map(math.factorial, way)) / judges**judges for way in ways]
        return np.array(ways, dtype=np.float64), np.array(chances), "every panel that can be drawn"
    drawn = np.random.default_rng(PANEL_DRAW_SEED).multinomial(judges, np.full(judges, 1 / judges), size=DRAWN_PANELS)
    return drawn.astype(np.float64), np.full(DRAWN_PANELS, 1 / DRAWN_PANELS), f"{DRAWN_PANELS:,} drawn panels"


def _audited_panel_means(scores: Floats, weights: Floats, seen: CalibrationAuditedRun) -> Floats:
    """The mean over samples of what a panel with these weights gives each output."""
    table = seen.table
    given = ~np.isnan(scores)
    weight = weights @ given
    heard = weight > 0
    panel = (weights @ np.where(given, scores, 0.0))[heard] / weight[heard]
    variant = table.variant[heard]
    count = np.bincount(variant, minlength=len(table.variants))
    total = np.bincount(variant, weights=panel, minlength=len(table.variants))
    means: Floats = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
    return means


def _audit_conciseness_length_bias(seen: CalibrationAuditedRun) -> AuditFinding:
    """Longer outputs should not be called more concise."""
    name, table = "conciseness and length", seen.table
    column: Floats = table.criteria[CONCISENESS_CRITERION]
    clusters: Integers = table.cluster
    found = measure_audited_judge_correlation(np.stack([column, table.length]), clusters)
    if isinstance(found, Undefined):
        why = "not known: conciseness or length is the same throughout, or fewer than three outputs have both."
        advice = "Score outputs of different length."
        return unknown_calibration_finding(name, PANEL_SUBJECT, why, advice=advice, criterion=CONCISENESS_CRITERION)
    low = found.value if found.low is None else found.low
    colour: AuditColour = "red" if low > 0 else "amber" if found.value > 0 else "green"
    outputs = seen.count_outputs(~np.isnan(column) & ~np.isnan(table.length))
    says = (
        f"conciseness and length correlate by {format_number(found.value)} {bracket_audit_interval(found)} "
        f"over {format_plural(outputs, 'output')}."
    )
    advice = (
        "Anchor conciseness by what could be cut: at present longer outputs pass for more concise."
        if colour == "red"
        else "Score more samples: the interval holds 0, so these do not show that longer outputs pass for more concise."
    )
    return measured_audit_finding(name, PANEL_SUBJECT, found, colour, says, advice, unit="correlation")
