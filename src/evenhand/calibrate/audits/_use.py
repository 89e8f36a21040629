"""How a judge uses its scale: ends, spread, its own noise over repeats, and what it left unanswered."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np

from evenhand.calibrate._jackknife import RATIO, Estimate, by_cluster, jackknife
from evenhand.calibrate._words import number, percent, plural
from evenhand.calibrate.audits._found import PANEL, AuditFinding, Colour, measured, unknown
from evenhand.calibrate.audits._seen import Floats, Heard, Integers, Seen
from evenhand.calibrate.audits._words import LEVEL, bounds
from evenhand.stats import Undefined, wilson

AMBER_END, RED_END = 0.6, 0.9  # Of graded answers at one end of the scale.
YES_END = 0.95  # Of yes/no answers, which have nothing but ends.
LEAST_SPREAD = 0.05  # Of the scale: a standard deviation below it tells hardly any two outputs apart.
AMBER_SILENT, RED_SILENT = 0.01, 0.05


def uses(seen: Seen) -> Iterator[AuditFinding]:
    """Ceiling, floor, spread and repeat noise of every judge and the panel; silence of every judge."""
    several = len(seen.judges) > 1
    for judge in seen.judges:
        answers = {id: seen.table.judgments[judge, id] for id in seen.criteria if (judge, id) in seen.table.judgments}
        yield from _ends(seen, judge, answers)
    if several:
        counted = {id: seen.table.criteria[id] for id in seen.criteria if id in seen.table.criteria}
        yield from _ends(seen, PANEL, counted)
    for judge in [*seen.judges, *([PANEL] if several else [])]:
        yield _repeat_noise(seen, judge)
    for judge, heard in seen.heard.items():
        yield _silence(judge, heard)


def _ends(seen: Seen, judge: str, answers: Mapping[str, Floats]) -> Iterator[AuditFinding]:
    """Over all criteria together, the one that stands out named."""
    if not answers or all(np.isnan(column).all() for column in answers.values()):
        yield unknown("ceiling", judge, "not known: it gave no answer.", advice="See its failures.")
        return
    yield _end(seen, judge, answers, "ceiling", 1)
    yield _end(seen, judge, answers, "floor", 0)
    yield _spread(seen, judge, answers)


def _end(seen: Seen, judge: str, answers: Mapping[str, Floats], name: str, which: int) -> AuditFinding:
    held = {id: _at(column, seen.criteria[id]["ends"][which]) for id, column in answers.items()}
    rows = np.concatenate(list(held.values()))
    given = ~np.isnan(rows)
    clusters = np.tile(seen.table.cluster, len(held))[given]
    found = _share(rows[given], clusters)
    graded = any(seen.criteria[id]["scale"] != "yes/no" for id in answers)
    amber, red = (AMBER_END, RED_END) if graded else (YES_END, 2.0)
    colour: Colour = "red" if found.value >= red else "amber" if found.value >= amber else "green"
    worst = max(held, key=lambda id: _mean(held[id]))
    end = ("lowest", "highest")[which]
    says = f"{percent(found.value)} {_shares(found)} of its answers are the {end} there is"
    says += f"; most of all on {worst}, {percent(_mean(held[worst]))}." if len(held) > 1 else "."
    advice = f"Anchor the {end} level so that fewer outputs reach it, or ask harder samples."
    return measured(name, judge, found, colour, says, advice, unit="share of answers")


def _at(column: Floats, end: float) -> Floats:
    return np.where(np.isnan(column), np.nan, np.abs(column - end) < 1e-9)


def _mean(column: Floats) -> float:
    given = column[~np.isnan(column)]
    return float(given.mean()) if len(given) else 0.0


def _share(held: Floats, clusters: Integers) -> Estimate:
    """A share with an interval over samples; where all samples say the same, Wilson's over their number."""
    parts = by_cluster(np.stack([held, np.ones(len(held))], axis=1), clusters)
    found = jackknife(parts, lambda sums: sums[..., 0] / sums[..., 1], level=LEVEL, method="share")
    assert isinstance(found, Estimate)  # There is at least one answer.
    if found.low is not None and found.high is not None:
        low, high = max(0.0, found.low), min(1.0, found.high)
        return Estimate(value=found.value, low=low, high=high, level=LEVEL, method=found.method, n=found.n)
    if found.value in (0.0, 1.0):
        rate = wilson(round(found.value * found.n), found.n)
        return Estimate(value=found.value, low=rate.low, high=rate.high, level=LEVEL, method="Wilson", n=found.n)
    return found


