"""Typed fields out of one object of a contest log; what is missing, unknown or of another type is an error."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Mapping
from datetime import datetime, timedelta
from fractions import Fraction
from typing import Any, TypeVar

from evenhand.contest.task import LONGEST_PERIOD
from evenhand.errors import ContestError, Fault, InputError
from evenhand.wording import describe_json_type

T = TypeVar("T")
DAMAGED_LOG_HINT = "the log is damaged, or of another version"
# No count, place or number of seconds in a contest is larger, and no fraction needs more digits.
LARGEST_LOGGED_NUMBER = 10**15
MOST_FRACTION_DIGITS = 300

_FRACTION = re.compile(rf"-?[0-9]{{1,{MOST_FRACTION_DIGITS}}}(?:/0*[1-9][0-9]{{0,{MOST_FRACTION_DIGITS}}})?")


class LogObject:
    """One object of plain data with exactly the fields that are asked for."""

    def __init__(self, data: object, fields: Collection[str]) -> None:
        if not isinstance(data, Mapping):
            raise _damaged_log_error(f"must be an object, got {_shorten_logged_value(data)}")
        missing = [name for name in fields if name not in data]
        if missing:
            raise _damaged_log_error("is missing", missing[0])
        unknown = [name for name in data if name not in fields]
        if unknown:
            raise _damaged_log_error("is not known", str(unknown[0])[:60])
        self._data = data

    def text(self, name: str) -> str:
        """A text."""
        value = self._data[name]
        if isinstance(value, str):
            return value
        raise self._field_error(name, "text")

    def text_or_none(self, name: str) -> str | None:
        """A text, or null."""
        return None if self._data[name] is None else self.text(name)

    def require_null(self, name: str) -> None:
        """Null."""
        if self._data[name] is not None:
            raise self._field_error(name, "null")

    def choice(self, name: str, allowed: Collection[str]) -> Any:
        """One of a few words."""
        value = self.text(name)
        if value in allowed:
            return value
        raise self._field_error(name, f"one of {', '.join(allowed)}")

    def boolean(self, name: str) -> bool:
        """True or false."""
        value = self._data[name]
        if isinstance(value, bool):
            return value
        raise self._field_error(name, "true or false")

    def integer(self, name: str) -> int:
        """A whole number from 0 up."""
        value = self._data[name]
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= LARGEST_LOGGED_NUMBER:
            return value
        raise self._field_error(name, f"a whole number from 0 to {LARGEST_LOGGED_NUMBER:,}")

    def integer_or_none(self, name: str) -> int | None:
        """The same, or null."""
        return None if self._data[name] is None else self.integer(name)

    def number(self, name: str) -> float:
        """A number from 0 up."""
        value = self._data[name]
        if isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= LARGEST_LOGGED_NUMBER:
            return value
        raise self._field_error(name, f"a number from 0 to {LARGEST_LOGGED_NUMBER:,}")

    def length(self, name: str) -> timedelta:
        """A length of time in seconds."""
        seconds = self.number(name)
        if seconds > LONGEST_PERIOD.total_seconds():
            raise self._field_error(name, f"at most {LONGEST_PERIOD.days:,} days")
        return timedelta(seconds=seconds)

    def fraction(self, name: str) -> Fraction:
        """An exact number."""
        return self._read_fraction(self._data[name], name)

    def fractions(self, name: str) -> dict[str, Fraction]:
        """An exact number for each of some names."""
        return {key: self._read_fraction(value, name, key) for key, value in self._read_mapping(name).items()}

    def moment(self, name: str) -> datetime:
        """A moment, as it was written."""
        try:
            return datetime.fromisoformat(self.text(name))
        except ValueError:
            raise self._field_error(name, "a time in ISO 8601") from None

    def moment_or_none(self, name: str) -> datetime | None:
        """The same, or null."""
        return None if self._data[name] is None else self.moment(name)

    def texts(self, name: str) -> tuple[str, ...]:
        """A list of texts."""
        return self._read_texts(self._data[name], name)

    def texts_by_name(self, name: str) -> dict[str, tuple[str, ...]]:
        """A list of texts for each of some names."""
        return {key: self._read_texts(value, name, key) for key, value in self._read_mapping(name).items()}

    def read_list(self, name: str, read: Callable[[object], T]) -> tuple[T, ...]:
        """The entries of a list, each read on its own."""
        return _read_log_part(lambda value: read_log_list(value, read), self._data[name], name)

    def read_object(self, name: str, read: Callable[[object], T]) -> T:
        """An object of its own."""
        return _read_log_part(read, self._data[name], name)

    def read_object_or_none(self, name: str, read: Callable[[object], T]) -> T | None:
        """The same, or null."""
        return None if self._data[name] is None else self.read_object(name, read)

    def _read_mapping(self, name: str) -> Mapping[str, object]:
        value = self._data[name]
        if isinstance(value, Mapping) and all(isinstance(key, str) for key in value):
            return value
        raise self._field_error(name, "an object")

    def _read_texts(self, value: object, *where: str) -> tuple[str, ...]:
        if isinstance(value, (list, tuple)) and all(isinstance(one, str) for one in value):
            return tuple(value)
        raise _damaged_log_error(f"must be a list of texts, got {_shorten_logged_value(value)}", *where)

    def _read_fraction(self, value: object, *where: str) -> Fraction:
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= LARGEST_LOGGED_NUMBER:
            return Fraction(value)
        if isinstance(value, str) and _FRACTION.fullmatch(value):
            return Fraction(value)
        raise _damaged_log_error(
            f"must be a whole number or a fraction as in 2/3, got {_shorten_logged_value(value)}", *where
        )

    def _field_error(self, name: str, expected: str) -> ContestError:
        return _damaged_log_error(f"must be {expected}, got {_shorten_logged_value(self._data[name])}", name)


def read_log_list(data: object, read: Callable[[object], T]) -> tuple[T, ...]:
    """The entries of a list, each read on its own."""
    if not isinstance(data, (list, tuple)):
        raise _damaged_log_error(f"must be a list, got {_shorten_logged_value(data)}")
    return tuple(_read_log_part(read, entry, at) for at, entry in enumerate(data))


def _shorten_logged_value(value: object) -> str:
    """A value for a message; numbers of thousands of digits cannot even be written."""
    if isinstance(value, str):
        return repr(value[:40])
    small = isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST_LOGGED_NUMBER**2
    return str(value) if small or isinstance(value, float) else describe_json_type(value)


def _read_log_part(read: Callable[[object], T], data: object, *prefix: str | int) -> T:
    """What is read, or the error with the way to it; a value that refuses itself is as damaged as any."""
    try:
        return read(data)
    except InputError as error:
        raise ContestError(*error.faults).within(*prefix) from None


def _damaged_log_error(what: str, *path: str) -> ContestError:
    return ContestError(Fault(what, DAMAGED_LOG_HINT, path))
