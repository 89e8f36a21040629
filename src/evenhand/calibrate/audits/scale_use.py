"""How a judge uses its scale: ceiling, floor, spread, noise over repeats, and what it left unanswered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace

import numpy as np

from evenhand.calibrate.audits.findings import (
    AUDIT_LEVEL,
    PANEL_SUBJECT,
    AuditColour,
    AuditedJudgeAnswerCounts,
    AuditFinding,
    CalibrationAuditedRun,
    bracket_audit_interval,
    measured_audit_finding,
    unknown_calibration_finding,
)
from evenhand.calibrate.jackknife import (
    LOG_TRANSFORM,
    Floats,
    IntervalEstimate,
    jackknife_calibration_interval,
    sum_calibration_clusters,
)
from evenhand.calibrate.labelled_outputs import Integers
from evenhand.stats.arrays import Undefined
from evenhand.stats.rates import wilson
from evenhand.wording import format_number, format_percent, format_plural, format_rounded

AMBER_END_SHARE, RED_END_SHARE = 0.6, 0.9  # Of graded answers at one end of the scale.
YES_NO_END_SHARE = 0.95  # Of yes/no answers, which have nothing but ends.
LEAST_ANSWER_SPREAD = 0.05  # Of the scale: a standard deviation below it tells hardly any two outputs apart.
AMBER_UNANSWERED, RED_UNANSWERED = 0.01, 0.05


def audit_scale_use(seen: CalibrationAuditedRun) -> Iterator[AuditFinding]:
    """Ceiling, floor, spread and repeat noise of every judge and the panel; silence of every judge."""
    several = len(seen.judges) > 1
    for judge in seen.judges:
        answers = {id: seen.table.judgments[judge, id] for id in seen.criteria if (judge, id) in seen.table.judgments}
        yield from _audit_scale_ends(seen, judge, answers)
    if several:
        counted = {id: seen.table.criteria[id] for id in seen.criteria if id in seen.table.criteria}
        yield from _audit_scale_ends(seen, PANEL_SUBJECT, counted)
    for judge in [*seen.judges, *([PANEL_SUBJECT] if several else [])]:
        yield _audit_repeat_noise(seen, judge)
    for judge, heard in seen.answer_counts.items():
        yield _audit_unanswered_share(judge, heard)


def _audit_scale_ends(seen: CalibrationAuditedRun, judge: str, answers: Mapping[str, Floats]) -> Iterator[AuditFinding]:
    """Over all criteria together, the one that stands out named."""
    if not answers or all(np.isnan(column).all() for column in answers.values()):
        yield unknown_calibration_finding("ceiling", judge, "not known: it gave no answer.", advice="See its failures.")
        return
    yield _audit_scale_end(seen, judge, answers, "ceiling", 1)
    yield _audit_scale_end(seen, judge, answers, "floor", 0)
    yield _audit_judge_answer_spread(seen, judge, answers)


def _audit_scale_end(
    seen: CalibrationAuditedRun, judge: str, answers: Mapping[str, Floats], name: str, which: int
) -> AuditFinding:
    held = {
        id: np.where(np.isnan(column), np.nan, np.abs(column - seen.criteria[id]["ends"][which]) < 1e-9)
        for id, column in answers.items()
    }
    rows = np.concatenate(list(held.values()))
    given = ~np.isnan(rows)
    clusters = np.tile(seen.table.cluster, len(held))[given]
    found = _estimate_audited_answer_share(rows[given], clusters)
    graded = any(seen.criteria[id]["scale"] != "yes/no" for id in answers)
    amber, red = (AMBER_END_SHARE, RED_END_SHARE) if graded else (YES_NO_END_SHARE, 2.0)
    colour: AuditColour = "red" if found.value >= red else "amber" if found.value >= amber else "green"
    worst = max(held, key=lambda id: _mean_audited_judge_answer(held[id]))
    end = ("lowest", "highest")[which]
    bounds = "(no interval)"
    if found.low is not None and found.high is not None:
        bounds = f"[{format_rounded(found.low * 100, 0)}, {format_rounded(found.high * 100, 0)}]"
    says = f"{format_percent(found.value)} {bounds} of its answers are the {end} score"
    if not rows[given].any():
        says = f"None of its answers is the {end} score"
    elif len(held) > 1:
        says += f"; most of all on {worst}, {format_percent(_mean_audited_judge_answer(held[worst]))}"
    says += "."
    advice = f"Anchor the {end} level so that fewer outputs reach it, or ask harder samples."
    return measured_audit_finding(name, judge, found, colour, says, advice, unit="share of answers")


def _mean_audited_judge_answer(column: Floats) -> float:
    given = column[~np.isnan(column)]
    return float(given.mean()) if len(given) else 0.0


def _estimate_audited_answer_share(held: Floats, clusters: Integers) -> IntervalEstimate:
    """A share with an interval over samples; where all samples say the same, Wilson's over their number."""
    parts = sum_calibration_clusters(np.stack([held, np.ones(len(held))], axis=1), clusters)
    found = jackknife_calibration_interval(
        parts, lambda sums: sums[..., 0] / sums[..., 1], level=AUDIT_LEVEL, method="share"
    )
    assert isinstance(found, IntervalEstimate)  # There is at least one answer.
    if found.low is not None and found.high is not None:
        return replace(found, low=max(0.0, found.low), high=min(1.0, found.high))
    if found.value in (0.0, 1.0):
        rate = wilson(round(found.value * found.n), found.n)
        return replace(found, low=rate.low, high=rate.high, method="Wilson", why="")
    return found


