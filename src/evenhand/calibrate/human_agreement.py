"""How far judges agree with people: α, κ and correlations with intervals, and the human-aligned badge."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import pairwise
from typing import Literal

import numpy as np

from evenhand.calibrate.jackknife import (
    FISHER_TRANSFORM,
    LEAST_JACKKNIFE_SAMPLES,
    Floats,
    jackknife_calibration_interval,
    sum_calibration_clusters,
)
from evenhand.calibrate.labelled_outputs import (
    HumanAnswerPairs,
    HumanLabelQuestions,
    LabelledOutputs,
    collect_labelled_outputs,
    pair_judge_with_each_rater,
    pair_judge_with_people_mean,
    pair_judge_with_people_median,
    pair_raters_with_each_other,
)
from evenhand.calibrate.labels import OVERALL_QUESTION, HumanLabelQuestion, Label
from evenhand.files.json_shape import json_key
from evenhand.runs.columns import RunTable
from evenhand.stats.arrays import Undefined
from evenhand.stats.ratings import AGREED, Agreement, band
from evenhand.wording import format_number, format_plural, format_too_few

MOST_CONFUSION_LEVELS = 11
CONFUSION_BANDS = 5  # Of a scale with more levels than can be shown.


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAgreement:
    """One judge against people on one question, or over all; `kappa` where the scale is of whole levels."""

    who: str = field(metadata=json_key("judge"))
    question: str
    alpha: AgreementFigure
    # Against single persons instead of their mean.
    each: AgreementFigure = field(metadata=json_key("alpha_each_person"))
    kappa: AgreementFigure | None
    pearson: AgreementFigure
    spearman: AgreementFigure


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanCeiling:
    """People against people on one question: each against the mean of the others."""

    question: str
    alpha: AgreementFigure


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanConfusionTable:
    """How often a judge gave one level (row) where people's middle answer was another (column)."""

    who: str = field(metadata=json_key("judge"))
    question: str
    levels: tuple[str, ...]
    counts: tuple[tuple[int, ...], ...]


def measure_human_agreements(labelled: LabelledOutputs) -> Iterator[HumanAgreement]:
    """Every judge on every question, the overall figure first where there are several questions."""
    for name, questions in group_human_label_questions(labelled):
        for who in labelled.answerers:
            pairs = pair_judge_with_people_mean(labelled, who, questions)
            kappa = None
            if len(questions) == 1 and questions[0].whole:
                kappa = measure_human_kappa(
                    pair_judge_with_people_median(labelled, who, questions[0]).round_to_levels()
                )
            yield HumanAgreement(
                who=who,
                question=name,
                alpha=measure_human_alpha(pairs),
                each=measure_human_alpha(pair_judge_with_each_rater(labelled, who, questions)),
                kappa=kappa,
                pearson=measure_human_pearson(pairs),
                spearman=measure_human_spearman(pairs),
            )


def measure_human_ceilings(labelled: LabelledOutputs) -> Iterator[HumanCeiling]:
    """People among themselves, question by question."""
    for name, questions in group_human_label_questions(labelled):
        yield HumanCeiling(question=name, alpha=measure_human_alpha(pair_raters_with_each_other(labelled, questions)))


def tabulate_judges_against_people(labelled: LabelledOutputs) -> Iterator[HumanConfusionTable]:
    """A table of levels for every judge and question."""
    for question in labelled.questions:
        levels, edges = _human_confusion_levels(question)
        for who in labelled.answerers:
            pairs = pair_judge_with_people_median(labelled, who, question)
            rows, columns = (np.searchsorted(edges, values, side="right") for values in (pairs.x, pairs.y))
            counts = np.zeros((len(levels), len(levels)), dtype=np.int64)
            np.add.at(counts, (rows, columns), 1)
            table = tuple(map(tuple, counts.tolist()))
            yield HumanConfusionTable(who=who, question=question.id, levels=levels, counts=table)


def group_human_label_questions(labelled: LabelledOutputs) -> Iterator[tuple[str, HumanLabelQuestions]]:
    """All questions together where there are several, then each alone."""
    if len(labelled.overall) > 1:
        yield OVERALL_QUESTION, labelled.overall
    yield from ((one.id, (one,)) for one in labelled.questions)


