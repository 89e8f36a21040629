"""Writing values as plain data: for each class one expression, compiled when a value of it is first written."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from evenhand.files.json_scalars import JsonScalar
from evenhand.files.json_shape import DerivedField, JsonShape, ShapeField, SplitField, StandIn, list_shape_fields


class JsonWriters:
    """Functions that write values, one for each class."""

    def __init__(self, scalars: Mapping[Any, JsonScalar], shapes: Mapping[Any, JsonShape | StandIn], tag: str) -> None:
        self._scalars = scalars
        self._shapes = shapes
        self._tag = tag
        self._writers: dict[type, Callable[[Any], Any]] = {}
        self._functions: dict[str, object] = {}  # What the expressions call, by the names they have there.

    def write(self, value: object) -> Any:
        """A value as plain data."""
        write = self._writers.get(type(value))
        if write is None:
            write = self._writers[type(value)] = self._compile(type(value))
        return write(value)

    def _compile(self, type_: type) -> Callable[[Any], Any]:
        """As quick as what is written by hand: {"text": value.text, "usage": {"input": value.usage.input}}."""
        write: Callable[[Any], Any] = eval(f"lambda value: {self._expression(type_, 'value')}", self._functions)
        return write

    def _expression(self, type_: Any, value: str) -> str:
        if type_ in self._scalars:
            return self._scalar_expression(self._scalars[type_], value)
        shape = self._shapes.get(type_)
        if isinstance(shape, StandIn):
            return self._expression(shape.type, self._call(shape.write, value))
        if is_dataclass(type_) and isinstance(type_, type):
            return self._object_expression(type_, shape or JsonShape(), value)
        origin, parts = get_origin(type_), get_args(type_)
        if origin is Literal:
            return value
        if origin in (Union, UnionType):
            return self._union_expression(parts, value)
        if origin in (tuple, list, Sequence):
            return self._list_expression(parts, value)
        if origin in (dict, Mapping):
            entry = self._expression(parts[1], "entry")
            return f"dict({value})" if entry == "entry" else f"{{key: {entry} for key, entry in {value}.items()}}"
        raise TypeError(f"{type_} has no form in JSON")

    def _scalar_expression(self, scalar: JsonScalar, value: str) -> str:
        return value if scalar.write is None else self._call(scalar.write, value)

    def _object_expression(self, cls: type, shape: JsonShape, value: str) -> str:
        fields = list_shape_fields(cls, shape)
        if shape.row:
            return f"[{', '.join(self._expression(one.type, f'{value}.{one.name}') for one in fields)}]"
        tagged = [f"{self._tag!r}: {value}.kind"] if hasattr(cls, "kind") else []
        entries = [entry for one in fields for entry in self._entries(one, value)]
        return f"{{{', '.join(tagged + entries)}}}"

    def _entries(self, one: ShapeField, value: str) -> Iterator[str]:
        """One entry of an object, or those that stand for a field in it."""
        own, form = f"{value}.{one.name}", one.form
        if isinstance(form, SplitField):
            yield f"**{self._call(form.write, value)}"
        elif isinstance(form, DerivedField):
            yield f"{one.keys[0]!r}: {self._call(form.write, value)}"
        elif form.flat:
            yield f"**{self._expression(one.type, own)}"
        elif form.scalar:
            yield f"{one.keys[0]!r}: {self._scalar_expression(form.scalar, own)}"
        else:
            yield f"{one.keys[0]!r}: {self._expression(one.type, own)}"

    def _union_expression(self, parts: Sequence[Any], value: str) -> str:
        some = [part for part in parts if part is not NoneType]
        written = {self._expression(part, value) for part in some}
        if written == {value}:
            return value
        one = written.pop() if len(some) == 1 else self._call(self.write, value)
        return one if len(some) == len(parts) else f"(None if {value} is None else {one})"

    def _list_expression(self, parts: Sequence[Any], value: str) -> str:
        if len(parts) > 1 and parts[1] is not Ellipsis:
            return f"[{', '.join(self._expression(part, f'{value}[{at}]') for at, part in enumerate(parts))}]"
        entry = self._expression(parts[0], "entry")
        return f"list({value})" if entry == "entry" else f"[{entry} for entry in {value}]"

    def _call(self, function: Callable[..., object], value: str) -> str:
        name = f"function_{id(function)}"
        self._functions[name] = function
        return f"{name}({value})"
