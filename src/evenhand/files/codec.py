"""Values to JSON and back by their fields: a dataclass and its type hints are the only description of a shape."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from evenhand.errors import InputError
from evenhand.files.json_reading import JsonReaders
from evenhand.files.json_scalars import JSON_SCALARS, JsonFormatError, JsonScalar
from evenhand.files.json_shape import JsonShape, StandIn
from evenhand.files.json_writing import JsonWriters

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