def _human_confusion_levels(question: HumanLabelQuestion) -> tuple[tuple[str, ...], list[float]]:
    """The levels of a scale with the edges between them; a scale of many levels in bands."""
    whole = question.low.is_integer() and question.high.is_integer()
    if whole and question.whole | (question.span > 1) and question.span < MOST_CONFUSION_LEVELS:
        levels = range(int(question.low), int(question.high) + 1)
        return tuple(map(str, levels)), [level + 0.5 for level in levels[:-1]]
    edges = [question.low + question.span * band / CONFUSION_BANDS for band in range(CONFUSION_BANDS + 1)]
    return tuple(f"{low:g}–{high:g}" for low, high in pairwise(edges)), edges[1:-1]


AlignmentColour = Literal["green", "amber", "red", "grey"]
_ALIGNMENT_ADVICE = f"Sharpen the rubric, or ask other judges, until α reaches {AGREED}: evenhand calibrate says which."


@dataclass(frozen=True, slots=True, kw_only=True)
class HumanAlignment:
    """α between the panel, or the only judge, and people over all labelled outputs; None where there is none."""

    colour: AlignmentColour
    alpha: float | None
    low: float | None
    high: float | None
    n: int  # Outputs.
    samples: int
    says: str
    advice: str


def measure_run_alignment_with_people(table: RunTable, labels: Sequence[Label]) -> HumanAlignment:
    """The badge "human-aligned" of a run; grey without labels."""
    if not labels:
        return _unknown_human_alignment(0, 0, "no labels", "some of the outputs")
    return measure_alignment_with_people(collect_labelled_outputs(table, labels))


def measure_alignment_with_people(labelled: LabelledOutputs) -> HumanAlignment:
    """The same from outputs that have labels; grey where these are too few to tell."""
    if not labelled.judges:
        return _unknown_human_alignment(0, 0, "no judge answered anything")
    found = measure_human_alpha(pair_judge_with_people_mean(labelled, labelled.answerers[-1], labelled.overall))
    if found.samples < LEAST_JACKKNIFE_SAMPLES:
        more = "with an answer of the judges" if found.samples < labelled.samples else ""
        why = format_too_few(found.samples, "labelled sample", LEAST_JACKKNIFE_SAMPLES, more=more, to="to tell")
        more = format_plural(LEAST_JACKKNIFE_SAMPLES - found.samples, "more sample")
        return _unknown_human_alignment(found.n, found.samples, why, more)
    if found.value is None:
        return _unknown_human_alignment(found.n, found.samples, found.why)
    colour, interval = band(found.value), ""
    if found.low is not None and found.high is not None:
        interval = f", 95% interval {format_number(found.low)} to {format_number(found.high)}"
    outputs = format_plural(found.n, "labelled output")
    return HumanAlignment(
        colour=colour,
        alpha=found.value,
        low=found.low,
        high=found.high,
        n=found.n,
        samples=found.samples,
        says=f"Krippendorff's α {format_number(found.value)}{interval}, {outputs}",
        advice="" if colour == "green" else _ALIGNMENT_ADVICE,
    )


def _unknown_human_alignment(
    n: int, samples: int, why: str, wanted: str = "more outputs, good ones and bad ones"
) -> HumanAlignment:
    advice = f"Have people score {wanted}."
    return HumanAlignment(colour="grey", alpha=None, low=None, high=None, n=n, samples=samples, says=why, advice=advice)


HUMAN_AGREEMENT_METHOD = "Krippendorff's α between panel and people"


def measure_panel_human_agreement(table: RunTable, labels: Sequence[Label]) -> Agreement | Undefined | None:
    """None where nobody labelled anything."""
    if not labels:
        return None
    found = measure_run_alignment_with_people(table, labels)
    if found.alpha is None:
        return Undefined(why=found.says, method=HUMAN_AGREEMENT_METHOD, n=found.n)
    return Agreement(
        value=found.alpha,
        method=HUMAN_AGREEMENT_METHOD,
        n=found.n,
        pairs=1,
        low=found.low,
        high=found.high,
        level=None if found.low is None else 0.95,
        no_interval="too few labels" if found.low is None else "",
    )


LEAST_PAIRS = 3  # Pairs for a figure.
INTERVAL_LEVEL = 0.95
_ROUNDING_SHARE = 1e-12  # Spread below this share of the values' size is rounding.


