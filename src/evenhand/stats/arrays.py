"""Check the arguments of a statistic (numbers, counts, levels, clusters), or refuse them with a reason."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from numbers import Real
from operator import ne
from typing import Any, Literal, TypeVar

import numpy as np
from numpy.typing import NDArray

from evenhand.errors import Fault, InputError, suggest_known_word_in_error

Floats = NDArray[np.float64]
Numbers = Sequence[float] | NDArray[np.floating[Any] | np.integer[Any]]
UnitNumbers = NDArray[np.int64]
CountedPer = Literal["sample", "cluster"]
ClusterLabels = Sequence[object] | NDArray[Any]  # What tells rows that belong together: names, ids or numbers.

LARGEST_NUMBER = 1e150  # Its square is still a number.
MOST_RESAMPLES = 10_000_000
_LARGEST_COUNT = 2**53  # Beyond, not every whole number is a float.
_GRID_BITS = 46  # Enough to make 4.33 − 4 and 3.33 − 3 the same value.


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """There is no such number for these data, and why."""

    why: str
    method: str
    n: int


def require_finite_array(values: Numbers, what: str) -> Floats:
    """Return one row of finite numbers; the refusal names the first that is none."""
    array = convert_to_float_array(values, what)
    wrong = np.flatnonzero(~np.isfinite(array))
    if len(wrong):
        hint = "leave out what has no number, and count it"
        raise InputError(Fault(f"{what}[{wrong[0]}] is not a finite number", hint))
    large = np.flatnonzero(np.abs(array) > LARGEST_NUMBER)
    if len(large):
        what = f"{what}[{large[0]}] is {array[large[0]]:g}, which is too large to compute with"
        raise InputError(Fault(what, f"{LARGEST_NUMBER:g} at most"))
    return array


def convert_to_float_array(values: object, what: str) -> Floats:
    """Return one row of floats, NaN for None. NumPy alone would convert text, dates and complex numbers too."""
    try:
        given = np.asarray(values)
        numeric = given.dtype.kind in "biuf"
        if given.dtype == object:
            kinds = set(map(type, given.ravel().tolist()))
            numeric = not any(issubclass(one, str | bytes | np.generic) and not issubclass(one, Real) for one in kinds)
        with np.errstate(over="ignore"):
            array = given.astype(np.float64) if numeric else None
    except (TypeError, ValueError, OverflowError):
        array = None
    if array is None:
        raise InputError(Fault(f"{what} must be numbers", "one number per sample"))
    if array.ndim != 1:
        raise InputError(Fault(f"{what} must be one row of numbers, got {array.ndim} dimensions"))
    return array


def require_array_sequence(values: object, what: str, hint: str = "give a list") -> Sequence[Any]:
    """Return a list, tuple or array; text, sets, mappings and iterators are refused."""
    if not isinstance(values, str | bytes | Mapping | Set) and isinstance(values, Iterable):
        try:
            len(values)  # type: ignore[arg-type]  # An array without dimensions has no length.
        except TypeError:
            pass
        else:
            return values  # type: ignore[return-value]
    raise InputError(Fault(f"{what} must be a list, got {quote_statistic_argument(values)}", hint))


def require_statistic_number(value: object, what: str, hint: str = "") -> float:
    """Return one finite number."""
    try:
        number = float(value) if isinstance(value, Real) and not isinstance(value, bool) else math.nan
    except OverflowError:
        number = math.inf
    if not abs(number) <= LARGEST_NUMBER:  # Refuses NaN too.
        raise InputError(Fault(f"{what} must be a finite number, got {quote_statistic_argument(value)}", hint))
    return number


def require_statistic_count(count: object, what: str, most: int = _LARGEST_COUNT) -> int:
    """Return a count as an integer; callers check the lower limit."""
    number = require_statistic_number(count, what, "a whole number")
    if not number.is_integer():
        raise InputError(Fault(f"{what} must be a whole number, got {number:g}", "count samples, not shares of them"))
    if abs(count) > most:  # type: ignore[arg-type]  # A number, possibly with more digits than its float.
        raise InputError(Fault(f"{what} is {number:g}, which is too many", f"{most:,} at most"))
    return int(number)


_Kind = TypeVar("_Kind")


def require_statistic_type(value: object, kind: type[_Kind], what: str, hint: str) -> _Kind:
    """Return the value if it is an instance of `kind`."""
    if isinstance(value, kind):
        return value
    raise InputError(Fault(f"{what} must be {kind.__name__}, got {quote_statistic_argument(value)}", hint))


def require_random_generator(rng: object) -> np.random.Generator:
    """Return the generator; a seed is refused."""
    return require_statistic_type(rng, np.random.Generator, "rng", "rng=np.random.default_rng(seed)")


def require_statistic_choice(value: object, known: Iterable[str], what: str) -> str:
    """Return the choice; the refusal suggests the nearest known one."""
    known = list(known)
    if isinstance(value, str) and value in known:
        return value
    hint = suggest_known_word_in_error(value if isinstance(value, str) else "", known)
    raise InputError(Fault(f"unknown {what} {quote_statistic_argument(value)}", hint))


def quote_statistic_argument(value: object) -> str:
    """Return text and numbers as they are, anything else as the name of its type: its repr may be long."""
    if isinstance(value, float):
        return repr(float(value))  # NumPy's own repr says np.float64(…).
    if value is None or isinstance(value, str) or (isinstance(value, int) and abs(value) < 2**64):
        return repr(value)[:60]
    return type(value).__name__


def compute_interval_alpha(level: float) -> float:
    """Return 1 − `level`, the error rate of an interval of this level."""
    given = require_statistic_number(level, "level", "95% is 0.95")
    alpha = round(1 - given, 12)  # 1 − 0.95 is a little more than 0.05, and a p of 0.05 is not below it.
    if not (0 < given < 1 and alpha > 0):
        raise InputError(Fault(f"level must be between 0 and 1, got {given:.15g}", "95% is 0.95"))
    return alpha


def find_array_magnitude(values: Floats) -> float:
    """Return a power of two about as large as the largest value.

    Dividing by it loses no digit, and afterwards squares neither vanish nor overflow.
    """
    return math.ldexp(1.0, max(math.frexp(float(np.abs(values).max(initial=0.0)) or 1.0)[1], -1022))


def round_array_off_binary_noise(values: Floats, scale: float) -> Floats:
    """Round off the noise of binary fractions, so that differences that are equal on paper are equal."""
    if scale == 0:
        return values
    quantum = math.ldexp(1.0, max(math.frexp(scale)[1] - _GRID_BITS, -1000))
    return np.rint(values / quantum) * quantum + 0.0  # + 0.0 turns −0 into 0.


def number_clusters_of_array(labels: ClusterLabels, rows: int, what: str) -> UnitNumbers:
    """Return labels as numbers from 0 in the order in which they come, one per row."""
    given = require_array_sequence(labels, what, "one per score")
    if len(given) != rows:
        raise InputError(Fault(f"{len(given)} {what} for {rows} scores", "one per score"))
    if isinstance(given, np.ndarray):
        if given.ndim == 1 and given.dtype.kind == "i":
            return _number_integers(given)
        given = given.tolist()
    try:
        known = {label: number for number, label in enumerate(dict.fromkeys(given))}
    except TypeError:
        raise InputError(Fault(f"{what} must be names or numbers", "one per score")) from None
    if None in known or any(map(ne, known, known)):  # NaN is not itself.
        raise InputError(Fault(f"one of the {what} is missing", "give every score one"))
    return np.fromiter(map(known.__getitem__, given), dtype=np.int64, count=rows)


def _number_integers(labels: NDArray[np.signedinteger[Any]]) -> UnitNumbers:
    """The same for numbers, without sorting them where none is far beyond how many there are."""
    if not len(labels):
        return np.zeros(0, dtype=np.int64)
    places = labels.astype(np.int64)
    if not 0 <= int(places.min()) <= int(places.max()) < 8 * len(places) + 64:
        places = np.unique(places, return_inverse=True)[1]
    first = find_first_rows(places)[places]
    return (np.cumsum(first == np.arange(len(places))) - 1)[first]


def find_first_rows(places: UnitNumbers) -> UnitNumbers:
    """The row in which each number from 0 on comes first."""
    first = np.zeros(int(places.max(initial=-1)) + 1, dtype=np.int64)
    first[places[::-1]] = np.arange(len(places))[::-1]  # Of several rows the last that is written stays.
    return first


@dataclass(frozen=True, slots=True)
class ClusterMeans:
    """One mean per independent unit, and how many samples it stands for in the mean over all samples."""

    means: Floats
    sizes: Floats

    @property
    def equal_sizes(self) -> bool:
        """Every unit counts alike."""
        return not len(self.sizes) or bool((self.sizes == self.sizes[0]).all())


def compute_cluster_means(
    values: Floats,
    clusters: ClusterLabels | None,
    samples: ClusterLabels | None = None,
    per: CountedPer = "sample",
) -> ClusterMeans:
    """The mean of each cluster of samples that are not independent; rows that name one of `samples` are its repeats.

    A cluster counts by the number of its samples, or, `per` cluster, once. Samples without clusters stand alone.
    """
    if not isinstance(per, str) or per not in ("sample", "cluster"):
        raise InputError(Fault("per must be sample or cluster", "what counts once in the mean"))
    repeats = None if samples is None else number_clusters_of_array(samples, len(values), "samples")
    groups = None if clusters is None else number_clusters_of_array(clusters, len(values), "clusters")
    if repeats is not None:
        first = find_first_rows(repeats)
        values = np.bincount(repeats, weights=values) / np.bincount(repeats)
        if groups is not None and (groups != groups[first][repeats]).any():
            raise InputError(Fault("a sample is in two clusters", "give all repeats of a sample the same cluster"))
        groups = None if groups is None else groups[first]
    if groups is None:
        return ClusterMeans(values, np.ones(len(values)))
    sizes = np.bincount(groups).astype(np.float64)
    means = np.bincount(groups, weights=values) / sizes
    return ClusterMeans(means, sizes if per == "sample" else np.ones(len(means)))


def subtract_group_means(values: Floats, groups: UnitNumbers) -> Floats:
    """Return the values less the mean of their group."""
    means = np.bincount(groups, weights=values) / np.bincount(groups)
    return values - means[groups]
