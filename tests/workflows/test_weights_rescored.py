"""The map and the sensitivity of a run say of other weights what a rescore with them says, whatever the method."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenhand import Eval, run_sync
from evenhand.compare.sensitivity import measure_sensitivity
from evenhand.compare.weighted_scores import (
    compared_means_and_wins_under_weights,
    compared_means_under_weights,
    weigh_compared_criteria,
)
from evenhand.compare.what_if import rank_variants_by_mean
from evenhand.files.rubric_writing import is_shipped_method, write_method_yaml, write_rubric_yaml
from evenhand.judging.single_judge import JudgeOptions
from evenhand.model.rubric import Rubric
from evenhand.model.scale import Criterion
from evenhand.runs.columns import RunTable, load_run_columns
from evenhand.runs.stored_judgments import find_run_rubric_for_tag, find_scoring_rubrics, restore_run_rubric
from evenhand.store.store import Store
from evenhand.workflows.rescore import rescore_run
from evenhand.workflows.run import RunOptions
from evenhand.workflows.sensitivity import measure_run_sensitivity
from evenhand.workflows.what_if import (
    ask_what_if_of_run,
    change_rubric_by_controls,
    map_weights_of_stored_run,
    save_what_if_rubric_file,
)
from tests.soak import often
from tests.workflows.test_what_if_rescored import (
    CHECKED,
    COUNCIL,
    FLAGGED,
    ORACLE,
    POINTS,
    RANGED,
    TREE,
    DifferingJudge,
)

THREE: dict[str, Any] = {
    "name": "three",
    "method": "council",
    "criteria": [
        {"id": "accuracy", "asks": "Is it right?", "weight": 0.5},
        {"id": "clarity", "asks": "Is it clear?", "weight": 0.3},
        {"id": "depth", "asks": "Is it deep?", "weight": 0.2},
    ],
}
MEANS: dict[str, dict[str, Any]] = {
    "council": {**COUNCIL},
    "three": THREE,
    "judge-skill": FLAGGED,
    "checklist": CHECKED,
    "score-ranges": RANGED,
    "tree": TREE,
    "oracle": ORACLE,
    "points": POINTS,
}
POOLED: dict[str, dict[str, Any]] = {
    "median": {**THREE, "panel": {"aggregate": "median"}},
    "borda": {**THREE, "panel": {"aggregate": "borda"}},
    "z": {**THREE, "panel": {"normalise": "z"}},
    "z and median": {**THREE, "panel": {"normalise": "z", "aggregate": "median"}},
}
UNSAFE = "To build a pipe bomb, pack the powder into a steel pipe and seal both ends."


def build_panel(rubric: Mapping[str, Any], author: str = "kestrel", **more: Any) -> Eval:
    """Three judges who disagree, do not answer all, and one of whom wrote an output; three variants, in clusters."""
    samples = [
        {
            "id": f"s{at}",
            "input": "Write it.",
            "cluster": f"c{at // 3}" if at % 2 else None,
            "tags": ["short"] if at % 4 == 3 else [],
            "outputs": {
                "old": {"text": f"the old text number {at}", "author": author},
                "new": f"{UNSAFE if at % 7 == 0 else 'the new text'} number {at}",
                "long": f"the long text number {at}",
            },
        }
        for at in range(14)
    ]
    samples = [{key: value for key, value in one.items() if value} for one in samples]
    judges = [DifferingJudge(one) for one in ("heron", "kestrel", "plover")]
    guards = ("safety",) if rubric.get("safety_gate") else ()
    return Eval(name="panel", samples=samples, rubric=dict(rubric), judges=judges, guards=guards, **more)


def run_panel(eval: Eval, place: Path) -> str:
    return run_sync(eval, options=RunOptions(place=place)).id


def draw_weights(parts: int, rng: np.random.Generator) -> list[Fraction]:
    """Shares that are written in a file as they are."""
    cuts = sorted(rng.choice(np.arange(1, 1000), parts - 1, replace=False).tolist())
    return [Fraction(high - low, 1000) for low, high in zip([0, *cuts], [*cuts, 1000], strict=True)]


def give_weights(rubric: Rubric, shares: Mapping[str, Fraction]) -> Rubric:
    """The rubric whose leaves have these shares of the whole, their sum as it was."""
    total = sum((abs(one.weight if one.points is None else one.points) for one in rubric.criteria), Fraction(0))

    def give(one: Criterion) -> Criterion:
        children = tuple(give(child) for child in one.children)
        if children:
            return replace(one, weight=sum((child.weight for child in children), Fraction(0)), children=children)
        if one.points is not None:
            return replace(one, points=shares[one.id] * total * (1 if one.points > 0 else -1))
        return replace(one, weight=shares[one.id] * total)

    return replace(rubric, criteria=tuple(give(one) for one in rubric.criteria))


def rescore_with(store: Store, run: str, rubric: Rubric, tag: str = "") -> RunTable:
    """A run of its own, by a rubric in a file."""
    named = replace(rubric, name="other")
    method = rubric.method.name
    if not is_shipped_method(rubric.method):
        method = "other-method.yaml"
        Path(method).write_text(write_method_yaml(replace(rubric.method, name="other-method")), "utf-8")
    Path("other.yaml").write_text(write_rubric_yaml(named, method), "utf-8")
    return load_run_columns(store, rescore_run(store, run, "other.yaml", tag)["run"]["id"])


def count_wins(table: RunTable, samples: Sequence[bool] | None = None) -> list[float]:
    """By hand: of the samples that each variant has whole, which share each wins; a tie is shared out."""
    lines: dict[tuple[int, int], dict[int, float]] = {}
    for sample, repeat, variant, score in zip(table.sample, table.repeat, table.variant, table.score, strict=True):
        if np.isfinite(score) and (samples is None or samples[sample]):
            lines.setdefault((int(sample), int(repeat)), {})[int(variant)] = float(score)
    by_sample: dict[int, list[list[float]]] = {}
    for (sample, _), scores in lines.items():
        if len(scores) == len(table.variants):
            own = [scores[at] for at in range(len(scores))]
            first = [one >= max(own) - 1e-8 for one in own]
            by_sample.setdefault(sample, []).append([one / sum(first) for one in first])
    return np.mean([np.mean(own, axis=0) for own in by_sample.values()], axis=0).tolist()  # type: ignore[no-any-return]


def hold_against_rescores(store: Store, run: str, *, draws: int, tag: str = "", tags: Sequence[str] = ()) -> None:
    """Means and wins under drawn weights, and without each criterion, beside rescored runs."""
    setup = json.loads(store.find_run(run)["setup"])
    rubrics, table = find_scoring_rubrics(setup), load_run_columns(store, run)
    asked = {one: find_run_rubric_for_tag(setup, one) for one in rubrics}
    weighed = weigh_compared_criteria(table, rubrics, tags, asked)
    assert weighed is not None
    assert not weighed.rest.any()
    assert weighed.scores == pytest.approx(table.score[weighed.answers.lines])  # type: ignore[union-attr]
    rubric, rng = restore_run_rubric(rubrics[tag]), np.random.default_rng(5)
    under = [own == tag for own in tags] if tags else None
    for number in range(draws):
        shares = dict(zip(weighed.parts, draw_weights(len(weighed.parts), rng), strict=True))
        rescored = rescore_with(store, run, give_weights(rubric, shares), tag)
        kept = rescored.score if under is None else np.where(np.array(under)[rescored.sample], rescored.score, np.nan)
        ranked = rank_variants_by_mean(rescored, kept)
        weights = np.array([[float(one) for one in shares.values()]])
        means, wins = compared_means_and_wins_under_weights(weighed, weights)
        assert means[0].tolist() == pytest.approx(ranked.means, abs=1e-8), number
        assert compared_means_under_weights(weighed, weights)[0].tolist() == pytest.approx(ranked.means, abs=1e-8)
        assert wins[0].tolist() == pytest.approx(count_wins(rescored, under), abs=1e-8)


@pytest.mark.parametrize("name", [*MEANS, *POOLED])
def test_means_and_wins_under_other_weights_are_those_of_a_rescore(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each judge's answers are summed, limited and joined as there, not the limits put on what the judges come to."""
    monkeypatch.chdir(tmp_path)
    run = run_panel(build_panel({**MEANS, **POOLED}[name]), tmp_path / "store")
    with Store.open(tmp_path / "store", {}) as store:
        hold_against_rescores(store, run, draws=often(1, 3))


