"""How layers become a composite: their weights with the reason, standardising, length, and the test of all together."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Literal

from evenhand.errors import EvalError, Fault, suggest_known_word_in_error
from evenhand.evals.eval_schema import COMPOSITE_FIELDS, DEBIAS_WORDS, LAYERS, PER_WORDS, STANDARDISE_WORDS
from evenhand.files.tree import FieldReader, MappingNode, ScalarNode, read_node_number
from evenhand.model.method import LayerMean
from evenhand.model.rubric import Rubric
from evenhand.wording import format_fraction

REASON_FIELD = "why"
LOSS_FIELD = "smallest_loss_share"
LOSS_HINT = "as in smallest_loss_share: {points: 2, share: 0.05}"
WEIGHTS_HINT = "as in weights: {fact: 3, behavior: 1, judge: 1, why: a wrong fact costs us most}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalLossShare:
    """A treatment does not ship while losses of so many points could still make up more than this share of samples."""

    points: Fraction
    share: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class EvalCompositeSettings:
    """What differs from the plain mean of the layers. All of it is asked for, and enters the fingerprint.

    `weights` go by layer, 1 where none is given, and `why` is the reason for them. `standardise` puts layers on a
    common scale over all outputs of the run; `debias` tells judges not to reward length, or removes what length does
    to their scores; with `multivariate`, all layers together are tested beside the composite. A mean counts every
    sample once or, `per` cluster, every cluster of samples.
    """

    weights: Mapping[str, Fraction] = field(default_factory=dict)
    why: str = ""
    standardise: Literal["off", "z", "rank"] = "off"
    debias: Literal["off", "instruct", "regress"] = "off"
    multivariate: bool = False
    per: Literal["sample", "cluster"] = "sample"
    smallest_loss_share: EvalLossShare | None = None

    def __post_init__(self) -> None:
        faults = [
            Fault(f"there is no layer {name!r}", suggest_known_word_in_error(name, LAYERS), ("weights", name))
            for name in self.weights
            if name not in LAYERS
        ]
        faults += [
            Fault(f"the weight of {name} must be above 0, got {format_fraction(weight)}", path=("weights", name))
            for name, weight in self.weights.items()
            if not weight > 0
        ]
        if self.weights and not self.why.strip():
            faults.append(Fault("weights of layers need a reason", WEIGHTS_HINT, ("weights",)))
        faults += [
            Fault(f"{name} {word!r} is not known", suggest_known_word_in_error(word, known), (name,))
            for name, word, known in (
                ("standardise", self.standardise, STANDARDISE_WORDS),
                ("debias", self.debias, DEBIAS_WORDS),
                ("per", self.per, PER_WORDS),
            )
            if word not in known
        ]
        loss, path = self.smallest_loss_share, ("smallest_loss_share",)
        if loss is not None and not (0 < loss.points <= 4 and 0 < loss.share < 1):
            faults.append(Fault("smallest_loss_share needs points up to 4 and a share below 1", LOSS_HINT, path))
        if faults:
            raise EvalError(*faults)

    @property
    def needs_all_outputs(self) -> bool:
        """Whether composites can only be computed once all outputs have a score."""
        return self.standardise != "off" or self.debias == "regress"

    def list_changes(self) -> dict[str, str]:
        """What differs from the plain mean, for the fingerprint and for those who compare; the reason is no part."""
        weights = ", ".join(f"{name} {format_fraction(self.weights[name])}" for name in LAYERS if name in self.weights)
        found = {"weights": weights, "standardise": self.standardise, "debias": self.debias, "per": self.per}
        changes = {name: text for name, text in found.items() if text not in ("", "off", "sample")}
        if (loss := self.smallest_loss_share) is not None:
            changes["smallest_loss_share"] = f"{format_fraction(loss.points)} points, {format_fraction(loss.share)}"
        return changes | ({"multivariate": "yes"} if self.multivariate else {})


def read_eval_composite_settings(fields: FieldReader) -> EvalCompositeSettings | None:
    """Those of an eval file; None where they cannot be right, which is a fault."""
    weights: dict[str, Fraction] = {}
    why = ""
    for name, node, path in fields.pairs("weights") if "weights" in fields else ():
        if name == REASON_FIELD:
            why = node.text if isinstance(node, ScalarNode) else ""
            continue
        weight = read_node_number(node)
        if isinstance(weight, str):
            fields.faults.append(Fault(f"the weight of {name} {weight}", WEIGHTS_HINT, path))
        else:
            weights[name] = weight
    if isinstance(fields.node("weights"), MappingNode) and not weights:
        fields.fault("weights without a layer", WEIGHTS_HINT, "weights")
    chosen = {name: fields.choice(name, words) for name, words in COMPOSITE_FIELDS.items()}
    given = {name: word for name, word in chosen.items() if word is not None}
    try:
        return EvalCompositeSettings(
            weights=weights,
            why=why,
            multivariate=fields.boolean("multivariate") or False,
            smallest_loss_share=_read_loss_share(fields) if LOSS_FIELD in fields else None,
            **given,  # type: ignore[arg-type]
        )
    except EvalError as error:
        fields.faults += error.faults
        return None


def _read_loss_share(fields: FieldReader) -> EvalLossShare | None:
    """Points and share; None where they are not numbers, which is a fault."""
    found: dict[str, Fraction] = {}
    for name, node, path in fields.pairs(LOSS_FIELD):
        number = read_node_number(node)
        if name not in ("points", "share") or isinstance(number, str):
            what = f"{name} {number}" if isinstance(number, str) else f"{LOSS_FIELD} has no field {name!r}"
            fields.faults.append(Fault(what, LOSS_HINT, path))
        else:
            found[name] = number
    if len(found) < 2:
        if isinstance(fields.node(LOSS_FIELD), MappingNode):
            fields.fault(f"{LOSS_FIELD} needs points and share", LOSS_HINT, LOSS_FIELD)
        return None
    return EvalLossShare(**found)


def read_eval_layer_weights(rubric: Rubric | None) -> dict[str, Fraction]:
    """The weights that a rubric over layers gives them; empty where they weigh alike, or it has no layers."""
    if rubric is None or not isinstance(rubric.method.steps[0], LayerMean):
        return {}
    weights = {one.id: one.weight for one in rubric.criteria if one.id in LAYERS}
    return weights if len(set(weights.values())) > 1 else {}
