"""Stored runs held against each other: by the same samples, scored alike, or not at all."""

from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest

from evenhand.errors import InputError, StoreError
from evenhand.store.run_holds import name_lock_process
from evenhand.store.store import Store
from evenhand.workflows import compare
from evenhand.workflows.compare import CompareTerms
from tests.runs.stored import Row, keep_run, result, sample

A, B = "20261116-090000-aaaaaa", "20261116-100000-bbbbbb"
C = "20261116-110000-cccccc"
TOLD_A, TOLD_B = "run aaaaaa", "run bbbbbb"
LOW = [2.0, 2.5, 2.0, 1.5] * 6
HIGH = [4.0, 4.5, 3.5, 4.5] * 6
FORCED = CompareTerms(force=True)


@pytest.fixture
def store(tmp_path: Path) -> Iterator[Store]:
    with Store.open(tmp_path, {}) as opened:
        yield opened


def compare_runs(store: Store, *runs: str, terms: CompareTerms = CompareTerms()) -> dict[str, Any]:  # noqa: B008
    """What came out, as the command prints it."""
    return compare.compare_runs(store, *runs, terms=terms).to_json()


def refused(store: Store, *runs: str, **terms: Any) -> str:
    with pytest.raises(InputError) as error:
        compare_runs(store, *runs, terms=CompareTerms(**terms))
    return str(error.value)


def test_the_second_run_is_held_against_the_first(store: Store) -> None:
    """Sample by sample, although they stand in another order there."""
    keep_run(store, A, {"output": LOW})
    samples = [sample(at, f"s{23 - at}") for at in range(24)]
    keep_run(store, B, {"output": HIGH[::-1]}, samples=samples)

    found = compare_runs(store, A, B)

    (comparison,) = found["decision"]["comparisons"]
    assert (found["decision"]["verdict"], found["decision"]["exit_code"]) == ("PROGRESS", 0)
    assert (comparison["pairs"], comparison["wins"]) == (24, 24)
    assert comparison["composite"]["estimate"] == pytest.approx(2.125)
    assert (found["control"]["run"], found["treatments"][0]["run"]) == (A, B)
    assert found["samples"]["both"] == 24
    assert (found["forced"], found["notes"], found["power"]) == ([], [], None)


def test_the_variants_of_one_run_are_compared_as_the_run_does(store: Store) -> None:
    """One engine: the numbers in the run's own report are these."""
    keep_run(store, A, {"old": LOW, "new": HIGH})

    found = compare_runs(store, "latest")

    own = store.find_run(A)["summary"]
    assert own is not None
    assert f'"estimate":{found["decision"]["comparisons"][0]["composite"]["estimate"]}' in own
    assert found["decision"]["headline"] == "new is better than old (+2.13 points)."


def test_another_control_turns_the_comparison_round(store: Store) -> None:
    """Whoever asks the other way round gets the opposite answer."""
    keep_run(store, A, {"old": LOW, "new": HIGH})

    found = compare_runs(store, A, terms=CompareTerms(control="new"))

    assert found["decision"]["verdict"] == "REGRESS"
    assert found["decision"]["comparisons"][0]["treatment"] == "old"


def test_one_variant_stands_alone(store: Store) -> None:
    """There is nothing to compare; its gates still say whether it passes."""
    keep_run(store, A, {"output": HIGH})
    keep_run(store, B, {"output": LOW})

    good, bad = (compare_runs(store, run)["decision"] for run in (A, B))

    assert (good["verdict"], good["exit_code"]) == ("SOLO", 0)
    assert (bad["verdict"], bad["exit_code"]) == ("SOLO", 1)


def test_a_gate_beyond_the_layers_holds_back_what_is_better(store: Store) -> None:
    """Half of its outputs fail, however good the others are."""
    failed: Row = {"verdict": "fail", "criteria": {}, "reviews": None}
    rows = [result(at, "output", one, scorecard=failed if at % 2 else None) for at, one in enumerate(HIGH)]
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": HIGH}, results=rows, gates={"pass_rate": Fraction(3, 4)})

    found = compare_runs(store, A, B)

    assert (found["decision"]["verdict"], found["decision"]["exit_code"]) == ("CAUTIOUS", 1)
    assert f"{TOLD_B} misses its gate for the pass rate" in found["decision"]["headline"]
    assert found["notes"] == [f"the gates are those of {TOLD_B}"]
    (one,) = found["decision"]["comparisons"]
    assert (one["verdict"], one["rule"]) == (
        "CAUTIOUS",
        "7. the composite is significantly higher, but a gate is missed",
    )
    assert one["next_step"] == f"Find out why {TOLD_B} misses its gate for the pass rate, then run it again."


