"""What is put to the same in every run of a page, and what stands as it was printed."""

import pytest

from tests.docs.pages import Steady


@pytest.mark.parametrize(
    ("printed", "shown"),
    [
        ("at 2026-12-24T07:08:09.123+00:00.", "at 2026-11-16T09:00:00.000+00:00."),
        ("at 2026-12-24T07:08:09+00:00", "at 2026-11-16T09:00:00+00:00"),
        ("at 2026-12-24 07:08.", "at 2026-11-16 09:00."),
        ("20261224-070809-abcdef and 20261224-070809-000000", "20261116-090000-000001 and 20261116-090000-000002"),
    ],
)
def test_what_comes_from_the_clock_is_always_the_same(printed: str, shown: str) -> None:
    """Else no page would be the same tomorrow."""
    assert Steady()(printed) == shown


@pytest.mark.parametrize("zone", ["+01:00", "-05:00", "+05:30", "Z"])
@pytest.mark.parametrize("time", ["18:00", "18:00:00", "18:00:00.5"])
def test_a_moment_with_a_zone_of_its_own_stands_as_printed(time: str, zone: str) -> None:
    """It is out of a file: the page would contradict what the file says."""
    printed = f"the deadline was 2026-11-09T{time}{zone}"

    assert Steady()(printed) == printed
