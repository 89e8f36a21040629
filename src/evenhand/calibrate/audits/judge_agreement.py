"""How far the judges agree among themselves: over all, per judge, within variants, per criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from evenhand.calibrate.audits.findings import (
    AUDIT_LEVEL,
    PANEL_SUBJECT,
    AuditColour,
    AuditFinding,
    CalibrationAuditedRun,
    bonferroni_audit_level,
    bracket_audit_interval,
    measured_audit_finding,
    unknown_calibration_finding,
)
from evenhand.calibrate.jackknife import (
    FISHER_TRANSFORM,
    Floats,
    IntervalEstimate,
    jackknife_calibration_interval,
    sum_calibration_clusters,
)
from evenhand.calibrate.labelled_outputs import Integers
from evenhand.stats.arrays import Undefined
from evenhand.stats.ratings import AGREED, band
from evenhand.wording import format_number, format_plural

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