def _audit_judge_answer_spread(seen: CalibrationAuditedRun, judge: str, answers: Mapping[str, Floats]) -> AuditFinding:
    """The standard deviation of its answers around each criterion's mean, as a share of the scale."""
    shares = []
    for id, column in answers.items():
        low, high = seen.criteria[id]["ends"]
        shares.append((column - _mean_audited_judge_answer(column)) / (high - low))
    rows = np.concatenate(shares)
    given = ~np.isnan(rows)
    parts = sum_calibration_clusters(
        np.stack([rows[given] ** 2, np.ones(int(given.sum()))], axis=1), np.tile(seen.table.cluster, len(shares))[given]
    )
    found = jackknife_calibration_interval(
        parts,
        lambda sums: np.sqrt(sums[..., 0] / sums[..., 1]),
        level=AUDIT_LEVEL,
        method="standard deviation",
        bent=LOG_TRANSFORM,
    )
    assert isinstance(found, IntervalEstimate)
    levels = max(len(np.unique(np.round(column[~np.isnan(column)], 6))) for column in answers.values())
    colour: AuditColour = "green" if found.value >= LEAST_ANSWER_SPREAD else "red" if found.value == 0 else "amber"
    share = f"{format_percent(found.value)} of the scale"
    says = f"its answers spread over {share} (standard deviation), on {format_plural(levels, 'level')}."
    advice = "Anchor each level, so that answers that differ can be given to outputs that differ."
    return measured_audit_finding("spread", judge, found, colour, says, advice, unit="share of the scale")


def _audit_repeat_noise(seen: CalibrationAuditedRun, judge: str) -> AuditFinding:
    """How far scores of the same sample and variant lie apart from repeat to repeat."""
    table = seen.table
    scores = table.score if judge == PANEL_SUBJECT else seen.scores(judge)
    rows = ~np.isnan(scores)
    cell = (table.sample * len(table.variants) + table.variant)[rows]
    _, unit, times = np.unique(cell, return_inverse=True, return_counts=True)
    if not len(times) or times.max() < 2:
        why = "no sample was judged twice" if table.frame.repeats < 2 else "no sample has two scores"
        return unknown_calibration_finding(
            "repeat noise", judge, f"not known: {why}.", advice="Run it with repeats: 3."
        )
    means = (np.bincount(unit, weights=scores[rows]) / times)[unit]
    # A sample that was scored once has no spread, and takes no part in the divisor.
    freedom = 1 - 1 / times[unit]
    parts = sum_calibration_clusters(np.stack([(scores[rows] - means) ** 2, freedom], axis=1), table.cluster[rows])
    found = jackknife_calibration_interval(
        parts[parts[:, 1] > 0],
        lambda sums: np.sqrt(sums[..., 0] / sums[..., 1]),
        level=AUDIT_LEVEL,
        method="standard deviation within samples",
        bent=LOG_TRANSFORM,
    )
    if isinstance(found, Undefined):
        return unknown_calibration_finding(
            "repeat noise", judge, f"not known: {found.why}.", advice="Run it with repeats: 3."
        )
    colour: AuditColour = (
        "green"
        if found.value <= seen.smallest_effect
        else "amber"
        if found.value <= 2 * seen.smallest_effect
        else "red"
    )
    points = f"{format_number(found.value)} points {bracket_audit_interval(found)}"
    says = f"scores of one sample differ by {points} from repeat to repeat."
    advice = "Ask more often (how: {samples: 5}), at temperature 0, or ask more judges."
    return measured_audit_finding("repeat noise", judge, found, colour, says, advice, unit="points")


def _audit_unanswered_share(judge: str, heard: AuditedJudgeAnswerCounts) -> AuditFinding:
    if not heard.asked:
        return unknown_calibration_finding("failures", judge, "not known: it was asked nothing.")
    silent = heard.abstained + heard.failed
    rate = wilson(silent, heard.asked)
    colour: AuditColour = (
        "red" if rate.estimate > RED_UNANSWERED else "amber" if rate.estimate > AMBER_UNANSWERED else "green"
    )
    lost = f"{heard.failed:,} of its {format_plural(heard.asked, 'answer')} failed or could not be read"
    times = {0: "never abstained", 1: "abstained once"}.get(heard.abstained, f"abstained {heard.abstained:,} times")
    together = f": {format_percent(rate.estimate)} have no answer" if heard.abstained else ""
    says = f"{lost}; it {times}{together}."
    advice = "See the failures of the run: a budget, a limit or an unreadable reply can be fixed."
    if heard.abstained > heard.failed:
        advice = "See what it abstains on: a question that cannot be answered from the output needs a reference."
    found = IntervalEstimate(
        value=rate.estimate, low=rate.low, high=rate.high, level=rate.level, method=rate.method, n=heard.asked
    )
    return measured_audit_finding("failures", judge, found, colour, says, advice, unit="share of answers")