@dataclass(frozen=True, slots=True, kw_only=True)
class AgreementFigure:
    """A number with its interval; without them, why there is none."""

    value: float | None
    low: float | None = None
    high: float | None = None
    level: float = INTERVAL_LEVEL
    method: str
    n: int  # Pairs.
    samples: int  # Independent ones among them.
    why: str = ""


def measure_human_alpha(pairs: HumanAnswerPairs) -> AgreementFigure:
    """Krippendorff's α between two, on an interval scale."""
    return _measure_human_agreement_figure(pairs, _human_alpha_from_sums, "Krippendorff's α, interval")


def measure_human_kappa(pairs: HumanAnswerPairs) -> AgreementFigure:
    """Cohen's κ with quadratic weights."""
    return _measure_human_agreement_figure(pairs, _human_kappa_from_sums, "Cohen's κ, quadratic weights")


def measure_human_pearson(pairs: HumanAnswerPairs) -> AgreementFigure:
    """Pearson's correlation."""
    return _measure_human_agreement_figure(pairs, _human_pearson_from_sums, "Pearson")


def measure_human_spearman(pairs: HumanAnswerPairs) -> AgreementFigure:
    """Spearman's rank correlation: Pearson's of the ranks, ties sharing theirs."""
    ranks = replace(pairs, x=_rank_judge_and_human_answers(pairs.x), y=_rank_judge_and_human_answers(pairs.y))
    return _measure_human_agreement_figure(ranks, _human_pearson_from_sums, "Spearman")


def _measure_human_agreement_figure(
    pairs: HumanAnswerPairs, statistic: Callable[[Floats], Floats], method: str
) -> AgreementFigure:
    samples = len(np.unique(pairs.cluster))
    plain = AgreementFigure(value=None, method=method, n=pairs.n, samples=samples)
    if pairs.n < LEAST_PAIRS:
        return replace(plain, why=format_too_few(pairs.n, "output", LEAST_PAIRS, more="that both answered"))
    # By cluster: how many, and the sums of x, y, x², y², xy, both moved by the same amount so that they stay small.
    middle = (pairs.x.mean() + pairs.y.mean()) / 2
    x, y = pairs.x - middle, pairs.y - middle
    parts = sum_calibration_clusters(np.stack([np.ones_like(x), x, y, x * x, y * y, x * y], axis=1), pairs.cluster)
    found = jackknife_calibration_interval(parts, statistic, level=INTERVAL_LEVEL, method=method, bent=FISHER_TRANSFORM)
    if isinstance(found, Undefined):
        same = np.ptp(np.concatenate([pairs.x, pairs.y])) == 0
        return replace(plain, why="all answers are the same" if same else "one side never varies")
    return replace(plain, value=found.value, low=found.low, high=found.high, why=found.why)


def _human_alpha_from_sums(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    observed = (xx + yy - 2 * xy) / n
    count = 2 * n
    expected = 2 * (count * (xx + yy) - (x + y) ** 2) / (count * (count - 1))
    return 1 - _divide_human_agreement_sums(observed, expected, (xx + yy) / n)


def _human_kappa_from_sums(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    return 1 - _divide_human_agreement_sums((xx + yy - 2 * xy) / n, (xx + yy) / n - 2 * x * y / n**2, (xx + yy) / n)


def _human_pearson_from_sums(sums: Floats) -> Floats:
    n, x, y, xx, yy, xy = np.moveaxis(sums, -1, 0)
    first, second = xx - x * x / n, yy - y * y / n
    spread = np.where((first > _ROUNDING_SHARE * xx) & (second > _ROUNDING_SHARE * yy), first * second, 0.0)
    return np.clip(_divide_human_agreement_sums(xy - x * y / n, np.sqrt(spread), 0.0), -1.0, 1.0)


def _divide_human_agreement_sums(over: Floats, under: Floats, size: Floats | float) -> Floats:
    """NaN where there is nothing to divide by."""
    there = under > _ROUNDING_SHARE * size
    return np.where(there, over / np.where(there, under, 1.0), np.nan)


def _rank_judge_and_human_answers(values: Floats) -> Floats:
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    ends = np.cumsum(counts)
    return (ends - (counts - 1) / 2)[place]
