"""Judges calibrated against people: agreement, bias and its direction, the recommended panel, score maps; all as
JSON.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenhand.calibrate.audits.judge_bias import identify_audited_judge_maker
from evenhand.calibrate.fitted_to_people import (
    LEAST_ISOTONIC_SAMPLES,
    CalibrationMap,
    CriterionWeights,
    HumanFittedWeights,
    HumanMean,
    MapKind,
    NoHumanFittedWeights,
    estimate_human_means,
    fit_calibration_knots,
    fit_calibration_maps,
    suggest_weights_from_human_labels,
)
from evenhand.calibrate.human_agreement import (
    INTERVAL_LEVEL,
    HumanAgreement,
    HumanAlignment,
    HumanCeiling,
    HumanConfusionTable,
    group_human_label_questions,
    measure_alignment_with_people,
    measure_human_agreements,
    measure_human_ceilings,
    measure_human_pearson,
    tabulate_judges_against_people,
)
from evenhand.calibrate.jackknife import Floats
from evenhand.calibrate.labelled_outputs import (
    PANEL_ANSWERER,
    HumanAnswerPairs,
    Integers,
    LabelledOutputs,
    collect_labelled_cells,
    collect_labelled_outputs,
    pair_judge_with_people_mean,
)
from evenhand.calibrate.labels import OVERALL_QUESTION, VOID_LABEL_SHAPE, HumanLabelQuestion, Label
from evenhand.calibrate.panel_recommendation import NoRecommendedPanel, RecommendedPanel, recommend_panel_from_labels
from evenhand.errors import Fault, InputError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonField, JsonShape, SplitField, json_key, json_write_only_scalar
from evenhand.runs.columns import RunTable
from evenhand.stats.means import mean_interval
from evenhand.stats.regression import length_bias
from evenhand.wording import format_number, format_signed, format_too_few


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeCalibration:
    """All that labels tell of a run's judges."""

    run: str
    name: str
    labelled: LabelledOutputs
    aligned: HumanAlignment
    agreed: tuple[HumanAgreement, ...]
    ceilings: tuple[HumanCeiling, ...]
    biases: tuple[JudgeBiasAgainstPeople, ...]
    confusions: tuple[HumanConfusionTable, ...]
    recommended: RecommendedPanel | NoRecommendedPanel
    warnings: tuple[str, ...]  # What speaks against judges that are recommended.
    maps: tuple[CalibrationMap, ...]
    means: tuple[HumanMean, ...]
    weights: HumanFittedWeights | NoHumanFittedWeights
    imported: bool = False  # Whether the run was made elsewhere.


def hold_judges_against_people(
    table: RunTable,
    labels: Sequence[Label],
    *,
    models: Mapping[str, str] | None = None,
    cost: Mapping[str, float] | None = None,
    weights: Sequence[CriterionWeights] = (),
    seed: int = 0,
) -> JudgeCalibration:
    """Hold the judges of a run against labels.

    `models` names the model behind a variant's outputs, `cost` what it costs to ask a judge once, where that is known;
    `weights` are those of each rubric's criteria; `seed` decides how samples are divided into folds.
    """
    rng = np.random.default_rng(seed)
    found = collect_labelled_outputs(table, labels)
    if not found.judges:
        raise InputError(Fault("no judge answered anything in this run", "labels are held against judges' answers"))
    erring = tuple(measure_human_biases(found, models or {}))
    recommended = recommend_panel_from_labels(collect_labelled_cells(found), rng=rng, cost=cost or {})
    return JudgeCalibration(
        run=table.run,
        name=table.frame.name,
        labelled=found,
        aligned=measure_alignment_with_people(found),
        agreed=tuple(measure_human_agreements(found)),
        ceilings=tuple(measure_human_ceilings(found)),
        biases=erring,
        confusions=tuple(tabulate_judges_against_people(found)),
        recommended=recommended,
        warnings=tuple(warn_of_calibrated_panel_biases(recommended, erring)),
        maps=tuple(fit_calibration_maps(found, rng)),
        means=tuple(estimate_human_means(table, found)),
        weights=suggest_weights_from_human_labels(table, found, weights, rng),
        imported=table.imported,
    )


