"""Reading values out of plain data: for each type one function, which says where data cannot be right and why."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from evenhand.errors import Fault, InputError
from evenhand.files.json_scalars import (
    JsonFormatError,
    JsonScalar,
    describe_json_value,
    read_json_choice,
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

    def find(self, type_: Any) -> JsonReader:
        """The function for a type."""
        read = self._readers.get(type_)
        if read is None:
            read = self._readers[type_] = self._make_reader(type_)
        return read

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
            fields = list_shape_fields(type_, shape)
            return _make_row_reader(self, type_, fields) if shape and shape.row else _ObjectReader(self, type_, fields)
        origin, parts = get_origin(type_), get_args(type_)
        if origin is Literal:
            return lambda value: read_json_choice(value, parts)
        if origin in (Union, UnionType):
            return self._make_union_reader(parts)
        if origin is tuple and parts[-1] is not Ellipsis:
            return _make_tuple_reader([self.find(part) for part in parts])
        if origin in (tuple, Sequence):
            return _read_texts if parts[0] is str else _make_list_reader(self.find(parts[0]))
        if origin in (dict, Mapping):
            return _make_mapping_reader(self.find(parts[1]))
        raise TypeError(f"{type_} has no form in JSON")

    def _make_union_reader(self, parts: Sequence[Any]) -> JsonReader:
        some = [part for part in parts if part is not NoneType]
        read: JsonReader = self.find(some[0]) if len(some) == 1 else lambda data: self.read_tagged(some, data)
        if len(some) == len(parts):
            return read
        return lambda value: None if value is None else read(value)


class _ObjectReader:
    """Reads objects with the keys of one class."""

    def __init__(self, readers: JsonReaders, cls: type, fields: Iterable[ShapeField]) -> None:
        self._readers = readers
        self._cls = cls
        self._named: list[tuple[str, str, JsonReader, bool]] = []
        self._spread: list[tuple[str, Callable[[JsonObject], object]]] = []  # Read from the whole object.
        self._checks: list[Callable[[Any, JsonParts], None]] = []
        self.keys: dict[str, bool] = {}  # With whether each must be there.
        for one in fields:
            self._plan_field(one)

    def __call__(self, data: object, **given: object) -> Any:
        if not isinstance(data, Mapping):
            raise unexpected_json("an object", data)
        if data.keys() != self.keys.keys():
            self._check_keys(data)
        return self.build(data, given)

    def _check_keys(self, data: Mapping[str, object]) -> None:
        for key, needed in self.keys.items():
            if needed and key not in data:
                raise JsonFormatError(Fault("is missing", path=(key,)))
        unknown = [] if self._readers.lenient else [key for key in data if key not in self.keys]
        if unknown:
            raise JsonFormatError(Fault("is not known", path=(str(unknown[0])[:60],)))

    def build(self, data: Mapping[str, object], values: dict[str, object]) -> Any:
        """The value out of an object that may have other keys too."""
        for name, key, read, may_lack in self._named:
            part = data.get(key)
            if part is None and may_lack:
                continue
            try:
                values[name] = read(part)
            except InputError as error:
                raise error.within(key) from None
        if not self._spread and not self._checks:
            return self._cls(**values)
        whole = JsonObject(self._readers, data)
        values |= {name: read(whole) for name, read in self._spread}
        value = self._cls(**values)
        for check in self._checks:
            check(value, whole)
        return value

    def _plan_field(self, one: ShapeField) -> None:
        form, may_lack = one.form, self._readers.lenient and not one.required
        if isinstance(form, JsonField) and form.flat:
            below = self._readers.find(one.type)
            assert isinstance(below, _ObjectReader)
            self._spread.append((one.name, lambda whole: below.build(whole.data, {})))
            self.keys |= below.keys
            return
        self.keys |= dict.fromkeys(one.keys, not may_lack)
        if isinstance(form, SplitField):
            self._spread.append((one.name, form.read))
        elif isinstance(form, DerivedField):
            self._checks += [form.check] if form.check else []
        else:
            read = form.scalar.read if form.scalar else self._readers.find(one.type)
            self._named.append((one.name, one.keys[0], read, may_lack))


class JsonObject:
    """An object that is being read, for fields that need more than one key of it."""

    def __init__(self, readers: JsonReaders, data: Mapping[str, object]) -> None:
        self._readers = readers
        self.data = data

    def read(self, key: str, type_: Any) -> Any:
        """The value under a key."""
        return _read_entry(self._readers.find(type_), key, self.data[key])


def _make_row_reader(readers: JsonReaders, cls: type, fields: Sequence[ShapeField]) -> JsonReader:
    """Of a list with the values of the fields, in their order."""
    read, names = _make_tuple_reader([readers.find(one.type) for one in fields]), [one.name for one in fields]
    return lambda value: cls(**dict(zip(names, read(value), strict=True)))


def _make_tuple_reader(readers: Sequence[JsonReader]) -> JsonReader:
    def read(value: object) -> tuple[object, ...]:
        if not isinstance(value, (list, tuple)) or len(value) != len(readers):
            raise unexpected_json(f"a list of {len(readers)}", value)
        return tuple([_read_entry(readers[at], at, entry) for at, entry in enumerate(value)])

    return read


def _make_list_reader(read_entry: JsonReader) -> JsonReader:
    def read(value: object) -> tuple[object, ...]:
        if not isinstance(value, (list, tuple)):
            raise unexpected_json("a list", value)
        entries: list[object] = []
        try:
            for entry in value:
                entries.append(read_entry(entry))
        except InputError as error:
            raise error.within(len(entries)) from None
        return tuple(entries)

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
