"""What a report and a decision need to know of an eval, as a run keeps it: no file has to be read again."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:  # Whoever reads a stored run needs no judges, guards or assertions.
    from evenhand.model import Criterion, Rubric
    from evenhand.runs._eval import Eval

Json = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """An eval without its samples and without anything that could be asked."""

    name: str
    control: str
    variants: Mapping[str, str]  # What each is, in a few words.
    judges: tuple[str, ...]
    guards: tuple[str, ...]
    rubrics: tuple[Json, ...]
    assertions: tuple[str, ...]
    gates: Mapping[str, Fraction]
    smallest_effect: Fraction
    repeats: int
    seed: int
    fingerprints: Mapping[str, str]

    def data(self) -> Json:
        """As plain data."""
        return {
            "name": self.name,
            "control": self.control,
            "variants": dict(self.variants),
            "judges": list(self.judges),
            "guards": list(self.guards),
            "rubrics": list(self.rubrics),
            "assertions": list(self.assertions),
            "gates": {name: str(least) for name, least in self.gates.items()},
            "smallest_effect": str(self.smallest_effect),
            "repeats": self.repeats,
            "seed": self.seed,
            "fingerprints": dict(self.fingerprints),
        }

    @property
    def scale(self) -> tuple[float, float] | None:
        """The scale of the rubrics' own scores, where they share one."""
        scales = {tuple(rubric["score_scale"]) for rubric in self.rubrics}
        return scales.pop() if len(scales) == 1 else None

    @property
    def shipped(self) -> list[str]:
        """The variants that somebody may want to ship: the treatments, or the only one there is."""
        return [name for name in self.variants if name != self.control] or [self.control]


def frame_of(eval: Eval, fingerprints: Mapping[str, str]) -> Frame:
    """The frame of an eval."""
    return Frame(
        name=eval.name,
        control=eval.control,
        variants={name: variant.about for name, variant in eval.variants.items()},
        judges=eval.judges if fingerprints else (),
        guards=eval.guards,
        rubrics=tuple(rubric_json(tag, rubric) for tag, rubric in eval.rubrics.items()),
        assertions=tuple(one.title for one in eval.assertions),
        gates=eval.gates,
        smallest_effect=eval.smallest_effect,
        repeats=eval.repeats,
        seed=eval.how.seed,
        fingerprints=fingerprints,
    )


def frame_from(data: Mapping[str, Any]) -> Frame:
    """The frame that a run has kept."""
    return Frame(
        **{
            **data,
            "judges": tuple(data["judges"]),
            "guards": tuple(data["guards"]),
            "rubrics": tuple(data["rubrics"]),
            "assertions": tuple(data["assertions"]),
            "gates": {name: Fraction(least) for name, least in data["gates"].items()},
            "smallest_effect": Fraction(data["smallest_effect"]),
        }
    )


def rubric_json(tag: str, rubric: Rubric) -> Json:
    """A rubric as a report shows it."""
    span = rubric.method.scale
    return {
        "name": rubric.name,
        "method": rubric.method.name,
        "about": rubric.about,
        "tags": [tag] if tag else [],
        "score_scale": [float(span.min), float(span.max)],
        "criteria": [_criterion_json(leaf) for leaf in rubric.leaves.values()],
    }


def _criterion_json(leaf: Criterion) -> Json:
    return {
        "id": leaf.id,
        "asks": leaf.asks,
        "weight": float(leaf.weight),
        "scale": str(leaf.scale),
        "ends": [float(leaf.scale.min), float(leaf.scale.max)],
    }
