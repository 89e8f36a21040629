"""Criteria, statements and gates, and the scales of their answers, each read as an exact fraction, never guessed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral
from typing import Literal, get_args

from evenhand.errors import Fault, RubricError
from evenhand.model.quick_init import set_slots_directly
from evenhand.wording import format_fraction

Number = int | float | Decimal | Fraction

# A score or weight beyond these is a slip or an attack; as a fraction it could fill the memory.
LARGEST_NUMBER = 10**15
MOST_FRACTION_DECIMALS = 30


def to_exact_fraction(value: Number) -> Fraction:
    """The fraction that a number means as it is written: 0.1 is one tenth, also as a float."""
    if isinstance(value, bool):
        raise TypeError(f"{value} is not a number")
    if isinstance(value, int):
        if abs(value) > LARGEST_NUMBER:
            raise ValueError("the number is too large")
        return Fraction(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise ValueError(f"{value} is not a finite number")
        quarters = value * 4
        # A shortcut for what judges write: quarters are the same number in binary and in decimal.
        if quarters.is_integer() and abs(quarters) < 1e9:
            return Fraction(int(quarters), 4)
        value = Decimal(float.__repr__(value))
    if isinstance(value, Fraction):
        return value
    if not isinstance(value, Decimal):
        raise TypeError(f"{value!r} is not a number")
    if not value.is_finite():
        raise ValueError(f"{value} is not a finite number")
    if value != 0 and value.adjusted() > 15:
        raise ValueError("the number is too large")
    if int(value.as_tuple().exponent) < -MOST_FRACTION_DECIMALS:
        raise ValueError("the number of decimals is too large")
    return Fraction(value) if value else Fraction(0)


@set_slots_directly
@dataclass(frozen=True, slots=True)
class Scored:
    """An answer on a criterion's scale."""

    value: Fraction
    band: str | None = None
    why: str = ""


MissingKind = Literal["abstained", "unreadable", "failed", "not_asked"]
MISSING_KINDS: tuple[MissingKind, ...] = get_args(MissingKind)
_KIND_PREFIXES: dict[MissingKind, str] = {"abstained": "abstained: ", "unreadable": "unreadable: "}
# The beginnings of texts about what was not asked; the last one tells of an output that was hidden from the judges.
_NOT_ASKED_OPENINGS = ("not asked", "not judged", "refused: it ")
_WHOLE_TEXT_PREFIXES: dict[MissingKind, str] = {"failed": "judge failed: ", "not_asked": "not asked: "}


@dataclass(frozen=True, slots=True)
class Missing:
    """No score, and why: the judge abstained or refused, its answer is unreadable, no answer came, nobody was asked.

    The `why` of a failure, and of what was not asked, is a whole text: "judge failed: the server answered 500". It is
    for people, and may quote the reply. `told` is for the judge that is asked again: never a word of the reply.
    """

    kind: MissingKind
    why: str
    told: str = field(default="", compare=False, repr=False)

    def __post_init__(self) -> None:
        if self.kind not in MISSING_KINDS:
            raise ValueError(f"{self.kind!r} is no kind of missing; known: {', '.join(MISSING_KINDS)}")
        # Stores keep the text alone, so a why that would be read back as another kind must name its own.
        if self.kind in _WHOLE_TEXT_PREFIXES and _read_missing_kind_from_text(self.why) != self.kind:
            object.__setattr__(self, "why", _WHOLE_TEXT_PREFIXES[self.kind] + self.why)

    @property
    def text(self) -> str:
        """Kind and reason in one text, as readers see it and stores keep it."""
        return _KIND_PREFIXES.get(self.kind, "") + self.why

    @classmethod
    def unreadable(cls, says: str, quoted: object = "") -> Missing:
        """An answer that cannot be read; `says` are our own words, with … in the place of what is quoted."""
        return cls("unreadable", says.replace("…", str(quoted), 1) if quoted != "" else says, says)

    @classmethod
    def from_text(cls, text: str) -> Missing:
        """The value that has this text; for stored rows, contest logs and answers files, which hold nothing else."""
        kind = _read_missing_kind_from_text(text)
        return cls(kind, text.removeprefix(_KIND_PREFIXES.get(kind, "")))


