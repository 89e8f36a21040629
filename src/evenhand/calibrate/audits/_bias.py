"""What a score should not depend on: the seat, the length, who made the output, who judges it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from evenhand.calibrate._jackknife import Estimate
from evenhand.calibrate._words import number, plural, signed
from evenhand.calibrate.audits._found import PANEL, AuditFinding, Colour, measured, unknown
from evenhand.calibrate.audits._seen import Floats, Seen, units
from evenhand.calibrate.audits._slope import set_apart, slope, spread_within
from evenhand.calibrate.audits._words import bounds, effect_colour, level_of
from evenhand.errors import InputError
from evenhand.stats import Difference, Undefined, length_bias, paired_difference

MORE = "Score more samples"
SEED = 20_261_116  # Where there are too many sign flips to count, the same ones are drawn each time.
_MAKERS = {"gpt": "openai", "chatgpt": "openai", "claude": "anthropic"}


def biases(seen: Seen) -> Iterator[AuditFinding]:
    """Position, length, self-preference and harshness, of every judge; the first two of the panel, too."""
    several = len(seen.judges) > 1
    everyone = [*seen.judges, *([PANEL] if several else [])]
    yield from (_position(seen, judge, level_of(len(everyone))) for judge in everyone)
    yield from (_length(seen, judge, level_of(len(everyone))) for judge in everyone)
    yield from (_self_preference(seen, judge) for judge in seen.judges)
    yield from (_harshness(seen, judge) for judge in seen.judges if several)


def _position(seen: Seen, judge: str, level: float) -> AuditFinding:
    table, scores, first = seen.table, _scores(seen, judge), _first(seen, judge)
    rows = ~np.isnan(first) & ~np.isnan(scores)
    if not rows.any():
        why = "each output was shown alone, so that no seat is first"
        return unknown("position", judge, f"not known: {why}.", advice="Nothing to do: there is no order to follow.")
    found = slope(
        scores[rows],
        first[rows],
        groups=seen.group[rows],
        variants=table.variant[rows],
        clusters=table.cluster[rows],
        level=level,
    )
    if isinstance(found, Undefined):
        why = "the outputs were always shown in the same order, or alone"
        return unknown("position", judge, f"not known: {why}.", advice=f"{MORE}: the order is drawn for each.")
    seats = "" if judge == PANEL else f" Mean by seat: {_by_seat(seen, judge, scores)}."
    says = f"an output shown first gets {signed(found.value)} points {bounds(found)}.{seats}"
    advice = "Show each output alone (how: {each: true}), or ask more judges, each with an order of its own."
    return _effect("position", judge, found, seen.matters, says, advice, unit="points of the first seat")


def _first(seen: Seen, judge: str) -> Floats:
    """1 where a judge saw the output first, else 0; of a panel the share of its judges."""
    seats = seen.table.seats
    if judge != PANEL:
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


def _by_seat(seen: Seen, judge: str, scores: Floats) -> str:
    seats = seen.table.seats[judge]
    there = [seat for seat in range(1, 6) if ((seats == seat) & ~np.isnan(scores)).any()]
    return ", ".join(f"{seat}: {number(float(np.nanmean(scores[seats == seat])))}" for seat in there)


def _length(seen: Seen, judge: str, level: float) -> AuditFinding:
    table, scores = seen.table, _scores(seen, judge)
    rows = ~np.isnan(table.length) & ~np.isnan(scores)
    variants, group = table.variant[rows], seen.group[rows]
    within = len(np.unique(group)) < len(group)
    lengths = set_apart(table.length[rows], variants)
    try:
        bias = length_bias(
            set_apart(scores[rows], variants),
            lengths,
            clusters=table.cluster[rows].tolist(),
            groups=group.tolist() if within else None,
            level=level,
        )
    except InputError as error:
        return unknown("length", judge, f"not known: {error}.", advice="Score more outputs, of different length.")
    found = Estimate(value=bias.slope, low=bias.low, high=bias.high, level=level, method=bias.method, n=bias.n)
    typical = 2 * spread_within(lengths, group if within else None) / 100
    says = (
        f"100 characters more are worth {signed(found.value, 3)} points {bounds(found, 3)}; a typical difference of "
        f"{typical * 100:.0f} characters is worth {signed(found.value * typical)}."
    )
    if not within:
        says += " Only between samples: hard ones may pose as long ones."
    advice = "Ask for the same length of all variants, or say in the rubric that length is no merit."
    return _effect("length", judge, found, seen.matters / typical, says, advice, unit="points per 100 characters")


def _self_preference(seen: Seen, judge: str) -> AuditFinding:
    """The judge's lead of its own kin over the others, beyond the lead that judges of another maker see."""
    name, kin = "self-preference", maker(judge)
    own = [variant for variant, by in seen.makers.items() if kin is not None and maker(by) == kin]
    why = _why_no_kin(seen, kin, own)
    others = [one for one in seen.judges if one != judge and maker(one) != kin]
    if not why and not others:
        why = "no judge of another maker saw the same outputs"
    if why:
        return unknown(
            name, judge, f"not known: {why}.", advice="Name the model of each variant, and ask a second maker's judge."
        )
    ours, theirs = _lead(seen, seen.scores(judge), own), _lead(seen, _mean(seen, others), own)
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    if both.sum() < 2:
        return unknown(name, judge, "not known: too few samples were judged by both.", advice=f"{MORE}.")
    clusters = _cluster_of_sample(seen)[both].tolist()
    found = _paired(ours[both], theirs[both], clusters, level_of(len(seen.judges)))
    kindred = f"{', '.join(own)}, of its own maker,"
    says = f"gives {kindred} {signed(found.value)} points {bounds(found)} more than other judges do."
    advice = "Let a judge of another maker decide about these variants."
    return _effect(name, judge, found, seen.matters, says, advice, unit="points beyond the other judges")