def test_layers_are_held_to_the_gates_of_whoever_may_be_shipped(store: Store) -> None:
    """Not to those of the control, which were another day's."""
    keep_run(store, A, {"output": LOW}, gates={"fact": Fraction(1), "pass_rate": Fraction(0)})
    keep_run(store, B, {"output": HIGH}, gates={"fact": Fraction(9, 2), "pass_rate": Fraction(0)})

    found = compare_runs(store, A, B)["decision"]

    assert found["verdict"] == "CAUTIOUS"
    (fact, _), (control, _) = found["gates"][TOLD_B], found["gates"][TOLD_A]
    assert (fact["gate"], fact["min"], fact["mean"], fact["passed"]) == ("fact", 4.5, 4.125, False)
    assert fact["short"]["samples"] == ["s2", "s6", "s10"]
    assert (control["min"], "short" in control) == (4.5, False)  # Its own run named those below another gate.


def test_lost_outputs_are_no_progress(store: Store) -> None:
    """A sample with a row and without a score was lost, and what is left may be the easy part."""
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": [*HIGH[:12], *[None] * 12]})

    found = compare_runs(store, A, B)

    assert found["decision"]["verdict"] == "REGRESS"
    assert found["decision"]["comparisons"][0]["rule"] == "2. the treatment lost outputs"
    assert found["decision"]["comparisons"][0]["lost_by_treatment"] == 12


def test_samples_that_the_treatment_never_had_are_refused(store: Store) -> None:
    """Leaving out the hard ones is the oldest way to score higher."""
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": HIGH[:20]})

    says = refused(store, A, B)
    found = compare_runs(store, A, B, terms=FORCED)

    lacks = f"{TOLD_B} lacks 4 samples of {TOLD_A}, first 's20'"
    assert f"samples are missing: {lacks}" in says
    assert "--force" in says
    assert found["forced"] == [lacks]
    assert found["decision"]["headline"].endswith("(forced: samples are missing; the difference may come from that).")
    assert found["samples"] == {
        "both": 20,
        "only_control": {"count": 4, "first": ["s20", "s21", "s22", "s23"]},
        "only_treatment": {"count": 0, "first": []},
        "changed": {"count": 0, "first": []},
    }


def test_samples_that_only_the_treatment_has_are_told(store: Store) -> None:
    """An eval that grew can be held against its baseline."""
    keep_run(store, A, {"output": LOW[:20]})
    keep_run(store, B, {"output": HIGH})

    found = compare_runs(store, A, B)

    assert found["notes"] == [f"4 of the samples of {TOLD_B} are not in {TOLD_A}, and left out"]
    assert found["samples"]["only_treatment"] == {"count": 4, "first": ["s20", "s21", "s22", "s23"]}
    assert found["decision"]["comparisons"][0]["pairs"] == 20


def test_runs_without_a_common_sample_are_refused_even_by_force(store: Store) -> None:
    """There is nothing to pair."""
    keep_run(store, A, {"output": [1, 2]})
    keep_run(store, B, {"output": [1, 2]}, samples=[sample(0, "x"), sample(1, "y")])

    assert "have no sample in common" in refused(store, A, B, force=True)


def test_a_sample_with_other_texts_is_another_sample(store: Store) -> None:
    """How many differ, the first of them, and in what."""
    keep_run(store, A, {"output": LOW})
    changed = [sample(at, **({"reference": "new", "input": "Why?"} if at in (3, 5) else {})) for at in range(24)]
    keep_run(store, B, {"output": HIGH}, samples=changed)

    says = refused(store, A, B)

    assert "samples differ: 2 samples have the same id but another input, reference (first: s3)" in says
    assert compare_runs(store, A, B, terms=FORCED)["samples"]["changed"] == {"count": 2, "first": ["s3", "s5"]}