def _read_missing_kind_from_text(text: str) -> MissingKind:
    named = next((kind for kind, prefix in _KIND_PREFIXES.items() if text.startswith(prefix)), None)
    return named or ("not_asked" if text.startswith(_NOT_ASKED_OPENINGS) else "failed")


NOT_ASKED = Missing("not_asked", "not asked")
NOT_ANSWERED = Missing("failed", "not answered", "not answered")

CriterionScore = Scored | Missing


@dataclass(frozen=True, slots=True, kw_only=True)
class ScaleBand:
    """A named stretch of a scale, chosen before the number inside it."""

    id: str
    min: Fraction
    max: Fraction


@dataclass(frozen=True, slots=True, kw_only=True)
class Scale:
    """The answers allowed: numbers between two ends, whole numbers, bands, or yes and no."""

    min: Fraction
    max: Fraction
    integers: bool = False
    yes_no: bool = False
    bands: tuple[ScaleBand, ...] = ()
    _cached_scores: dict[float, CriterionScore] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not self.min < self.max:
            raise RubricError(f"a scale runs upwards, got {format_fraction(self.min)} to {format_fraction(self.max)}")
        expected = self.min
        for band in sorted(self.bands, key=lambda band: band.min):
            if band.min != expected or band.max < band.min:
                span = f"from {format_fraction(band.min)} to {format_fraction(band.max)}"
                what = f"band {band.id!r} runs {span}, expected it to start at {format_fraction(expected)}"
                raise RubricError(Fault(what, "bands cover the scale without overlap or gap"))
            expected = band.max + 1
        if self.bands and expected != self.max + 1:
            raise RubricError(f"the bands end before {format_fraction(self.max)}")

    def __str__(self) -> str:
        if self.yes_no:
            return "yes/no"
        ends = f"{format_fraction(self.min)}–{format_fraction(self.max)}"
        if self.bands:
            return f"bands {self.bands[0].id}–{self.bands[-1].id}, then a whole number {ends}"
        return f"whole numbers {ends}" if self.integers else ends

    @property
    def is_share(self) -> bool:
        """Whether it runs from 0 to 1, so that yes and no lie on it."""
        return self.min == 0 and self.max == 1

    def share(self, value: Fraction) -> Fraction:
        """How far up the scale a value lies: 0 at the bottom, 1 at the top."""
        return (value - self.min) / (self.max - self.min)

    def find_fault(self, value: Fraction) -> str | None:
        """What is wrong with a number on this scale, if anything, with … in its place."""
        above, below = value.as_integer_ratio()
        low, high = self.min, self.max
        # Comparing by hand: Fraction's own comparison takes half the time of reading an answer.
        if above * low.denominator < low.numerator * below or above * high.denominator > high.numerator * below:
            return f"… is outside {format_fraction(self.min)}–{format_fraction(self.max)}"
        if self.integers and below != 1:
            return "… is not a whole number"
        return None

    def read(self, answer: object) -> CriterionScore:
        """The answer on this scale; what is not clearly one is missing, never clamped."""
        if (type(answer) is int or type(answer) is float) and not self.bands:
            # Judges write few different numbers, so each is worked out once: this halves the time of a scorecard.
            score = self._cached_scores.get(answer)
            if score is None:
                score = self._read_plain(answer)
                if len(self._cached_scores) < 1000:
                    self._cached_scores[answer] = score
            return score
        if isinstance(answer, (Scored, Missing)):
            return answer
        if answer is None:
            return NOT_ANSWERED
        if isinstance(answer, Mapping):
            return self._read_mapping(answer)
        if self.bands:
            return Missing.unreadable(
                "… has no band: give both, as in {band: B, score: 75}", _scale_value_as_text(answer)
            )
        return self._read_plain(answer)

    def _read_mapping(self, answer: Mapping[object, object]) -> CriterionScore:
        if "missing" in answer:
            return Missing.from_text(str(answer["missing"] or NOT_ANSWERED.text))
        if self.bands:
            return self._read_band(answer)
        why = str(answer.get("why", ""))
        if "passed" in answer and "total" in answer and self.is_share:
            return _read_passed_of_total_on_scale(answer["passed"], answer["total"], why)
        if "score" not in answer:
            return Missing.unreadable("an object without 'score'")
        plain = self._read_plain(answer["score"])
        return Scored(plain.value, why=why) if isinstance(plain, Scored) else plain

    def _read_plain(self, answer: object) -> CriterionScore:
        if answer is True or answer is False:
            if self.min == 0 and self.max == 1:
                return Scored(Fraction(int(answer)))
            return Missing.unreadable(f"… where a number from {self} is asked", _scale_value_as_text(answer))
        if isinstance(answer, Integral) and not isinstance(answer, int):
            answer = int(answer)  # A NumPy integer.
        if not isinstance(answer, (float, int, Decimal, Fraction)):
            what = "neither true nor false" if self.yes_no else "not a number"
            return Missing.unreadable(f"… is {what}", _scale_value_as_text(answer))
        try:
            value = to_exact_fraction(answer)
        except ValueError as error:
            return Missing("unreadable", str(error))
        if self.yes_no and value not in (0, 1):
            return Missing.unreadable("… is neither true nor false", _scale_value_as_text(answer))
        fault = self.find_fault(value)
        return Missing.unreadable(fault, format_fraction(value)) if fault else Scored(value)

    def _find_band(self, named: object) -> ScaleBand | None:
        """The band of that name; else the only one that it fits in another case, or as "Band B"."""
        exact = next((band for band in self.bands if band.id == named), None)
        if exact is not None or not isinstance(named, str):
            return exact
        spelt = re.sub(r"\Aband\s+", "", named.strip(" .:*\"'\n").casefold())
        fits = [band for band in self.bands if band.id.casefold() == spelt]
        return fits[0] if len(fits) == 1 else None

    def _read_band(self, answer: Mapping[object, object]) -> CriterionScore:
        named = answer.get("band")
        band = self._find_band(named)
        if band is None:
            known = ", ".join(band.id for band in self.bands)
            return Missing.unreadable(f"… is not a band, which are {known}", _scale_value_as_text(named))
        plain = self._read_plain(answer.get("score"))
        if isinstance(plain, Missing):
            return plain
        if not band.min <= plain.value <= band.max:
            limits = f"{format_fraction(band.min)}–{format_fraction(band.max)}"
            return Missing.unreadable(f"… is outside band {band.id} ({limits})", format_fraction(plain.value))
        return Scored(plain.value, band=band.id, why=str(answer.get("why", "")))


