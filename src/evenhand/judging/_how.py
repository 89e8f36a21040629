"""How judges are asked: words, settings, how often, by when, and in which order."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from evenhand.errors import JudgeError
from evenhand.judging._request import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class Cascade:
    """Judges in order, each next one asked only where the one before it is unsure or near a threshold.

    `near` is a share of the scale; `least` is a score that must be reached, where one was asked for.
    """

    near: Fraction = Fraction(1, 20)
    least: Fraction | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class How:
    """How judges are asked."""

    language: str = "en"  # Or a folder of prompt texts.
    settings: Settings = field(default_factory=Settings)
    seed: int = 0
    each: bool = False  # One request per criterion instead of one for all.
    samples: int = 1  # Replies per question; from two on, a criterion gets their mean and its spread.
    logprobs: bool = False  # The mean over how likely each answer was, where the server tells.
    deadline: float | None = None  # Seconds that each judge may take in all.
    weights: Mapping[str, Fraction | float] = field(default_factory=dict)  # By judge; 1 where none is given.
    cascade: Cascade | None = None
    refuse: bool = False  # Show no judge an output in which a guard found an injection.

    def __post_init__(self) -> None:
        faults = [fault for fault in self._faults() if fault]
        if faults:
            raise JudgeError(*faults)

    def _faults(self) -> Iterator[str]:
        whole = {"seed": self.seed, "samples": self.samples}
        yield from (
            f"{name} must be a whole number, got {value!r}" for name, value in whole.items() if not _whole(value)
        )
        if _whole(self.samples) and self.samples < 1:
            yield f"samples must be 1 or more, got {self.samples}"
        if self.each and (self.samples != 1 or self.logprobs):
            yield "one request per criterion cannot be combined with samples or logprobs"
        if not isinstance(self.refuse, bool):
            yield f"refuse must be true or false, got {self.refuse!r}"
        if not isinstance(self.language, str):
            yield f"language must be text, got {self.language!r}"
        if self.deadline is not None and not (isinstance(self.deadline, (int, float)) and self.deadline > 0):
            yield f"a deadline must be above 0 seconds, got {self.deadline!r}"
        if self.cascade is not None and self.weights:
            yield "a cascade takes no weights: each output keeps the answers of one judge"
        if not isinstance(self.weights, Mapping):
            yield f"weights map judges to numbers, got {self.weights!r}"
            return
        for judge, weight in self.weights.items():
            if not isinstance(weight, (int, float, Fraction)) or not weight > 0:
                yield f"the weight of {judge} must be a number above 0, got {weight!r}"


def _whole(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)
