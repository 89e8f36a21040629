"""A frozen class whose slots are set directly is in all else the class that it was."""

import copy
import pickle
from dataclasses import FrozenInstanceError, dataclass, field, replace
from inspect import signature

import pytest

from evenhand.model.quick_init import set_slots_directly


@dataclass(frozen=True, slots=True)
class Plain:
    first: int
    second: str = "two"
    several: list[int] = field(default_factory=list)
    named: int = field(default=4, kw_only=True)

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError("below 0")


@set_slots_directly
@dataclass(frozen=True, slots=True)
class Quick:
    first: int
    second: str = "two"
    several: list[int] = field(default_factory=list)
    named: int = field(default=4, kw_only=True)

    def __post_init__(self) -> None:
        if self.first < 0:
            raise ValueError("below 0")


def test_parameters_and_values_are_those_of_the_class_that_python_writes() -> None:
    """Defaults, what is made anew each time, and what is given by name only."""
    assert signature(Quick).parameters.keys() == signature(Plain).parameters.keys()
    assert repr(Quick(1)) == repr(Plain(1)).replace("Plain", "Quick")
    assert repr(Quick(1, "b", [3], named=5)) == "Quick(first=1, second='b', several=[3], named=5)"
    assert Quick(1).several is not Quick(1).several
    with pytest.raises(TypeError, match="missing 1 required positional argument: 'first'"):
        Quick()  # type: ignore[call-arg]
    with pytest.raises(TypeError, match="positional argument"):
        Quick(1, "b", [], 5)  # type: ignore[call-arg]


def test_it_stays_frozen_and_checked() -> None:
    """Nothing is changed after it was made, and copies are checked like what they are made from."""
    one = Quick(1)

    with pytest.raises(FrozenInstanceError):
        one.first = 2  # type: ignore[misc]
    with pytest.raises(ValueError, match="below 0"):
        replace(one, first=-1)


def test_it_is_copied_pickled_and_compared() -> None:
    """As before."""
    one = Quick(1, several=[2])

    assert replace(one, second="b") == Quick(1, "b", [2])
    assert pickle.loads(pickle.dumps(one)) == copy.deepcopy(one) == one