def _read_passed_of_total_on_scale(passed: object, total: object, why: str) -> CriterionScore:
    try:
        part, whole = to_exact_fraction(passed), to_exact_fraction(total)  # type: ignore[arg-type]
        if 0 <= part <= whole and whole > 0:
            return Scored(part / whole, why=why)
    except (TypeError, ValueError, AttributeError):
        pass
    return Missing("unreadable", f"{_scale_value_as_text(passed)} passed of {_scale_value_as_text(total)}")


def _scale_value_as_text(answer: object) -> str:
    if answer is True or answer is False:
        return str(answer).lower()
    if isinstance(answer, (list, tuple, Mapping)):
        return "a mapping" if isinstance(answer, Mapping) else "a list"
    text = repr(answer) if isinstance(answer, str) else str(answer)
    return text if len(text) <= 40 else text[:39] + "…"


YES_NO = Scale(min=Fraction(0), max=Fraction(1), integers=True, yes_no=True)
ZERO_TO_TEN = Scale(min=Fraction(0), max=Fraction(10), integers=True)
SHARE = Scale(min=Fraction(0), max=Fraction(1))


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """The text that pins a level, or a stretch of levels, of a scale."""

    min: Fraction
    max: Fraction
    text: str


# Tokens that the examples of one criterion may have together, so that no prompt grows without anybody noticing.
MOST_EXAMPLE_TOKENS = 1_000
IF_GIVEN = {"fingerprint": "if given"}  # A field that enters fingerprints only where it has something in it.


