"""What a score should not depend on: position, length, who made the output, who judges it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace

import numpy as np

from evenhand.calibrate.audits.findings import (
    PANEL_SUBJECT,
    AuditColour,
    AuditData,
    AuditFinding,
    CalibrationAuditedRun,
    bonferroni_audit_level,
    bracket_audit_interval,
    grade_audit_effect,
    measured_audit_finding,
    unknown_calibration_finding,
)
from evenhand.calibrate.jackknife import LEAST_JACKKNIFE_SAMPLES, Floats, IntervalEstimate
from evenhand.calibrate.labelled_outputs import Integers
from evenhand.errors import InputError
from evenhand.model.method import LEAST_TO_NORMALISE
from evenhand.stats.arrays import Undefined
from evenhand.stats.differences import Difference, paired_difference
from evenhand.stats.rates import picks_by_position
from evenhand.stats.regression import coefficients, length_bias
from evenhand.wording import format_number, format_plural, format_rounded, format_signed

MORE_SAMPLES_ADVICE = "Score more samples"
CHANCE_OF_ONE_POSITION = 0.5  # Of naming the same position twice by tossing a coin.
SIGN_FLIP_SEED = 20_261_116  # Where there are too many sign flips to count, the same ones are drawn each time.
_MAKERS_BY_MODEL_FAMILY = {"gpt": "openai", "chatgpt": "openai", "claude": "anthropic"}


def audit_judge_biases(seen: CalibrationAuditedRun) -> Iterator[AuditFinding]:
    """Position, length, self-preference and harshness, of every judge; the first two of the panel, too."""
    several = len(seen.judges) > 1
    everyone = [*seen.judges, *([PANEL_SUBJECT] if several else [])]
    if seen.position_bias:
        yield from (_audit_position_bias_in_pairs(seen, one) for one in seen.position_bias)
    else:
        yield from (_audit_position_bias(seen, judge, bonferroni_audit_level(len(everyone))) for judge in everyone)
    yield from (_audit_length_bias(seen, judge, bonferroni_audit_level(len(everyone))) for judge in everyone)
    yield from (_audit_self_preference(seen, judge) for judge in seen.judges)
    yield from (_audit_judge_harshness(seen, judge) for judge in seen.judges if several)


def _audit_position_bias(seen: CalibrationAuditedRun, judge: str, level: float) -> AuditFinding:
    table, scores, first = (
        seen.table,
        _audited_judge_or_panel_scores(seen, judge),
        _first_seat_shares_of_audited_judge(seen, judge),
    )
    rows = ~np.isnan(first) & ~np.isnan(scores)
    if not rows.any():
        why = "each output was shown alone, so there is no position to favour"
        return unknown_calibration_finding(
            "position", judge, f"not known: {why}.", advice="Nothing to do: there is no order."
        )
    found = measure_audited_score_slope(
        scores[rows],
        first[rows],
        groups=seen.group[rows],
        variants=table.variant[rows],
        clusters=table.cluster[rows],
        level=level,
    )
    if isinstance(found, Undefined):
        why = "the outputs were always shown in the same order, or alone"
        return unknown_calibration_finding(
            "position", judge, f"not known: {why}.", advice=f"{MORE_SAMPLES_ADVICE}: the order is drawn for each."
        )
    by_seat = ""
    if judge != PANEL_SUBJECT:
        seats = table.seats[judge]
        there = [seat for seat in range(1, 6) if ((seats == seat) & ~np.isnan(scores)).any()]
        means = [f"{seat}: {format_number(float(np.nanmean(scores[seats == seat])))}" for seat in there]
        by_seat = f" Mean by seat: {', '.join(means)}."
    says = f"an output shown first gets {format_signed(found.value)} points {bracket_audit_interval(found)}.{by_seat}"
    advice = "Show each output alone (how: {each: true}), or ask more judges, each with an order of its own."
    return _bias_audit_finding(
        "position", judge, found, seen.smallest_effect, says, advice, unit="points of the first seat"
    )


def _audit_position_bias_in_pairs(seen: CalibrationAuditedRun, bias: AuditData) -> AuditFinding:
    """Pairs asked about in both orders: how often the same position was named both times, which decides nothing."""
    pairs, followed, first = bias["pairs"], bias["followed_place"], bias["first_place"]
    # Each such pair is a tie, half the scale from what it would be had it been decided.
    matters = followed / pairs * seen.span / 2 >= seen.smallest_effect
    colour: AuditColour = "green" if bias["high"] <= CHANCE_OF_ONE_POSITION else "grey"
    if picks_by_position(pairs, followed, first):
        colour = "red" if matters else "amber"
    found = IntervalEstimate(
        value=bias["share"], low=bias["low"], high=bias["high"], level=bias["level"], method="Wilson", n=pairs
    )
    says = (
        f"picked by position in {followed:,} of {format_plural(pairs, 'pair')} {bracket_audit_interval(found)}, "
        f"in {first:,} of them the first; these answers say nothing about which output is better."
    )
    advice = (
        f"Replace {bias['judge']}, or ask it to score each output alone (remove dialogue: pairwise)."
        if colour in ("red", "amber")
        else MORE_SAMPLES_ADVICE
    )
    return measured_audit_finding(
        "position", bias["judge"], found, colour, says, advice, unit="share of pairs picked by position"
    )


def _first_seat_shares_of_audited_judge(seen: CalibrationAuditedRun, judge: str) -> Floats:
    """1 where a judge saw the output first, else 0; of a panel the share of its judges."""
    seats = seen.table.seats
    if judge != PANEL_SUBJECT:
        own = seats.get(judge, np.full(len(seen.table.score), np.nan))
        return np.where(np.isnan(own), np.nan, own == 1)
    if not seats:
        return np.full(len(seen.table.score), np.nan)
    every = np.stack(list(seats.values()))
    given = ~np.isnan(every)
    first: Floats = np.divide(
        (every == 1).sum(axis=0), given.sum(axis=0), out=np.full(every.shape[1], np.nan), where=given.any(axis=0)
    )
    return first


def _audit_length_bias(seen: CalibrationAuditedRun, judge: str, level: float) -> AuditFinding:
    table, scores = seen.table, _audited_judge_or_panel_scores(seen, judge)
    rows = ~np.isnan(table.length) & ~np.isnan(scores)
    variants, group = table.variant[rows], seen.group[rows]
    within = len(np.unique(group)) < len(group)
    if same := _find_evenly_apart(table.length[rows], scores[rows], variants, group):
        why = f"not known: the variants differ in {same} by the same amount on every sample"
        advice = "Score more outputs, of different length."
        return unknown_calibration_finding(
            "length", judge, f"{why}, so that length cannot be told from the variant.", advice=advice
        )
    lengths = level_variants_to_audit_bias(table.length[rows], variants)
    try:
        bias = length_bias(
            level_variants_to_audit_bias(scores[rows], variants),
            lengths,
            clusters=table.cluster[rows].tolist(),
            groups=group.tolist() if within else None,
            level=level,
        )
    except InputError as error:
        return unknown_calibration_finding(
            "length", judge, f"not known: {error}.", advice="Score more outputs, of different length."
        )
    found = IntervalEstimate(value=bias.slope, low=bias.low, high=bias.high, level=level, method=bias.method, n=bias.n)
    # Twice the standard deviation around the mean of each group, or of all: how far outputs of one sample lie apart.
    left = lengths - (_audited_group_means(lengths, group) if within else lengths.mean())
    typical = 2 * float(np.sqrt(np.mean(left**2))) / 100
    says = (
        f"100 characters more are worth {format_signed(found.value, 3)} points "
        f"{bracket_audit_interval(found, 3)}; a typical difference of "
        f"{format_rounded(typical * 100, 0)} characters is worth {format_signed(found.value * typical)}."
    )
    if not within:
        says += " Only between samples: hard ones may pose as long ones."
    advice = "Ask for the same length of all variants, or say in the rubric that length earns nothing."
    finding = _bias_audit_finding(
        "length", judge, found, seen.smallest_effect / typical, says, advice, unit="points per 100 characters"
    )
    return replace(finding, typical=typical)


def _audit_self_preference(seen: CalibrationAuditedRun, judge: str) -> AuditFinding:
    """The judge's lead of its own kin over the others, beyond the lead that judges of another maker see."""
    name, kin = "self-preference", identify_audited_judge_maker(judge)
    own = [
        variant for variant, by in seen.makers.items() if kin is not None and identify_audited_judge_maker(by) == kin
    ]
    others = [one for one in seen.judges if one != judge and identify_audited_judge_maker(one) != kin]
    why = ""
    if kin is None:
        why = "this judge's maker is not known"
    elif len(seen.makers) < len(seen.table.variants):
        why = "the run does not say which model made the outputs"
    elif len(own) in (0, len(seen.table.variants)):
        why = f"{'every' if own else 'no'} variant is by the judge's own maker"
    elif not others:
        why = "no judge of another maker saw the same outputs"
    if why:
        advice = "Name the model of each variant, and ask a second maker's judge."
        return unknown_calibration_finding(name, judge, f"not known: {why}.", advice=advice)
    ours = _measure_audited_self_preference(seen, seen.scores(judge), own)
    theirs = _measure_audited_self_preference(seen, _mean_audited_judge_scores(seen, others), own)
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    if both.sum() < 2:
        why = "not known: too few samples were judged by both."
        return unknown_calibration_finding(name, judge, why, advice=f"{MORE_SAMPLES_ADVICE}.")
    clusters = np.arange(len(seen.table.samples))
    clusters[seen.table.sample] = seen.table.cluster
    level = bonferroni_audit_level(len(seen.judges))
    found = _estimate_audited_difference(ours[both], theirs[both], clusters[both].tolist(), level)
    points = f"{format_signed(found.value)} points {bracket_audit_interval(found)}"
    says = f"gives {', '.join(own)}, of its own maker, {points} more than other judges do."
    advice = "Let a judge of another maker decide about these variants."
    return _bias_audit_finding(
        name, judge, found, seen.smallest_effect, says, advice, unit="points beyond the other judges"
    )


