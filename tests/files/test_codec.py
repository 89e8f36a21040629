"""A dataclass is the only description of its JSON: what its fields say, and what can be said beside them."""

from __future__ import annotations

import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from fractions import Fraction
from typing import Any, ClassVar, Literal

import pytest

from evenhand.errors import Fault, InputError, StoreError
from evenhand.files.codec import Codec
from evenhand.files.json_shape import (
    DerivedField,
    JsonField,
    JsonFormatError,
    JsonParts,
    JsonShape,
    SplitField,
    StandIn,
    json_fraction_scalar,
    json_key,
    json_number_between,
    json_whole_number_between,
    json_write_only_scalar,
    list_shape_fields,
)
from evenhand.model.method import Grade


@dataclass(frozen=True, slots=True)
class Point:
    x: int
    y: float = 0.5


@dataclass(frozen=True, slots=True, kw_only=True)
class Everything:
    text: str
    flag: bool
    from_: int
    colour: Literal["red", "green"]
    weight: Fraction
    price: Decimal | None
    at: datetime
    points: tuple[Point, ...] = ()
    pair: tuple[str, float] = ("", 0.0)
    names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    who: str = field(default="", metadata=json_key("judge"))
    rest: object = None


EVERYTHING = Everything(
    text="a",
    flag=True,
    from_=3,
    colour="red",
    weight=Fraction(1, 3),
    price=Decimal("0.10"),
    at=datetime(2026, 11, 1, tzinfo=UTC),
    points=(Point(1), Point(2, 3.0)),
    pair=("b", 0.5),
    names={"j": ("k", "l")},
    who="m",
    rest={"any": [1]},
)
WRITTEN: dict[str, Any] = {
    "text": "a",
    "flag": True,
    "from": 3,
    "colour": "red",
    "weight": "1/3",
    "price": "0.10",
    "at": "2026-11-01T00:00:00+00:00",
    "points": [{"x": 1, "y": 0.5}, {"x": 2, "y": 3.0}],
    "pair": ["b", 0.5],
    "names": {"j": ["k", "l"]},
    "judge": "m",
    "rest": {"any": [1]},
}
PLAIN = Codec(error=StoreError, hint="try again")


def test_fields_and_types_say_it_all() -> None:
    """Nothing but the class is needed, both ways."""
    assert PLAIN.to_json(EVERYTHING) == WRITTEN
    assert list(PLAIN.to_json(EVERYTHING)) == list(WRITTEN)
    assert PLAIN.from_json(Everything, WRITTEN) == EVERYTHING


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"text": 1}, "text: must be text, got 1 (try again)"),
        ({"flag": 1}, "flag: must be true or false, got 1 (try again)"),
        ({"from": True}, "from: must be a whole number, got true or false (try again)"),
        ({"colour": "blue"}, "colour: must be one of red, green, got 'blue' (try again)"),
        ({"colour": None}, "colour: must be text, got null (try again)"),
        ({"weight": "1/0"}, "weight: must be a fraction as text, as in 2/3, got '1/0' (try again)"),
        ({"price": "cheap"}, "price: must be a number as text, got 'cheap' (try again)"),
        ({"at": "soon"}, "at: must be a time in ISO 8601, got 'soon' (try again)"),
        ({"points": [{"x": 1, "y": 1}, {"x": 1, "y": "z"}]}, "points[1].y: must be a number, got 'z' (try again)"),
        ({"points": [{"x": 1, "y": 10**400}]}, "points[0].y: must be a number, got a number (try again)"),
        ({"points": [{"x": 1}]}, "points[0].y: is missing (try again)"),
        ({"points": [{"x": 1, "y": 1, "z": 1}]}, "points[0].z: is not known (try again)"),
        ({"points": {}}, "points: must be a list, got an object (try again)"),
        ({"points": [7]}, "points[0]: must be an object, got 7 (try again)"),
        ({"pair": ["b"]}, "pair: must be a list of 2, got a list (try again)"),
        ({"pair": ["b", "c"]}, "pair[1]: must be a number, got 'c' (try again)"),
        ({"names": []}, "names: must be an object, got a list (try again)"),
        ({"names": {"j": [1]}}, "names.j: must be a list of texts, got a list (try again)"),
    ],
)
def test_what_is_wrong_is_told_with_its_place(change: dict[str, object], said: str) -> None:
    """The way to it, what should be there, what is there, and what to do."""
    with pytest.raises(StoreError) as refused:
        PLAIN.from_json(Everything, {**WRITTEN, **change})

    assert str(refused.value) == said