@dataclass(frozen=True, slots=True, kw_only=True)
class CriterionExample:
    """A passage with the score that people gave it, and why: it shows a judge how a criterion is meant."""

    passage: str
    score: Fraction
    why: str = ""

    def __post_init__(self) -> None:
        if not self.passage.strip():
            raise RubricError(Fault("an example needs a passage", path=("passage",)))

    @property
    def tokens(self) -> int:
        """About how many tokens it has: one for three bytes, as requests are estimated."""
        return len((self.passage + self.why).encode("utf-8", "replace")) // 3 + 1


@dataclass(frozen=True, slots=True, kw_only=True)
class Criterion:
    """One question about an output, answered on one scale; or a node over such questions."""

    id: str
    asks: str
    weight: Fraction = Fraction(1)
    points: Fraction | None = None
    scale: Scale = YES_NO
    anchors: tuple[Anchor, ...] = ()
    required: bool = False
    required_min_score: Fraction | None = None
    fixed: bool = False
    # False where rules measure it and no judge is asked; the same answers give the same score either way.
    judged: bool = field(default=True, compare=False)
    # How judges see it that a judge wrote: by this name, with its own words inside the fence. Empty for all others.
    shown_as: str = field(default="", compare=False)
    children: tuple[Criterion, ...] = ()
    examples: tuple[CriterionExample, ...] = field(default=(), metadata=IF_GIVEN)

    def __post_init__(self) -> None:
        faults = list(self._example_faults()) if self.examples else []
        if not self.id.strip():
            faults.append(Fault("an id cannot be empty", path=("id",)))
        if not self.weight > 0:
            hint = "to subtract for a fault, list it under red_flags or give it negative points"
            hint = hint if self.weight else "leave the criterion out if it is not to count"
            faults.append(Fault(f"weight must be above 0, got {format_fraction(self.weight)}", hint, ("weight",)))
        if self.points == 0:
            faults.append(Fault("points must not be 0", "a criterion worth nothing cannot be asked", ("points",)))
        if self.required and self.points is not None and self.points < 0:
            what = "a criterion with negative points cannot be required: that would demand the fault"
            faults.append(Fault(what, "turn the question round, or remove required", ("required",)))
        least, path = self.required_min_score, ("required_min_score",)
        if least is not None and self.scale.yes_no:
            what = "required_min_score needs a scale of numbers"
            faults.append(Fault(what, "use 'required: true' for a yes/no criterion", path))
        elif least is not None and (wrong := self.scale.find_fault(least)):
            faults.append(Fault(f"required_min_score {wrong.replace('…', format_fraction(least))}", path=path))
        for anchor in self.anchors:
            if not self.scale.min <= anchor.min <= anchor.max <= self.scale.max:
                span = f"{format_fraction(anchor.min)}–{format_fraction(anchor.max)}"
                faults.append(Fault(f"anchor {span} is outside the scale {self.scale}", path=("anchors",)))
        if faults:
            raise RubricError(*faults)

    def _example_faults(self) -> Iterator[Fault]:
        for place, example in enumerate(self.examples):
            if wrong := self.scale.find_fault(example.score):
                what = f"the score of the example {wrong.replace('…', format_fraction(example.score))}"
                yield Fault(what, f"the scale is {self.scale}", ("examples", place))
        tokens = sum(example.tokens for example in self.examples)
        if tokens > MOST_EXAMPLE_TOKENS:
            what = (
                f"the examples have about {tokens:,} tokens, and {MOST_EXAMPLE_TOKENS:,} are the most for a criterion"
            )
            yield Fault(what, "leave some out, or shorten their passages", ("examples",))

    def leaves(self) -> Iterator[Criterion]:
        """The questions a judge answers: this one, or those below it."""
        if not self.children:
            yield self
        for child in self.children:
            yield from child.leaves()


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A red flag or a bonus: a sentence that is true of an output or not."""

    id: str
    asks: str
    amount: Fraction | None = None

    def __post_init__(self) -> None:
        if not self.id.strip():
            raise RubricError(Fault("an id cannot be empty", path=("id",)))
        if self.amount is not None and not self.amount > 0:
            raise RubricError(Fault(f"amount must be above 0, got {format_fraction(self.amount)}", path=("amount",)))


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """A least score on a criterion: it decides without moving the number."""

    criterion: str
    min: Fraction
