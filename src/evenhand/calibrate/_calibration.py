"""Judges against people: agreement, bias, confusion, the panel to ask, and maps to people's scale."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from evenhand.calibrate._agreed import Agreed, Ceiling, Confusion, agreements, ceilings, confusions
from evenhand.calibrate._aligned import Aligned, alignment
from evenhand.calibrate._bias import Bias, biases
from evenhand.calibrate._cells import cells_of
from evenhand.calibrate._labelled import Labelled, labelled
from evenhand.calibrate._labels import Label
from evenhand.calibrate._maps import CalibrationMap, maps
from evenhand.calibrate._means import HumanMean, human_means
from evenhand.calibrate._recommend import NotRecommended, Recommended, recommend
from evenhand.calibrate._warnings import warnings_of
from evenhand.errors import Fault, InputError
from evenhand.runs import Table


@dataclass(frozen=True, slots=True, kw_only=True)
class Calibration:
    """All that labels tell of a run's judges."""

    run: str
    name: str
    labelled: Labelled
    aligned: Aligned
    agreed: tuple[Agreed, ...]
    ceilings: tuple[Ceiling, ...]
    biases: tuple[Bias, ...]
    confusions: tuple[Confusion, ...]
    recommended: Recommended | NotRecommended
    warnings: tuple[str, ...]  # What speaks against judges that are recommended.
    maps: tuple[CalibrationMap, ...]
    means: tuple[HumanMean, ...]


def calibrate(
    table: Table,
    labels: Sequence[Label],
    *,
    models: Mapping[str, str] | None = None,
    cost: Mapping[str, float] | None = None,
    seed: int = 0,
) -> Calibration:
    """Hold the judges of a run against labels.

    `models` names the model behind a variant's outputs, `cost` what it costs to ask a judge once, where that is known;
    `seed` decides how samples are divided into folds.
    """
    rng = np.random.default_rng(seed)
    found = labelled(table, labels)
    if not found.judges:
        raise InputError(Fault("no judge answered anything in this run", "labels are held against judges' answers"))
    erring = tuple(biases(found, models or {}))
    recommended = recommend(cells_of(found), rng=rng, cost=cost or {})
    return Calibration(
        run=table.run,
        name=table.frame.name,
        labelled=found,
        aligned=alignment(found),
        agreed=tuple(agreements(found)),
        ceilings=tuple(ceilings(found)),
        biases=erring,
        confusions=tuple(confusions(found)),
        recommended=recommended,
        warnings=tuple(warnings_of(recommended, erring)),
        maps=tuple(maps(found, rng)),
        means=tuple(human_means(table, found)),
    )