_BIAS_WARNING_WORDS: dict[BiasKind, tuple[str, str, int]] = {
    "harshness": ("", "", 2),
    "length": ("has a length bias", " per 100 characters", 3),
    "position": ("has a position bias", " in the first seat", 2),
    "self-preference": ("has a bias about outputs of its own model", "", 2),
}


def warn_of_calibrated_panel_biases(
    recommended: RecommendedPanel | NoRecommendedPanel, biases: Sequence[JudgeBiasAgainstPeople]
) -> Iterator[str]:
    """By judge and kind: the overall figure where that is clear, else those of the criteria on which it is."""
    if isinstance(recommended, NoRecommendedPanel):
        return
    for judge in recommended.chosen.weights:
        for kind, (word, unit, digits) in _BIAS_WARNING_WORDS.items():
            clear = [one for one in biases if (one.who, one.kind) == (judge, kind) and one.clear]
            whole = [one for one in clear if one.question == OVERALL_QUESTION]
            if clear:
                # The bias that has a word for each direction comes without one.
                ways = {"is generous" if (one.estimate or 0.0) > 0 else "is harsh" for one in whole or clear}
                words = word or (ways.pop() if len(ways) == 1 else "is harsh or generous")
                amounts = ", ".join(_format_calibrated_judge_bias(one, digits, unit) for one in whole or clear)
                yield f"{judge} {words}: {amounts}."


def _format_calibrated_judge_bias(one: JudgeBiasAgainstPeople, digits: int, unit: str) -> str:
    assert one.estimate is not None and one.low is not None and one.high is not None
    amount = format_signed(one.estimate, digits)
    ends = f"[{format_number(one.low, digits)}, {format_number(one.high, digits)}]"
    if one.question == OVERALL_QUESTION:
        return f"{amount} of the scale{unit} overall {ends}"
    return f"{amount}{unit} on {one.question} {ends}"


Json = dict[str, Any]
SCATTER_STEPS = 40  # Of the scale, by which points that lie close together become one.


def encode_judges_against_people(one: JudgeCalibration) -> Json:
    """All of it."""
    found, write = one.labelled, CALIBRATION_JSON.to_json
    recommended = write(one.recommended)
    if isinstance(one.recommended, NoRecommendedPanel):
        recommended = {"chosen": None, **recommended}
    else:
        candidates = recommended.pop("candidates")
        recommended = {**recommended, "warnings": list(one.warnings), "candidates": candidates}
    return {
        "run": one.run,
        **({"imported": True} if one.imported else {}),
        "name": one.name,
        "labels": found.labels,
        "void": [write(each) for each in found.void],
        "unbound": found.unbound,
        "raters": list(found.raters),
        "judges": list(found.judges),
        "outputs": len(found.ids),
        "samples": found.samples,
        "aligned": write(one.aligned),
        "agreement": [write(each) for each in one.agreed],
        "people": [write(each) for each in one.ceilings],
        "bias": [write(each) for each in one.biases],
        "confusion": [write(each) for each in one.confusions],
        "recommendation": recommended,
        "maps": [write(each) for each in one.maps],
        "means": [write(each) for each in one.means],
        "weights": _encode_weights_suggested_by_labels(one.weights),
    }


def _encode_weights_suggested_by_labels(one: HumanFittedWeights | NoHumanFittedWeights) -> Json:
    if isinstance(one, NoHumanFittedWeights):
        return {"suggested": None, **CALIBRATION_JSON.to_json(one)}
    return {**CALIBRATION_JSON.to_json(one), "helps": one.helps}


def encode_human_label_points(table: RunTable, labels: Sequence[Label]) -> Json | None:
    """Judges against people as points for a report; None without labels."""
    if not labels:
        return None
    found = collect_labelled_outputs(table, labels)
    single = found.overall[0] if len(found.overall) == 1 else None
    scale = [single.low, single.high] if single else [0.0, 1.0]
    return {
        "scale": scale,
        "judges": [_list_judge_and_human_label_points(found, who, scale, single) for who in found.answerers],
    }


