"""How judges are asked: words, settings, how often, by when, and in which order."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction

from evenhand.errors import JudgeError
from evenhand.judging._request import Settings
from evenhand.model import written


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
    weights: Mapping[str, Fraction] = field(default_factory=dict)  # By judge; 1 where none is given.
    cascade: Cascade | None = None

    def __post_init__(self) -> None:
        if self.samples < 1:
            raise JudgeError(f"samples must be 1 or more, got {self.samples}")
        if self.each and (self.samples > 1 or self.logprobs):
            raise JudgeError("one request per criterion cannot be combined with samples or logprobs")
        if self.deadline is not None and not self.deadline > 0:
            raise JudgeError(f"a deadline must be above 0 seconds, got {self.deadline:g}")
        for judge, weight in self.weights.items():
            if not weight > 0:
                raise JudgeError(f"the weight of {judge} must be above 0, got {written(weight)}")
