"""What a measure of agreement comes to: a value with its interval, or the reason why there is none."""

from __future__ import annotations

from dataclasses import dataclass

from evenhand.errors import Fault, InputError


@dataclass(frozen=True, slots=True, kw_only=True)
class Ends:
    """An interval and how it was found; without ends, why there is none."""

    low: float | None = None
    high: float | None = None
    level: float | None = None
    interval: str = ""
    no_interval: str = ""

    def __post_init__(self) -> None:
        given = [end is not None for end in (self.low, self.high, self.level)]
        if all(given) == any(given) and bool(self.no_interval) is not all(given):
            return
        raise InputError(Fault(f"not an interval: {self}", "low, high and level together, or why there are none"))

    def around(self, value: float) -> Ends:
        """The same ends, moved to the value where rounding left it a digit outside."""
        if self.low is None or self.high is None:
            return self
        low, high = min(self.low, value), max(self.high, value)
        return Ends(low=low, high=high, level=self.level, interval=self.interval)


@dataclass(frozen=True, slots=True, kw_only=True)
class Correlation:
    """How far two rise and fall together: -1 to 1.

    `low`, `high` and `level` are None where there is no interval, and `no_interval` says why; `interval` names how it
    was found.
    """

    value: float
    method: str
    n: int
    low: float | None = None
    high: float | None = None
    level: float | None = None
    interval: str = ""
    no_interval: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Agreement:
    """How far several raters agree; `n` counts the units that were used, `pairs` the pairs of raters.

    `skipped` names what was left out. `low`, `high` and `level` are None where there is no interval, and `no_interval`
    says why; `interval` names how it was found.
    """

    value: float
    method: str
    n: int
    pairs: int
    skipped: tuple[str, ...] = ()
    low: float | None = None
    high: float | None = None
    level: float | None = None
    interval: str = ""
    no_interval: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Undefined:
    """There is no such number for these data, and why."""

    why: str
    method: str
    n: int


def correlation(value: float, ends: Ends, *, method: str, n: int) -> Correlation:
    """A correlation with its interval, kept between -1 and 1."""
    value = min(1.0, max(-1.0, value))
    ends = ends.around(value)
    return Correlation(
        value=value,
        method=method,
        n=n,
        low=ends.low,
        high=ends.high,
        level=ends.level,
        interval=ends.interval,
        no_interval=ends.no_interval,
    )


def agreement(
    value: float,
    ends: Ends,
    *,
    method: str,
    n: int,
    raters: int,
    pairs: int | None = None,
    skipped: tuple[str, ...] = (),
) -> Agreement:
    """An agreement with its interval, kept to 1 at most; all pairs of raters unless told how many."""
    value = min(1.0, value)
    ends = ends.around(value)
    return Agreement(
        value=value,
        method=method,
        n=n,
        pairs=raters * (raters - 1) // 2 if pairs is None else pairs,
        skipped=skipped,
        low=ends.low,
        high=ends.high,
        level=ends.level,
        interval=ends.interval,
        no_interval=ends.no_interval,
    )
