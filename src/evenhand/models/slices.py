"""What one place hands out of the limits of a model to many processes: slices of a rate, and places for calls at once.

Pure arithmetic over what has been handed out, by the clock of that place: a row of a store that processes change in
turn, or one process that the others ask.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

SILENT_SECONDS = 30.0  # After which the places of a process that gave no sign of life are handed out again.
TURN_SECONDS = 10.0  # After which the places that cannot be divided go to the next ones.


@dataclass(frozen=True, slots=True, kw_only=True)
class PlaceShare:
    """The places of one process, how many it has use for, and when it last said so."""

    places: int
    wanted: int
    beat: float


@dataclass(frozen=True, slots=True, kw_only=True)
class LimitSlices:
    """What has been handed out of the limits of one model, by a clock in seconds."""

    at: float = 0.0  # When it last changed.
    ends: Mapping[str, float] = field(default_factory=dict)  # By rate: when the last of its slices ends.
    shares: Mapping[str, PlaceShare] = field(default_factory=dict)  # By process.

    def to_json(self) -> dict[str, Any]:
        """As plain data."""
        shares = {name: [one.places, one.wanted, one.beat] for name, one in self.shares.items()}
        return {"at": self.at, "ends": dict(self.ends), "shares": shares}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> LimitSlices:
        """What `to_json` wrote."""
        shares = {
            name: PlaceShare(places=places, wanted=wanted, beat=beat)
            for name, (places, wanted, beat) in data["shares"].items()
        }
        return cls(at=data["at"], ends=data["ends"], shares=shares)


def cut_rate_slice(
    state: LimitSlices, now: float, *, rate: str, amount: float, per_minute: float
) -> tuple[LimitSlices, float]:
    """Hand out so much of a rate behind all that was handed out before; in how many seconds it begins.

    It lasts for as long as the rate takes for it: whoever uses it then, and not later, keeps the rate with all others.
    """
    state = _follow_clock(state, now)
    begins = max(now, state.ends.get(rate, now))
    ends = {**state.ends, rate: begins + amount * 60.0 / per_minute}
    return replace(state, ends=ends), begins - now


def share_places(
    state: LimitSlices, now: float, *, holder: str, most: int, held: int, wanted: int
) -> tuple[LimitSlices, int]:
    """How many calls a process may have under way at once, of the `most` that all may have together.

    `held` are those that it may have until it knows the answer: they stay its own until it asks with fewer.
    """
    state = _follow_clock(state, now)
    others = {name: one for name, one in state.shares.items() if name != holder and now - one.beat < SILENT_SECONDS}
    free = most - sum(one.places for one in others.values())
    wants = {holder: wanted, **{name: one.wanted for name, one in others.items()}}
    places = max(0, min(free, divide_places(most, wants, first=int(now // TURN_SECONDS))[holder]))
    if held or wanted:
        others[holder] = PlaceShare(places=max(held, places), wanted=wanted, beat=now)
    return replace(state, shares=others), places


def divide_places(most: int, wanted: Mapping[str, int], *, first: int = 0) -> dict[str, int]:
    """Divide places evenly: nobody gets more than it wants, and what one leaves goes to the others.

    Those that cannot be divided go round, beginning with the process whose number is `first`.
    """
    given, left = dict.fromkeys(wanted, 0), most
    while left > 0 and (open := [name for name in sorted(wanted) if given[name] < wanted[name]]):
        begin, each = first % len(open), max(1, left // len(open))
        for name in open[begin:] + open[:begin]:
            more = min(each, wanted[name] - given[name], left)
            given[name] += more
            left -= more
    return given


def _follow_clock(state: LimitSlices, now: float) -> LimitSlices:
    """A clock that was set back takes all with it: nobody waits for a time that comes again."""
    back = min(0.0, now - state.at)
    if not back:
        return replace(state, at=now)
    shares = {name: replace(one, beat=one.beat + back) for name, one in state.shares.items()}
    return LimitSlices(at=now, ends={name: end + back for name, end in state.ends.items()}, shares=shares)
