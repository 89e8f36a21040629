"""A rubric as a run keeps it, as plain data, put together again."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from typing import Any

from evenhand.model.method import (
    STEPS,
    EnvironmentSetting,
    Grade,
    LayerMean,
    Method,
    PointsShare,
    ScoreScale,
    Step,
    TieBreak,
    VerdictThreshold,
    WeightedMean,
    WeightedSum,
)
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Anchor, Criterion, CriterionExample, Gate, Scale, ScaleBand, Statement
from evenhand.wording import read_kept_fraction

Json = Mapping[str, Any]
LAYERED = "layered"  # The shipped method whose mean is over layers that may be absent.
STEP_NUMBERS = ("below", "at", "each", "most", "min", "max", "quorum")


def restore_kept_rubric(kept: Json) -> Rubric:
    """The rubric of a run, as it scored."""
    criteria = tuple(_restore_criterion(one) for one in kept["criteria"])
    return Rubric(
        name=kept["name"],
        method=_restore_method(kept["method"], criteria),
        criteria=criteria,
        red_flags=tuple(_restore_statement(one) for one in kept["red_flags"]),
        bonuses=tuple(_restore_statement(one) for one in kept["bonuses"]),
        gates=tuple(Gate(criterion=one["criterion"], min=read_kept_fraction(one["min"])) for one in kept["gates"]),
        tags=tuple(kept["tags"]),
        about=kept["about"],
        safety_gate=kept["safety_gate"],
        holistic=kept["holistic"],
        too_close=_read_number(kept.get("too_close")),
    )


def _restore_method(kept: Json, criteria: Sequence[Criterion]) -> Method:
    scale = kept["scale"]
    return Method(
        name=kept["name"],
        scale=ScoreScale(
            min=read_kept_fraction(scale["min"]), max=read_kept_fraction(scale["max"]), decimals=scale["decimals"]
        ),
        steps=tuple(_restore_step(one, place, kept, criteria) for place, one in enumerate(kept["steps"])),
        about=kept["about"],
        criterion_scale=restore_kept_scale(kept["criterion_scale"]),
        criteria=tuple(_restore_criterion(one) for one in kept["criteria"]),
        required=kept["required"],
        weights_sum_to=_read_number(kept["weights_sum_to"]),
        holistic=None if kept["holistic"] is None else restore_kept_scale(kept["holistic"]),
        grades=tuple(
            Grade(grade=one["grade"], from_=read_kept_fraction(one["from_"]), label=one["label"])
            for one in kept["grades"]
        ),
        verdicts=tuple(
            VerdictThreshold(verdict=one["verdict"], from_=read_kept_fraction(one["from_"])) for one in kept["verdicts"]
        ),
        ties=tuple(TieBreak(**one) for one in kept["ties"]),
        environment={name: EnvironmentSetting(**one) for name, one in kept["environment"].items()},
        dialogue=kept["dialogue"],
    )


def _restore_step(kept: Json, place: int, method: Json, criteria: Sequence[Criterion]) -> Step:
    """A step by its fields; the first one makes the number, and some of those have the same fields."""
    if place == 0 and not kept:
        return PointsShare() if any(one.points is not None for one in criteria) else WeightedSum()
    if place == 0 and set(kept) == {"onto"}:
        onto = None if kept["onto"] is None else restore_kept_scale(kept["onto"])
        return (LayerMean if method["name"] == LAYERED else WeightedMean)(onto=onto)
    given = {name: _read_number(one) if name in STEP_NUMBERS else one for name, one in kept.items()}
    if "for_" in kept:
        return STEPS["deduct" if kept["for_"] == "red_flags" else "add"](**given)
    fields = {"ceiling": {"criterion", "below", "at"}, "shortfall": {"below"}, "cap": {"at", "when"}}
    fields |= {"clamp": {"min", "max"}, "round": {"decimals"}}
    word = next((word for word, names in fields.items() if set(kept) == names), "panel")
    return STEPS[word](**given)


def _restore_criterion(kept: Json) -> Criterion:
    return Criterion(
        id=kept["id"],
        asks=kept["asks"],
        weight=read_kept_fraction(kept["weight"]),
        points=_read_number(kept["points"]),
        scale=restore_kept_scale(kept["scale"]),
        anchors=tuple(
            Anchor(min=read_kept_fraction(one["min"]), max=read_kept_fraction(one["max"]), text=one["text"])
            for one in kept["anchors"]
        ),
        required=kept["required"],
        required_min_score=_read_number(kept["required_min_score"]),
        fixed=kept["fixed"],
        examples=tuple(
            CriterionExample(passage=one["passage"], score=read_kept_fraction(one["score"]), why=one["why"])
            for one in kept.get("examples", ())
        ),
        children=tuple(_restore_criterion(one) for one in kept["children"]),
    )


def restore_kept_scale(kept: Json) -> Scale:
    """A scale, from the plain data of it."""
    bands = (
        ScaleBand(id=one["id"], min=read_kept_fraction(one["min"]), max=read_kept_fraction(one["max"]))
        for one in kept["bands"]
    )
    ends = {"min": read_kept_fraction(kept["min"]), "max": read_kept_fraction(kept["max"])}
    return Scale(**ends, integers=kept["integers"], yes_no=kept["yes_no"], bands=tuple(bands))


def _restore_statement(kept: Json) -> Statement:
    return Statement(id=kept["id"], asks=kept["asks"], amount=_read_number(kept["amount"]))


def _read_number(kept: str | None) -> Fraction | None:
    return None if kept is None else read_kept_fraction(kept)
