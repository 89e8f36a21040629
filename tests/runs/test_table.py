"""A run as columns says what its rows say, is worked out once, and never outlives a change of the rows."""

import json
import math
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from evenhand.errors import Fault, StoreError
from evenhand.runs.columns import RunColumnsBuilder, load_run_columns, unpack_run_columns
from evenhand.store.rows import RowBatch
from evenhand.store.store import Store
from tests.runs.stored import keep_run, result, sample

RUN = "20261116-090000-aaaaaa"
nan = math.nan


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, {}) as opened:
        yield opened


def said(judge: str, criterion: str, exact: str | None) -> dict[str, Any]:
    return {"judge": judge, "criterion": criterion, "exact": exact, "why_not": None if exact else "unreadable"}


def card(**reviews: float | None) -> dict[str, Any]:
    return {"verdict": None, "criteria": {}, "reviews": [{"judge": j, "score": s} for j, s in reviews.items()]}


def test_every_number_of_a_result_has_its_place(store: Store) -> None:
    """By sample, variant and repeat; what is missing is NaN, and what only later rows have is NaN before."""
    results = [
        result(0, "new", 4.5, layers={"fact": "4/1", "judge": "5/1"}, output={"text": "four", "latency_ms": None,
               "cost": None}, scorecard=card(a=9.0, b=None), criteria={"tone": "3/1"},
               judgments=[said("a", "tone", "7/2"), said("b", "tone", None)], seats={"a": 2}),
        result(0, "old", 1, output=None),
        result(2, "new", None, cluster="street", layers={"fact": None}),
        result(2, "new", 2, repeat=1, cluster="street", criteria={"tone": None, "aim": "1/3"}),
    ]  # fmt: skip
    keep_run(store, RUN, {"old": [], "new": []}, results=results, samples=[sample(0, "a"), sample(2, "b")])

    found = load_run_columns(store, RUN)

    assert (found.samples, found.variants) == (("a", "b"), ("old", "new"))
    assert [found.sample.tolist(), found.variant.tolist(), found.repeat.tolist()] == [
        [0, 0, 1, 1],
        [1, 0, 1, 1],
        [0, 0, 0, 1],
    ]
    assert found.cluster.tolist() == [0, 0, -1, -1]
    same(found.composite, [4.5, 1, nan, 2])
    same(found.length, [4, nan, 1, 1])
    same(found.layers["fact"], [4, 1, nan, 2])
    same(found.layers["judge"], [5, nan, nan, nan])
    same(found.criteria["tone"], [3, nan, nan, nan])
    same(found.criteria["aim"], [nan, nan, nan, 1 / 3])
    same(found.reviews["a"], [9, nan, nan, nan])
    same(found.reviews["b"], [nan] * 4)
    same(found.judgments["a", "tone"], [3.5, nan, nan, nan])
    same(found.seats["a"], [2, nan, nan, nan])


def test_an_answer_on_a_flag_is_no_answer_on_a_criterion(store: Store) -> None:
    """A red flag may have the id of a criterion; what was said of it stands after."""
    judgments = [said("a", "tone", "8/1"), said("a", "rude", "0/1"), said("a", "tone", "0/1")]
    keep_run(store, RUN, {"old": []}, results=[result(0, "old", 1, criteria={"tone": "8/1"}, judgments=judgments)])

    found = load_run_columns(store, RUN).judgments

    assert {key: column.tolist() for key, column in found.items()} == {("a", "tone"): [8.0]}


def same(found: Any, expected: list[float]) -> None:
    np.testing.assert_array_equal(found, np.array(expected, dtype=np.float64))


