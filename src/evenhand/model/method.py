"""Methods: a list of steps, and the grades, verdicts and tie-breaks read off the score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import Literal

from evenhand.errors import Fault, RubricError, suggest_known_word_in_fault
from evenhand.model.criterion import Criterion
from evenhand.model.scale import YES_NO, Scale
from evenhand.model.steps import Add, Cap, Ceiling, Clamp, Deduct, Panel, Round, Step
from evenhand.wording import format_fraction

# How a judge is asked: one output at a time, all of them at once, item by item, or band first with advice.
DialogueName = Literal["pointwise", "listwise", "checklist", "individual"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ScoreScale:
    """The span of a method's score and how many decimals it is shown with; None shows the exact value."""

    min: Fraction
    max: Fraction
    decimals: int | None = None

    def __post_init__(self) -> None:
        if not self.min < self.max:
            raise RubricError(f"a scale runs upwards, got {format_fraction(self.min)} to {format_fraction(self.max)}")
        if self.decimals is not None and not 0 <= self.decimals <= 12:
            raise RubricError(Fault(f"decimals must be 0 to 12, got {self.decimals}", path=("decimals",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Grade:
    """A letter with the least score that earns it."""

    grade: str
    from_: Fraction
    label: str = ""
    description: str = field(default="", compare=False)  # What a score in it says of an output; it decides nothing.


@dataclass(frozen=True, slots=True, kw_only=True)
class VerdictThreshold:
    """A verdict with the least score that earns it."""

    verdict: Literal["pass", "borderline"]
    from_: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class TieBreak:
    """What separates equal scores: a higher criterion, fewer red flags or more bonuses."""

    by: Literal["criterion", "fewer", "more"]
    of: str

    def __str__(self) -> str:
        return self.of if self.by == "criterion" else f"{self.by} {self.of}"


@dataclass(frozen=True, slots=True, kw_only=True)
class EnvironmentSetting:
    """What an environment variable sets: a criterion's weight, where the cap on unsafe outputs lies, or the guard."""

    sets: Literal["weight", "cap", "guard"]
    of: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Method:
    """How criterion scores become a score, and what is decided by it.

    Steps before the panel run for each reviewer, those after it once. A method that names no panel gets one, and one
    that does not keep its score on the scale after it gets a clamp.
    """

    name: str
    scale: ScoreScale
    steps: tuple[Step, ...]
    about: str = ""
    criterion_scale: Scale = YES_NO
    criteria: tuple[Criterion, ...] = ()
    required: bool = False
    weights_sum_to: Fraction | None = None
    holistic: Scale | None = None
    grades: tuple[Grade, ...] = ()
    verdicts: tuple[VerdictThreshold, ...] = ()
    ties: tuple[TieBreak, ...] = ()
    environment: Mapping[str, EnvironmentSetting] = field(default_factory=dict)
    dialogue: DialogueName = "pointwise"
    panel: Panel = field(init=False, repr=False, compare=False)
    before_panel: tuple[Step, ...] = field(init=False, repr=False, compare=False)
    after_panel: tuple[Step, ...] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        faults = list(self._faults())
        if faults:
            raise RubricError(*faults)
        object.__setattr__(self, "steps", _add_implied_method_steps(self.steps, self.scale))
        at = next(position for position, step in enumerate(self.steps) if isinstance(step, Panel))
        object.__setattr__(self, "panel", self.steps[at])
        object.__setattr__(self, "before_panel", self.steps[:at])
        object.__setattr__(self, "after_panel", self.steps[at + 1 :])

    def with_step(self, old: Step, new: Step) -> Method:
        """The same method with one step exchanged."""
        return replace(self, steps=tuple(new if step is old else step for step in self.steps))

    def _faults(self) -> Iterator[Fault]:
        if not self.steps:
            yield Fault("a method needs at least one step", path=("steps",))
        elif not self.steps[0].combines:
            hint = "the first step makes a number: weighted_sum, weighted_mean, layer_mean or points_share"
            yield Fault(f"{self.steps[0].kind()!r} cannot come first", hint, ("steps", 0))
        for position, step in enumerate(self.steps[1:], start=1):
            if step.combines:
                yield Fault(f"{step.kind()!r} can only come first", path=("steps", position))
        if sum(isinstance(step, Panel) for step in self.steps) > 1:
            yield Fault("a method has one panel step", path=("steps",))
        for position, step in enumerate(self.steps):
            if isinstance(step, (Cap, Ceiling)) and not self.scale.min <= step.at <= self.scale.max:
                span = f"{format_fraction(self.scale.min)}–{format_fraction(self.scale.max)}"
                what = f"{step.kind()} at {format_fraction(step.at)} is outside the scale {span}"
                yield Fault(what, path=("steps", position))
        onto = getattr(self.steps[0], "onto", None) if self.steps else None
        if onto is not None and not self.scale.min <= onto.min < onto.max <= self.scale.max:
            yield Fault(f"onto {onto} is outside the scale of the score", path=("steps", 0))
        yield from self._reference_faults()
        for name, entries in (("grades", self.grades), ("verdicts", self.verdicts)):
            for position in range(1, len(entries)):
                if not entries[position].from_ < entries[position - 1].from_:
                    yield Fault(f"{name} must fall from the best to the worst", path=(name, position))

    def _reference_faults(self) -> Iterator[Fault]:
        """What a method with criteria of its own says about others that it does not have."""
        own = {criterion.id for criterion in self.criteria}
        if not own:
            return
        for position, tie in enumerate(self.ties):
            if tie.by == "criterion" and tie.of not in own:
                what = f"tie-break by unknown criterion {tie.of!r}"
                yield Fault(what, suggest_known_word_in_fault(tie.of, own), ("ties", position))
        for variable, setting in self.environment.items():
            if setting.sets == "weight" and setting.of not in own:
                what = f"{variable} sets the weight of unknown criterion {setting.of!r}"
                yield Fault(what, suggest_known_word_in_fault(setting.of, own), ("environment", variable))


def _add_implied_method_steps(steps: tuple[Step, ...], scale: ScoreScale) -> tuple[Step, ...]:
    """Reviewers are joined at the end, but before rounding, which happens once; then the score is on its scale."""
    if not any(isinstance(step, Panel) for step in steps):
        at = len(steps) - 1 if isinstance(steps[-1], Round) else len(steps)
        steps = (*steps[:at], Panel(), *steps[at:])
    at = next(position for position, step in enumerate(steps) if isinstance(step, Panel)) + 1
    kept = False
    for step in steps[at:]:
        if isinstance(step, Clamp):
            kept = None not in (step.min, step.max) and scale.min <= step.min and step.max <= scale.max  # type: ignore[operator]
        kept = kept and not isinstance(step, (Deduct, Add))
    if kept:
        return steps
    end = len(steps) - 1 if isinstance(steps[-1], Round) else len(steps)
    return (*steps[:end], Clamp(min=scale.min, max=scale.max), *steps[end:])