def test_a_value_that_refuses_itself_keeps_its_own_hint() -> None:
    """The hint of a codec is about the form of its data."""

    @dataclass(frozen=True)
    class Even:
        number: int

        def __post_init__(self) -> None:
            if self.number % 2:
                raise InputError(Fault("is odd", "double it", ("number",)))

    @dataclass(frozen=True)
    class Holder:
        even: Even

    codec = Codec(error=StoreError, hint="try again", shapes={Holder: JsonShape(fields={"even": JsonField(key="e")})})
    Holder.__annotations__["even"] = Even  # Local classes have no name that a hint could find.

    with pytest.raises(StoreError, match=r"^e\.number: is odd \(double it\)$"):
        codec.from_json(Holder, {"e": {"number": 3}})


def test_a_lenient_codec_reads_what_other_versions_wrote() -> None:
    """Unknown keys are ignored; null or nothing is the default, and what has none is missed."""
    codec = Codec(lenient=True)

    assert codec.from_json(Point, {"x": 1, "z": 2}) == codec.from_json(Point, {"x": 1, "y": None}) == Point(1)
    with pytest.raises(InputError, match="x: is missing"):
        codec.from_json(Point, {"y": 1})


def test_fields_that_the_data_does_not_have_are_given() -> None:
    """Whoever reads knows them."""
    codec = Codec(shapes={Point: JsonShape(only=("x",))})

    assert codec.to_json(Point(1, 2.0)) == {"x": 1}
    assert codec.from_json(Point, {"x": 1}, y=2.0) == Point(1, 2.0)


@dataclass(frozen=True, slots=True)
class Segment:
    kind: ClassVar[str] = "segment"
    start: Point
    end: Point


@dataclass(frozen=True, slots=True)
class Dot:
    kind: ClassVar[str] = "dot"
    at: Point


@dataclass(frozen=True, slots=True)
class Drawing:
    shapes: tuple[Segment | Dot, ...]


def test_one_of_several_classes_is_known_by_its_tag() -> None:
    """Alone and inside of others; a wrong tag lists the right ones."""
    codec = Codec(tag="item", shapes={Point: JsonShape(row=True)})
    drawing = Drawing((Segment(Point(0), Point(1)), Dot(Point(2))))
    written = {"shapes": [{"item": "segment", "start": [0, 0.5], "end": [1, 0.5]}, {"item": "dot", "at": [2, 0.5]}]}

    assert codec.to_json(drawing) == written
    assert codec.from_json(Drawing, written) == drawing
    with pytest.raises(InputError, match="the kind of an item must be one of segment, dot, got 'line'"):
        codec.from_tagged_json((Segment, Dot), {"item": "line"})
    with pytest.raises(InputError, match=r"shapes\[0\]\.dot\.at\[0\]: must be a whole number"):
        codec.from_json(Drawing, {"shapes": [{"item": "dot", "at": ["x", 1]}]})


@dataclass(frozen=True, slots=True)
class Measured:
    name: str
    point: Point
    interval: tuple[float, float]

    @property
    def width(self) -> float:
        return self.interval[1] - self.interval[0]


def check_width(value: Measured, data: JsonParts) -> None:
    if data.read("width", float) != value.width:
        raise JsonFormatError(Fault("is not the width", path=("width",)))