def test_the_rows_of_a_finished_run_are_read_once(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """The end of a run leaves its columns; a hundred thousand rows take half a minute to read."""
    keep_run(store, RUN, {"old": [1, 2], "new": [3, None]})
    monkeypatch.setattr(Store, "results", None)

    found = load_run_columns(store, "latest")

    same(found.composite, [3, 1, nan, 2])


@pytest.mark.parametrize("kept", [b"", b"not columns", b"PK\x05\x06" + b"\0" * 18])
def test_columns_that_cannot_be_read_are_worked_out_anew(store: Store, kept: bytes) -> None:
    """Whatever wrote them, the rows are there."""
    keep_run(store, RUN, {"old": [1, 2]})
    store.save_columns(RUN, kept)

    found = load_run_columns(store, RUN)

    same(found.composite, [1, 2])
    assert unpack_run_columns(store.rows.load_columns(RUN)) is not None


def test_columns_of_another_format_are_worked_out_anew(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A newer Evenhand may keep other things."""
    monkeypatch.setattr("evenhand.runs.columns.COLUMNS_FORMAT", 99)
    newer = RunColumnsBuilder(["old"]).pack([])
    monkeypatch.undo()

    assert unpack_run_columns(newer) is None


def test_a_run_that_goes_on_is_read_as_it_stands(store: Store) -> None:
    """Its columns would be those of yesterday."""
    keep_run(store, RUN, {"old": [1, 2]})
    store.hold_run(RUN, "elsewhere:1:1")
    store.write_rows(RowBatch(results=[{**result(1, "old", 4), "run": RUN}]))

    found = load_run_columns(store, RUN)

    same(found.composite, [1, 4])
    assert store.rows.load_columns(RUN) is None


def test_whoever_may_only_read_the_store_reads_the_rows(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    """A reader of a team's database has no right to write."""
    keep_run(store, RUN, {"old": [1, 2]})
    store.save_columns(RUN, b"")

    def refused(*_: object) -> None:
        raise StoreError(Fault("cannot be written"))

    monkeypatch.setattr(Store, "save_columns", refused)

    same(load_run_columns(store, RUN).composite, [1, 2])


def test_texts_are_equal_where_the_question_is(store: Store) -> None:
    """Outputs and metadata may differ: they are what is compared, or nobody's concern."""
    asked = [sample(0), sample(1, "s0"), sample(2, "x", input="What is s0?", metadata={"a": 1}, outputs={"old": "y"})]
    asked += [sample(number, "s0", **one) for number, one in enumerate(DIFFERENT, 3)]
    keep_run(store, RUN, {"old": [1.0] * len(asked)}, samples=asked)

    texts = load_run_columns(store, RUN).texts.tolist()

    assert texts[0] == texts[1] == texts[2]
    assert len(set(texts)) == 1 + len(DIFFERENT)


DIFFERENT: list[dict[str, Any]] = [
    {"input": "Why?"},
    {"reference": "r"},
    {"context": "r"},
    {"tags": ["r"]},
    {"assertions": [{"contains": "r"}]},
    {"messages": [{"role": "user", "text": "r"}]},
]

numbers = st.none() | st.integers(0, 40).map(lambda eighths: eighths / 8)
criteria = st.dictionaries(st.sampled_from("abc"), numbers, max_size=3)


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(
    st.lists(st.tuples(st.integers(0, 5), st.dictionaries(st.sampled_from("abc"), numbers, max_size=3)), max_size=12)
)
def test_columns_say_what_the_rows_say(rows: list[tuple[int, dict[str, float | None]]]) -> None:
    """Whatever criteria the rows have, in whatever order they come up."""
    columns = RunColumnsBuilder(["old"])
    positions = sorted({position for position, _ in rows})
    rows.sort(key=lambda one: one[0])
    for position, scores in rows:
        texts = {name: None if score is None else f"{round(score * 8)}/8" for name, score in scores.items()}
        row = result(position, "old", None, criteria=texts)
        columns.add(row, json.loads(row["content"]))

    found = unpack_run_columns(columns.pack([sample(position) for position in positions]))

    assert found is not None
    assert [positions[place] for place in found.places["sample"].tolist()] == [position for position, _ in rows]
    for name in {name for _, scores in rows for name in scores}:
        kept = found.values["criteria", name].tolist()
        assert [None if math.isnan(one) else one for one in kept] == [scores.get(name) for _, scores in rows]
