"""Values to JSON and back by their fields: a dataclass and its type hints are the only description of a shape."""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import MISSING, dataclass, is_dataclass, replace
from functools import partial
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin

from evenhand.errors import Fault, InputError
from evenhand.files.json_shape import (
    JSON_SCALARS,
    UNCHANGED_TYPES,
    DerivedField,
    JsonField,
    JsonFormatError,
    JsonParts,
    JsonReader,
    JsonScalar,
    JsonShape,
    SplitField,
    StandIn,
    describe_json_value,
    list_shape_fields,
    read_json_choice,
    read_json_entry,
    read_json_string,
    unexpected_json,
)

T = TypeVar("T")


class Codec:
    """One way to write values as JSON and to read them back.

    `error` is raised about data that cannot be right; `hint` says what to do where its form is wrong. A `lenient` codec
    reads what other versions wrote: unknown keys are ignored, and a field with a default may be null or missing. A
    class with a `kind` is written with it, under the key `tag`, and found by it among several. `scalars` and `shapes`
    say what differs from what the types say.

    Each class is written and read by one expression, compiled when a value of it is first met.
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
        self._error, self._hint = error, hint
        self._lenient, self._tag = lenient, tag
        self._scalars = {**JSON_SCALARS, **(scalars or {})}
        self._shapes = shapes or {}
        self._writers: dict[type, Callable[[Any], Any]] = {}
        self._readers: dict[Any, JsonReader] = {}
        self._writing: list[type] = []  # The classes whose writers are being made.
        self._reading: list[Any] = []  # The types whose readers are being made.
        self._making = threading.RLock()  # Threads share a codec: one of them makes what all use.
        self._objects: dict[str, object] = {}  # What compiled expressions use, by the names it has there.

    def to_json(self, value: object) -> Any:
        """A value as plain data."""
        return self.writer(type(value))(value)

    def writer(self, cls: type[T]) -> Callable[[T], Any]:
        """The function that writes the values of one class: the quicker way where there are many."""
        write = self._writers.get(cls)
        if write is None:
            with self._making:
                made = f"lambda value: {self._write_expression(cls, 'value')}"
                write = self._writers[cls] = eval(made, self._objects)
        return write

    def from_json(self, cls: type[T], data: object, **given: object) -> T:
        """The value that was written; `given` are fields that the data does not have."""
        return self.reader(cls)(data, **given)

    def reader(self, cls: type[T]) -> Callable[..., T]:
        """The function that reads the values of one class, compiled at once."""
        read = self._find_reader(cls)

        def read_value(data: object, **given: object) -> T:
            try:
                return read(data, **given)  # type: ignore[no-any-return]
            except InputError as error:
                raise self._finish_error(error) from None

        return read_value

    def from_tagged_json(self, classes: Sequence[type[T]], data: object) -> T:
        """The value of one of several classes, which its tag names."""
        try:
            return self._read_tagged(classes, data)  # type: ignore[no-any-return]
        except InputError as error:
            raise self._finish_error(error) from None

    def _finish_error(self, error: InputError) -> InputError:
        """The hint is about the form of the data; a value that refuses itself has its own."""
        wrong_form = isinstance(error, JsonFormatError)
        return self._error(*(replace(one, hint=self._hint) if wrong_form else one for one in error.faults))

    def _call_expression(self, function: Callable[..., object], value: str) -> str:
        """A call of a function, but not of a reader for what it would give back as it stands."""
        plain = UNCHANGED_TYPES.get(function)
        name = f"object_{id(function)}"
        self._objects[name] = function
        return f"(part if type(part := {value}) is {plain.__name__} else {name}(part))" if plain else f"{name}({value})"

    def _write_expression(self, type_: Any, value: str) -> str:
        """How a value is written: {"text": value.text, "usage": {"input": value.usage.input, …}, …}."""
        shape, origin, parts = self._shapes.get(type_), get_origin(type_), get_args(type_)
        scalar = self._scalars.get(type_)
        if scalar or origin is Literal:
            return self._call_expression(scalar.write, value) if scalar and scalar.write else value
        if isinstance(shape, StandIn):
            return self._write_expression(shape.type, self._call_expression(shape.write, value))
        if is_dataclass(type_) and isinstance(type_, type):
            return self._write_object_expression(type_, shape or JsonShape(), value)
        if origin in (Union, UnionType):
            some = [part for part in parts if part is not NoneType]
            written = {self._write_expression(part, value) for part in some}
            if written == {value}:
                return value
            one = written.pop() if len(some) == 1 else self._call_expression(self.to_json, value)
            return one if len(some) == len(parts) else f"(None if {value} is None else {one})"
        if origin in (tuple, list, Sequence) and len(parts) > 1 and parts[1] is not Ellipsis:
            return f"[{', '.join(self._write_expression(part, f'{value}[{at}]') for at, part in enumerate(parts))}]"
        if origin in (tuple, list, Sequence):
            entry = self._write_expression(parts[0], "entry")
            return f"list({value})" if entry == "entry" else f"[{entry} for entry in {value}]"
        if origin in (dict, Mapping):
            entry = self._write_expression(parts[1], "entry")
            return f"dict({value})" if entry == "entry" else f"{{key: {entry} for key, entry in {value}.items()}}"
        raise TypeError(f"{type_} has no form in JSON")

    def _write_object_expression(self, cls: type, shape: JsonShape, value: str) -> str:
        if cls in self._writing:  # A tree: values of this class inside of others.
            return self._call_expression(self.to_json, value)
        kind = getattr(cls, "kind", None)
        entries = [f"{self._tag!r}: {kind!r}"] if isinstance(kind, str) and not shape.row else []
        self._writing.append(cls)
        try:
            for one in list_shape_fields(cls, shape):
                own, form = f"{value}.{one.name}", one.form
                if not isinstance(form, JsonField):
                    part = self._call_expression(form.write, value)
                elif form.scalar and form.scalar.write:
                    part = self._call_expression(form.scalar.write, own)
                else:
                    part = own if form.plain or form.scalar else self._write_expression(one.type, own)
                if isinstance(form, JsonField) and form.sparse:
                    # 0 is a number, not nothing.
                    empty = f"{own} is None or {own} is False or {own} in ('', (), [], {{}})"
                    entries.append(f"**({{}} if {empty} else {{{one.keys[0]!r}: {part}}})")
                    continue
                several = form.flat if isinstance(form, JsonField) else isinstance(form, SplitField)
                entries.append(part if shape.row else f"**{part}" if several else f"{one.keys[0]!r}: {part}")
        finally:
            self._writing.remove(cls)
        return f"[{', '.join(entries)}]" if shape.row else f"{{{', '.join(entries)}}}"

    def _find_reader(self, type_: Any) -> JsonReader:
        read = self._readers.get(type_)
        if read is not None:
            return read
        with self._making:
            if type_ in self._reading:  # A tree: values of this class inside of others.
                return lambda data: self._find_reader(type_)(data)  # noqa: PLW0108  Found once it is made.
            self._reading.append(type_)
            try:
                read = self._readers[type_] = self._make_reader(type_)
            finally:
                self._reading.remove(type_)
        return read

    def _make_reader(self, type_: Any) -> JsonReader:  # noqa: PLR0911  One for each kind of type.
        shape, origin, parts = self._shapes.get(type_), get_origin(type_), get_args(type_)
        if type_ in self._scalars:
            return self._scalars[type_].read
        if isinstance(shape, StandIn):
            read, make = self._find_reader(shape.type), shape.read
            return lambda value: make(read(value))
        if shape and shape.row:  # A list with the values of the fields, in their order.
            read = self._make_tuple_reader([one.type for one in list_shape_fields(type_, shape)])
            return lambda value: type_(*read(value))
        if is_dataclass(type_) and isinstance(type_, type):
            return partial(self._read_object, self._plan_object(type_))
        if origin is Literal:
            return partial(read_json_choice, parts)
        if origin in (Union, UnionType) and NoneType in parts:
            read = self._find_reader(_remove_none_from_codec_type(type_))
            return lambda value: None if value is None else read(value)
        if origin in (Union, UnionType):
            return partial(self._read_tagged, parts)
        if origin is tuple and parts[-1] is not Ellipsis:
            return self._make_tuple_reader(parts)
        if origin in (tuple, Sequence):
            return partial(_read_json_list, read_json_string if parts[0] is str else self._find_reader(parts[0]))
        if origin in (dict, Mapping):
            return partial(_read_mapping, self._find_reader(parts[1]))
        raise TypeError(f"{type_} has no form in JSON")

    def _plan_object(self, cls: type) -> _ObjectPlan:
        """Makes the expression that builds a value: cls(text=read(data["text"]), …)."""
        shape, arguments = self._shapes.get(cls), ""
        keys: dict[str, bool] = {}
        fields: dict[str, JsonReader] = {}
        checks = []
        for one in list_shape_fields(cls, shape if isinstance(shape, JsonShape) else None):
            form = one.form
            may_lack = (
                self._lenient or (isinstance(form, JsonField) and (form.later or form.sparse))
            ) and not one.required
            if isinstance(form, JsonField) and form.flat:
                below = self._plan_object(one.type)
                fields |= below.fields
                keys |= below.keys
                arguments += f"{one.name}={self._call_expression(below.build, 'data, {}')}, "
                continue
            keys |= dict.fromkeys(one.keys, not may_lack)
            if isinstance(form, DerivedField):
                checks += [form.check] if form.check else []
                continue
            if isinstance(form, SplitField):
                assert form.read, f"{one.name} is not read back"
                parts = self._call_expression(partial(JsonParts, self._find_reader), "data")
                arguments += f"{one.name}={self._call_expression(form.read, parts)}, "
                continue
            key, type_ = (
                one.keys[0],
                _remove_none_from_codec_type(one.type) if may_lack else one.type,
            )  # Null is then the default.
            read = fields[key] = form.scalar.read if form.scalar else self._find_reader(type_)
            if may_lack:
                there = self._call_expression(read, "given_part")
                made: Any = (lambda value=one.default: value) if one.default_factory is MISSING else one.default_factory
                default = self._call_expression(made, "")
                arguments += f"{one.name}={default} if (given_part := data.get({key!r})) is None else {there}, "
            else:
                arguments += f"{one.name}={self._call_expression(read, f'data[{key!r}]')}, "
        build = eval(f"lambda data, given: {self._call_expression(cls, f'{arguments}**given')}", self._objects)
        return _ObjectPlan(keys, fields, checks, build)

    def _read_object(self, plan: _ObjectPlan, data: object, /, **given: object) -> Any:
        """A value; only where building it fails is it found out which field is wrong."""
        if not isinstance(data, dict):
            raise unexpected_json("an object", data)
        if not self._lenient and data.keys() != plan.keys.keys():
            self._find_object_fault(plan, data)
        try:
            value = plan.build(data, given)
        except (InputError, KeyError):
            self._find_object_fault(plan, data)
            raise
        for check in plan.checks:
            check(value, JsonParts(self._find_reader, data))
        return value

    def _find_object_fault(self, plan: _ObjectPlan, data: Mapping[str, object]) -> None:
        for key, needed in plan.keys.items():
            if needed and key not in data:
                raise JsonFormatError(Fault("is missing", path=(key,)))
        unknown = [] if self._lenient else [key for key in data if key not in plan.keys]
        if unknown:
            raise JsonFormatError(Fault("is not known", path=(str(unknown[0])[:60],)))
        for key, read in plan.fields.items():
            if plan.keys[key] or data.get(key) is not None:
                read_json_entry(read, key, data[key])

    def _read_tagged(self, classes: Sequence[Any], data: object) -> Any:
        """A value of the class whose kind the data names."""
        kinds = {str(cls.kind): cls for cls in classes}
        kind = data.get(self._tag) if isinstance(data, Mapping) else None
        if not isinstance(data, Mapping) or not isinstance(kind, str) or kind not in kinds:
            got = describe_json_value(kind) if isinstance(kind, str) else "none"
            what = f"the kind of an {self._tag} must be one of {', '.join(kinds)}, got {got}"
            raise JsonFormatError(Fault(what))
        read = self._find_reader(kinds[kind])
        return read_json_entry(read, kind, {key: data[key] for key in data if key != self._tag})

    def _make_tuple_reader(self, types: Sequence[Any]) -> JsonReader:
        readers = [self._find_reader(type_) for type_ in types]
        parts = "".join(f"{self._call_expression(read, f'value[{at}]')}, " for at, read in enumerate(readers))
        build = eval(f"lambda value: ({parts})", self._objects)

        def read(value: object) -> Any:
            if not isinstance(value, (list, tuple)) or len(value) != len(readers):
                raise unexpected_json(f"a list of {len(readers)}", value)
            try:
                return build(value)
            except InputError:
                for at, read in enumerate(readers):
                    read_json_entry(read, at, value[at])
                raise

        return read


@dataclass(frozen=True, slots=True)
class _ObjectPlan:
    """How objects with the keys of one class are read."""

    keys: dict[str, bool]  # With whether each must be there.
    fields: dict[str, JsonReader]  # By key.
    checks: list[Callable[[Any, JsonParts], None]]
    build: Callable[[Mapping[str, object], Mapping[str, object]], Any]


def _remove_none_from_codec_type(type_: Any) -> Any:
    parts = get_args(type_) if get_origin(type_) in (Union, UnionType) else (type_,)
    return Union[tuple(part for part in parts if part is not NoneType)]  # noqa: UP007 - of however many there are.


def _read_json_list(read_entry: JsonReader, value: object) -> tuple[object, ...]:
    of_texts = read_entry is read_json_string
    if isinstance(value, (list, tuple)):
        try:
            return tuple(map(read_entry, value))
        except InputError:
            for at, entry in enumerate(() if of_texts else value):
                read_json_entry(read_entry, at, entry)
    raise unexpected_json("a list of texts" if of_texts else "a list", value)


def _read_mapping(read_entry: JsonReader, value: object) -> dict[str, object]:
    if not isinstance(value, Mapping) or not all(isinstance(key, str) for key in value):
        raise unexpected_json("an object", value)
    try:
        return {key: read_entry(entry) for key, entry in value.items()}
    except InputError:
        for key, entry in value.items():
            read_json_entry(read_entry, key, entry)
        raise
