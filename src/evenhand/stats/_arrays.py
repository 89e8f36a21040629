"""What a statistic can rest on: rows of finite numbers, counts, levels and a generator, or a refusal in words."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from numbers import Real
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError, suggest_known_word

Floats = NDArray[np.float64]
Numbers = Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]

LARGEST = 1e150  # Its square is still a number.
MOST_RESAMPLES = 10_000_000
_MOST = 2**53  # Beyond, not every whole number is a float.
_GRID = 46  # Bits that are kept: 4.33 − 4 and 3.33 − 3 are one value, whatever their last digits.


def finite(values: Numbers, what: str) -> Floats:
    """One row of finite numbers, or a refusal that names the first that is none."""
    array = floats(values, what)
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        hint = "leave out what has no number, and count it"
        raise InputError(Fault(f"{what}[{wrong[0]}] is not a finite number", hint))
    large = np.flatnonzero(np.abs(array) > LARGEST)
    if len(large):
        what = f"{what}[{large[0]}] is {array[large[0]]:g}, which is too large to reckon with"
        raise InputError(Fault(what, f"{LARGEST:g} at most"))
    return array


def floats(values: object, what: str) -> Floats:
    """One row of floats, NaN for None; NumPy would take text, dates and complex numbers for numbers too."""
    try:
        given = np.asarray(values)
        with np.errstate(over="ignore"):
            array = given.astype(np.float64) if _numeric(given) else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise InputError(Fault(f"{what} must be numbers", "one number per sample"))
    if array.ndim != 1:
        raise InputError(Fault(f"{what} must be one row of numbers, got {array.ndim} dimensions"))
    return array


def _numeric(given: NDArray[Any]) -> bool:
    if given.dtype != object:
        return given.dtype.kind in "biuf"
    return not any(isinstance(one, str | bytes | np.generic) and not isinstance(one, Real) for one in given.flat)


def size_of(values: Floats) -> float:
    """A power of two about as large as the largest: divided by it no digit is lost, and tiny values keep a square."""
    return math.ldexp(1.0, max(math.frexp(float(np.abs(values).max(initial=0.0)) or 1.0)[1], -1022))


def sequence(values: object, what: str, hint: str = "give a list") -> Sequence[Any]:
    """A list, a tuple, an array or the like; not text, and nothing that has no order or no end."""
    if not isinstance(values, str | bytes | Mapping | Set) and isinstance(values, Iterable):
        try:
            len(values)  # type: ignore[arg-type]  # Of an array without dimensions there is none.
        except TypeError:
            pass
        else:
            return values  # type: ignore[return-value]
    raise InputError(Fault(f"{what} must be a list, got {told(values)}", hint))


def real(value: object, what: str, hint: str = "") -> float:
    """One finite number, or a refusal."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not abs(number) <= LARGEST:  # Refuses NaN too.
        raise InputError(Fault(f"{what} must be a finite number, got {told(value)}", hint))
    return number


def whole(count: object, what: str, most: int = _MOST) -> int:
    """A count as an integer, or a refusal; what is too few is for others to say."""
    number = real(count, what, "a whole number")
    if not number.is_integer():
        raise InputError(Fault(f"{what} must be a whole number, got {number:g}", "count samples, not shares of them"))
    if abs(count) > most:  # type: ignore[arg-type]  # It is a number, and may have more digits than its float.
        raise InputError(Fault(f"{what} is {number:g}, which is too many", f"{most:,} at most"))
    return int(number)


_Kind = TypeVar("_Kind")


def of_kind(value: object, kind: type[_Kind], what: str, hint: str) -> _Kind:
    """The value, or a refusal where it is something else."""
    if isinstance(value, kind):
        return value
    raise InputError(Fault(f"{what} must be {kind.__name__}, got {told(value)}", hint))


def generator(rng: object) -> np.random.Generator:
    """The generator, or a refusal: a seed is none."""
    return of_kind(rng, np.random.Generator, "rng", "rng=np.random.default_rng(seed)")


def one_of(value: object, known: Iterable[str], what: str) -> str:
    """The choice, or a refusal that names the nearest."""
    known = list(known)
    if isinstance(value, str) and value in known:
        return value
    raise InputError(
        Fault(f"unknown {what} {told(value)}", suggest_known_word(value if isinstance(value, str) else "", known))
    )


def told(value: object) -> str:
    """Words and numbers as they are, all else by its kind: it may be long."""
    if isinstance(value, float):
        return repr(float(value))  # NumPy's own say np.float64(…).
    if value is None or isinstance(value, str) or (isinstance(value, int) and abs(value) < 2**64):
        return repr(value)[:60]
    return type(value).__name__


def on_grid(values: Floats, scale: float) -> Floats:
    """The values with the noise of binary fractions taken out, so that equal differences are equal."""
    if scale == 0:
        return values
    quantum = math.ldexp(1.0, max(math.frexp(scale)[1] - _GRID, -1000))
    rounded: Floats = np.rint(values / quantum) * quantum + 0.0  # + 0.0: a difference of −0 is one of 0.
    return rounded


def checked_level(level: float) -> float:
    """What is left outside an interval of this level."""
    given = real(level, "level", "95 % is 0.95")
    outside = round(1 - given, 12)  # 1 − 0.95 is a little more than 0.05, and a p of 0.05 is not below it.
    if not (0 < given < 1 and outside > 0):
        raise InputError(Fault(f"level must be between 0 and 1, got {given:.15g}", "95 % is 0.95"))
    return outside