def identify_audited_judge_maker(name: str) -> str | None:
    """Who made the model of this name: the family that its name begins with; None for what is no such model."""
    kind = name.partition(":")[0]
    if kind in ("python", "replay") or "/" not in name:
        return None
    provider, model = name.split("/", maxsplit=1)[0], name.rsplit("/", 1)[1].lower()
    word = re.match(r"[a-z]+", model)
    if word and word[0] in _MAKERS_BY_MODEL_FAMILY:
        return _MAKERS_BY_MODEL_FAMILY[word[0]]
    return provider if provider in _MAKERS_BY_MODEL_FAMILY.values() else word[0] if word and len(word[0]) > 1 else None


def _measure_audited_self_preference(seen: CalibrationAuditedRun, scores: Floats, own: Sequence[str]) -> Floats:
    """Per sample: the mean of own variants less the mean of the others; NaN where one of them is missing."""
    table = seen.table
    kin = np.isin(table.variant, [table.variants.index(one) for one in own])
    means = []
    for rows in (kin & ~np.isnan(scores), ~kin & ~np.isnan(scores)):
        count = np.bincount(table.sample[rows], minlength=len(table.samples))
        total = np.bincount(table.sample[rows], weights=scores[rows], minlength=len(table.samples))
        means.append(np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0))
    lead: Floats = means[0] - means[1]
    return lead


