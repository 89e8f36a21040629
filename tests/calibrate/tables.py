"""Runs as columns, made by hand: a test names only what judges and people said."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

import numpy as np

from evenhand.calibrate.labelled_outputs import LabelledOutputs, collect_labelled_outputs
from evenhand.calibrate.labels import Label
from evenhand.runs.columns import RunTable
from evenhand.runs.run_record import RunEvalRecord

Said = Mapping[str, Mapping[str, Sequence[float | None]]]  # By judge and criterion, one answer per output.


def table(
    said: Said, *, variants: Sequence[str] = ("only",), scale: str = "whole numbers 1–5", **more: Any
) -> RunTable:
    """Outputs by sample, then variant; the panel is the mean of the judges, all of them asked on a scale of 1 to 5."""
    ids = list(dict.fromkeys(id for answers in said.values() for id in answers))
    rows = max((len(column) for answers in said.values() for column in answers.values()), default=0)
    judgments = {(judge, id): _column(column) for judge, answers in said.items() for id, column in answers.items()}
    criteria = {id: _panel([judgments[judge, id] for judge in said if (judge, id) in judgments]) for id in ids}
    score = _panel(list(criteria.values())) if criteria else np.array([])
    sample = np.arange(rows) // len(variants)
    plain: dict[str, Any] = {
        "run": "20260101-000000-000001",
        "frame": frame(ids, variants=variants, judges=tuple(said), scale=scale, weights=more.pop("weights", {})),
        "samples": tuple(f"s{place:04}" for place in range(rows // len(variants))),
        "variants": tuple(variants),
        "sample": sample,
        "variant": np.arange(rows) % len(variants),
        "repeat": np.zeros(rows, dtype=np.int64),
        "cluster": sample,
        "length": np.arange(rows) % 7 * 100.0,
        "score": score,
        "composite": score,
        "layers": {},
        "criteria": criteria,
        "reviews": {judge: _panel([judgments[judge, id] for id in said[judge]]) for judge in said},
        "judgments": judgments,
        "seats": {},
    }
    return RunTable(**{**plain, **more})


def frame(
    ids: Sequence[str],
    *,
    variants: Sequence[str],
    judges: tuple[str, ...],
    scale: str = "whole numbers 1–5",
    weights: Mapping[str, float],
) -> RunEvalRecord:
    """A frame with one rubric of criteria from 1 to 5."""
    criteria = [
        {"id": id, "asks": f"{id}?", "weight": weights.get(id, 1.0), "scale": scale, "ends": [1.0, 5.0]} for id in ids
    ]
    rubric = {"name": "r", "method": "layered", "about": "", "tags": [], "score_scale": [1.0, 5.0]}
    return RunEvalRecord(
        name="e",
        control=variants[0],
        variants=dict.fromkeys(variants, ""),
        judges=judges,
        guards=(),
        rubrics=({**rubric, "criteria": criteria},),
        assertions=(),
        gates={},
        smallest_effect=Fraction(1, 2),
        repeats=1,
        seed=0,
        fingerprints={},
    )


def labels(table: RunTable, said: Said) -> tuple[Label, ...]:
    """What people said, by rater and criterion: one score for each output in the order of the table, None for none."""
    return tuple(
        Label(
            sample=table.samples[table.sample[row]],
            variant=table.variants[table.variant[row]],
            criterion=criterion,
            rater=rater,
            score=Fraction(score),
        )
        for rater, answers in said.items()
        for criterion, scores in answers.items()
        for row, score in enumerate(scores)
        if score is not None
    )


def held(said: Said, people: Said, **more: Any) -> LabelledOutputs:
    """Judges and people side by side."""
    found = table(said, **more)
    return collect_labelled_outputs(found, labels(found, people))


def _column(values: Sequence[float | None]) -> np.ndarray[Any, Any]:
    return np.array([np.nan if value is None else float(value) for value in values])


def _panel(columns: Sequence[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    there = np.isfinite(np.stack(columns))
    counts = there.sum(axis=0)
    sums = np.where(there, np.stack(columns), 0.0).sum(axis=0)
    return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)
