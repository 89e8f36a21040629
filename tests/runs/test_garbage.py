"""How often Python looks for garbage is a setting of the process: it is as it was once no run is under way."""

import gc
from collections.abc import Iterator

import pytest

from evenhand.runs.garbage import OBJECTS_PER_SEARCH, collect_garbage_less_often


@pytest.fixture(autouse=True)
def _restore() -> Iterator[None]:
    before = gc.get_threshold()
    yield
    gc.set_threshold(*before)


def test_the_setting_is_as_it_was_after_the_last_of_several_that_overlap() -> None:
    """The first may end before the second."""
    gc.set_threshold(600, 9, 8)
    first, second = collect_garbage_less_often(), collect_garbage_less_often()

    first.__enter__()
    second.__enter__()
    first.__exit__(None, None, None)
    assert gc.get_threshold() == (OBJECTS_PER_SEARCH, 9, 8)
    second.__exit__(None, None, None)

    assert gc.get_threshold() == (600, 9, 8)


@pytest.mark.parametrize("set_by_others", [0, 50_000])
def test_a_process_that_searches_less_often_is_left_alone(set_by_others: int) -> None:
    """0 is never."""
    gc.set_threshold(set_by_others, 10, 10)

    with collect_garbage_less_often():
        assert gc.get_threshold()[0] == set_by_others
    assert gc.get_threshold() == (set_by_others, 10, 10)
