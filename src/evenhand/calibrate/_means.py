"""Means on people's scale: labels on some outputs, the judges' scores on all, and no trust in the judges needed."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from evenhand.calibrate._labelled import PANEL, Labelled, Outputs, answers_in
from evenhand.calibrate._questions import Question
from evenhand.errors import InputError
from evenhand.runs import Table
from evenhand.stats import Powered, powered_mean


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanMean:
    """What people's mean over all outputs of a variant would be; `judged` is what the judges say it is.

    `silent` counts outputs without a judge's answer, which are left out. Without `powered`, why there is none.
    """

    variant: str
    question: str
    judged: float | None
    powered: Powered | None
    labelled: int
    silent: int
    why: str = ""


def human_means(table: Table, labelled: Labelled) -> Iterator[HumanMean]:
    """Every variant on every question, by the panel or the only judge."""
    for question in labelled.questions:
        yield from (_human_mean(table, labelled, question, number) for number in range(len(table.variants)))


def _human_mean(table: Table, labelled: Labelled, question: Question, variant: int) -> HumanMean:
    own = np.unique(table.sample[table.variant == variant])
    outputs = Outputs(table, own * len(table.variants) + variant)
    columns = answers_in(table, labelled.judges, question.id)
    judged = outputs.mean(columns[PANEL] if PANEL in columns else columns[labelled.judges[0]])
    people = _people(table, labelled, question, variant)
    human = [people.get(table.samples[place]) for place in own]
    spoke = np.flatnonzero(np.isfinite(judged))
    known = [human[row] for row in spoke]
    plain = HumanMean(
        variant=table.variants[variant],
        question=question.id,
        judged=float(judged[spoke].mean()) if len(spoke) else None,
        powered=None,
        labelled=sum(one is not None for one in known),
        silent=len(own) - len(spoke),
    )
    try:
        powered = powered_mean(judged[spoke], known, clusters=outputs.clusters()[spoke].tolist())
    except InputError as error:
        return replace(plain, why=error.faults[0].what)
    return replace(plain, powered=_on_scale(powered, question))


def _on_scale(powered: Powered, question: Question) -> Powered:
    """People cannot give more than the scale has: the interval ends where it does."""
    low, high = (min(question.high, max(question.low, end)) for end in (powered.low, powered.high))
    estimate = min(high, max(low, powered.estimate))
    return replace(powered, estimate=estimate, low=low, high=high)


def _people(table: Table, labelled: Labelled, question: Question, variant: int) -> dict[str, float]:
    means = labelled.mean(question)
    rows = np.flatnonzero((labelled.variant == variant) & np.isfinite(means))
    return {labelled.ids[row]: float(means[row]) for row in rows}
