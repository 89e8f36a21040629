"""Runs as columns, valid by default, so that a test of an audit or of weights names only what it is about."""

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenhand import Rubric, load_rubric
from evenhand.calibrate.audits.findings import Audit, AuditFinding, CalibrationAuditedRun
from evenhand.runs.columns import RunTable
from evenhand.runs.run_record import RunEvalRecord, run_rubric_snapshot_json
from evenhand.scoring.scores import to_scoring_fingerprint_data

Floats = NDArray[np.float64]
RUN = "20261116-090000-000001"
ALONE = {"accuracy": "1"}
WEIGHTS = {"accuracy": "0.5", "clarity": "0.3", "depth": "0.2"}


def rubric(weights: Mapping[str, str] | None = None, **more: object) -> Rubric:
    """Criteria from 1 to 10 that are added up by weight."""
    asked = weights or WEIGHTS
    criteria = [{"id": id, "asks": f"How good is its {id}?", "weight": float(weight)} for id, weight in asked.items()]
    return load_rubric({"name": "test", "method": "judge-skill", "criteria": criteria, **more})


def kept(*rubrics: Rubric) -> dict[str, Any]:
    """Rubrics as a run keeps them, the first for all samples."""
    return {"" if place == 0 else f"tag{place}": to_scoring_fingerprint_data(one) for place, one in enumerate(rubrics)}


def table(
    judgments: Mapping[tuple[str, str], ArrayLike],
    *,
    asked: Rubric | None = None,
    variants: Sequence[str] = ("old", "new"),
    length: ArrayLike | None = None,
    seats: Mapping[str, ArrayLike] | None = None,
    layers: Mapping[str, ArrayLike] | None = None,
    score: ArrayLike | None = None,
    clusters: Sequence[int] | None = None,
    ids: Sequence[str] | None = None,
) -> RunTable:
    """A run from answers by judge and criterion, each samples × variants, or samples × variants × repeats.

    What counts for an output is the judges' mean on each criterion, its score the sum of these by weight.
    """
    asked = asked or rubric()
    given = {key: _cube(answers) for key, answers in judgments.items()}
    samples, count, repeats = next(iter(given.values()), _cube(np.zeros((1, len(variants))))).shape
    sample, variant, repeat = (one.ravel() for one in np.indices((samples, count, repeats)))
    judges = tuple(dict.fromkeys(judge for judge, _ in given))
    criteria = {id: _mean([given[judge, id] for judge in judges if (judge, id) in given]) for id in asked.leaves}
    flat = {id: column for id, column in criteria.items() if column is not None}
    reviews = {judge: _scores({id: given.get((judge, id)) for id in flat}, asked) for judge in judges}
    own = _scores(flat, asked) if score is None else _cube(score)
    return RunTable(
        run=RUN,
        frame=_frame(asked, variants, judges, repeats),
        samples=tuple(ids or (f"s{place}" for place in range(samples))),
        variants=tuple(variants),
        sample=sample,
        variant=variant,
        repeat=repeat,
        cluster=sample if clusters is None else np.asarray(clusters)[sample],
        length=np.full(len(sample), 100.0) if length is None else _cube(length).ravel(),
        score=own.ravel(),
        composite=own.ravel(),
        layers={name: _cube(column).ravel() for name, column in (layers or {}).items()},
        criteria={id: column.ravel() for id, column in flat.items()},
        reviews={judge: column.ravel() for judge, column in reviews.items()} if len(judges) > 1 else {},
        judgments={key: column.ravel() for key, column in given.items()},
        seats={judge: _cube(column).ravel() for judge, column in (seats or {}).items()},
    )


def found(audited: Audit, name: str, judge: str = "panel", criterion: str | None = None) -> AuditFinding:
    """The one finding of that name."""
    (one,) = [f for f in audited.findings if (f.name, f.judge, f.criterion) == (name, judge, criterion)]
    return one


def seen(run: RunTable, **more: Any) -> CalibrationAuditedRun:
    """What an audit looks at."""
    return CalibrationAuditedRun(table=run, **more)


def two_judges(first: ArrayLike, second: ArrayLike, **more: Any) -> RunTable:
    """Two judges on one criterion, samples × variants each."""
    return table({("a", "accuracy"): first, ("b", "accuracy"): second}, asked=rubric(ALONE), **more)


def _frame(asked: Rubric, variants: Sequence[str], judges: tuple[str, ...], repeats: int) -> RunEvalRecord:
    return RunEvalRecord(
        name="e",
        control=variants[0],
        variants=dict.fromkeys(variants, ""),
        judges=judges,
        guards=(),
        rubrics=(run_rubric_snapshot_json("", asked),),
        assertions=(),
        gates={},
        smallest_effect=Fraction(1, 2),
        repeats=repeats,
        seed=0,
        fingerprints={},
    )


def _cube(answers: ArrayLike) -> Floats:
    array = np.asarray(answers, dtype=np.float64)
    return array if array.ndim == 3 else array[..., None]


def _mean(columns: Sequence[Floats]) -> Floats | None:
    if not columns:
        return None
    stacked = np.stack(columns)
    known = ~np.isnan(stacked)
    total = np.where(known, stacked, 0.0).sum(axis=0)
    mean: Floats = np.divide(total, known.sum(axis=0), out=np.full(total.shape, np.nan), where=known.any(axis=0))
    return mean


def _scores(columns: Mapping[str, Floats | None], asked: Rubric) -> Floats:
    """The sum by weight; NaN where a criterion is missing."""
    parts = [float(asked.leaves[id].weight) * column for id, column in columns.items() if column is not None]
    return np.sum(parts, axis=0) if len(parts) == len(columns) else parts[0] * np.nan
