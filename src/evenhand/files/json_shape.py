"""The shape of a value in JSON and in files: the fields of its dataclass, and what differs from them."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field
from dataclasses import fields as dataclass_fields
from typing import Any, Protocol, get_type_hints

from evenhand.files.json_scalars import JsonScalar


def list_shape_fields(cls: type, shape: JsonShape | None = None) -> list[ShapeField]:
    """The fields of a dataclass as JSON and files know them: `from_` is written `from`, metadata may say more."""
    shape = shape or JsonShape()
    types = get_type_hints(cls)
    own = []
    for one in dataclass_fields(cls):
        if not shape.only or one.name in shape.only:
            form = shape.fields.get(one.name) or one.metadata.get("json") or JsonField()
            keys = form.keys if isinstance(form, SplitField) else (form.key or one.name.rstrip("_"),)
            own.append(ShapeField(one.name, keys, types[one.name], form, one.default, one.default_factory))
    derived = [ShapeField(key, (key,), None, form, MISSING, MISSING) for key, form in shape.derived.items()]
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

    @property
    def required(self) -> bool:
        """Whether it has no default."""
        return self.default is MISSING and self.default_factory is MISSING


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
    `later` one has its default where it is missing: what was written before the field existed is still read.
    """

    key: str = ""
    scalar: JsonScalar | None = None
    flat: bool = False
    plain: bool = False
    later: bool = False


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


class JsonParts(Protocol):
    """The object that a value is read from."""

    def read(self, key: str, type_: Any) -> Any:
        """The value under a key."""