MEASURED = Codec(
    hint="measure again",
    scalars={int: json_whole_number_between(0, 9), float: json_number_between(0, 9)},
    shapes={
        Measured: JsonShape(
            fields={
                "point": JsonField(flat=True),
                "interval": SplitField(
                    ("low", "high"),
                    lambda one: {"low": one.interval[0], "high": one.interval[1]},
                    lambda data: (data.read("low", float), data.read("high", float)),
                ),
            },
            derived={"width": DerivedField(lambda one: one.width, check_width)},
        )
    },
)


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"x": 10}, "x: must be a whole number from 0 to 9, got 10 (measure again)"),
        ({"high": "far"}, "high: must be a number from 0 to 9, got 'far' (measure again)"),
        ({"width": 5}, "width: is not the width (measure again)"),
        ({"point": {}}, "point: is not known (measure again)"),
    ],
)
def test_fields_may_be_flat_split_or_derived(change: dict[str, object], said: str) -> None:
    """Each has its keys beside the others, and its errors have the place of the key."""
    value = Measured("m", Point(1, 2.0), (3.0, 7.0))
    written = {"name": "m", "x": 1, "y": 2.0, "low": 3.0, "high": 7.0, "width": 4.0}

    assert MEASURED.to_json(value) == written
    assert MEASURED.from_json(Measured, written) == value
    with pytest.raises(InputError) as refused:
        MEASURED.from_json(Measured, {**written, **change})
    assert str(refused.value) == said


@dataclass(frozen=True, slots=True)
class Tree:
    name: str
    parts: tuple[Tree, ...] = ()
    weight: Fraction = Fraction(1)


def test_a_tree_holds_values_of_its_own_class() -> None:
    """However deep."""
    tree = Tree("a", (Tree("b", (Tree("c"),)), Tree("d")), Fraction(1, 2))
    codec = Codec(scalars={Fraction: json_fraction_scalar(9)})

    assert codec.to_json(tree)["parts"][0]["parts"] == [{"name": "c", "parts": [], "weight": 1}]
    assert codec.from_json(Tree, codec.to_json(tree)) == tree


def test_a_type_may_stand_in_for_another() -> None:
    """And a form for readers is not read back."""
    codec = Codec(
        scalars={float: json_write_only_scalar(round)},
        shapes={Tree: StandIn(str, lambda tree: tree.name, Tree), Drawing: JsonShape(row=True)},
    )

    assert codec.to_json(Tree("a")) == "a"
    assert codec.to_json(Point(1, 2.6)) == {"x": 1, "y": 3}
    with pytest.raises(TypeError, match="not read back"):
        codec.from_json(Point, {"x": 1, "y": 3})


def test_a_type_without_a_form_is_a_mistake_of_ours() -> None:
    """No data can be to blame."""

    @dataclass
    class Odd:
        held: complex

    with pytest.raises(TypeError, match="complex'> has no form in JSON"):
        Codec().to_json(Odd(1j))


def test_files_know_the_same_fields() -> None:
    """What a class needs and what it is called in a file, for whoever reads one."""
    known = {one.keys[0]: one.required for one in list_shape_fields(Grade)}

    assert known == {"grade": True, "from": True, "label": False, "description": False}


@dataclass(frozen=True)
class _Twig:
    name: str
    twigs: tuple[_Twig, ...] = ()


def test_threads_that_read_a_class_first_share_its_reader(monkeypatch: pytest.MonkeyPatch) -> None:
    """A service reads in many threads: one that comes while the reader is made waits for it, and does not go astray."""
    codec, making = Codec(error=StoreError), threading.Event()
    found: list[object] = []
    make = Codec._make_reader

    def make_slowly(self: Codec, type_: Any) -> Any:
        making.set()
        time.sleep(0.05)
        return make(self, type_)

    def read() -> None:
        try:
            found.append(codec.from_json(_Twig, {"name": "a", "twigs": [{"name": "b", "twigs": []}]}))
        except RecursionError as error:
            found.append(error)

    monkeypatch.setattr(Codec, "_make_reader", make_slowly)
    first, second = (threading.Thread(target=read) for _ in range(2))
    first.start()
    assert making.wait(10)
    second.start()
    for one in (first, second):
        one.join()

    assert found == [_Twig("a", (_Twig("b"),))] * 2
