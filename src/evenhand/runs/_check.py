"""Looking at everything an eval will need before anything is paid for."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path

from evenhand.assertions import AnyAssertion, Assertion, outside, read_plain, unknown_custom
from evenhand.errors import EvalError, Fault
from evenhand.runs._asked_of_models import QUESTIONS
from evenhand.runs._eval import DEFAULT_TAG, Eval
from evenhand.runs._sample import RunSample
from evenhand.runs._samples import Counted, checked
from evenhand.runs.variants import Recorded


def checked_samples(eval: Eval) -> Counted:
    """One pass over all samples: an EvalError with every fault, or how many there are and a name for them all."""
    own = [Fault(why, where="assertions") for why in _unknown(eval.assertions, eval.folder)]
    if own:
        raise EvalError(*own)
    seen = _Seen()
    counted = checked(eval.samples, lambda sample, faults: _look(eval, sample, faults, seen))
    _refuse_unknown_variants(eval, counted)
    return replace(counted, questions=tuple(sorted(seen.questions)), mixed=_mixed(seen.layers))


@dataclass(slots=True)
class _Seen:
    """What the samples bring: questions for judges, and sets of layers, each with the first sample that has it."""

    questions: set[str] = field(default_factory=set)
    layers: dict[frozenset[str], str] = field(default_factory=dict)


def _mixed(layers: Mapping[frozenset[str], str]) -> str:
    if len(layers) < 2:
        return ""
    told = [f"{id!r} has {', '.join(sorted(names))}" for names, id in list(layers.items())[:2]]
    return f"samples have different layers ({'; '.join(told)}): they are scored, and no verdict can be given"


def _look(eval: Eval, sample: RunSample, faults: list[Fault], seen: _Seen) -> None:
    own: tuple[AnyAssertion, ...] = ()
    if sample.assertions is not None:
        told = len(faults)
        own = read_plain(sample.assertions, eval.folder, faults, ("assertions",))
        faults += [Fault(why, "", ("assertions",)) for why in _unknown(own, eval.folder)]
        seen.questions |= {leaf.kind for leaf in outside(own) if leaf.kind in QUESTIONS}
        if len(faults) > told:
            return
    layers = {one.layer for one in (*eval.assertions, *own)} | ({"judge"} if eval.rubric_for(sample.tags) else set())
    if not layers:
        faults.append(_nothing_to_score_by(eval))
    seen.layers.setdefault(frozenset(layers), sample.id)


def _nothing_to_score_by(eval: Eval) -> Fault:
    if not eval.rubrics:
        return Fault("nothing to score this sample by", "give it assertions, or the eval a rubric", ("assertions",))
    tags = ", ".join(tag for tag in eval.rubrics if tag != DEFAULT_TAG)
    return Fault(
        "no rubric fits this sample", f"give it one of the tags {tags}, or the eval a rubric for all", ("tags",)
    )


def _unknown(assertions: Sequence[AnyAssertion], folder: Path) -> list[str]:
    """Own checks that cannot be run: each would fail on every output, after all of them are paid for."""
    return [why for leaf in outside(assertions) if leaf.kind == "custom" and (why := _known_custom(leaf, folder))]


@cache
def _known_custom(leaf: Assertion, folder: Path) -> str:
    return unknown_custom(leaf, folder)


def _refuse_unknown_variants(eval: Eval, counted: Counted) -> None:
    """A recorded variant that no sample has an output of is a misspelling."""
    faults = [
        Fault(
            f"no sample has an output of {name!r}",
            f"outputs in the samples: {', '.join(counted.variants) or 'none'}",
            where=eval.samples.where,
        )
        for name, variant in eval.variants.items()
        if isinstance(variant, Recorded) and variant.outputs is None and name not in counted.variants
    ]
    if faults:
        raise EvalError(*faults)
