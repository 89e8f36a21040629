"""The success metrics of a council: variance against holistic scores, a stable ranking, conciseness against length."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np

from evenhand.calibrate._jackknife import RATIO, Estimate, by_cluster, jackknife
from evenhand.calibrate._words import number, percent, plural
from evenhand.calibrate.audits._agreement import pairwise
from evenhand.calibrate.audits._found import PANEL, AuditFinding, Colour, measured, unknown
from evenhand.calibrate.audits._seen import Floats, Integers, Seen, units
from evenhand.calibrate.audits._words import LEVEL, bounds
from evenhand.stats import Undefined

CONCISENESS = "conciseness"
MOST_COUNTED = 5  # Judges for which every way of drawing them with replacement is counted; beyond, ways are drawn.
DRAWN = 1_000
SEED = 20_261_116
SURE, LIKELY = 0.95, 0.80


def council_metrics(seen: Seen) -> Iterator[AuditFinding]:
    """What METHODS asks of a council, for any panel; conciseness where the rubric asks for it."""
    if len(seen.judges) > 1:
        yield _variance(seen)
    if len(seen.judges) > 1 and len(seen.table.variants) > 1:
        yield _stability(seen)
    if CONCISENESS in seen.table.criteria:
        yield _conciseness(seen)


def _variance(seen: Seen) -> AuditFinding:
    """Of reviewers around their mean on one output: scores worked out from criteria over scores for the whole."""
    name = "variance against holistic"
    scores = np.stack([seen.scores(judge) for judge in seen.judges])
    whole = np.full_like(scores, np.nan)
    for place, judge in enumerate(seen.judges):
        whole[place] = seen.holistic.get(judge, whole[place])
    worked_out = np.where(np.isnan(whole), scores, np.nan)
    ours, theirs = _around(worked_out), _around(whole)
    if not ours[:, 1].sum():
        return unknown(name, PANEL, "not known: no output was scored by two judges.", advice="See the failures.")
    own = math.sqrt(ours[:, 0].sum() / ours[:, 1].sum())
    told = f"scores that judges' answers come to differ by {number(own)} points (standard deviation) on one output"
    if not theirs[:, 1].sum():
        why = "no two reviewers gave a score for the whole"
        return unknown(name, PANEL, f"not known: {told}; {why}.", advice="Nothing to do where every rubric is read.")
    parts = by_cluster(np.concatenate([ours, theirs], axis=1), seen.table.cluster)
    found = jackknife(parts, _ratio, level=LEVEL, method="ratio of variances", bent=RATIO)
    if isinstance(found, Undefined):
        return unknown(name, PANEL, f"not known: {told}; {found.why}.")
    high = found.value if found.high is None else found.high
    colour: Colour = "green" if high <= 1 else "amber" if found.value <= 1 else "red"
    says = f"{told}: {number(found.value)} times {bounds(found)} the variance of scores for the whole."
    advice = "Sharpen the anchors: criteria should make reviewers differ less than a score for the whole does."
    return measured(name, PANEL, found, colour, says, advice, unit="ratio of variances")


def _around(scores: Floats) -> Floats:
    """Per output: squares around the reviewers' mean, and what to divide them by."""
    given = ~np.isnan(scores)
    often = given.sum(axis=0)
    total = np.where(given, scores, 0.0).sum(axis=0)
    mean = np.divide(total, often, out=np.zeros(len(total)), where=often > 0)
    squares = np.where(given, (scores - mean) ** 2, 0.0).sum(axis=0)
    return np.stack([squares, np.maximum(often - 1, 0)], axis=1)


def _ratio(sums: Floats) -> Floats:
    found: Floats = (sums[..., 0] / sums[..., 1]) / (sums[..., 2] / sums[..., 3])
    return found


def _stability(seen: Seen) -> AuditFinding:
    """The share of panels drawn from these reviewers, with replacement, that rank the variants the same."""
    name = "ranking stability"
    scores = np.stack([seen.scores(judge) for judge in seen.judges])
    weights, chances, method = _panels(len(seen.judges))
    means = np.stack([_variant_means(scores, one, seen) for one in weights])
    own = _variant_means(scores, np.ones(len(scores)), seen)
    if np.isnan(own).any():
        return unknown(name, PANEL, "not known: a variant has no score of any judge.", advice="See the failures.")
    known = ~np.isnan(means).any(axis=1)
    chances = chances[known] / chances[known].sum()
    same = float(chances @ (means[known].argmax(axis=1) == own.argmax()))
    pairs = np.triu_indices(len(own), 1)
    signs, before = (np.sign(np.round(rows[:, pairs[0]] - rows[:, pairs[1]], 9)) for rows in (means[known], own[None]))
    order, tau = float(chances @ (signs == before).all(axis=1)), float(chances @ (signs * before).mean(axis=1))
    first = seen.table.variants[int(own.argmax())]
    colour: Colour = "green" if same >= SURE else "amber" if same >= LIKELY else "red"
    says = (
        f"{first} stays first in {percent(same)} of the panels drawn from these judges; the whole order stays in "
        f"{percent(order)}, Kendall's τ {number(tau)} on the average."
    )
    found = Estimate(value=same, low=None, high=None, level=LEVEL, method=method, n=units(seen.table.cluster))
    advice = "Ask more judges, or more samples: another panel of the same kind would name another first."
    return measured(name, PANEL, found, colour, says, advice, unit="share of panels")


def _panels(judges: int) -> tuple[Floats, Floats, str]:
    """How often each judge is drawn, and how likely that is."""
    if judges <= MOST_COUNTED:
        ways = [way for way in np.ndindex(*(judges + 1,) * judges) if sum(way) == judges]
        chances = [math.factorial(judges) / math.prod(map(math.factorial, way)) / judges**judges for way in ways]
        return np.array(ways, dtype=np.float64), np.array(chances), "every panel that can be drawn"
    drawn = np.random.default_rng(SEED).multinomial(judges, np.full(judges, 1 / judges), size=DRAWN)
    return drawn.astype(np.float64), np.full(DRAWN, 1 / DRAWN), f"{DRAWN:,} drawn panels"


def _variant_means(scores: Floats, weights: Floats, seen: Seen) -> Floats:
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


def _conciseness(seen: Seen) -> AuditFinding:
    """Longer outputs should not be called more concise."""
    name, table = "conciseness and length", seen.table
    column: Floats = table.criteria[CONCISENESS]
    clusters: Integers = table.cluster
    found = pairwise(np.stack([column, table.length]), clusters)
    if isinstance(found, Undefined):
        why = "conciseness or length is the same throughout, or fewer than three outputs have both"
        return unknown(
            name, PANEL, f"not known: {why}.", advice="Score outputs of different length.", criterion=CONCISENESS
        )
    low = found.value if found.low is None else found.low
    colour: Colour = "red" if low > 0 else "amber" if found.value > 0 else "green"
    rows = int((~np.isnan(column) & ~np.isnan(table.length)).sum())
    says = f"conciseness and length correlate by {number(found.value)} {bounds(found)} over {plural(rows, 'output')}."
    advice = "Anchor conciseness by what could be cut: at present longer outputs pass for more concise."
    return measured(name, PANEL, found, colour, says, advice, unit="correlation")
