"""Variants side by side: samples are paired by their ids, whatever order and place they have in their runs."""

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from evenhand.runs.columns import (
    JoinedRunResults,
    RunTable,
    RunVariantRows,
    find_samples_in_both_runs,
    join_run_result_rows,
)
from tests.runs.stored import frame

nan = math.nan
Result = tuple[str, int, float]  # Sample, repeat, composite.


def table(
    rows: Sequence[Result], *, variant: str = "only", texts: dict[str, int] | None = None, **more: Any
) -> RunTable:
    ids = list(dict.fromkeys(id for id, _, _ in rows))
    places = np.array([ids.index(id) for id, _, _ in rows], dtype=np.int64)
    empty: dict[Any, Any] = {"criteria": {}, "reviews": {}, "judgments": {}, "seats": {}, "layers": {}}
    values = np.array([value for *_, value in rows], dtype=np.float64)
    plain = {
        "run": "r", "frame": frame([variant]), "samples": tuple(ids), "variants": (variant,), "sample": places,
        "variant": np.zeros(len(rows), dtype=np.int64), "repeat": np.array([one for _, one, _ in rows], dtype=np.int64),
        "cluster": places, "length": values, "score": values, "composite": values, **empty,
        "texts": np.array([(texts or {}).get(id, 0) for id in ids], dtype=np.int64), **more,
    }  # fmt: skip
    return RunTable(**plain)


def side(rows: Sequence[Result], **more: Any) -> RunVariantRows:
    return RunVariantRows.from_run_table(table(rows, **more), "only")


def told(pairs: JoinedRunResults) -> list[tuple[float | None, ...]]:
    return sorted(zip(*(pairs.composite(place) for place in range(len(pairs.members))), strict=True), key=repr)


def test_rows_are_paired_by_sample_and_repeat() -> None:
    """Not by their place: the same samples may stand in another order."""
    first = side([("a", 0, 1.0), ("a", 1, 1.5), ("b", 0, 2.0), ("b", 1, 2.5)])
    second = side([("b", 1, 5.5), ("a", 0, 4.0), ("b", 0, 5.0), ("a", 1, 4.5)])

    pairs = join_run_result_rows([first, second])

    assert told(pairs) == [(1.0, 4.0), (1.5, 4.5), (2.0, 5.0), (2.5, 5.5)]
    assert pairs.clusters == [0, 0, 1, 1]
    assert pairs.unpaired == (0, 0)


def test_what_only_one_has_is_left_out_and_counted() -> None:
    """Samples are told by id, repeats by number; an output without a score stays, for it was lost."""
    first = side([("a", 0, 1.0), ("b", 0, nan), ("c", 0, 3.0)])
    second = side([("x", 0, 9.0), ("b", 0, 2.0), ("a", 0, 4.0), ("a", 1, 4.0)])

    pairs, common = join_run_result_rows([first, second]), find_samples_in_both_runs(first, second)

    assert told(pairs) == [(1.0, 4.0), (None, 2.0)]
    assert pairs.unpaired == (0, 1)
    assert (common.both, common.only_first, common.only_second) == (2, ("c",), ("x",))


def test_samples_of_one_id_with_other_texts_are_told() -> None:
    """Two questions under one name are two questions."""
    first = side([("a", 0, 1.0), ("b", 0, 1.0)], texts={"a": 1, "b": 2})
    second = side([("b", 0, 1.0), ("a", 0, 1.0)], texts={"a": 1, "b": 3})

    assert find_samples_in_both_runs(first, second).changed == ("b",)


def test_layers_behind_composites_are_counted() -> None:
    """A layer that a row lacks is not in its composite; rows without composite have none."""
    rows = [("a", 0, 1.0), ("b", 0, 1.0), ("c", 0, 1.0), ("d", 0, nan)]
    layers = {"judge": np.array([1.0, nan, 1.0, nan]), "fact": np.array([1.0, 1.0, 1.0, 1.0])}

    pairs = join_run_result_rows([side(rows, layers=layers)])

    assert pairs.layer_sets(0) == {("fact",): 1, ("fact", "judge"): 2}


def test_a_composite_of_some_layers_is_their_mean_where_there_is_one() -> None:
    """What was lost stays lost, although a layer of it is known."""
    layers = {"fact": np.array([2.0, 2.0]), "judge": np.array([4.0, nan])}

    pairs = join_run_result_rows([side([("a", 0, 4.0), ("b", 0, nan)], layers=layers)])

    assert pairs.composite(0, ["fact"]) == (2.0, None)
    assert pairs.composite(0, ["fact", "judge"]) == (3.0, None)
    assert pairs.composite(0) == (4.0, None)


def test_criteria_that_nobody_scored_are_none() -> None:
    """A run has columns for the criteria of all its variants."""
    criteria = {"tone": np.array([1.0, nan]), "aim": np.array([nan, nan])}

    pairs = join_run_result_rows([side([("a", 0, 4.0), ("b", 0, 4.0)], criteria=criteria)])

    assert pairs.criteria(0) == {"tone": (1.0, None)}


units = st.dictionaries(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), st.integers(1, 5), min_size=1)


@given(units, units, st.randoms(use_true_random=False))
def test_the_order_of_samples_changes_no_pair(one: dict[Any, int], other: dict[Any, int], random: Any) -> None:
    """A run pairs what has the same name, as a dictionary would."""
    rows = [[(id, repeat, float(score)) for (id, repeat), score in units.items()] for units in (one, other)]
    for some in rows:
        random.shuffle(some)

    pairs = join_run_result_rows([side(some) for some in rows])

    assert told(pairs) == sorted(((float(one[key]), float(other[key])) for key in one if key in other), key=repr)