def test_judges_with_weights_and_repeats_are_joined_as_in_a_rescore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A judge that weighs more counts more, and repeats of a sample are one."""
    monkeypatch.chdir(tmp_path)
    eval = build_panel(THREE, how=JudgeOptions(weights={"plover": 3}), repeats=2)
    run = run_panel(eval, tmp_path / "store")
    with Store.open(tmp_path / "store", {}) as store:
        hold_against_rescores(store, run, draws=2)


def test_of_several_rubrics_the_one_that_is_looked_at_is_rescored(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Samples under another rubric, with the same criteria, count in no figure."""
    monkeypatch.chdir(tmp_path)
    eval = replace(
        build_panel(THREE, author="nobody"), rubric=None, rubrics={"": THREE, "short": {**CHECKED, "name": "short"}}
    )
    run = run_panel(eval, tmp_path / "store")
    tags = ["short" if at % 4 == 3 else "" for at in range(14)]
    with Store.open(tmp_path / "store", {}) as store:
        hold_against_rescores(store, run, draws=2, tags=tags)


@pytest.mark.parametrize("name", ["council", "three", "tree", "z", "borda"])
def test_without_a_criterion_the_first_is_who_is_first_in_a_rescore(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rubric cannot give a weight of nothing: a ten thousandth is as good as none."""
    monkeypatch.chdir(tmp_path)
    run = run_panel(build_panel({**MEANS, **POOLED}[name]), tmp_path / "store")
    with Store.open(tmp_path / "store", {}) as store:
        (ranking,) = measure_run_sensitivity(store, run, draws=50, seed=0, spread=0.2).rankings
        (kept,) = find_scoring_rubrics(json.loads(store.find_run(run)["setup"])).values()
        shares = {part.name: Fraction(part.weight).limit_denominator(1000) for part in ranking.parts}
        for part in ranking.parts:
            left = 1 - shares[part.name]
            tiny = Fraction(1, 10**4)
            other = {id: tiny if id == part.name else share / left * (1 - tiny) for id, share in shares.items()}
            other = {id: round(share, 6) for id, share in other.items()}
            last = next(id for id in reversed(other) if id != part.name)
            other[last] += 1 - sum(other.values())
            table = rescore_with(store, run, give_weights(restore_run_rubric(kept), other))
            order = rank_variants_by_mean(table, table.score).order
            assert [table.variants[at] for at in order] == list(part.without), part.name


@pytest.mark.parametrize("name", MEANS)
def test_cells_of_the_map_name_who_is_first_in_a_rescore(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Also where other numbers were moved: ceilings, and what the criteria beyond the axes weigh."""
    monkeypatch.chdir(tmp_path)
    run = run_panel(build_panel(MEANS[name]), tmp_path / "store")
    moved = {"council": {"weight-3": "0.6", "at-1": "2.5", "below-2": "9", "gate-1": "7"}, "three": {"at-2": "5.5"}}
    with Store.open(tmp_path / "store", {}) as store:
        stored = ask_what_if_of_run(store, run).rubric
        for changed in ({}, moved.get(name, {"weight-1": "0.9"})):
            found = map_weights_of_stored_run(store, run, changed=changed)
            assert not isinstance(found, str)
            rubric = change_rubric_by_controls(stored, changed)
            for i, j, winner in pick_cells(found):
                shares = weigh_cell(rubric, found, i, j)
                table = rescore_with(store, run, give_weights(rubric, shares))
                order = rank_variants_by_mean(table, table.score).order
                assert found.variants[winner] == table.variants[order[0]], (changed, i, j)


def pick_cells(found: Any) -> list[tuple[int, int, int]]:
    """One of each winner, those in the corners, and one between; on the edge the others weigh nothing."""
    cells = {(i, j): winner for i, j, winner in found.cells if not found.others or i + j < found.side - 1}
    picked = {winner: (i, j) for (i, j), winner in cells.items()}
    last = found.side - 2
    places = dict.fromkeys([*picked.values(), (0, 0), (last, 0), (0, last), (found.side // 3, found.side // 4)])
    return [(*place, cells[place]) for place in places]


def weigh_cell(rubric: Rubric, found: Any, i: int, j: int) -> dict[str, Fraction]:
    """By hand: what the axes weigh in the middle of a cell; the others share the rest as in the rubric."""
    own = {found.across: Fraction(2 * i + 1, 2 * found.side), found.up: Fraction(2 * j + 1, 2 * found.side)}
    left = 1 - sum(own.values(), Fraction(0))
    weight: dict[str, Fraction] = {}

    def walk(criteria: Sequence[Criterion], above: Fraction) -> None:
        worth = [abs(one.weight if one.points is None else one.points) for one in criteria]
        for one, size in zip(criteria, worth, strict=True):
            share = above * size / sum(worth, Fraction(0))
            walk(one.children, share) if one.children else weight.update({one.id: share})

    walk(rubric.criteria, Fraction(1))
    rest = {id: share for id, share in weight.items() if id not in own}
    other = {id: left * share / sum(rest.values(), Fraction(0)) for id, share in rest.items()}
    shares = {id: round({**own, **other}[id], 6) for id in weight}
    shares[found.across] += 1 - sum(shares.values(), Fraction(0))
    return shares


def test_the_map_agrees_with_the_headline_where_judges_differ_about_a_ceiling(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """By hand: of two judges one holds an output below the ceiling; the mean of both is above it."""
    monkeypatch.chdir(tmp_path)
    run = run_panel(build_panel(THREE), tmp_path / "store")
    with Store.open(tmp_path / "store", {}) as store:
        rng = np.random.default_rng(2)
        for _ in range(12):
            weights = rng.dirichlet(np.ones(3)).clip(0.03)
            changed = {f"weight-{at}": f"{weight:.3f}" for at, weight in enumerate(weights)}
            asked, found = ask_what_if_of_run(store, run, changed), map_weights_of_stored_run(store, run)
            assert not isinstance(found, str)
            place = tuple(int(asked.shares[id][0] * found.side) for id in (found.across, found.up))
            around = {winner for i, j, winner in found.cells if max(abs(i - place[0]), abs(j - place[1])) <= 1}
            assert asked.found.winner_after in {found.variants[at] for at in around}


def test_weights_that_level_two_variants_level_them_in_a_rescore(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A flip that is solved, not searched, leaves nothing between them."""
    monkeypatch.chdir(tmp_path)
    run = run_panel(build_panel(CHECKED), tmp_path / "store")
    with Store.open(tmp_path / "store", {}) as store:
        (ranking,) = measure_run_sensitivity(store, run, draws=50, seed=0, spread=0.2).rankings
        assert ranking.flip is not None
        assert ranking.flip.exact
        (kept,) = find_scoring_rubrics(json.loads(store.find_run(run)["setup"])).values()
        given = zip((part.name for part in ranking.parts), ranking.flip.weights, strict=True)
        shares = {id: round(max(Fraction(weight), Fraction(1, 10**5)), 6) for id, weight in given}
        table = rescore_with(store, run, give_weights(restore_run_rubric(kept), shares))
        means = dict(zip(table.variants, rank_variants_by_mean(table, table.score).means, strict=True))
        assert means[ranking.order[0]] == pytest.approx(means[ranking.order[1]], abs=1e-4)


def test_what_is_saved_from_a_moved_rubric_is_what_sensitivity_starts_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A rescored run has the means that its own sensitivity begins with."""
    monkeypatch.chdir(tmp_path)
    run = run_panel(build_panel(COUNCIL), tmp_path / "store")
    with Store.open(tmp_path / "store", {}) as store:
        save_what_if_rubric_file(store, run, {"weight-0": "0.1", "at-1": "2.5"}, "moved.yaml")
        table = load_run_columns(store, rescore_run(store, run, "moved.yaml")["run"]["id"])
        rubrics = find_scoring_rubrics(json.loads(store.find_run(table.run)["setup"]))
        ranked = rank_variants_by_mean(table, table.score)
        (ranking,) = measure_sensitivity(table, rubrics, draws=50).rankings
        assert list(ranking.means.values()) == pytest.approx(ranked.means)
