"""Times as the page writes them: to the minute, and finer where that would make two moments one."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

FORMS = ("%H:%M", "%H:%M:%S", "%H:%M:%S.%f")


@dataclass(frozen=True, slots=True, kw_only=True)
class Clock:
    """Writes the times of a page; it knows how many of its moments look like one in each form."""

    alike: tuple[Counter[str], ...]
    moments: frozenset[datetime]

    @classmethod
    def of(cls, moments: Iterable[datetime]) -> Clock:
        """The clock of these moments."""
        known = frozenset(moments)
        return cls(alike=tuple(Counter(_day_and(form, one) for one in known) for form in FORMS), moments=known)

    def short(self, when: datetime) -> str:
        """A time as short as it can be within one contest."""
        return f"{when.day} {when:%b}, {when.strftime(self._form(when))}"

    def full(self, when: datetime) -> str:
        """A time with its year and zone."""
        return f"{when.day} {when:%b %Y}, {when.strftime(self._form(when))} {when:%Z}".rstrip()

    def _form(self, when: datetime) -> str:
        """The shortest that no other moment shares."""
        own = int(when in self.moments)
        found = (form for form, alike in zip(FORMS, self.alike, strict=True) if alike[_day_and(form, when)] <= own)
        return next(found, FORMS[-1])


def _day_and(form: str, when: datetime) -> str:
    return when.strftime(f"%Y-%m-%d {form}")
