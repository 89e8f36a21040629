"""The shape of a value in JSON and in files: the fields of its dataclass, what differs, and how scalars are written."""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field
from dataclasses import fields as dataclass_fields
from datetime import datetime, timedelta
from decimal import Decimal, InvalidOperation
from fractions import Fraction
from types import NoneType
from typing import Any, get_type_hints

from evenhand.errors import Fault, InputError
from evenhand.wording import word_type_of_value

MOST_FRACTION_DIGITS = 300
LARGEST_NUMBER_SHOWN = 10**30  # Numbers of thousands of digits cannot even be written.

_FRACTION = re.compile(rf"-?[0-9]{{1,{MOST_FRACTION_DIGITS}}}(?:/0*[1-9][0-9]{{0,{MOST_FRACTION_DIGITS}}})?")
JsonReader = Callable[..., Any]


def list_shape_fields(cls: type, shape: JsonShape | None = None) -> list[ShapeField]:
    """The fields of a dataclass as JSON and files know them: `from_` is written `from`, metadata may say more."""
    shape = shape or JsonShape()
    types = get_type_hints(cls)
    own = []
    for one in dataclass_fields(cls):
        if not shape.only or one.name in shape.only:
            form = shape.fields.get(one.name) or one.metadata.get("json") or JsonField()
            keys = form.keys if isinstance(form, SplitField) else (form.key or one.name.rstrip("_"),)
            required = one.default is MISSING and one.default_factory is MISSING
            own.append(ShapeField(one.name, keys, types[one.name], form, one.default, one.default_factory, required))
    derived = [ShapeField(key, (key,), None, form, MISSING, MISSING, True) for key, form in shape.derived.items()]
    return derived + own if shape.derived_first else own + derived


@dataclass(frozen=True, slots=True)
class ShapeField:
    """One entry of a shape: the name of the field, its keys, its type and its form."""

    name: str
    keys: tuple[str, ...]
    type: Any
    form: JsonField | SplitField | DerivedField
    default: object
    default_factory: object
    required: bool  # Whether it has no default.


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonShape:
    """How a class is written where its fields do not say it.

    `only` names the fields that are written, where not all are; a `row` is a list of values without their keys.
    """

    fields: Mapping[str, JsonField | SplitField] = field(default_factory=dict)
    derived: Mapping[str, DerivedField] = field(default_factory=dict)
    derived_first: bool = False
    only: tuple[str, ...] = ()
    row: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class JsonField:
    """How a field is written where its name and type do not say it.

    A `flat` one has its parts beside its siblings; a `plain` one is written as it stands, and read by its type. A
    `later` one has its default where it is missing: what was written before the field existed is still read. A
    `sparse` one is later, and written only where it is not empty.
    """

    key: str = ""
    scalar: JsonScalar | None = None
    flat: bool = False
    plain: bool = False
    later: bool = False
    sparse: bool = False


def json_key(key: str) -> dict[str, JsonField]:
    """Metadata for a field that has another name in JSON."""
    return {"json": JsonField(key=key)}


@dataclass(frozen=True, slots=True)
class SplitField:
    """A field that is written under several keys, by what the whole value says, and read from all of them.

    Without `read` the form is for readers only.
    """

    keys: tuple[str, ...]
    write: Callable[[Any], Mapping[str, object]]
    read: Callable[[JsonParts], object] | None = None


@dataclass(frozen=True, slots=True)
class DerivedField:
    """A key that is no field: written from the whole value, which is held against it when it is read."""

    write: Callable[[Any], object]
    check: Callable[[Any, JsonParts], None] | None = None


@dataclass(frozen=True, slots=True)
class StandIn:
    """A type that is written, and read, in place of another."""

    type: Any
    write: Callable[[Any], object]
    read: Callable[[Any], object]


@dataclass(frozen=True, slots=True)
class JsonParts:
    """The object that a value is read from, for fields that need more than one key of it."""

    find_reader: Callable[[Any], JsonReader]
    data: Mapping[str, object]

    def read(self, key: str, type_: Any) -> Any:
        """The value under a key."""
        return read_json_entry(self.find_reader(type_), key, self.data[key])


def read_json_entry(read: JsonReader, key: str | int, entry: object) -> Any:
    """A part of a list or an object; what is wrong in it is told with its key."""
    try:
        return read(entry)
    except InputError as error:
        raise error.within(key) from None


@dataclass(frozen=True, slots=True)
class JsonScalar:
    """How a value that has no parts is read, and how it is written; None writes it as it stands."""

    read: Callable[[object], Any]
    write: Callable[[Any], object] | None = None


def json_write_only_scalar(write: Callable[[Any], object]) -> JsonScalar:
    """A form for readers, from which the value cannot be had again."""

    def refuse(value: object) -> None:
        raise TypeError("this form is not read back")

    return JsonScalar(refuse, write)


class JsonFormatError(InputError):
    """Data of another form than expected; the codec that reads it adds its own hint."""


