"""Which samples of a run deserve a look, and which moved between two variants."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from evenhand.report.html.comparison_page import build_comparison_report_page
from evenhand.report.html.sample_page import list_report_reasons
from evenhand.runs.columns import RunVariantRows, join_run_result_rows, load_run_columns
from evenhand.runs.notable import SampleMoveBetweenRuns, find_samples_moved_between_runs
from evenhand.runs.sample_ranking import SampleOrder, rank_run_samples
from evenhand.store.store import Store
from evenhand.workflows.run_samples import (
    RANKED_RUNS,
    SampleQuestion,
    list_run_samples,
    load_run_sample,
    load_sample_neighbours,
)
from tests.runs.stored import keep_run, result, sample
from tests.runs.test_table import said

RUN = "20261116-090000-aaaaaa"
RUBRICS = ({"name": "r", "score_scale": [0, 1], "criteria": [{"id": "tone", "ends": [1, 11]}]},)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, {}) as opened:
        yield opened


def judged(position: int, variant: str, composite: float | None, *tones: str, **changes: Any) -> dict[str, Any]:
    judgments = [said(judge, "tone", tone) for judge, tone in zip("abc", tones, strict=False)]
    return result(position, variant, composite, criteria={"tone": "5/1"}, judgments=judgments, **changes)


def keep_six(store: Store) -> None:
    """Alike but for one thing each: a gate failed, judges apart, moved, near a gate, not scored; the last is plain."""
    failed = {"verdict": "fail", "criteria": {}, "reviews": [], "gates_failed": ["tone"]}
    results = [judged(at, "old", 4.5) for at in range(6)] + [
        judged(0, "new", 4.5, "5/1", "5/1", scorecard=failed),
        judged(1, "new", 4.5, "2/1", "10/1"),
        judged(2, "new", 2.0, "5/1", "5/1"),
        judged(3, "new", 4.5, layers={"fact": "7/2"}),
        judged(4, "new", None, layers={"fact": None}),
        judged(5, "new", 4.5, "5/1", "5/1"),
    ]
    names = ("gate", "apart", "moved", "near", "unscored", "plain")
    samples = [sample(at * 3, name) for at, name in enumerate(names)]  # A part of the file: places have gaps.
    rows = [{**one, "position": one["position"] * 3} for one in results]
    keep_run(store, RUN, {"old": [], "new": []}, results=rows, samples=samples, rubrics=RUBRICS)


@pytest.mark.parametrize(
    ("order", "first"),
    [("attention", "gate"), ("gates", "gate"), ("judges", "apart"), ("moved", "moved"), ("threshold", "near"),
     ("lowest", "moved"), ("file", "gate")],
)  # fmt: skip
def test_what_stands_out_comes_first(store: Store, order: SampleOrder, first: str) -> None:
    """Each order by what it is called; the composite that is lowest is that of what may be shipped."""
    keep_six(store)
    page = list_run_samples(store, RUN, SampleQuestion(order=order))

    assert page.samples[0].id == first
    assert page.samples[-1].id == ("plain" if order in ("attention", "file") else page.samples[-1].id)


def test_a_failed_verdict_deserves_a_look_before_what_only_got_better(store: Store) -> None:
    """Its score is too low without any gate: a list that hides the worst outputs at its end is no help."""
    failed = {"verdict": "fail", "criteria": {}, "reviews": [], "gates_failed": []}
    results = [judged(at, "old", 2.0) for at in range(2)] + [
        judged(0, "new", 4.5, "5/1", "5/1"),
        judged(1, "new", 2.0, "5/1", "5/1", scorecard=failed),
    ]
    samples = [sample(0, "better"), sample(1, "failing")]
    keep_run(store, RUN, {"old": [], "new": []}, results=results, samples=samples, rubrics=RUBRICS)

    assert [one.id for one in list_run_samples(store, RUN).samples] == ["failing", "better"]


def test_an_output_of_the_control_without_a_score_deserves_a_look(store: Store) -> None:
    """It is counted as not scored, and leaves its sample without a pair: it is found as one of a treatment is."""
    results = [judged(0, "old", 4.5), judged(1, "old", None), judged(2, "old", None)]
    results += [judged(0, "new", 4.5), judged(1, "new", 4.5), judged(2, "new", None)]
    samples = [sample(at, name) for at, name in enumerate(("plain", "control", "both"))]
    keep_run(store, RUN, {"old": [], "new": []}, results=results, samples=samples, rubrics=RUBRICS)

    shown = list_run_samples(store, RUN, SampleQuestion(state="unscored"))
    first = list_run_samples(store, RUN)

    assert {one.id: one.unscored for one in shown.samples} == {"control": 1, "both": 2}
    assert first.samples[-1].id == "plain"


def test_a_page_says_why_and_keeps_the_places_of_the_file(store: Store) -> None:
    """Reasons are numbers with what they are of; a sample that nothing speaks for has none."""
    keep_six(store)
    found = {one.id: one for one in list_run_samples(store, RUN).samples}

    assert (found["apart"].spread, found["apart"].spread_on) == (0.8, "tone")
    assert found["moved"].moved == -2.5 and found["near"].near == 0.0 and found["gate"].gates == 1
    assert found["unscored"].unscored == 1 and found["unscored"].composites["new"] is None
    plain = found["plain"]
    assert (plain.spread, plain.near, plain.gates, plain.unscored, plain.moved) == (None, None, 0, 0, 0.0)
    assert {one.id: one.position for one in found.values()}["plain"] == 15


def test_samples_are_filtered_searched_and_paged(store: Store) -> None:
    """All that fit are counted, and one page is read."""
    keep_six(store)
    unscored = list_run_samples(store, RUN, SampleQuestion(state="unscored"))
    searched = list_run_samples(store, RUN, SampleQuestion(search="What is NEAR"))
    second = list_run_samples(store, RUN, SampleQuestion(order="file", skip=4, most=4))
    wild = list_run_samples(store, RUN, SampleQuestion(search="%"))

    assert [one.id for one in unscored.samples] == ["unscored"]
    assert [one.id for one in searched.samples] == ["near"]
    assert ([one.id for one in second.samples], second.found, second.total) == (["unscored", "plain"], 6, 6)
    assert wild.found == 0


def test_a_sample_has_neighbours_in_the_order_of_attention(store: Store) -> None:
    """The last has none after it."""
    keep_six(store)
    first, last = load_sample_neighbours(store, RUN, 0), load_sample_neighbours(store, RUN, 15)

    assert (first.place, first.before, last.after, last.total) == (1, None, None, 6)


def test_a_run_that_was_taken_up_again_is_ranked_anew(store: Store) -> None:
    """A ranking belongs to the end of a run: it is kept for that one alone."""
    keep_six(store)
    list_run_samples(store, RUN)
    row = store.find_run(RUN)

    assert RANKED_RUNS.has_ranked_run(store, row)
    assert not RANKED_RUNS.has_ranked_run(store, {**row, "ended": "2026-11-17T00:00:00+00:00"})


def test_personal_data_is_hidden_in_lists_and_samples_where_the_run_says_so(store: Store) -> None:
    """What a report masks, no page shows."""
    samples = [sample(0, "a", input="Write to jane.doe@example.com")]
    keep_run(store, RUN, {"old": [3.0]}, samples=samples, guards=("personal",))
    [listed] = list_run_samples(store, RUN).samples
    _, shown = load_run_sample(store, RUN, 0)

    assert "jane.doe" not in str(listed.asked) and "jane.doe" not in shown["input"]


def test_moves_name_the_criteria_that_moved_most(store: Store) -> None:
    """By hand: one fell by 2.5 for its tone, one rose by 1, one stayed."""
    results = [result(at, "old", 4.5, criteria={"tone": "8/1", "aim": "4/1"}) for at in range(3)]
    results += [
        result(0, "new", 2.0, criteria={"tone": "3/1", "aim": "5/1"}),
        result(1, "new", 5.5, criteria={"tone": "8/1", "aim": "4/1"}),
        result(2, "new", 4.5, criteria={"tone": "8/1", "aim": "4/1"}),
    ]
    keep_run(store, RUN, {"old": [], "new": []}, results=results)
    table = load_run_columns(store, RUN)
    pairs = join_run_result_rows([RunVariantRows.from_run_table(table, name) for name in ("old", "new")])
    moved = find_samples_moved_between_runs(pairs, 1, most=5)

    assert [(one.id, one.change) for one in moved] == [("s0", -2.5), ("s1", 1.0)]
    assert list(moved[0].criteria.items()) == [("tone", (8.0, 3.0)), ("aim", (4.0, 5.0))]
    assert moved[1].criteria == {}


def test_one_variant_alone_has_nothing_to_move_from(store: Store) -> None:
    """Missing is missing: no sample moved by 0."""
    keep_run(store, RUN, {"old": [3.0, 4.0]})
    ranking = rank_run_samples(load_run_columns(store, RUN), {"fact": 3.5}, [0, 1])

    assert [one.moved for one in list_run_samples(store, RUN).samples] == [None, None]
    assert ranking.near.tolist() == [0.5, 0.5]


def test_a_move_names_its_variant_and_a_failed_verdict_is_said(store: Store) -> None:
    """Of three variants a number alone tells nobody which one moved; what sorts a row up stands beside it."""
    failed = {"verdict": "fail", "criteria": {}, "reviews": [], "gates_failed": []}
    results = [judged(0, "old", 4.5), judged(0, "mid", 4.0), judged(0, "new", 2.0, scorecard=failed)]
    keep_run(store, RUN, {"old": [], "mid": [], "new": []}, results=results, samples=[sample(0, "a")], rubrics=RUBRICS)
    [listed] = list_run_samples(store, RUN).samples

    assert listed.moved_variant == "new"
    assert [says for _, says in list_report_reasons(listed)] == ["new: verdict fail", "new moved −2.50"]


def test_a_reason_names_the_variants_that_it_is_about(store: Store) -> None:
    """Of several, "1 assertion failed" sends nobody to the right column; one alone needs no name."""
    failed = {"verdict": "fail", "criteria": {}, "reviews": [], "gates_failed": []}
    lost = {"name": "x", "layer": "fact", "passed": False, "why_not": ""}
    results = [
        judged(0, "old", None),
        judged(0, "mid", 4.5, "2/1", "10/1", assertions=[lost], scorecard=failed),
        judged(0, "new", 4.5, "5/1", "5/1", layers={"fact": "7/2"}, scorecard=failed),
    ]
    keep_run(store, RUN, {"old": [], "mid": [], "new": []}, results=results, samples=[sample(0, "a")], rubrics=RUBRICS)

    [listed] = list_run_samples(store, RUN).samples

    assert [says for _, says in list_report_reasons(listed)] == [
        "mid, new: verdict fail",
        "old: 1 output without a score",
        "mid: judges 80% apart on tone",
        "new: 0.00 from a gate",
        "mid: 1 assertion failed",
    ]


def test_what_moved_a_sample_are_layers_as_well_as_criteria() -> None:
    """A fact that was lost explains a drop before a criterion that rose."""
    move = SampleMoveBetweenRuns(
        id="a", before=4.0, after=2.0, layers={"fact": (5.0, 1.0), "judge": (3.0, 3.2)}, criteria={"tone": (6.0, 7.0)}
    )
    found = {
        "decision": {"verdict": "NOISE", "exit_code": 0, "comparisons": [], "gates": {}},
        "control": {"name": "old"}, "treatments": [{"name": "new"}], "notes": [], "forced": [], "scales": {},
        "samples": {"both": 1, "only_control": {"count": 0}, "only_treatment": {"count": 0}},
    }  # fmt: skip
    [moved] = build_comparison_report_page(found, {"new": [move]})["moved"]

    assert [says for _, says in moved.rows[0].why] == ["fact 5.00 → 1.00", "tone 6.00 → 7.00"]
