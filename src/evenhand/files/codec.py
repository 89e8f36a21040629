"""Values to JSON and back by their fields: a dataclass and its type hints are the only description of a shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, is_dataclass, replace
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from evenhand.errors import Fault, InputError
from evenhand.files.json_scalars import (
    JSON_SCALARS,
    UNCHANGED_TYPES,
    JsonFormatError,
    JsonScalar,
    describe_json_value,
    json_choice_reader,
    unexpected_json,
)
from evenhand.files.json_shape import (
    DerivedField,
    JsonField,
    JsonParts,
    JsonShape,
    ShapeField,
    SplitField,
    StandIn,
    list_shape_fields,
)
from evenhand.files.json_writing import ExpressionNames, JsonWriters

T = TypeVar("T")


class Codec:
    """One way to write values as JSON and to read them back.

    `error` is raised about data that cannot be right; `hint` says what to do where its form is wrong. A `lenient` codec
    reads what other versions wrote: unknown keys are ignored, and a field with a default may be null or missing. A
    class with a `kind` is written with it, under the key `tag`, and found by it among several. `scalars` and `shapes`
    say what differs from what the types say.
    """

    def __init__(
        self,
        *,
        error: type[InputError] = InputError,
        hint: str = "",
        lenient: bool = False,
        tag: str = "kind",
        scalars: Mapping[Any, JsonScalar] | None = None,
        shapes: Mapping[Any, JsonShape | StandIn] | None = None,
    ) -> None:
        known = {**JSON_SCALARS, **(scalars or {})}
        self._error = error
        self._hint = hint
        self._readers = JsonReaders(known, shapes or {}, tag, lenient=lenient)
        self._writers = JsonWriters(known, shapes or {}, tag)

    def to_json(self, value: object) -> Any:
        """A value as plain data."""
        return self._writers.write(value)

    def writer(self, cls: type[T]) -> Callable[[T], dict[str, Any]]:
        """The function that writes the values of one class: the quicker way where there are many."""
        return self._writers.find(cls)

    def from_json(self, cls: type[T], data: object, **given: object) -> T:
        """The value that was written; `given` are fields that the data does not have."""
        try:
            return self._readers.find(cls)(data, **given)  # type: ignore[no-any-return]
        except InputError as error:
            raise self._finish_error(error) from None

    def from_tagged_json(self, classes: Sequence[type[T]], data: object) -> T:
        """The value of one of several classes, which its tag names."""
        try:
            return self._readers.read_tagged(classes, data)  # type: ignore[no-any-return]
        except InputError as error:
            raise self._finish_error(error) from None

    def _finish_error(self, error: InputError) -> InputError:
        """The hint is about the form of the data; a value that refuses itself has its own."""
        wrong_form = isinstance(error, JsonFormatError)
        return self._error(*(replace(one, hint=self._hint) if wrong_form else one for one in error.faults))


JsonReader = Callable[..., Any]


class JsonReaders:
    """Functions that read values, one for each type."""

    def __init__(
        self, scalars: Mapping[Any, JsonScalar], shapes: Mapping[Any, JsonShape | StandIn], tag: str, *, lenient: bool
    ) -> None:
        self.lenient = lenient
        self._scalars = scalars
        self._shapes = shapes
        self._tag = tag
        self._readers: dict[Any, JsonReader] = {}
        self._open: list[Any] = []  # The types whose readers are being made.

    def find(self, type_: Any) -> JsonReader:
        """The function for a type."""
        read = self._readers.get(type_)
        if read is not None:
            return read
        if type_ in self._open:  # A tree: values of this class inside of others.
            return partial(self._read_later, type_)
        self._open.append(type_)
        try:
            read = self._readers[type_] = self._make_reader(type_)
        finally:
            self._open.remove(type_)
        return read

    def _read_later(self, type_: Any, data: object) -> Any:
        return self.find(type_)(data)

    def read_tagged(self, classes: Sequence[Any], data: object) -> Any:
        """A value of the class whose kind the data names."""
        kinds = {str(cls.kind): cls for cls in classes}
        kind = data.get(self._tag) if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping) or not isinstance(kind, str) or kind not in kinds:
            got = describe_json_value(kind) if isinstance(kind, str) else "none"
            what = f"the kind of an {self._tag} must be one of {', '.join(kinds)}, got {got}"
            raise JsonFormatError(Fault(what))
        read = self.find(kinds[kind])
        return _read_entry(read, kind, {key: data[key] for key in data if key != self._tag})

    def _make_reader(self, type_: Any) -> JsonReader:
        if type_ in self._scalars:
            return self._scalars[type_].read
        shape = self._shapes.get(type_)
        if isinstance(shape, StandIn):
            read, make = self.find(shape.type), shape.read
            return lambda value: make(read(value))
        if is_dataclass(type_) and isinstance(type_, type):
            return self._make_row_reader(type_) if shape and shape.row else _ObjectReader(self, type_).read
        origin, parts = get_origin(type_), get_args(type_)
        if origin is Literal:
            return json_choice_reader(parts)
        if origin in (Union, UnionType):
            return self._make_union_reader(type_)
        if origin is tuple and parts[-1] is not Ellipsis:
            return _make_tuple_reader([self.find(part) for part in parts])
        if origin in (tuple, Sequence):
            return _read_texts if parts[0] is str else _make_list_reader(self.find(parts[0]))
        if origin in (dict, Mapping):
            return _make_mapping_reader(self.find(parts[1]))
        raise TypeError(f"{type_} has no form in JSON")

    def list_fields(self, cls: type) -> list[ShapeField]:
        """The fields of a class in the shape that it has here."""
        shape = self._shapes.get(cls)
        return list_shape_fields(cls, shape if isinstance(shape, JsonShape) else None)

    def _make_row_reader(self, cls: type) -> JsonReader:
        """Of a list with the values of the fields, in their order."""
        read = _make_tuple_reader([self.find(one.type) for one in self.list_fields(cls)])
        return lambda value: cls(*read(value))

    def _make_union_reader(self, type_: Any) -> JsonReader:
        parts = get_args(type_)
        if NoneType not in parts:
            return lambda data: self.read_tagged(parts, data)
        read = self.find(_without_none(type_))
        return lambda value: None if value is None else read(value)


class _ObjectReader:
    """Reads objects with the keys of one class.

    A compiled expression makes the value: cls(text=read(data["text"]), …). Only where that fails is it found out which
    field is wrong.
    """

    def __init__(self, readers: JsonReaders, cls: type) -> None:
        self._readers = readers
        self._names = ExpressionNames()
        self._fields: dict[str, JsonReader] = {}  # By key.
        self._checks: list[Callable[[Any, JsonParts], None]] = []
        self.keys: dict[str, bool] = {}  # With whether each must be there.
        arguments = [self._argument(one) for one in readers.list_fields(cls)]
        made = f"{self._names.name(cls)}({''.join(filter(None, arguments))}**given)"
        self.build = self._names.compile(f"lambda data, given: {made}")

    def read(self, data: object, **given: object) -> Any:
        """A value, or an error with the way to what is wrong."""
        if not isinstance(data, dict):
            raise unexpected_json("an object", data)
        if not self._readers.lenient and data.keys() != self.keys.keys():
            self._check_keys(data)
        try:
            value = self.build(data, given)
        except (InputError, KeyError):
            self._check_keys(data)
            self._check_fields(data)
            raise
        for check in self._checks:
            check(value, JsonObject(self._readers, data))
        return value

    def _argument(self, one: ShapeField) -> str:
        form = one.form
        may_lack = (self._readers.lenient or (isinstance(form, JsonField) and form.later)) and not one.required
        if isinstance(form, JsonField) and form.flat:
            below = _ObjectReader(self._readers, one.type)
            self._fields |= below._fields
            self.keys |= below.keys
            return f"{one.name}={self._names.name(below.build)}(data, {{}}), "
        self.keys |= dict.fromkeys(one.keys, not may_lack)
        if isinstance(form, DerivedField):
            self._checks += [form.check] if form.check else []
            return ""
        if isinstance(form, SplitField):
            assert form.read, f"{one.name} is not read back"
            return f"{one.name}={self._names.name(form.read)}({self._names.name(self._open)}(data)), "
        key, type_ = one.keys[0], _without_none(one.type) if may_lack else one.type  # Null is then the default.
        read = self._fields[key] = form.scalar.read if form.scalar else self._readers.find(type_)
        if may_lack:
            there = _read_expression(self._names, read, "given_part")
            made = one.default_factory is not MISSING
            default = f"{self._names.name(one.default_factory)}()" if made else self._names.name(one.default)
            return f"{one.name}={default} if (given_part := data.get({key!r})) is None else {there}, "
        return f"{one.name}={_read_expression(self._names, read, f'data[{key!r}]')}, "

    def _open(self, data: Mapping[str, object]) -> JsonObject:
        return JsonObject(self._readers, data)

    def _check_keys(self, data: Mapping[str, object]) -> None:
        for key, needed in self.keys.items():
            if needed and key not in data:
                raise JsonFormatError(Fault("is missing", path=(key,)))
        unknown = [] if self._readers.lenient else [key for key in data if key not in self.keys]
        if unknown:
            raise JsonFormatError(Fault("is not known", path=(str(unknown[0])[:60],)))

    def _check_fields(self, data: Mapping[str, object]) -> None:
        for key, read in self._fields.items():
            if self.keys[key] or data.get(key) is not None:
                _read_entry(read, key, data[key])


class JsonObject:
    """An object that is being read, for fields that need more than one key of it."""

    def __init__(self, readers: JsonReaders, data: Mapping[str, object]) -> None:
        self._readers = readers
        self.data = data

    def read(self, key: str, type_: Any) -> Any:
        """The value under a key."""
        return _read_entry(self._readers.find(type_), key, self.data[key])


def _without_none(type_: Any) -> Any:
    parts = get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)
    return Union[tuple(part for part in parts if part is not NoneType)]  # noqa: UP007 - of however many there are.


def _read_expression(names: ExpressionNames, read: JsonReader, value: str) -> str:
    """A call of a reader, but not for what it would give back as it stands."""
    plain = UNCHANGED_TYPES.get(read)
    called = f"{names.name(read)}({'part' if plain else value})"
    return f"(part if type(part := {value}) is {plain.__name__} else {called})" if plain else called


def _make_tuple_reader(readers: Sequence[JsonReader]) -> JsonReader:
    names = ExpressionNames()
    parts = "".join(f"{_read_expression(names, read, f'value[{at}]')}, " for at, read in enumerate(readers))
    build = names.compile(f"lambda value: ({parts})")

    def read(value: object) -> Any:
        if not isinstance(value, (list, tuple)) or len(value) != len(readers):
            raise unexpected_json(f"a list of {len(readers)}", value)
        try:
            return build(value)
        except InputError:
            for at, read in enumerate(readers):
                _read_entry(read, at, value[at])
            raise

    return read


def _make_list_reader(read_entry: JsonReader) -> JsonReader:
    def read(value: object) -> tuple[object, ...]:
        if not isinstance(value, (list, tuple)):
            raise unexpected_json("a list", value)
        try:
            return tuple(map(read_entry, value))
        except InputError:
            for at, entry in enumerate(value):
                _read_entry(read_entry, at, entry)
            raise

    return read


def _make_mapping_reader(read_entry: JsonReader) -> JsonReader:
    def read(value: object) -> dict[str, object]:
        if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
            raise unexpected_json("an object", value)
        return {key: _read_entry(read_entry, key, entry) for key, entry in value.items()}

    return read


def _read_texts(value: object) -> tuple[str, ...]:
    if isinstance(value, (list, tuple)) and all(isinstance(entry, str) for entry in value):
        return tuple(value)
    raise unexpected_json("a list of texts", value)


def _read_entry(read: JsonReader, key: str | int, entry: object) -> Any:
    try:
        return read(entry)
    except InputError as error:
        raise error.within(key) from None
