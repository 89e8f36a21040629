"""A task: what is wanted, what must be met, how a winner is found, and by whom."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Literal, get_args

from evenhand.contest._times import LAST_YEAR, LONGEST, kept_moment, moment_faults
from evenhand.errors import ContestError, Fault
from evenhand.model import Criterion, Rubric, written

Mode = Literal["fastest_first", "quality_first"]
MODES: tuple[Mode, ...] = get_args(Mode)
METHOD = "oracle"
FIXED = 3
LEAST_OTHERS, MOST_OTHERS = 1, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """All that a contest is told; `dimensions` are None until they are generated, and locked from its start on."""

    name: str
    description: str
    acceptance: tuple[str, ...]
    mode: Mode
    deadline: datetime | None = None
    revisions: int | None = None  # The most of each author; None is as many as there is time for.
    challenge_period: timedelta = timedelta()
    reward: str = ""  # A reference for whoever pays: an invoice, an address, an amount.
    dimensions: Rubric | None = None
    judges: tuple[str, ...] = ()
    weights: Mapping[str, Fraction] = field(default_factory=dict)  # Of judges; 1 where none is given.
    challenge_judges: tuple[str, ...] = ()  # Who looks at a challenge: none of those who judged before.

    def __post_init__(self) -> None:
        faults = [*self._faults(), *_dimension_faults(self.dimensions)]
        if faults:
            raise ContestError(*faults)
        if self.deadline is not None:
            object.__setattr__(self, "deadline", kept_moment(self.deadline, "deadline"))
        if self.dimensions is not None:  # The same dimensions are the same, whoever made and named them.
            object.__setattr__(self, "dimensions", replace(self.dimensions, name=self.name))

    def _faults(self) -> Iterator[Fault]:
        if not self.description.strip():
            yield Fault("a task needs a description", "what the submissions are to do", ("description",))
        if not self.acceptance:
            hint = "a list of what each submission must meet"
            yield Fault("a task needs at least one acceptance criterion", hint, ("acceptance",))
        if self.mode not in MODES:
            yield Fault(f"mode {self.mode!r} is not known", f"one of {', '.join(MODES)}", ("mode",))
        if self.revisions is not None and self.revisions < 0:
            yield Fault(f"revisions must be 0 or more, got {self.revisions}", path=("revisions",))
        yield from self._time_faults()
        if self.mode == "fastest_first":
            given = [name for name in ("challenge_period", "challenge_judges") if getattr(self, name)]
            what = "fastest_first pays the first that passes: nothing is challenged"
            yield from (Fault(what, "leave it out", (name,)) for name in given)
        yield from self._panel_faults()
        both = [name for name in self.challenge_judges if name in self.judges]
        if both:
            what = f"{both[0]!r} judges before: a challenge is for a panel that did not"
            yield Fault(what, "name another judge", ("challenge_judges",))

    def _time_faults(self) -> Iterator[Fault]:
        if self.deadline is None:
            if self.mode == "quality_first":
                yield Fault("quality_first needs a deadline: the ranking is made then", "add one", ("deadline",))
        else:
            yield from moment_faults(self.deadline, "deadline")
        if self.challenge_period < timedelta():
            yield Fault("a challenge period cannot be negative", path=("challenge_period",))
        elif self.challenge_period > LONGEST:
            yield Fault(f"challenge_period is beyond the {LONGEST.days:,} days allowed", path=("challenge_period",))
        elif (
            self.deadline is not None and self.deadline.year <= LAST_YEAR < (self.deadline + self.challenge_period).year
        ):
            yield Fault(f"the challenge period would end after {LAST_YEAR}", "shorten it", ("challenge_period",))

    def _panel_faults(self) -> Iterator[Fault]:
        for field_name, names in (("judges", self.judges), ("challenge_judges", self.challenge_judges)):
            twice = [name for at, name in enumerate(names) if name in names[:at]]
            if twice:
                yield Fault(f"{twice[0]!r} is named twice", "each judge once", (field_name,))
        for name, weight in self.weights.items():
            if weight <= 0:
                yield Fault(f"the weight of {name} must be above 0, got {written(weight)}", path=("judges", name))


def _dimension_faults(rubric: Rubric | None) -> Iterator[Fault]:
    """4 to 6 in all: three that every task has, marked as fixed, and one to three of its own."""
    if rubric is None:
        return
    method = rubric.method
    if method.name != METHOD:
        hint = f"use the method {METHOD}: bands, and fixed ones that pull the whole score down"
        yield Fault(f"dimensions cannot be scored by the method {method.name!r}", hint, ("dimensions",))
        return
    plain = [
        Criterion(id=one.id, asks=one.asks, weight=one.weight, fixed=one.fixed, scale=method.criterion_scale)
        for one in rubric.criteria
    ]
    if rubric != Rubric(name=rubric.name, method=method, criteria=tuple(plain)):
        what = "a dimension has an id, a question, a weight and whether it is fixed"
        yield Fault(what, "leave out scales, anchors, red flags, bonuses and gates", ("dimensions",))
    yield from count_faults([one.fixed for one in rubric.criteria])


def count_faults(fixed: Sequence[bool]) -> Iterator[Fault]:
    """What is wrong with how many dimensions there are, of those that are fixed and of the others."""
    if sum(fixed) != FIXED:
        count = f"{sum(fixed)} dimension{' is' if sum(fixed) == 1 else 's are'}"
        yield Fault(f"{count} fixed, expected {FIXED}", "mark them with fixed: true", ("dimensions",))
    others = len(fixed) - sum(fixed)
    if not LEAST_OTHERS <= others <= MOST_OTHERS:
        what = f"{others} dimensions beside the fixed ones, expected {LEAST_OTHERS} to {MOST_OTHERS}"
        yield Fault(what, path=("dimensions",))
