"""Scales: the answers a criterion allows, and reading one answer without ever guessing."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from numbers import Integral

from evenhand.errors import Fault, RubricError
from evenhand.model._numbers import exact, written


@dataclass(frozen=True, slots=True)
class Scored:
    """An answer on a criterion's scale."""

    value: Fraction
    band: str | None = None
    why: str = ""


@dataclass(frozen=True, slots=True)
class Unscored:
    """No answer, and why: failed, abstained, unreadable, not asked."""

    why: str


CriterionScore = Scored | Unscored


@dataclass(frozen=True, slots=True, kw_only=True)
class Band:
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
    bands: tuple[Band, ...] = ()
    _known: dict[float, CriterionScore] = field(init=False, repr=False, compare=False, default_factory=dict)

    def __post_init__(self) -> None:
        if not self.min < self.max:
            raise RubricError(Fault(f"a scale runs upwards, got {written(self.min)} to {written(self.max)}"))
        _refuse_gaps(self)

    def __str__(self) -> str:
        if self.yes_no:
            return "yes/no"
        ends = f"{written(self.min)}–{written(self.max)}"
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

    def fault_of(self, value: Fraction) -> str | None:
        """What is wrong with a number on this scale, if anything."""
        above, below = value.as_integer_ratio()
        low, high = self.min, self.max
        # Comparing by hand: Fraction's own comparison takes half the time of reading an answer.
        if above * low.denominator < low.numerator * below or above * high.denominator > high.numerator * below:
            return f"{written(value)} is outside {written(self.min)}–{written(self.max)}"
        if self.integers and below != 1:
            return f"{written(value)} is not a whole number"
        return None

    def read(self, answer: object) -> CriterionScore:
        """The answer on this scale; what is not clearly one is unscored, never clamped."""
        if type(answer) in (int, float) and not self.bands:
            return self._remembered(answer)  # type: ignore[arg-type]
        if isinstance(answer, (Scored, Unscored)):
            return answer
        if answer is None:
            return Unscored("not answered")
        if isinstance(answer, Mapping):
            return self._read_mapping(answer)
        if self.bands:
            return _unreadable(f"{_quoted(answer)} has no band")
        return self._read_plain(answer)

    def _remembered(self, answer: float) -> CriterionScore:
        """Judges write few different numbers, so each is worked out once: this halves the time of a scorecard."""
        score = self._known.get(answer)
        if score is None:
            score = self._read_plain(answer)
            if len(self._known) < 1000:
                self._known[answer] = score
        return score

    def _read_mapping(self, answer: Mapping[object, object]) -> CriterionScore:
        if "missing" in answer:
            return Unscored(str(answer["missing"] or "not answered"))
        if self.bands:
            return self._read_band(answer)
        why = str(answer.get("why", ""))
        if "passed" in answer and "total" in answer and self.is_share:
            return _read_rate(answer["passed"], answer["total"], why)
        if "score" not in answer:
            return _unreadable("an object without 'score'")
        plain = self._read_plain(answer["score"])
        return Scored(plain.value, why=why) if isinstance(plain, Scored) else plain

    def _read_plain(self, answer: object) -> CriterionScore:
        if answer is True or answer is False:
            if not self.is_share:
                return _unreadable(f"{_quoted(answer)} where a number from {self} is asked")
            return Scored(Fraction(int(answer)))
        if isinstance(answer, Integral) and not isinstance(answer, int):
            answer = int(answer)  # A NumPy integer.
        if not isinstance(answer, (float, int, Decimal, Fraction)):
            what = "neither true nor false" if self.yes_no else "not a number"
            return _unreadable(f"{_quoted(answer)} is {what}")
        try:
            value = exact(answer)
        except ValueError as error:
            return _unreadable(str(error))
        if self.yes_no and value not in (0, 1):
            return _unreadable(f"{_quoted(answer)} is neither true nor false")
        fault = self.fault_of(value)
        return _unreadable(fault) if fault else Scored(value)

    def _read_band(self, answer: Mapping[object, object]) -> CriterionScore:
        named = answer.get("band")
        band = next((band for band in self.bands if band.id == named), None)
        if band is None:
            return _unreadable(f"{_quoted(named)} is not a band, which are {_ids(self.bands)}")
        plain = self._read_plain(answer.get("score"))
        if isinstance(plain, Unscored):
            return plain
        if not band.min <= plain.value <= band.max:
            limits = f"{written(band.min)}–{written(band.max)}"
            return _unreadable(f"{written(plain.value)} is outside band {band.id} ({limits})")
        return Scored(plain.value, band=band.id, why=str(answer.get("why", "")))


def _refuse_gaps(scale: Scale) -> None:
    expected = scale.min
    for band in sorted(scale.bands, key=lambda band: band.min):
        if band.min != expected or band.max < band.min:
            raise RubricError(
                Fault(f"band {band.id!r} runs from {written(band.min)} to {written(band.max)}, "
                      f"expected it to start at {written(expected)}",
                      "bands cover the scale without overlap or gap")
            )  # fmt: skip
        expected = band.max + 1
    if scale.bands and expected != scale.max + 1:
        raise RubricError(Fault(f"the bands end before {written(scale.max)}"))


def _read_rate(passed: object, total: object, why: str) -> CriterionScore:
    try:
        part, whole = exact(passed), exact(total)  # type: ignore[arg-type]
    except (TypeError, ValueError, AttributeError):
        return _unreadable(f"{_quoted(passed)} passed of {_quoted(total)}")
    if not (isinstance(part, Fraction) and isinstance(whole, Fraction) and 0 <= part <= whole and whole > 0):
        return _unreadable(f"{_quoted(passed)} passed of {_quoted(total)}")
    return Scored(part / whole, why=why)


def _unreadable(what: str) -> Unscored:
    return Unscored(f"unreadable: {what}")


def _quoted(answer: object) -> str:
    if answer is True or answer is False:
        return str(answer).lower()
    if isinstance(answer, (list, tuple, Mapping)):
        return "a mapping" if isinstance(answer, Mapping) else "a list"
    text = repr(answer) if isinstance(answer, str) else str(answer)
    return text if len(text) <= 40 else text[:39] + "…"


def _ids(bands: tuple[Band, ...]) -> str:
    return ", ".join(band.id for band in bands)


YES_NO = Scale(min=Fraction(0), max=Fraction(1), integers=True, yes_no=True)
ZERO_TO_TEN = Scale(min=Fraction(0), max=Fraction(10), integers=True)
SHARE = Scale(min=Fraction(0), max=Fraction(1))
