"""A rubric in words: the steps of its method with what they are given, its scale, and where its anchors stand."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from fractions import Fraction

from evenhand.model.method import Method, Step
from evenhand.model.scale import Anchor, Scale
from evenhand.wording import format_fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class MethodStepPhrase:
    """A step of a method: its word, what it is given, and what it does."""

    word: str
    given: tuple[str, ...]
    about: str


def list_method_steps(method: Method) -> list[MethodStepPhrase]:
    """Each step of a method, in order."""
    return [
        MethodStepPhrase(
            word=step.word,
            given=tuple(_list_step_parameters(step)),
            about=(step.__doc__ or "").splitlines()[0].replace("`", ""),
        )
        for step in method.steps
    ]


def _list_step_parameters(step: Step) -> Iterator[str]:
    for field in fields(step):
        value = getattr(step, field.name)
        if value is not None:
            shown = format_fraction(value) if isinstance(value, Fraction) else str(value)
            yield f"{field.name.rstrip('_')} {shown.lower() if isinstance(value, bool) else shown}"


def describe_method_scale(method: Method) -> str:
    """The ends of the score, and its decimals."""
    places = method.scale.decimals
    decimals = "exact" if places is None else "1 decimal" if places == 1 else f"{places} decimals"
    return f"{format_fraction(method.scale.min)}–{format_fraction(method.scale.max)}, {decimals}"


def format_anchor_place(anchor: Anchor, scale: Scale) -> str:
    """The levels that an anchor pins."""
    if scale.yes_no:
        return format_scale_score(anchor.min, scale)
    least, most = format_fraction(anchor.min), format_fraction(anchor.max)
    ends = least if anchor.min == anchor.max else f"{least}–{most}"
    return next((band.id for band in scale.bands if (band.min, band.max) == (anchor.min, anchor.max)), ends)


def format_scale_score(score: Fraction, scale: Scale) -> str:
    """A score as an answer on its scale."""
    return ("yes" if score else "no") if scale.yes_no else format_fraction(score)
