"""How judges use their scales (ceiling, floor, spread, noise, unanswered), and how far they agree among themselves."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations

import numpy as np

from evenhand.calibrate.audits.findings import (
    AUDIT_LEVEL,
    PANEL_SUBJECT,
    AuditColour,
    AuditedJudgeAnswerCounts,
    AuditFinding,
    CalibrationAuditedRun,
    bonferroni_audit_level,
    bracket_audit_interval,
    measured_audit_finding,
    unknown_calibration_finding,
)
from evenhand.calibrate.jackknife import (
    FISHER_TRANSFORM,
    LOG_TRANSFORM,
    Floats,
    IntervalEstimate,
    jackknife_calibration_interval,
    sum_calibration_clusters,
)
from evenhand.calibrate.labelled_outputs import Integers
from evenhand.stats.arrays import Undefined
from evenhand.stats.rates import wilson
from evenhand.stats.ratings import AGREED, band
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
    table, ask_again = seen.table, "Run it with repeats: 3."
    scores = table.score if judge == PANEL_SUBJECT else seen.scores(judge)
    rows = ~np.isnan(scores)
    cell = (table.sample * len(table.variants) + table.variant)[rows]
    _, unit, times = np.unique(cell, return_inverse=True, return_counts=True)
    if not len(times) or times.max() < 2:
        why = "no sample was judged twice" if table.frame.repeats < 2 else "no sample has two scores"
        return unknown_calibration_finding("repeat noise", judge, f"not known: {why}.", advice=ask_again)
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
        return unknown_calibration_finding("repeat noise", judge, f"not known: {found.why}.", advice=ask_again)
    least = seen.smallest_effect
    colour: AuditColour = "green" if found.value <= least else "amber" if found.value <= 2 * least else "red"
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


LEAST_JUDGE_CORRELATION = 0.4
WITH_OTHERS = "agreement with others"
_BAND_TOLERANCE = 1e-9  # What is on a band's end on paper is in it.


def audit_judge_agreements(seen: CalibrationAuditedRun) -> Iterator[AuditFinding]:
    """Over all criteria first, then of each judge, inside the variant where they agree least, by criterion."""
    if len(seen.judges) < 2:
        why = "not known: it takes a second judge."
        yield unknown_calibration_finding("agreement", PANEL_SUBJECT, why, advice="Ask a second judge.")
        return
    table, judges = seen.table, seen.judges
    scores = np.stack([seen.scores(judge) for judge in judges])
    each = _correlate_each_audited_judge(scores, table.cluster, judges)
    # The badge of a run speaks of one variant: these figures do not.
    over = "over all variants" if len(table.variants) > 1 else "over all outputs"
    least, apart = _least_agreeing_audited_judge(each), _name_least_agreeing_audited_judge(each)
    yield _audit_judge_alpha(scores, table.cluster, len(judges), over=over, apart=apart)
    yield _audit_judge_correlation(scores, table.cluster, over=over, apart=apart)
    yield from (_audit_judge_apart(judge, found, least or judge) for judge, found in each.items())
    if len(table.variants) > 1:
        yield _audit_correlation_within_variants(seen, scores)
    nothing = np.full(len(table.score), np.nan)
    for criterion in seen.criteria:
        answers = np.stack([table.judgments.get((judge, criterion), nothing) for judge in judges])
        if not np.isnan(answers).all():
            yield _audit_judge_alpha(answers, table.cluster, len(judges), criterion, over=over)
            yield _audit_judge_correlation(answers, table.cluster, criterion, over=over)


def measure_audited_judge_alpha(raters: Floats, clusters: Integers) -> IntervalEstimate | Undefined:
    """Krippendorff's α on an interval scale, whole samples left out for its interval; NaN is a missing answer."""
    given = ~np.isnan(raters)
    often = given.sum(axis=0)
    used = often > 1
    method = "Krippendorff's α, interval"
    if not used.any():
        return Undefined(why="no two judges answered for the same output", method=method, n=0)
    raters, given, often = raters[:, used], given[:, used], often[used]
    values = np.where(given, raters - raters[given].mean(), 0.0)
    squares, sums = (values**2).sum(axis=0), values.sum(axis=0)
    within = (2 * often * squares - 2 * sums**2) / (often - 1)
    parts = sum_calibration_clusters(np.stack([within, often, squares, sums], axis=1), clusters[used])
    return jackknife_calibration_interval(
        parts, _audited_judge_alpha_from_sums, level=AUDIT_LEVEL, method=method, bent=FISHER_TRANSFORM
    )