def _audit_judge_harshness(seen: CalibrationAuditedRun, judge: str) -> AuditFinding:
    ours, theirs = seen.scores(judge), _mean_audited_judge_scores(seen, [one for one in seen.judges if one != judge])
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    clusters = seen.table.cluster[both]
    if len(np.unique(clusters)) < 2:
        return unknown_calibration_finding(
            "harshness", judge, "not known: no two samples were judged by others too.", advice=f"{MORE_SAMPLES_ADVICE}."
        )
    found = _estimate_audited_difference(
        ours[both], theirs[both], clusters.tolist(), bonferroni_audit_level(len(seen.judges))
    )
    word = "harsher" if found.value < 0 else "more generous"
    says = (
        f"{word} than the other judges by {format_number(abs(found.value))} points "
        f"{bracket_audit_interval(found)} on the same outputs."
    )
    colour = grade_audit_effect(found.low, found.high, found.value, seen.smallest_effect)
    gaps = 1 - both.sum() / max(1, int((~np.isnan(theirs)).sum()))
    if colour == "red" and gaps <= 0.05:
        colour = "amber"  # An offset that every output bears alike moves no comparison.
    advice = _advise_on_audited_harshness(seen, ours, scored_all=not gaps)
    return _bias_audit_finding(
        "harshness", judge, found, seen.smallest_effect, says, advice, unit="points", colour=colour
    )


def _advise_on_audited_harshness(seen: CalibrationAuditedRun, scores: Floats, *, scored_all: bool) -> str:
    """Normalising is no advice where it is on, nor where the judge scored too few outputs of each sample for it."""
    together = int(np.bincount(seen.group[~np.isnan(scores)]).max(initial=0))
    if together >= LEAST_TO_NORMALISE and seen.normalises:
        return "Nothing to do: the panel step of the rubric normalises (normalise: z) and takes the offset out."
    if scored_all:
        harmless = "It scored every output, so its offset moves no comparison"
        if together >= LEAST_TO_NORMALISE:
            return f"{harmless}; normalise: z in the panel step of the rubric takes it out of the score."
        return f"{harmless}; to bring it closer, anchor each point of the scale."
    if together >= LEAST_TO_NORMALISE:
        return "Let the panel step of the rubric normalise (normalise: z), or let it score every output."
    return "Let it score every output: then its offset is the same for all variants."


