"""Writing values as plain data: for each class one expression, compiled when a value of it is first written."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, Union, get_args, get_origin

from evenhand.files.json_scalars import JsonScalar
from evenhand.files.json_shape import JsonField, JsonShape, ShapeField, SplitField, StandIn, list_shape_fields


class JsonWriters:
    """Functions that write values, one for each class."""

    def __init__(self, scalars: Mapping[Any, JsonScalar], shapes: Mapping[Any, JsonShape | StandIn], tag: str) -> None:
        self._scalars = scalars
        self._shapes = shapes
        self._tag = tag
        self._writers: dict[type, Callable[[Any], Any]] = {}
        self._names = ExpressionNames()
        self._open: list[type] = []  # The classes whose expressions are being written.

    def write(self, value: object) -> Any:
        """A value as plain data."""
        return self.find(type(value))(value)

    def find(self, cls: type) -> Callable[[Any], Any]:
        """The function for a class: {"text": value.text, "usage": {"input": value.usage.input, …}, …}."""
        write = self._writers.get(cls)
        if write is None:
            write = self._names.compile(f"lambda value: {self._expression(cls, 'value')}")
            self._writers[cls] = write
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
        if cls in self._open:  # A tree: values of this class inside of others.
            return self._call(self.write, value)
        self._open.append(cls)
        try:
            entries = [self._part(one, value) if shape.row else self._entry(one, value) for one in fields]
        finally:
            self._open.remove(cls)
        kind = getattr(cls, "kind", None)
        tagged = [f"{self._tag!r}: {kind!r}"] if isinstance(kind, str) else []
        return f"[{', '.join(entries)}]" if shape.row else f"{{{', '.join(tagged + entries)}}}"

    def _entry(self, one: ShapeField, value: str) -> str:
        several = isinstance(one.form, SplitField) or (isinstance(one.form, JsonField) and one.form.flat)
        return f"**{self._part(one, value)}" if several else f"{one.keys[0]!r}: {self._part(one, value)}"

    def _part(self, one: ShapeField, value: str) -> str:
        own, form = f"{value}.{one.name}", one.form
        if not isinstance(form, JsonField):
            return self._call(form.write, value)
        if form.scalar:
            return self._scalar_expression(form.scalar, own)
        return own if form.plain else self._expression(one.type, own)

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
        return f"{self._names.name(function)}({value})"


class ExpressionNames:
    """The objects that compiled expressions use, by the names they have there."""

    def __init__(self) -> None:
        self._objects: dict[str, object] = {}

    def name(self, one: object) -> str:
        """The name of an object."""
        name = f"object_{id(one)}"
        self._objects[name] = one
        return name

    def compile(self, source: str) -> Callable[..., Any]:
        """The function that an expression says."""
        function: Callable[..., Any] = eval(source, self._objects)
        return function