def test_runs_that_were_not_scored_alike_are_refused_with_what_differs(store: Store) -> None:
    """The first thing somebody asks is: what differs?"""
    judges = ([{"name": name, "temperature": 0}] for name in ("a", "b"))
    for run, fingerprint, judge in zip((A, B), ("f", "g"), judges, strict=True):
        keep_run(store, run, {"output": HIGH}, fingerprint=fingerprint, setup_changes={"judges": judge})

    says = refused(store, A, B)
    found = compare_runs(store, A, B, terms=FORCED)

    assert "the runs were not scored alike: judge: a → b" in says
    assert found["forced"] == ["judge: a → b"]


def test_what_was_forced_ships_nothing(store: Store) -> None:
    """A difference between two rubrics is no difference between two variants, and no job passes by it."""
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": HIGH}, fingerprint="g")

    decision = compare_runs(store, A, B, terms=FORCED)["decision"]

    doubt = "the runs were not scored alike"
    assert (decision["verdict"], decision["exit_code"]) == ("PROGRESS", 1)
    for told in (decision, *decision["comparisons"]):
        assert told["headline"].endswith(f"(forced: {doubt}; the difference may come from that).")
        assert told["reasons"][-1] == f"It was forced although {doubt}: the difference may come from that."
        assert told["next_step"] == "Ship nothing by this: run one of them again as the other was."


def test_force_that_nothing_needed_changes_nothing(store: Store) -> None:
    """A job that always insists still passes what is better."""
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": HIGH})

    assert compare_runs(store, A, B, terms=FORCED) == compare_runs(store, A, B)


def test_a_killed_run_is_called_killed(store: Store) -> None:
    """Nobody should wait for the end of what has none; what is still at work is waited for."""
    keep_run(store, A, {"old": LOW, "new": HIGH}, state="stopped")
    store.hold_run(A, f"{name_lock_process()}9")  # A number that was given out again: its first owner is dead.
    killed, state = refused(store, A), compare_runs(store, A, terms=FORCED)["control"]["state"]
    store.hold_run(A, name_lock_process())
    running = refused(store, A)

    assert f"a run is not finished: {A} (killed) (evenhand run EVAL --resume finishes it;" in killed
    assert state == "killed"
    assert f"a run is not finished: {A} (running) (wait for its end;" in running


def test_what_a_decided_run_did_not_come_to_was_left_out_by_lot(store: Store) -> None:
    """It chose no samples: a note in place of a refusal."""
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": HIGH}, samples=[sample(at) for at in ASKED], results=_asked(), setup_changes=UNTIL)

    found = compare_runs(store, A, B)

    assert found["forced"] == []
    assert found["notes"][0] == (
        f"the run of {TOLD_B} was decided before it came to 4 of the samples of {TOLD_A}: left out at random"
    )
    assert found["decision"]["comparisons"][0]["pairs"] == 20


@pytest.mark.parametrize(
    ("shifted", "planned", "state"),
    [(1, 24, "finished"), (0, 21, "finished"), (0, 24, "stopped")],
    ids=["a file without its first sample", "a file without its last samples", "a run cut short"],
)
def test_what_no_lot_left_out_is_still_refused(store: Store, shifted: int, planned: int, state: str) -> None:
    """A random order excuses what it left out, not what somebody did."""
    keep_run(store, A, {"output": LOW})
    samples = [sample(at, f"s{at + shifted}") for at in ASKED if at + shifted < 24]
    rows = [row for row in _asked() if row["position"] + shifted < 24]
    keep_run(store, B, {"output": HIGH}, samples=samples, results=rows, state=state,
             setup_changes={**UNTIL, "samples": planned})  # fmt: skip

    assert "samples are missing" in refused(store, A, B)


ASKED = [at for at in range(24) if at % 6 != 5]
UNTIL = {"until_decided": {"seed": 0, "looks": [20, 24]}, "samples": 24}


def _asked() -> list[Row]:
    return [result(at, "output", HIGH[at]) for at in ASKED]