def _list_judge_and_human_label_points(
    found: LabelledOutputs, who: str, scale: Sequence[float], single: HumanLabelQuestion | None
) -> Json:
    pairs = pair_judge_with_people_mean(found, who, found.overall)
    question = single or HumanLabelQuestion(id="", low=scale[0], high=scale[1], whole=False)
    kind: MapKind = "isotonic" if len(np.unique(pairs.cluster)) >= LEAST_ISOTONIC_SAMPLES else "linear"
    knots = fit_calibration_knots(pairs.x, pairs.y, kind, question) if pairs.n else ()
    step = (scale[1] - scale[0]) / SCATTER_STEPS
    near = np.stack([np.round(np.round(one / step) * step, 6) for one in (pairs.x, pairs.y)])
    points, counts = np.unique(near, axis=1, return_counts=True)
    return {
        "judge": who,
        "points": [[float(x), float(y), int(many)] for x, y, many in zip(*points, counts, strict=True)],
        "pearson": measure_human_pearson(pairs).value,
        "bias": float((pairs.x - pairs.y).mean()) if pairs.n else None,
        "n": pairs.n,
        "map": [list(knot) for knot in knots],
    }


def _write_calibration_map_knots(one: CalibrationMap) -> Json:
    """The map as it is, and at its ends and in the middle for a table."""
    if not one.knots:
        return {"knots": [], "points": []}
    at = np.unique(np.linspace(one.knots[0][0], one.knots[-1][0], 3))
    points = [[float(x), float(y)] for x, y in zip(at, one.map_to_human_scale(at), strict=True)]
    return {"knots": [list(knot) for knot in one.knots], "points": points}


def _encode_gain_from_human_labels(one: CalibrationMap) -> Json:
    return {"gain": None if one.gain is None else CALIBRATION_JSON.to_json(one.gain), "helps": one.helps}


CALIBRATION_JSON = Codec(
    shapes={
        Label: VOID_LABEL_SHAPE,
        CalibrationMap: JsonShape(
            fields={
                "knots": SplitField(("knots", "points"), _write_calibration_map_knots),
                "gain": SplitField(("gain", "helps"), _encode_gain_from_human_labels),
            }
        ),
        RecommendedPanel: JsonShape(
            only=(
                "chosen", "best", "error", "error_now", "gain", "alpha", "same", "choices", "samples", "tried",
                "candidates",
            ),
            fields={"best": JsonField(scalar=json_write_only_scalar(lambda best: best.name))},
        ),
    }
)  # fmt: skip


BiasKind = Literal["harshness", "length", "position", "self-preference"]
LEAST_BIAS_SAMPLES = 5  # Samples below which nothing is said.


@dataclass(frozen=True, slots=True, kw_only=True)
class JudgeBiasAgainstPeople:
    """The judge's error, judge minus people, and what it goes with; without an estimate, why it is not known.

    `harshness` is the mean error; `length` how it grows with 100 characters; `position` how much higher it is in the
    first seat; `self-preference` how much higher it is for outputs of the judge's own model.
    """

    who: str = field(metadata=json_key("judge"))
    kind: BiasKind
    question: str
    estimate: float | None = None
    low: float | None = None
    high: float | None = None
    level: float = INTERVAL_LEVEL
    n: int = 0
    method: str = ""
    why: str = ""

    @property
    def clear(self) -> bool:
        """Whether the interval leaves 0 out."""
        return self.low is not None and self.high is not None and not self.low <= 0 <= self.high


def measure_human_biases(labelled: LabelledOutputs, models: Mapping[str, str]) -> Iterator[JudgeBiasAgainstPeople]:
    """All that is known of every judge, question by question; `models` names who made a variant's outputs."""
    for name, questions in group_human_label_questions(labelled):
        for who in labelled.answerers:
            pairs = pair_judge_with_people_mean(labelled, who, questions)
            harshness = JudgeBiasAgainstPeople(kind="harshness", who=who, question=name)
            yield _estimate_judge_error_against_people(pairs.x - pairs.y, pairs.cluster, harshness)
            yield _measure_human_length_bias(labelled, pairs, who, name)
            if who != PANEL_ANSWERER:
                yield _measure_human_position_bias(labelled, pairs, who, name)
                yield _measure_human_self_preference(labelled, pairs, who, name, models)


