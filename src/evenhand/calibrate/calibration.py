"""Judges calibrated against people: agreement, bias, the recommended panel, score maps, and all of it as JSON."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenhand.calibrate.bound_labels import VOID_LABEL_SHAPE
from evenhand.calibrate.criterion_weights import (
    CriterionWeights,
    HumanFittedWeights,
    NoHumanFittedWeights,
    suggest_weights_from_human_labels,
)
from evenhand.calibrate.human_agreement import (
    HumanAgreement,
    HumanAlignment,
    HumanCeiling,
    HumanConfusionTable,
    measure_alignment_with_people,
    measure_human_agreements,
    measure_human_ceilings,
    measure_human_pearson,
    tabulate_judges_against_people,
)
from evenhand.calibrate.human_bias import BiasKind, JudgeBiasAgainstPeople, measure_human_biases
from evenhand.calibrate.human_scale import (
    LEAST_ISOTONIC_SAMPLES,
    CalibrationMap,
    HumanMean,
    MapKind,
    estimate_human_means,
    fit_calibration_knots,
    fit_calibration_maps,
)
from evenhand.calibrate.labelled_outputs import (
    LabelledOutputs,
    collect_labelled_outputs,
    pair_judge_with_people_mean,
)
from evenhand.calibrate.labels import OVERALL_QUESTION, HumanLabelQuestion, Label
from evenhand.calibrate.panel_candidates import collect_labelled_cells
from evenhand.calibrate.panel_recommendation import NoRecommendedPanel, RecommendedPanel, recommend_panel_from_labels
from evenhand.errors import Fault, InputError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import JsonField, JsonShape, SplitField, json_write_only_scalar
from evenhand.runs.columns import RunTable
from evenhand.wording import format_number, format_signed


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