def measure_audited_judge_correlation(raters: Floats, clusters: Integers) -> IntervalEstimate | Undefined:
    """The mean of Pearson's correlation over the pairs of judges, with an interval over whole samples."""
    return _correlate_audited_judge_pairs(list(combinations(raters, 2)), clusters, AUDIT_LEVEL, "mean pairwise Pearson")


def measure_audited_correlation_with_others(
    raters: Floats, place: int, clusters: Integers, level: float = AUDIT_LEVEL
) -> IntervalEstimate | Undefined:
    """The mean of one judge's correlations with each of the others."""
    pairs = [(raters[place], other) for at, other in enumerate(raters) if at != place]
    return _correlate_audited_judge_pairs(pairs, clusters, level, "mean Pearson with each other judge")


def _correlate_audited_judge_pairs(
    pairs: Sequence[tuple[Floats, Floats]], clusters: Integers, level: float, method: str
) -> IntervalEstimate | Undefined:
    columns = []
    for one, other in pairs:
        both = ~np.isnan(one) & ~np.isnan(other)
        if both.sum() >= 3 and np.ptp(one[both]) > 0 and np.ptp(other[both]) > 0:
            x = np.where(both, one - one[both].mean(), 0.0)
            y = np.where(both, other - other[both].mean(), 0.0)
            columns.append(np.stack([both, x, y, x * x, y * y, x * y], axis=1))
    if not columns:
        return Undefined(
            why="no two judges each gave different answers over three outputs that both scored", method=method, n=0
        )
    used = np.any([pair[:, 0] > 0 for pair in columns], axis=0)
    parts = sum_calibration_clusters(np.concatenate(columns, axis=1)[used], clusters[used])
    return jackknife_calibration_interval(
        parts, _audited_mean_pearson, level=level, method=method, bent=FISHER_TRANSFORM
    )


def _audited_judge_alpha_from_sums(parts: Floats) -> Floats:
    within, ratings, squares, sums = (parts[..., place] for place in range(4))
    between = (2 * ratings * squares - 2 * sums**2) / (ratings * (ratings - 1))
    return 1 - within / ratings / np.where(between > 1e-12, between, np.nan)


def _audited_mean_pearson(parts: Floats) -> Floats:
    by_pair = parts.reshape(*parts.shape[:-1], -1, 6)
    n, x, y, xx, yy, xy = (by_pair[..., place] for place in range(6))
    spread = np.sqrt(np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0))
    each = (xy - x * y / n) / np.where(spread > 1e-12, spread, np.nan)
    mean: Floats = np.clip(each, -1, 1).mean(axis=-1)
    return mean


def _correlate_each_audited_judge(
    scores: Floats, clusters: Integers, judges: Sequence[str]
) -> dict[str, IntervalEstimate | Undefined]:
    """Of two judges neither can be told to stand apart: from three on."""
    level = bonferroni_audit_level(len(judges))
    several = enumerate(judges) if len(judges) > 2 else ()
    return {judge: measure_audited_correlation_with_others(scores, place, clusters, level) for place, judge in several}


def _least_agreeing_audited_judge(each: Mapping[str, IntervalEstimate | Undefined]) -> str:
    """Who agrees least with the others; nobody where all agree alike."""
    known = {judge: found.value for judge, found in each.items() if isinstance(found, IntervalEstimate)}
    if len({format_number(value) for value in known.values()}) < 2:
        return ""
    return min(known, key=lambda judge: (known[judge], judge))


def _name_least_agreeing_audited_judge(each: Mapping[str, IntervalEstimate | Undefined]) -> str:
    """The same as the end of a sentence."""
    judge = _least_agreeing_audited_judge(each)
    found = each.get(judge)
    if not isinstance(found, IntervalEstimate):
        return ""
    return f"; {judge} agrees least with the others, mean correlation {format_number(found.value)}"