def test_a_treatment_picked_from_several_says_so(store: Store) -> None:
    """The best of many looks good by chance; all together are adjusted for it, one alone is not."""
    keep_run(store, A, {"old": LOW, "new": HIGH, "next": LOW})
    keep_run(store, B, {"old": LOW, "new": HIGH})

    every, one, pair, only = (
        compare_runs(store, *runs)["notes"] for runs in ((A,), (f"{A}:new",), (f"{A}:old", f"{A}:new"), (f"{B}:new",))
    )

    assert every == only == []
    assert one == pair == ["new is one of 2 treatments of its run: p is not adjusted for the others"]


def test_runs_whose_ids_end_alike_are_told_by_all_of_them(store: Store) -> None:
    """A short name that two have is none."""
    other = A.replace("09", "10", 1)
    keep_run(store, A, {"output": LOW})
    keep_run(store, other, {"output": HIGH})

    assert compare_runs(store, A, other)["decision"]["headline"] == f"{other} is better than {A} (+2.13 points)."


def test_a_fingerprint_without_a_known_cause_is_refused_too(store: Store) -> None:
    """It says that something differs; silence would say that nothing does."""
    keep_run(store, A, {"output": HIGH})
    keep_run(store, B, {"output": HIGH}, fingerprint="g")

    assert "not scored alike: fingerprint f → g" in refused(store, A, B)


def test_all_that_speaks_against_it_is_told_at_once(store: Store) -> None:
    """Whoever mends one thing should not meet the next."""
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": HIGH[:20]}, fingerprint="g", state="stopped")

    lines = refused(store, A, B).splitlines()

    assert [line.split(":")[0] for line in lines] == [
        "a run is not finished",
        "the runs were not scored alike",
        "samples are missing",
    ]


def test_composites_of_different_layers_are_not_compared(store: Store) -> None:
    """By force the layers that all have are, and a mean of other things never is."""
    both = [result(at, "output", 5.0, layers={"fact": "3/1", "judge": "5/1"}) for at in range(24)]
    keep_run(store, A, {"output": [3.0] * 24})
    keep_run(store, B, {"output": []}, results=both)

    says = refused(store, A, B)
    comparison = compare_runs(store, A, B, terms=FORCED)["decision"]["comparisons"][0]

    assert (
        f"composites are of different layers: {TOLD_A} by fact (24 samples); {TOLD_B} by fact + rubric (24 samples)"
        in says
    )
    assert comparison["composite"]["estimate"] == 0
    assert list(comparison["layers"]) == ["fact"]


def test_without_a_common_layer_nothing_is_compared_even_by_force(store: Store) -> None:
    """Rules and judges measure different things."""
    judged = [result(at, "output", 5.0, layers={"judge": "5/1"}) for at in range(24)]
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": []}, results=judged)

    assert "no layer is behind all composites" in refused(store, A, B, force=True)


def test_repeats_that_only_one_has_are_left_out_and_told(store: Store) -> None:
    """The first repeat of one is paired with the first of the other."""
    twice = [result(at, "output", one, repeat) for at, one in enumerate(HIGH) for repeat in (0, 1)]
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": []}, results=twice)

    found = compare_runs(store, A, B)

    assert found["notes"] == [f"24 outputs of {TOLD_B} are repeats that the other has not, and left out"]
    assert found["decision"]["comparisons"][0]["pairs"] == 24


def test_a_variant_is_chosen_behind_a_colon(store: Store) -> None:
    """Of a run with several it must be; one that the other run names is found by itself."""
    keep_run(store, A, {"old": LOW, "new": HIGH})
    keep_run(store, B, {"new": HIGH})

    chosen = compare_runs(store, f"{A}:old", B)
    same = compare_runs(store, A, B)

    assert [(one["control"]["variant"], one["control"]["name"]) for one in (chosen, same)] == [
        ("old", "old"),
        ("new", f"new in {TOLD_A}"),
    ]
    assert chosen["decision"]["headline"] == "new is better than old (+2.13 points)."