def _mean_audited_judge_scores(seen: CalibrationAuditedRun, judges: Sequence[str]) -> Floats:
    every = np.stack([seen.scores(one) for one in judges])
    given = ~np.isnan(every)
    total = np.where(given, every, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, given.sum(axis=0), out=np.full(len(total), np.nan), where=given.any(axis=0))
    return mean


def _audited_judge_or_panel_scores(seen: CalibrationAuditedRun, judge: str) -> Floats:
    return seen.table.score if judge == PANEL_SUBJECT else seen.scores(judge)


def _estimate_audited_difference(ours: Floats, theirs: Floats, clusters: list[int], level: float) -> IntervalEstimate:
    if len(set(clusters)) < 2:
        return IntervalEstimate(
            value=float(np.mean(ours - theirs)), low=None, high=None, level=level, method="mean", n=1
        )
    found: Difference = paired_difference(
        ours, theirs, rng=np.random.default_rng(SIGN_FLIP_SEED), level=level, clusters=clusters
    )
    low, high = (found.low, found.high) if found.bounded else (None, None)
    return IntervalEstimate(value=found.estimate, low=low, high=high, level=level, method=found.method, n=found.n)


def _bias_audit_finding(  # noqa: PLR0913 - a finding is made here for all of them.
    name: str,
    judge: str,
    found: IntervalEstimate,
    matters: float,
    says: str,
    advice: str,
    *,
    unit: str,
    colour: AuditColour | None = None,
) -> AuditFinding:
    colour = colour or grade_audit_effect(found.low, found.high, found.value, matters)
    if colour == "grey":
        says = f"not seen, and not ruled out: {says}" if found.low is not None else f"not known: {says}"
        advice = f"{MORE_SAMPLES_ADVICE}: {format_plural(found.n, 'sample')} cannot rule out what would matter."
    return measured_audit_finding(name, judge, found, colour, says, advice, unit=unit)


_ROUNDING_TOLERANCE = 1e-9  # What is left of a column of this size, measured by the column, is rounding.


def measure_audited_score_slope(
    scores: Floats, of: Floats, *, groups: Integers, variants: Integers, clusters: Integers, level: float
) -> IntervalEstimate | Undefined:
    """Points of score per unit of `of`: among outputs of one group, and beyond what each variant has on the average.

    Without groups hard samples would pose as an effect, without variants a better one would.
    """
    _, *others = np.unique(variants)
    dummies = [_center_audited_scores((variants == one).astype(np.float64), groups) for one in others]
    x, y = _center_audited_scores(of, groups), _center_audited_scores(scores, groups)
    method, (names, units) = "regression within samples and variants", np.unique(clusters, return_inverse=True)
    columns = [*(one for one in dummies if one.any()), x]
    absorbed = len(np.unique(groups))
    enough = x.any() and len(names) > 1 and len(y) > len(columns) + absorbed
    found = coefficients(columns, y, units, 1 - level, absorbed=absorbed) if enough else None
    if found is None:
        return Undefined(why="it does not differ enough within samples", method=method, n=len(names))
    last, known = found[-1], len(names) >= LEAST_JACKKNIFE_SAMPLES
    return IntervalEstimate(
        value=last.estimate,
        low=last.low if known else None,
        high=last.high if known else None,
        level=level,
        method=f"{method}, jackknife",
        n=len(names),
    )


def level_variants_to_audit_bias(column: Floats, variants: Integers) -> Floats:
    """The column as if every variant had the mean of the highest one: a better variant is no effect of anything."""
    if not len(column):
        return column
    means = _audited_group_means(column, variants)
    apart: Floats = column - means + means.max()
    return apart


def _find_evenly_apart(lengths: Floats, scores: Floats, variants: Integers, group: Integers) -> str:
    """What differs between the outputs of a sample, but by nothing except which variants made them; else nothing."""
    for what, column in (("length", lengths), ("score", scores)):
        if not len(column) or not _center_audited_scores(column, group).any():
            return ""
        if not _center_audited_scores(level_variants_to_audit_bias(column, variants), group).any():
            return what
    return ""


def _center_audited_scores(column: Floats, groups: Integers) -> Floats:
    left = column - _audited_group_means(column, groups)
    return np.where(np.abs(left) <= _ROUNDING_TOLERANCE * max(1.0, float(np.abs(column).max(initial=0.0))), 0.0, left)


def _audited_group_means(column: Floats, places: Integers) -> Floats:
    _, unit, count = np.unique(places, return_inverse=True, return_counts=True)
    return (np.bincount(unit, weights=column) / count)[unit]
