"""The compact form of what is finished answers as a dictionary would."""

from hypothesis import given
from hypothesis import strategies as st

from evenhand.store.queries import FinishedRowKeys

Unit = tuple[int, str, int]
NEAR = st.tuples(st.integers(0, 3), st.sampled_from("ab"), st.integers(0, 2))
UNITS = NEAR | st.tuples(st.integers(0, 10**9), st.text(max_size=4), st.integers(0, 50))


@given(st.dictionaries(NEAR, st.text()) | st.dictionaries(UNITS, st.text()), st.lists(UNITS))
def test_it_is_the_same_mapping_as_a_dictionary(entries: dict[Unit, str], others: list[Unit]) -> None:
    """Any position, variant, repeat and key, those asked for that are not there included."""
    rows = [(*unit, key) for unit, key in sorted(entries.items())]
    variants = sorted({unit[1] for unit in entries})
    repeats = max((unit[2] for unit in entries), default=0) + 1

    finished = FinishedRowKeys(rows, variants, repeats)

    assert dict(finished) == entries
    assert len(finished) == len(entries)
    others += [(position, variant, repeat + shift) for position, variant, repeat in entries for shift in (1, repeats)]
    others += [(position, variant, repeat - repeats) for position, variant, repeat in entries]
    assert [finished.get(other) for other in others] == [entries.get(other) for other in others]