@pytest.mark.parametrize(
    ("runs", "terms", "says"),
    [
        ((A, f"{A}:old"), {}, f"run {A} cannot be compared with itself"),
        ((f"{A}:old", B), {}, f"run {B} has 2 variants (say which: {B}:new, {B}:next)"),
        ((f"{A}:odl",), {}, f"run {A} has no variant 'odl' (did you mean 'old'?)"),
        ((f"{A}:old",), {}, "'old' is the control: it cannot be compared with itself"),
        ((A,), {"control": "odl"}, f"run {A} has no variant 'odl' to be the control (did you mean 'old'?)"),
        ((f"{A}:old", f"{B}:new"), {"control": "old"}, "--control is for the variants of one run"),
        ((f"{A}:old", f"{B}:new"), {"not_worse_by": -1.0}, "not worse by -1.0 points"),
        (("latest:nothing",), {}, "no run of 'nothing' is here, and run"),
        (("latest:nothing",), {}, f"run {B} has no variant 'nothing' (known: new, next)"),
        (("baseline:nothing",), {}, "no baseline 'nothing'"),
        (("zzz:old",), {}, "no run 'zzz'"),
    ],
)  # fmt: skip
def test_what_cannot_be_chosen_is_refused(store: Store, runs: tuple[str, ...], terms: Row, says: str) -> None:
    """With what would work."""
    keep_run(store, A, {"old": LOW, "new": HIGH})
    keep_run(store, B, {"new": HIGH, "next": HIGH})

    assert says in refused(store, *runs, **terms)


def test_a_baseline_is_told_by_its_name(store: Store) -> None:
    """Ids are for machines."""
    keep_run(store, A, {"output": LOW})
    keep_run(store, B, {"output": HIGH})
    store.set_baseline("main", A)

    found = compare_runs(store, "baseline:main", "latest")

    assert found["decision"]["headline"] == "output is better than baseline main (+2.13 points)."
    assert found["control"]["run"] == A


def test_a_variant_of_a_baseline_and_of_the_latest_is_chosen_too(store: Store) -> None:
    """Every way to name a run takes a colon and a variant behind it."""
    keep_run(store, A, {"old": LOW, "new": HIGH})
    keep_run(store, B, {"old": LOW, "new": HIGH})
    store.set_baseline("main", A)

    found = compare_runs(store, "baseline:main:old", "latest:desk:new")

    assert (found["control"]["variant"], found["treatments"][0]["variant"]) == ("old", "new")


def test_what_is_not_worse_passes_where_that_was_asked(store: Store) -> None:
    """For someone who swaps in a cheaper model."""
    nearly = [one + (0.5 if at % 2 else -0.5) for at, one in enumerate(HIGH)]
    keep_run(store, A, {"output": HIGH})
    keep_run(store, B, {"output": nearly})

    plain = compare_runs(store, A, B)["decision"]
    margin = compare_runs(store, A, B, terms=CompareTerms(not_worse_by=0.5))["decision"]

    assert (plain["exit_code"], margin["exit_code"]) == (1, 0)
    assert "not worse by more than 0.5" in margin["headline"]


def test_what_is_not_worse_but_misses_a_gate_does_not_pass(store: Store) -> None:
    """It is as bad as before."""
    gates = {"pass_rate": Fraction(3, 4)}
    failed: Row = {"verdict": "fail", "criteria": {}, "reviews": None}
    rows = [result(at, "output", one, scorecard=failed) for at, one in enumerate(HIGH)]
    for run in (A, B):
        keep_run(store, run, {"output": []}, results=rows, gates=gates)

    decision = compare_runs(store, A, B, terms=CompareTerms(not_worse_by=0.5))["decision"]

    assert decision["exit_code"] == 1
    assert f"but {TOLD_B} misses its gate for the pass rate" in decision["headline"]
    for told in (decision, *decision["comparisons"]):
        assert told["next_step"] == f"Find out why {TOLD_B} misses its gate for the pass rate, then run it again."


def test_power_says_how_many_more_samples_would_settle_it(store: Store) -> None:
    """For the difference that was seen, and for the smallest that matters; the chances rise with the samples."""
    keep_run(store, A, {"output": [3.0] * 12})
    keep_run(store, B, {"output": [4.0, 3.0, 2.0, 4.0] * 3})

    (power,) = compare_runs(store, A, B, terms=CompareTerms(power=True))["power"].values()

    assert power["pairs"] == 12
    assert power["observed"]["effect"] == pytest.approx(0.25)
    assert power["observed"]["more"] == power["observed"]["needed"] - 12 > power["smallest"]["more"] > 0
    for name in ("observed", "smallest"):
        chances = [row[name] for row in power["table"]]
        reached = next(row[name] for row in power["table"] if row["n"] == power[name]["needed"])
        assert chances == sorted(chances)
        assert reached >= 0.8


