"""How far the judges agree: α and correlations, over all, of each with the others, inside variants, per criterion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations

import numpy as np

from evenhand.calibrate._jackknife import CORRELATION, Estimate, by_cluster, jackknife
from evenhand.calibrate._words import number, plural
from evenhand.calibrate.audits._found import PANEL, AuditFinding, Colour, measured, unknown
from evenhand.calibrate.audits._seen import Floats, Integers, Seen
from evenhand.calibrate.audits._words import LEVEL, bounds, level_of
from evenhand.stats import AGREED, Undefined, band

LEAST_PEARSON = 0.4
WITH_OTHERS = "agreement with others"
_NEARLY = 1e-9  # What is on a band's end on paper is in it.
_ONE = "it takes a second judge"


def agreements(seen: Seen) -> Iterator[AuditFinding]:
    """Over all criteria first, then of each judge, inside the variant where they agree least, by criterion."""
    if len(seen.judges) < 2:
        yield unknown("agreement", PANEL, f"not known: {_ONE}.", advice="Ask a second judge.")
        return
    table, judges = seen.table, seen.judges
    scores = np.stack([seen.scores(judge) for judge in judges])
    each = _each_with_others(scores, table.cluster, judges)
    # The badge of a run speaks of one variant: these figures do not.
    over = "over all variants" if len(table.variants) > 1 else "over all outputs"
    least, apart = _least(each), _apart(each)
    yield _alpha(scores, table.cluster, len(judges), over=over, apart=apart)
    yield _pearson(scores, table.cluster, over=over, apart=apart)
    yield from (_with_others(judge, found, least or judge) for judge, found in each.items())
    if len(table.variants) > 1:
        yield _within_variants(seen, scores)
    nothing = np.full(len(table.score), np.nan)
    for criterion in seen.criteria:
        answers = np.stack([table.judgments.get((judge, criterion), nothing) for judge in judges])
        if not np.isnan(answers).all():
            yield _alpha(answers, table.cluster, len(judges), criterion, over=over)
            yield _pearson(answers, table.cluster, criterion, over=over)


def alpha(raters: Floats, clusters: Integers) -> Estimate | Undefined:
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
    parts = by_cluster(np.stack([within, often, squares, sums], axis=1), clusters[used])
    return jackknife(parts, _alpha_of, level=LEVEL, method=method, bent=CORRELATION)


def pairwise(raters: Floats, clusters: Integers) -> Estimate | Undefined:
    """The mean of Pearson's correlation over the pairs of judges, with an interval over whole samples."""
    return _correlation(list(combinations(raters, 2)), clusters, LEVEL, "mean pairwise Pearson")


def with_others(raters: Floats, place: int, clusters: Integers, level: float = LEVEL) -> Estimate | Undefined:
    """The mean of one judge's correlations with each of the others."""
    pairs = [(raters[place], other) for at, other in enumerate(raters) if at != place]
    return _correlation(pairs, clusters, level, "mean Pearson with each other judge")


def _correlation(
    pairs: Sequence[tuple[Floats, Floats]], clusters: Integers, level: float, method: str
) -> Estimate | Undefined:
    columns = []
    for one, other in pairs:
        both = ~np.isnan(one) & ~np.isnan(other)
        if both.sum() >= 3 and np.ptp(one[both]) > 0 and np.ptp(other[both]) > 0:
            x = np.where(both, one - one[both].mean(), 0.0)
            y = np.where(both, other - other[both].mean(), 0.0)
            columns.append(np.stack([both, x, y, x * x, y * y, x * y], axis=1))
    if not columns:
        return Undefined(why="no two judges gave different answers to the same three outputs", method=method, n=0)
    used = np.any([pair[:, 0] > 0 for pair in columns], axis=0)
    parts = by_cluster(np.concatenate(columns, axis=1)[used], clusters[used])
    return jackknife(parts, _pearson_of, level=level, method=method, bent=CORRELATION)


def _alpha_of(parts: Floats) -> Floats:
    within, ratings, squares, sums = (parts[..., place] for place in range(4))
    between = (2 * ratings * squares - 2 * sums**2) / (ratings * (ratings - 1))
    found: Floats = 1 - within / ratings / np.where(between > 1e-12, between, np.nan)
    return found


def _pearson_of(parts: Floats) -> Floats:
    by_pair = parts.reshape(*parts.shape[:-1], -1, 6)
    n, x, y, xx, yy, xy = (by_pair[..., place] for place in range(6))
    spread = np.sqrt(np.maximum(xx - x * x / n, 0) * np.maximum(yy - y * y / n, 0))
    each = (xy - x * y / n) / np.where(spread > 1e-12, spread, np.nan)
    mean: Floats = np.clip(each, -1, 1).mean(axis=-1)
    return mean