def unexpected_json(expected: str, value: object) -> JsonFormatError:
    """That something else was expected."""
    return JsonFormatError(Fault(f"must be {expected}, got {describe_json_value(value)}"))


def describe_json_value(value: object) -> str:
    """A value for a message: short ones as they are, others by their type."""
    if isinstance(value, str):
        return repr(value[:40])
    small = isinstance(value, int) and not isinstance(value, bool) and abs(value) < LARGEST_NUMBER_SHOWN
    return str(value) if small or isinstance(value, float) else word_type_of_value(value)


def read_json_string(value: object) -> str:
    """A text."""
    if isinstance(value, str):
        return value
    raise unexpected_json("text", value)


def _make_checked_json_reader(expected: str, accepts: Callable[[Any], bool]) -> Callable[[object], Any]:
    """A function that reads what is accepted as it stands, and says of anything else what was expected."""

    def read(value: object) -> Any:
        if accepts(value):
            return value
        raise unexpected_json(expected, value)

    return read


def _is_whole_json_number(value: object) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def read_json_choice(allowed: tuple[str, ...], value: object) -> str:
    """One of a few words."""
    if isinstance(value, str) and value in allowed:
        return value
    raise unexpected_json(f"one of {', '.join(allowed)}" if isinstance(value, str) else "text", value)


def json_whole_number_between(least: int, most: int) -> JsonScalar:
    """A whole number that cannot be smaller or larger."""
    expected = f"a whole number from {least:,} to {most:,}"
    return JsonScalar(
        _make_checked_json_reader(expected, lambda value: _is_whole_json_number(value) and least <= value <= most)
    )


def json_number_between(least: int, most: int) -> JsonScalar:
    """A number that cannot be smaller or larger."""

    def accepts(value: Any) -> bool:
        return (isinstance(value, float) or _is_whole_json_number(value)) and least <= value <= most

    return JsonScalar(_make_checked_json_reader(f"a number from {least:,} to {most:,}", accepts))


def json_seconds_scalar(longest: timedelta, number: JsonScalar) -> JsonScalar:
    """A length of time as its seconds."""

    def read(value: object) -> timedelta:
        seconds = number.read(value)
        if seconds > longest.total_seconds():
            raise unexpected_json(f"at most {longest.days:,} days", value)
        return timedelta(seconds=seconds)

    return JsonScalar(read, timedelta.total_seconds)


def json_fraction_scalar(largest: int) -> JsonScalar:
    """An exact number: a whole one up to a largest as such, any other as text."""

    def read(value: object) -> Fraction:
        if isinstance(value, int) and not isinstance(value, bool) and abs(value) <= largest:
            return Fraction(value)
        if isinstance(value, str) and _FRACTION.fullmatch(value):
            return Fraction(value)
        raise unexpected_json("a whole number or a fraction as in 2/3", value)

    return JsonScalar(read, write_json_fraction)


def write_json_fraction(value: Fraction) -> int | str:
    """A whole number as such, any other as an exact fraction."""
    return value.numerator if value.denominator == 1 else str(value)


_read_flag = _make_checked_json_reader("true or false", lambda value: isinstance(value, bool))
_read_whole_number = _make_checked_json_reader("a whole number", _is_whole_json_number)
_read_number = _make_checked_json_reader(
    "a number",
    lambda value: isinstance(value, float) or (_is_whole_json_number(value) and abs(value) <= sys.float_info.max),
)


def _make_json_text_reader(expected: str, parse: Callable[[str], Any]) -> Callable[[object], Any]:
    def read(value: object) -> Any:
        try:
            return parse(read_json_string(value))
        except (ValueError, InvalidOperation):
            raise unexpected_json(expected, value) from None

    return read


def _decode_json_fraction(value: object) -> Fraction:
    if isinstance(value, str) and _FRACTION.fullmatch(value):
        return Fraction(value)
    raise unexpected_json("a fraction as text, as in 2/3", value)


FRACTION_TEXT = JsonScalar(_decode_json_fraction, str)
AS_IT_STANDS = JsonScalar(lambda value: value)

JSON_SCALARS: dict[Any, JsonScalar] = {
    Any: AS_IT_STANDS,
    object: AS_IT_STANDS,
    NoneType: JsonScalar(_make_checked_json_reader("null", lambda value: value is None)),
    str: JsonScalar(read_json_string),
    bool: JsonScalar(_read_flag),
    int: JsonScalar(_read_whole_number),
    float: JsonScalar(_read_number),
    Decimal: JsonScalar(_make_json_text_reader("a number as text", Decimal), str),
    Fraction: FRACTION_TEXT,
    datetime: JsonScalar(_make_json_text_reader("a time in ISO 8601", datetime.fromisoformat), datetime.isoformat),
}

# What these readers give back as it stands.
UNCHANGED_TYPES: dict[Callable[..., Any], type] = {
    read_json_string: str,
    _read_flag: bool,
    _read_whole_number: int,
    _read_number: float,
}