def test_power_asks_for_as_many_as_the_verdict(store: Store) -> None:
    """Six pairs that are a little apart are held to 20; six that are far apart need no more."""
    keep_run(store, A, {"output": [1.0, 1.5] * 3})
    keep_run(store, B, {"output": [1.25, 2.0] * 3})
    keep_run(store, C, {"output": [4.5, 4.5] * 3})

    (near,) = compare_runs(store, A, B, terms=CompareTerms(power=True))["power"].values()
    (far,) = compare_runs(store, A, C, terms=CompareTerms(power=True))["power"].values()

    assert near["observed"]["needed"] == far["observed"]["needed"] == 20
    assert (near["observed"]["more"], near["observed"]["state"]) == (14, "open")
    assert (far["observed"]["more"], far["observed"]["state"]) == (0, "shown")


def test_no_number_of_samples_shows_what_is_not_there(store: Store) -> None:
    """A difference of nothing needs no samples and gets no number."""
    keep_run(store, A, {"output": [3.0, 4.0] * 6})
    keep_run(store, B, {"output": [4.0, 3.0] * 6})

    (power,) = compare_runs(store, A, B, terms=CompareTerms(power=True))["power"].values()

    assert power["observed"] == {"effect": 0.0, "needed": None, "more": None, "state": "open"}


def test_a_run_that_was_looked_at_while_it_came_in_pays_for_that(store: Store) -> None:
    """Who looks often and stops at the right moment finds a difference in anything: p and interval allow for it."""
    nearly = [one + 0.5 * (at % 3) for at, one in enumerate(LOW)]
    looks = {"until_decided": {"looks": [20, 24, 30]}}
    keep_run(store, A, {"old": LOW, "new": nearly})
    keep_run(store, B, {"old": LOW, "new": nearly}, setup_changes=looks)

    once, often, between = (compare_runs(store, *runs) for runs in ((A,), (B,), (f"{A}:old", f"{B}:new")))

    first, second, third = (one["decision"]["comparisons"][0]["composite"] for one in (once, often, between))
    assert second["p"] == third["p"] > first["p"]
    assert second["high"] - second["low"] > first["high"] - first["low"]
    assert (once["notes"], len(often["notes"]), len(between["notes"])) == ([], 1, 1)


def test_labels_of_people_colour_the_fourth_badge(store: Store) -> None:
    """Judges that say what people say; without labels it is grey."""
    tone: Row = {"id": "tone", "asks": "?", "weight": 1.0, "scale": "1–5", "ends": [1.0, 5.0]}
    rubric: Row = {"name": "r", "method": "points", "about": "", "tags": [], "score_scale": [1, 5], "criteria": [tone]}
    said = [float(1 + at % 5) for at in range(24)]
    results = [
        result(at, "output", one, criteria={"tone": f"{one:g}/1"}, rubric="r",
               judgments=[{"judge": "j", "criterion": "tone", "exact": f"{one:g}/1", "why_not": None}])
        for at, one in enumerate(said)
    ]  # fmt: skip
    for run in (A, B):
        keep_run(store, run, {"output": []}, results=results, rubrics=(rubric,), judges=("j",))

    before = compare_runs(store, A, B)
    label = {"variant": "output", "criterion": "tone", "rater": "ann", "at": "2026-11-16"}
    store.labelling.replace_labels(
        A, [{**label, "sample": f"s{at}", "score": f"{one:g}/1"} for at, one in enumerate(said)]
    )
    after = compare_runs(store, A, B)

    states = [one["decision"]["comparisons"][0]["badges"][3]["state"] for one in (before, after)]
    assert states == ["grey", "green"]


def test_a_store_error_is_not_swallowed(store: Store) -> None:
    """An id that is not there is told with those that are."""
    with pytest.raises(StoreError, match="no run"):
        compare_runs(store, "nothing")