def _audit_judge_alpha(
    raters: Floats, clusters: Integers, judges: int, criterion: str | None = None, *, over: str, apart: str = ""
) -> AuditFinding:
    found = measure_audited_judge_alpha(raters, clusters)
    if isinstance(found, Undefined):
        return _unknown_agreement_audit_finding("agreement", found, criterion)
    colour: AuditColour = band(found.value)
    if judges == 2 and colour == "red":
        colour = "amber"  # Two judges decide by their correlation; α is a matter of three and more.
    figure = f"{format_number(found.value)} {bracket_audit_interval(found)}"
    says = f"Krippendorff's α of {format_plural(judges, 'judge')} {over} is {figure}{apart}."
    return _agreement_audit_finding("agreement", found, criterion, colour, says, f"an α of {AGREED}")


def _audit_judge_correlation(
    raters: Floats, clusters: Integers, criterion: str | None = None, *, over: str, apart: str = ""
) -> AuditFinding:
    found = measure_audited_judge_correlation(raters, clusters)
    if isinstance(found, Undefined):
        return _unknown_agreement_audit_finding("correlation", found, criterion)
    colour: AuditColour = "green" if found.value + _BAND_TOLERANCE >= LEAST_JUDGE_CORRELATION else "red"
    figure = f"{format_number(found.value)} {bracket_audit_interval(found)}"
    says = f"the mean correlation of two judges {over} is {figure}{apart}."
    wanted = f"a mean correlation of {LEAST_JUDGE_CORRELATION}"
    return _agreement_audit_finding("correlation", found, criterion, colour, says, wanted)


def _audit_judge_apart(judge: str, found: IntervalEstimate | Undefined, least: str) -> AuditFinding:
    """One judge that stands apart lowers the figure of all others: the advice is about that one."""
    if isinstance(found, Undefined):
        why = "it and another judge never gave different answers to the same three outputs"
        return unknown_calibration_finding(
            WITH_OTHERS, judge, f"not known: {why}.", advice="Ask about outputs that differ."
        )
    figure = f"{format_number(found.value)} {bracket_audit_interval(found)}"
    says = f"its mean correlation with each other judge is {figure}."
    advice = "Read its answers where it stands apart: sharpen the anchors, or decide without this judge."
    if least != judge:
        advice = f"See {least} first, which agrees least with the others."
    return measured_audit_finding(WITH_OTHERS, judge, found, band(found.value), says, advice, unit="correlation")


def _audit_correlation_within_variants(seen: CalibrationAuditedRun, scores: Floats) -> AuditFinding:
    """The variant that the judges agree on least, as in the badge: agreeing on which variant is better is less."""
    known: dict[str, IntervalEstimate] = {}
    for place, variant in enumerate(seen.table.variants):
        rows = seen.table.variant == place
        found = measure_audited_judge_correlation(scores[:, rows], seen.table.cluster[rows])
        if isinstance(found, IntervalEstimate):
            known[variant] = found
    name = "correlation within variants"
    if not known:
        why = "not known: no variant has three outputs that two judges scored differently."
        return unknown_calibration_finding(name, PANEL_SUBJECT, why)
    variant, least = min(known.items(), key=lambda one: one[1].value)
    rows = seen.table.variant == seen.table.variants.index(variant)
    each = _correlate_each_audited_judge(scores[:, rows], seen.table.cluster[rows], seen.judges)
    apart = _name_least_agreeing_audited_judge(each)
    colour: AuditColour = "green" if least.value + _BAND_TOLERANCE >= LEAST_JUDGE_CORRELATION else "red"
    figure = f"{format_number(least.value)} {bracket_audit_interval(least)}"
    says = f"on outputs of {variant} alone the mean correlation of two judges is {figure}{apart}."
    return _agreement_audit_finding(name, least, None, colour, says, f"a mean correlation of {LEAST_JUDGE_CORRELATION}")


def _agreement_audit_finding(
    name: str, found: IntervalEstimate, criterion: str | None, colour: AuditColour, says: str, wanted: str
) -> AuditFinding:
    where = f" on {criterion}" if criterion else ""
    unit = "agreement, 1 is full" if name == "agreement" else "correlation"
    advice = f"Sharpen the anchors until the judges reach {wanted}{where}."
    return measured_audit_finding(name, PANEL_SUBJECT, found, colour, says, advice, unit=unit, criterion=criterion)


def _unknown_agreement_audit_finding(name: str, found: Undefined, criterion: str | None) -> AuditFinding:
    advice = "Ask about outputs that differ, and see that every judge answers."
    return unknown_calibration_finding(
        name, PANEL_SUBJECT, f"not known: {found.why}.", advice=advice, criterion=criterion
    )