def _shares(found: Estimate) -> str:
    if found.low is None or found.high is None:
        return "(no interval)"
    return f"[{found.low * 100:.0f}, {found.high * 100:.0f}]"


def _spread(seen: Seen, judge: str, answers: Mapping[str, Floats]) -> AuditFinding:
    """The standard deviation of its answers around each criterion's mean, as a share of the scale."""
    shares = []
    for id, column in answers.items():
        low, high = seen.criteria[id]["ends"]
        shares.append((column - _mean(column)) / (high - low))
    rows = np.concatenate(shares)
    given = ~np.isnan(rows)
    parts = by_cluster(
        np.stack([rows[given] ** 2, np.ones(int(given.sum()))], axis=1), np.tile(seen.table.cluster, len(shares))[given]
    )
    found = jackknife(
        parts, lambda sums: np.sqrt(sums[..., 0] / sums[..., 1]), level=LEVEL, method="standard deviation", bent=RATIO
    )
    assert isinstance(found, Estimate)
    levels = max(len(np.unique(np.round(column[~np.isnan(column)], 6))) for column in answers.values())
    colour: Colour = "green" if found.value >= LEAST_SPREAD else "red" if found.value == 0 else "amber"
    share = f"{percent(found.value)} of the scale"
    says = f"its answers spread over {share} (standard deviation), on {plural(levels, 'level')}."
    advice = "Anchor each level, so that answers that differ can be given to outputs that differ."
    return measured("spread", judge, found, colour, says, advice, unit="share of the scale")


def _repeat_noise(seen: Seen, judge: str) -> AuditFinding:
    """How far scores of the same sample and variant lie apart from repeat to repeat."""
    table = seen.table
    scores = table.score if judge == PANEL else seen.scores(judge)
    rows = ~np.isnan(scores)
    cell = (table.sample * len(table.variants) + table.variant)[rows]
    _, unit, times = np.unique(cell, return_inverse=True, return_counts=True)
    if not len(times) or times.max() < 2:
        why = "no sample was judged twice" if table.frame.repeats < 2 else "no sample has two scores"
        return unknown("repeat noise", judge, f"not known: {why}.", advice="Run it with repeats: 3.")
    means = (np.bincount(unit, weights=scores[rows]) / times)[unit]
    # A sample that was scored once has no spread, and takes no part in the divisor.
    freedom = 1 - 1 / times[unit]
    parts = by_cluster(np.stack([(scores[rows] - means) ** 2, freedom], axis=1), table.cluster[rows])
    found = jackknife(
        parts[parts[:, 1] > 0],
        lambda sums: np.sqrt(sums[..., 0] / sums[..., 1]),
        level=LEVEL,
        method="standard deviation within samples",
        bent=RATIO,
    )
    if isinstance(found, Undefined):
        return unknown("repeat noise", judge, f"not known: {found.why}.", advice="Run it with repeats: 3.")
    colour: Colour = "green" if found.value <= seen.matters else "amber" if found.value <= 2 * seen.matters else "red"
    says = f"scores of one sample differ by {number(found.value)} points {bounds(found)} from repeat to repeat."
    advice = "Ask more often (how: {samples: 5}), at temperature 0, or ask more judges."
    return measured("repeat noise", judge, found, colour, says, advice, unit="points")


def _silence(judge: str, heard: Heard) -> AuditFinding:
    if not heard.asked:
        return unknown("failures", judge, "not known: it was asked nothing.")
    silent = heard.abstained + heard.failed
    rate = wilson(silent, heard.asked)
    colour: Colour = "red" if rate.estimate > RED_SILENT else "amber" if rate.estimate > AMBER_SILENT else "green"
    lost = f"{heard.failed:,} failed or could not be read"
    says = f"of {plural(heard.asked, 'answer')} {lost}, {plural(heard.abstained, 'time')} it abstained."
    advice = "See the failures of the run: a budget, a limit or an unreadable reply can be mended."
    if heard.abstained > heard.failed:
        advice = "See what it abstains on: a question that cannot be answered from the output needs a reference."
    found = Estimate(
        value=rate.estimate, low=rate.low, high=rate.high, level=rate.level, method=rate.method, n=heard.asked
    )
    return measured("failures", judge, found, colour, says, advice, unit="share of answers")