def _measure_human_length_bias(
    labelled: LabelledOutputs, pairs: HumanAnswerPairs, who: str, name: str
) -> JudgeBiasAgainstPeople:
    """No need to stay within samples: what people said of an output is taken off already."""
    plain = JudgeBiasAgainstPeople(kind="length", who=who, question=name)
    length = labelled.length[pairs.place]
    there = np.isfinite(length)
    try:
        found = length_bias((pairs.x - pairs.y)[there], length[there], clusters=pairs.cluster[there].tolist())
    except InputError as error:
        return replace(plain, n=int(there.sum()), why=error.faults[0].what)
    return replace(plain, estimate=found.slope, low=found.low, high=found.high, n=found.outputs, method=found.method)


def _measure_human_position_bias(
    labelled: LabelledOutputs, pairs: HumanAnswerPairs, who: str, name: str
) -> JudgeBiasAgainstPeople:
    plain = JudgeBiasAgainstPeople(kind="position", who=who, question=name)
    if who not in labelled.seats:
        return replace(plain, n=pairs.n, why="the judge was shown one output at a time")
    seats = labelled.seats[who][pairs.place]
    seen = np.isfinite(seats)
    gap = _contrast_errors_from_people((pairs.x - pairs.y)[seen], pairs.cluster[seen], seats[seen] == 1)
    return _estimate_judge_error_against_people(gap, None, plain, "with a label in the first seat and in another")


def _measure_human_self_preference(
    labelled: LabelledOutputs, pairs: HumanAnswerPairs, who: str, name: str, models: Mapping[str, str]
) -> JudgeBiasAgainstPeople:
    plain = JudgeBiasAgainstPeople(kind="self-preference", who=who, question=name)
    if not models:
        return replace(plain, n=pairs.n, why="the run does not tell which models made the outputs")
    maker = identify_audited_judge_maker(who)
    own = [
        variant
        for variant, model in models.items()
        if who == model or (maker is not None and maker == identify_audited_judge_maker(model))
    ]
    if not own:
        return replace(plain, n=pairs.n, why="no variant is by this judge's model or its maker")
    known = np.array([name in models for name in labelled.variants])[labelled.variant[pairs.place]]
    ours = np.array([name in own for name in labelled.variants])[labelled.variant[pairs.place]]
    gap = _contrast_errors_from_people((pairs.x - pairs.y)[known], pairs.cluster[known], ours[known])
    return _estimate_judge_error_against_people(gap, None, plain, "with labels on both its own and another's output")


def _contrast_errors_from_people(error: Floats, cluster: Integers, first: NDArray[np.bool_]) -> Floats:
    """For each cluster that has both kinds: the mean error of the first kind less that of the other."""
    _, unit = np.unique(cluster, return_inverse=True)
    size = int(unit.max()) + 1 if len(unit) else 0
    counts = [np.bincount(unit[kind], minlength=size) for kind in (first, ~first)]
    sums = [np.bincount(unit[kind], weights=error[kind], minlength=size) for kind in (first, ~first)]
    both = (counts[0] > 0) & (counts[1] > 0)
    return sums[0][both] / counts[0][both] - sums[1][both] / counts[1][both]


def _estimate_judge_error_against_people(
    errors: Floats, cluster: Integers | None, plain: JudgeBiasAgainstPeople, of: str = "that both answered"
) -> JudgeBiasAgainstPeople:
    units = len(errors) if cluster is None else len(np.unique(cluster))
    if units < LEAST_BIAS_SAMPLES:
        return replace(plain, n=len(errors), why=format_too_few(units, "sample", LEAST_BIAS_SAMPLES, more=of))
    found = mean_interval(errors, level=INTERVAL_LEVEL, clusters=None if cluster is None else cluster.tolist())
    return replace(
        plain, estimate=found.estimate, low=found.low, high=found.high, n=len(errors), method="mean over samples, t"
    )
