"""Methods: a list of steps, and the grades, verdicts and tie-breaks read off the score."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from fractions import Fraction
from typing import ClassVar, Literal

from evenhand.errors import Fault, RubricError, suggest_known_word_in_error
from evenhand.model.scale import YES_NO, Criterion, Scale
from evenhand.wording import format_fraction

StatementKind = Literal["red_flags", "bonuses"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Step:
    """One operation of a method. A step that combines makes the first number out of criterion scores."""

    combines: ClassVar[bool] = False
    word: ClassVar[str]  # For this step in a method file.

    def __init_subclass__(cls) -> None:
        cls.word = re.sub(r"(?<!^)(?=[A-Z])", "_", cls.__name__).lower()


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedSum(Step):
    """Each criterion times its weight, added up."""

    combines: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class WeightedMean(Step):
    """The mean by weight over all criteria, each put `onto` a common span where one is named."""

    combines: ClassVar[bool] = True
    onto: Scale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerMean(Step):
    """The mean by weight over the criteria that are present, each put `onto` a common span where one is named."""

    combines: ClassVar[bool] = True
    onto: Scale | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class PointsShare(Step):
    """Points met over the sum of the positive points."""

    combines: ClassVar[bool] = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Ceiling(Step):
    """Limits the score while a criterion is below a level."""

    criterion: str
    below: Fraction
    at: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Shortfall(Step):
    """Multiplies by score / `below` for each fixed criterion under that level."""

    below: Fraction

    def __post_init__(self) -> None:
        if not self.below > 0:
            raise RubricError(Fault(f"below must be above 0, got {format_fraction(self.below)}", path=("below",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Deduct(Step):
    """Takes off an amount for each distinct statement found, up to a limit."""

    each: Fraction
    most: Fraction
    for_: StatementKind = "red_flags"

    def __post_init__(self) -> None:
        _require_positive_method_values(each=self.each, most=self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Add(Step):
    """Adds an amount for each distinct statement found, up to a limit."""

    each: Fraction
    most: Fraction
    for_: StatementKind = "bonuses"

    def __post_init__(self) -> None:
        _require_positive_method_values(each=self.each, most=self.most)


@dataclass(frozen=True, slots=True, kw_only=True)
class Cap(Step):
    """Limits the score when the output was found unsafe."""

    at: Fraction
    when: Literal["unsafe"] = "unsafe"


@dataclass(frozen=True, slots=True, kw_only=True)
class Clamp(Step):
    """Keeps the score between two ends; one of them may be left out."""

    min: Fraction | None = None
    max: Fraction | None = None

    def __post_init__(self) -> None:
        if self.min is None and self.max is None:
            raise RubricError("clamp needs min, max or both")
        if self.min is not None and self.max is not None and self.min > self.max:
            what = f"clamp: min {format_fraction(self.min)} is above max {format_fraction(self.max)}"
            raise RubricError(Fault(what, path=("min",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Round(Step):
    """Rounds half away from zero, so that what follows decides by the rounded score."""

    decimals: int

    def __post_init__(self) -> None:
        if not 0 <= self.decimals <= 12:
            raise RubricError(Fault(f"decimals must be 0 to 12, got {self.decimals}", path=("decimals",)))


LEAST_TO_NORMALISE = 3  # Scores that one reviewer must have given for `normalise: z` to act on them.


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel(Step):
    """Joins the reviewers' scores into one; steps before it run per reviewer, steps after it once."""

    aggregate: Literal["mean", "median", "borda"] = "mean"
    normalise: Literal["none", "z"] = "none"
    self_votes: bool = False
    quorum: Fraction = Fraction(1, 2)

    def __post_init__(self) -> None:
        if not 0 <= self.quorum < 1:
            what = f"quorum must be 0 or more and under 1, got {format_fraction(self.quorum)}"
            raise RubricError(Fault(what, "0.5 asks for more than half of the reviewers", ("quorum",)))


PLAIN_PANEL = Panel()


def _require_positive_method_values(**amounts: Fraction) -> None:
    wrong = {name: format_fraction(amount) for name, amount in amounts.items() if not amount > 0}
    if wrong:
        raise RubricError(*(Fault(f"{name} must be above 0, got {got}", path=(name,)) for name, got in wrong.items()))


