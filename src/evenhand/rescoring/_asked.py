"""What the judges of a run were asked, as the run keeps it, and what another rubric may make of their answers."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

from evenhand.errors import Fault, InputError
from evenhand.model import Band, Rubric, Scale, written

Json = dict[str, Any]
CRITERIA = "criteria"
STATEMENTS = {"red_flags": "the red flag", "bonuses": "the bonus"}


@dataclass(frozen=True, slots=True, kw_only=True)
class Asked:
    """What the judges of a run were asked by one of its rubrics, and how they were heard."""

    tag: str
    tags: frozenset[str]  # Those with a rubric of their own.
    scales: Mapping[str, Scale]  # By criterion.
    statements: Mapping[str, tuple[str, ...]]  # Red flags and bonuses.
    holistic: Scale | None
    judges: Mapping[str, Fraction]  # With their weights, in order.
    cascade: bool
    refuse: bool

    def covers(self, tags: Sequence[str]) -> bool:
        """Whether a sample was judged by this rubric: that of its first tag that has one, else the one for all."""
        return next((tag for tag in tags if tag in self.tags), "") == self.tag


def asked_in(setup: Json, tag: str) -> Asked:
    """What a run asked by its rubric for a tag, or by the one for all; refuses where there is none."""
    rubrics = setup["rubrics"]
    if tag not in rubrics:
        raise InputError(_no_such_rubric(rubrics, tag))
    old, how = rubrics[tag], setup["how"]
    holistic = old["method"]["holistic"]
    return Asked(
        tag=tag,
        tags=frozenset(rubrics) - {""},
        scales={leaf["id"]: _scale(leaf["scale"]) for leaf in _leaves(old[CRITERIA])},
        statements={group: tuple(one["id"] for one in old[group]) for group in STATEMENTS},
        holistic=None if holistic is None else _scale(holistic),
        judges={one["name"]: Fraction(one["weight"]) for one in setup["judges"]},
        cascade=how["cascade"] is not None,
        refuse=how["refuse"],
    )


def refuse_what_was_not_asked(rubric: Rubric, asked: Asked) -> None:
    """What nobody was asked has no answer, and a number means something else on another scale."""
    leaves = {id: leaf for id, leaf in rubric.leaves.items() if leaf.judged}
    faults = [
        Fault(
            f"the criterion {id!r} was answered on {_in_words(asked.scales[id])}, not on {_in_words(leaf.scale)}",
            "an answer cannot be moved to another scale: run the eval with this rubric",
        )
        for id, leaf in leaves.items()
        if id in asked.scales and _in_order(leaf.scale) != _in_order(asked.scales[id])
    ]
    strangers = [id for id in leaves if id not in asked.scales]
    for group, title in STATEMENTS.items():
        strangers += [f"{title} {one.id}" for one in getattr(rubric, group) if one.id not in asked.statements[group]]
    if strangers:
        known = [*asked.scales, *(f"{STATEMENTS[group]} {id}" for group, ids in asked.statements.items() for id in ids)]
        hint = f"its judges were asked about {', '.join(known)}; run the eval for the others"
        faults.append(Fault(f"the run has no judgments on {', '.join(strangers)}", hint))
    if faults:
        raise InputError(*faults)


def _no_such_rubric(rubrics: Json, tag: str) -> Fault:
    tags = ", ".join(one for one in rubrics if one)
    if not rubrics:
        return Fault("the run has no judgments to score: it had no rubric")
    if not tag:
        return Fault("the run has no rubric for all samples, only for those with a tag", f"name one with --tag: {tags}")
    known = f"tags with one: {tags}" if tags else "it has one for all samples: leave out --tag"
    return Fault(f"the run has no rubric for the tag {tag!r}", known)


def _leaves(criteria: Sequence[Json]) -> Iterator[Json]:
    for one in criteria:
        if one["children"]:
            yield from _leaves(one["children"])
        else:
            yield one


def _scale(kept: Json) -> Scale:
    bands = (Band(id=one["id"], min=Fraction(one["min"]), max=Fraction(one["max"])) for one in kept["bands"])
    ends = {"min": Fraction(kept["min"]), "max": Fraction(kept["max"])}
    return Scale(**ends, integers=kept["integers"], yes_no=kept["yes_no"], bands=tuple(bands))


def _in_order(scale: Scale) -> Scale:
    return replace(scale, bands=tuple(sorted(scale.bands, key=lambda band: band.min)))


def _in_words(scale: Scale) -> str:
    bands = ", ".join(f"{one.id} {written(one.min)}–{written(one.max)}" for one in scale.bands)
    return f"{scale} ({bands})" if bands else str(scale)