def _why_no_kin(seen: Seen, kin: str | None, own: Sequence[str]) -> str:
    if kin is None:
        return "the judge is no model of a known maker"
    if len(seen.makers) < len(seen.table.variants):
        return "the run does not say which model made the outputs"
    if not own:
        return "no variant is by the judge's own maker"
    return "every variant is by the judge's own maker" if len(own) == len(seen.table.variants) else ""


def maker(name: str) -> str | None:
    """Who made the model of this name: the family that its name begins with; None for what is no such model."""
    kind = name.partition(":")[0]
    if kind in ("python", "replay") or "/" not in name:
        return None
    provider, model = name.split("/", maxsplit=1)[0], name.rsplit("/", 1)[1].lower()
    word = re.match(r"[a-z]+", model)
    if word and word[0] in _MAKERS:
        return _MAKERS[word[0]]
    return provider if provider in _MAKERS.values() else word[0] if word and len(word[0]) > 1 else None


def _lead(seen: Seen, scores: Floats, own: Sequence[str]) -> Floats:
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


def _cluster_of_sample(seen: Seen) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    clusters = np.arange(len(seen.table.samples))
    clusters[seen.table.sample] = seen.table.cluster
    return clusters


def _harshness(seen: Seen, judge: str) -> AuditFinding:
    ours, theirs = seen.scores(judge), _mean(seen, [one for one in seen.judges if one != judge])
    both = ~np.isnan(ours) & ~np.isnan(theirs)
    clusters = seen.table.cluster[both]
    if units(clusters) < 2:
        return unknown("harshness", judge, "not known: no two samples were judged by others too.", advice=f"{MORE}.")
    found = _paired(ours[both], theirs[both], clusters.tolist(), level_of(len(seen.judges)))
    word = "harsher" if found.value < 0 else "more generous"
    says = f"{word} than the other judges by {number(abs(found.value))} points {bounds(found)} on the same outputs."
    colour = effect_colour(found.low, found.high, found.value, seen.matters)
    gaps = 1 - both.sum() / max(1, int((~np.isnan(theirs)).sum()))
    if colour == "red" and gaps <= 0.05:
        colour = "amber"  # An offset that every output bears alike moves no comparison.
    advice = "Let the panel step of the rubric normalise (normalise: z), or see that it answers for every output."
    return _effect("harshness", judge, found, seen.matters, says, advice, unit="points", colour=colour)


def _mean(seen: Seen, judges: Sequence[str]) -> Floats:
    every = np.stack([seen.scores(one) for one in judges])
    given = ~np.isnan(every)
    total = np.where(given, every, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, given.sum(axis=0), out=np.full(len(total), np.nan), where=given.any(axis=0))
    return mean


def _scores(seen: Seen, judge: str) -> Floats:
    return seen.table.score if judge == PANEL else seen.scores(judge)


def _paired(ours: Floats, theirs: Floats, clusters: list[int], level: float) -> Estimate:
    if len(set(clusters)) < 2:
        return Estimate(value=float(np.mean(ours - theirs)), low=None, high=None, level=level, method="mean", n=1)
    found: Difference = paired_difference(ours, theirs, rng=np.random.default_rng(SEED), level=level, clusters=clusters)
    low, high = (found.low, found.high) if found.bounded else (None, None)
    return Estimate(value=found.estimate, low=low, high=high, level=level, method=found.method, n=found.n)


def _effect(  # noqa: PLR0913 - a finding is made here for all of them.
    name: str,
    judge: str,
    found: Estimate,
    matters: float,
    says: str,
    advice: str,
    *,
    unit: str,
    colour: Colour | None = None,
) -> AuditFinding:
    colour = colour or effect_colour(found.low, found.high, found.value, matters)
    if colour == "grey":
        says = f"not seen, and not ruled out: {says}" if found.low is not None else f"not known: {says}"
        advice = f"{MORE}: {plural(found.n, 'sample')} cannot rule out what would matter."
    return measured(name, judge, found, colour, says, advice, unit=unit)