STEPS: dict[str, type[Step]] = {
    step.word: step
    for step in (
        WeightedSum, WeightedMean, LayerMean, PointsShare, Ceiling, Shortfall,
        Deduct, Add, Cap, Clamp, Round, Panel,
    )
}  # fmt: skip


# How a judge is asked: one output at a time, all of them at once, item by item, band first with advice, or in pairs.
DialogueName = Literal["pointwise", "listwise", "checklist", "individual", "pairwise"]


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
        if faults := list(self._faults()):
            raise RubricError(*faults)
        steps, scale = self.steps, self.scale
        if not any(isinstance(step, Panel) for step in steps):
            # Reviewers are joined at the end, but before rounding, which happens once.
            end = len(steps) - isinstance(steps[-1], Round)
            steps = (*steps[:end], PLAIN_PANEL, *steps[end:])
        at = next(position for position, step in enumerate(steps) if isinstance(step, Panel))
        kept = False  # Whether what follows the panel keeps the score on the scale.
        for step in steps[at + 1 :]:
            if isinstance(step, Clamp):
                kept = None not in (step.min, step.max) and scale.min <= step.min and step.max <= scale.max  # type: ignore[operator]
            kept = kept and not isinstance(step, (Deduct, Add))
        if not kept:
            end = len(steps) - isinstance(steps[-1], Round)
            steps = (*steps[:end], Clamp(min=scale.min, max=scale.max), *steps[end:])
        parts = {"steps": steps, "panel": steps[at], "before_panel": steps[:at], "after_panel": steps[at + 1 :]}
        for name, value in parts.items():
            object.__setattr__(self, name, value)

    def with_step(self, old: Step, new: Step) -> Method:
        """The same method with one step exchanged."""
        return replace(self, steps=tuple(new if step is old else step for step in self.steps))

    def _faults(self) -> Iterator[Fault]:
        if not self.steps:
            yield Fault("a method needs at least one step", path=("steps",))
        elif not self.steps[0].combines:
            hint = "the first step makes a number: weighted_sum, weighted_mean, layer_mean or points_share"
            yield Fault(f"{self.steps[0].word!r} cannot come first", hint, ("steps", 0))
        late = [(position, step) for position, step in enumerate(self.steps) if position and step.combines]
        yield from (Fault(f"{step.word!r} can only come first", path=("steps", position)) for position, step in late)
        if sum(isinstance(step, Panel) for step in self.steps) > 1:
            yield Fault("a method has one panel step", path=("steps",))
        for position, step in enumerate(self.steps):
            if isinstance(step, (Cap, Ceiling)) and not self.scale.min <= step.at <= self.scale.max:
                span = f"{format_fraction(self.scale.min)}–{format_fraction(self.scale.max)}"
                what = f"{step.word} at {format_fraction(step.at)} is outside the scale {span}"
                yield Fault(what, path=("steps", position))
        onto = getattr(self.steps[0], "onto", None) if self.steps else None
        if onto is not None and not self.scale.min <= onto.min < onto.max <= self.scale.max:
            yield Fault(f"onto {onto} is outside the scale of the score", path=("steps", 0))
        # A method with criteria of its own can only speak of those.
        own = {criterion.id for criterion in self.criteria}
        for position, tie in enumerate(self.ties if own else ()):
            if tie.by == "criterion" and tie.of not in own:
                what = f"tie-break by unknown criterion {tie.of!r}"
                yield Fault(what, suggest_known_word_in_error(tie.of, own), ("ties", position))
        for variable, setting in self.environment.items():
            if own and setting.sets == "weight" and setting.of not in own:
                what = f"{variable} sets the weight of unknown criterion {setting.of!r}"
                yield Fault(what, suggest_known_word_in_error(setting.of, own), ("environment", variable))
        for name, entries in (("grades", self.grades), ("verdicts", self.verdicts)):
            rising = [at for at in range(1, len(entries)) if not entries[at].from_ < entries[at - 1].from_]
            yield from (Fault(f"{name} must fall from the best to the worst", path=(name, at)) for at in rising)
