"""A calibration as plain data: every number with its interval, n and method, or why there is none."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any

import numpy as np

from evenhand.calibrate._bias import Bias
from evenhand.calibrate._calibration import Calibration
from evenhand.calibrate._figures import Figure, pearson
from evenhand.calibrate._labelled import Floats, Labelled, labelled
from evenhand.calibrate._labels import Label
from evenhand.calibrate._maps import LEAST_ISOTONIC, CalibrationMap, fitted
from evenhand.calibrate._means import HumanMean
from evenhand.calibrate._pairs import Pairs, against_people
from evenhand.calibrate._questions import Question
from evenhand.calibrate._recommend import NotRecommended, Recommended
from evenhand.runs import Table

Json = dict[str, Any]
STEPS = 40  # Of the scale, by which points that lie close together become one.


def calibration_json(one: Calibration) -> Json:
    """All of it."""
    found = one.labelled
    return {
        "run": one.run,
        "name": one.name,
        "labels": found.labels,
        "raters": list(found.raters),
        "judges": list(found.judges),
        "outputs": len(found.ids),
        "samples": found.samples,
        "aligned": asdict(one.aligned),
        "agreement": [
            {
                "judge": each.who,
                "question": each.question,
                "alpha": _figure(each.alpha),
                "alpha_each_person": _figure(each.each),
                "kappa": None if each.kappa is None else _figure(each.kappa),
                "pearson": _figure(each.pearson),
                "spearman": _figure(each.spearman),
            }
            for each in one.agreed
        ],
        "people": [{"question": each.question, "alpha": _figure(each.alpha)} for each in one.ceilings],
        "bias": [_bias(each) for each in one.biases],
        "confusion": [
            {"judge": each.who, "question": each.question, "levels": each.levels, "counts": each.counts}
            for each in one.confusions
        ],
        "recommendation": _recommendation(one.recommended, one.warnings),
        "maps": [_map(each) for each in one.maps],
        "means": [_mean(each) for each in one.means],
    }


def scatter_json(table: Table, labels: Sequence[Label]) -> Json | None:
    """Judges against people as points for a report; None without labels."""
    if not labels:
        return None
    found = labelled(table, labels)
    single = found.overall[0] if len(found.overall) == 1 else None
    scale = [single.low, single.high] if single else [0.0, 1.0]
    return {"scale": scale, "judges": [_points(found, who, scale, single) for who in found.answerers]}


def _points(found: Labelled, who: str, scale: Sequence[float], single: Question | None) -> Json:
    pairs = against_people(found, who, found.overall)
    question = single or Question(id="", low=scale[0], high=scale[1], whole=False)
    samples = len(np.unique(pairs.cluster))
    knots = fitted(pairs.x, pairs.y, "isotonic" if samples >= LEAST_ISOTONIC else "linear", question) if pairs.n else ()
    return {
        "judge": who,
        "points": _binned(pairs, scale),
        "pearson": pearson(pairs).value,
        "bias": float((pairs.x - pairs.y).mean()) if pairs.n else None,
        "n": pairs.n,
        "map": [list(knot) for knot in knots],
    }


def _binned(pairs: Pairs, scale: Sequence[float]) -> list[list[float]]:
    step = (scale[1] - scale[0]) / STEPS
    points, counts = np.unique(np.stack([_put(one, step) for one in (pairs.x, pairs.y)]), axis=1, return_counts=True)
    return [[float(x), float(y), int(many)] for x, y, many in zip(*points, counts, strict=True)]


def _put(values: Floats, step: float) -> Floats:
    return np.round(np.round(values / step) * step, 6)


def _figure(one: Figure) -> Json:
    return asdict(one)


def _bias(one: Bias) -> Json:
    return {"judge": one.who, **{name: value for name, value in asdict(one).items() if name != "who"}}


def _recommendation(one: Recommended | NotRecommended, warnings: Sequence[str]) -> Json:
    if isinstance(one, NotRecommended):
        return {"chosen": None, "why": one.why, "more_samples": one.more}
    return {
        "chosen": asdict(one.chosen),
        "best": one.best.name,
        "error": one.error,
        "error_now": one.error_now,
        "gain": asdict(one.gain),
        "alpha": _figure(one.alpha),
        "same": one.same,
        "choices": one.choices,
        "samples": one.samples,
        "tried": one.tried,
        "warnings": list(warnings),
        "candidates": [asdict(each) for each in one.candidates],
    }


def _map(one: CalibrationMap) -> Json:
    return {
        "judge": one.who,
        "question": one.question,
        "kind": one.kind,
        "knots": [list(knot) for knot in one.knots],
        "points": _through(one),
        "error_before": one.before,
        "error_after": one.after,
        "gain": None if one.gain is None else asdict(one.gain),
        "helps": one.helps,
        "n": one.n,
        "samples": one.samples,
        "why": one.why,
    }


def _through(one: CalibrationMap) -> list[list[float]]:
    """The map at its ends and in the middle, for a table."""
    if not one.knots:
        return []
    at = np.unique(np.linspace(one.knots[0][0], one.knots[-1][0], 3))
    return [[float(x), float(y)] for x, y in zip(at, one.apply(at), strict=True)]


def _mean(one: HumanMean) -> Json:
    return asdict(one)
