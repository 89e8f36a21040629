"""What a contest is given: its task, submissions and challenges, with names and moments kept in one form."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import date, datetime, timedelta, timezone
from fractions import Fraction
from typing import Literal, get_args

from evenhand.errors import ContestError, Fault
from evenhand.files.lookalikes import UNSEEN_CHARACTERS
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.wording import format_fraction, quote_whole_text, read_kept_fraction

ContestMode = Literal["fastest_first", "quality_first"]
CONTEST_MODES: tuple[ContestMode, ...] = get_args(ContestMode)
CONTEST_METHOD = "oracle"
FIXED_DIMENSIONS = 3
LEAST_OTHER_DIMENSIONS, MOST_OTHER_DIMENSIONS = 1, 3


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """All that a contest is told; `dimensions` are None until they are generated, and locked from its start on."""

    name: str
    description: str
    acceptance: tuple[str, ...]
    mode: ContestMode
    deadline: datetime | None = None
    revisions: int | None = None  # The most of each author; None is as many as there is time for.
    challenge_period: timedelta = timedelta()
    reward: str = ""  # A reference for whoever pays: an invoice, an address, an amount.
    dimensions: Rubric | None = None
    judges: tuple[str, ...] = ()
    weights: Mapping[str, Fraction] = field(default_factory=dict)  # Of judges; 1 where none is given.
    challenge_judges: tuple[str, ...] = ()  # Who looks at a challenge: none of those who judged before.
    masked: bool = False  # Whether personal data in what others write is masked before anybody sees or keeps it.

    def __post_init__(self) -> None:
        faults = [
            *self._find_contest_faults(),
            *(_find_contest_dimension_faults(self.dimensions) if self.dimensions else ()),
        ]
        if faults:
            raise ContestError(*faults)
        if self.deadline is not None:
            object.__setattr__(self, "deadline", normalize_contest_moment(self.deadline, "deadline"))
        if self.dimensions is not None:  # The same dimensions are the same, whoever made and named them.
            object.__setattr__(self, "dimensions", replace(self.dimensions, name=self.name))

    @property
    def challenge_note(self) -> str:
        """That a challenge would be refused although there is a period for it; empty where it would not."""
        if not self.challenge_period or self.challenge_judges:
            return ""
        return "a challenge would be refused: the task names no challenge_judges; they cannot be named after the start"

    def _find_contest_faults(self) -> Iterator[Fault]:
        if not self.description.strip():
            yield Fault("a task needs a description", "what the submissions are to do", ("description",))
        if not self.acceptance:
            hint = "a list of what each submission must meet"
            yield Fault("a task needs at least one acceptance criterion", hint, ("acceptance",))
        if self.mode not in CONTEST_MODES:
            yield Fault(f"mode {self.mode!r} is not known", f"one of {', '.join(CONTEST_MODES)}", ("mode",))
        if self.revisions is not None and self.revisions < 0:
            yield Fault(f"revisions must be 0 or more, got {self.revisions}", path=("revisions",))
        yield from self._find_time_faults()
        if self.mode == "fastest_first":
            given = [name for name in ("challenge_period", "challenge_judges") if getattr(self, name)]
            what = "{} has no use: fastest_first pays the first that passes, and nothing is challenged"
            yield from (Fault(what.format(name), "leave it out", (name,)) for name in given)
        for field_name, names in (("judges", self.judges), ("challenge_judges", self.challenge_judges)):
            twice = [name for at, name in enumerate(names) if name in names[:at]]
            if twice:
                yield Fault(f"{twice[0]!r} is named twice", "each judge once", (field_name,))
        for name, weight in self.weights.items():
            if weight <= 0:
                what = f"the weight of {name} must be above 0, got {format_fraction(weight)}"
                yield Fault(what, path=("judges", name))
        both = [name for name in self.challenge_judges if name in self.judges]
        if both:
            what = f"{both[0]!r} judges before: a challenge is for a panel that did not"
            yield Fault(what, "name another judge", ("challenge_judges",))

    def _find_time_faults(self) -> Iterator[Fault]:
        if self.deadline is None:
            if self.mode == "quality_first":
                yield Fault("quality_first needs a deadline: the ranking is made then", "add one", ("deadline",))
        else:
            yield from find_contest_moment_faults(self.deadline, "deadline")
        if self.challenge_period < timedelta():
            yield Fault("a challenge period cannot be negative", path=("challenge_period",))
        elif self.challenge_period > LONGEST_PERIOD:
            what = f"challenge_period is beyond the {LONGEST_PERIOD.days:,} days allowed"
            yield Fault(what, path=("challenge_period",))
        elif self.deadline and self.deadline.year <= LAST_YEAR < (self.deadline + self.challenge_period).year:
            yield Fault(f"the challenge period would end after {LAST_YEAR}", "shorten it", ("challenge_period",))


def _find_contest_dimension_faults(rubric: Rubric) -> Iterator[Fault]:
    """4 to 6 in all: three that every task has, marked as fixed, and one to three of its own."""
    method = rubric.method
    if method.name != CONTEST_METHOD:
        hint = f"use the method {CONTEST_METHOD}: bands, and fixed ones that pull the whole score down"
        yield Fault(f"dimensions cannot be scored by the method {method.name!r}", hint, ("dimensions",))
        return
    plain = [
        Criterion(id=one.id, asks=one.asks, weight=one.weight, fixed=one.fixed, scale=method.criterion_scale)
        for one in rubric.criteria
    ]
    if rubric != Rubric(name=rubric.name, method=method, criteria=tuple(plain)):
        what = "a dimension has an id, a question, a weight and whether it is fixed"
        yield Fault(what, "leave out scales, anchors, red flags, bonuses and gates", ("dimensions",))
    yield from find_contest_dimension_faults([one.fixed for one in rubric.criteria])


def find_contest_dimension_faults(fixed: Sequence[bool]) -> Iterator[Fault]:
    """What is wrong with how many dimensions there are, of those that are fixed and of the others."""
    if sum(fixed) != FIXED_DIMENSIONS:
        count = f"{sum(fixed)} dimension{' is' if sum(fixed) == 1 else 's are'}"
        yield Fault(f"{count} fixed, expected {FIXED_DIMENSIONS}", "mark them with fixed: true", ("dimensions",))
    others = len(fixed) - sum(fixed)
    if not LEAST_OTHER_DIMENSIONS <= others <= MOST_OTHER_DIMENSIONS:
        expected = f"{LEAST_OTHER_DIMENSIONS} to {MOST_OTHER_DIMENSIONS}"
        yield Fault(f"{others} dimensions beside the fixed ones, expected {expected}", path=("dimensions",))


SUBMISSION_NAMES = ("id", "author", "revises")


@dataclass(frozen=True, slots=True, kw_only=True)
class Submission:
    """One text handed in for a task. Names that differ only in what cannot be seen are one name."""

    id: str
    author: str
    at: datetime
    text: str
    revises: str | None = None

    def __post_init__(self) -> None:
        names = {name: getattr(self, name) for name in SUBMISSION_NAMES if getattr(self, name) is not None}
        wrong = {name: find_contest_author_fault(given) for name, given in names.items()}
        faults = [Fault(f"{name} {why}", path=(name,)) for name, why in wrong.items() if why]
        faults += find_contest_moment_faults(self.at, "at")
        if faults:
            raise ContestError(*faults)
        for name, given in names.items():
            object.__setattr__(self, name, normalize_contest_author_name(given))
        object.__setattr__(self, "at", normalize_contest_moment(self.at, "at"))


@dataclass(frozen=True, slots=True, kw_only=True)
class Challenge:
    """That an author asks for the ranking to be looked at by a panel that did not make it."""

    by: str
    at: datetime
    reason: str

    def __post_init__(self) -> None:
        why = find_contest_author_fault(self.by)
        faults = [*([Fault(f"by {why}", path=("by",))] if why else []), *find_contest_moment_faults(self.at, "at")]
        if faults:
            raise ContestError(*faults)
        object.__setattr__(self, "by", normalize_contest_author_name(self.by))
        object.__setattr__(self, "at", normalize_contest_moment(self.at, "at"))


LONGEST_AUTHOR_NAME = 500

_VISIBLE = re.compile(f"[^{UNSEEN_CHARACTERS}]")
# Of these, what no script needs inside a name; joiners and variants of a character are needed by some.
_CONTROL = re.compile(
    r"[\x00-\x1f\x7f-\x9f\u00ad\u061c\u200b\u200e\u200f\u2028-\u202e\u2060-\u206f\u2800\u3164\ufeff\uffa0"
    r"\ufff0-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d159\U0001d173-\U0001d17a]"
)


def is_blank_submission(text: str) -> bool:
    """Whether nothing in a text can be seen."""
    return _VISIBLE.search(text) is None


def normalize_contest_author_name(text: str) -> str:
    """A name as it is compared: composed as Unicode composes it, without what cannot be seen at its ends."""
    text = unicodedata.normalize("NFC", text)
    first, last = _VISIBLE.search(text), _VISIBLE.search(text[::-1])
    return text[first.start() : len(text) - last.start()] if first and last else ""


def find_contest_author_fault(text: str) -> str:
    """What is wrong with a name; empty where nothing is."""
    name = normalize_contest_author_name(text)
    if not name:
        return "cannot be empty"
    if len(name) > LONGEST_AUTHOR_NAME:
        return f"is longer than {LONGEST_AUTHOR_NAME} characters"
    if found := _CONTROL.search(name):
        return f"holds a character that cannot be seen, U+{ord(found.group()):04X}"
    return ""


# Far enough from both ends of the calendar that no zone and no period leads beyond it.
FIRST_YEAR, LAST_YEAR = 1970, 2999
LONGEST_PERIOD = timedelta(days=36_525)
MOMENT_EXAMPLE = "as in 2026-12-01T18:00:00+01:00"
DURATION_EXAMPLE = "as in 3 days, 48 h, 90 min, 30 s or 1 week"

_DURATION_UNITS = {"s": 1, "second": 1, "min": 60, "minute": 60, "h": 3600, "hour": 3600}
_DURATION_UNITS |= {"day": 86_400, "week": 604_800}
_DURATION = re.compile(r"(?P<number>-?[0-9]{1,15}(?:\.[0-9]{1,15})?)\s*(?P<unit>[a-z]*)")


def parse_contest_moment(text: str, name: str, faults: list[Fault]) -> datetime | None:
    """The moment written in a field, in ISO 8601 with its time zone."""
    text = text.strip()
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        what = f"{name} must be a time in ISO 8601, got {_quote_contest_fault_text(text)}"
        faults.append(Fault(what, MOMENT_EXAMPLE, (name,)))
        return None
    wrong = list(find_contest_moment_faults(moment, name))
    with suppress(ValueError):  # Of a date alone the time of day is what is missing.
        date.fromisoformat(text)
        wrong = [Fault(f"{name} {text} has no time of day", f"as in {moment.date()}T18:00:00+01:00", (name,))]
    faults += wrong
    return None if wrong else moment


def normalize_contest_moment(moment: datetime, name: str) -> datetime:
    """A moment as a contest keeps it: its offset is a number, no rule that makes an hour come twice or not at all.

    A day added to it is 24 hours, and it is the same when it is read again from what was written.
    """
    faults = list(find_contest_moment_faults(moment, name))
    if faults:
        raise ContestError(*faults)
    offset = moment.utcoffset()
    assert offset is not None
    return moment.replace(tzinfo=timezone(offset), fold=0)


def find_contest_moment_faults(moment: datetime, name: str) -> Iterator[Fault]:
    """That its zone is missing, or that it lies where no calendar can be trusted."""
    written = moment.isoformat()
    if moment.tzinfo is None or moment.utcoffset() is None:
        yield Fault(f"{name} {written} has no time zone", f"as in {written}Z or {written}+01:00", (name,))
    elif not FIRST_YEAR <= moment.year <= LAST_YEAR:
        yield Fault(f"{name} must be from {FIRST_YEAR} to {LAST_YEAR}, got {written}", "", (name,))


def parse_contest_duration(text: str, name: str, faults: list[Fault]) -> timedelta | None:
    """The length of time written in a field: a number and its unit."""
    found = _DURATION.fullmatch(text.strip().lower())
    if found is None:
        what = f"{name} must be a length of time, got {_quote_contest_fault_text(text)}"
        faults.append(Fault(what, DURATION_EXAMPLE, (name,)))
        return None
    unit = found["unit"]
    seconds = _DURATION_UNITS.get(unit) or _DURATION_UNITS.get(unit.removesuffix("s"))
    if seconds is None:
        what = f"has an unknown unit, {_quote_contest_fault_text(unit)}" if unit else f"{found['number']} has no unit"
        faults.append(Fault(f"{name} {what}", DURATION_EXAMPLE, (name,)))
        return None
    length = read_kept_fraction(found["number"]) * seconds
    if abs(length) > LONGEST_PERIOD.total_seconds():
        faults.append(Fault(f"{name} is beyond the {LONGEST_PERIOD.days:,} days allowed", "", (name,)))
        return None
    return timedelta(microseconds=round(length * 1_000_000))


def _quote_contest_fault_text(text: str) -> str:
    return quote_whole_text(text, 40)