def _each_with_others(scores: Floats, clusters: Integers, judges: Sequence[str]) -> dict[str, Estimate | Undefined]:
    """Of two judges neither can be told to stand apart: from three on."""
    level = level_of(len(judges))
    several = enumerate(judges) if len(judges) > 2 else ()
    return {judge: with_others(scores, place, clusters, level) for place, judge in several}


def _least(each: Mapping[str, Estimate | Undefined]) -> str:
    """Who agrees least with the others; nobody where all agree alike."""
    known = {judge: found.value for judge, found in each.items() if isinstance(found, Estimate)}
    if len({number(value) for value in known.values()}) < 2:
        return ""
    return min(known, key=lambda judge: (known[judge], judge))


def _apart(each: Mapping[str, Estimate | Undefined]) -> str:
    """The same as the end of a sentence."""
    judge = _least(each)
    found = each.get(judge)
    if not isinstance(found, Estimate):
        return ""
    return f"; {judge} agrees least with the others, mean correlation {number(found.value)}"


def _alpha(
    raters: Floats, clusters: Integers, judges: int, criterion: str | None = None, *, over: str, apart: str = ""
) -> AuditFinding:
    found = alpha(raters, clusters)
    if isinstance(found, Undefined):
        return _not_known("agreement", found, criterion)
    colour: Colour = band(found.value)
    if judges == 2 and colour == "red":
        colour = "amber"  # Two judges decide by their correlation; α is a matter of three and more.
    figure = f"{number(found.value)} {bounds(found)}"
    says = f"Krippendorff's α of {plural(judges, 'judge')} {over} is {figure}{apart}."
    return _finding("agreement", found, criterion, colour, says, f"an α of {AGREED}")


def _pearson(
    raters: Floats, clusters: Integers, criterion: str | None = None, *, over: str, apart: str = ""
) -> AuditFinding:
    found = pairwise(raters, clusters)
    if isinstance(found, Undefined):
        return _not_known("correlation", found, criterion)
    colour: Colour = "green" if found.value + _NEARLY >= LEAST_PEARSON else "red"
    says = f"the mean correlation of two judges {over} is {number(found.value)} {bounds(found)}{apart}."
    return _finding("correlation", found, criterion, colour, says, f"a mean correlation of {LEAST_PEARSON}")


def _with_others(judge: str, found: Estimate | Undefined, least: str) -> AuditFinding:
    """One judge that stands apart lowers the figure of all others: the advice is about that one."""
    if isinstance(found, Undefined):
        why = "it and another judge never gave different answers to the same three outputs"
        return unknown(WITH_OTHERS, judge, f"not known: {why}.", advice="Ask about outputs that differ.")
    says = f"its mean correlation with each other judge is {number(found.value)} {bounds(found)}."
    advice = "Read its answers where it stands apart: sharpen the anchors, or decide without this judge."
    if least != judge:
        advice = f"See {least} first, which agrees least with the others."
    return measured(WITH_OTHERS, judge, found, band(found.value), says, advice, unit="correlation")


def _within_variants(seen: Seen, scores: Floats) -> AuditFinding:
    """The variant that the judges agree on least, as in the badge: agreeing on which variant is better is less."""
    known: dict[str, Estimate] = {}
    for place, variant in enumerate(seen.table.variants):
        rows = seen.table.variant == place
        found = pairwise(scores[:, rows], seen.table.cluster[rows])
        if isinstance(found, Estimate):
            known[variant] = found
    name = "correlation within variants"
    if not known:
        return unknown(name, PANEL, "not known: no variant has three outputs that two judges scored differently.")
    variant, least = min(known.items(), key=lambda one: one[1].value)
    rows = seen.table.variant == seen.table.variants.index(variant)
    apart = _apart(_each_with_others(scores[:, rows], seen.table.cluster[rows], seen.judges))
    colour: Colour = "green" if least.value + _NEARLY >= LEAST_PEARSON else "red"
    figure = f"{number(least.value)} {bounds(least)}"
    says = f"on outputs of {variant} alone the mean correlation of two judges is {figure}{apart}."
    return _finding(name, least, None, colour, says, f"a mean correlation of {LEAST_PEARSON}")


def _finding(name: str, found: Estimate, criterion: str | None, colour: Colour, says: str, wanted: str) -> AuditFinding:
    where = f" on {criterion}" if criterion else ""
    unit = "agreement, 1 is full" if name == "agreement" else "correlation"
    advice = f"Sharpen the anchors until the judges reach {wanted}{where}."
    return measured(name, PANEL, found, colour, says, advice, unit=unit, criterion=criterion)


def _not_known(name: str, found: Undefined, criterion: str | None) -> AuditFinding:
    advice = "Ask about outputs that differ, and see that every judge answers."
    return unknown(name, PANEL, f"not known: {found.why}.", advice=advice, criterion=criterion)
